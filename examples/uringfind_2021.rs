//! The demo of 2021 on this crate: list a tree with hundreds of directories in flight, from one
//! thread of async code.
//!
//! `cargo run --release -p examples --example uringfind_2021 -- /usr`

use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use futures::stream::{FuturesUnordered, StreamExt};

/// Directories that are read at the same time.
const IN_FLIGHT: usize = 256;

/// A line for each entry, and the directories among them.
async fn list(dir: &Path) -> io::Result<(Vec<u8>, Vec<PathBuf>)> {
    let (mut lines, mut found) = (Vec::new(), Vec::new());
    let mut entries = ringfs::read_dir(dir).await?;
    while let Some(entry) = entries.next_entry().await? {
        let path = entry.path();
        lines.extend_from_slice(path.as_os_str().as_bytes());
        lines.push(b'\n');
        if entry.file_type().await?.is_dir() {
            found.push(path);
        }
    }
    Ok((lines, found))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let root = std::env::args_os().nth(1).unwrap_or_else(|| ".".into());
    let mut out = io::BufWriter::new(io::stdout().lock());
    let mut waiting = vec![PathBuf::from(root)];
    let mut reading = FuturesUnordered::new();
    let mut status = ExitCode::SUCCESS;
    loop {
        while reading.len() < IN_FLIGHT
            && let Some(dir) = waiting.pop()
        {
            reading.push(async { (list(&dir).await, dir) });
        }
        match reading.next().await {
            None => break,
            Some((Ok((lines, found)), _)) => {
                waiting.extend(found);
                if out.write_all(&lines).is_err() {
                    return ExitCode::FAILURE;
                }
            }
            Some((Err(error), dir)) => {
                eprintln!("{}: {error}", dir.display());
                status = ExitCode::FAILURE;
            }
        }
    }
    if out.flush().is_ok() {
        status
    } else {
        ExitCode::FAILURE
    }
}
