//! `diff_files`: a unified diff of two text files, or of the texts of two documents.
//!
//! The work is bounded without a clock, so that the same files always give the same diff: lines that occur once in both
//! files divide them into sections, and a section that would cost too much to compare is shown as replaced as a whole.

use std::collections::HashMap;
use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices, group_diff_ops};

use super::path::normalize;
use super::read::{found, refuse};
use turnwise_files::{FileContent, Files, NoText, read_content, size_text};

/// Maximum size of a text file that is compared, in bytes.
const MAX_COMPARED: u64 = 16 << 20;
/// Number of equal lines that are shown around a change.
const CONTEXT: usize = 3;
/// Maximum number of characters of a diff; below the engine's limit, so that this tool says what is missing.
const MAX_CHARS: usize = 18_000;
/// Maximum number of characters that are shown of one line.
const MAX_LINE: usize = 1_000;
/// Maximum cost of all sections together: comparing n lines with m costs at most (n + m)² steps.
const MAX_COST: usize = 100_000_000;

/// The differences from `a` to `b`.
///
/// # Errors
/// An invalid path, no such file (with near matches), or no text.
pub async fn diff_files<F: Files>(files: &F, a: &str, b: &str) -> Result<String, String> {
    let (a, old) = side(files, a).await?;
    let (b, new) = side(files, b).await?;
    let (old, new) = match (old, new) {
        (DiffSide::Text(old), DiffSide::Text(new)) => (old, new),
        (DiffSide::Bytes { bytes: old, .. }, DiffSide::Bytes { bytes: new, .. }) if old == new => {
            return Ok(format!("{a} and {b} are equal, byte by byte."));
        }
        (DiffSide::Bytes { bytes: old, .. }, DiffSide::Bytes { bytes: new, .. }) => {
            let (old, new) = (size_text(old.len() as u64), size_text(new.len() as u64));
            return Err(format!("{a} ({old}) and {b} ({new}) are binary files and differ; only text can be compared"));
        }
        (DiffSide::Bytes { refused, .. }, _) | (_, DiffSide::Bytes { refused, .. }) => return Err(refused),
    };
    if old.text == new.text {
        let same = format!("{a} and {b} are equal");
        return Ok(match (&old.note, &new.note) {
            (old, new) if old == new => format!("{same}."),
            // The texts are equal, and the bytes are not.
            (old, new) => {
                let note = |note: &Option<String>| note.clone().unwrap_or_else(|| "in UTF-8".to_owned());
                format!("{same} as texts: {a} is {}, {b} is {}.", note(old), note(new))
            }
        });
    }
    let notes: String = [(&a, &old.note), (&b, &new.note)]
        .into_iter()
        .filter_map(|(path, note)| Some(format!("[{path}: text {}]\n", note.as_ref()?)))
        .collect();
    let (old, new) = (old.text, new.text);
    if old.replace("\r\n", "\n") == new.replace("\r\n", "\n") {
        let ends = format!("{a} and {b} differ in line ends only: {a} has {}, {b} has {}.", ends(&old), ends(&new));
        return Ok(format!("{notes}{ends}"));
    }
    Ok(format!("{notes}{}", unified(&a, &b, &old, &new)))
}

enum DiffSide {
    Text(ComparedText),
    /// Not text, and the sentence that says so.
    Bytes {
        bytes: Vec<u8>,
        refused: String,
    },
}

struct ComparedText {
    text: String,
    note: Option<String>,
}

async fn side<F: Files>(files: &F, path: &str) -> Result<(String, DiffSide), String> {
    let path = normalize(path).map_err(|error| error.to_string())?;
    let info = found(files, &path).await?.info;
    match read_content(files, &path, info, MAX_COMPARED).await? {
        FileContent::Text { text, note } => Ok((path, DiffSide::Text(ComparedText { text, note }))),
        FileContent::Document(document) => {
            Ok((path, DiffSide::Text(ComparedText { text: document.text.clone(), note: None })))
        }
        FileContent::Silent(reason) => Err(format!("{path} has no text that can be compared: {reason}")),
        FileContent::None(reason @ NoText::Binary(_)) => {
            let bytes = files.read(&path).await?;
            let refused = refuse(&path, info, &reason);
            Ok((path, DiffSide::Bytes { bytes, refused }))
        }
        FileContent::None(reason) => Err(refuse(&path, info, &reason)),
    }
}

