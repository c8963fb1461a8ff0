//! Maps client failures to public errors.
//!
//! The server's own error messages stay in the log. Only application errors (codes outside the
//! JSON-RPC range) are passed on, shortened and without control characters.

use client::Error as Failure;
use resource::{Error, ErrorKind, Uri};

/// How many characters of a server's error message are passed on.
const WORDS: usize = 300;

/// The error for a failure that is not about a single resource.
pub(super) fn fault(failure: Failure) -> Error {
    let error = match &failure {
        Failure::Unreachable(_) | Failure::Closed(_) => {
            Error::unavailable("the server behind this mount cannot be reached")
        }
        Failure::TimedOut => {
            Error::unavailable("the server behind this mount did not answer in time")
        }
        Failure::Malformed(_) => {
            Error::unavailable("the server behind this mount sent an invalid response")
        }
        Failure::TooLarge(most) => {
            let words = format!("the server behind this mount sent more than {most} bytes");
            Error::new(ErrorKind::TooLarge, words)
        }
        Failure::Refused(denial) if denial.is_application() && says(&denial.message) => {
            let words = words(&denial.message);
            Error::unavailable(format!("the server behind this mount returned an error: {words}"))
        }
        Failure::Refused(_) => Error::unavailable("the server behind this mount failed to answer"),
    };
    error.caused_by(failure)
}

/// The error for a failure about `uri`.
pub(super) fn fault_of(failure: Failure, uri: &Uri) -> Error {
    if failure.is_about_missing() || failure.is_about_method() {
        return Error::not_found(uri).caused_by(failure);
    }
    fault(failure).about(uri)
}

/// True if the server responded, even with an error or an invalid message.
pub(super) fn is_answer(failure: &Failure) -> bool {
    matches!(failure, Failure::Refused(_) | Failure::Malformed(_) | Failure::TooLarge(_))
}

fn says(message: &str) -> bool {
    message.chars().any(|c| !c.is_control() && !c.is_whitespace())
}

fn words(message: &str) -> String {
    let plain = message.chars().map(|c| if c.is_control() { ' ' } else { c });
    plain.take(WORDS).collect::<String>().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use client::{Denial, Error as Failure};
    use resource::{ErrorKind, Uri};

    use super::{WORDS, fault, fault_of};

    fn refused(code: i64, message: &str) -> Failure {
        Failure::Refused(Denial { code, message: message.to_owned(), data: None })
    }

    #[test]
    fn only_words_of_the_servers_own_making_are_passed_on_and_not_too_many() {
        let secret = fault(refused(-32603, "at /home/secret"));
        assert!(!secret.message.contains("secret"), "{secret}");
        let own = fault(refused(-5, "quota\nis \u{1b}used up"));
        assert!(own.message.ends_with("quota is  used up"), "{own}");
        let long = fault(refused(7, &"x".repeat(10_000)));
        assert!(long.message.len() < WORDS + 100);
        assert!(fault(refused(7, " \n")).message.ends_with("failed to answer"));
    }

    #[test]
    fn what_is_missing_is_missing_in_all_its_disguises() {
        let uri = Uri::parse("a:b").unwrap();
        let told = |code, message| fault_of(refused(code, message), &uri).kind;
        for (code, words) in
            [(-32002, ""), (-32602, "x"), (-32603, "Not found"), (0, "unknown resource")]
        {
            assert_eq!(told(code, words), ErrorKind::NotFound, "{code}");
        }
        assert_eq!(told(-32603, "oops"), ErrorKind::Unavailable);
        assert_eq!(fault_of(Failure::TimedOut, &uri).kind, ErrorKind::Unavailable);
    }
}
