//! Classes of characters in the language of the engines.

use super::Encoding;
use super::tree::Class;

impl Class {
    /// What stands for the class within brackets.
    ///
    /// In UTF-8 it is what the C library's tables are made by: its letters take in all digits but
    /// ASCII's, and spaces that forbid a line break are no spaces,
    /// and letters in title case are upper case, some of them lower case as well.
    pub(super) fn written(self, encoding: Encoding) -> &'static str {
        match (self, encoding) {
            (Self::Digit, _) => "0-9",
            (Self::Xdigit, _) => "0-9A-Fa-f",
            (Self::Alnum, Encoding::Bytes) => "0-9A-Za-z",
            (Self::Alpha, Encoding::Bytes) => "A-Za-z",
            (Self::Blank, Encoding::Bytes) => r"\t\x20",
            (Self::Cntrl, Encoding::Bytes) => r"\x00-\x1F\x7F",
            (Self::Graph, Encoding::Bytes) => r"\x21-\x7E",
            (Self::Lower, Encoding::Bytes) => "a-z",
            (Self::Print, Encoding::Bytes) => r"\x20-\x7E",
            (Self::Punct, Encoding::Bytes) => r"\x21-\x2F\x3A-\x40\x5B-\x60\x7B-\x7E",
            (Self::Space, Encoding::Bytes) => r"\t-\r\x20",
            (Self::Upper, Encoding::Bytes) => "A-Z",
            (Self::Alnum, Encoding::Utf8) => r"\p{Alphabetic}\p{Nd}",
            (Self::Alpha, Encoding::Utf8) => r"\p{Alphabetic}[\p{Nd}--0-9]",
            (Self::Blank, Encoding::Utf8) => r"\t[\p{Zs}--[\xA0\u2007\u202F]]",
            (Self::Cntrl, Encoding::Utf8) => r"\p{Cc}\p{Zl}\p{Zp}",
            (Self::Graph, Encoding::Utf8) => r"[[^\p{Cc}\p{Cn}\p{Z}][\xA0\u2007\u202F]]",
            (Self::Lower, Encoding::Utf8) => r"\p{Lowercase}\u01C5\u01C8\u01CB\u01F2",
            (Self::Print, Encoding::Utf8) => r"[^\p{Cc}\p{Cn}\p{Zl}\p{Zp}]",
            (Self::Punct, Encoding::Utf8) => {
                r"[[^\p{Cc}\p{Cn}\p{Z}\p{Alphabetic}\p{Nd}][\xA0\u2007\u202F]]"
            }
            (Self::Space, Encoding::Utf8) => r"\t-\r\p{Zl}\p{Zp}[\p{Zs}--[\xA0\u2007\u202F]]",
            (Self::Upper, Encoding::Utf8) => r"\p{Uppercase}\p{Lt}",
        }
    }
}
