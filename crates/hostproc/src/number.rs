//! Fractions as text in the locale's form.

#![allow(unsafe_code)]

/// Flags of a conversion of `printf(3)`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag of printf")]
pub struct NumberFlags {
    /// `-`: blanks come behind.
    pub left: bool,
    /// `+`: a sign always.
    pub plus: bool,
    /// A space in the place of a plus.
    pub space: bool,
    /// `#`: with zeros at the end of a fraction.
    pub alternate: bool,
    /// `0`: zeros in front instead of blanks.
    pub zero: bool,
}

/// Appends `value` as the conversion `%g` of `printf(3)` writes it, at least `width` bytes wide, with
/// `precision` significant digits (6 if `None`).
#[doc(alias = "snprintf")]
pub fn general(
    flags: NumberFlags,
    width: i32,
    precision: Option<i32>,
    value: f64,
    out: &mut Vec<u8>,
) {
    let mut format = [0_u8; 16];
    let all = [
        (true, b'%'),
        (flags.left, b'-'),
        (flags.plus, b'+'),
        (flags.space, b' '),
        (flags.alternate, b'#'),
        (flags.zero, b'0'),
        (true, b'*'),
        (true, b'.'),
        (true, b'*'),
        (true, b'g'),
    ];
    let bytes = all.iter().filter(|it| it.0).map(|it| it.1);
    for (place, byte) in format.iter_mut().zip(bytes) {
        *place = byte;
    }
    let width = width.max(0);
    // A negative precision is none.
    let precision = precision.unwrap_or(-1);
    let room = 400_usize
        .saturating_add(usize::try_from(width).unwrap_or(0))
        .saturating_add(usize::try_from(precision).unwrap_or(0));
    out.reserve(room);
    let spare = out.spare_capacity_mut();
    // SAFETY: pointer and length are those of writable memory. The format is ended by a NUL (at most 10
    // of its 16 bytes are set) and takes two ints and a double, which it gets.
    let written = unsafe {
        libc::snprintf(
            spare.as_mut_ptr().cast(),
            spare.len(),
            format.as_ptr().cast(),
            width,
            precision,
            value,
        )
    };
    let written = usize::try_from(written).unwrap_or(0);
    if written < spare.len() {
        let len = out.len() + written;
        // SAFETY: snprintf has written so many bytes behind the old end, less than there was room for.
        unsafe { out.set_len(len) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_width_and_precision() {
        let text = |flags, width, precision, value| {
            let mut out = Vec::new();
            general(flags, width, precision, value, &mut out);
            String::from_utf8(out).unwrap()
        };
        let none = NumberFlags::default();
        assert_eq!(text(none, 0, None, 1.0), "1");
        assert_eq!(text(none, 9, None, 1.0 / 3.0), " 0.333333");
        assert_eq!(text(none, 0, Some(2), 1.0 / 3.0), "0.33");
        assert_eq!(text(none, 0, None, f64::INFINITY), "inf");
        let all = NumberFlags {
            left: true,
            plus: true,
            space: true,
            alternate: true,
            zero: true,
        };
        assert_eq!(text(all, 10, None, 1.0), "+1.00000  ");
    }
}
