//! Wildmatch: git's glob matcher, in time linear in pattern times text.
//!
//! The rules are those of git's `wildmatch.c` for paths: no braces, POSIX classes, escapes in
//! brackets, `**` between slashes only. A set of positions moves over the text, so that no pattern
//! backtracks.

/// A compiled pattern.
#[derive(Debug)]
pub(super) struct Wildmatch {
    tokens: Vec<GlobToken>,
    classes: Vec<ByteSet>,
}

#[derive(Debug, Clone, Copy)]
enum GlobToken {
    Byte(u8),
    /// Any byte but a slash.
    AnyByte,
    /// A byte of the class at this index.
    Class(u16),
    /// Any bytes but slashes.
    Star,
    /// Any bytes.
    DoubleStar,
    /// May skip the two tokens behind it: `**/` also matches nothing.
    SkipTwo,
}

/// A set of bytes, one bit each.
#[derive(Debug, Clone, Copy, Default)]
struct ByteSet([u64; 4]);

impl ByteSet {
    fn insert(&mut self, byte: u8) {
        self.0[usize::from(byte >> 6)] |= 1 << (byte & 63);
    }

    fn contains(&self, byte: u8) -> bool {
        self.0[usize::from(byte >> 6)] >> (byte & 63) & 1 == 1
    }

    fn extend(&mut self, is_member: impl Fn(u8) -> bool) {
        (0..=u8::MAX).filter(|byte| is_member(*byte)).for_each(|byte| self.insert(byte));
    }
}

impl Wildmatch {
    /// Compiles `pattern`; `None` if it can match nothing: a class without end or with an unknown
    /// name, or a backslash at the end.
    pub(super) fn compile(pattern: &[u8]) -> Option<Self> {
        let mut compiled = Self { tokens: Vec::new(), classes: Vec::new() };
        let mut at = 0;
        while let Some(byte) = pattern.get(at) {
            at += 1;
            match byte {
                b'\\' => {
                    compiled.tokens.push(GlobToken::Byte(*pattern.get(at)?));
                    at += 1;
                }
                b'?' => compiled.tokens.push(GlobToken::AnyByte),
                b'[' => {
                    let (class, end) = parse_class(pattern, at)?;
                    let index = u16::try_from(compiled.classes.len()).ok()?;
                    compiled.tokens.push(GlobToken::Class(index));
                    compiled.classes.push(class);
                    at = end;
                }
                b'*' => at = compiled.push_stars(pattern, at - 1),
                byte => compiled.tokens.push(GlobToken::Byte(*byte)),
            }
        }
        Some(compiled)
    }

    /// Adds the run of stars at `start`; returns its end.
    fn push_stars(&mut self, pattern: &[u8], start: usize) -> usize {
        let end = start + pattern[start..].iter().take_while(|byte| **byte == b'*').count();
        let rest = &pattern[end..];
        let is_between_slashes = (start == 0 || pattern[start - 1] == b'/')
            && (rest.is_empty() || rest[0] == b'/' || rest.starts_with(b"\\/"));
        if end - start == 1 || !is_between_slashes {
            self.tokens.push(GlobToken::Star);
        } else {
            if rest.first() == Some(&b'/') {
                self.tokens.push(GlobToken::SkipTwo);
            }
            self.tokens.push(GlobToken::DoubleStar);
        }
        end
    }

    /// Whether the whole of `text` matches. Takes its steps from `steps`; false once none is left.
    pub(super) fn is_match(&self, text: &[u8], steps: &mut u64) -> bool {
        let words = self.tokens.len() / 64 + 1;
        let (mut now, mut next) = (vec![0_u64; words], vec![0_u64; words]);
        now[0] = 1;
        self.close(&mut now);
        for byte in text {
            next.fill(0);
            let active: u32 = now.iter().map(|word| word.count_ones()).sum();
            *steps = steps.saturating_sub(words as u64 + u64::from(active));
            if *steps == 0 {
                return false;
            }
            for at in positions(&now) {
                let (stays, moves) = match self.tokens.get(at) {
                    Some(GlobToken::Byte(own)) => (false, own == byte),
                    Some(GlobToken::AnyByte) => (false, *byte != b'/'),
                    Some(GlobToken::Class(index)) => {
                        let class = &self.classes[usize::from(*index)];
                        (false, *byte != b'/' && class.contains(*byte))
                    }
                    Some(GlobToken::Star) => (*byte != b'/', false),
                    Some(GlobToken::DoubleStar) => (true, false),
                    Some(GlobToken::SkipTwo) | None => (false, false),
                };
                if stays || moves {
                    let to = at + usize::from(moves);
                    next[to / 64] |= 1 << (to % 64);
                }
            }
            self.close(&mut next);
            std::mem::swap(&mut now, &mut next);
            if now.iter().all(|word| *word == 0) {
                return false;
            }
        }
        let end = self.tokens.len();
        now[end / 64] >> (end % 64) & 1 == 1
    }

