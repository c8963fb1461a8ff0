//! Maps client failures to public errors.
//!
//! The server's own error messages stay in the log. Only application errors (codes outside the
//! JSON-RPC range) are passed on, shortened and without control characters.

use client::Error as Failure;
use resource::{Error, ErrorKind, Uri};

/// How many characters of a server's error message are passed on.
const MAX_MESSAGE_CHARS: usize = 300;

/// The error for a failure that is not about a single resource.
pub(super) fn public_error(failure: Failure) -> Error {
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
        Failure::Refused(denial) if denial.is_application_error() && has_text(&denial.message) => {
            let words = sanitized(&denial.message);
            Error::unavailable(format!("the server behind this mount returned an error: {words}"))
        }
        Failure::Refused(_) => Error::unavailable("the server behind this mount failed to answer"),
    };
    error.caused_by(failure)
}

/// The error for a failure about `uri`.
pub(super) fn resource_error(failure: Failure, uri: &Uri) -> Error {
    if failure.is_resource_not_found() || failure.is_method_not_found() {
        return Error::not_found(uri).caused_by(failure);
    }
    public_error(failure).about(uri)
}

/// True if the server responded, even with an error or an invalid message.
pub(super) fn is_response(failure: &Failure) -> bool {
    matches!(failure, Failure::Refused(_) | Failure::Malformed(_) | Failure::TooLarge(_))
}

fn has_text(message: &str) -> bool {
    message.chars().any(|c| !c.is_control() && !c.is_whitespace())
}

fn sanitized(message: &str) -> String {
    let plain = message.chars().map(|c| if c.is_control() { ' ' } else { c });
    plain.take(MAX_MESSAGE_CHARS).collect::<String>().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use client::{Error as Failure, RpcError};
    use resource::{ErrorKind, Uri};

    use super::{MAX_MESSAGE_CHARS, public_error, resource_error};

    fn refused(code: i64, message: &str) -> Failure {
        Failure::Refused(RpcError { code, message: message.to_owned(), data: None })
    }

    #[test]
    fn only_words_of_the_servers_own_making_are_passed_on_and_not_too_many() {
        let secret = public_error(refused(-32603, "at /home/secret"));
        assert!(!secret.message.contains("secret"), "{secret}");
        let own = public_error(refused(-5, "quota\nis \u{1b}used up"));
        assert!(own.message.ends_with("quota is  used up"), "{own}");
        let long = public_error(refused(7, &"x".repeat(10_000)));
        assert!(long.message.len() < MAX_MESSAGE_CHARS + 100);
        assert!(public_error(refused(7, " \n")).message.ends_with("failed to answer"));
    }

    #[test]
    fn what_is_missing_is_missing_in_all_its_disguises() {
        let uri = Uri::parse("a:b").unwrap();
        let told = |code, message| resource_error(refused(code, message), &uri).kind;
        for (code, words) in
            [(-32002, ""), (-32602, "x"), (-32603, "Not found"), (0, "unknown resource")]
        {
            assert_eq!(told(code, words), ErrorKind::NotFound, "{code}");
        }
        assert_eq!(told(-32603, "oops"), ErrorKind::Unavailable);
        assert_eq!(resource_error(Failure::TimedOut, &uri).kind, ErrorKind::Unavailable);
    }
}
