//! Receivers of output beside the standard streams: files of `-fprint` and its like, commands that
//! are run with many files at once.

use std::fmt::Debug;

use crate::files::Destination;
use crate::writer::Writer;

/// Gets bytes in find's order, on the one thread that writes.
pub(crate) trait Receive: Debug + Send {
    /// What one evaluation has for it.
    fn receive(&mut self, bytes: &[u8], writer: &mut Writer);

    /// Whether it starts processes.
    fn runs_commands(&self) -> bool {
        false
    }

    /// The search goes on in another directory. Only where one file is evaluated after the other.
    fn leave_directory(&mut self, writer: &mut Writer) {
        let _ = writer;
    }

    /// All that the search had to evaluate has been evaluated.
    fn finish(&mut self, writer: &mut Writer) {
        let _ = writer;
    }
}

/// Writes what it gets.
#[derive(Debug)]
pub(crate) struct Forward(pub(crate) Destination);

impl Receive for Forward {
    fn receive(&mut self, bytes: &[u8], writer: &mut Writer) {
        writer.write(self.0, bytes);
    }
}
