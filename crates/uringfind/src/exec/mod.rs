//! Commands that are run for files: what `-exec`, `-execdir`, `-ok` and `-okdir` are made of.
//!
//! A command that ends in `;` is run for each file ([`Each`]); in one that ends in `+`, as many
//! files as fit are appended to its arguments ([`Batch`]). For the directory variants a [`place`] is
//! where a file's command is run and what the file is called there.

mod arguments;
mod batch;
mod each;
mod launch;
mod limits;
mod parse;
mod place;
mod question;
mod template;

pub(crate) use parse::{Action, parse};
