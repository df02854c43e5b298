//! What a file has to say to each directive.

use std::os::fd::BorrowedFd;

use fscall::{FileType, Statx, StatxFlags, StatxMask};
use hostproc::names;

use super::directive::Directive;
use super::mode::{type_letter, write_mode};
use super::path::{write_base_name, write_below_root, write_directory};
use super::spec::Spec;
use super::time::write_time;
use crate::errno::{ELOOP, ENOENT, ENOTDIR};
use crate::file::File;
use crate::fs_type::fs_type;
use crate::message::Messages;
use crate::output::{Pen, Receiver};
use crate::quote::quote;

/// A file as a format sees it, and where it is written to.
pub(super) struct Subject<'a> {
    name: &'a [u8],
    directory: &'a [u8],
    root: &'a [u8],
    depth: usize,
    at: BorrowedFd<'a>,
    follows: bool,
    kind: Option<FileType>,
    inode: u64,
    stat: Option<&'a Statx>,
    pub(super) messages: &'a Messages,
    pub(super) pen: Pen<'a>,
    /// What it contains if it is a link that was read.
    link: Vec<u8>,
    /// That the link cannot be read has been said.
    reported: bool,
}

/// What went wrong with a field.
pub(super) enum Trouble {
    /// What the link leads to cannot be seen.
    Target(i32),
    /// The security context cannot be read.
    Context(i32),
}

impl<'a> Subject<'a> {
    /// `file`, of which what the format needs has been asked for.
    pub(super) fn new(file: &'a mut File<'_>, inode: u64, to: Option<Receiver>) -> Self {
        let stat = file.status.answer();
        Self {
            name: file.name,
            directory: file.directory,
            root: file.root,
            depth: file.depth,
            at: file.at,
            follows: file.follows,
            kind: stat.and_then(Statx::file_type).or(file.kind),
            inode,
            stat,
            messages: file.messages,
            pen: file.out.pen(to),
            link: Vec::new(),
            reported: false,
        }
    }

    /// Appends one field, and tells what went wrong.
    pub(super) fn write(&mut self, directive: Directive, spec: Option<&Spec>) -> Option<Trouble> {
        let out = self.pen.bytes();
        let number = |field: fn(&Statx) -> Option<u64>| self.stat.and_then(field).unwrap_or(0);
        let uid = || self.stat.and_then(Statx::uid).unwrap_or(0);
        let gid = || self.stat.and_then(Statx::gid).unwrap_or(0);
        let mode = || self.stat.and_then(Statx::permission_bits).unwrap_or(0);
        match directive {
            Directive::Path => {
                out.extend_from_slice(self.directory);
                out.extend_from_slice(self.name);
            }
            Directive::BaseName => write_base_name(self.directory, self.name, out),
            Directive::Directory => write_directory(self.directory, self.name, out),
            Directive::PathBelowRoot => {
                write_below_root(self.directory, self.name, self.root, out);
            }
            Directive::Root => out.extend_from_slice(self.root),
            Directive::Depth => {
                let depth = u64::try_from(self.depth).unwrap_or(u64::MAX);
                match spec {
                    Some(spec) => spec.decimal(depth, out),
                    None => write_number(depth, out),
                }
            }
            Directive::Size => write_number(number(Statx::size), out),
            Directive::Blocks(512) => write_number(number(Statx::blocks), out),
            Directive::Blocks(unit) => {
                write_number(blocks(number(Statx::blocks), unit), out);
            }
            Directive::Sparseness => {
                let value = sparseness(number(Statx::size), number(Statx::blocks));
                spec.copied().unwrap_or_default().general(value, out);
            }
            Directive::Inode => write_number(self.inode, out),
            Directive::Device => write_number(self.stat.map_or(0, Statx::dev), out),
            Directive::Links => {
                write_number(self.stat.and_then(Statx::nlink).unwrap_or(0).into(), out);
            }
            Directive::Permissions => spec.copied().unwrap_or_default().octal(mode(), out),
            Directive::Mode => write_mode(self.kind, mode(), out),
            Directive::UserId => write_number(uid().into(), out),
            Directive::GroupId => write_number(gid().into(), out),
            Directive::UserName => write_name(names::user_name(uid()), uid(), out),
            Directive::GroupName => write_name(names::group_name(gid()), gid(), out),
            Directive::Time(stamp, shape) => {
                if let Some(time) = self.stat.and_then(|stat| stamp.of(stat)) {
                    write_time(time, shape, self.pen.bytes());
                }
            }
            Directive::Type => out.push(type_letter(self.kind)),
            Directive::FsType => {
                if let Some(stat) = self.stat {
                    out.extend_from_slice(fs_type(stat));
                }
            }
            Directive::LinkTarget { .. } => out.extend_from_slice(&self.link),
            Directive::TargetType => return self.write_target_type(),
            Directive::SecurityContext => return self.write_context(),
        }
        None
    }

