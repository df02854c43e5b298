//! From arguments to a plan.

mod comparison;
mod day;
mod reference;
mod tree;

pub(crate) use comparison::Comparison;
pub(crate) use day::Day;
pub(crate) use tree::Symbol;

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use fscall::Timestamp;

use crate::expr::{Expr, Operator};
use crate::failure::Failure;
use crate::files::{Destination, Files, Opened};
use crate::listing::Columns;
use crate::names::Names;
use crate::options::{self, Environment, Leading, Options};
use crate::order;
use crate::output::Receiver;
use crate::primary::{self, Effect, Parsed, Refusal, Section, default_print, option_predicate};
use crate::receiver::{Forward, Receive};
use tree::{Content, Token};

/// What a command line asks for.
#[derive(Debug)]
pub(crate) enum Request {
    Find(Box<Plan>),
    Help,
    DebugHelp,
    Version,
}

/// A search.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) starting_points: StartingPoints,
    pub(crate) options: Options,
    /// Arranged for evaluation, with the default action in it.
    pub(crate) expression: Expr,
    /// What the expression sends bytes to, by number.
    pub(crate) receivers: Vec<Box<dyn Receive>>,
    /// Files that are written to, open.
    pub(crate) files: Files,
}

/// Where the search begins.
#[derive(Debug)]
pub(crate) enum StartingPoints {
    /// At these, in order.
    Listed(Vec<Vec<u8>>),
    /// At those that a file names.
    Named(Names),
}

/// What reading a command line gave.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// To be written first, without the program's name.
    pub(crate) warnings: Vec<Vec<u8>>,
    pub(crate) request: Result<Request, Failure>,
}

/// Reads the arguments, without the program's name.
pub(crate) fn parse(arguments: &[Vec<u8>], environment: Environment) -> Outcome {
    let now = now();
    let mut parser = Parser {
        arguments,
        environment,
        options: Options {
            warnings: environment.interactive && !environment.posixly_correct,
            ..Options::default()
        },
        points: 0..0,
        next: 0,
        tokens: Vec::new(),
        first_other: None,
        warnings: Vec::new(),
        receivers: Vec::new(),
        files: Files::default(),
        columns: Columns::default(),
        now,
        day: Day::ending_at(now),
    };
    let request = parser.command_line();
    Outcome {
        warnings: parser.warnings,
        request,
    }
}

/// Reads arguments from left to right.
#[derive(Debug)]
pub(crate) struct Parser<'a> {
    arguments: &'a [Vec<u8>],
    pub(crate) environment: Environment,
    pub(crate) options: Options,
    /// Which arguments are starting points.
    points: std::ops::Range<usize>,
    /// The next argument.
    next: usize,
    tokens: Vec<Token<'a>>,
    /// The first word that is neither a global nor a positional option.
    first_other: Option<&'a [u8]>,
    warnings: Vec<Vec<u8>>,
    receivers: Vec<Box<dyn Receive>>,
    /// Files to write to, by what they are.
    pub(crate) files: Files,
    /// Widths that all long listings share.
    pub(crate) columns: Columns,
    /// The time that dates are relative to.
    pub(crate) now: Timestamp,
    /// The day that ages are counted from the end of. Changes while arguments are read.
    pub(crate) day: Day,
}

impl<'a> Parser<'a> {
    /// Opens the file that is the next argument, to write to it.
    pub(crate) fn open(&mut self) -> Result<Opened, Refusal> {
        let name = self.argument()?;
        Ok(self.files.open(name)?)
    }

    /// Adds a receiver, to be sent to by the number it gets.
    pub(crate) fn add_receiver(&mut self, receiver: Box<dyn Receive>) -> Receiver {
        self.receivers.push(receiver);
        Receiver(self.receivers.len() - 1)
    }

    /// A receiver that writes to `to` what it gets; `None` for standard output, which needs none.
    pub(crate) fn receiver_of(&mut self, to: Destination) -> Option<Receiver> {
        (to != Destination::Output).then(|| self.add_receiver(Box::new(Forward(to))))
    }

