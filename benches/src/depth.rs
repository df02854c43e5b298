//! What the depth of a file costs: `d/d/d/file` from the root on, and from its own directory on.

use std::ffi::CString;
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use ringfs::Dir;

use crate::cli::Error;
use crate::report::{self, Table};
use crate::stats::{self, Estimate};
use crate::turns::{self, Args, Contender, Plan};
use crate::{rivals, sys};

/// Of the table.
pub const TITLE: &str = "lookup by depth";

/// The deepest.
const DEPTHS: usize = 10;

const FILE: &str = "file";

/// One file, and how often it is looked up in a pass.
struct Place {
    path: PathBuf,
    c_path: CString,
    directory: OwnedFd,
    calls: usize,
}

impl Place {
    /// With so many components below `directory`, which has what is above.
    fn make(directory: &Path, depth: usize, calls: usize) -> Result<Self, Error> {
        let parent = (1..depth).fold(directory.to_owned(), |path, _| path.join("d"));
        fs::create_dir_all(&parent)?;
        let path = parent.join(FILE);
        File::create(&path)?;
        Ok(Self {
            c_path: CString::new(path.as_os_str().as_bytes())?,
            path,
            directory: File::open(&parent)?.into(),
            calls,
        })
    }
}

fn contenders(place: &Place) -> io::Result<[Contender<Place>; 4]> {
    let runtime = rivals::runtime()?;
    let dir = Dir::from(place.directory.try_clone()?);
    let of_path = std::rc::Rc::clone(&runtime);
    Ok([
        Contender::new("statx, absolute", |place: &Place| {
            for _ in 0..place.calls {
                sys::statx(sys::CWD, &place.c_path, libc::STATX_BASIC_STATS)?;
            }
            Ok(())
        }),
        Contender::new("ringfs, absolute", move |place: &Place| {
            of_path.block_on(async {
                for _ in 0..place.calls {
                    ringfs::symlink_metadata(&place.path).await?;
                }
                Ok(())
            })
        }),
        Contender::new("statx, of the directory", |place: &Place| {
            for _ in 0..place.calls {
                sys::statx(place.directory.as_fd(), c"file", libc::STATX_BASIC_STATS)?;
            }
            Ok(())
        }),
        Contender::new("ringfs Dir::statx_at", move |place: &Place| {
            runtime.block_on(async {
                for _ in 0..place.calls {
                    dir.statx_at(FILE).follow_symlinks(false).await?;
                }
                Ok(())
            })
        }),
    ])
}

/// Nanoseconds per call for each depth: plain and ours, by absolute path and relative to the
/// file's own directory. As many calls as there would be files are one pass.
///
/// # Errors
/// A call failed.
pub fn measure(directory: &Path, args: &Args) -> Result<Table, Error> {
    let directory = fs::canonicalize(directory)?.join("depth");
    let above = directory.components().count() - 1;
    let title = format!("{TITLE} below {above} components, ns");
    let mut table = Table::new(&[
        &title,
        "statx, absolute",
        "ringfs, absolute",
        "ratio",
        "statx at Dir",
        "ringfs Dir::statx_at",
        "ratio",
    ]);
    for depth in 1..=DEPTHS {
        let place = Place::make(&directory, depth, args.files)?;
        let plan = Plan::new(args, args.files);
        let values = turns::values(&contenders(&place)?, &place, plan, || Ok(()))?;
        let mut row = vec![depth.to_string()];
        for pair in values.chunks(2) {
            row.extend(pair.iter().map(|own| format!("{:.0}", stats::median(own))));
            row.push(report::ratio(Estimate::of_ratios(&pair[1], &pair[0])));
        }
        table.row(row);
    }
    Ok(table)
}
