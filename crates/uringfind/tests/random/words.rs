//! Words of the language and arguments for them, right ones and wrong ones.

use std::collections::HashSet;
use std::ffi::OsString;
use std::os::unix::fs::MetadataExt;

use fastrand::Rng;
use testkit::oracle::Place;

use crate::common::draw::{one_in, pick};
use crate::common::{bytes, lacks};
use crate::trees::OUTPUT;

/// What stands behind a word.
#[derive(Clone, Copy)]
enum Argument {
    Nothing,
    /// One of these.
    Of(&'static [&'static str]),
    Pattern,
    PathPattern,
    Path,
    Inode,
    /// A count, in days and the like.
    Count,
    /// `-newerXY` is completed too.
    NewerXy,
    Output,
    OutputFormat,
    Format,
    Command,
    /// With a question: reads from standard input.
    Question,
}

/// Whether a word can be in a search, by what it looks at and by what it does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    Anywhere,
    /// It looks at what differs in a tree that is made once more, such as inodes, or has changed.
    UnchangedTree,
    /// It changes the tree, or writes beside it.
    Changing,
}

/// One of the words, how often it is drawn, and where.
struct Word(u8, Use, &'static str, Argument);

const SIZES: &[&str] = &[
    "0",
    "1",
    "-1",
    "+0",
    "2c",
    "+1k",
    "-2b",
    "1M",
    "+1M",
    "-1G",
    "+20480c",
    "513c",
    "+3w",
    "1x",
    "",
    "k",
    "++1",
    "-+1k",
    "1.5k",
    "99999999999999999999",
    "+1kk",
];
const TYPES: &[&str] = &[
    "f", "d", "l", "s", "p", "f,d", "l,s,p", "b,c", "f,f", "x", "", "f,", "fd", ",",
];
const MODES: &[&str] = &[
    "644",
    "-644",
    "/222",
    "+222",
    "0",
    "-0",
    "/0",
    "/000",
    "u+x",
    "-u+x",
    "/u+w,g+w",
    "-g=r",
    "a=",
    "-a+X",
    "/u=s",
    "-+t",
    "7777",
    "-4000",
    "/6000",
    "u=g",
    "-u=rwx,go-w",
    "10000",
    "8",
    "rwx",
    "",
    "-",
    "/",
    "u+",
    "go=u",
    "-o-r",
    "+x",
    "u=rw,",
    "=",
    "-=r",
    "+0644",
];
const USERS: &[&str] = &["root", "nobody", "0", "65534", "no-such", "", "1x", "007"];
const GROUPS: &[&str] = &["root", "nogroup", "0", "65534", "no-such", ""];
const NUMBERS: &[&str] = &[
    "0", "1", "-1", "+0", "2", "+2", "-3", "65534", "+1000", "x", "", "1.5",
];
const REGEXES: &[&str] = &[
    "r",
    ".*",
    ".*/a",
    ".*[ab]",
    r".*\.c",
    r".*/\(a\|b\)",
    ".*/(a|b)",
    "r/.",
    "r/.+",
    r"r/.\+",
    "r(/a)*",
    r"r\(/a\)*",
    ".*é",
    ".*[[:upper:]].*",
    r".*/\w+",
    r".*/\w\+",
    "^r$",
    ".*/a?b",
    r".*/a\?b",
    "(",
    ")",
    r"\(",
    "[",
    "*",
    "a{1",
    r".*/a\{1,2\}",
    ".*/[a-c]{1}",
    "",
    r".*\",
    "+",
    r".*\n.*",
    ".*\n.*",
    "r/[^/]*",
    ".*'.*",
    r".*/\<a\>.*",
    "a**",
];
const REGEX_TYPES: &[&str] = &[
    "emacs",
    "posix-awk",
    "posix-basic",
    "posix-egrep",
    "posix-extended",
    "posix-minimal-basic",
    "awk",
    "gnu-awk",
    "grep",
    "egrep",
    "sed",
    "ed",
    "findutils-default",
    "nothing",
    "",
];
const FILE_SYSTEMS: &[&str] = &["ext4", "tmpfs", "proc", "nothing", ""];
const CONTEXTS: &[&str] = &["*"];

use Argument::{
    Command, Count, Format, Inode, NewerXy, Nothing, Of, Output, OutputFormat, Path, PathPattern,
    Pattern, Question,
};
use Use::{Anywhere, Changing, UnchangedTree};

const WORDS: &[Word] = &[
    Word(9, Anywhere, "-name", Pattern),
    Word(9, Anywhere, "-type", Of(TYPES)),
    Word(6, Anywhere, "-size", Of(SIZES)),
    Word(6, Anywhere, "-print", Nothing),
    Word(6, Anywhere, "-perm", Of(MODES)),
    Word(6, Anywhere, "-printf", Format),
    Word(4, Anywhere, "-path", PathPattern),
    Word(4, Anywhere, "-prune", Nothing),
    Word(3, Anywhere, "-iname", Pattern),
    Word(3, Anywhere, "-newer", Path),
    Word(3, Anywhere, "-mmin", Count),
    Word(3, Anywhere, "-mtime", Count),
    Word(3, Anywhere, "-xtype", Of(TYPES)),
    Word(3, Anywhere, "-empty", Nothing),
    Word(3, UnchangedTree, "-ls", Nothing),
    Word(3, UnchangedTree, "-newer", NewerXy),
    Word(3, Anywhere, "-regex", Of(REGEXES)),
    Word(2, Anywhere, "-regextype", Of(REGEX_TYPES)),
    Word(2, Anywhere, "-iregex", Of(REGEXES)),
    Word(2, Anywhere, "-print0", Nothing),
    Word(2, Anywhere, "-lname", Pattern),
    Word(2, Anywhere, "-true", Nothing),
    Word(2, Anywhere, "-false", Nothing),
    Word(2, Anywhere, "-links", Of(NUMBERS)),
    Word(2, Anywhere, "-user", Of(USERS)),
    Word(2, Anywhere, "-group", Of(GROUPS)),
    Word(2, Anywhere, "-samefile", Path),
    Word(2, UnchangedTree, "-inum", Inode),
    Word(2, Anywhere, "-daystart", Nothing),
    Word(2, Anywhere, "-depth", Nothing),
    Word(1, Anywhere, "-d", Nothing),
    Word(1, Anywhere, "-uid", Of(NUMBERS)),
    Word(1, Anywhere, "-gid", Of(NUMBERS)),
    Word(1, Anywhere, "-nouser", Nothing),
    Word(1, Anywhere, "-nogroup", Nothing),
    Word(1, Anywhere, "-ilname", Pattern),
    Word(1, Anywhere, "-ipath", PathPattern),
    Word(1, Anywhere, "-wholename", PathPattern),
    Word(1, Anywhere, "-iwholename", PathPattern),
    Word(1, Anywhere, "-readable", Nothing),
    Word(1, Anywhere, "-writable", Nothing),
    Word(1, Anywhere, "-executable", Nothing),
    Word(1, Anywhere, "-fstype", Of(FILE_SYSTEMS)),
    Word(1, Anywhere, "-context", Of(CONTEXTS)),
    Word(1, UnchangedTree, "-used", Count),
    Word(1, UnchangedTree, "-atime", Count),
    Word(1, UnchangedTree, "-amin", Count),
    Word(1, UnchangedTree, "-ctime", Count),
    Word(1, UnchangedTree, "-cmin", Count),
    Word(1, UnchangedTree, "-anewer", Path),
    Word(1, UnchangedTree, "-cnewer", Path),
    Word(1, Anywhere, "-quit", Nothing),
    Word(1, Anywhere, "-xdev", Nothing),
    Word(1, Anywhere, "-mount", Nothing),
    Word(1, Anywhere, "-follow", Nothing),
    Word(1, Anywhere, "-noleaf", Nothing),
    Word(1, Anywhere, "-ignore_readdir_race", Nothing),
    Word(1, Anywhere, "-noignore_readdir_race", Nothing),
    Word(1, Anywhere, "-warn", Nothing),
    Word(1, Anywhere, "-nowarn", Nothing),
    Word(1, Anywhere, "-maxdepth", Of(&["0", "1", "2", "-1", "x"])),
    Word(1, Anywhere, "-mindepth", Of(&["0", "1", "2", "", "1x"])),
    Word(20, Changing, "-exec", Command),
    Word(10, Changing, "-execdir", Command),
    Word(10, Changing, "-ok", Question),
    Word(5, Changing, "-okdir", Question),
    Word(15, Changing, "-delete", Nothing),
    Word(5, Changing, "-fprint", Output),
    Word(5, Changing, "-fprint0", Output),
    Word(10, Changing, "-fprintf", OutputFormat),
];

/// The words a program has, and what a search may do.
pub(crate) struct Words<'a> {
    known: &'a Known,
    paths: &'a [Vec<u8>],
    place: &'a Place,
    pub(crate) changing: bool,
    /// There is an end to standard input.
    pub(crate) input: bool,
}

