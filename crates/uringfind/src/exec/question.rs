//! The question before a command.

use std::ffi::CStr;
use std::io::BufRead;
use std::path::Path;

use hostproc::Input;

use crate::errno::ENOENT;
use crate::file::File;
use crate::writer::Writer;

/// Asks whether to run `program` for this file. No answer means no.
pub(super) fn ask(program: &[u8], file: &mut File<'_>) -> bool {
    let prompt = [b"< ", program, b" ... ", &file.path(), b" > ? "].concat();
    let Some(writer) = file.hand_over() else {
        return false;
    };
    if let Err(error) = writer.prompt(&prompt) {
        let errno = error.raw_os_error().unwrap_or(0);
        let message = writer
            .messages()
            .errno(b"Failed to write prompt for -ok", errno);
        file.abort(&message);
        return false;
    }
    let mut answer = Vec::new();
    let read = std::io::stdin().lock().read_until(b'\n', &mut answer);
    if read.is_err() || answer.is_empty() {
        return false;
    }
    answer.pop_if(|last| *last == b'\n');
    answer.push(0);
    CStr::from_bytes_until_nul(&answer).is_ok_and(hostproc::is_affirmative)
}

/// What commands have as standard input while find reads answers from its own.
pub(super) fn input_of_others(writer: &mut Writer) -> Input {
    const NULL: &str = "/dev/null";
    if Path::new(NULL).exists() {
        return Input::Null;
    }
    writer.message(&writer.messages().file(NULL.as_bytes(), ENOENT));
    Input::Closed
}
