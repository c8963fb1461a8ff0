//! Models that are broken or made to do harm: each is refused, with the file and the reason.

use std::fs;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::LazyLock;

use embedding::{EmbedError, StaticModel, check_model};
use proptest::prelude::{prop, proptest};
use safetensors::Dtype;
use serde_json::{Value, json};

use crate::tiny_model::{Tensor, WORDS, safetensors, tokenizer, write_files, write_model};

fn check_with(change: impl FnOnce(&Path)) -> EmbedError {
    let folder = tempfile::tempdir().unwrap();
    write_model(folder.path());
    change(folder.path());
    check_model(folder.path()).unwrap_err()
}

fn check_weights(weights: &[u8]) -> EmbedError {
    check_with(|folder| fs::write(folder.join("model.safetensors"), weights).unwrap())
}

fn check_tokenizer(tokenizer: &Value) -> EmbedError {
    check_with(|folder| fs::write(folder.join("tokenizer.json"), tokenizer.to_string()).unwrap())
}

#[track_caller]
fn assert_broken(error: &EmbedError, file: &str, reason: &str) {
    let EmbedError::ModelBroken { file: named, .. } = error else { panic!("{error:?}") };
    assert_eq!(named, file);
    assert!(error.to_string().contains(reason), "{error}");
}

#[test]
fn a_missing_folder_or_file_is_named() {
    let missing = check_model(Path::new("no/such/folder")).unwrap_err();
    assert!(matches!(missing, EmbedError::ModelMissing(_)), "{missing:?}");
    let empty = tempfile::tempdir().unwrap();
    let missing = check_model(empty.path()).unwrap_err().to_string();
    assert!(missing.contains("model.safetensors"), "{missing}");
    for name in ["model.safetensors", "tokenizer.json"] {
        let missing = check_with(|folder| fs::remove_file(folder.join(name)).unwrap());
        assert!(matches!(missing, EmbedError::ModelMissing(_)), "{missing:?}");
        assert!(missing.to_string().contains(name), "{missing}");
    }
    fs::create_dir(empty.path().join("tokenizers")).unwrap();
    fs::write(empty.path().join("tokenizers/a.json"), "{}").unwrap();
    let missing = check_model(empty.path()).unwrap_err().to_string();
    assert!(missing.contains("weights/*.safetensors"), "{missing}");
    fs::write(empty.path().join("tokenizers/b.json"), "{}").unwrap();
    assert_broken(&check_model(empty.path()).unwrap_err(), "tokenizers", "more than one");
}

#[test]
fn weights_cut_off_at_any_byte_are_refused() {
    let whole = safetensors(&[("embeddings", Tensor::table())]);
    for length in 0..whole.len() {
        let error = check_weights(&whole[..length]);
        assert!(matches!(error, EmbedError::ModelBroken { .. }), "{length}: {error:?}");
    }
    let longer = [&whole[..], b"x"].concat();
    assert_broken(&check_weights(&longer), "model.safetensors", "bytes");
}

#[test]
fn a_header_that_lies_about_its_length_takes_no_memory() {
    for length in [u64::MAX, 1 << 40, 99 << 20, 1 << 21] {
        let mut weights = length.to_le_bytes().to_vec();
        weights.extend(b"{}");
        assert_broken(&check_weights(&weights), "model.safetensors", "header");
    }
    let headers = [
        r#"{"embeddings":{"dtype":"F32","shape":[1000000000000,256],"data_offsets":[0,8]}}"#,
        r#"{"embeddings":{"dtype":"F32","shape":[18446744073709551615,2],"data_offsets":[0,8]}}"#,
        r#"{"embeddings":{"dtype":"F32","shape":[1,2],"data_offsets":[8,0]}}"#,
        r#"{"embeddings":{"dtype":"F99","shape":[1,2],"data_offsets":[0,8]}}"#,
        r#"{"embeddings":7}"#,
        "[[[[",
    ];
    for header in headers {
        let mut weights = (header.len() as u64).to_le_bytes().to_vec();
        weights.extend(header.as_bytes());
        weights.extend([0; 8]);
        assert_broken(&check_weights(&weights), "model.safetensors", "header");
    }
}

