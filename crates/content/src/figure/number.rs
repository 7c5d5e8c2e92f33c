//! Numbers as people read and write them.

use crate::format::thousands;

/// Enough digits for any value, too few for the noise of sums: `0.1 + 0.2` is shown as `0.3`.
const DIGITS: i32 = 12;

/// `1234.5`: a number without noise in its last digits.
pub(super) fn plain(value: f64) -> String {
    let size = value.abs();
    if !value.is_finite() || size >= 1e15 || (size > 0.0 && size < 1e-9) {
        return format!("{value:e}");
    }
    let whole = if size >= 1.0 { size.log10().floor() as i32 + 1 } else { 1 };
    fixed(value, usize::try_from(DIGITS - whole).unwrap_or_default())
}

/// `1,234.5`: the same with separators.
pub(super) fn exact(value: f64) -> String {
    separated(&plain(value))
}

/// Returns the number with at most this many decimals, without zeros at their end.
pub(super) fn fixed(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// Adds separators to the whole part.
pub(super) fn separated(text: &str) -> String {
    let (sign, size) = text.strip_prefix('-').map_or(("", text), |size| ("\u{2212}", size));
    let (whole, rest) = size.find('.').map_or((size, ""), |at| size.split_at(at));
    match whole.parse::<u64>() {
        Ok(whole) => format!("{sign}{}{rest}", thousands(whole)),
        Err(_) => text.to_owned(),
    }
}

/// What people write between groups of three digits.
const SEPARATORS: [char; 5] = [',', ' ', '\u{a0}', '\u{202f}', '_'];

/// Reads a number with separators, a currency sign or a percent sign. `None`: it is something else, such as `12,25`, whose comma
/// may be a decimal comma.
pub(super) fn read(text: &str) -> Option<f64> {
    let text: String = text.chars().filter(|c| !matches!(c, '%' | '$' | '€' | '£' | '¥')).collect();
    let text = text.trim();
    let (sign, size) = match text.strip_prefix(['-', '\u{2212}']) {
        Some(size) => (-1.0, size),
        None => (1.0, text.strip_prefix('+').unwrap_or(text)),
    };
    let size = size.trim_start();
    // `f64` would also parse `inf` and `NaN`, which are words here.
    if !size.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return None;
    }
    let digits = ungrouped(size)?;
    digits.parse::<f64>().ok().map(|value| sign * value).filter(|value| value.is_finite())
}

/// Removes the separators. `None`: one of them is not followed by exactly three digits.
fn ungrouped(text: &str) -> Option<String> {
    let (first, rest) = text.split_once(SEPARATORS).map_or((text, None), |(first, rest)| (first, Some(rest)));
    let Some(rest) = rest else { return Some(first.to_owned()) };
    let digits = |group: &str| group.chars().take_while(char::is_ascii_digit).count();
    let mut groups = rest.split(SEPARATORS).peekable();
    let mut all = first.to_owned();
    let mut fits = first.len() <= 3 && digits(first) == first.len();
    while let Some(group) = groups.next() {
        // Decimals may follow the last group.
        fits &= digits(group) == 3 && (group.len() == 3 || groups.peek().is_none());
        all.push_str(group);
    }
    fits.then_some(all)
}
