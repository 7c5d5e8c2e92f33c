//! The extras of XLSB: its workbook, sheets and comments are binary records ([MS-XLSB]).

use super::SheetExtras;

/// A record: its type and its data.
fn records(bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let mut next = || {
            let (first, after) = rest.split_first()?;
            rest = after;
            Some(*first)
        };
        let low = next()?;
        let kind =
            if low & 0x80 == 0 { u16::from(low) } else { u16::from(low & 0x7f) | u16::from(next()? & 0x7f) << 7 };
        let mut size = 0_usize;
        for shift in 0..4 {
            let byte = next()?;
            size |= usize::from(byte & 0x7f) << (7 * shift);
            if byte & 0x80 == 0 {
                break;
            }
        }
        let (data, after) = rest.split_at_checked(size)?;
        rest = after;
        Some((kind, data))
    })
}

fn u32_at(data: &[u8], at: usize) -> Option<u32> {
    data.get(at..at + 4)?.try_into().ok().map(u32::from_le_bytes)
}

/// The text at an offset, and the offset behind it.
fn text_at(data: &[u8], at: usize) -> Option<(String, usize)> {
    let end = at + 4 + 2 * usize::try_from(u32_at(data, at)?).ok()?;
    let units: Vec<u16> = data
        .get(at + 4..end)?
        .chunks_exact(2)
        .filter_map(|pair| pair.try_into().ok().map(u16::from_le_bytes))
        .collect();
    Some((String::from_utf16_lossy(&units), end))
}

/// Names of sheets, and the ids of their parts.
pub fn sheets(workbook: &[u8]) -> Vec<(String, String)> {
    const BUNDLE_SHEET: u16 = 156;
    let sheets = records(workbook).filter(|(kind, _)| *kind == BUNDLE_SHEET).filter_map(|(_, data)| {
        let (id, end) = text_at(data, 8)?;
        Some((text_at(data, end)?.0, id))
    });
    sheets.collect()
}

pub fn sheet(bytes: &[u8], sheet: &mut SheetExtras) {
    const ROW: u16 = 0;
    const COLUMN: u16 = 60;
    const MERGED: u16 = 176;
    for (kind, data) in records(bytes) {
        let number = |at| u32_at(data, at);
        match kind {
            ROW if data.get(11).is_some_and(|flags| flags & 0x10 != 0) => {
                if let Some(row) = number(0) {
                    sheet.hidden_rows.add(row, row);
                }
            }
            COLUMN if data.get(16).is_some_and(|flags| flags & 1 != 0) => {
                if let (Some(first), Some(last)) = (number(0), number(4)) {
                    sheet.hidden_columns.add(first, last);
                }
            }
            MERGED => {
                if let (Some(top), Some(bottom), Some(left), Some(right)) =
                    (number(0), number(4), number(8), number(12))
                {
                    sheet.merged.push([top, left, bottom, right]);
                }
            }
            _ => {}
        }
    }
}

pub fn comments(bytes: &[u8], sheet: &mut SheetExtras) {
    const AUTHOR: u16 = 632;
    const BEGIN: u16 = 635;
    const TEXT: u16 = 637;
    let mut authors = Vec::new();
    let mut begun = None;
    for (kind, data) in records(bytes) {
        match kind {
            AUTHOR => authors.push(text_at(data, 0).map(|(name, _)| name).unwrap_or_default()),
            BEGIN => begun = u32_at(data, 0).zip(u32_at(data, 4)).zip(u32_at(data, 12)),
            TEXT => {
                let Some((((author, row), column), (text, _))) = begun.take().zip(text_at(data, 1)) else { continue };
                let author = authors.get(author as usize).map(String::as_str).unwrap_or_default();
                sheet.comment([row, column], author, &text);
            }
            _ => {}
        }
    }
}