#[test]
fn tables_of_wrong_names_types_shapes_and_numbers_are_refused() {
    let zeros = |dtype, shape: &[usize], bytes: usize| Tensor {
        dtype,
        shape: shape.to_vec(),
        data: vec![0; bytes],
    };
    let cases: [(&str, Tensor, &str); 9] = [
        ("vectors", Tensor::table(), "no tensor"),
        ("embeddings", zeros(Dtype::F64, &[6, 3], 144), "type F64"),
        ("embeddings", zeros(Dtype::I64, &[6, 3], 144), "type I64"),
        ("embeddings", zeros(Dtype::F32, &[18], 72), "1 axes"),
        ("embeddings", zeros(Dtype::F32, &[6, 3, 1], 72), "3 axes"),
        ("embeddings", zeros(Dtype::F32, &[0, 3], 0), "of no use"),
        ("embeddings", zeros(Dtype::F32, &[6, 0], 0), "of no use"),
        ("embeddings", zeros(Dtype::I8, &[6, 9_000], 54_000), "of no use"),
        ("embeddings", Tensor::f32(&[1, 2], &[0.0, f32::NAN]), "not a number"),
    ];
    for (name, tensor, reason) in cases {
        let error = check_weights(&safetensors(&[(name, tensor)]));
        assert_broken(&error, "model.safetensors", reason);
    }
    let infinite = Tensor { dtype: Dtype::F16, shape: vec![1, 1], data: vec![0, 0x7c] };
    let error = check_weights(&safetensors(&[("embeddings", infinite)]));
    assert_broken(&error, "model.safetensors", "infinite");
}

#[test]
fn weights_and_mappings_that_do_not_fit_the_table_are_refused() {
    let rows = |rows: &[i64]| {
        let data = rows.iter().flat_map(|row| row.to_le_bytes()).collect();
        Tensor { dtype: Dtype::I64, shape: vec![rows.len()], data }
    };
    let cases = [
        ("mapping", rows(&[0, 1, 2, 3, 4, 6]), "row 6"),
        ("mapping", rows(&[0, 1, 2, 3, 4, -1]), "cannot be"),
        ("mapping", Tensor::f32(&[1], &[0.0]), "type F32"),
        ("weights", Tensor::f32(&[5], &[1.0; 5]), "5 weights for 6 tokens"),
        ("weights", Tensor::f32(&[6, 1], &[1.0; 6]), "2 axes"),
        ("weights", Tensor::f32(&[6], &[f32::INFINITY; 6]), "infinite"),
        ("weights", rows(&[1; 6]), "type I64"),
    ];
    for (name, tensor, reason) in cases {
        let error = check_weights(&safetensors(&[("embeddings", Tensor::table()), (name, tensor)]));
        assert_broken(&error, "model.safetensors", reason);
    }
}

#[test]
fn numbers_that_overflow_when_added_up_are_an_error_and_no_infinity() {
    let folder = tempfile::tempdir().unwrap();
    let huge = safetensors(&[("embeddings", Tensor::f32(&[6, 3], &[f32::MAX; 18]))]);
    write_files(folder.path(), &huge, &tokenizer(&WORDS));
    let model = StaticModel::load(folder.path()).unwrap();
    assert!(model.embed_text("cat dog").is_err());
}

#[test]
fn tokenizers_that_do_not_load_or_fit_are_refused() {
    let mut words = WORDS.to_vec();
    words.push("extra");
    assert_broken(&check_tokenizer(&tokenizer(&words)), "tokenizer.json", "a token 6");
    let mut unknown = tokenizer(&WORDS);
    unknown["model"]["type"] = json!("Oracle");
    assert_broken(&check_tokenizer(&unknown), "tokenizer.json", "");
    assert_broken(&check_tokenizer(&json!({})), "tokenizer.json", "model");
    assert_broken(&check_tokenizer(&json!({"model": {}})), "tokenizer.json", "");
    let nested = "[".repeat(100_000);
    let error = check_with(|folder| fs::write(folder.join("tokenizer.json"), &nested).unwrap());
    assert_broken(&error, "tokenizer.json", "");
}