/// All words that the program in this place has.
pub(crate) struct Known {
    words: Vec<&'static Word>,
    left_out: HashSet<&'static str>,
}

/// Words that are not drawn from [`WORDS`].
const OTHERS: &[&str] = &["-L", "-H", "-files0-from", "-newermt"];

impl Known {
    /// Words that the program says it does not support yet are named, and left out.
    pub(crate) fn of(place: &Place) -> Self {
        let words = WORDS.iter().map(|Word(_, _, name, _)| *name);
        let left_out: HashSet<_> = words
            .chain(OTHERS.iter().copied())
            .filter(|word| lacks(place, word))
            .collect();
        if !left_out.is_empty() {
            println!("not supported, and so not tried: {left_out:?}");
        }
        let known = |Word(_, _, name, _): &&Word| !left_out.contains(name);
        let words = WORDS.iter().filter(known).collect();
        Self { words, left_out }
    }

    /// There is a word for searches that change something.
    pub(crate) fn can_change(&self) -> bool {
        self.words.iter().any(|word| word.1 == Changing)
    }

    pub(crate) fn words<'a>(&'a self, place: &'a Place, paths: &'a [Vec<u8>]) -> Words<'a> {
        Words {
            known: self,
            paths,
            place,
            changing: false,
            input: true,
        }
    }
}

