//! Formats numbers and times for people.

/// `18204` -> `18,204`.
#[must_use]
pub fn thousands(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `38 ms`, `1.2 s`, `2 min 05 s`.
#[must_use]
pub fn duration(ms: u64) -> String {
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..60_000 => format!("{}.{} s", ms / 1_000, ms % 1_000 / 100),
        _ => format!("{} min {:02} s", ms / 60_000, ms % 60_000 / 1_000),
    }
}

/// `00:21`, `1:02:03`: a running clock.
#[must_use]
pub fn clock(ms: u64) -> String {
    let seconds = ms / 1_000;
    let (hours, minutes, seconds) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    if hours > 0 { format!("{hours}:{minutes:02}:{seconds:02}") } else { format!("{minutes:02}:{seconds:02}") }
}

/// `00:21.350`: a moment in a run.
#[must_use]
pub fn clock_exact(ms: u64) -> String {
    format!("{}.{:03}", clock(ms), ms % 1_000)
}

/// `$1.25`, `$0.0042`: US dollars, small amounts to a hundredth of a cent.
#[must_use]
pub fn dollars(amount: f64) -> String {
    if amount > 0.0 && amount < 0.00005 {
        "under $0.0001".to_owned()
    } else if amount > 0.0 && amount < 0.1 {
        format!("${amount:.4}")
    } else {
        format!("${amount:.2}")
    }
}

/// The remaining time of a wait: `0.8 s`, `12 s`.
#[must_use]
pub fn countdown(ms: u64) -> String {
    if ms < 10_000 { format!("{}.{} s", ms / 1_000, ms % 1_000 / 100) } else { format!("{} s", ms.div_ceil(1_000)) }
}

/// `612 B`, `4.2 KB`, `1.3 MB`.
#[must_use]
pub fn bytes(size: u64) -> String {
    let tenths = |unit: u64| (size * 10 + unit / 2) / unit;
    match size {
        0..1_024 => format!("{size} B"),
        1_024..1_048_576 => format!("{}.{} KB", tenths(1_024) / 10, tenths(1_024) % 10),
        1_048_576..1_073_741_824 => format!("{}.{} MB", tenths(1_048_576) / 10, tenths(1_048_576) % 10),
        _ => format!("{}.{} GB", tenths(1_073_741_824) / 10, tenths(1_073_741_824) % 10),
    }
}

/// `1 turn`, `4 turns`.
#[must_use]
pub fn counted(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{} {noun}s", thousands(count)) }
}

/// Returns the text as one line of at most `max` characters, with an ellipsis if it was truncated.
#[must_use]
pub fn one_line(text: &str, max: usize) -> String {
    let mut line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((cut, _)) = line.char_indices().nth(max) {
        line.truncate(cut);
        line.truncate(line.trim_end().len());
        line.push('…');
    }
    line
}

/// Splits a text into pieces of at most `most` bytes, which together are the text: after a line end if there is one in the second
/// half of a piece, otherwise after any letter.
pub fn pieces(text: &str, most: usize) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let piece = rest.get(..rest.floor_char_boundary(most)).filter(|piece| piece.len() < rest.len());
        let line = piece.and_then(|piece| piece.rfind('\n')).map(|at| at + 1).filter(|end| *end > most / 2);
        // A letter is never longer than a piece: the rest follows whole.
        let end = line.or(piece.map(str::len)).filter(|end| *end > 0).unwrap_or(rest.len());
        let (piece, after) = rest.split_at(end);
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}

/// `running 3 tools` -> `Running 3 tools`.
#[must_use]
pub fn sentence_case(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
