//! Vector store: vectors by id, in a folder, with exact nearest-neighbour search.
//!
//! Memory holds each vector in 8-bit numbers, which a search compares all of; the file holds it in
//! 16-bit floats, by which the search ranks the best candidates again.

mod log_file;
mod quantized;
mod record;
mod table;

use std::path::{Path, PathBuf};

use self::log_file::{LogFile, StoreLock};
use self::quantized::{QuantizedQuery, QuantizedVector};
use self::record::{Record, RecordFormat};
use self::table::VectorTable;
use crate::error::EmbedError;
use crate::model::{MAX_DIMENSIONS, normalize};

/// Fewest candidates of the 8-bit search that are ranked again in 16 bits.
const MIN_CANDIDATES: usize = 128;
/// Candidates for each hit that is asked for.
const CANDIDATES_PER_HIT: usize = 4;
/// Most hits of a search.
const MAX_HITS: usize = 10_000;
/// Bytes of removed records below which compaction is not worth it.
const MIN_WASTE: u64 = 1 << 20;

/// What a process does with a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VectorStoreAccess {
    /// Reads and writes. One process at a time can.
    Write,
    /// Reads what is there, and changes nothing.
    Read,
}

/// What opening a store found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VectorStoreOpening {
    /// There was no store.
    Created,
    /// The store of this model is whole.
    Loaded,
    /// The store ended in this many bytes that were no whole records; they are cut off.
    Recovered {
        /// Bytes cut off.
        lost: u64,
    },
    /// The file was a store of another model, or no store; it begins anew.
    Replaced,
}

/// Vectors by id. Scores are cosines: 1 for the same direction, 0 for none in common.
pub struct VectorStore {
    folder: PathBuf,
    format: RecordFormat,
    file: LogFile,
    opening: VectorStoreOpening,
    table: VectorTable,
    /// Held while the store is open for writing.
    _lock: Option<StoreLock>,
}

impl VectorStore {
    /// Opens the store in `folder` for vectors of the model `fingerprint`, or begins one.
    ///
    /// A store of another model is empty. Records behind the first that is not whole are cut off,
    /// also if they are whole: what came before a removal must not come back without it.
    pub fn open(
        folder: &Path,
        fingerprint: &str,
        dimensions: usize,
        access: VectorStoreAccess,
    ) -> Result<Self, EmbedError> {
        if !(1..=MAX_DIMENSIONS).contains(&dimensions) {
            return Err(EmbedError::Invalid(format!("vectors of {dimensions} dimensions")));
        }
        let format = RecordFormat::new(fingerprint, dimensions);
        let lock = match access {
            VectorStoreAccess::Write => Some(StoreLock::acquire(folder)?),
            VectorStoreAccess::Read => None,
        };
        let (file, opening) = LogFile::open(folder, &format, access)?;
        let mut store = Self {
            folder: folder.to_owned(),
            file,
            opening,
            table: VectorTable::new(dimensions),
            format,
            _lock: lock,
        };
        let lost = store.load()?;
        if lost > 0 {
            store.opening = VectorStoreOpening::Recovered { lost };
        }
        Ok(store)
    }

    /// Reads all records into memory. Returns how many bytes at the end are none.
    fn load(&mut self) -> Result<u64, EmbedError> {
        let mut scan = self.file.scan(&self.format)?;
        let mut end = scan.position();
        while let Some((position, record)) = scan.next_record()? {
            match record {
                Record::Vector { id, numbers } => {
                    let quantized = QuantizedVector::new(&numbers);
                    if !self.table.set(id, position, &quantized) {
                        break;
                    }
                }
                Record::Removal { id } => self.table.remove(id),
            }
            end = scan.position();
        }
        self.file.cut(end)
    }

    /// What opening the store found.
    pub fn opening(&self) -> VectorStoreOpening {
        self.opening
    }

    /// How many vectors there are.
    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// Whether there are no vectors.
    pub fn is_empty(&self) -> bool {
        self.table.len() == 0
    }

    /// Whether `id` has a vector.
    pub fn contains(&self, id: u64) -> bool {
        self.table.contains(id)
    }

    /// The ids that have vectors, in no order.
    pub fn ids(&self) -> impl Iterator<Item = u64> {
        self.table.ids().iter().copied()
    }

    /// Adds vectors; an id that has one gets the new one in its place.
    ///
    /// Either all of them are added or, after an error, none.
    pub fn append(&mut self, vectors: &[(u64, &[f32])]) -> Result<(), EmbedError> {
        let mut bytes = Vec::with_capacity(vectors.len() * self.format.vector_length());
        let mut added = Vec::with_capacity(vectors.len());
        if !self.table.has_room(vectors.len()) {
            return Err(EmbedError::Invalid("the store is full".to_owned()));
        }
        for (id, vector) in vectors {
            let numbers = self.unit_vector(vector)?;
            let position = self.file.end() + bytes.len() as u64;
            let numbers = self.format.encode_vector(*id, &numbers, &mut bytes);
            added.push((*id, position, QuantizedVector::new(&numbers)));
        }
        self.file.append(&bytes)?;
        for (id, position, quantized) in added {
            self.table.set(id, position, &quantized);
        }
        Ok(())
    }