#[test]
fn a_normalizer_that_makes_texts_endless_is_refused() {
    let replace = |pattern: &str, content: &str| json!({ "type": "Replace", "pattern": { "String": pattern }, "content": content });
    let with_normalizer = |normalizer: Value| {
        let mut words = tokenizer(&WORDS);
        words["normalizer"] = normalizer;
        words
    };
    let doubled = vec![replace("a", "aa"); 60];
    let bomb = with_normalizer(json!({ "type": "Sequence", "normalizers": doubled }));
    assert_broken(&check_tokenizer(&bomb), "tokenizer.json", "longer");
    let long = with_normalizer(replace("a", &"b".repeat(1_000)));
    assert_broken(&check_tokenizer(&long), "tokenizer.json", "long text");
    // Spaces around all punctuation are usual, and lengthen no text by much.
    let spaced = "!\"#$%&'()*+,-./:;<=>?@[]^_`{|}~".chars().map(|mark| {
        let mark = mark.to_string();
        replace(&mark, &format!(" {mark} "))
    });
    let usual = json!({ "type": "Sequence", "normalizers": spaced.collect::<Vec<_>>() });
    let folder = tempfile::tempdir().unwrap();
    write_model(folder.path());
    let words = with_normalizer(usual).to_string();
    fs::write(folder.path().join("tokenizer.json"), words).unwrap();
    check_model(folder.path()).unwrap();
}

#[test]
fn files_over_the_limits_are_refused_before_they_are_read() {
    // Sparse files: they have a size and no content.
    for (name, size) in
        [("tokenizer.json", 2 << 30), ("config.json", 2 << 20), ("model.safetensors", 3 << 30)]
    {
        let error = check_with(|folder| {
            let file = fs::OpenOptions::new().write(true).open(folder.join(name)).unwrap();
            file.set_len(size).unwrap();
        });
        let EmbedError::ModelTooLarge { file, .. } = &error else { panic!("{error:?}") };
        assert_eq!(file, name);
    }
}

#[test]
fn what_is_not_a_regular_file_is_refused() {
    let error = check_with(|folder| {
        fs::remove_file(folder.join("tokenizer.json")).unwrap();
        fs::create_dir(folder.join("tokenizer.json")).unwrap();
    });
    assert_broken(&error, "tokenizer.json", "regular file");
    let error = check_with(|folder| {
        fs::remove_file(folder.join("model.safetensors")).unwrap();
        drop(UnixListener::bind(folder.join("model.safetensors")).unwrap());
    });
    assert_broken(&error, "model.safetensors", "regular file");
}

#[test]
fn a_configuration_that_is_no_json_or_of_wrong_types_is_refused() {
    for config in ["", "[]", "{", r#"{"normalize":"yes"}"#] {
        let error = check_with(|folder| fs::write(folder.join("config.json"), config).unwrap());
        assert_broken(&error, "config.json", "");
    }
}

proptest! {
    #[test]
    fn any_text_is_embedded_without_a_panic(text in "\\PC{0,200}|[\\x00-\\xff]{0,200}") {
        static MODEL: LazyLock<StaticModel> = LazyLock::new(|| {
            let folder = tempfile::tempdir().unwrap();
            write_model(folder.path());
            StaticModel::load(folder.path()).unwrap()
        });
        let vector = MODEL.embed_text(&text).unwrap();
        assert!(vector.iter().all(|number| number.is_finite()));
    }

    #[test]
    fn any_flipped_byte_of_the_weights_gives_a_model_or_an_error(
        flips in prop::collection::vec((0_usize..200, 1_u8..), 1..4),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut weights = safetensors(&[("embeddings", Tensor::table())]);
        for (place, mask) in flips {
            let place = place % weights.len();
            weights[place] ^= mask;
        }
        write_files(folder.path(), &weights, &tokenizer(&WORDS));
        if let Ok(model) = StaticModel::load(folder.path()) {
            let _ = model.embed_text("cat dog kernel");
        }
    }
}
