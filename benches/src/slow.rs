//! A file system that is slow, in a process of its own, and what its files are called.

use std::ffi::CString;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use testkit::fuse::remote::Remote;

use crate::turns::Name;

/// How slow it is.
#[derive(Debug, Clone, Copy)]
pub struct Scenario {
    /// Before each answer.
    pub delay: Duration,
    /// At most so much more, at random.
    pub jitter: Duration,
    /// How many answers are made at the same time; `usize::MAX` is no limit.
    pub width: usize,
}

impl Scenario {
    /// No limit, no jitter.
    pub const fn of(delay: Duration) -> Self {
        Self {
            delay,
            jitter: Duration::ZERO,
            width: usize::MAX,
        }
    }

    /// What a table calls it.
    pub fn title(self) -> String {
        let Self {
            delay,
            jitter,
            width,
        } = self;
        let more = match jitter {
            Duration::ZERO => String::new(),
            _ => format!(" and up to {jitter:?} more"),
        };
        let limit = match width {
            usize::MAX => String::new(),
            _ => format!(", {width} at a time"),
        };
        format!("{delay:?} per answer{more}{limit}")
    }
}

/// The file system, with one directory of files.
#[derive(Debug)]
pub struct Slow {
    fuse: Remote,
    /// The names in the directory.
    pub relative: Arc<Vec<String>>,
    /// The same as absolute paths.
    pub absolute: Arc<Vec<Name>>,
    /// How many requests there had been when the names were last forgotten.
    before: usize,
    /// The fewest and the most requests of a pass over all files.
    asked: Option<(usize, usize)>,
}

impl Slow {
    /// Mounts so many files. The program has to be its own server, see [`Remote`].
    ///
    /// # Errors
    /// No root, no FUSE.
    pub fn new(files: usize) -> Result<Self, testkit::Skip> {
        let fuse = Remote::new(files as u64)?;
        let relative: Vec<_> = (0..files).map(|number| format!("f{number}")).collect();
        let path = fuse.path().display();
        let absolute = relative.iter().map(|name| format!("{path}/{name}"));
        let absolute = absolute
            .map(|std| Name {
                // Without NUL, or it could not have been mounted.
                c: CString::new(std.clone()).unwrap_or_default(),
                std,
            })
            .collect();
        Ok(Self {
            fuse,
            relative: Arc::new(relative),
            absolute: Arc::new(absolute),
            before: 0,
            asked: None,
        })
    }

    /// The directory.
    pub fn directory(&self) -> PathBuf {
        self.fuse.path().to_owned()
    }

    /// From now on it is as slow as that.
    ///
    /// # Errors
    /// The server is gone.
    pub fn set(&mut self, scenario: Scenario) -> io::Result<()> {
        self.fuse.set_delay(scenario.delay)?;
        self.fuse.set_jitter(scenario.jitter)?;
        self.fuse.set_width(scenario.width)
    }

    /// The kernel does not know any of the files: to be called before each pass over them. Counts
    /// what the pass before has asked.
    ///
    /// # Errors
    /// The server is gone.
    pub fn forget(&mut self) -> io::Result<()> {
        self.count()?;
        self.fuse.forget_names()
    }

    /// The fewest and the most requests that a pass over all files took, if there was one.
    ///
    /// # Errors
    /// The server is gone.
    pub fn asked(&mut self) -> io::Result<(usize, usize)> {
        self.count()?;
        Ok(self.asked.unwrap_or_default())
    }

    /// Whether lookups in one directory overlap.
    ///
    /// # Errors
    /// The server is gone.
    pub fn parallel_lookups(&mut self) -> io::Result<bool> {
        self.fuse.parallel_lookups()
    }

    fn count(&mut self) -> io::Result<()> {
        let requests = self.fuse.requests()?;
        let pass = requests - self.before;
        self.before = requests;
        // Less than a pass: a directory was opened.
        if pass >= self.relative.len() {
            let (fewest, most) = self.asked.unwrap_or((pass, pass));
            self.asked = Some((fewest.min(pass), most.max(pass)));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scenarios_have_names() {
        let plain = Scenario::of(Duration::from_millis(1));
        assert_eq!(plain.title(), "1ms per answer");
        let worse = Scenario {
            jitter: Duration::from_micros(500),
            width: 16,
            ..plain
        };
        let title = "1ms per answer and up to 500µs more, 16 at a time";
        assert_eq!(worse.title(), title);
    }
}
