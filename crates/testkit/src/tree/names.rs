//! Names: any bytes but `/` and NUL, and above all those that break programs.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use fastrand::Rng;

/// Pieces that a name is put together from.
const ODD: [&[u8]; 20] = [
    b" ",
    b"\n",
    b"-",
    b"--",
    b".",
    b"..",
    b"'",
    b"\"",
    b"\\",
    b"*",
    b"?",
    b"[a]",
    b"$x",
    b"\t",
    b"\x1b",
    b"\x7f",
    b"\xff",
    b"\xc3\x28",
    "é".as_bytes(),
    "日本".as_bytes(),
];

/// The longest name that Linux's own file systems allow.
const NAME_MAX: usize = 255;

pub(super) fn plain(rng: &mut Rng) -> OsString {
    let length = rng.usize(1..12);
    (0..length)
        .map(|_| rng.lowercase())
        .collect::<String>()
        .into()
}

pub(super) fn any(rng: &mut Rng) -> OsString {
    let mut name = Vec::new();
    match rng.u8(..20) {
        0..=7 => return plain(rng),
        8 => name.resize(NAME_MAX, b'x'),
        9 => name.extend(*b"-print"),
        _ => {
            for _ in 0..rng.usize(1..5) {
                name.extend_from_slice(ODD[rng.usize(..ODD.len())]);
                name.extend_from_slice(plain(rng).as_encoded_bytes());
            }
            // Sometimes the odd piece is the end.
            name.truncate(name.len() - rng.usize(..=name.len() / 2));
        }
    }
    if matches!(name.as_slice(), b"." | b"..") {
        name.push(b'x');
    }
    OsString::from_vec(name)
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn names_are_possible_and_of_every_kind() {
        let mut rng = Rng::with_seed(3);
        let names: Vec<_> = (0..5_000).map(|_| any(&mut rng)).collect();
        for name in &names {
            let bytes = name.as_bytes();
            assert!((1..=NAME_MAX).contains(&bytes.len()), "{name:?}");
            assert!(!bytes.contains(&b'/') && !bytes.contains(&0), "{name:?}");
            assert!(bytes != b"." && bytes != b"..");
        }
        let has = |test: fn(&[u8]) -> bool| names.iter().any(|name| test(name.as_bytes()));
        assert!(has(|name| name.contains(&b'\n')));
        assert!(has(|name| name.contains(&b' ')));
        assert!(has(|name| name.starts_with(b"-")));
        assert!(has(|name| std::str::from_utf8(name).is_err()));
        assert!(has(|name| name.len() == NAME_MAX));
    }
}