fn ends(text: &str) -> &'static str {
    match (text.contains("\r\n"), text.replace("\r\n", "").contains('\n')) {
        (true, true) => "CRLF and LF",
        (true, false) => "CRLF",
        (false, _) => "LF",
    }
}

/// The hunks of a unified diff, each with its header, and whether parts that differ too much are shown as replaced. `most`: how many
/// characters of a line are shown.
pub(super) fn hunks(old: &str, new: &str, most: usize) -> (Vec<Vec<String>>, bool) {
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let new: Vec<&str> = new.split_inclusive('\n').collect();
    let (ops, coarse) = operations(&old, &new);
    (group_diff_ops(ops, CONTEXT).iter().map(|ops| hunk(ops, &old, &new, most)).collect(), coarse)
}

/// The unified diff of two texts that differ.
fn unified(a: &str, b: &str, old: &str, new: &str) -> String {
    let (hunks, coarse) = hunks(old, new, MAX_LINE);
    let (mut removed, mut added) = (0, 0);
    for line in hunks.iter().flat_map(|hunk| hunk.iter().skip(1)) {
        removed += usize::from(line.starts_with('-'));
        added += usize::from(line.starts_with('+'));
    }
    let mut text = format!("--- {a}\n+++ {b}\n");
    let (mut shown, total) = (0, hunks.iter().map(Vec::len).sum::<usize>());
    for line in hunks.iter().flatten() {
        if text.len() + line.len() > MAX_CHARS {
            break;
        }
        text.push_str(line);
        text.push('\n');
        shown += 1;
    }
    text.push_str(&format!("[{added} lines added, {removed} removed"));
    if shown < total {
        text.push_str(&format!("; the diff is cut after {shown} of its {total} lines, read the files for the rest"));
    }
    if coarse {
        text.push_str("; some long parts differ too much to be matched line by line and are shown as replaced");
    }
    text.push(']');
    text
}

/// One hunk: its header, then its lines.
fn hunk(ops: &[DiffOp], old: &[&str], new: &[&str], most: usize) -> Vec<String> {
    let range = |ranges: &mut dyn Iterator<Item = Range<usize>>| {
        let (mut start, mut end) = (usize::MAX, 0);
        for range in ranges {
            (start, end) = (start.min(range.start), end.max(range.end));
        }
        match end - start.min(end) {
            1 => format!("{}", start + 1),
            0 => format!("{start},0"),
            len => format!("{},{len}", start + 1),
        }
    };
    let header = format!(
        "@@ -{} +{} @@",
        range(&mut ops.iter().map(DiffOp::old_range)),
        range(&mut ops.iter().map(DiffOp::new_range))
    );
    let mut lines = vec![header];
    for op in ops {
        let (tag, from, to) = op.as_tag_tuple();
        if tag == similar::DiffTag::Equal {
            lines.extend(old.get(from).unwrap_or_default().iter().map(|text| line(' ', text, most)));
        } else {
            lines.extend(old.get(from).unwrap_or_default().iter().map(|text| line('-', text, most)));
            lines.extend(new.get(to).unwrap_or_default().iter().map(|text| line('+', text, most)));
        }
    }
    lines
}

fn line(sign: char, text: &str, most: usize) -> String {
    let (body, end) = match text.strip_suffix('\n') {
        Some(body) => (body, ""),
        None => (text, "\n\\ No newline at end of file"),
    };
    match body.char_indices().nth(most) {
        Some((at, _)) => {
            format!("{sign}{}… [line of {} characters]{end}", body.get(..at).unwrap_or_default(), body.chars().count())
        }
        None => format!("{sign}{body}{end}"),
    }
}

