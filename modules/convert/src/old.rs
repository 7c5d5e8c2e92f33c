//! What `anydoc` leaves out of an old Word document: symbols, of which it reads an opening parenthesis, and the headers, comments and text
//! boxes, which follow the text in the file.

use std::io::{Cursor, Read, Seek};

use super::lost::Lost;
use super::symbols::symbol;

/// What is shown of each part at most, in characters.
const MAX_CHARS: usize = 1_000_000;

/// Sets the symbol of a letter: the number of its font and its code in it.
const SYMBOL: u16 = 0x6a09;

/// A copy in which symbols are the characters that they show, and what is not in it. `None` if the file cannot be read or written: the
/// original is read then.
#[must_use]
pub fn prepared(bytes: &[u8]) -> Option<(Vec<u8>, Lost)> {
    let mut lost = Lost::default();
    let mut file = cfb::CompoundFile::open(Cursor::new(bytes)).ok()?;
    let document = stream(&mut file, "WordDocument")?;
    let table = stream(&mut file, table_of(&document)?)?;
    let boxes = document.windows(12).filter(|window| window == b"FORMCHECKBOX").count()
        + document
            .windows(24)
            .filter(|window| window.iter().step_by(2).copied().eq(b"FORMCHECKBOX".iter().copied()))
            .count();
    lost.some("state(s) of check boxes", boxes);
    lost.some("embedded object(s)", file.read_storage("ObjectPool").map_or(0, Iterator::count));
    let fonts = fonts(&document, &table).unwrap_or_default();
    let mut copy = bytes.to_vec();
    for (at, font, code) in symbols(&document, &table).unwrap_or_default() {
        if document.get(at) != Some(&b'(') {
            continue;
        }
        let shown = symbol(fonts.get(font).map_or("", String::as_str), code);
        // A part of the text has one byte for each letter, another two.
        let letter = shown.and_then(|one| match (document.get(at + 1), u16::try_from(u32::from(one))) {
            (Some(0), Ok(unit)) => Some(unit.to_le_bytes().to_vec()),
            (Some(0), Err(_)) => None,
            _ => {
                let text = one.to_string();
                Some(encoding_rs::WINDOWS_1252.encode(&text).0.into_owned()).filter(|bytes| bytes.len() == 1)
            }
        });
        let place =
            letter.as_ref().and_then(|letter| copy.get_mut(in_file(bytes, &document, at)?..)?.get_mut(..letter.len()));
        match (place, &letter) {
            (Some(place), Some(letter)) => place.copy_from_slice(letter),
            _ => lost.one("symbol(s) read as a parenthesis"),
        }
    }
    Some((copy, lost))
}

/// Where a byte of the document's stream is in the file: streams are stored in sectors of 512 bytes or a multiple. `None` if several look alike.
fn in_file(bytes: &[u8], document: &[u8], at: usize) -> Option<usize> {
    const SECTOR: usize = 512;
    let sector = document.get(at / SECTOR * SECTOR..)?.get(..SECTOR)?;
    let mut alike =
        bytes.chunks_exact(SECTOR).enumerate().filter(|(_, chunk)| *chunk == sector).map(|(number, _)| number);
    match (alike.next(), alike.next()) {
        (Some(number), None) => Some(number * SECTOR + at % SECTOR),
        _ => None,
    }
}

fn stream<F: Read + Seek>(file: &mut cfb::CompoundFile<F>, name: &str) -> Option<Vec<u8>> {
    let mut data = Vec::new();
    file.open_stream(name).ok()?.read_to_end(&mut data).ok()?;
    Some(data)
}

fn table_of(document: &[u8]) -> Option<&'static str> {
    Some(if document.get(0x0b)? & 2 != 0 { "1Table" } else { "0Table" })
}

fn short(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at.checked_add(2)?)?.try_into().ok()?))
}

/// A part of the table stream, by the place in the header that says where it is.
fn section<'a>(document: &[u8], table: &'a [u8], at: usize) -> Option<&'a [u8]> {
    let from = number(document, at)?;
    table.get(from..from.checked_add(number(document, at + 4)?)?)
}

/// The names of the fonts by number.
fn fonts(document: &[u8], table: &[u8]) -> Option<Vec<String>> {
    let mut rest = section(document, table, 0x112)?.get(4..)?;
    let mut names = Vec::new();
    while let Some((length, after)) = rest.split_first() {
        let Some(font) = after.get(..usize::from(*length)) else { break };
        let units: Vec<u16> =
            font.get(39..).unwrap_or_default().as_chunks::<2>().0.iter().map(|two| u16::from_le_bytes(*two)).collect();
        names.push(String::from_utf16_lossy(units.split(|unit| *unit == 0).next().unwrap_or_default()));
        rest = after.get(usize::from(*length)..)?;
    }
    Some(names)
}

