//! What holds for the parser of directory entries whatever the bytes are. The property tests and
//! the fuzz target feed it.

use fscall::{Dirent, Dirents};

/// It ends, within the buffer, with nothing but good entries and at most one error; and what it
/// has parsed is parsed alike again.
pub(crate) fn check_dirents(bytes: &[u8]) {
    let mut entries = Dirents::new(bytes);
    let mut good = Vec::new();
    let mut start = 0;
    loop {
        let (least, most) = entries.size_hint();
        let Some(item) = entries.next() else { break };
        assert!(least <= 1 && most != Some(0));
        let (end, rest) = (entries.offset_in_buffer(), entries.remaining());
        assert!(end > start, "no progress at {start}");
        assert_eq!(rest, &bytes[end..]);
        match item {
            Ok(entry) => {
                check_entry(&entry, &bytes[start..end]);
                good.push(entry);
                start = end;
            }
            Err(error) => {
                assert_eq!(error.at(), start);
                assert!(rest.is_empty());
                assert_eq!(entries.next(), None, "goes on after an error");
                break;
            }
        }
    }
    assert_eq!(entries.next(), None);
    let again: Result<Vec<_>, _> = Dirents::new(&bytes[..start]).collect();
    assert_eq!(again.as_ref(), Ok(&good));
}

fn check_entry(entry: &Dirent<'_>, record: &[u8]) {
    let name = entry.name();
    assert!(!name.is_empty() && !name.contains(&0), "{entry:?}");
    let behind = record[Dirent::NAME_OFFSET..].strip_prefix(name).unwrap();
    assert_eq!(behind.first(), Some(&0));
    assert_eq!(entry.is_dot(), name == b"." || name == b"..");
    assert_eq!(record[..8], entry.ino().to_ne_bytes());
    assert_eq!(record[8..16], entry.offset().to_ne_bytes());
}
