//! JSON of OpenAI's embeddings API: the request, and the answer with all that can be wrong in it.

use serde::Deserialize;
use serde_json::json;

use crate::error::EmbedError;
use crate::model::MAX_DIMENSIONS;

/// Bytes of a number in JSON, with room for whitespace.
const NUMBER_BYTES: usize = 32;
/// Bytes around the vectors.
const ENVELOPE_BYTES: usize = 64 << 10;
/// Longest message of a server that is passed on.
const MAX_MESSAGE_CHARS: usize = 300;

/// The vectors of an answer, in the order of the texts.
#[derive(Debug)]
pub(super) struct EmbeddingsAnswer {
    pub(super) vectors: Vec<Vec<f32>>,
    pub(super) tokens: u64,
}

#[derive(Deserialize)]
struct AnswerJson {
    data: Vec<AnswerItemJson>,
    #[serde(default)]
    usage: AnswerUsageJson,
}

#[derive(Deserialize)]
struct AnswerItemJson {
    index: Option<usize>,
    embedding: Vec<f32>,
}

#[derive(Deserialize, Default)]
struct AnswerUsageJson {
    #[serde(default)]
    total_tokens: u64,
}

/// The body of a request.
pub(super) fn encode_request(model: &str, texts: &[&str]) -> Vec<u8> {
    json!({ "model": model, "input": texts, "encoding_format": "float" }).to_string().into_bytes()
}

/// How long an answer may be.
pub(super) fn max_answer_bytes(texts: usize, dimensions: usize) -> usize {
    texts * (dimensions * NUMBER_BYTES + 1_024) + ENVELOPE_BYTES
}

/// Reads an answer to a request with this many texts.
pub(super) fn decode_answer(
    bytes: &[u8],
    texts: usize,
    dimensions: Option<usize>,
) -> Result<EmbeddingsAnswer, EmbedError> {
    let invalid = |why: String| EmbedError::InvalidAnswer(why);
    let answer: AnswerJson =
        serde_json::from_slice(bytes).map_err(|error| invalid(error.to_string()))?;
    let count = answer.data.len();
    if count != texts {
        return Err(invalid(format!("{count} vectors for {texts} texts")));
    }
    let first = answer.data.first().map_or(0, |item| item.embedding.len());
    let expected = dimensions.unwrap_or(first);
    if !(1..=MAX_DIMENSIONS).contains(&expected) {
        return Err(invalid(format!("vectors of {expected} dimensions")));
    }
    let mut vectors: Vec<Option<Vec<f32>>> = vec![None; texts];
    for (place, item) in answer.data.into_iter().enumerate() {
        let length = item.embedding.len();
        if length != expected {
            return Err(invalid(format!("a vector of {length} dimensions, not {expected}")));
        }
        if item.embedding.iter().any(|number| !number.is_finite()) {
            return Err(invalid("a number that is infinite".to_owned()));
        }
        // Servers that leave the index out answer in the order of the texts.
        let index = item.index.unwrap_or(place);
        match vectors.get_mut(index) {
            Some(vector @ None) => *vector = Some(item.embedding),
            Some(Some(_)) => return Err(invalid(format!("index {index} appears twice"))),
            None => return Err(invalid(format!("index {index} of {texts} texts"))),
        }
    }
    // As many different indexes as texts: each text has its vector.
    let vectors = vectors.into_iter().flatten().collect();
    Ok(EmbeddingsAnswer { vectors, tokens: answer.usage.total_tokens })
}