    /// The argument behind the present word.
    pub(crate) fn argument(&mut self) -> Result<&'a [u8], Refusal> {
        let argument = self
            .arguments
            .get(self.next)
            .ok_or(Refusal::MissingArgument)?;
        self.next += 1;
        Ok(argument)
    }

    /// Whether dubious usage is to be pointed out here.
    pub(crate) fn warns(&self) -> bool {
        self.options.warnings && !self.environment.posixly_correct
    }

    /// Adds a warning made of parts.
    pub(crate) fn warn(&mut self, parts: &[&[u8]]) {
        self.warnings.push(parts.concat());
    }

    /// The starting points, `.` if there are none.
    pub(crate) fn starting_points(&self) -> Vec<&'a [u8]> {
        match &self.arguments[self.points.clone()] {
            [] => vec![b"."],
            points => points.iter().map(Vec::as_slice).collect(),
        }
    }

    fn command_line(&mut self) -> Result<Request, Failure> {
        if self.environment.block_size {
            return Err(Failure::new(
                &b"The environment variable FIND_BLOCK_SIZE is not supported, the only thing that affects the \
                   block size is the POSIXLY_CORRECT environment variable"[..],
            ));
        }
        let leading = options::leading(self.arguments, &mut self.options, &mut self.warnings)?;
        let Leading::Arguments(first) = leading else {
            return Ok(Request::DebugHelp);
        };
        let points = self.arguments[first..]
            .iter()
            .take_while(|it| !looks_like_expression(it, true))
            .count();
        self.points = first..first + points;
        self.next = self.points.end;
        while let Some(typed) = self.arguments.get(self.next) {
            self.next += 1;
            if let Some(request) = self.word(typed)? {
                return Ok(request);
            }
        }
        let expression = self.expression()?;
        let starting_points = match &self.options.names_from {
            None => {
                let points = self.starting_points().into_iter();
                StartingPoints::Listed(points.map(<[u8]>::to_vec).collect())
            }
            Some(file) => {
                let given = self.arguments[self.points.clone()].first();
                StartingPoints::Named(Names::open(file, given, self.options.asks_user)?)
            }
        };
        Ok(Request::Find(Box::new(Plan {
            starting_points,
            options: self.options.clone(),
            expression,
            receivers: std::mem::take(&mut self.receivers),
            files: std::mem::take(&mut self.files),
        })))
    }

    /// Reads one word with its arguments. A request ends it all.
    fn word(&mut self, typed: &'a [u8]) -> Result<Option<Request>, Failure> {
        if !looks_like_expression(typed, false) {
            return Err(self.misplaced_path(typed));
        }
        let Some(entry) = primary::find(typed) else {
            return Err(Failure::unknown_word(self.next - 1, typed));
        };
        self.note_position(entry.doc.section, typed);
        let parsed = (entry.parse)(self, typed).map_err(|refusal| match refusal {
            Refusal::MissingArgument => Failure::of(&[b"missing argument to `", typed, b"'"]),
            Refusal::Invalid => Failure::of(&[b"invalid predicate `", typed, b"'"]),
            Refusal::Because(failure) => failure,
        })?;
        let content = match parsed {
            Parsed::Predicate(predicate) => Content::Operand(Expr::Primary(predicate)),
            Parsed::Option => Content::Operand(Expr::Primary(option_predicate())),
            Parsed::Nothing => {
                // GNU find gives the word before it its name, which shows in messages.
                if let Some(last) = self.tokens.last_mut() {
                    last.name = typed;
                }
                return Ok(None);
            }
            Parsed::Symbol(symbol) => Content::Symbol(symbol),
            Parsed::Help => return Ok(Some(Request::Help)),
            Parsed::Version => return Ok(Some(Request::Version)),
        };
        self.push(Token {
            name: typed,
            content,
            added: false,
        });
        Ok(None)
    }

    /// Warns of a global option behind a test.
    fn note_position(&mut self, section: Section, typed: &'a [u8]) {
        match section {
            Section::Positional => {}
            Section::Global => {
                if let Some(first) = self.first_other.filter(|_| self.warns()) {
                    self.warn(&[
                        b"warning: you have specified the global option ",
                        typed,
                        b" after the argument ",
                        first,
                        b", but global options are not positional, i.e., ",
                        typed,
                        b" affects tests specified before it as well as those specified after it.  \
                          Please specify global options before other arguments.",
                    ]);
                }
            }
            _ => {
                self.first_other.get_or_insert(typed);
            }
        }
    }

    fn misplaced_path(&self, typed: &[u8]) -> Failure {
        let failure = Failure::of(&[b"paths must precede expression: `", typed, b"'"]);
        match self.tokens.last() {
            // An unquoted pattern that the shell has replaced by names of files.
            Some(last) if exists(typed) => failure.and(&[
                b"possible unquoted pattern after predicate `",
                last.name,
                b"'?",
            ]),
            _ => failure,
        }
    }

    /// Appends a token, with the `-a` that may be left out.
    fn push(&mut self, token: Token<'a>) {
        let joins = match &token.content {
            Content::Operand(_) => true,
            Content::Symbol(symbol) => matches!(symbol, Symbol::Not | Symbol::Open),
        };
        if joins && self.tokens.last().is_some_and(Token::ends_operand) {
            let content = Content::Symbol(Symbol::Binary(Operator::And));
            self.tokens.push(Token {
                name: b"-a",
                content,
                added: true,
            });
        }
        self.tokens.push(token);
    }

    /// Refuses to prune a deletion that only by itself has put contents first: where `-print` would have
    /// shown what is left after pruning, `-delete` would delete all.
    fn check_deletion(&self) -> Result<(), Failure> {
        let has = |words: [&[u8]; 2]| self.tokens.iter().any(|token| words.contains(&token.name));
        if has([b"-delete", b"-rm"]) && has([b"-prune"; 2]) && !has([b"-depth", b"-d"]) {
            return Err(Failure::new(
                &b"The -delete action automatically turns on -depth, but -prune does nothing when -depth is \
                   in effect.  If you want to carry on anyway, just explicitly use the -depth option."[..],
            ));
        }
        Ok(())
    }

    /// The expression, with the default action, arranged for evaluation.
    fn expression(&mut self) -> Result<Expr, Failure> {
        self.check_deletion()?;
        let prints = |token: &Token<'_>| match &token.content {
            Content::Operand(expr) => {
                expr.any(&mut |predicate| matches!(predicate.effect, Effect::Prints | Effect::Acts))
            }
            Content::Symbol(_) => false,
        };
        let print = Content::Operand(Expr::Primary(default_print()));
        let print = Token {
            name: b"-print",
            content: print,
            added: true,
        };
        if self.tokens.is_empty() {
            self.tokens.push(print);
        } else if !self.tokens.iter().any(prints) {
            let open = Token {
                name: b"(",
                content: Content::Symbol(Symbol::Open),
                added: true,
            };
            self.tokens.insert(0, open);
            self.tokens.push(Token {
                name: b")",
                content: Content::Symbol(Symbol::Close),
                added: true,
            });
            self.push(print);
        }
        let mut expression = tree::build(std::mem::take(&mut self.tokens))?;
        order::arrange(&mut expression, self.options.level);
        Ok(expression)
    }
}