    /// Adds the positions that are reached without a byte. They all lie behind their origin.
    fn close(&self, set: &mut [u64]) {
        let put = |set: &mut [u64], at: usize| set[at / 64] |= 1 << (at % 64);
        for word in 0..set.len() {
            let mut seen = 0;
            while set[word] & !seen != 0 {
                let bit = (set[word] & !seen).trailing_zeros() as usize;
                seen |= 1 << bit;
                let at = word * 64 + bit;
                match self.tokens.get(at) {
                    Some(GlobToken::Star | GlobToken::DoubleStar) => put(set, at + 1),
                    Some(GlobToken::SkipTwo) => {
                        put(set, at + 1);
                        put(set, at + 3);
                    }
                    _ => {}
                }
            }
        }
    }
}

/// The positions in a set, in ascending order.
fn positions(set: &[u64]) -> impl Iterator<Item = usize> + '_ {
    set.iter().enumerate().flat_map(|(index, word)| {
        let mut left = *word;
        std::iter::from_fn(move || {
            let bit = (left != 0).then(|| left.trailing_zeros() as usize)?;
            left &= left - 1;
            Some(index * 64 + bit)
        })
    })
}

/// Parses a class whose bracket opens before `at`; returns it and the position behind it.
fn parse_class(pattern: &[u8], mut at: usize) -> Option<(ByteSet, usize)> {
    let mut class = ByteSet::default();
    let is_negated = matches!(pattern.get(at)?, b'!' | b'^');
    at += usize::from(is_negated);
    // The start of a range; none behind a range or a named class.
    let mut range_start = None;
    loop {
        let byte = *pattern.get(at)?;
        at += 1;
        match byte {
            b'\\' => {
                let escaped = *pattern.get(at)?;
                at += 1;
                class.insert(escaped);
                range_start = Some(escaped);
            }
            b'-' if range_start.is_some() && pattern.get(at).is_some_and(|end| *end != b']') => {
                let escape = usize::from(pattern[at] == b'\\');
                let end = *pattern.get(at + escape)?;
                at += escape + 1;
                let start = range_start.take()?;
                class.extend(|byte| (start..=end).contains(&byte));
            }
            b'[' if pattern.get(at) == Some(&b':') => {
                let name = &pattern[at + 1..];
                let length = name.iter().position(|byte| *byte == b']')?;
                match name[..length].strip_suffix(b":") {
                    Some(name) => {
                        extend_named(&mut class, name)?;
                        at += length + 2;
                        range_start = None;
                    }
                    None => {
                        class.insert(b'[');
                        range_start = Some(b'[');
                    }
                }
            }
            byte => {
                class.insert(byte);
                range_start = Some(byte);
            }
        }
        if *pattern.get(at)? == b']' {
            break;
        }
    }
    if is_negated {
        class.0.iter_mut().for_each(|word| *word = !*word);
    }
    Some((class, at + 1))
}

/// Adds a POSIX class of ASCII characters; `None` if there is none of this name.
fn extend_named(class: &mut ByteSet, name: &[u8]) -> Option<()> {
    match name {
        b"alnum" => class.extend(|byte| byte.is_ascii_alphanumeric()),
        b"alpha" => class.extend(|byte| byte.is_ascii_alphabetic()),
        b"blank" => class.extend(|byte| matches!(byte, b' ' | b'\t')),
        b"cntrl" => class.extend(|byte| byte.is_ascii_control()),
        b"digit" => class.extend(|byte| byte.is_ascii_digit()),
        b"graph" => class.extend(|byte| byte.is_ascii_graphic()),
        b"lower" => class.extend(|byte| byte.is_ascii_lowercase()),
        b"print" => class.extend(|byte| byte == b' ' || byte.is_ascii_graphic()),
        b"punct" => class.extend(|byte| byte.is_ascii_punctuation()),
        // As git has it: neither vertical tab nor form feed.
        b"space" => class.extend(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')),
        b"upper" => class.extend(|byte| byte.is_ascii_uppercase()),
        b"xdigit" => class.extend(|byte| byte.is_ascii_hexdigit()),
        _ => return None,
    }
    Some(())
}
