//! How much memory a walk takes: a process of its own walks once.

use std::ffi::OsString;
use std::io;
use std::path::Path;

use super::{Order, Way};
use crate::cli::{self, Error};
use crate::process::{Contender, Sink};

/// The name of the way that does not walk.
const NOTHING: &str = "nothing";

/// The option that has the program walk once, in the way of that name, what the two arguments behind
/// it say: `names` or `sizes`, and the root.
pub const OPTION: &str = "alone";

/// Does what [`OPTION`] asks for.
///
/// # Errors
/// No way has that name, or the walk failed.
pub fn walk_alone(ways: &[Way], name: &str, what: &str, root: OsString) -> Result<(), Error> {
    if name == NOTHING {
        return Ok(());
    }
    let way = ways.iter().find(|way| way.name == name);
    let way = way.ok_or_else(|| format!("--{OPTION}: no way is called {name:?}"))?;
    way.walk(&Order::new(vec![root.into()], what == "sizes"))?;
    Ok(())
}

/// By how much the resident memory of a process grows at most while it walks in each of the ways, in
/// KiB.
///
/// # Errors
/// A process could not be started, or failed.
pub fn growth(ways: &[Way], root: &Path, sizes: bool) -> io::Result<Vec<u64>> {
    let program = std::env::current_exe()?;
    let what = if sizes { "sizes" } else { "names" };
    let peak = |name: &str| {
        let mut args = cli::os_args(&[&format!("--{OPTION}"), name, what]);
        args.push(root.into());
        let contender = Contender {
            name: name.to_owned(),
            program: program.clone(),
            args,
        };
        Ok::<_, io::Error>(contender.measure(Sink::Null)?.peak_kib)
    };
    let nothing = peak(NOTHING)?;
    ways.iter()
        .map(|way| Ok(peak(&way.name)?.saturating_sub(nothing)))
        .collect()
}