/// The message in an error's body: that of OpenAI's format, or the start of the text.
pub(super) fn error_message(bytes: &[u8]) -> String {
    #[derive(Deserialize)]
    struct ErrorBody {
        #[serde(alias = "detail", alias = "message")]
        error: ErrorText,
    }
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum ErrorText {
        Object { message: String },
        Text(String),
    }
    let message = match serde_json::from_slice::<ErrorBody>(bytes) {
        Ok(ErrorBody { error: ErrorText::Object { message } | ErrorText::Text(message) }) => {
            message
        }
        Err(_) => String::from_utf8_lossy(bytes).into_owned(),
    };
    let plain = message.split(|letter: char| letter.is_whitespace() || letter.is_control());
    let plain: Vec<&str> = plain.filter(|word| !word.is_empty()).collect();
    let plain: String = plain.join(" ").chars().take(MAX_MESSAGE_CHARS).collect();
    if plain.is_empty() { "no message".to_owned() } else { plain }
}

#[cfg(test)]
mod tests {
    use super::{decode_answer, encode_request, error_message};

    #[test]
    fn a_request_has_the_members_of_the_api() {
        let body = String::from_utf8(encode_request("m", &["a", "\"日\""])).unwrap();
        assert_eq!(body, r#"{"encoding_format":"float","input":["a","\"日\""],"model":"m"}"#);
    }

    #[test]
    fn an_answer_is_ordered_by_index() {
        let answer = br#"{"object":"list","data":[
            {"object":"embedding","index":1,"embedding":[3,4.5]},
            {"object":"embedding","index":0,"embedding":[1,2]}],
            "model":"m","usage":{"prompt_tokens":5,"total_tokens":7}}"#;
        let answer = decode_answer(answer, 2, Some(2)).unwrap();
        assert_eq!(answer.vectors, [[1.0, 2.0], [3.0, 4.5]]);
        assert_eq!(answer.tokens, 7);
        let plain = br#"{"data":[{"embedding":[1]},{"embedding":[2]}]}"#;
        assert_eq!(decode_answer(plain, 2, None).unwrap().vectors, [[1.0], [2.0]]);
    }

    #[test]
    fn every_wrong_answer_is_refused_with_its_reason() {
        let cases = [
            ("", "EOF"),
            ("[]", "expected struct"),
            ("{}", "data"),
            (r#"{"data":[]}"#, "0 vectors for 2 texts"),
            (r#"{"data":[{"embedding":[1]}]}"#, "1 vectors for 2 texts"),
            (r#"{"data":[{"embedding":[1]},{"embedding":[1,2]}]}"#, "2 dimensions, not 1"),
            (r#"{"data":[{"embedding":[]},{"embedding":[]}]}"#, "vectors of 0 dimensions"),
            (r#"{"data":[{"embedding":[1]},{"embedding":[1e39]}]}"#, "infinite"),
            (r#"{"data":[{"embedding":[1]},{"embedding":[1e999]}]}"#, "out of range"),
            (r#"{"data":[{"embedding":[1]},{"embedding":[null]}]}"#, "null"),
            (r#"{"data":[{"embedding":"AAAA"},{"embedding":"AAAA"}]}"#, "string"),
            (r#"{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}"#, "twice"),
            (r#"{"data":[{"index":0,"embedding":[1]},{"index":2,"embedding":[1]}]}"#, "index 2"),
        ];
        for (answer, reason) in cases {
            let error = decode_answer(answer.as_bytes(), 2, None).unwrap_err().to_string();
            assert!(error.contains(reason), "{answer}: {error}");
        }
        let other = br#"{"data":[{"embedding":[1,2]}]}"#;
        let error = decode_answer(other, 1, Some(3)).unwrap_err().to_string();
        assert!(error.contains("2 dimensions, not 3"), "{error}");
    }

    #[test]
    fn an_error_body_gives_a_short_message_in_one_line() {
        assert_eq!(error_message(br#"{"error":{"message":"bad\n key","type":"x"}}"#), "bad key");
        assert_eq!(error_message(br#"{"error":"model not found"}"#), "model not found");
        assert_eq!(error_message(br#"{"detail":"no"}"#), "no");
        assert_eq!(error_message(b"<html>\x1b[31m oops"), "<html> [31m oops");
        assert_eq!(error_message(b""), "no message");
        assert_eq!(error_message(&[b'x'; 5_000]).len(), 300);
    }
}
