//! Text files that are not held in memory, such as large logs: their lines by number, and the lines that have given words. They are
//! read in pieces.

use turnwise_files::encoding::{DecodedText, TextEncoding, encode_unicode};
use turnwise_files::{FileContent, FileInfo, Files, NoText, decode, size_text};

/// The bytes that are read at once.
const PIECE: u64 = 4 << 20;
/// The bytes at the beginning that tell the encoding.
const SAMPLE: u64 = 256 << 10;
/// What is beyond is not read.
const MAX_READ: u64 = 2 << 30;
/// The index has a place for every so many lines.
const STEP: usize = 4_096;
/// A line is cut after so many bytes.
const MAX_LINE: usize = 16_000;

/// A text file by its beginning.
#[derive(Clone, Debug)]
pub struct LargeText {
    encoding: TextEncoding,
    note: Option<String>,
}

impl LargeText {
    /// Tells the encoding of a file; the inner error is why it has no text.
    ///
    /// # Errors
    /// Why reading failed.
    pub async fn open<F: Files>(files: &F, path: &str, info: FileInfo) -> Result<Result<Self, NoText>, String> {
        let mut bytes = files.read_part(path, 0, info.size.min(SAMPLE)).await?;
        // Not within a character.
        if let Some(end) = bytes.iter().rposition(|byte| *byte == b'\n')
            && bytes.len() as u64 == SAMPLE
        {
            bytes.truncate(end + 1);
            // The second half of a line end in UTF-16.
            if bytes.starts_with(b"\xff\xfe") && !bytes.len().is_multiple_of(2) {
                bytes.push(0);
            }
        }
        Ok(decode(files, path, bytes).await.map(|decoded| LargeText {
            encoding: decoded.encoding.clone(),
            note: DecodedText { text: String::new(), faults: 0, ..decoded }.note(),
        }))
    }

    /// What has to be said about it before it is shown.
    #[must_use]
    pub fn note(&self) -> Option<String> {
        self.note.clone()
    }

    /// A character's smallest length in bytes.
    fn unit(&self) -> usize {
        match encode_unicode("\n", &self.encoding.name) {
            Some(bytes) => bytes.len(),
            None => 1,
        }
    }

    /// The ends of lines in a piece that begins at a whole character: the offsets behind them.
    fn ends(&self, piece: &[u8]) -> Vec<usize> {
        match encode_unicode("\n", &self.encoding.name) {
            Some(end) if end.len() > 1 => piece
                .chunks_exact(end.len())
                .enumerate()
                .filter(|(_, unit)| **unit == *end)
                .map(|(at, _)| (at + 1) * end.len())
                .collect(),
            _ => piece.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1).collect(),
        }
    }

    /// The text of whole lines.
    async fn text<F: Files>(&self, files: &F, bytes: &[u8]) -> Result<String, String> {
        let name = self.encoding.name.as_str();
        let text = if self.encoding.is_utf8() {
            String::from_utf8_lossy(bytes).into_owned()
        } else if let "UTF-16LE" | "UTF-16BE" = name {
            let unit =
                |pair: &[u8; 2]| if name == "UTF-16LE" { u16::from_le_bytes(*pair) } else { u16::from_be_bytes(*pair) };
            let units = bytes.as_chunks::<2>().0.iter().map(unit);
            char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
        } else {
            files.decode(bytes, Some(name)).await?.text
        };
        let decoded = DecodedText { text, encoding: self.encoding.clone(), faults: 0 };
        Ok(match FileContent::of_text(decoded) {
            FileContent::Text { text, .. } => text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text),
            _ => String::new(),
        })
    }
}

/// Where the lines of a file are.
#[derive(Debug)]
pub struct LineIndex {
    /// The offset of every [`STEP`]th line, from the first.
    steps: Vec<u64>,
    total: usize,
    size: u64,
    read: u64,
}

impl LineIndex {
    /// Reads the whole file once.
    ///
    /// # Errors
    /// Why reading failed.
    pub async fn of<F: Files>(files: &F, path: &str, info: FileInfo, text: &LargeText) -> Result<Self, String> {
        let mut index = LineIndex { steps: vec![0], total: 0, size: info.size, read: info.size.min(MAX_READ) };
        let (mut at, mut last) = (0, 0);
        while at < index.read {
            let to = (at + PIECE).min(index.read);
            let piece = files.read_part(path, at, to).await?;
            for end in text.ends(&piece) {
                index.total += 1;
                last = at + end as u64;
                if index.total.is_multiple_of(STEP) {
                    index.steps.push(last);
                }
            }
            at = to;
        }
        // A last line without an end.
        index.total += usize::from(last < index.read);
        Ok(index)
    }

    #[must_use]
    pub fn total(&self) -> usize {
        self.total
    }

    /// The number of bytes that are read, if it is not the whole file.
    #[must_use]
    pub fn cut(&self) -> Option<u64> {
        (self.read < self.size).then_some(self.read)
    }

