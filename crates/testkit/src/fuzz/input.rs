//! Generator of fuzz inputs: mutations of valid examples, and sequences of odd pieces.

/// The longest input. Few are longer than two thousand bytes.
pub const MAX_INPUT_BYTES: usize = 64 << 10;

/// The longest of all but one in 256 inputs.
const USUAL_INPUT_BYTES: usize = 2 << 10;

/// Pieces that parsers get wrong: escapes, numbers, brackets, separators, characters and bytes.
const ODD_PIECES: &[&[u8]] = &[
    b"\\ud800",
    b"\\udc00\\ud83d",
    b"\\ud83d\\ude00",
    b"\\u0000",
    b"\\u00",
    b"\\",
    b"\\\"",
    b"\"",
    b"\0",
    b"1e999",
    b"-1e-999",
    b"-0",
    b"1.0",
    b"0.1e1",
    b"+1",
    b"00",
    b"18446744073709551616",
    b"-9223372036854775809",
    b"99999999999999999999999999999999999999999999999999999999999999999999999999999999",
    b"NaN",
    b"null",
    b"true",
    b"{}",
    b"[]",
    b"\"\"",
    b"{",
    b"}",
    b"[",
    b"]",
    b"[[",
    b"]]",
    b"{\"\":",
    b",",
    b":",
    b"=",
    b"&",
    b";",
    b"#",
    b"?",
    b"+",
    b"-",
    b"!",
    b"~",
    b".",
    b"..",
    b"/",
    b"//",
    b"/../",
    b"*",
    b"**",
    b"**/",
    b"{a,",
    b"[!",
    b"[a-",
    b"[[:alpha:]",
    b"%",
    b"%2",
    b"%00",
    b"%2F",
    b"%25",
    b"%C3%A9",
    b"%C3%28",
    b"%ff",
    b" ",
    b"  ",
    b"\t",
    b"\n",
    b"\r",
    b"\r\n",
    b"\n\n",
    b"\x7f",
    b"\x1b[0m",
    "é".as_bytes(),
    "日本".as_bytes(),
    "e\u{301}".as_bytes(),
    "👨\u{200d}👩\u{200d}👧".as_bytes(),
    "\u{202e}".as_bytes(),
    "\u{feff}".as_bytes(),
    "\u{85}".as_bytes(),
    "\u{2028}".as_bytes(),
    "\u{ffff}".as_bytes(),
    "\u{10ffff}".as_bytes(),
    b"\xff",
    b"\xc3",
    b"\xed\xa0\x80",
    b"\xf0\x9f",
    b"\xc0\x80",
];

/// What can be put around a piece many times over, with the piece between the two.
const NESTINGS: &[(&[u8], &[u8])] = &[
    (b"[", b"]"),
    (b"{\"a\":", b"}"),
    (b"{a,", b"}"),
    (b"{\"content\":[", b"]}"),
    (b"{\"inputRequests\":{\"a\":{\"params\":", b"}}}"),
    (b"(", b")"),
    (b"{", b"}"),
];

/// Pseudorandom numbers (SplitMix64).
#[derive(Debug)]
pub struct Random(u64);

