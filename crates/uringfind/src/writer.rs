//! The one place that writes to standard output and standard error.

use std::io;

use hostproc::stdio::{Stream, write_all};

use crate::errno::EBADF;
use crate::files::{Destination, Files};
use crate::message::Messages;
use crate::output::{Output, Piece};
use crate::receiver::Receive;

/// Bytes collected before they are written.
const BLOCK: usize = 64 * 1024;

/// Where a [`Writer`] writes.
pub(crate) trait Sink {
    /// Writes all bytes or fails.
    fn write_all(&mut self, stream: Stream, bytes: &[u8]) -> io::Result<()>;

    /// Whether standard output was closed from the start, so that closing it at the end fails as
    /// well.
    fn output_was_closed(&self) -> bool;
}

/// Descriptors 1 and 2 as they were inherited.
#[derive(Debug)]
pub(crate) struct Descriptors;

impl Sink for Descriptors {
    fn write_all(&mut self, stream: Stream, bytes: &[u8]) -> io::Result<()> {
        write_all(stream, bytes)
    }

    fn output_was_closed(&self) -> bool {
        hostproc::startup::was_closed(1)
    }
}

/// Collects standard output in blocks and keeps it in step with standard error: what came before a
/// message is written before it.
///
/// An error on standard output does not end the search, as in GNU find: what is lost is reported at
/// the end.
#[derive(Debug)]
pub(crate) struct Writer<S = Descriptors> {
    sink: S,
    messages: Messages,
    buffer: Vec<u8>,
    /// By their numbers; `None` while one is at work.
    receivers: Vec<Option<Box<dyn Receive>>>,
    files: Files,
    /// Standard output is a terminal.
    on_terminal: bool,
    /// Some of standard output was lost.
    output_failed: bool,
    /// Nothing more is to be done.
    aborted: bool,
    status: u8,
}

impl<S: Sink> Writer<S> {
    pub(crate) fn new(sink: S, messages: Messages) -> Self {
        Self {
            sink,
            messages,
            buffer: Vec::with_capacity(BLOCK),
            receivers: Vec::new(),
            files: Files::default(),
            on_terminal: crate::output_is_terminal(),
            output_failed: false,
            aborted: false,
            status: 0,
        }
    }

    /// Appends to standard output.
    pub(crate) fn output(&mut self, mut bytes: &[u8]) {
        while self.buffer.len() + bytes.len() >= BLOCK {
            let (now, later) = bytes.split_at(BLOCK - self.buffer.len());
            self.buffer.extend_from_slice(now);
            let _ = self.flush();
            bytes = later;
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// Appends to what `to` names. Standard error is not buffered; what was written before it to standard
    /// output comes out first only if that is a terminal.
    pub(crate) fn write(&mut self, to: Destination, bytes: &[u8]) {
        match to {
            Destination::Output => self.output(bytes),
            Destination::Error => {
                if self.on_terminal {
                    let _ = self.flush();
                }
                self.error_bytes(bytes);
            }
            Destination::File(number) => self.files.write(number, bytes),
        }
    }

    /// Whether standard output is a terminal.
    pub(crate) fn is_on_terminal(&self) -> bool {
        self.on_terminal
    }

    /// Hands to the kernel what is collected for `to`.
    pub(crate) fn flush_to(&mut self, to: Destination) -> io::Result<()> {
        match to {
            Destination::Output => self.flush(),
            Destination::Error => Ok(()),
            Destination::File(number) => self.files.flush(number),
        }
    }

    /// Takes the files that destinations mean.
    pub(crate) fn set_files(&mut self, files: Files) {
        self.files = files;
    }

    /// Writes a message to standard error, after all output so far.
    pub(crate) fn message(&mut self, message: &[u8]) {
        let _ = self.flush();
        self.error_bytes(message);
    }

    fn error_bytes(&mut self, bytes: &[u8]) {
        if self.sink.write_all(Stream::Error, bytes).is_err() {
            // There is no place left to tell it but the exit status.
            self.status = 1;
        }
    }

    /// A message about an error: it makes the exit status 1.
    pub(crate) fn error(&mut self, message: &[u8]) {
        self.fail();
        self.message(message);
    }

    /// Writes a question to standard error, after all output so far.
    pub(crate) fn prompt(&mut self, question: &[u8]) -> io::Result<()> {
        let _ = self.flush();
        self.sink.write_all(Stream::Error, question)
    }

    /// Writes the message of an error that ends everything: what waits to be done is not done.
    pub(crate) fn abort(&mut self, message: &[u8]) {
        if !self.aborted {
            self.error(message);
            self.aborted = true;
        }
    }

    /// Whether it was [aborted](Self::abort).
    pub(crate) fn has_aborted(&self) -> bool {
        self.aborted
    }

    /// To make messages. Cheap.
    pub(crate) fn messages(&self) -> Messages {
        self.messages.clone()
    }

    /// The message that something went wrong with a file.
    pub(crate) fn file_error(&mut self, name: &[u8], error: &io::Error) {
        let message = self.messages.file(name, error.raw_os_error().unwrap_or(0));
        self.error(&message);
    }

    /// Makes the exit status 1.
    pub(crate) fn fail(&mut self) {
        self.status = 1;
    }

    /// Hands what is collected to the kernel. What cannot be written is lost, and remembered as
    /// lost.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let result = self.sink.write_all(Stream::Output, &self.buffer);
        self.buffer.clear();
        self.output_failed |= result.is_err();
        result
    }

    /// Writes out the results of a search, naming the first file that fails or else standard output, and
    /// ends as [`finish`](Self::finish).
    pub(crate) fn finish_search(mut self) -> u8 {
        if let Some((name, errno)) = self.files.close() {
            // GNU find gives up at once.
            let message = self.messages.file(&name, errno);
            self.error(&message);
            return self.finish();
        }
        if !self.aborted
            && let Err(error) = self.flush()
        {
            self.file_error(b"standard output", &error);
        }
        self.finish()
    }

    /// Writes out what is left, reports lost output, and gives the exit status.
    pub(crate) fn finish(mut self) -> u8 {
        let _ = self.files.close();
        let result = self.flush();
        if self.output_failed {
            let errno = match result {
                Err(error) => error.raw_os_error(),
                Ok(()) if self.sink.output_was_closed() => Some(EBADF),
                Ok(()) => None,
            };
            let message = match errno {
                Some(errno) => self.messages.errno(b"write error", errno),
                None => self.messages.plain(b"write error"),
            };
            self.message(&message);
            self.fail();
        }
        self.status
    }
}

impl Writer {
    /// Takes the receivers that the numbers in segments mean.
    pub(crate) fn set_receivers(&mut self, receivers: Vec<Box<dyn Receive>>) {
        self.receivers = receivers.into_iter().map(Some).collect();
    }

