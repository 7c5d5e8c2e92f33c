//! The extras of XLS: records of its stream ([MS-XLS]).

use std::collections::BTreeMap;
use std::io::{Cursor, Read};

use super::{Extras, SheetExtras, header_text, range};
use crate::limits::MAX_UNPACKED;

struct BiffRecord<'a> {
    kind: u16,
    data: &'a [u8],
}

fn records(bytes: &[u8]) -> impl Iterator<Item = BiffRecord<'_>> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let kind = u16_at(rest, 0)?;
        let end = 4 + usize::from(u16_at(rest, 2)?);
        let data = rest.get(4..end)?;
        rest = rest.get(end..)?;
        Some(BiffRecord { kind, data })
    })
}

fn u16_at(data: &[u8], at: usize) -> Option<u16> {
    data.get(at..at + 2)?.try_into().ok().map(u16::from_le_bytes)
}

fn u32_at(data: &[u8], at: usize) -> Option<u32> {
    data.get(at..at + 4)?.try_into().ok().map(u32::from_le_bytes)
}

fn number(data: &[u8], at: usize) -> Option<u32> {
    u16_at(data, at).map(u32::from)
}

/// Characters of one or two bytes, as their first byte says.
fn characters(data: &[u8], count: usize) -> Option<String> {
    let (flags, text) = data.split_first()?;
    if flags & 1 == 0 {
        return Some(text.get(..count)?.iter().map(|byte| char::from(*byte)).collect());
    }
    let units: Vec<u16> = text.chunks_exact(2).take(count).filter_map(|pair| u16_at(pair, 0)).collect();
    Some(String::from_utf16_lossy(&units))
}

/// A text whose length is a number of two bytes before it.
fn long_text(data: &[u8]) -> Option<String> {
    characters(data.get(2..)?, usize::from(u16_at(data, 0)?))
}

/// A text whose length is one byte before it.
fn short_text(data: &[u8]) -> Option<String> {
    characters(data.get(1..)?, usize::from(*data.first()?))
}

pub fn extras(bytes: &[u8]) -> Option<Extras> {
    let mut file = cfb::CompoundFile::open(Cursor::new(bytes)).ok()?;
    let stream = ["/Workbook", "/Book"].into_iter().find(|path| file.exists(path))?;
    let mut book = Vec::new();
    file.open_stream(stream).ok()?.take(MAX_UNPACKED).read_to_end(&mut book).ok()?;
    let mut extras = Extras::default();
    // Before version 8 texts have another form.
    if u16_at(&book, 4)? != 0x600 {
        extras.notes.push("it is of Excel 95 or older: its comments, pictures and hidden rows are not read".to_owned());
        return Some(extras);
    }
    const SHEET: u16 = 0x85;
    const END: u16 = 0x0a;
    // Without the number of the program that calculated it, a workbook is calculated when it is opened.
    const CALCULATED: u16 = 0x1c1;
    let calculated = records(&book).take_while(|record| record.kind != END).any(|record| record.kind == CALCULATED);
    let mut zeros = 0;
    for record in records(&book).take_while(|record| record.kind != END) {
        if record.kind == SHEET
            && let (Some(start), Some(name)) = (u32_at(record.data, 0), record.data.get(6..).and_then(short_text))
            && let Some(part) = book.get(start as usize..)
        {
            extras.sheets.insert(name, sheet(part, calculated, &mut zeros));
        }
    }
    if zeros > 0 {
        extras.notes.push(format!(
            "formulas with the value 0 that are calculated when it is opened: {zeros}; these values may be wrong"
        ));
    }
    if file.exists("/_VBA_PROJECT_CUR") {
        extras.notes.push("it has macros, which are not read".to_owned());
    }
    Some(extras)
}

