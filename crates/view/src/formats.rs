//! What the download menu offers besides the formats of `trajectory/export`.

/// The menu entry after the formats.
pub const COMPRESSED: (&str, &str) = ("Compressed trajectory", "a small file that opens here again");
/// The part of a compressed file's name after the run id.
pub const COMPRESSED_NAME: &str = ".turnwise.json.gz";
/// What `Share` passes on.
pub const SHARE: &str = "One HTML page with the task, every turn, the answer and your notes; what was said before a follow-up is in its data only. Keys are removed.";
/// The maximum size to which a compressed file is unpacked, in MB of 1,048,576 bytes.
pub const MOST_MB: u32 = 200;
