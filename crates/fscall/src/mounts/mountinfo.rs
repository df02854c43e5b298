//! The lines of `/proc/self/mountinfo`; `proc_pid_mountinfo(5)`.

/// One mount.
///
/// ```text
/// 36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue
/// id    dev  root  point options    optional   type source    options of the super block
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MountLine<'a> {
    pub(crate) id: u64,
    pub(crate) dev: (u32, u32),
    /// What of the file system is mounted; as escaped as it is written.
    pub(crate) root: &'a [u8],
    /// Where; as escaped as it is written.
    pub(crate) point: &'a [u8],
    pub(crate) fs_type: &'a [u8],
    pub(crate) super_options: &'a [u8],
}

/// The mounts of a file, in its order. Lines that are not as documented come as `None`.
pub(crate) fn lines(file: &[u8]) -> impl Iterator<Item = Option<MountLine<'_>>> {
    file.split(|&byte| byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(parse)
}

fn parse(line: &[u8]) -> Option<MountLine<'_>> {
    let mut fields = line.split(|&byte| byte == b' ');
    let id = number(fields.next()?)?;
    let _parent = fields.next()?;
    let dev = device(fields.next()?)?;
    let root = fields.next()?;
    let point = fields.next()?;
    let _options = fields.next()?;
    // Any number of optional fields, and a dash.
    fields.find(|&field| field == b"-")?;
    let fs_type = fields.next()?;
    let _source = fields.next()?;
    let super_options = fields.next().unwrap_or_default();
    Some(MountLine {
        id,
        dev,
        root,
        point,
        fs_type,
        super_options,
    })
}

fn device(field: &[u8]) -> Option<(u32, u32)> {
    let colon = field.iter().position(|&byte| byte == b':')?;
    Some((number(&field[..colon])?, number(&field[colon + 1..])?))
}

fn number<T: std::str::FromStr>(digits: &[u8]) -> Option<T> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// Undoes the escapes of the kernel: `\040` for a space, and tab, newline, backslash and `#` the
/// same way.
pub(crate) fn unescape(field: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match (byte, after) {
            (
                b'\\',
                [
                    a @ b'0'..=b'3',
                    b @ b'0'..=b'7',
                    c @ b'0'..=b'7',
                    after @ ..,
                ],
            ) => {
                plain.push((a - b'0') * 64 + (b - b'0') * 8 + (c - b'0'));
                rest = after;
            }
            _ => plain.push(byte),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_the_man_page() {
        let file =
            b"36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue\n";
        let mounts: Vec<_> = lines(file).collect();
        let expected = MountLine {
            id: 36,
            dev: (98, 0),
            root: b"/mnt1",
            point: b"/mnt2",
            fs_type: b"ext3",
            super_options: b"rw,errors=continue",
        };
        assert_eq!(mounts, [Some(expected)]);
    }

    #[test]
    fn optional_fields_and_empty_sources() {
        let none = b"1 2 0:3 / / rw - tmpfs none rw";
        let three = b"1 2 0:3 / / rw shared:1 master:2 unbindable - tmpfs  rw";
        for line in [&none[..], &three[..]] {
            let mount = lines(line).next().unwrap().unwrap();
            assert_eq!(
                (mount.fs_type, mount.super_options),
                (&b"tmpfs"[..], &b"rw"[..])
            );
        }
    }

    #[test]
    fn other_lines_are_told() {
        let file = b"x\n1 2 3 / / rw - ext4 none rw\n\n1 2 0:3 / / rw ext4 none rw\n36 35 98:0";
        assert_eq!(lines(file).filter(Option::is_none).count(), 4);
    }

    #[test]
    fn escapes() {
        assert_eq!(unescape(br"/a\040b\011\012\134\043c"), b"/a b\t\n\\#c");
        assert_eq!(unescape(br"\04\9x\"), br"\04\9x\");
    }
}
