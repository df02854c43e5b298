//! A command on the command line.

use memchr::memmem;

use super::batch::{Batch, DirectoryBatch, Exec, Execdir};
use super::each::Each;
use super::limits::Limits;
use super::template::{BRACES, Template};
use crate::failure::Failure;
use crate::parse::Parser;
use crate::primary::{Effect, Needs, Parsed, Predicate, Refusal};
use crate::quote::quote;

/// What is to be done with a command.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Action {
    /// With its dash.
    pub(crate) name: &'static str,
    /// It is run in the file's directory.
    pub(crate) in_directory: bool,
    /// The user is asked first.
    pub(crate) asks: bool,
}

impl Action {
    /// In find's own directory, without a question.
    pub(crate) const fn new(name: &'static str) -> Self {
        Self {
            name,
            in_directory: false,
            asks: false,
        }
    }

    /// In the file's directory.
    pub(crate) const fn in_directory(self) -> Self {
        Self {
            in_directory: true,
            ..self
        }
    }

    /// After a question.
    pub(crate) const fn asking(self) -> Self {
        Self { asks: true, ..self }
    }
}

/// Reads the command of the action that was typed as `typed`.
pub(crate) fn parse(
    parser: &mut Parser<'_>,
    typed: &[u8],
    action: Action,
) -> Result<Parsed, Refusal> {
    let first = parser.argument()?;
    parser.options.asks_user |= action.asks;
    if action.in_directory {
        parser.options.ignore_races = false;
        check_path(action)?;
    }
    let command = CommandLine::read(parser, first, action)?;
    if command.words.is_empty() && !command.for_many {
        return Err(Failure::invalid_argument(b";", typed).into());
    }
    let predicate = if command.for_many {
        command.check_braces(action)?;
        let batch = Batch::new(&command.words, Limits::of_process()?)?;
        if action.in_directory {
            let batch = DirectoryBatch::new(batch);
            parser.add_receiver(Box::new(batch.clone()));
            Predicate::action(Execdir(batch), Needs::Nothing, Effect::Acts)
        } else {
            let receiver = parser.add_receiver(Box::new(batch));
            Predicate::action(Exec(receiver), Needs::Nothing, Effect::Prints)
        }
    } else {
        let each = Each {
            command: Template::new(&command.words, Limits::of_process()?),
            in_directory: action.in_directory,
            question: action.asks.then(|| command.words[0].to_vec()),
        };
        Predicate::action(each, Needs::Nothing, Effect::Acts)
    };
    Ok(Parsed::Predicate(predicate))
}

/// A command's words up to its end.
struct CommandLine<'a> {
    /// Without the `{}` before a `+`.
    words: Vec<&'a [u8]>,
    /// It ends in `+`.
    for_many: bool,
    /// Words with `{}` in them.
    with_braces: usize,
    last_with_braces: &'a [u8],
}

impl<'a> CommandLine<'a> {
    fn read(parser: &mut Parser<'a>, first: &'a [u8], action: Action) -> Result<Self, Refusal> {
        let mut this = Self {
            words: Vec::new(),
            for_many: false,
            with_braces: 0,
            last_with_braces: b"",
        };
        let mut word = first;
        let mut after_braces = false;
        while word != b";" {
            if word == b"+" && after_braces && !action.asks {
                this.for_many = true;
                this.words.pop();
                break;
            }
            after_braces = memmem::find(word, BRACES).is_some();
            if after_braces {
                this.with_braces += 1;
                this.last_with_braces = word;
            }
            this.words.push(word);
            word = parser.argument()?;
        }
        Ok(this)
    }

    /// Before a `+` there is one `{}`, all by itself.
    fn check_braces(&self, action: Action) -> Result<(), Failure> {
        let name = action.name.as_bytes();
        if self.with_braces > 1 {
            let text = b"Only one instance of {} is supported with ";
            return Err(Failure::of(&[text, name, b" ... +"]));
        }
        if self.last_with_braces != BRACES {
            return Err(Failure::of(&[
                b"In ",
                &quote(&[name, b" ... {} +"].concat()),
                b" the ",
                &quote(BRACES),
                b" must appear by itself, but you specified ",
                &quote(self.last_with_braces),
            ]));
        }
        Ok(())
    }
}

/// Refuses a `PATH` by which a program could be found in the directories that are searched.
fn check_path(action: Action) -> Result<(), Failure> {
    use std::os::unix::ffi::OsStrExt;

    let Some(path) = std::env::var_os("PATH") else {
        return Ok(());
    };
    let name = action.name.as_bytes();
    for entry in path.as_bytes().split(|&byte| byte == b':') {
        if entry.is_empty() || entry == b"." {
            return Err(Failure::of(&[
                b"The current directory is included in the PATH environment variable, which is insecure \
                  in combination with the ",
                name,
                b" action of find.  Please remove the current directory from your $PATH (that is, remove \
                  \".\", doubled colons, or leading or trailing colons)",
            ]));
        }
        if !entry.starts_with(b"/") {
            return Err(Failure::of(&[
                b"The relative path ",
                &quote(entry),
                b" is included in the PATH environment variable, which is insecure in combination with the ",
                name,
                b" action of find.  Please remove that entry from $PATH",
            ]));
        }
    }
    Ok(())
}