impl Words<'_> {
    pub(crate) fn knows(&self, word: &str) -> bool {
        !self.known.left_out.contains(word)
    }

    /// Something in the tree.
    pub(crate) fn path(&self, random: &mut Rng) -> OsString {
        bytes(&self.paths[random.usize(..self.paths.len())])
    }

    /// A word with its arguments.
    pub(crate) fn draw(&self, random: &mut Rng, out: &mut Vec<OsString>) {
        let not_here = if self.changing {
            UnchangedTree
        } else {
            Changing
        };
        let fits = |word: &&&Word| {
            let Word(_, place, _, argument) = word;
            *place != not_here
                && (self.input || !matches!(argument, Question))
                && (self.knows("-newermt") || !matches!(argument, NewerXy))
        };
        let all: usize = self
            .known
            .words
            .iter()
            .filter(fits)
            .map(|word| usize::from(word.0))
            .sum();
        let mut at = random.usize(..all);
        for Word(weight, _, name, argument) in self.known.words.iter().filter(fits) {
            let weight = usize::from(*weight);
            if at < weight {
                out.push(name.into());
                self.arguments(random, *argument, out);
                return;
            }
            at -= weight;
        }
    }

    fn arguments(&self, random: &mut Rng, argument: Argument, out: &mut Vec<OsString>) {
        match argument {
            Nothing => {}
            Of(words) => out.push(right_mostly(random, words).into()),
            Pattern => out.push(bytes(pattern(random))),
            PathPattern if one_in(random, 2) => out.push(self.path(random)),
            PathPattern => out.push(bytes(&[b"*", pattern(random)].concat())),
            Path if one_in(random, 20) => out.push("missing".into()),
            Path => out.push(self.path(random)),
            Inode => {
                let path = self.place.path().join(self.path(random));
                let inode = path.symlink_metadata().unwrap().ino();
                let sign = pick(random, &["", "", "+", "-"]);
                out.push(format!("{sign}{inode}").into());
            }
            Count => out.push(count(random).into()),
            NewerXy => self.newer(random, out),
            Output => out.push(output(random)),
            OutputFormat => out.extend([output(random), format(random, self.changing).into()]),
            Format => out.push(format(random, self.changing).into()),
            Command | Question => command(random, self.input, out),
        }
    }

    /// Completes `-newer` to one of its relatives, and gives what it compares with. Not with `B`: GNU
    /// find has no birth times.
    fn newer(&self, random: &mut Rng, out: &mut Vec<OsString>) {
        const TIMES: &[&str] = &[
            "now",
            "yesterday",
            "1 day ago",
            "2 hours ago",
            "@0",
            "@1700000000.5",
            "2024-02-29",
            "2026-01-01 12:00:00 +0200",
            "last month",
            "nonsense",
            "",
            "tomorrow 00:00",
        ];
        let mut name = out.pop().unwrap_or_default();
        name.push(pick(random, &["a", "m", "c", "m", "x"]));
        let from = pick(random, &["a", "m", "c", "t", "t", "y"]);
        name.push(from);
        out.push(name);
        match from {
            "t" => out.push(right_mostly(random, TIMES).into()),
            _ => out.push(self.path(random)),
        }
    }
}

