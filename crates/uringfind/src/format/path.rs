//! Parts of paths. A path is in two parts, up to the last slash and the name behind it; that of a
//! starting point is all name.

use crate::path;

/// Appends the last component (`%f`). Slashes behind it become one.
pub(super) fn write_base_name(directory: &[u8], name: &[u8], out: &mut Vec<u8>) {
    if !directory.is_empty() {
        return out.extend_from_slice(name);
    }
    out.extend_from_slice(path::last(name));
}

/// Appends what is before the last component (`%h`): `.` if there is no slash.
pub(super) fn write_directory(directory: &[u8], name: &[u8], out: &mut Vec<u8>) {
    if let Some((_, directory)) = directory.split_last() {
        return out.extend_from_slice(directory);
    }
    // The slashes behind a name do not count, unless the name is a single character.
    let path = match name.iter().rposition(|&byte| byte != b'/') {
        Some(last) if last > 0 => &name[..=last],
        _ => name,
    };
    match memchr::memrchr(b'/', path) {
        Some(slash) => out.extend_from_slice(&path[..slash]),
        None => out.push(b'.'),
    }
}

/// Appends what comes behind the starting point (`%P`); nothing for the starting point itself.
pub(super) fn write_below_root(directory: &[u8], name: &[u8], root: &[u8], out: &mut Vec<u8>) {
    if directory.is_empty() {
        return;
    }
    let below = directory.get(root.len()..).unwrap_or_default();
    out.extend_from_slice(below.strip_prefix(b"/").unwrap_or(below));
    out.extend_from_slice(name);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn of_starting_points() {
        for (name, base, directory) in [
            ("a", "a", "."),
            ("ab", "ab", "."),
            ("a/", "a/", "a"),
            ("ab/", "ab/", "."),
            ("ab//", "ab/", "."),
            ("x/ab", "ab", "x"),
            ("x/ab//", "ab/", "x"),
            ("/", "/", ""),
            ("//", "/", "/"),
            ("/a", "a", ""),
            (".", ".", "."),
            ("./", "./", "."),
            ("../", "../", "."),
        ] {
            let name = name.as_bytes();
            assert_eq!(text(|out| write_base_name(b"", name, out)), base);
            assert_eq!(text(|out| write_directory(b"", name, out)), directory);
            assert_eq!(text(|out| write_below_root(b"", name, name, out)), "");
        }
    }

    #[test]
    fn of_files_below() {
        for (directory, root, parent, below) in [
            ("a/", "a", "a", "n"),
            ("a/b/", "a", "a/b", "b/n"),
            ("a//", "a//", "a/", "n"),
            ("/", "/", "", "n"),
            ("/b/", "/", "/b", "b/n"),
        ] {
            let [directory, root] = [directory, root].map(str::as_bytes);
            assert_eq!(text(|out| write_base_name(directory, b"n", out)), "n");
            assert_eq!(text(|out| write_directory(directory, b"n", out)), parent);
            assert_eq!(
                text(|out| write_below_root(directory, b"n", root, out)),
                below
            );
        }
    }
}
