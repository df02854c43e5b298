//! The texts of `--help` and `--version`.

/// What `--version` prints.
pub(crate) const VERSION: &str = concat!(
    "uringfind ",
    env!("CARGO_PKG_VERSION"),
    "\nSpeaks the language of GNU find 4.9.\n"
);

/// What `--help` prints; `program` is the program's name as it was typed.
pub(crate) fn help(program: &[u8]) -> Vec<u8> {
    let usage = [
        b"Usage: ",
        program,
        b" [-P] [-j N] [-O LEVEL] [--] [STARTING-POINT...] [EXPRESSION]\n",
    ]
    .concat();
    [usage, TEXT.as_bytes().to_vec()].concat()
}

const TEXT: &str = "\
Walks each starting point (the current directory if there is none) in find's order and
evaluates the expression for every file. Without an action in it, what is true is printed.

  -P                  symbolic links are not followed (the default)
  -j N                at most N calls in flight; the default suits any disk
  -O LEVEL            how eagerly tests are reordered, 0 to 3 (without a space; default 2)

Operators, strongest first:
  ( EXPR )            ! EXPR, -not EXPR
  A B, A -a B         A -o B
  A , B               both, with the value of B

Options for the whole search:
  -maxdepth N         look no deeper than N levels below the starting points
  -mindepth N         leave out what is above level N
  -warn, -nowarn      point out dubious usage, or do not

Tests:
  -name PATTERN       the last part of the name matches a shell pattern
  -path PATTERN       the whole path matches (also -wholename)
  -type T[,T...]      b block, c character device, d directory, f file, l link, p pipe, s socket
  -size [+-]N[bckMGw] of more than, less than, exactly N blocks, bytes, KiB, MiB, GiB, words
  -newer FILE         modified later than FILE
  -true, -false

Actions:
  -print, -print0     the path and a newline, or a NUL
  -printf FORMAT      what find(1) tells of FORMAT; %B is the time of birth
  -ls                 a line as ls -dils has it
  -fprint FILE, -fprint0 FILE, -fprintf FILE FORMAT, -fls FILE
                      the same, written to FILE
  -prune              do not go into this directory
  -quit               end here

  --help, --version   this text; the version

RINGFS_BACKEND=auto|ring|threads chooses how the kernel is asked.
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_names_the_program() {
        assert!(help(b"./find").starts_with(b"Usage: ./find ["));
    }
}
