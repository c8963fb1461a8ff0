//! Maps client failures to public errors.
//!
//! What a server says of its own failures stays in the log. What it says of the request is passed
//! on: application errors (codes outside the JSON-RPC range) and parameters that it rejects.

use client::{CallError, Error as Failure};
use resource::{Completion, Error, ErrorKind, Result, Uri, UriRewrite, is_control, one_line_up_to};

/// How many characters of a server's error message are passed on.
const MAX_MESSAGE_CHARS: usize = 300;

/// The error for a failure that is not about a single resource.
pub(super) fn public_error(failure: Failure) -> Error {
    let error = match &failure {
        Failure::Unreachable(_) | Failure::Closed(_) => {
            Error::unavailable("the server behind this mount cannot be reached")
        }
        Failure::Unauthorized => {
            Error::unavailable("the server behind this mount wants authorization")
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
        Failure::Refused(denial) if denial.is_invalid_params() => {
            let words = sanitized(&denial.message);
            Error::invalid(format!("the server behind this mount rejects the request: {words}"))
        }
        Failure::Refused(denial) if denial.is_for_caller() && has_text(&denial.message) => {
            let words = sanitized(&denial.message);
            Error::unavailable(format!("the server behind this mount returned an error: {words}"))
        }
        Failure::Refused(_) => Error::unavailable("the server behind this mount failed to answer"),
    };
    let error = match failure.about_resource() {
        Some(upstream) => error.with_upstream(upstream),
        None => error,
    };
    error.caused_by(failure.into_reason())
}

/// The error for a failure about `uri`.
pub(super) fn resource_error(failure: Failure, uri: &Uri) -> Error {
    if failure.is_resource_not_found() || failure.is_method_not_found() {
        return Error::not_found(uri).caused_by(failure);
    }
    public_error(failure).about(uri)
}

/// The error for a failed call of a tool or prompt: the server's own error, if it is about the call.
pub(super) fn call_error(error: CallError, rewrite: &dyn UriRewrite) -> Error {
    let failure = match error {
        CallError::Caller(error) => return error,
        CallError::Server(failure) => failure,
    };
    if failure.is_method_not_found() {
        return Error::invalid("no tool or prompt has this name").caused_by(failure);
    }
    failure.for_caller(rewrite).map_or_else(|| public_error(failure), Error::from_upstream)
}

/// The outcome of a completion request; `missing` is the message if the server does not know what
/// to complete. No values if it knows no completion: revision 2024-11-05 has no capability for it.
pub(super) fn completion(
    completed: Result<Completion, Failure>,
    missing: &'static str,
) -> Result<Completion> {
    completed.or_else(|failure| match failure {
        failure if failure.is_method_not_found() => Ok(Completion::default()),
        failure if failure.is_resource_not_found() => {
            Err(Error::invalid(missing).caused_by(failure))
        }
        failure => Err(public_error(failure)),
    })
}

/// True if the server responded, even with an error or an invalid message.
pub(super) fn is_response(failure: &Failure) -> bool {
    matches!(failure, Failure::Refused(_) | Failure::Malformed(_) | Failure::TooLarge(_))
}

fn has_text(message: &str) -> bool {
    message.chars().any(|c| !is_control(c) && !c.is_whitespace())
}

fn sanitized(message: &str) -> String {
    one_line_up_to(message, MAX_MESSAGE_CHARS).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use client::{CallError, Error as Failure, RpcError};
    use resource::{Error, ErrorKind, Uri, UriRewrite};

    use super::{MAX_MESSAGE_CHARS, call_error, public_error, resource_error};

    struct Unchanged;

    impl UriRewrite for Unchanged {
        fn to_public(&self, _local: &str) -> Option<String> {
            None
        }

        fn to_local(&self, _public: &str) -> Option<String> {
            None
        }
    }

    fn refused(code: i64, message: &str) -> Failure {
        Failure::Refused(RpcError { code, message: message.to_owned(), data: None })
    }

    #[test]
    fn only_words_of_the_servers_own_making_are_passed_on_and_not_too_many() {
        let secret = public_error(refused(-32603, "at /home/secret"));
        assert!(!secret.message.contains("secret"), "{secret}");
        let own = public_error(refused(-5, "quota\nis \u{1b}used up"));
        assert!(own.message.ends_with("quota is  used up"), "{own}");
        assert_eq!(own.upstream.unwrap().code, -5);
        assert!(secret.upstream.is_none());
        let long = public_error(refused(7, &"x".repeat(10_000)));
        assert!(long.message.len() < MAX_MESSAGE_CHARS + 100);
        assert!(public_error(refused(7, " \n")).message.ends_with("failed to answer"));
    }

    #[test]
    fn what_is_missing_is_missing_in_all_its_disguises() {
        let uri = Uri::parse("a:b").unwrap();
        let told = |code, message| resource_error(refused(code, message), &uri).kind;
        for (code, words) in [
            (-32002, ""),
            (-32602, "no such resource"),
            (-32603, "Not found"),
            (0, "unknown resource"),
        ] {
            assert_eq!(told(code, words), ErrorKind::NotFound, "{code}");
        }
        assert_eq!(told(-32603, "oops"), ErrorKind::Unavailable);
        assert_eq!(told(-32602, "the region is not allowed"), ErrorKind::Invalid);
        assert_eq!(resource_error(Failure::TimedOut, &uri).kind, ErrorKind::Unavailable);
    }

    #[test]
    fn a_failed_call_has_the_servers_own_error_or_the_words_of_any_other_failure() {
        let called = |failure: Failure| call_error(CallError::Server(failure), &Unchanged);
        let own = called(refused(-32602, "no such tool")).upstream.unwrap();
        assert_eq!((own.code, own.message.as_str()), (-32602, "no such tool"));
        assert_eq!(called(refused(-32601, "x")).message, "no tool or prompt has this name");
        let about_us = refused(-32020, "header mismatch");
        for failure in [Failure::TimedOut, Failure::TooLarge(7), about_us] {
            let (error, other) = (called(failure.clone()), public_error(failure));
            assert_eq!((error.kind, &error.message), (other.kind, &other.message));
            assert!(error.upstream.is_none());
        }
        let input = call_error(CallError::Caller(Error::invalid("declined")), &Unchanged);
        assert_eq!((input.kind, &*input.message), (ErrorKind::Invalid, "declined"));
    }
}
