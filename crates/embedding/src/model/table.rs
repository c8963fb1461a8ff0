//! The token table of a model: a row of numbers for each token, read from a safetensors file.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt as _;

use half::slice::HalfFloatSliceExt as _;
use half::{bf16, f16};
use safetensors::Dtype;
use safetensors::tensor::{Metadata, TensorInfo};

use super::files::{MAX_WEIGHTS_BYTES, ModelFiles, file_name, open_bounded};
use super::tokenizer::BoundedTokenizer;
use crate::error::EmbedError;

/// Longest header: a model has a handful of tensors.
const MAX_HEADER_BYTES: u64 = 1 << 20;
/// Most dimensions of a vector.
pub(crate) const MAX_DIMENSIONS: usize = 8_192;
/// How many bytes of a tensor are in memory beside its numbers.
const CHUNK_BYTES: usize = 1 << 20;

/// The vectors of all tokens.
pub(super) struct EmbeddingTable {
    rows: TableRows,
    dimensions: usize,
    /// What each token's vector is multiplied by.
    weights: Option<Vec<f32>>,
    /// The row of each token, where tokens share rows.
    mapping: Option<Vec<u32>>,
}

/// The numbers of a table, as precise as the file has them.
enum TableRows {
    F32(Vec<f32>),
    F16(Vec<f16>),
    I8(Vec<i8>),
}

impl EmbeddingTable {
    pub(super) fn load(
        files: &ModelFiles,
        hasher: &mut blake3::Hasher,
    ) -> Result<Self, EmbedError> {
        let mut reader = TensorReader::open(files, hasher)?;
        // Model2Vec writes `embeddings`; Sentence Transformers and WordLlama `embedding.weight`.
        let info = reader.info("embeddings").or_else(|| reader.info("embedding.weight"));
        let Some(info) = info else {
            return Err(reader.broken("it has no tensor \"embeddings\" or \"embedding.weight\""));
        };
        let &[tokens, dimensions] = &info.shape[..] else {
            return Err(reader.broken(&format!("the table has {} axes, not 2", info.shape.len())));
        };
        if tokens == 0 || !(1..=MAX_DIMENSIONS).contains(&dimensions) {
            return Err(reader.broken(&format!("a table of {tokens} x {dimensions} is of no use")));
        }
        let rows = match info.dtype {
            Dtype::F32 => TableRows::F32(reader.read_numbers(&info, f32::from_le_bytes)?),
            Dtype::F16 => TableRows::F16(reader.read_numbers(&info, f16::from_le_bytes)?),
            Dtype::BF16 => TableRows::F32(
                reader.read_numbers(&info, |bytes| bf16::from_le_bytes(bytes).to_f32())?,
            ),
            Dtype::I8 => TableRows::I8(reader.read_numbers(&info, i8::from_le_bytes)?),
            other => return Err(reader.broken(&format!("tables of type {other:?} are unknown"))),
        };
        if !rows.is_finite() {
            return Err(reader.broken("the table has a number that is infinite or not a number"));
        }
        let weights = reader.info("weights").map(|info| reader.read_weights(&info)).transpose()?;
        let mapping = reader.info("mapping").map(|info| reader.read_mapping(&info)).transpose()?;
        let table = Self { rows, dimensions, weights, mapping };
        table.check_parts(tokens).map_err(|why| reader.broken(&why))?;
        Ok(table)
    }

    /// Checks that weights and mapping belong to a table with this many rows.
    fn check_parts(&self, rows: usize) -> Result<(), String> {
        let outside = |row: &u32| usize::try_from(*row).is_ok_and(|row| row >= rows);
        if let Some(row) = self.mapping.iter().flatten().find(|row| outside(row)) {
            return Err(format!("the mapping names row {row}, the table has {rows}"));
        }
        let tokens = self.mapping.as_ref().map_or(rows, Vec::len);
        match self.weights.as_ref().map(Vec::len) {
            Some(weights) if weights != tokens => {
                Err(format!("it has {weights} weights for {tokens} tokens"))
            }
            _ => Ok(()),
        }
    }

