//! What a find(1) needs of its process and of the C library.
//!
//! Rust's start-up changes what the process inherited (it ignores SIGPIPE and opens `/dev/null` on
//! closed standard descriptors), and Rust's standard library knows no locale. This crate fills the
//! gap with safe functions:
//!
//! - [`startup`]: how SIGPIPE and descriptors 0 to 2 were before the Rust runtime touched them, and
//!   how to put it back;
//! - [`stdio`]: unbuffered writes to the standard streams *as they were inherited*;
//! - [`locale`]: `setlocale`, and characters as the C library sees them;
//! - [`LocalTime`]: dates in the local time zone and the locale's language;
//! - [`names`]: users and groups by name and by number, by NSS;
//! - [`number`]: fractions as `printf(3)` writes them;
//! - [`fnmatch`]: the C library's own pattern matcher;
//! - [`errno_text`]: the C library's text for an error number, in the locale's language;
//! - [`Command`]: commands that are started as this process was;
//! - [`is_affirmative`]: whether the user's answer means "yes".
//!
//! It is for programs that own their process. Libraries must not use it: a locale and a signal's
//! disposition belong to the whole process.

#![deny(unsafe_code)]

mod answer;
mod command;
mod error_text;
mod glob;
pub mod locale;
pub mod names;
pub mod number;
pub mod startup;
pub mod stdio;
mod time;

pub use answer::is_affirmative;
pub use command::{Child, Command, Input, arg_max, environment_size};
pub use error_text::errno_text;
pub use glob::{FnmatchFlags, fnmatch};
pub use time::LocalTime;