    /// Writes what the evaluation of some files gave.
    pub(crate) fn segment(&mut self, segment: &Output) {
        for piece in segment.pieces() {
            if self.aborted {
                return;
            }
            match piece {
                Piece::Text(text) => self.output(text),
                Piece::Message(message) => self.error(message),
                Piece::Remark(message) => self.message(message),
                Piece::For(to, bytes) => {
                    self.at_receiver(to.0, |it, writer| it.receive(bytes, writer));
                }
            }
        }
    }

    /// Tells the receivers that the search goes on in another directory.
    pub(crate) fn leave_directory(&mut self) {
        for number in 0..self.receivers.len() {
            self.at_receiver(number, |it, writer| it.leave_directory(writer));
        }
    }

    /// Lets the receivers finish, in the order of their numbers; those that care for directories come
    /// last.
    pub(crate) fn finish_receivers(&mut self) {
        for number in 0..self.receivers.len() {
            self.at_receiver(number, |it, writer| it.finish(writer));
        }
        self.leave_directory();
    }

    fn at_receiver(&mut self, number: usize, act: impl FnOnce(&mut dyn Receive, &mut Self)) {
        let slot = self.receivers.get_mut(number);
        if let Some(mut receiver) = slot.and_then(Option::take) {
            act(&mut *receiver, self);
            self.receivers[number] = Some(receiver);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Remembers writes; standard output fails after `room` bytes.
    #[derive(Default)]
    struct Memory<'a> {
        log: Option<&'a mut Vec<(Stream, Vec<u8>)>>,
        full: bool,
    }

    impl Sink for Memory<'_> {
        fn write_all(&mut self, stream: Stream, bytes: &[u8]) -> io::Result<()> {
            if self.full && stream == Stream::Output {
                return Err(io::Error::from_raw_os_error(28));
            }
            if let Some(log) = &mut self.log {
                log.push((stream, bytes.to_vec()));
            }
            Ok(())
        }

        fn output_was_closed(&self) -> bool {
            false
        }
    }

    fn texts(log: &[(Stream, Vec<u8>)], stream: Stream) -> Vec<u8> {
        log.iter()
            .filter(|it| it.0 == stream)
            .flat_map(|it| it.1.clone())
            .collect()
    }

    #[test]
    fn output_is_written_before_a_later_message() {
        let mut log = Vec::new();
        let mut writer = Writer::new(
            Memory {
                log: Some(&mut log),
                full: false,
            },
            Messages::new(b"find"),
        );
        writer.output(b"one\n");
        writer.error(b"find: oh\n");
        writer.output(b"two\n");
        assert_eq!(writer.finish_search(), 1);
        let expected = [
            (Stream::Output, &b"one\n"[..]),
            (Stream::Error, b"find: oh\n"),
            (Stream::Output, b"two\n"),
        ];
        assert!(log.iter().map(|it| (it.0, &it.1[..])).eq(expected));
    }

    #[test]
    fn long_output_goes_in_full_blocks() {
        let mut log = Vec::new();
        let mut writer = Writer::new(
            Memory {
                log: Some(&mut log),
                full: false,
            },
            Messages::new(b"find"),
        );
        let bytes: Vec<u8> = (0_u8..=255).cycle().take(3 * BLOCK + 5).collect();
        writer.output(&bytes[..7]);
        writer.output(&bytes[7..]);
        assert_eq!(writer.finish(), 0);
        assert_eq!(
            log.iter().map(|it| it.1.len()).collect::<Vec<_>>(),
            [BLOCK, BLOCK, BLOCK, 5]
        );
        assert_eq!(texts(&log, Stream::Output), bytes);
    }

    #[test]
    fn lost_output_is_reported_once_at_the_end() {
        let mut log = Vec::new();
        let mut writer = Writer::new(
            Memory {
                log: Some(&mut log),
                full: true,
            },
            Messages::new(b"find"),
        );
        writer.output(b"x");
        assert_eq!(writer.finish_search(), 1);
        let expected = b"find: 'standard output': No space left on device\nfind: write error\n";
        assert_eq!(texts(&log, Stream::Error), expected);
    }

    #[test]
    fn without_output_nothing_can_be_lost() {
        let writer = Writer::new(
            Memory {
                log: None,
                full: true,
            },
            Messages::new(b"find"),
        );
        assert_eq!(writer.finish_search(), 0);
    }
}