    /// Checks that each token of the tokenizer has a vector.
    pub(super) fn check_fits(
        &self,
        tokenizer: &BoundedTokenizer,
        files: &ModelFiles,
    ) -> Result<(), EmbedError> {
        let name = file_name(&files.tokenizer);
        let Some(max) = tokenizer.max_id() else {
            return Err(EmbedError::broken(&name, "it has no tokens"));
        };
        let tokens = self.tokens();
        if usize::try_from(max).is_ok_and(|max| max < tokens) {
            return Ok(());
        }
        let why = format!("it has a token {max}, but the table has {tokens} tokens");
        Err(EmbedError::broken(&name, why))
    }

    pub(super) fn tokens(&self) -> usize {
        self.mapping.as_ref().map_or(self.rows.len() / self.dimensions, Vec::len)
    }

    pub(super) fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// The mean of the tokens' vectors; zero for no tokens.
    pub(super) fn mean(&self, tokens: &[u32]) -> Vec<f32> {
        let mut sum = vec![0.0_f32; self.dimensions];
        let mut scratch = vec![0.0_f32; self.dimensions];
        let mut count = 0_u32;
        for token in tokens {
            let Ok(token) = usize::try_from(*token) else { continue };
            let row = match &self.mapping {
                Some(mapping) => mapping.get(token).and_then(|row| usize::try_from(*row).ok()),
                None => Some(token),
            };
            let weight = self.weights.as_ref().map_or(Some(1.0), |all| all.get(token).copied());
            let (Some(row), Some(weight)) = (row, weight) else { continue };
            if self.rows.copy_row(row, &mut scratch) {
                sum.iter_mut().zip(&scratch).for_each(|(sum, number)| *sum += number * weight);
                count += 1;
            }
        }
        let share = 1.0 / count.max(1) as f32;
        sum.iter_mut().for_each(|number| *number *= share);
        sum
    }
}

impl TableRows {
    fn len(&self) -> usize {
        match self {
            Self::F32(numbers) => numbers.len(),
            Self::F16(numbers) => numbers.len(),
            Self::I8(numbers) => numbers.len(),
        }
    }

    fn is_finite(&self) -> bool {
        match self {
            Self::F32(numbers) => numbers.iter().all(|number| number.is_finite()),
            Self::F16(numbers) => numbers.iter().all(|number| number.is_finite()),
            Self::I8(_) => true,
        }
    }

    /// Copies row `row` into `into`, whose length is that of a row. Returns whether there is one.
    fn copy_row(&self, row: usize, into: &mut [f32]) -> bool {
        let range = row * into.len()..(row + 1) * into.len();
        match self {
            Self::F32(numbers) => numbers.get(range).map(|row| into.copy_from_slice(row)).is_some(),
            Self::F16(numbers) => {
                numbers.get(range).map(|row| row.convert_to_f32_slice(into)).is_some()
            }
            Self::I8(numbers) => {
                let copy = |row: &[i8]| {
                    into.iter_mut().zip(row).for_each(|(into, code)| *into = f32::from(*code));
                };
                numbers.get(range).map(copy).is_some()
            }
        }
    }
}

/// Reads tensors of a safetensors file, chunk by chunk.
struct TensorReader<'a> {
    file: File,
    name: String,
    metadata: Metadata,
    /// Where the tensors begin.
    start: u64,
    hasher: &'a mut blake3::Hasher,
}

impl<'a> TensorReader<'a> {
    fn open(files: &ModelFiles, hasher: &'a mut blake3::Hasher) -> Result<Self, EmbedError> {
        let name = file_name(&files.weights);
        let (mut file, size) = open_bounded(&files.weights, MAX_WEIGHTS_BYTES)?;
        let broken = |why: String| EmbedError::broken(&name, why);
        let mut length = [0; 8];
        read_exact(&mut file, &mut length).map_err(|why| broken(format!("its header {why}")))?;
        let length = u64::from_le_bytes(length);
        // The file names the length, so it is checked before memory is taken for it.
        if length > MAX_HEADER_BYTES || length > size {
            return Err(broken("its header is longer than it may be".to_owned()));
        }
        let mut header = Vec::new();
        let read = file.by_ref().take(length).read_to_end(&mut header);
        read.map_err(EmbedError::io(format!("read {name}")))?;
        hasher.update(&header);
        let metadata: Metadata =
            serde_json::from_slice(&header).map_err(|error| broken(format!("header: {error}")))?;
        let start = 8 + length;
        let expected = start.saturating_add(metadata.data_len() as u64);
        if size != expected {
            return Err(broken(format!("it has {size} bytes, its header says {expected}")));
        }
        Ok(Self { file, name, metadata, start, hasher })
    }

