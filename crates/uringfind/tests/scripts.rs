//! Command lines as scripts have them: the same outputs, the same status, the same files afterwards.

mod common;

use std::collections::HashMap;
use std::fs::{self, FileTimes};
use std::os::unix::fs::{chown, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use common::{contents, lacks, place};
use testkit::or_skip;
use testkit::oracle::{Answer, LOCALES, NOBODY, Place, gnu_find};
use testkit::skip::needs_root;

const SCRIPTS: &[&str] = &[
    // Cleaning up.
    "D=tmp; find $D -depth -type f -mtime +30 -delete",
    "D=tmp; find \"$D\" -mindepth 1 -maxdepth 1 -mtime +7 -exec rm -rf {} \\;",
    "D=tmp; find \"$D\" -type f -mmin +60 -exec rm -f {} +",
    "find tmp -depth -mindepth 1 -type d -empty -exec rmdir {} \\;",
    "find . -name '*.o' -o -name '*~' -o -name core | xargs rm -f",
    "find . \\( -name '*.orig' -o -name '*.rej' -o -name '.*.swp' \\) -type f -print0 | xargs -0r rm -fv",
    "find . -depth -type d -empty -delete; find . -type d -empty",
    "find tmp -ignore_readdir_race -mindepth 1 -name 'sess*' -type f -cmin +24 -delete",
    "find . -type d -name CVS -prune -exec rm -rf {} ';'",
    "find build -name '*.la' -delete -print",
    "find . -xdev -type f -size 0 -print0 | xargs -0 -n1 echo rm",
    "find log -name '*.log' -mtime +10 ! -name current.log -exec gzip -9n {} \\;",
    "find log -type f -daystart -mtime 0 -print; find log -type f -size +1k -size -100k",
    // Building.
    "find . -name SCCS -prune -o -name CVS -prune -o -name .git -prune -o -name '*.[chS]' -print | sort",
    "find src -type d -name tests -prune -o -name '*.c' -newer src/stamp -print",
    "find \"$PWD/src\" -name '*.h' -exec grep -l main {} + | sed \"s|$PWD/||\"",
    "find dist -type d ! -perm -700 -exec chmod u+rwx {} \\; ; find dist -exec chmod go-w {} +",
    "(cd src && find . -type f -name '*.c' -print) | sed 's|^\\./||'",
    "test -z \"`find src -name '*.y' -print -quit`\" && echo no grammar",
    "files=`find src include -name '*.[ch]' 2>/dev/null`; set -- $files; echo $# $files",
    "find src -name '*.c' -exec sh -c 'for f do echo \"${f%.c}.o: $f\"; done' sh {} +",
    "find src -follow -type f -name '*.h' -print",
    "find -L src -type f -name '*.c' | while read -r f; do basename \"$f\" .c; done",
    "find src ! -type d -links +1 -print; find src -type l -exec readlink {} \\;",
    "find -H link/. -maxdepth 1 -type f",
    "find src -samefile src/main.c; find . -lname '*gone*'; find . -xtype l",
    "for d in `find . -maxdepth 1 -mindepth 1 -type d`; do echo \"$d\"; done",
    "find src -name '*.c' -execdir echo {} \\; -execdir pwd \\; | sed 's|^/.*/||'",
    "find src include -regex '.*\\.\\(c\\|h\\)$'; find src -regextype posix-extended -regex '.*\\.(c|h)'",
    "find . -iregex '.*/readme.*' -o -iname 'make*'",
    "find src -name '*.c' -fprint ../c.txt -o -name '*.h' -fprint0 ../h.txt; cat ../c.txt; tr '\\0' '\\n' < ../h.txt",
    // Packages.
    "cd dist && find . -type f ! -path './DEBIAN/*' -printf '%P\\0' | sort -z | xargs -0r md5sum",
    "find dist -type f -printf '%m %s %P\\n'; find dist -type d -printf '%04m %p/\\n'",
    "find dist -type f -perm /111 -o -name '*.so*' -type f",
    "find dist \\( -perm -4000 -o -perm -2000 \\) -type f -ls | awk '{ print $3, $NF }'",
    "find dist -newermt '2020-01-01' ! -newermt '2030-01-01' -type f -print0 | xargs -0r touch -h -d @1600000000; \
     find dist -type f -printf '%T@ %p\\n'",
    "find dist -name '*.pyc' -o -name __pycache__ -prune | LC_ALL=C sort -r",
    "cd dist; find . | cpio -o 2>/dev/null | wc -c; find . -depth -print0 | xargs -0 ls -d",
    "find dist -nouser -o -nogroup; find dist ! -user `id -u` -o ! -group `id -g`",
    "find dist -type f -exec cmp -s {} dist/a \\; -print",
    "find dist/ -maxdepth 0 -empty | grep -q . || echo not empty",
    // System scripts.
    "find -L certs -type f -name '*.crt' | sort | while read crt; do echo \"+$crt\"; done",
    "[ -n \"$(find certs -maxdepth 1 -name '*.crt' -newer src/stamp -print -quit)\" ] && echo stale",
    "find log/ -maxdepth 1 -type f \\( -name '*.gz' -o -name '*.[0-9]' \\) -printf '%f\\n' | sort -V | head -n 3",
    "find /etc/no-such-directory certs -type f 2>/dev/null; echo $?",
    "find \"$UNSET\" -name x; echo $?; find $UNSET -maxdepth 0; echo $?",
    "printf 'src\\0log\\0gone\\0' | find -files0-from - -maxdepth 1 -name '*.[cl]*'; echo $?",
    "yes | find tmp -type f -ok echo {} \\; 2>&1",
    "find . -type f -readable ! -writable; find . -type d ! -executable",
    "find log -type f -printf '%s %p\\n' | sort -n | tail -n 1 | cut -d' ' -f2-",
    "find . -maxdepth 2 -not -path '*/.*' -type d -printf '%d %h %f %y%Y\\n'",
    "find . -size +64k -exec ls -d {} \\; -o -fstype nothing -prune",
    "find secret -type f; echo $?; find . -path ./secret -prune -o -name x -print; echo $?",
    "set -e; find src -name main.c -exec false {} \\; ; find src -name main.c -exec false {} +; echo unreachable",
    "find . -exec no-such-command {} \\; 2>&1 | head -n 2; find src -maxdepth 0 -exec /no/such {} +; echo $?",
    "find src -name '*.c' | head -n 1; find . -print0 | tr '\\0' '\\n' | wc -l",
    "find . -type f -name *.none; find . -name -print; find . -nam x; echo $?",
    "find src -type f | while IFS= read -r f; do find \"$f\" -prune -size -2 -exec basename {} ';'; done",
    "find . -inum `stat -c %i src/main.c` -print",
    "find src -type d \\( -exec test -e '{}'/main.c \\; -o -exec test -e '{}'/stamp \\; \\) -print -prune",
];

/// What the scripts find, made from nothing and always alike.
fn fixture(place: &Place, owner: Option<u32>) {
    let _ = fs::remove_dir_all(place.path());
    place.directory("");
    for (name, size) in [
        ("tmp/old", 1),
        ("tmp/new", 2),
        ("tmp/old dir/sess1", 0),
        ("tmp/sess2", 7),
        ("src/main.c", 100),
        ("src/util.c", 0),
        ("src/util.h", 70_000),
        ("src/tests/t.c", 5),
        ("src/tests/t.o", 5),
        ("src/stamp", 0),
        ("src/CVS/Entries", 10),
        ("include/all.h", 3),
        ("build/lib.la", 11),
        ("build/lib.so.1", 12),
        ("build/core", 13),
        ("dist/a", 1),
        ("dist/b", 1),
        ("dist/DEBIAN/control", 20),
        ("dist/lib/x.so.1", 21),
        ("dist/lib/__pycache__/x.pyc", 22),
        ("dist/bin/tool", 23),
        ("dist/bin/set", 24),
        ("log/current.log", 4_000),
        ("log/old.log", 5_000),
        ("log/old.log.1", 5_001),
        ("log/old.log.2.gz", 90_000),
        ("certs/one.crt", 30),
        ("certs/sub/two.crt", 31),
        ("secret/x", 1),
        ("README.txt", 9),
        ("Makefile", 9),
        ("a~", 0),
        ("b.orig", 0),
        (".c.swp", 0),
        (".git/config", 8),
        ("two\nlines", 1),
    ] {
        let age = if name.contains("old") || name.contains("stamp") {
            40
        } else {
            1
        };
        let then = SystemTime::now() - Duration::from_hours(24 * age + 2);
        let times = FileTimes::new().set_modified(then).set_accessed(then);
        place.file(name, size).set_times(times).unwrap();
    }
    place.directory("tmp/empty/empty");
    for (target, link) in [
        ("src", "link"),
        ("gone", "dangling"),
        ("main.c", "src/link.c"),
        ("../../certs", "certs/sub/loop"),
    ] {
        symlink(target, place.path().join(link)).unwrap();
    }
    fs::hard_link(
        place.path().join("src/main.c"),
        place.path().join("src/again.c"),
    )
    .unwrap();
    for (name, mode) in [
        ("dist/bin/tool", 0o755),
        ("dist/bin/set", 0o4755),
        ("dist/lib", 0o500),
        ("certs/one.crt", 0o444),
        ("secret", 0o311),
    ] {
        place.mode(name, mode);
    }
    if let Some(owner) = owner {
        give(&place.path(), owner);
        // Lost by that.
        place.mode("dist/bin/set", 0o4755);
    }
}

fn give(path: &Path, owner: u32) {
    std::os::unix::fs::lchown(path, Some(owner), Some(owner)).unwrap();
    if path.symlink_metadata().unwrap().is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            give(&entry.unwrap().path(), owner);
        }
    }
}