/// Wrong arguments stand behind; too many of them, and nothing is searched.
fn right_mostly<'a>(random: &mut Rng, from: &[&'a str]) -> &'a str {
    let right = if one_in(random, 8) || from.len() < 5 {
        from.len()
    } else {
        from.len() / 2
    };
    from[random.usize(..right)]
}

fn pattern(random: &mut Rng) -> &'static [u8] {
    pick(
        random,
        &[
            b"a",
            b"*",
            b"*.c",
            b"a*",
            b"*b*",
            b"?",
            b"[ab]",
            b"[!a]*",
            b"*\\*",
            b"nothing",
            b"\xc3*",
            b"*\xa9",
            b"\xff",
            b"*n*e*",
            b"A",
            b"*.[cC]",
            b"[[:upper:]]*",
            b"[a",
            b"..",
            b"\\a",
            b"a\\",
            b".*",
            b"\xc3\x89",
            b"[\xc3\xa9x]",
            b"[a-c]",
            b"*/*",
            b"",
            b"[^a]*",
            b"{}",
            b"[]-a]",
        ],
    )
}

fn count(random: &mut Rng) -> String {
    if one_in(random, 12) {
        return pick(random, &["", "x", "1x", "+", "-", "--1", "1.5.5", "1e3"]).into();
    }
    let sign = pick(random, &["", "+", "-"]);
    let days = pick(
        random,
        &[
            "0", "1", "2", "3", "4", "5", "60", "1440", "2880", "0.5", "1.25", "100",
        ],
    );
    format!("{sign}{days}")
}

fn output(random: &mut Rng) -> OsString {
    let name = pick(
        random,
        &["1", "2", "3", "/dev/stdout", "/dev/stderr", "missing/x", ""],
    );
    match name {
        "1" | "2" | "3" | "missing/x" => format!("{OUTPUT}/{name}").into(),
        name => name.into(),
    }
}

