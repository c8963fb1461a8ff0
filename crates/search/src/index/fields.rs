//! The fields of the index, and the tokenizers that fill them.

use analysis::Token;
use tantivy::Index;
use tantivy::schema::{
    FAST, Field, IndexRecordOption, NumericOptions, STORED, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::tokenizer::{self, TextAnalyzer, TokenStream, Tokenizer};

use crate::index::spelling_tokens::SpellingTokenizer;

/// The format of the index. Another number makes every index be built anew: raise it with the
/// fields, the tokenizers or the way passages are cut.
pub(crate) const FORMAT: &str = "refdesk index 3";

const WORDS: &str = "words";
const DICTIONARY: &str = "dictionary";
const SPELLING: &str = "spelling";
const NAMES: &str = "names";
/// The tokenizer of tantivy that takes a text as one token.
const WHOLE: &str = "raw";

/// The fields of a passage.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fields {
    /// The public URI of its resource.
    pub(crate) uri: Field,
    /// The URI, percent-decoded, for conditions on its beginning.
    pub(crate) address: Field,
    /// Name and title in lower case, each as a whole.
    pub(crate) names: Field,
    /// A hash of the URI.
    pub(crate) uri_key: Field,
    /// A hash of the version that was indexed: first passages have it.
    pub(crate) version: Field,
    /// A hash of the name of the mount.
    pub(crate) mount_key: Field,
    /// A hash of the text of the resource: copies have the same.
    pub(crate) content_key: Field,
    /// Its number among the passages of the resource, from 0.
    pub(crate) ordinal: Field,
    /// A hash of URI and number: the key of its vector, if it has one.
    pub(crate) passage_key: Field,
    /// Where it stands, packed.
    pub(crate) place: Field,
    pub(crate) mime: Field,
    pub(crate) language: Field,
    pub(crate) audience: Field,
    pub(crate) priority: Field,
    pub(crate) modified: Field,
    /// The text: words, parts of identifiers, pairs of characters.
    pub(crate) body: Field,
    /// The words of the text that a dictionary knows, in languages without spaces.
    pub(crate) dictionary: Field,
    pub(crate) title: Field,
    pub(crate) heading: Field,
    pub(crate) path: Field,
    /// The words as they are written, for suggestions; frequent ones of some passages alone.
    pub(crate) spelling: Field,
}

impl Fields {
    /// The schema of the index.
    pub(crate) fn schema() -> (Schema, Self) {
        // Only what counts for the score needs the lengths of its texts (`fieldnorms`).
        let indexed = |tokenizer: &str, record, is_scored| {
            let indexing = TextFieldIndexing::default().set_tokenizer(tokenizer);
            let indexing = indexing.set_index_option(record).set_fieldnorms(is_scored);
            TextOptions::default().set_indexing_options(indexing)
        };
        let text = |tokenizer, record| indexed(tokenizer, record, true);
        let (basic, frequencies) = (IndexRecordOption::Basic, IndexRecordOption::WithFreqs);
        let whole = || indexed(WHOLE, basic, false);
        let key = || NumericOptions::default().set_indexed().set_fast();
        let mut schema = Schema::builder();
        let fields = Self {
            uri: schema.add_text_field("uri", STORED),
            address: schema.add_text_field("address", whole()),
            names: schema.add_text_field("names", whole()),
            uri_key: schema.add_u64_field("uri_key", key()),
            mount_key: schema.add_u64_field("mount_key", key()),
            version: schema.add_u64_field("version", FAST),
            content_key: schema.add_u64_field("content_key", FAST),
            ordinal: schema.add_u64_field("ordinal", FAST),
            passage_key: schema.add_u64_field("passage_key", key()),
            place: schema.add_bytes_field("place", STORED),
            mime: schema.add_text_field("mime", whole()),
            language: schema.add_text_field("language", whole()),
            audience: schema.add_text_field("audience", whole()),
            priority: schema.add_f64_field("priority", FAST),
            modified: schema.add_i64_field("modified", FAST),
            body: schema
                .add_text_field("body", text(WORDS, IndexRecordOption::WithFreqsAndPositions)),
            dictionary: schema.add_text_field("dictionary", text(DICTIONARY, frequencies)),
            title: schema.add_text_field("title", text(NAMES, frequencies)),
            heading: schema.add_text_field("heading", text(NAMES, frequencies)),
            path: schema.add_text_field("path", text(WORDS, frequencies)),
            spelling: schema.add_text_field("spelling", indexed(SPELLING, basic, false)),
        };
        (schema.build(), fields)
    }

    /// Makes the tokenizers known to `index`.
    pub(crate) fn register_tokenizers(index: &Index) {
        let known = index.tokenizers();
        known.register(WORDS, TextAnalyzer::from(FieldTokenizer(analysis::tokenize)));
        known.register(DICTIONARY, TextAnalyzer::from(FieldTokenizer(analysis::dictionary_words)));
        known.register(SPELLING, TextAnalyzer::from(SpellingTokenizer::default()));
        known.register(NAMES, TextAnalyzer::from(FieldTokenizer(name_tokens)));
    }
}

/// Both the words and the dictionary's words: titles and headings are short.
fn name_tokens(text: &str) -> Vec<Token> {
    let mut tokens = analysis::tokenize(text);
    tokens.extend(analysis::dictionary_words(text));
    tokens
}

/// A tokenizer of the index that calls the text analysis.
#[derive(Clone)]
struct FieldTokenizer(fn(&str) -> Vec<Token>);

/// The tokens of one text.
pub(crate) struct FieldTokens {
    rest: std::vec::IntoIter<Token>,
    token: tokenizer::Token,
}

impl FieldTokens {
    pub(crate) fn new(tokens: Vec<Token>) -> Self {
        Self { rest: tokens.into_iter(), token: tokenizer::Token::default() }
    }
}

impl Tokenizer for FieldTokenizer {
    type TokenStream<'a> = FieldTokens;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> FieldTokens {
        FieldTokens::new(self.0(text))
    }
}

impl TokenStream for FieldTokens {
    fn advance(&mut self) -> bool {
        let Some(next) = self.rest.next() else { return false };
        self.token = tokenizer::Token {
            offset_from: next.range.start,
            offset_to: next.range.end,
            position: next.position,
            text: next.text,
            position_length: 1,
        };
        true
    }

    fn token(&self) -> &tokenizer::Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut tokenizer::Token {
        &mut self.token
    }
}