/// A directory whose only program is called `find`.
fn programs(place: &Place) -> PathBuf {
    let directory = place.path().parent().unwrap().join("bin");
    fs::create_dir(&directory).unwrap();
    symlink(place.program(), directory.join("find")).unwrap();
    directory
}

fn run(place: &Place, script: &str, path: Option<&Path>) -> Answer {
    fixture(place, place.user);
    let mut case = place.case(["-c", script]).arg0("sh");
    if let Some(path) = path {
        let others = std::env::var("PATH").unwrap_or_default();
        case = case.env("PATH", format!("{}:{others}", path.display()));
    }
    let mut answer = case
        .run("sh")
        .unwrap_or_else(|error| panic!("{error}: {script}"));
    answer.stdout.extend_from_slice(b"\nwhat is left:\n");
    answer.stdout.extend(contents(&place.path()));
    answer
}

#[test]
fn scripts_do_the_same() {
    or_skip!(gnu_find());
    let mut place = place();
    let directory = programs(&place);
    // What a wrong program deletes is at least not root's.
    match needs_root("another user") {
        Ok(()) => {
            place.user = Some(NOBODY);
            chown(place.path().parent().unwrap(), Some(NOBODY), None).unwrap();
        }
        Err(skip) => skip.report(),
    }
    let mut lacking = HashMap::new();
    for (script, locale) in SCRIPTS.iter().zip(LOCALES.into_iter().cycle()) {
        let mut words = script.split_whitespace();
        let lacking = words.find(|word| {
            let word = word.trim_end_matches(';');
            let asked = word.starts_with('-').then(|| lacking.entry(word));
            asked.is_some_and(|entry| *entry.or_insert_with(|| lacks(&place, word)))
        });
        if let Some(word) = lacking {
            println!("{word} is not supported, and so not tried: {script}");
            continue;
        }
        place.locale = locale;
        let gnu = run(&place, script, None);
        let ours = run(&place, script, Some(&directory));
        let case = place.case(["-c", script]).arg0("sh");
        case.assert_same(&gnu, &ours);
    }
}
