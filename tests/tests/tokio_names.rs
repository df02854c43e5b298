//! The same program text with tokio's file system and with this one: the names, what they take and
//! what they give are the same. What differs are the types of `Metadata` and `FileType`, which std
//! lets nobody else make; here they are used, and not named as std's.

use std::collections::BTreeSet;
use std::os::unix::fs::symlink;
use std::path::Path;

use tests::LIMIT;

/// A program that sees the file system as `fs`.
macro_rules! program {
    ($name:ident: $($import:tt)*) => {
        mod $name {
            use std::collections::BTreeSet;
            use std::io;
            #[allow(unused_imports, reason = "where the methods are not the type's own")]
            use std::os::unix::fs::MetadataExt;
            use std::os::unix::fs::PermissionsExt;
            use std::path::{Path, PathBuf};

            $($import)*

            /// What it finds, in words.
            pub(super) async fn run(root: &Path) -> io::Result<BTreeSet<String>> {
                let mut found = BTreeSet::new();
                let mut entries: fs::ReadDir = fs::read_dir(root).await?;
                while let Some(entry) = entries.next_entry().await? {
                    found.insert(describe(&entry).await?);
                }
                let mut again = fs::read_dir(root.to_owned()).await?;
                let first = std::future::poll_fn(|cx| again.poll_next_entry(cx)).await?;
                assert!(first.is_some());

                let link = root.join("link");
                let target: PathBuf = fs::read_link(&link).await?;
                let real: PathBuf = fs::canonicalize(&link).await?;
                found.insert(format!("{target:?} {real:?}"));
                for name in ["file", "link", "dangling", "none", "file/x"] {
                    let exists: io::Result<bool> = fs::try_exists(root.join(name)).await;
                    let there = fs::metadata(root.join(name)).await;
                    let itself = fs::symlink_metadata(root.join(name)).await;
                    found.insert(format!(
                        "{name}: {:?}, {:?}, {:?}",
                        exists.map_err(|error| error.kind()),
                        there.map(|there| there.is_file()).map_err(|error| error.kind()),
                        itself.map(|itself| itself.is_symlink()).map_err(|error| error.kind()),
                    ));
                }
                for error in [
                    fs::metadata("a\0b").await.map(drop),
                    fs::read_dir("/proc/version").await.map(drop),
                    fs::read_link(root).await.map(drop),
                    fs::canonicalize(root.join("none")).await.map(drop),
                ] {
                    found.insert(format!("{:?}", error.unwrap_err().kind()));
                }
                Ok(found)
            }

            async fn describe(entry: &fs::DirEntry) -> io::Result<String> {
                let metadata = entry.metadata().await?;
                let file_type = entry.file_type().await?;
                assert_eq!(metadata.ino(), entry.ino());
                Ok(format!(
                    "{:?} {:?} {} {:o} {:o} {:?} {:?} {} {} {} {} {}",
                    entry.path(),
                    entry.file_name(),
                    metadata.len(),
                    metadata.mode(),
                    metadata.permissions().mode(),
                    metadata.modified()?,
                    metadata.created().is_ok(),
                    metadata.nlink(),
                    metadata.is_dir() && file_type.is_dir(),
                    metadata.is_file() && file_type.is_file(),
                    metadata.is_symlink() && file_type.is_symlink(),
                    metadata.file_type().is_dir(),
                ))
            }
        }
    };
}

program!(by_tokio: use tokio::fs;);
program!(by_ringfs: use ringfs as fs;);

fn make_files(root: &Path) {
    std::fs::write(root.join("file"), "some text").unwrap();
    std::fs::create_dir(root.join("dir")).unwrap();
    symlink("file", root.join("link")).unwrap();
    symlink("none", root.join("dangling")).unwrap();
}

#[test]
fn one_program_two_file_systems() {
    let _deadline = testkit::deadline(LIMIT);
    let temp = tempfile::tempdir().unwrap();
    make_files(temp.path());
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.build().unwrap();
    let tokio: BTreeSet<String> = runtime.block_on(by_tokio::run(temp.path())).unwrap();
    let ours = runtime.block_on(by_ringfs::run(temp.path())).unwrap();
    assert_eq!(ours, tokio);
    assert!(ours.len() > 12, "{ours:#?}");
}
