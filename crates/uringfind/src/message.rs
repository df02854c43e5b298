//! Messages for standard error, in GNU's form: `program: ‘file’: reason`.

use std::sync::Arc;

use hostproc::errno_text;

use crate::quote::quote;

/// Makes messages. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Messages {
    program: Arc<[u8]>,
}

impl Messages {
    /// `program` is the program's name as it was typed.
    pub(crate) fn new(program: &[u8]) -> Self {
        Self {
            program: program.into(),
        }
    }

    /// `program: text`.
    pub(crate) fn plain(&self, text: &[u8]) -> Vec<u8> {
        [&self.program, b": ".as_slice(), text, b"\n"].concat()
    }

    /// Where to find help.
    pub(crate) fn hint(&self) -> Vec<u8> {
        let program = &*self.program;
        [b"Try '", program, b" --help' for more information.\n"].concat()
    }

    /// `program: text: reason`.
    pub(crate) fn errno(&self, text: &[u8], errno: i32) -> Vec<u8> {
        self.plain(&[text, b": ", &errno_text(errno)].concat())
    }

    /// `program: ‘name’: reason`.
    pub(crate) fn file(&self, name: &[u8], errno: i32) -> Vec<u8> {
        self.errno(&quote(name), errno)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_named_as_typed() {
        let messages = Messages::new(b"./f\xff");
        assert_eq!(messages.plain(b"no"), b"./f\xff: no\n");
        assert_eq!(
            messages.file(b"a", 2),
            b"./f\xff: 'a': No such file or directory\n"
        );
    }
}
