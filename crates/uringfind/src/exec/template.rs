//! A command with places for the file's name.

use memchr::memmem;

use super::arguments::Arguments;
use super::limits::Limits;

/// What stands for the file's name.
pub(super) const BRACES: &[u8] = b"{}";

/// The words of a command that is run for each file.
#[derive(Debug)]
pub(super) struct Template {
    words: Vec<Word>,
    limits: Limits,
}

/// The pieces around each `{}`.
#[derive(Debug)]
struct Word(Vec<Vec<u8>>);

impl Template {
    pub(super) fn new(words: &[&[u8]], limits: Limits) -> Self {
        let words = words.iter().map(|word| Word::new(word)).collect();
        Self { words, limits }
    }

    /// The command for the file of which `name` gives the parts. If it is too long, the message.
    pub(super) fn fill(&self, name: &[&[u8]]) -> Result<Arguments, &'static [u8]> {
        let mut arguments = Arguments::default();
        for Word(pieces) in &self.words {
            let mut parts = Vec::with_capacity(pieces.len() * (name.len() + 1));
            for (at, piece) in pieces.iter().enumerate() {
                if at > 0 {
                    parts.extend_from_slice(name);
                }
                parts.push(piece);
            }
            let size = parts.iter().map(|part| part.len()).sum::<usize>() + 1;
            if size >= self.limits.size {
                return Err(b"command too long");
            }
            if arguments.size() + size > self.limits.size {
                return Err(b"argument list too long");
            }
            arguments.push(&parts);
        }
        Ok(arguments)
    }
}

impl Word {
    fn new(word: &[u8]) -> Self {
        let mut pieces = Vec::new();
        let mut start = 0;
        for found in memmem::find_iter(word, BRACES) {
            pieces.push(word[start..found].to_vec());
            start = found + BRACES.len();
        }
        pieces.push(word[start..].to_vec());
        Self(pieces)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_of_braces_is_replaced() {
        let limits = Limits {
            size: 100,
            count: 100,
        };
        let words: [&[u8]; 6] = [b"{}", b"a{}b{}c", b"{{}}", b"", b"{", b"{}{}"];
        let arguments = Template::new(&words, limits).fill(&[b"./", b"x"]).unwrap();
        let expected = [c"./x", c"a./xb./xc", c"{./x}", c"", c"{", c"./x./x"];
        assert!(arguments.range(0..6).eq(expected));
    }

    #[test]
    fn what_is_too_long() {
        let limits = Limits { size: 10, count: 9 };
        let fill = |words: &[&[u8]], name: &[u8]| {
            let filled = Template::new(words, limits).fill(&[name]);
            filled.map(|arguments| arguments.size())
        };
        assert_eq!(fill(&[b"{}"], b"12345678"), Ok(9));
        assert_eq!(fill(&[b"{}"], b"123456789"), Err(&b"command too long"[..]));
        assert_eq!(fill(&[b"a", b"{}"], b"1234567"), Ok(10));
        let too_many = Err(&b"argument list too long"[..]);
        assert_eq!(fill(&[b"a", b"{}"], b"12345678"), too_many);
    }
}
