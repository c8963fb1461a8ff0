//! Quantized vectors in memory: 8-bit numbers with a scale for each vector.

/// Vectors in a block: growing the store moves none of them.
const BLOCK_VECTORS: usize = 4_096;
/// The dot product takes this many numbers at a time: measured, the compiler then multiplies and
/// adds pairs in one instruction; with 16 or 64 the search takes twice as long.
const LANES: usize = 32;

/// A vector in 8-bit numbers: `code * scale` is about the number.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct QuantizedVector {
    codes: Vec<i8>,
    scale: f32,
}

impl QuantizedVector {
    pub(super) fn new(numbers: &[f32]) -> Self {
        let largest = numbers.iter().fold(0.0_f32, |largest, number| largest.max(number.abs()));
        let scale = largest / 127.0;
        let factor = if scale > 0.0 { scale.recip() } else { 0.0 };
        // A cast saturates, and makes 0 of what is not a number.
        let codes = numbers.iter().map(|number| (number * factor).round() as i8).collect();
        Self { codes, scale }
    }
}

/// A quantized vector to compare many others with: widened once, not for each of them.
#[derive(Debug)]
pub(super) struct QuantizedQuery {
    codes: Vec<i16>,
    scale: f32,
}

impl QuantizedQuery {
    pub(super) fn new(numbers: &[f32]) -> Self {
        let QuantizedVector { codes, scale } = QuantizedVector::new(numbers);
        Self { codes: codes.into_iter().map(i16::from).collect(), scale }
    }
}

/// Many quantized vectors of the same length.
pub(super) struct QuantizedVectors {
    dimensions: usize,
    blocks: Vec<Vec<i8>>,
    scales: Vec<f32>,
}

impl QuantizedVectors {
    pub(super) fn new(dimensions: usize) -> Self {
        Self { dimensions, blocks: Vec::new(), scales: Vec::new() }
    }

    pub(super) fn push(&mut self, vector: &QuantizedVector) {
        if self.scales.len().is_multiple_of(BLOCK_VECTORS) {
            self.blocks.push(Vec::new());
        }
        if let Some(block) = self.blocks.last_mut() {
            block.extend_from_slice(&vector.codes);
            self.scales.push(vector.scale);
        }
    }

    pub(super) fn replace(&mut self, slot: usize, vector: &QuantizedVector) {
        self.codes_mut(slot).copy_from_slice(&vector.codes);
        self.scales[slot] = vector.scale;
    }

    /// Removes a vector; the last one takes its slot.
    pub(super) fn swap_remove(&mut self, slot: usize) {
        let last = self.scales.len() - 1;
        let start = last % BLOCK_VECTORS * self.dimensions;
        let Some(block) = self.blocks.last_mut() else { return };
        let codes = block.split_off(start);
        if start == 0 {
            self.blocks.pop();
        }
        if slot != last {
            self.codes_mut(slot).copy_from_slice(&codes);
        }
        self.scales.swap_remove(slot);
    }

    fn codes_mut(&mut self, slot: usize) -> &mut [i8] {
        let start = slot % BLOCK_VECTORS * self.dimensions;
        &mut self.blocks[slot / BLOCK_VECTORS][start..start + self.dimensions]
    }

    /// The approximate dot product of one vector.
    pub(super) fn score(&self, query: &QuantizedQuery, slot: usize) -> f32 {
        let start = slot % BLOCK_VECTORS * self.dimensions;
        let codes = &self.blocks[slot / BLOCK_VECTORS][start..start + self.dimensions];
        dot(&query.codes, codes) as f32 * query.scale * self.scales[slot]
    }

    /// Calls `take` with the slot and the approximate dot product of every vector.
    pub(super) fn for_each_score(&self, query: &QuantizedQuery, mut take: impl FnMut(usize, f32)) {
        let mut slot = 0;
        for block in &self.blocks {
            for codes in block.chunks_exact(self.dimensions) {
                let score = dot(&query.codes, codes) as f32 * query.scale * self.scales[slot];
                take(slot, score);
                slot += 1;
            }
        }
    }
}

/// The dot product of two slices of one length. It fits: 127 * 127 * 8,192 is below 2^31.
fn dot(query: &[i16], codes: &[i8]) -> i32 {
    let (query, query_rest) = query.as_chunks::<LANES>();
    let (codes, codes_rest) = codes.as_chunks::<LANES>();
    let chunks = query.iter().zip(codes).map(|(query, codes)| {
        let mut sum = 0;
        for lane in 0..LANES {
            sum += i32::from(query[lane]) * i32::from(i16::from(codes[lane]));
        }
        sum
    });
    let rest = query_rest.iter().zip(codes_rest).map(|(a, b)| i32::from(*a) * i32::from(*b));
    chunks.sum::<i32>() + rest.sum::<i32>()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop, proptest};

    use super::{BLOCK_VECTORS, QuantizedVector, QuantizedVectors, dot};

    fn vector(number: usize) -> QuantizedVector {
        QuantizedVector::new(&[number as f32, 1.0, -1.0])
    }

    fn all(vectors: &QuantizedVectors) -> Vec<QuantizedVector> {
        let codes = vectors.blocks.iter().flat_map(|block| block.chunks_exact(vectors.dimensions));
        let pairs = codes.zip(&vectors.scales);
        pairs
            .map(|(codes, scale)| QuantizedVector { codes: codes.to_vec(), scale: *scale })
            .collect()
    }

    #[test]
    fn a_vector_is_kept_to_a_part_in_254_of_its_largest_number() {
        let numbers = [0.5, -0.25, 0.001, 0.0, -0.5];
        let quantized = QuantizedVector::new(&numbers);
        for (code, number) in quantized.codes.iter().zip(numbers) {
            assert!((f32::from(*code) * quantized.scale - number).abs() <= 0.5 / 254.0 + 1e-6);
        }
        assert_eq!(QuantizedVector::new(&[0.0, 0.0]).codes, [0, 0]);
        // Numbers so small that their scale is zero or subnormal.
        assert!(QuantizedVector::new(&[f32::MIN_POSITIVE, 1e-45]).scale.is_finite());
    }

    #[test]
    fn removing_across_blocks_keeps_all_others() {
        let mut vectors = QuantizedVectors::new(3);
        let mut expected: Vec<QuantizedVector> = (0..BLOCK_VECTORS + 2).map(vector).collect();
        expected.iter().for_each(|vector| vectors.push(vector));
        for slot in [0, BLOCK_VECTORS, 5, BLOCK_VECTORS - 2] {
            vectors.swap_remove(slot);
            expected.swap_remove(slot);
            assert!(all(&vectors) == expected, "after slot {slot}");
        }
        vectors.push(&vector(7));
        expected.push(vector(7));
        assert!(all(&vectors) == expected);
    }

    proptest! {
        #[test]
        fn the_dot_product_is_exact(
            pairs in prop::collection::vec((any::<i8>(), any::<i8>()), 0..100),
        ) {
            let a: Vec<i16> = pairs.iter().map(|(a, _)| i16::from(*a)).collect();
            let b: Vec<i8> = pairs.iter().map(|(_, b)| *b).collect();
            let expected: i32 = pairs.iter().map(|(a, b)| i32::from(*a) * i32::from(*b)).sum();
            assert_eq!(dot(&a, &b), expected);
        }
    }
}
