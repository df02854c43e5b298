//! Modes and types as letters.

use fscall::FileType;

/// The letter of `%y`.
pub(super) fn type_letter(file_type: Option<FileType>) -> u8 {
    match file_type {
        Some(FileType::REGULAR) => b'f',
        Some(FileType::DIRECTORY) => b'd',
        Some(FileType::SYMLINK) => b'l',
        Some(FileType::SOCKET) => b's',
        Some(FileType::BLOCK_DEVICE) => b'b',
        Some(FileType::CHAR_DEVICE) => b'c',
        Some(FileType::FIFO) => b'p',
        _ => b'U',
    }
}

/// Appends type and permissions as ls(1) shows them: `drwxr-xr-x`.
pub(crate) fn write_mode(file_type: Option<FileType>, mode: u16, out: &mut Vec<u8>) {
    out.push(match type_letter(file_type) {
        b'f' => b'-',
        b'U' => b'?',
        letter => letter,
    });
    for (shift, special, letter) in [(6, 0o4000, b's'), (3, 0o2000, b's'), (0, 0o1000, b't')] {
        let bits = mode >> shift;
        let executable = bits & 1 != 0;
        out.extend([
            if bits & 4 != 0 { b'r' } else { b'-' },
            if bits & 2 != 0 { b'w' } else { b'-' },
            match (mode & special != 0, executable) {
                (true, true) => letter,
                (true, false) => letter.to_ascii_uppercase(),
                (false, true) => b'x',
                (false, false) => b'-',
            },
        ]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes() {
        for (file_type, mode, expected) in [
            (Some(FileType::REGULAR), 0o644, "-rw-r--r--"),
            (Some(FileType::DIRECTORY), 0o1777, "drwxrwxrwt"),
            (Some(FileType::REGULAR), 0o7000, "---S--S--T"),
            (Some(FileType::SOCKET), 0o6755, "srwsr-sr-x"),
            (None, 0, "?---------"),
        ] {
            let mut out = Vec::new();
            write_mode(file_type, mode, &mut out);
            assert_eq!(out, expected.as_bytes());
        }
    }
}