impl Random {
    /// The sequence of one input.
    pub fn new(seed: u64, number: u64) -> Self {
        let mut seeded = Self(seed);
        Self(seeded.next() ^ number.wrapping_mul(0xd134_2543_de82_ef95))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`; zero if `end` is zero.
    pub fn below(&mut self, end: usize) -> usize {
        if end == 0 { 0 } else { (self.next() % end as u64) as usize }
    }

    /// A small number, and now and then a large one, below `end`.
    fn mostly_small(&mut self, end: usize) -> usize {
        let end = end >> self.below(16);
        self.below(end)
    }

    fn pick<'a, T: ?Sized>(&mut self, all: &[&'a T]) -> Option<&'a T> {
        all.get(self.below(all.len())).copied()
    }

    /// A range of `0..length`, most often a short one.
    fn range(&mut self, length: usize) -> std::ops::Range<usize> {
        let start = self.below(length + 1);
        start..start + self.mostly_small(length - start + 1)
    }
}

/// The input `number` of the sequence `seed`: a mutation of one of `examples`, or odd pieces.
pub fn generate(examples: &[&[u8]], seed: u64, number: u64) -> Vec<u8> {
    let mut random = Random::new(seed, number);
    let most = if random.below(256) == 0 { MAX_INPUT_BYTES } else { USUAL_INPUT_BYTES };
    let mut input = Vec::new();
    match random.below(16) {
        0 => (0..random.mostly_small(256)).for_each(|_| input.push(random.below(256) as u8)),
        1 => {
            (0..random.below(32)).for_each(|_| input.extend(random.pick(ODD_PIECES).unwrap_or(&[])))
        }
        _ => input.extend(random.pick(examples).unwrap_or(&[])),
    }
    let mutations = if random.below(16) == 0 { 0 } else { 1 + random.below(7) };
    for _ in 0..mutations {
        mutate(&mut input, examples, most, &mut random);
    }
    input.truncate(most);
    input
}

fn mutate(input: &mut Vec<u8>, examples: &[&[u8]], most: usize, random: &mut Random) {
    let range = random.range(input.len());
    let odd = random.pick(ODD_PIECES).unwrap_or(&[]);
    match random.below(12) {
        0 | 1 => insert(input, range.start, odd),
        2 | 3 => drop(input.splice(range, odd.iter().copied())),
        4 => drop(input.drain(range)),
        5 => input.truncate(range.start),
        6 => {
            if let Some(byte) = input.get_mut(range.start) {
                *byte ^= 1 << random.below(8);
            }
        }
        7 => {
            if let Some(byte) = input.get_mut(range.start) {
                *byte = random.below(256) as u8;
            }
        }
        8 => {
            let piece = input[range.clone()].to_vec();
            let times = random.mostly_small(most / piece.len().max(1) + 1);
            insert(input, range.end, &piece.repeat(times));
        }
        9 => {
            let other = random.pick(examples).unwrap_or(&[]);
            let piece = &other[random.range(other.len())];
            drop(input.splice(range, piece.iter().copied()));
        }
        10 => {
            let piece = input[range].to_vec();
            let place = random.below(input.len() + 1);
            insert(input, place, &piece);
        }
        _ => nest(input, range, most, random),
    }
}

/// Nests a range of the input deeply. One time in four, nothing closes it.
fn nest(input: &mut Vec<u8>, range: std::ops::Range<usize>, most: usize, random: &mut Random) {
    let (open, close) = NESTINGS[random.below(NESTINGS.len())];
    let levels = random.mostly_small(most / (open.len() + close.len()) + 1);
    let closed = if random.below(4) == 0 { 0 } else { levels };
    insert(input, range.end, &close.repeat(closed));
    insert(input, range.start, &open.repeat(levels));
}

fn insert(input: &mut Vec<u8>, at: usize, piece: &[u8]) {
    drop(input.splice(at..at, piece.iter().copied()));
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{MAX_INPUT_BYTES, USUAL_INPUT_BYTES, generate};

    #[test]
    fn inputs_are_the_same_each_time_bounded_and_different_from_each_other() {
        let examples: &[&[u8]] = &[b"{\"a\":[1,2,3],\"b\":\"text\"}", b"[]"];
        let inputs: Vec<Vec<u8>> = (0..20_000).map(|at| generate(examples, 3, at)).collect();
        assert_eq!(inputs[77], generate(examples, 3, 77));
        assert_ne!(inputs[..50], (0..50).map(|at| generate(examples, 4, at)).collect::<Vec<_>>());
        assert!(inputs.iter().all(|input| input.len() <= MAX_INPUT_BYTES));
        let long = inputs.iter().filter(|input| input.len() > USUAL_INPUT_BYTES).count();
        assert!((1..200).contains(&long), "{long}");
        let different: HashSet<&Vec<u8>> = inputs.iter().collect();
        assert!(different.len() > 12_000, "{}", different.len());
        assert!(inputs.iter().any(|input| input == examples[0]));
    }
}