fn format(random: &mut Rng, changing: bool) -> String {
    const PLAIN: &[&str] = &[
        "%p", "%f", "%h", "%P", "%H", "%d", "%m", "%M", "%y", "%Y", "%l", "%u", "%g", "%U", "%G",
        "%F", "%%", "%n", " ", "x", "\\n", "\\t", "\\0", "\\101", "\\\\", "%10p", "%-10f|", "%5d",
        "%05d", "%.2f", "%#m", "%+d", "% d", "%-5m|", "%3y", "é",
    ];
    const TIMES: &[&str] = &[
        "%s",
        "%t",
        "%T@",
        "%T+",
        "%TY-%Tm-%Td",
        "%TH:%TM:%TS",
        "%Tc",
        "%TF",
        "%Ta%Tb%Tj",
        "%10s",
        "%A@",
        "%a",
        "%c",
        "%C+",
        "%Ak%Al%AI%Ap%AZ%Az",
        "%i",
        "%k",
        "%b",
        "%D",
        "%S",
        "%TX%Tx%TD%TT%Tr",
        "%Ts",
        "%TU%TW%TV%Tw%Tu",
        "%Ay%AG%Ag%Ah%An%At%AC%Ae%AR",
    ];
    const WRONG: &[&str] = &[
        "%", "\\", "%z", "\\q", "%T", "\\c", "%Z", "%TQ", "%-", "%5", "%{", "%[", "%(",
    ];
    let mut format = String::new();
    for _ in 0..=random.usize(..5) {
        format += match random.usize(..40) {
            0 => pick(random, WRONG),
            1..=12 if !changing => pick(random, TIMES),
            _ => pick(random, PLAIN),
        };
    }
    if !one_in(random, 8) {
        format += "\\n";
    }
    format
}

/// A command that a search runs; no harm outside of the tree can come of any. The wrong ones last.
fn command(random: &mut Rng, input: bool, out: &mut Vec<OsString>) {
    const WRONG: usize = 13;
    const COMMANDS: &[&[&str]] = &[
        &["echo", "{}", ";"],
        &["echo", "{}", "{}", ";"],
        &["echo", "x{}y", ";"],
        &["echo", "{}", "+"],
        &["echo", "a", "{}", "+"],
        &["echo", ";"],
        &["true", ";"],
        &["false", ";"],
        &["false", "{}", "+"],
        &["test", "-f", "{}", ";"],
        &["test", "-d", "{}", ";"],
        &["rm", "-rf", "{}", ";"],
        &["rm", "-f", "{}", ";"],
        &["rmdir", "{}", ";"],
        &["rmdir", "{}", "+"],
        &["rm", "-f", "{}", "+"],
        &["chmod", "700", "{}", ";"],
        &["chmod", "0", "{}", ";"],
        &["truncate", "-s0", "{}", ";"],
        &["mkdir", "-p", "{}.d", ";"],
        &["cat", ";"],
        &["sh", "-c", "exit 3", ";"],
        &["sh", "-c", "kill -9 $$", ";"],
        &["sh", "-c", "pwd; echo \"$@\"", "sh", "{}", "+"],
        &["sh", "-c", "pwd; echo \"$@\" >&2", "sh", "{}", ";"],
        &["echo", "+", ";"],
        &["no-such-command", "{}", ";"],
        &["no-such-command", "{}", "+"],
        &["{}", ";"],
        &["echo", "{}"],
        &["echo"],
        &[],
        &[";"],
        &["+"],
        &["{}", "+"],
        &["echo", "{}", "x", "+"],
        &["echo", "x{}", "+"],
        &["echo", "{}", "{}", "+"],
        &["echo", "{}+", ";"],
    ];
    let end = if one_in(random, 10) { 0 } else { WRONG };
    let mut command = COMMANDS[random.usize(..COMMANDS.len() - end)];
    if command[..] == ["cat", ";"] && !input {
        command = COMMANDS[0];
    }
    out.extend(command.iter().map(OsString::from));
}
