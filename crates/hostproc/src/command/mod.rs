//! Commands: started as by fork(2) and execvp(3), without copying this process.

#![allow(unsafe_code)]

mod plan;
mod size;

use std::ffi::{CStr, CString, OsStr, c_char};
use std::io;
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;
use std::ptr::null_mut;
use std::sync::Once;

pub use size::{arg_max, environment_size};

use plan::Plan;

unsafe extern "C" {
    static environ: *const *mut c_char;
}

/// A command to be run.
///
/// It gets the environment, the limits and the signal mask that this process was started with, of
/// its descriptors those that are not close-on-exec, and none in the place of a standard one that
/// was closed at the start.
#[derive(Clone, Copy, Debug)]
pub struct Command<'a> {
    /// The arguments. The first is the program's name, which is looked for in `PATH` unless there
    /// is a slash in it.
    pub arguments: &'a [&'a CStr],
    /// The directory it runs in; this process's if `None`.
    pub directory: Option<BorrowedFd<'a>>,
    /// What it has as standard input.
    pub input: Input,
}

/// A command's standard input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// This process's.
    Inherited,
    /// `/dev/null`.
    Null,
    /// None at all.
    Closed,
}

impl Command<'_> {
    /// Starts the command. The first call sets SIGCHLD to its default, as otherwise there might be
    /// nothing to wait for.
    ///
    /// A file that the kernel takes for no program is run by `/bin/sh`, as execvp(3) does.
    ///
    /// # Errors
    /// Of what comes between fork and exec as well: what fork(2) answers (EAGAIN, ENOMEM); what
    /// opening `/dev/null` or fchdir(2) answers; what execvp(3) answers, such as ENOENT if there is
    /// no such program, or E2BIG.
    #[doc(alias = "posix_spawn")]
    pub fn start(&self) -> io::Result<Child> {
        static CHILDREN_ARE_KEPT: Once = Once::new();
        // SAFETY: SIG_DFL is a valid disposition; no handler of ours is replaced.
        CHILDREN_ARE_KEPT.call_once(|| unsafe {
            libc::signal(libc::SIGCHLD, libc::SIG_DFL);
        });
        let Some((&name, rest)) = self.arguments.split_first() else {
            return Err(io::Error::from_raw_os_error(libc::ENOENT));
        };
        let plan = Plan::new(self)?;
        match spawn(&plan, name, self.arguments) {
            Err(error) if error.raw_os_error() == Some(libc::ENOEXEC) => {
                let script = find_program(name);
                let mut arguments = vec![SHELL, &*script];
                arguments.extend_from_slice(rest);
                spawn(&plan, SHELL, &arguments)
            }
            result => result,
        }
    }
}

const SHELL: &CStr = c"/bin/sh";

fn spawn(plan: &Plan, program: &CStr, arguments: &[&CStr]) -> io::Result<Child> {
    let mut pointers: Vec<*mut c_char> =
        arguments.iter().map(|it| it.as_ptr().cast_mut()).collect();
    pointers.push(null_mut());
    let mut pid = 0;
    // SAFETY: nobody in this program changes the environment.
    let environment = unsafe { environ };
    // SAFETY: the plan's objects are initialised; the program is a C string; the arguments are C
    // strings, which outlive the call and which it only reads, and end with a null pointer, as does the
    // environment.
    let errno = unsafe {
        libc::posix_spawnp(
            &raw mut pid,
            program.as_ptr(),
            plan.actions(),
            plan.attributes(),
            pointers.as_ptr(),
            environment,
        )
    };
    plan::check(errno)?;
    Ok(Child { pid })
}

/// Where in `PATH` a program is.
fn find_program(name: &CStr) -> CString {
    if !name.to_bytes().contains(&b'/') {
        let path = std::env::var_os("PATH").unwrap_or_else(|| DEFAULT_PATH.into());
        for directory in std::env::split_paths(&path) {
            let candidate = directory.join(Path::new(OsStr::from_bytes(name.to_bytes())));
            let Ok(candidate) = CString::new(candidate.into_os_string().as_encoded_bytes()) else {
                continue;
            };
            // SAFETY: it is a C string, which is only read.
            if unsafe { libc::access(candidate.as_ptr(), libc::X_OK) } == 0 {
                return candidate;
            }
        }
    }
    name.to_owned()
}

/// The C library's, for a process without `PATH`.
const DEFAULT_PATH: &str = "/bin:/usr/bin";

/// A command that was started and has to be [waited](Self::wait) for.
#[must_use]
#[derive(Debug)]
pub struct Child {
    pid: libc::pid_t,
}

impl Child {
    /// Waits for its end.
    ///
    /// # Errors
    /// What waitpid(2) answers, but for EINTR, which is retried.
    #[doc(alias = "waitpid")]
    pub fn wait(self) -> io::Result<ExitStatus> {
        let mut status = 0;
        loop {
            // SAFETY: the status is valid for writes.
            if unsafe { libc::waitpid(self.pid, &raw mut status, 0) } != -1 {
                return Ok(ExitStatus::from_raw(status));
            }
            let error = io::Error::last_os_error();
            if error.kind() != io::ErrorKind::Interrupted {
                return Err(error);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::fd::AsFd;

    use super::*;

    fn run(arguments: &[&CStr], directory: Option<&str>) -> io::Result<Option<i32>> {
        let directory = directory.map(|path| File::open(path).unwrap());
        let command = Command {
            arguments,
            directory: directory.as_ref().map(AsFd::as_fd),
            input: Input::Null,
        };
        Ok(command.start()?.wait()?.code())
    }

    #[test]
    fn status_directory_and_input() {
        assert_eq!(run(&[c"sh", c"-c", c"exit 7"], None).unwrap(), Some(7));
        let script = c"test $(pwd) = / && ! read line";
        assert_eq!(run(&[c"sh", c"-c", script], Some("/")).unwrap(), Some(0));
        assert_eq!(run(&[c"sh", c"-c", c"kill -9 $$"], None).unwrap(), None);
    }

    #[test]
    fn what_cannot_be_run() {
        let errno = |name| run(&[name], None).unwrap_err().raw_os_error();
        assert_eq!(errno(c"no-such-program"), Some(libc::ENOENT));
        assert_eq!(errno(c""), Some(libc::ENOENT));
        assert_eq!(errno(c"/"), Some(libc::EACCES));
        assert_eq!(
            run(&[], None).unwrap_err().raw_os_error(),
            Some(libc::ENOENT)
        );
        let long = CString::new(vec![b'x'; 1 << 20]).unwrap();
        let result = run(&[c"true", &long], None);
        assert_eq!(result.unwrap_err().raw_os_error(), Some(libc::E2BIG));
    }

    #[test]
    fn no_descriptor_of_ours_is_inherited() {
        let _open = File::open("/proc/version").unwrap();
        let script =
            c"for fd in /proc/$$/fd/*; do test $(readlink $fd) != /proc/version || exit 1; done";
        assert_eq!(run(&[c"sh", c"-c", script], None).unwrap(), Some(0));
    }
}