/// `calculated`: whether a program has calculated it; `zeros`: counts the formulas that it left to the next one.
fn sheet(bytes: &[u8], calculated: bool, zeros: &mut usize) -> SheetExtras {
    const BEGIN: u16 = 0x809;
    const END: u16 = 0x0a;
    let mut sheet = SheetExtras::default();
    let mut depth = 0;
    let mut object = None;
    let mut texts: BTreeMap<u16, String> = BTreeMap::new();
    let mut boxes: Vec<String> = Vec::new();
    let mut notes: Vec<(u32, u32, u16, String)> = Vec::new();
    let mut chart: Vec<String> = Vec::new();
    let mut wanted: Option<(Option<(u16, u16)>, usize)> = None;
    for BiffRecord { kind, data } in records(bytes) {
        // The text of an object is in the record that continues it.
        if let Some((object, count)) = wanted.take()
            && kind == 0x3c
        {
            let text = characters(data, count).unwrap_or_default();
            match object {
                Some((0x19, id)) => {
                    texts.insert(id, text);
                }
                _ => boxes.push(text),
            }
            continue;
        }
        match kind {
            BEGIN => depth += 1,
            END => {
                depth -= 1;
                if depth == 1 {
                    sheet.line("chart", &std::mem::take(&mut chart).join(", "));
                }
                if depth <= 0 {
                    break;
                }
            }
            0x100d if depth > 1 => chart.extend(data.get(2..).and_then(short_text)),
            _ if depth > 1 => {}
            // A formula that is to be calculated when the workbook is opened: its value is 0 or an empty text.
            0x06 if !calculated || u16_at(data, 14).is_some_and(|flags| flags & 3 != 0) => match data.get(6..14) {
                Some([0, 0, 0, 0, 0, 0, 0, 0]) => *zeros += 1,
                Some([3, .., 0xff, 0xff]) => sheet.uncalculated.extend(number(data, 0).zip(number(data, 2))),
                _ => {}
            },
            0x208 if u16_at(data, 12).is_some_and(|flags| flags & 0x20 != 0) => {
                if let Some(row) = number(data, 0) {
                    sheet.hidden_rows.add(row, row);
                }
            }
            0x7d if u16_at(data, 8).is_some_and(|flags| flags & 1 != 0) => {
                if let (Some(first), Some(last)) = (number(data, 0), number(data, 2)) {
                    sheet.hidden_columns.add(first, last.min(255));
                }
            }
            0x14 => sheet.line("header", &header_text(&long_text(data).unwrap_or_default())),
            0x15 => sheet.line("footer", &header_text(&long_text(data).unwrap_or_default())),
            0xe5 => {
                for cells in data.get(2..).unwrap_or_default().chunks_exact(8) {
                    if let (Some(top), Some(bottom), Some(left), Some(right)) =
                        (number(cells, 0), number(cells, 2), number(cells, 4), number(cells, 6))
                    {
                        sheet.merged.push([top, left, bottom, right]);
                    }
                }
            }
            0x5d => {
                object = u16_at(data, 4).zip(u16_at(data, 6));
                if let Some((0x08, _)) = object {
                    sheet.line("picture", "without a name");
                }
            }
            0x1b6 => wanted = u16_at(data, 10).filter(|count| *count > 0).map(|count| (object, usize::from(count))),
            0x1c => {
                if let (Some(row), Some(column), Some(id)) = (number(data, 0), number(data, 2), u16_at(data, 6)) {
                    let author = data.get(8..).and_then(long_text).unwrap_or_default();
                    notes.push((row, column, id, author));
                }
            }
            0xb0 => {
                if let (Some(top), Some(bottom), Some(left), Some(right)) =
                    (number(data, 0), number(data, 2), number(data, 4), number(data, 6))
                {
                    sheet.line("pivot table", &range([top, left, bottom, right]));
                }
            }
            0x1b8 => link(data, &mut sheet),
            0x1be => {
                list(data, &mut sheet);
            }
            _ => {}
        }
    }
    for (row, column, id, author) in notes {
        let text = texts.remove(&id).unwrap_or_default();
        sheet.comment([row, column], &author, &text);
    }
    for text in boxes {
        sheet.line("text box", &text);
    }
    sheet
}

/// A link to an address; its moniker is that of URLs.
fn link(data: &[u8], sheet: &mut SheetExtras) {
    const URL: [u8; 16] = [0xe0, 0xc9, 0xea, 0x79, 0xf9, 0xba, 0xce, 0x11, 0x8c, 0x82, 0, 0xaa, 0, 0x4b, 0xa9, 0x0b];
    let (Some(row), Some(column)) = (number(data, 0), number(data, 4)) else { return };
    let found = data.windows(URL.len()).position(|window| window == URL);
    let Some(text) = found.and_then(|at| data.get(at + URL.len() + 4..)) else { return };
    let units: Vec<u16> =
        text.chunks_exact(2).filter_map(|pair| u16_at(pair, 0)).take_while(|unit| *unit != 0).collect();
    sheet.line("link", &format!("{}: {}", range([row, column, row, column]), String::from_utf16_lossy(&units)));
}

/// A list of texts to choose from. One of cells is a formula in binary form, and only named.
fn list(data: &[u8], sheet: &mut SheetExtras) -> Option<()> {
    const LIST: u32 = 3;
    if u32_at(data, 0)? & 0xf != LIST {
        return None;
    }
    let mut at = 4;
    for _ in 0..4 {
        let count = usize::from(u16_at(data, at)?);
        let wide = *data.get(at + 2)? & 1 != 0;
        at += 3 + if wide { 2 * count } else { count };
    }
    let size = usize::from(u16_at(data, at)?);
    let formula = data.get(at + 4..at + 4 + size)?;
    let text = match formula.split_first() {
        Some((0x17, text)) => short_text(text)?.split('\0').map(str::trim).collect::<Vec<_>>().join(", "),
        _ => "values of other cells".to_owned(),
    };
    at += 4 + size;
    at += 4 + usize::from(u16_at(data, at)?); // the second formula
    let count = usize::from(u16_at(data, at)?);
    let cells: Vec<String> = data
        .get(at + 2..)?
        .chunks_exact(8)
        .take(count)
        .filter_map(|cells| Some(range([number(cells, 0)?, number(cells, 4)?, number(cells, 2)?, number(cells, 6)?])))
        .collect();
    sheet.line("list", &format!("{}: {text}", cells.join(" ")));
    Some(())
}
