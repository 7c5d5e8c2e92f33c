//! What the download menu offers besides the formats of `trajectory/export`.

/// The menu entry after the formats.
pub const SHARE: (&str, &str) = ("Share", "one compressed file that opens here again");
/// The part of a shared file's name after the run id.
pub const SHARED: &str = ".turnwise.json.gz";
/// The maximum size to which a compressed file is unpacked, in MB of 1,048,576 bytes.
pub const MOST_MB: u32 = 200;
