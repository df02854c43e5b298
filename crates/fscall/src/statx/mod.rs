//! statx(2): what is asked, what is answered, and the call itself.

mod attributes;
mod buf;
mod flags;
mod mask;
mod null_path;
mod prepared;
mod timestamp;

pub use attributes::StatxAttributes;
pub use buf::Statx;
pub use flags::StatxFlags;
pub use mask::StatxMask;
pub use null_path::{NullPath, null_path};
pub use prepared::{Form, Prepared, statx, statx_fd, statx_fd_into};
pub use timestamp::Timestamp;