/// The symbols: their places in the file, the numbers of their fonts, and their codes.
fn symbols(document: &[u8], table: &[u8]) -> Option<Vec<(usize, usize, u32)>> {
    let pages = section(document, table, 0xfa)?;
    let count = pages.len().checked_sub(4)? / 8;
    let mut found = Vec::new();
    for at in 0..count {
        let Some(page) =
            number(pages, (count + 1) * 4 + at * 4).and_then(|page| document.get(page.checked_mul(512)?..)?.get(..512))
        else {
            continue;
        };
        let runs = usize::from(page.last().copied().unwrap_or_default());
        for run in 0..runs {
            let (Some(place), Some(offset)) = (number(page, run * 4), page.get((runs + 1) * 4 + run)) else { continue };
            let offset = usize::from(*offset) * 2;
            let properties =
                page.get(offset).and_then(|length| page.get(offset + 1..offset + 1 + usize::from(*length)));
            if let Some((font, code)) = properties.filter(|_| offset > 0).and_then(symbol_of) {
                found.push((place, font, code));
            }
        }
    }
    Some(found)
}

/// The symbol that the properties of a run set.
fn symbol_of(mut properties: &[u8]) -> Option<(usize, u32)> {
    loop {
        let code = short(properties, 0)?;
        if code == SYMBOL {
            return Some((usize::from(short(properties, 2)?), u32::from(short(properties, 4)?)));
        }
        let length = match code >> 13 {
            0 | 1 => 1,
            2 | 4 | 5 => 2,
            3 => 4,
            7 => 3,
            _ => 1 + usize::from(*properties.get(2)?),
        };
        properties = properties.get(2 + length..)?;
    }
}

/// The parts with a text, each with its name: `comments`.
#[must_use]
pub fn parts(bytes: &[u8]) -> Vec<(&'static str, String)> {
    read(bytes).unwrap_or_default()
}

fn number(bytes: &[u8], at: usize) -> Option<usize> {
    let four = bytes.get(at..at.checked_add(4)?)?.try_into().ok()?;
    usize::try_from(u32::from_le_bytes(four)).ok()
}

fn read(bytes: &[u8]) -> Option<Vec<(&'static str, String)>> {
    let mut file = cfb::CompoundFile::open(Cursor::new(bytes)).ok()?;
    let document = stream(&mut file, "WordDocument")?;
    let table = stream(&mut file, table_of(&document)?)?;
    // The lengths of the parts, in the order in which they follow each other.
    let lengths = [0x4c, 0x50, 0x54, 0x58, 0x5c, 0x60, 0x64, 0x68].map(|at| number(&document, at).unwrap_or_default());
    let mut pieces = section(&document, &table, 0x1a2)?;
    while let [1, low, high, ..] = pieces {
        pieces = pieces.get(3 + usize::from(u16::from_le_bytes([*low, *high]))..)?;
    }
    let pieces = pieces.strip_prefix(&[2])?.get(4..)?;
    let count = pieces.len().checked_sub(4)? / 12;
    let mut found = Vec::new();
    for (name, part) in [("headers and footers", 2), ("comments", 4), ("text boxes", 6), ("text boxes of headers", 7)] {
        let start = lengths.iter().take(part).fold(0_usize, |sum, length| sum.saturating_add(*length));
        let end = start.saturating_add(*lengths.get(part)?.min(&MAX_CHARS));
        let mut units = Vec::new();
        for piece in 0..count {
            let (first, after) = (number(pieces, piece * 4)?, number(pieces, piece * 4 + 4)?);
            let (low, high) = (first.max(start), after.min(end));
            if low >= high {
                continue;
            }
            let at = number(pieces, (count + 1) * 4 + piece * 8 + 2)?;
            let compressed = at & 0x4000_0000 != 0;
            let at = at & 0x3fff_ffff;
            if compressed {
                let bytes = document.get(at / 2 + low - first..at / 2 + high - first)?;
                units.extend(encoding_rs::WINDOWS_1252.decode_without_bom_handling(bytes).0.encode_utf16());
            } else {
                let bytes = document.get(at + 2 * (low - first)..at + 2 * (high - first))?;
                units.extend(bytes.as_chunks::<2>().0.iter().map(|two| u16::from_le_bytes(*two)));
            }
        }
        let text = lines(&String::from_utf16_lossy(&units));
        if text.chars().any(char::is_alphanumeric) {
            found.push((name, text));
        }
    }
    Some(found)
}

/// The lines of a part, each once, without the instructions of fields.
fn lines(text: &str) -> String {
    let mut shown = String::new();
    let mut instructions = 0_usize;
    for one in text.chars() {
        match one {
            '\u{13}' => instructions += 1,
            '\u{14}' | '\u{15}' => instructions = instructions.saturating_sub(1),
            _ if instructions > 0 => {}
            '\r' | '\u{b}' | '\u{c}' => shown.push('\n'),
            '\u{7}' => shown.push_str(" | "),
            '\u{1e}' => shown.push('-'),
            one if one.is_control() && one != '\t' => {}
            one => shown.push(one),
        }
    }
    let mut known: Vec<&str> = Vec::new();
    for line in shown.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if !known.contains(&line) {
            known.push(line);
        }
    }
    known.join("\n")
}
