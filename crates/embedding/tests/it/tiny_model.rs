//! A model of six words and three dimensions, written by the tests.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use safetensors::Dtype;
use safetensors::tensor::TensorView;
use serde_json::{Value, json};

/// The words, each at the id of its row.
pub(crate) const WORDS: [&str; 6] = ["[UNK]", "cat", "dog", "kernel", "module", "猫"];

/// The rows of the table: animals point along the first axis, programs along the second.
pub(crate) const ROWS: [[f32; 3]; 6] = [
    [9.0, 9.0, 9.0],
    [1.0, 0.0, 0.0],
    [0.75, 0.25, 0.0],
    [0.0, 1.0, 0.0],
    [0.0, 0.5, 0.5],
    [1.0, 0.0, 0.125],
];

/// A tensor for a file.
pub(crate) struct Tensor {
    pub(crate) dtype: Dtype,
    pub(crate) shape: Vec<usize>,
    pub(crate) data: Vec<u8>,
}

impl Tensor {
    pub(crate) fn f32(shape: &[usize], numbers: &[f32]) -> Self {
        let data = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        Self { dtype: Dtype::F32, shape: shape.to_vec(), data }
    }

    pub(crate) fn table() -> Self {
        Self::f32(&[6, 3], ROWS.as_flattened())
    }
}

/// The bytes of a safetensors file.
pub(crate) fn safetensors(tensors: &[(&str, Tensor)]) -> Vec<u8> {
    let views = tensors.iter().map(|(name, tensor)| {
        let view = TensorView::new(tensor.dtype, tensor.shape.clone(), &tensor.data).unwrap();
        ((*name).to_owned(), view)
    });
    let views: BTreeMap<String, TensorView<'_>> = views.collect();
    safetensors::serialize(views, None).unwrap()
}

/// A tokenizer that splits at spaces and knows `words`.
pub(crate) fn tokenizer(words: &[&str]) -> Value {
    let vocabulary: BTreeMap<&str, usize> =
        words.iter().enumerate().map(|(id, word)| (*word, id)).collect();
    json!({
        "version": "1.0",
        "truncation": { "direction": "Right", "max_length": 2, "strategy": "LongestFirst",
            "stride": 0 },
        "padding": { "strategy": { "Fixed": 8 }, "direction": "Right", "pad_to_multiple_of": null,
            "pad_id": 1, "pad_type_id": 0, "pad_token": "cat" },
        "added_tokens": [],
        "normalizer": { "type": "Lowercase" },
        "pre_tokenizer": { "type": "Whitespace" },
        "post_processor": null,
        "decoder": null,
        "model": { "type": "WordLevel", "vocab": vocabulary, "unk_token": "[UNK]" }
    })
}

/// Writes the model in the Model2Vec layout.
pub(crate) fn write_model(folder: &Path) {
    write_files(folder, &safetensors(&[("embeddings", Tensor::table())]), &tokenizer(&WORDS));
    fs::write(folder.join("config.json"), r#"{"model_type":"model2vec","normalize":true}"#)
        .unwrap();
}

/// Writes weights and a tokenizer, without a configuration.
pub(crate) fn write_files(folder: &Path, weights: &[u8], tokenizer: &Value) {
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join("model.safetensors"), weights).unwrap();
    fs::write(folder.join("tokenizer.json"), tokenizer.to_string()).unwrap();
}