    fn is_link(&self) -> bool {
        self.kind.is_some_and(FileType::is_symlink)
    }

    /// Reads the link for a field that is to be written next. If it cannot be read the field is empty,
    /// and the message comes before the last `lead` bytes.
    pub(super) fn read_link(&mut self, lead: usize) {
        if !self.is_link() {
            return;
        }
        match fscall::with_c_path(self.name, |name| fscall::readlinkat(self.at, name)) {
            Ok(target) => self.link = target,
            // One file gets one message.
            Err(_) if self.reported => {}
            Err(error) => {
                self.reported = true;
                let errno = error.raw_os_error().unwrap_or(0);
                let message = self.messages.file(&self.path(), errno);
                let bytes = self.pen.bytes();
                let lead = bytes.split_off(bytes.len() - lead);
                self.pen.message(&message);
                self.pen.bytes().extend_from_slice(&lead);
            }
        }
    }

    fn path(&self) -> Vec<u8> {
        [self.directory, self.name].concat()
    }

    fn write_target_type(&mut self) -> Option<Trouble> {
        let mut kind = self.kind;
        let mut trouble = None;
        let mut letter = None;
        if self.is_link() {
            let target = fscall::with_c_path(self.name, |name| {
                fscall::statx(self.at, Some(name), StatxFlags::empty(), StatxMask::TYPE)
            });
            match target {
                Ok(target) => kind = target.file_type(),
                Err(error) => match error.raw_os_error().unwrap_or(0) {
                    ENOENT | ENOTDIR => letter = Some(b'N'),
                    ELOOP => letter = Some(b'L'),
                    errno => {
                        letter = Some(b'?');
                        trouble = Some(Trouble::Target(errno));
                    }
                },
            }
        }
        let letter = letter.unwrap_or_else(|| type_letter(kind));
        self.pen.bytes().push(letter);
        trouble
    }

    fn write_context(&mut self) -> Option<Trouble> {
        let ask = |follow| {
            fscall::with_c_path(self.name, |name| {
                fscall::getxattrat(self.at, name, follow, c"security.selinux")
            })
        };
        let mut answer = ask(self.follows);
        if self.follows
            && let Err(error) = &answer
            && matches!(error.raw_os_error(), Some(ENOENT | ENOTDIR))
        {
            answer = ask(false);
        }
        match answer {
            Ok(context) => {
                let context = context.split(|&byte| byte == 0).next().unwrap_or_default();
                self.pen.bytes().extend_from_slice(context);
                None
            }
            Err(error) => Some(Trouble::Context(error.raw_os_error().unwrap_or(0))),
        }
    }

    /// Says what went wrong, behind what was written of the field.
    pub(super) fn report(&mut self, trouble: Option<Trouble>) {
        let Some(trouble) = trouble else { return };
        let path = self.path();
        match trouble {
            // This leaves the exit status alone.
            Trouble::Target(errno) => self.pen.remark(&self.messages.file(&path, errno)),
            Trouble::Context(errno) => {
                let text = [&b"getfilecon failed: "[..], &quote(&path)].concat();
                self.pen.message(&self.messages.errno(&text, errno));
            }
        }
    }
}

/// Appends a decimal number.
pub(crate) fn write_number(number: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// `blocks` of 512 bytes in blocks of `unit` bytes, rounded up.
pub(crate) fn blocks(blocks: u64, unit: u64) -> u64 {
    blocks.div_ceil((unit / 512).max(1))
}

/// The name, or else the number.
pub(crate) fn write_name(name: Option<&[u8]>, id: u32, out: &mut Vec<u8>) {
    match name {
        Some(name) => out.extend_from_slice(name),
        None => write_number(id.into(), out),
    }
}

/// How much of the size is really there.
#[allow(
    clippy::cast_precision_loss,
    reason = "a ratio of which six digits are shown"
)]
fn sparseness(size: u64, blocks: u64) -> f64 {
    match (size, blocks) {
        (0, 0) => 1.0,
        (0, _) => f64::INFINITY,
        (size, blocks) => 512.0 * blocks as f64 / size as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_and_blocks() {
        assert!((sparseness(1024, 1) - 0.5).abs() < 1e-9);
        assert!((sparseness(0, 0) - 1.0).abs() < 1e-9);
        assert!(sparseness(0, 1).is_infinite());
        assert_eq!([0, 1, 2, 3].map(|it| blocks(it, 1024)), [0, 1, 1, 2]);
        assert_eq!(blocks(7, 512), 7);
    }
}