/// The operations that make `new` of `old`, and whether a section was too costly to compare.
fn operations(old: &[&str], new: &[&str]) -> (Vec<DiffOp>, bool) {
    let mut ops = Ops::default();
    let (mut cost, mut coarse) = (0_usize, false);
    let (mut at_old, mut at_new) = (0, 0);
    let mut anchors = anchors(old, new);
    anchors.push((old.len(), new.len()));
    for (to_old, to_new) in anchors {
        let (gap_old, gap_new) = (at_old..to_old, at_new..to_new);
        let size = gap_old.len() + gap_new.len();
        let price = size.saturating_mul(size);
        if gap_old.is_empty() || gap_new.is_empty() {
            ops.replace(&gap_old, &gap_new);
        } else if price > MAX_COST - cost {
            coarse = true;
            ops.replace(&gap_old, &gap_new);
        } else {
            cost += price;
            let (part_old, part_new) = (old.get(gap_old), new.get(gap_new));
            for op in capture_diff_slices(Algorithm::Myers, part_old.unwrap_or_default(), part_new.unwrap_or_default())
            {
                let (tag, from, to) = op.as_tag_tuple();
                let (from, to) = (at_old + from.start..at_old + from.end, at_new + to.start..at_new + to.end);
                if tag == similar::DiffTag::Equal {
                    ops.equal(from.start, to.start, from.len());
                } else {
                    ops.replace(&from, &to);
                }
            }
        }
        if to_old < old.len() && to_new < new.len() {
            ops.equal(to_old, to_new, 1);
        }
        (at_old, at_new) = (to_old + 1, to_new + 1);
    }
    (ops.0, coarse)
}

/// Operations with neighbours of one kind joined.
#[derive(Default)]
struct Ops(Vec<DiffOp>);

impl Ops {
    fn equal(&mut self, old_index: usize, new_index: usize, more: usize) {
        match self.0.last_mut() {
            Some(DiffOp::Equal { len, .. }) => *len += more,
            _ => self.0.push(DiffOp::Equal { old_index, new_index, len: more }),
        }
    }

    fn replace(&mut self, old: &Range<usize>, new: &Range<usize>) {
        if old.is_empty() && new.is_empty() {
            return;
        }
        let (mut from, mut to) = (old.clone(), new.clone());
        if let Some(last) = self.0.pop_if(|last| !matches!(last, DiffOp::Equal { .. })) {
            from.start = last.old_range().start;
            to.start = last.new_range().start;
        }
        let (old_index, old_len, new_index, new_len) = (from.start, from.len(), to.start, to.len());
        self.0.push(match (old_len, new_len) {
            (_, 0) => DiffOp::Delete { old_index, old_len, new_index },
            (0, _) => DiffOp::Insert { old_index, new_index, new_len },
            _ => DiffOp::Replace { old_index, old_len, new_index, new_len },
        });
    }
}

/// Pairs of equal lines, in order: the common start and end, and between them lines that occur once in both.
fn anchors(old: &[&str], new: &[&str]) -> Vec<(usize, usize)> {
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let most = old.len().min(new.len()) - head;
    let tail = old.iter().rev().zip(new.iter().rev()).take(most).take_while(|(a, b)| a == b).count();
    let mut pairs: Vec<(usize, usize)> = (0..head).map(|at| (at, at)).collect();
    let (end_old, end_new) = (old.len() - tail, new.len() - tail);

    // For each line: where it is in both, if it occurs once.
    let mut seen: HashMap<&str, (Option<usize>, Option<usize>, bool)> = HashMap::new();
    for (at, text) in old.iter().enumerate().take(end_old).skip(head) {
        let entry = seen.entry(text).or_default();
        entry.2 |= entry.0.replace(at).is_some();
    }
    for (at, text) in new.iter().enumerate().take(end_new).skip(head) {
        let entry = seen.entry(text).or_default();
        entry.2 |= entry.1.replace(at).is_some();
    }
    let mut unique: Vec<(usize, usize)> =
        seen.into_values().filter_map(|(old, new, twice)| if twice { None } else { old.zip(new) }).collect();
    unique.sort_unstable();
    pairs.extend(increasing(&unique));
    pairs.extend((0..tail).map(|at| (end_old + at, end_new + at)));
    pairs
}

/// The longest subsequence whose second numbers increase; the first ones increase already.
fn increasing(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    let mut ends: Vec<usize> = Vec::new(); // by length - 1: the pair that ends a sequence of that length, with the least number
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    let second = |at: usize| pairs.get(at).map_or(0, |pair| pair.1);
    for (at, pair) in pairs.iter().enumerate() {
        let length = ends.partition_point(|end| second(*end) < pair.1);
        before.push(length.checked_sub(1).and_then(|shorter| ends.get(shorter).copied()));
        match ends.get_mut(length) {
            Some(end) => *end = at,
            None => ends.push(at),
        }
    }
    let mut chosen = Vec::with_capacity(ends.len());
    let mut next = ends.last().copied();
    while let Some(at) = next {
        chosen.extend(pairs.get(at).copied());
        next = before.get(at).copied().flatten();
    }
    chosen.reverse();
    chosen
}
