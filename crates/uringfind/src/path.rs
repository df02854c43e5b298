//! Parts of the paths that starting points are given as.

/// The last component without slashes; `/` if there is nothing else.
pub(crate) fn bare(path: &[u8]) -> &[u8] {
    match last(path) {
        b"/" => b"/",
        last => last.strip_suffix(b"/").unwrap_or(last),
    }
}

/// The last component, with one of the slashes behind it; `/` if there is nothing else.
pub(crate) fn last(path: &[u8]) -> &[u8] {
    let Some(end) = path.iter().rposition(|&byte| byte != b'/') else {
        return &path[..path.len().min(1)];
    };
    let start = memchr::memrchr(b'/', &path[..end]).map_or(0, |slash| slash + 1);
    &path[start..path.len().min(end + 2)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_names_of_starting_points() {
        for (path, name) in [
            ("a", "a"),
            ("a/", "a"),
            ("b/a//", "a"),
            ("/", "/"),
            ("//", "/"),
            ("./", "."),
            ("..", ".."),
            ("", ""),
        ] {
            assert_eq!(bare(path.as_bytes()), name.as_bytes(), "{path}");
        }
    }
}
