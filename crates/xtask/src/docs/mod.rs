//! The files that are made from uringfind's table of words: the page of compatibility, the man page
//! and the completions.

mod compat;
mod completions;
mod man;

use std::fs;

use crate::step::{Failure, root};

/// A file that is made, with its path below the repository.
struct Page {
    path: &'static str,
    text: String,
}

fn pages() -> [Page; 5] {
    let mut words = uringfind::words();
    let compat = compat::page(&words);
    words.retain(|word| word.doc.is_here);
    let page = |path, text| Page { path, text };
    [
        page("docs/find-compat.md", compat),
        page("crates/uringfind/man/uringfind.1", man::page(&words)),
        page(
            "crates/uringfind/completions/uringfind.bash",
            completions::bash(&words),
        ),
        page(
            "crates/uringfind/completions/_uringfind",
            completions::zsh(&words),
        ),
        page(
            "crates/uringfind/completions/uringfind.fish",
            completions::fish(&words),
        ),
    ]
}

/// Writes the pages that are not up to date.
pub(crate) fn run() -> Result<(), Failure> {
    for page in pages() {
        let path = root().join(page.path);
        if fs::read_to_string(&path).is_ok_and(|text| text == page.text) {
            continue;
        }
        if let Some(directory) = path.parent() {
            fs::create_dir_all(directory)?;
        }
        fs::write(&path, &page.text).map_err(|error| format!("{}: {error}", path.display()))?;
        println!("wrote {}", page.path);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_committed_pages_are_those_of_the_table() {
        for page in pages() {
            let text = fs::read_to_string(root().join(page.path)).unwrap_or_default();
            assert!(
                text == page.text,
                "{} is not up to date: run `cargo xtask docs`",
                page.path
            );
        }
    }
}