    /// Lines from `first` on, counted from 1: as many as there are, at most `limit`, with about `most` bytes.
    ///
    /// # Errors
    /// Why reading failed.
    pub async fn lines<F: Files>(
        &self,
        files: &F,
        path: &str,
        text: &LargeText,
        first: usize,
        limit: usize,
        most: usize,
    ) -> Result<Vec<String>, String> {
        let step = (first - 1) / STEP;
        let (mut line, mut at) = (step * STEP + 1, self.steps.get(step).copied().unwrap_or_default());
        let (mut lines, mut chars) = (Vec::new(), 0);
        let mut open = Vec::new();
        // Of a line that is cut, what was left out.
        let mut left_out = 0;
        while at < self.read && lines.len() < limit && chars < most {
            let to = (at + PIECE).min(self.read);
            let piece = files.read_part(path, at, to).await?;
            let mut from = 0;
            let ends = text.ends(&piece);
            let rest = (ends.last() != Some(&piece.len())).then_some(piece.len());
            let whole = ends.len();
            for (number, end) in ends.into_iter().chain(rest).enumerate() {
                let part = piece.get(from..end).unwrap_or_default();
                from = end;
                if line >= first {
                    let room = (MAX_LINE / text.unit() * text.unit()).saturating_sub(open.len()).min(part.len());
                    open.extend_from_slice(part.get(..room).unwrap_or_default());
                    left_out += part.len() - room;
                }
                if number >= whole && to < self.read {
                    break; // it goes on in the next piece
                }
                if line >= first {
                    let mut shown = text.text(files, &std::mem::take(&mut open)).await?;
                    shown.truncate(shown.trim_end_matches(['\n', '\r']).len());
                    if left_out > 0 {
                        shown.push_str(&format!(
                            "… [{} more of this line]",
                            size_text(std::mem::take(&mut left_out) as u64)
                        ));
                    }
                    if !lines.is_empty() && chars + shown.len() > most {
                        return Ok(lines);
                    }
                    chars += shown.len() + 1;
                    lines.push(shown);
                    if lines.len() == limit {
                        return Ok(lines);
                    }
                }
                line += 1;
            }
            at = to;
        }
        Ok(lines)
    }
}

/// Lines of a large file that have words of a query.
#[derive(Debug, Default)]
pub struct FoundLines {
    /// The first lines with most of the words, and the last one: their numbers, from 1, and texts.
    pub lines: Vec<(usize, String)>,
    /// How many of the words they have.
    pub words: usize,
    /// How many lines have so many of the words.
    pub count: usize,
    /// The number of bytes that were read, if it is not the whole file.
    pub cut: Option<u64>,
}

/// The first lines that are kept of those with most of the words.
const MAX_KEPT: usize = 4;

/// The lines with most of the words, in lower case. A word is found at the beginning of a word.
///
/// # Errors
/// Why reading failed.
pub async fn scan<F: Files>(
    files: &F,
    path: &str,
    info: FileInfo,
    text: &LargeText,
    words: &[String],
    most: u64,
) -> Result<FoundLines, String> {
    let read = info.size.min(MAX_READ).min(most);
    let mut found = FoundLines { cut: (read < info.size).then_some(read), ..FoundLines::default() };
    let (mut at, mut line) = (0, 1);
    let mut last: Option<(usize, String)> = None;
    while at < read {
        let to = (at + PIECE).min(read);
        let mut piece = files.read_part(path, at, to).await?;
        // Whole lines; a line that is longer than a piece is taken in parts.
        let whole = text.ends(&piece).last().copied().unwrap_or(piece.len());
        if to < read && whole > 0 {
            piece.truncate(whole);
        }
        if piece.is_empty() {
            break;
        }
        at += piece.len() as u64;
        let ended = text.ends(&piece).last() == Some(&piece.len());
        let shown = text.text(files, &piece).await?;
        let lower = if shown.is_ascii() { shown.to_ascii_lowercase() } else { shown.to_lowercase() };
        let here: Vec<&String> = words.iter().filter(|word| lower.contains(word.as_str())).collect();
        let lines = lower.lines().count();
        if !here.is_empty() && here.len() >= found.words {
            for (number, (lower, shown)) in lower.lines().zip(shown.lines()).enumerate() {
                let has = here.iter().filter(|word| begins_word(lower, word)).count();
                if has == 0 || has < found.words {
                    continue;
                }
                // A line that is longer than a piece was found in the piece before.
                let number = line + number;
                let known = last.as_ref().or(found.lines.last()).is_some_and(|(known, _)| *known == number);
                if known && has == found.words {
                    continue;
                }
                if has > found.words {
                    found = FoundLines { words: has, cut: found.cut, ..FoundLines::default() };
                    last = None;
                }
                found.count += 1;
                if found.lines.len() < MAX_KEPT {
                    found.lines.push((number, shown.chars().take(MAX_LINE).collect()));
                } else {
                    last = Some((number, shown.chars().take(MAX_LINE).collect()));
                }
            }
        }
        line += if ended { lines } else { lines.saturating_sub(1) };
    }
    found.lines.extend(last);
    Ok(found)
}

fn begins_word(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let before = line.get(..at).and_then(|before| before.chars().next_back());
        before.is_none_or(|c| !c.is_alphanumeric())
    })
}
