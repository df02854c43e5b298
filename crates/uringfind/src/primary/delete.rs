//! `-delete`, and bfs's name for it, `-rm`.

use fscall::{FileType, Unlink, unlinkat};

use super::{Doc, Effect, Entry, Needs, Parse, Parsed, Predicate, Primary};
use crate::errno::{EISDIR, ENOENT};
use crate::file::File;
use crate::quote::quote;

pub(super) const ENTRIES: &[Entry] = &[
    Entry {
        name: "delete",
        doc: Doc::action("", "delete it; what is in a directory comes before it")
            .tested_in("delete"),
        parse: PARSE,
    },
    Entry {
        name: "rm",
        doc: Doc::action("", "the same as -delete")
            .added()
            .tested_in("delete"),
        parse: PARSE,
    },
];

const PARSE: Parse = |parser, _| {
    parser.options.contents_first = true;
    Ok(Parsed::Predicate(Predicate::action(
        Delete,
        Needs::Nothing,
        Effect::Acts,
    )))
};

/// Removes the file; true if it is gone. The starting point `.` is kept, which counts as gone.
///
/// It is reached by its name in the directory that was read, so nothing that happens to the path
/// meanwhile leads elsewhere.
#[derive(Debug)]
struct Delete;

impl Primary for Delete {
    fn evaluate(&self, file: &mut File<'_>) -> bool {
        if file.depth == 0 && file.name == b"." {
            return true;
        }
        let unlink = |what| {
            let result = file.reach(|at, name| unlinkat(at, name, what));
            result.map_err(|error| error.raw_os_error().unwrap_or(0))
        };
        let result = if file.kind.is_some_and(FileType::is_dir) {
            unlink(Unlink::Directory)
        } else {
            match unlink(Unlink::File) {
                // It was not known as a directory.
                Err(EISDIR) => unlink(Unlink::Directory),
                result => result,
            }
        };
        match result {
            Ok(()) => true,
            Err(ENOENT) if file.ignores_races => true,
            Err(errno) => {
                let text = [b"cannot delete ", quote(&file.path()).as_slice()].concat();
                let message = file.messages.errno(&text, errno);
                file.out.message(&message);
                false
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Messages;
    use crate::output::Output;

    /// Whether a file that is not there counts as deleted, and what is said about it.
    fn delete_nothing(ignores_races: bool) -> (bool, String) {
        let (messages, mut out) = (Messages::new(b"find"), Output::default());
        let mut file = File::new(b"none", b"no/such/", &mut out, &messages);
        file.ignores_races = ignores_races;
        let value = Delete.evaluate(&mut file);
        let text = String::from_utf8(out.text().clone()).unwrap();
        (value, text)
    }

    #[test]
    fn what_has_vanished_may_be_no_error() {
        assert_eq!(delete_nothing(true), (true, String::new()));
        let message = "find: cannot delete 'no/such/none': No such file or directory\n";
        assert_eq!(delete_nothing(false), (false, message.to_owned()));
    }

    #[test]
    fn the_current_directory_is_kept() {
        let (messages, mut out) = (Messages::new(b"find"), Output::default());
        let mut file = File::new(b".", b"", &mut out, &messages);
        assert!(Delete.evaluate(&mut file));
    }
}
