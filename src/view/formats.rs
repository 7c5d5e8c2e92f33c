//! The names and descriptions of the formats in which a run can be downloaded.

use crate::trajectory::Format;

/// One entry of the menu.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FormatWords {
    pub format: Format,
    pub name: &'static str,
    /// The purpose of the format.
    pub note: &'static str,
}

/// The entries of the download menu, the most used first.
pub const DOWNLOADS: &[FormatWords] = &[
    FormatWords {
        format: Format::Native,
        name: "Turnwise trajectory",
        note: "JSON with everything in it; opens here again",
    },
    FormatWords { format: Format::Html, name: "Report", note: "one HTML page to read, print and pass on" },
    FormatWords { format: Format::Markdown, name: "Markdown", note: "for issues, chats and notes" },
    FormatWords { format: Format::Atif, name: "ATIF 1.7", note: "the interchange format of agents (Harbor)" },
    FormatWords { format: Format::Otlp, name: "OpenTelemetry", note: "GenAI spans as OTLP/JSON" },
    FormatWords { format: Format::OpenaiJsonl, name: "OpenAI chat", note: "messages and tools as JSON Lines" },
    FormatWords { format: Format::MiniSweAgent, name: "mini-swe-agent", note: "its trajectory file, version 1.1" },
];

/// The menu entry after them.
pub const SHARE: (&str, &str) = ("Share", "one compressed file that opens here again");
/// The part of a shared file's name after the run id.
pub const SHARED: &str = ".turnwise.json.gz";
/// The maximum size to which a compressed file is unpacked, in MB of 1,048,576 bytes.
pub const MOST_MB: u32 = 200;