    fn broken(&self, why: &str) -> EmbedError {
        EmbedError::broken(&self.name, why)
    }

    fn info(&self, name: &str) -> Option<TensorInfo> {
        let TensorInfo { dtype, shape, data_offsets } = self.metadata.info(name)?;
        Some(TensorInfo { dtype: *dtype, shape: shape.clone(), data_offsets: *data_offsets })
    }

    /// Reads a tensor of numbers of `N` bytes each.
    fn read_numbers<T, const N: usize>(
        &mut self,
        info: &TensorInfo,
        decode: impl Fn([u8; N]) -> T,
    ) -> Result<Vec<T>, EmbedError> {
        let (start, end) = info.data_offsets;
        let mut numbers = Vec::with_capacity((end - start) / N);
        let mut chunk = vec![0; CHUNK_BYTES.min(end - start)];
        let mut position = self.start + start as u64;
        let mut left = end - start;
        while left > 0 {
            let length = chunk.len().min(left);
            let bytes = &mut chunk[..length];
            let read = self.file.read_exact_at(bytes, position);
            read.map_err(EmbedError::io(format!("read {}", self.name)))?;
            self.hasher.update(bytes);
            numbers.extend(bytes.as_chunks::<N>().0.iter().map(|bytes| decode(*bytes)));
            position += length as u64;
            left -= length;
        }
        Ok(numbers)
    }

    fn read_weights(&mut self, info: &TensorInfo) -> Result<Vec<f32>, EmbedError> {
        self.check_axis(info, "weights")?;
        let weights = match info.dtype {
            Dtype::F64 => self.read_numbers(info, |bytes| f64::from_le_bytes(bytes) as f32)?,
            Dtype::F32 => self.read_numbers(info, f32::from_le_bytes)?,
            Dtype::F16 => self.read_numbers(info, |bytes| f16::from_le_bytes(bytes).to_f32())?,
            other => return Err(self.broken(&format!("weights of type {other:?} are unknown"))),
        };
        if weights.iter().all(|weight| weight.is_finite()) {
            return Ok(weights);
        }
        Err(self.broken("it has a weight that is infinite or not a number"))
    }

    fn read_mapping(&mut self, info: &TensorInfo) -> Result<Vec<u32>, EmbedError> {
        self.check_axis(info, "mapping")?;
        let rows: Vec<Option<u32>> = match info.dtype {
            Dtype::I64 => {
                self.read_numbers(info, |bytes| i64::from_le_bytes(bytes).try_into().ok())?
            }
            Dtype::I32 => {
                self.read_numbers(info, |bytes| i32::from_le_bytes(bytes).try_into().ok())?
            }
            Dtype::U32 => self.read_numbers(info, |bytes| Some(u32::from_le_bytes(bytes)))?,
            other => return Err(self.broken(&format!("mappings of type {other:?} are unknown"))),
        };
        let rows: Option<Vec<u32>> = rows.into_iter().collect();
        rows.ok_or_else(|| self.broken("the mapping names a row that cannot be"))
    }

    fn check_axis(&self, info: &TensorInfo, tensor: &str) -> Result<(), EmbedError> {
        match info.shape.len() {
            1 => Ok(()),
            axes => Err(self.broken(&format!("{tensor:?} has {axes} axes, not 1"))),
        }
    }
}

/// Fills `bytes`; the error says in words what is missing.
fn read_exact(file: &mut File, bytes: &mut [u8]) -> Result<(), String> {
    file.read_exact(bytes).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => "is cut off".to_owned(),
        _ => format!("cannot be read: {error}"),
    })
}
