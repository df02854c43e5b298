//! `-exec`, `-execdir`, `-ok`, `-okdir`: which commands are run where, with what, in which order, and what
//! comes of it: as with GNU find.

mod common;

use std::io::{self, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use common::effects::compare_effects;
use common::{bytes, place, words};
use testkit::oracle::{Answer, Case, FIND, NOBODY, Place, gnu_find};
use testkit::process::LIMIT;
use testkit::skip::needs_root;
use testkit::start::{before_exec, block, ignore, limit};
use testkit::stdio::{close, ignore_sigpipe};
use testkit::{or_skip, tree};

fn fill(place: &Place) {
    for name in ["t/a", "t/b", "t/s/x", "t/s/u/y", "t/s/u/z", "t/v/w", "f"] {
        place.file(name, 1);
    }
    place.directory("t/e");
    symlink("s", place.path().join("t/l")).unwrap();
    symlink("nowhere", place.path().join("t/dangling")).unwrap();
}

/// Prints the directory and all arguments.
const SHOW: &str = "show";

/// A place with [`fill`]'s tree and [`SHOW`], which is in `PATH` and has no `#!`.
fn filled() -> Place {
    let place = place();
    fill(&place);
    add_show(&place);
    place
}

fn add_show(place: &Place) {
    let mut file = place.file(format!("bin/{SHOW}"), 0);
    file.write_all(b"pwd; printf '<%s>' \"$@\"; echo\n")
        .unwrap();
    let executable = PermissionsExt::from_mode(0o755);
    file.set_permissions(executable).unwrap();
}

/// The case with [`SHOW`] in `PATH`.
fn with_show(place: &Place, case: Case) -> Case {
    case.env(
        "PATH",
        format!("{}/bin:/usr/bin:/bin", place.path().display()),
    )
}

#[test]
fn commands_on_the_command_line() {
    or_skip!(gnu_find());
    let mut place = filled();
    for action in ["-exec", "-execdir", "-ok", "-okdir"] {
        for rest in [
            "",
            ";",
            "+",
            "echo",
            "echo {}",
            "echo {} x",
            "echo + ;",
            "echo {} + ;",
            "echo x{} + ;",
            "echo {}x + ;",
            "echo {} {} + ;",
            "echo {} x{} + ;",
            "echo {}{} + ;",
            "{} ;",
            "{} +",
            "x{} ;",
            "echo ; ;",
            "echo {} ; -name",
            "echo {} + )",
        ] {
            let line = format!("t -maxdepth 0 {action} {rest}");
            for locale in testkit::oracle::LOCALES {
                place.locale = locale;
                place.compare_merged(words(&line));
            }
        }
    }
}

#[test]
fn a_path_by_which_others_could_be_run_is_refused() {
    or_skip!(gnu_find());
    let place = filled();
    for path in [
        "",
        ":",
        ".",
        "x",
        "/bin:",
        ":/bin",
        "/bin::/usr/bin",
        "/bin:.",
        "/bin:x/y",
        "/bin:./x",
        "/bin:\u{e9}",
        "/bin",
        "/bin/../bin:/usr/bin",
        "/none",
    ] {
        for line in [
            "f -execdir true ;",
            "f -execdir true {} +",
            "f -okdir true ;",
            "f -exec true ;",
            "f -execdir",
        ] {
            let case = place.case(words(line)).env("PATH", path).merged();
            case.assert_same(&case.run("/usr/bin/find").unwrap(), &place.answer(&case));
        }
    }
    let case = place.case(words("f -execdir true ;")).env_remove("PATH");
    case.assert_same(&case.run("/usr/bin/find").unwrap(), &place.answer(&case));
}

#[test]
fn commands_values_and_places() {
    or_skip!(gnu_find());
    let place = filled();
    for line in [
        "t -exec show {} ;",
        "t -exec show {} a{}b {}{} { } ;",
        "t -exec show ;",
        "t -execdir show {} a{}b ;",
        "t -exec show {} +",
        "t -exec show a b {} +",
        "t -execdir show {} +",
        "t -depth -execdir show {} +",
        // A deletion, though it is never reached, puts contents first.
        "t -false -delete , -execdir show {} +",
        "t t f t -execdir show {} +",
        "f t f f -execdir show {} +",
        "t -mindepth 1 -execdir show {} +",
        "t -maxdepth 1 -execdir show {} +",
        "t -mindepth 2 -maxdepth 2 -execdir show {} +",
        "none t none f none -execdir show {} + -exec show {} +",
        "t -execdir show A {} + -exec show B {} + -execdir show C {} + -exec show D {} +",
        "t -exec show A {} ; -exec show B {} + -print",
        "t -exec show A {} + -exec show B {} ; -print",
        "-L t -execdir show {} ;",
        "-L t -execdir show {} +",
        "-H t/l -execdir show {} ;",
        "t/ t// t/s/ ./t t/s/. t/s/.. t/s//u// . ./ .. / // -maxdepth 0 -execdir show {} ;",
        "t/ t/s/ . / -maxdepth 0 -execdir show {} +",
        "t/ t/s/ . / -maxdepth 0 -exec show {} +",
        "t -exec true ; -print",
        "t -exec false ; -print",
        "t -exec false ; -o -print",
        "t ! -exec false ; -print",
        "t -exec false {} + -print",
        "t -exec nosuch ; -o -print",
        "t -exec nosuch {} + -print",
        "t -exec ./nosuch ; -o -print",
        "t -exec t ; -o -print",
        "t -exec /dev/null ; -o -print",
        "t -execdir nosuch ; -o -print",
        "t -execdir nosuch {} +",
        "t -name x -exec show {} + -quit",
        "t -name x -execdir show {} + -exec show {} + -quit",
        "t -exec show {} + -name x -quit",
        "t -exec show {} ; -quit",
        "t none -exec show {} + -name y -quit",
        "t -name a , -exec show {} ;",
        "t ( -type f -o -exec show {} ; ) -exec show {} +",
    ] {
        with_show(&place, place.case(words(line)).merged()).assert_like_find(place.program());
    }
}

#[test]
fn words_are_bytes() {
    or_skip!(gnu_find());
    let mut place = filled();
    std::fs::write(place.path().join(bytes(b"t/\xff\n \xc3\xa9")), "").unwrap();
    std::fs::write(place.path().join("t/-n"), "").unwrap();
    for locale in testkit::oracle::LOCALES {
        place.locale = locale;
        for line in [
            "t -exec show {} ;",
            "t -execdir show {} +",
            "t -exec show {} +",
        ] {
            with_show(&place, place.case(words(line)).merged()).assert_like_find(place.program());
        }
        for word in [&b"\xff{}\xfe"[..], b"{}\n{}", b"", b"\xe2\x80{}"] {
            for end in [";", "+"] {
                let args = [
                    &b"t"[..],
                    b"-exec",
                    b"show",
                    word,
                    end.as_bytes(),
                    b"-o",
                    b"-true",
                ];
                let case = place.case(args.map(bytes)).merged();
                with_show(&place, case).assert_like_find(place.program());
            }
        }
    }
}

#[test]
fn signals_end_commands() {
    or_skip!(gnu_find());
    let place = filled();
    for script in [
        "kill -9 $$",
        "kill -HUP $$",
        "kill -PIPE $$",
        "exit 255",
        "exit 0",
        "kill -INT $PPID; sleep .1",
        "kill -TERM $PPID; sleep .1",
    ] {
        for [action, end] in [
            ["-exec", ";"],
            ["-exec", "+"],
            ["-execdir", ";"],
            ["-execdir", "+"],
        ] {
            let mut args = words("t");
            args.extend([action, "sh", "-c", script, "{}", end, "-o", "-print"].map(Into::into));
            place.compare_merged(args);
        }
    }
}

#[test]
fn actions_decide_descent() {
    or_skip!(gnu_find());
    let place = place();
    for line in [
        "t -name s -exec touch {}/new ; , -print",
        "t -name s -exec rm -r {} ;",
        "t -name s -exec rm -r {} ; -prune",
        "t -name s -exec rm -r {} + -print",
        "t -depth -name s -exec rm -r {} ; -print",
        "t -name x -fprint list -exec cat list ; -exec cp list t/new ;",
        "t -fprint list -exec cat list {} +",
        "t -printf %p -exec sh -c pwd ; -printf !",
        "t -type d -empty -exec rmdir {} ; -print",
        "t -exec test -d {} ; -prune",
        "t -exec test -d {}/u ; -print -prune",
        "t -name x -exec mv {} t/moved ; -o -print",
        "t -type f -exec mv {} {}.moved ; -print",
        "t -type f -execdir mv {} ../f ; -print",
        "t -type d -exec chmod 700 {} + -print",
        "t -name ? -type f -exec cp f {} ; -size 1 -print",
        "t -type f -exec rm {} ; -size 1 -print",
        "t -type l -exec rm {} ; -print",
        "t -type f -execdir rm {} +",
    ] {
        compare_effects(&place, fill, words(line), |case| case);
    }
}

#[test]
fn the_user_is_asked() {
    or_skip!(gnu_find());
    let mut place = filled();
    for locale in testkit::oracle::LOCALES {
        place.locale = locale;
        for answers in [
            "",
            "y",
            "y\n",
            "n\ny\ny\n",
            "yes\n\nY\nno\n y\nyy\n",
            "\ny\n",
            "y\0n\n\0y\ny\n",
            "\u{ff}\ny\n",
        ] {
            for line in [
                "t -ok show {} ;",
                "t -okdir show {} ;",
                "t -print -ok show a{} ; -print",
                "t none -ok nosuch ; -o -print",
                "t -ok {} ;",
            ] {
                let case = place.case(words(line)).merged().stdin(answers);
                with_show(&place, case.clone()).assert_like_find(place.program());
                let posix = case.env("POSIXLY_CORRECT", "1");
                with_show(&place, posix).assert_like_find(place.program());
            }
        }
    }
    // GNU find means to give them /dev/null, and closes it for them.
    let case = place.case(words("f -ok cat ;")).merged().stdin("y\nrest");
    let answer = place.answer(&case);
    assert_eq!(answer.stdout, b"< cat ... f > ? ");
    assert!(answer.status.success());
}

/// Runs both programs with what `change` does to them and compares.
fn compare(place: &Place, args: &[&str], change: impl Fn(&mut Command)) {
    let _deadline = testkit::deadline(2 * LIMIT);
    let case = place.case(args);
    let run = |program: &Path| {
        let mut command = case.command(program);
        change(&mut command);
        Answer::from(command.output().unwrap())
    };
    case.assert_same(&run(Path::new(FIND)), &run(&place.program()));
}

/// What a command finds in its process, but for what differs from run to run.
const SURROUNDINGS: &str = "ls /proc/$$/fd; ulimit -a; env | sort; \
     grep -E '^(Sig(Blk|Ign|Cgt)|Umask|NoNewPrivs|Cap)' /proc/self/status; cat /proc/$$/oom_score_adj";

/// The standard descriptors alone: where one is closed, GNU find leaks others.
const DESCRIPTORS: &str =
    "for fd in 0 1 2; do if test -e /proc/$$/fd/$fd; then echo $fd; echo $fd >&2; fi; done";

#[test]
fn commands_find_what_find_was_started_with() {
    or_skip!(gnu_find());
    let place = filled();
    for action in ["-exec", "-execdir"] {
        for end in [";", "+"] {
            let args = &["t", action, "sh", "-c", SURROUNDINGS, "{}", end];
            compare(&place, args, |_| ());
            compare(&place, args, ignore_sigpipe);
            compare(&place, args, |command| {
                before_exec(command, block(&[libc::SIGCHLD, libc::SIGUSR1, 32, 64]));
            });
            for signal in [libc::SIGCHLD, libc::SIGINT, libc::SIGTERM, libc::SIGSEGV] {
                compare(&place, args, |command| before_exec(command, ignore(signal)));
            }
            compare(&place, args, |command| {
                before_exec(command, || limit(libc::RLIMIT_NOFILE, 13));
            });
            compare(&place, args, |command| {
                before_exec(command, || limit(libc::RLIMIT_STACK, 1 << 20));
            });
            compare(&place, args, |command| {
                // With something to do before exec both are started in the same way.
                before_exec(command, || Ok(()));
                command
                    .env_clear()
                    .env("A", "1")
                    .env("PATH", "/usr/bin:/bin");
            });
        }
    }
}

#[test]
fn closed_descriptors_are_closed_for_commands() {
    or_skip!(gnu_find());
    let place = filled();
    for [action, end] in [["-exec", ";"], ["-exec", "+"], ["-execdir", "+"]] {
        let args = &["t", "-print", action, "sh", "-c", DESCRIPTORS, "{}", end];
        for fd in 0..3 {
            compare(&place, args, |command| close(command, fd));
        }
        compare(&place, args, |command| {
            close(command, 0);
            close(command, 1);
        });
    }
}

#[test]
fn few_processes() {
    or_skip!(gnu_find());
    or_skip!(needs_root("another user"));
    let place = filled();
    place.mode("t/s/u", 0o755);
    for most in [1, 2, 3] {
        for args in [
            ["t", "-print", "-exec", "echo", "{}", ";"],
            ["t", "-print", "-exec", "echo", "{}", "+"],
            ["t", "-print", "-execdir", "echo", "{}", "+"],
        ] {
            compare(&place, &args, |command| {
                // A user that nobody else is, so that its processes are those of this test.
                command.uid(61_234);
                before_exec(command, move || limit(libc::RLIMIT_NPROC, most));
            });
        }
    }
}

#[test]
fn without_permission() {
    or_skip!(gnu_find());
    or_skip!(needs_root("another user"));
    let mut place = filled();
    place.user = Some(NOBODY);
    place.file("t/listed/x", 1);
    place.file("t/secret/x", 1);
    place.directory("unreadable");
    place.mode("t/listed", 0o444);
    place.mode("t/secret", 0);
    place.mode("unreadable", 0);
    place.mode("t/s", 0o111);
    for line in [
        "t/listed -execdir echo {} ; -print",
        "t/listed -execdir echo {} + -print",
        "t -execdir echo {} ; -print",
        "t -execdir echo {} + -print",
        "t -exec echo {} ; -print",
        "t -exec echo {} + -print",
        "t/s/x t/secret/x t/secret t/listed/x -execdir echo {} ; -print",
        "t/s/x t/secret/x t/secret t/listed/x -execdir echo {} + -print",
        "t f -maxdepth 1 -execdir echo {} +",
        "unreadable f unreadable -execdir echo {} +",
        "f unreadable -depth -execdir echo {} +",
        "t/v -exec t/b ; -print",
        "t/v -execdir ./w ; -print",
        "t -okdir true ;",
    ] {
        place.compare_merged(words(line));
    }
}

/// So many that they are given to more than one command.
const MANY: usize = 50_000;

#[test]
fn many_files_are_shared_out_alike() {
    or_skip!(gnu_find());
    let place = filled();
    let sizes = "#!/bin/sh\necho $#; printf '%s\\n' \"$@\" | cksum; test $# -ne 5\n";
    let script = place.path().join("sizes");
    std::fs::write(&script, sizes).unwrap();
    std::fs::set_permissions(&script, PermissionsExt::from_mode(0o755)).unwrap();
    place.directory("many/below");
    tree::fill(&place.path().join("many"), MANY).unwrap();
    tree::fill(&place.path().join("many/below"), 2_000).unwrap();
    for line in [
        "many -exec ./sizes {} +",
        "many -exec ./sizes a b c d {} + -print",
        "many -exec ./sizes {} + -exec ./sizes {} +",
        "many t -exec ./sizes {} + -name x -quit",
    ] {
        place.compare_merged(words(line));
        // As part of an environment that takes more of the room.
        let large = "x".repeat(100_000);
        let case = place.case(words(line)).merged().env("LARGE", &large);
        case.assert_like_find(place.program());
    }
    let sizes = format!("{}/sizes", place.path().display());
    let dir = ["many", "-execdir", &sizes, "{}", "+"];
    place.compare_merged(dir);
}

#[test]
fn what_the_kernel_refuses_is_shared_out_again() {
    let place = place();
    place.directory("many");
    tree::fill(&place.path().join("many"), 30_000).unwrap();
    let case = place.case(["many", "-type", "f", "-exec", "printf", "%s\\n", "{}", "+"]);
    let mut command = case.command(place.program());
    // The kernel counts pointers, which the C library's limit leaves out.
    before_exec(&mut command, || limit(libc::RLIMIT_STACK, 512 << 10));
    let answer = Answer::from(command.output().unwrap());
    assert_eq!(String::from_utf8_lossy(&answer.stderr), "");
    assert!(answer.status.success());
    let lines = answer.stdout.split(|&byte| byte == b'\n').count();
    assert_eq!(lines, 30_001);
}

#[test]
fn what_is_too_long() {
    or_skip!(gnu_find());
    let place = filled();
    let braces = |count: usize| "{}".repeat(count);
    for (first, second) in [
        (braces(60_000), String::new()),
        (braces(20_000), braces(20_000)),
        (braces(32_767), String::new()),
        ("x".repeat(131_060), "{}".into()),
        ("x".repeat(131_070), String::new()),
        ("x".repeat(131_071), String::new()),
    ] {
        for action in ["-exec", "-execdir"] {
            let args = [
                "t", "-print", action, "true", &first, &second, ";", "-print",
            ];
            place.compare_merged(args);
            let pending = [&["t", "-exec", "echo", "{}", "+"], &args[1..]].concat();
            place.compare_merged(pending);
            place.compare_merged(["t", action, "true", &first, &second, "{}", "+", "-print"]);
        }
    }
    let command = "x".repeat(131_060);
    place.compare_merged(["t", "-exec", "true", &command, "{}", "+", "-print"]);
    for size in [100_000, 120_000, 128_000, 129_000] {
        let half = "x".repeat(size / 2);
        compare(&place, &["t", "-exec", "echo", "{}", "+"], |command| {
            before_exec(command, || limit(libc::RLIMIT_STACK, 512 << 10));
            command
                .env_clear()
                .env("PATH", "/bin")
                .env("A", &half)
                .env("B", &half);
        });
    }
}

#[test]
fn output_that_cannot_be_written_to() {
    or_skip!(gnu_find());
    let place = filled();
    for line in [
        "t -print -exec true {} ;",
        "t -print -exec true {} +",
        "t -print -ok true ;",
    ] {
        let args: Vec<&str> = line.split(' ').collect();
        for stream in [1, 2] {
            compare(&place, &args, |command| {
                let full = || -> io::Result<Stdio> {
                    Ok(std::fs::OpenOptions::new()
                        .write(true)
                        .open("/dev/full")?
                        .into())
                };
                if stream == 1 {
                    command.stdout(full().unwrap());
                } else {
                    command.stderr(full().unwrap());
                }
            });
        }
    }
}
