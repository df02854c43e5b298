//! `… ;`: a command for each file.

use std::os::fd::AsFd;

use hostproc::Input;

use super::launch::Launch;
use super::place::{self, Place};
use super::question;
use super::template::Template;
use crate::file::File;
use crate::primary::Primary;

/// A command for each file; true if it succeeds.
#[derive(Debug)]
pub(super) struct Each {
    pub(super) command: Template,
    /// It is run in the file's directory.
    pub(super) in_directory: bool,
    /// The program's name, for the question that comes first, if one does.
    pub(super) question: Option<Vec<u8>>,
}

impl Primary for Each {
    fn evaluate(&self, file: &mut File<'_>) -> bool {
        if let Some(program) = &self.question
            && !question::ask(program, file)
        {
            return false;
        }
        let (place, name) = if self.in_directory {
            match Place::of(file) {
                Ok(place) => (Some(place), place::name(file)),
                Err(error) => {
                    place::give_up(file, &error);
                    return false;
                }
            }
        } else {
            (None, [file.directory, file.name])
        };
        let arguments = match self.command.fill(&name) {
            Ok(arguments) => arguments,
            Err(text) => {
                file.abort(&file.messages.plain(text));
                return false;
            }
        };
        let Some(writer) = file.hand_over() else {
            return false;
        };
        let launch = Launch {
            arguments: arguments.range(0..arguments.len()).collect(),
            directory: place.as_ref().map(AsFd::as_fd),
            input: match self.question {
                Some(_) => question::input_of_others(writer),
                None => Input::Inherited,
            },
            for_many: false,
        };
        let succeeded = launch.run(writer).unwrap_or_else(|_| {
            launch.report_too_long(writer);
            false
        });
        let ends = writer.has_aborted();
        file.quit |= ends;
        succeeded
    }
}