/// Whether an argument belongs to the expression. Before the first that does (`leading`), a lone
/// `)` or `,` does not.
fn looks_like_expression(argument: &[u8], leading: bool) -> bool {
    match argument {
        b"-" => false,
        [b'-', ..] | b"!" | b"(" => true,
        b")" | b"," => !leading,
        _ => false,
    }
}

fn now() -> Timestamp {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.unwrap_or_default();
    Timestamp {
        sec: now.as_secs().try_into().unwrap_or(i64::MAX),
        nsec: now.subsec_nanos(),
    }
}

fn exists(path: &[u8]) -> bool {
    Path::new(OsStr::from_bytes(path)).exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(arguments: &str) -> Outcome {
        let arguments: Vec<_> = arguments
            .split_whitespace()
            .map(|it| it.as_bytes().to_vec())
            .collect();
        parse(&arguments, Environment::default())
    }

    #[test]
    fn starting_points_and_options() {
        let Ok(Request::Find(plan)) = run("a b/ ) -maxdepth 3 -mindepth 1 -j2").request else {
            panic!("no plan");
        };
        let StartingPoints::Listed(points) = plan.starting_points else {
            panic!("no list");
        };
        assert_eq!(points, [&b"a"[..], b"b/", b")"]);
        assert_eq!(
            (plan.options.min_depth, plan.options.max_depth),
            (1, Some(3))
        );
        assert_eq!(plan.options.jobs.map(std::num::NonZero::get), Some(2));
    }

    #[test]
    fn warnings_follow_their_switch() {
        assert!(run("-name a/b -true -maxdepth 1").warnings.is_empty());
        assert_eq!(run("-warn -name a/b -true -maxdepth 1").warnings.len(), 2);
        assert_eq!(
            run("-warn -name a/b -nowarn -true -maxdepth 1")
                .warnings
                .len(),
            1
        );
    }

    #[test]
    fn nothing_behind_help_is_read() {
        assert!(matches!(
            run("-true --help -nonsense").request,
            Ok(Request::Help)
        ));
        assert!(run("-nonsense --help").request.is_err());
    }
}
