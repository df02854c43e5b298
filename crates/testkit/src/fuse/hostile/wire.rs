//! Requests and answers as the bytes of the protocol.

/// A `struct fuse_in_header` and what follows it.
pub(super) struct Request<'a> {
    pub(super) opcode: u32,
    pub(super) unique: u64,
    pub(super) node: u64,
    pub(super) body: &'a [u8],
}

impl<'a> Request<'a> {
    pub(super) fn parse(bytes: &'a [u8]) -> Option<Self> {
        Some(Self {
            opcode: u32_at(bytes, 4)?,
            unique: u64_at(bytes, 8)?,
            node: u64_at(bytes, 16)?,
            body: bytes.get(40..)?,
        })
    }
}

pub(super) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at + 4)?;
    Some(u32::from_ne_bytes(bytes.try_into().ok()?))
}

pub(super) fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    let bytes = bytes.get(at..at + 8)?;
    Some(u64::from_ne_bytes(bytes.try_into().ok()?))
}

/// Numbers and names one after the other, as the protocol's structures have them.
#[derive(Default)]
pub(super) struct Bytes(pub(super) Vec<u8>);

impl Bytes {
    pub(super) fn u32(mut self, number: u32) -> Self {
        self.0.extend(number.to_ne_bytes());
        self
    }

    pub(super) fn u64(mut self, number: u64) -> Self {
        self.0.extend(number.to_ne_bytes());
        self
    }

    pub(super) fn bytes(mut self, bytes: &[u8]) -> Self {
        self.0.extend_from_slice(bytes);
        self
    }

    /// Zeros up to a multiple of eight.
    pub(super) fn padded(mut self) -> Self {
        self.0.resize(self.0.len().next_multiple_of(8), 0);
        self
    }
}

/// The protocol's version, and none of its options.
pub(super) fn init(body: &[u8]) -> Bytes {
    let minor = u32_at(body, 4).unwrap_or(31).min(31);
    Bytes::default()
        .u32(7)
        .u32(minor)
        // Read-ahead, flags, and how much may be in flight in the background.
        .u32(0)
        .u32(0)
        .u32(0)
        // The longest write and the grain of times.
        .u32(4096)
        .u32(1)
        // All that later versions have added.
        .bytes(&[0; 36])
}