    /// Removes the vectors of `ids`; ids without one do not matter.
    pub fn remove(&mut self, ids: &[u64]) -> Result<(), EmbedError> {
        let mut bytes = Vec::new();
        for id in ids.iter().filter(|id| self.contains(**id)) {
            self.format.encode_removal(*id, &mut bytes);
        }
        self.file.append(&bytes)?;
        ids.iter().for_each(|id| self.table.remove(*id));
        Ok(())
    }

    /// Waits until everything added and removed so far outlasts a crash of the machine.
    pub fn sync(&self) -> Result<(), EmbedError> {
        self.file.sync()
    }

    /// Whether removed and replaced records take more room than the others.
    pub fn is_worth_compacting(&self) -> bool {
        let live = (self.table.len() * self.format.vector_length()) as u64;
        let waste = self.file.end().saturating_sub(self.format.header_length() + live);
        waste > live.max(MIN_WASTE)
    }

    /// Writes the file anew without removed and replaced records. A crash leaves the old file.
    pub fn compact(&mut self) -> Result<(), EmbedError> {
        self.file.writable_file()?;
        let mut fresh = LogFile::create_beside(&self.folder, &self.format)?;
        let mut order: Vec<usize> = (0..self.table.len()).collect();
        order.sort_unstable_by_key(|slot| self.table.positions()[*slot]);
        let mut positions = vec![0; self.table.len()];
        let mut bytes = vec![0; self.format.vector_length()];
        let mut batch = Vec::new();
        for slot in order {
            self.read_record(slot, &mut bytes)?;
            positions[slot] = fresh.end() + batch.len() as u64;
            batch.extend_from_slice(&bytes);
            if batch.len() > log_file::CHUNK_BYTES {
                fresh.append(&batch)?;
                batch.clear();
            }
        }
        fresh.append(&batch)?;
        fresh.replace_log(&self.folder)?;
        self.file = fresh;
        self.table.set_positions(positions);
        Ok(())
    }

    /// The `k` nearest vectors to `query` whose ids `accept` takes, best first.
    ///
    /// Equal scores are ordered by id. The search calls `accept` only for vectors that are near
    /// enough so far.
    pub fn search(
        &self,
        query: &[f32],
        k: usize,
        accept: impl Fn(u64) -> bool,
    ) -> Result<Vec<(u64, f32)>, EmbedError> {
        let query = self.unit_vector(query)?;
        let k = k.min(MAX_HITS);
        if k == 0 {
            return Ok(Vec::new());
        }
        let mut bytes = vec![0; self.format.vector_length()];
        let mut hits = Vec::new();
        let most = (k * CANDIDATES_PER_HIT).max(MIN_CANDIDATES);
        for slot in self.table.nearest(&QuantizedQuery::new(&query), most, accept) {
            let numbers = self.read_record(slot, &mut bytes)?;
            let score: f32 = query.iter().zip(&numbers).map(|(a, b)| a * b).sum();
            hits.push((self.table.ids()[slot], score));
        }
        hits.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        hits.truncate(k);
        Ok(hits)
    }

    /// The id among `ids` whose vector is nearest to `query`, by its approximate score. Of equal
    /// scores the first one counts.
    pub fn best_of(&self, query: &[f32], ids: impl Iterator<Item = u64>) -> Option<(u64, f32)> {
        let query = QuantizedQuery::new(&self.unit_vector(query).ok()?);
        let mut best: Option<(u64, f32)> = None;
        for id in ids {
            let Some(score) = self.table.score(&query, id) else { continue };
            if best.is_none_or(|(_, known)| score > known) {
                best = Some((id, score));
            }
        }
        best
    }

    /// Reads the record of a slot, and checks that it is the one that was written.
    fn read_record(&self, slot: usize, bytes: &mut [u8]) -> Result<Vec<f32>, EmbedError> {
        self.file.read_at(self.table.positions()[slot], bytes)?;
        match self.format.decode(bytes) {
            Some(Record::Vector { id, numbers }) if id == self.table.ids()[slot] => Ok(numbers),
            _ => Err(EmbedError::StoreDamaged("a record changed on disk".to_owned())),
        }
    }

    fn unit_vector(&self, vector: &[f32]) -> Result<Vec<f32>, EmbedError> {
        let (length, dimensions) = (vector.len(), self.format.dimensions());
        if length != dimensions {
            let why = format!("a vector of {length} dimensions in a store of {dimensions}");
            return Err(EmbedError::Invalid(why));
        }
        if vector.iter().any(|number| !number.is_finite()) {
            let why = "a vector has a number that is infinite or not a number";
            return Err(EmbedError::Invalid(why.to_owned()));
        }
        let mut vector = vector.to_vec();
        normalize(&mut vector);
        Ok(vector)
    }
}
