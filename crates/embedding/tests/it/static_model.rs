//! Static models: layouts, number types, weights and mappings, and what becomes of a text.

use std::fs;
use std::path::Path;

use embedding::{EmbedError, EmbedKind, Embedder as _, StaticModel};
use half::{bf16, f16};
use safetensors::Dtype;

use crate::tiny_model::{ROWS, Tensor, WORDS, safetensors, tokenizer, write_files, write_model};

fn load_with(tensors: &[(&str, Tensor)]) -> Result<StaticModel, EmbedError> {
    let folder = tempfile::tempdir().unwrap();
    write_files(folder.path(), &safetensors(tensors), &tokenizer(&WORDS));
    fs::write(folder.path().join("config.json"), r#"{"normalize":false}"#).unwrap();
    StaticModel::load(folder.path())
}

fn load_tiny() -> StaticModel {
    let folder = tempfile::tempdir().unwrap();
    write_model(folder.path());
    StaticModel::load(folder.path()).unwrap()
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[test]
fn a_text_is_the_mean_of_its_known_tokens_whatever_the_file_says_on_padding() {
    let model = load_with(&[("embeddings", Tensor::table())]).unwrap();
    assert_eq!(model.embed_text("cat").unwrap(), ROWS[1]);
    let mean = model.embed_text("Cat DOG kernel 猫 unheard").unwrap();
    assert_eq!(mean, [2.75 / 4.0, 1.25 / 4.0, 0.125 / 4.0]);
    assert_eq!(model.tokens(), 6);
}

#[test]
fn a_text_without_known_tokens_is_the_zero_vector() {
    let model = load_tiny();
    for text in ["", " \n", "unheard of", "\u{0}"] {
        assert_eq!(model.embed_text(text).unwrap(), [0.0; 3], "{text:?}");
    }
}

#[tokio::test]
async fn a_batch_has_a_unit_vector_for_each_text_in_order() {
    let model = load_tiny();
    let texts = ["cat", "猫", "kernel module"].map(str::to_owned);
    let vectors = model.embed(&texts, EmbedKind::Passage).await.unwrap();
    assert_eq!(vectors.len(), 3);
    for vector in &vectors {
        assert_eq!(vector.len(), model.dimensions());
        assert!((cosine(vector, vector) - 1.0).abs() < 1e-6);
    }
    assert!(cosine(&vectors[0], &vectors[1]) > 0.9 && cosine(&vectors[0], &vectors[2]) < 0.1);
    assert_eq!(model.embed(&texts, EmbedKind::Query).await.unwrap(), vectors);
}

#[test]
fn tables_of_all_number_types_give_the_same_vectors() {
    let halves = ROWS.as_flattened().iter().flat_map(|number| f16::from_f32(*number).to_le_bytes());
    let halves = Tensor { dtype: Dtype::F16, shape: vec![6, 3], data: halves.collect() };
    let brains = ROWS.as_flattened().iter().flat_map(|n| bf16::from_f32(*n).to_le_bytes());
    let brains = Tensor { dtype: Dtype::BF16, shape: vec![6, 3], data: brains.collect() };
    // Eighths as whole numbers: the table is the same but for a factor.
    let bytes = ROWS.as_flattened().iter().map(|number| (number * 8.0) as i8 as u8);
    let bytes = Tensor { dtype: Dtype::I8, shape: vec![6, 3], data: bytes.collect() };
    for (tensor, factor) in [(halves, 1.0), (brains, 1.0), (bytes, 8.0)] {
        let model = load_with(&[("embeddings", tensor)]).unwrap();
        let expected = ROWS[2].map(|number| number * factor);
        assert_eq!(model.embed_text("dog").unwrap(), expected);
    }
}

#[test]
fn weights_scale_tokens_and_a_mapping_shares_rows() {
    let shared = Tensor::f32(&[2, 3], &[1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    let mapping = [0_i64, 0, 0, 1, 1, 0].iter().flat_map(|row| row.to_le_bytes()).collect();
    let mapping = Tensor { dtype: Dtype::I64, shape: vec![6], data: mapping };
    let weights = [1.0_f64, 2.0, 1.0, 4.0, 1.0, 1.0].iter().flat_map(|weight| weight.to_le_bytes());
    let weights = Tensor { dtype: Dtype::F64, shape: vec![6], data: weights.collect() };
    let model =
        load_with(&[("embeddings", shared), ("mapping", mapping), ("weights", weights)]).unwrap();
    assert_eq!(model.tokens(), 6);
    assert_eq!(model.embed_text("cat kernel").unwrap(), [1.0, 2.0, 0.0]);
}

#[test]
fn folders_of_wordllama_and_of_sentence_transformers_are_loaded() {
    let weights = safetensors(&[("embedding.weight", Tensor::table())]);
    let folder = tempfile::tempdir().unwrap();
    let wordllama = folder.path().join("wordllama");
    for (part, name, bytes) in [
        ("weights", "l2_supercat_256.safetensors", weights.clone()),
        ("tokenizers", "l2_supercat_tokenizer_config.json", tokenizer(&WORDS).to_string().into()),
    ] {
        fs::create_dir_all(wordllama.join(part)).unwrap();
        fs::write(wordllama.join(part).join(name), bytes).unwrap();
    }
    let sentence = folder.path().join("sentence");
    write_files(&sentence.join("0_StaticEmbedding"), &weights, &tokenizer(&WORDS));
    // Its own configuration is of another format, and does not count.
    fs::write(sentence.join("config.json"), r#"{"normalize":"?"}"#).unwrap();
    for folder in [wordllama, sentence] {
        let vector = StaticModel::load(&folder).unwrap().embed_text("dog dog").unwrap();
        assert!((cosine(&vector, &vector) - 1.0).abs() < 1e-6);
    }
}

#[test]
fn the_fingerprint_is_the_same_for_a_copy_and_another_for_any_change() {
    let fingerprint = |folder: &Path| StaticModel::load(folder).unwrap().fingerprint().to_owned();
    let folders = [(); 4].map(|()| tempfile::tempdir().unwrap());
    folders.iter().for_each(|folder| write_model(folder.path()));
    let [first, copy, other_table, other_tokenizer] = &folders;
    assert_eq!(fingerprint(first.path()), fingerprint(copy.path()));
    fs::write(copy.path().join("config.json"), r#"{"normalize":false}"#).unwrap();
    let mut rows = ROWS;
    rows[5][2] = 0.25;
    let table = safetensors(&[("embeddings", Tensor::f32(&[6, 3], rows.as_flattened()))]);
    fs::write(other_table.path().join("model.safetensors"), table).unwrap();
    let mut words = tokenizer(&WORDS);
    words["normalizer"] = serde_json::Value::Null;
    fs::write(other_tokenizer.path().join("tokenizer.json"), words.to_string()).unwrap();
    for changed in [copy, other_table, other_tokenizer] {
        assert_ne!(fingerprint(first.path()), fingerprint(changed.path()));
    }
}

#[test]
fn only_the_start_of_a_very_long_text_counts() {
    let model = load_tiny();
    let start = "cat ".repeat(4_096);
    let long = format!("{start}{}", "kernel ".repeat(1_000_000));
    assert_eq!(model.embed_text(&long).unwrap(), model.embed_text("cat").unwrap());
    // The bound is on bytes, and cuts no character in two.
    let wide = "猫 ".repeat(100_000);
    let single = model.embed_text("猫").unwrap();
    let vector = model.embed_text(&wide).unwrap();
    assert!(cosine(&vector, &single) > 0.999_99);
}
