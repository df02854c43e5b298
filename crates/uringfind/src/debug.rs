//! `-D`. Its words are accepted, so that command lines written for GNU find work; there is nothing
//! to show for them.

use crate::failure::Failure;
use crate::quote::quote;

/// What is known behind `-D`.
const FLAGS: [&[u8]; 9] = [
    b"exec", b"opt", b"rates", b"search", b"stat", b"time", b"tree", b"all", HELP,
];

const HELP: &[u8] = b"help";

/// The answer to `-D help`.
pub(crate) const TEXT: &str = "\
Arguments of -D: all, exec, help, opt, rates, search, stat, time, tree; several with commas between.
All are accepted, for the sake of other programs, and none but help has an effect.
";

/// Reads the argument of `-D`; tells whether it asks for [`TEXT`].
pub(crate) fn is_help(flags: Option<&[u8]>, warnings: &mut Vec<Vec<u8>>) -> Result<bool, Failure> {
    let Some(flags) = flags else {
        return Err(Failure::new(&b"Missing argument after the -D option."[..]).and_hint());
    };
    let mut flags = flags
        .split(|&byte| byte == b',')
        .filter(|flag| !flag.is_empty())
        .peekable();
    let Some(&first) = flags.peek() else {
        return Err(Failure::new(&b"Empty argument to the -D option."[..]).and_hint());
    };
    let mut is_help = false;
    for flag in flags {
        if !FLAGS.contains(&flag) {
            // GNU find names the first one, whichever it is that is unknown.
            let text: &[u8] = b"Ignoring unrecognised debug flag ";
            warnings.push([text, &quote(first)].concat());
        }
        is_help |= flag == HELP;
    }
    Ok(is_help)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags() {
        let read = |flags: &str| {
            let mut warnings = Vec::new();
            let help = is_help(Some(flags.as_bytes()), &mut warnings);
            help.ok().map(|help| (help, warnings.len()))
        };
        assert_eq!(read("tree"), Some((false, 0)));
        assert_eq!(read(",tree,,help"), Some((true, 0)));
        assert_eq!(read("x,all,y"), Some((false, 2)));
        assert_eq!(read(","), None);
        assert!(is_help(None, &mut Vec::new()).is_err());
    }
}
