//! Records of the vector store's file: a header, then vectors and removals, each with a checksum.

use half::f16;
use half::slice::HalfFloatSliceExt as _;

/// The format's name and version.
const MAGIC: [u8; 8] = *b"rdvecs\x00\x01";
const HEADER_LENGTH: usize = MAGIC.len() + 4 + FINGERPRINT_LENGTH + CHECKSUM_LENGTH;
const FINGERPRINT_LENGTH: usize = 32;
const CHECKSUM_LENGTH: usize = 4;
/// Kind and id.
const PREFIX_LENGTH: usize = 1 + 8;
const REMOVAL_LENGTH: usize = PREFIX_LENGTH + CHECKSUM_LENGTH;
const VECTOR: u8 = b'v';
const REMOVAL: u8 = b'r';

/// One step in the life of a store.
#[derive(Debug, PartialEq)]
pub(super) enum Record {
    /// From here on, `id` has this vector.
    Vector { id: u64, numbers: Vec<f32> },
    /// From here on, `id` has none.
    Removal { id: u64 },
}

/// The format of the records of one store.
#[derive(Debug, Clone)]
pub(super) struct RecordFormat {
    dimensions: usize,
    header: Vec<u8>,
}

impl RecordFormat {
    pub(super) fn new(fingerprint: &str, dimensions: usize) -> Self {
        let mut header = MAGIC.to_vec();
        header.extend((dimensions as u32).to_le_bytes());
        header.extend(blake3::hash(fingerprint.as_bytes()).as_bytes());
        seal(&mut header, 0);
        Self { dimensions, header }
    }

    pub(super) fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// The header of a file with vectors of this model.
    pub(super) fn header(&self) -> &[u8] {
        &self.header
    }

    pub(super) fn header_length(&self) -> u64 {
        HEADER_LENGTH as u64
    }

    /// The length of a vector's record.
    pub(super) fn vector_length(&self) -> usize {
        PREFIX_LENGTH + self.dimensions * 2 + CHECKSUM_LENGTH
    }

    /// The length of the record that begins with this byte, if one does.
    pub(super) fn length_of(&self, kind: u8) -> Option<usize> {
        match kind {
            VECTOR => Some(self.vector_length()),
            REMOVAL => Some(REMOVAL_LENGTH),
            _ => None,
        }
    }

    /// Appends a vector's record to `into`, and returns the numbers as a reader will see them.
    pub(super) fn encode_vector(&self, id: u64, numbers: &[f32], into: &mut Vec<u8>) -> Vec<f32> {
        let start = into.len();
        into.push(VECTOR);
        into.extend(id.to_le_bytes());
        let mut halves = vec![f16::ZERO; numbers.len()];
        halves.convert_from_f32_slice(numbers);
        halves.iter().for_each(|half| into.extend(half.to_le_bytes()));
        seal(into, start);
        halves.to_f32_vec()
    }

    /// Appends a removal's record to `into`.
    pub(super) fn encode_removal(&self, id: u64, into: &mut Vec<u8>) {
        let start = into.len();
        into.push(REMOVAL);
        into.extend(id.to_le_bytes());
        seal(into, start);
    }

    /// The record that `bytes` are; none if they are not a whole one.
    pub(super) fn decode(&self, bytes: &[u8]) -> Option<Record> {
        let (kind, _) = bytes.split_first()?;
        if self.length_of(*kind)? != bytes.len() {
            return None;
        }
        let (body, checksum) = bytes.split_last_chunk::<CHECKSUM_LENGTH>()?;
        if crc32fast::hash(body) != u32::from_le_bytes(*checksum) {
            return None;
        }
        let (id, numbers) = body[1..].split_first_chunk::<8>()?;
        let id = u64::from_le_bytes(*id);
        if *kind == REMOVAL {
            return Some(Record::Removal { id });
        }
        let halves = numbers.as_chunks::<2>().0.iter().map(|half| f16::from_le_bytes(*half));
        let halves: Vec<f16> = halves.collect();
        // No writer stores such numbers; scores of them would be above all others.
        if !halves.iter().all(|half| half.is_finite()) {
            return None;
        }
        Some(Record::Vector { id, numbers: halves.to_f32_vec() })
    }
}

/// Appends the checksum of what stands from `start` on.
fn seal(bytes: &mut Vec<u8>, start: usize) {
    let checksum = crc32fast::hash(&bytes[start..]);
    bytes.extend(checksum.to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::{HEADER_LENGTH, Record, RecordFormat};

    #[test]
    fn records_are_decoded_as_they_were_encoded() {
        let format = RecordFormat::new("model", 3);
        let mut bytes = Vec::new();
        let numbers = format.encode_vector(7, &[0.5, -0.25, 1e-9], &mut bytes);
        assert_eq!(bytes.len(), format.vector_length());
        assert_eq!(format.decode(&bytes), Some(Record::Vector { id: 7, numbers }));
        let mut bytes = Vec::new();
        format.encode_removal(u64::MAX, &mut bytes);
        assert_eq!(format.decode(&bytes), Some(Record::Removal { id: u64::MAX }));
    }

    #[test]
    fn a_record_with_any_bit_flipped_is_none() {
        let format = RecordFormat::new("model", 2);
        let mut bytes = Vec::new();
        format.encode_vector(7, &[0.5, -0.25], &mut bytes);
        for bit in 0..bytes.len() * 8 {
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(format.decode(&bytes), None, "bit {bit}");
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        assert_eq!(format.decode(&[]), None);
    }

    #[test]
    fn headers_differ_by_model_and_dimensions() {
        let header = |model, dimensions| RecordFormat::new(model, dimensions).header().to_vec();
        assert_eq!(header("a", 3).len(), HEADER_LENGTH);
        assert_ne!(header("a", 3), header("b", 3));
        assert_ne!(header("a", 3), header("a", 4));
    }
}
