//! Characters that a person cannot see, or that change the order in which others are shown: a text that has them reads
//! differently from what it is (tool-calls.md#permissions).

use std::borrow::Cow;

/// The text with each such character written as `[U+202E]`. Line breaks and tabs stay.
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    let plain = |byte: u8| (b' '..=b'~').contains(&byte) || byte == b'\n' || byte == b'\t';
    if text.bytes().all(plain) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::new();
    let mut from = 0;
    for (at, found) in hidden(text).filter(|(_, found)| !matches!(found, '\n' | '\t')) {
        shown.push_str(text.get(from..at).unwrap_or_default());
        shown.push_str(&format!("[{}]", code_point(found)));
        from = at + found.len_utf8();
    }
    if from == 0 {
        return Cow::Borrowed(text);
    }
    shown.push_str(text.get(from..).unwrap_or_default());
    Cow::Owned(shown)
}

/// The first such character of a name, where a line break and a tab count too.
#[must_use]
pub fn hidden_in(name: &str) -> Option<char> {
    hidden(name).map(|(_, found)| found).next()
}

/// `U+202E`
#[must_use]
pub fn code_point(character: char) -> String {
    format!("U+{:04X}", u32::from(character))
}

/// Whether a character is shown as nothing, or orders others, wherever it is: controls, line and paragraph separators, and
/// what Unicode calls default-ignorable.
#[must_use]
pub fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// The hidden characters of a text with their places, without those that spelling needs where they are.
fn hidden(text: &str) -> impl Iterator<Item = (usize, char)> {
    let mut before = None;
    let mut rest = text.char_indices().peekable();
    std::iter::from_fn(move || {
        loop {
            let (at, character) = rest.next()?;
            let last = before.replace(character);
            let next = rest.peek().map(|(_, next)| *next);
            if is_hidden(character) && !is_spelling(last, character, next) {
                return Some((at, character));
            }
        }
    })
}

/// Whether a joiner is between two letters that it keeps apart or joins, as in Persian, the scripts of India and emoji, or
/// whether a variation selector says that the character before it is a picture, or is not.
fn is_spelling(before: Option<char>, character: char, after: Option<char>) -> bool {
    // From Arabic to the last script before the punctuation of all scripts.
    let script =
        |side: Option<char>| side.is_some_and(|side| ('\u{600}'..'\u{2000}').contains(&side) && !is_hidden(side));
    let picture = |side: Option<char>| {
        let found = |side| matches!(side, '\u{2190}'..='\u{2bff}' | '\u{1f000}'..='\u{1faff}');
        side.is_some_and(found)
    };
    let both = |is: &dyn Fn(Option<char>) -> bool| is(before) && is(after);
    match character {
        '\u{200c}' => both(&script),
        '\u{200d}' => both(&script) || (picture(before) || before == Some('\u{fe0f}')) && picture(after),
        '\u{fe0e}' | '\u{fe0f}' => {
            let signs = "#*0123456789\u{a9}\u{ae}\u{203c}\u{2049}\u{2122}\u{2139}\u{3030}\u{303d}\u{3297}\u{3299}";
            picture(before) || before.is_some_and(|before| signs.contains(before))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_is_written_out() {
        for (text, shown) in [
            ("plain\ttext\n", "plain\ttext\n"),
            ("x\u{202e}exe.txt", "x[U+202E]exe.txt"),
            ("a\u{200b}b\u{feff}", "a[U+200B]b[U+FEFF]"),
            ("a\rb\u{1b}[2K", "a[U+000D]b[U+001B][2K"),
            ("\u{2066}# admin\u{2069} \u{2028}", "[U+2066]# admin[U+2069] [U+2028]"),
            ("tags\u{e0041}", "tags[U+E0041]"),
            ("größe, 大きい, עברית", "größe, 大きい, עברית"),
        ] {
            assert_eq!(visible(text), shown);
        }
        let directions =
            ('\u{202a}'..='\u{202e}').chain('\u{2066}'..='\u{2069}').chain("\u{200e}\u{200f}\u{61c}".chars());
        for mark in directions.chain("\u{200b}\u{200c}\u{200d}\u{2060}\u{feff}\0\n\r\t\u{7f}\u{85}".chars()) {
            assert_eq!(hidden_in(&format!("ab{mark}cd.md")), Some(mark), "{}", code_point(mark));
        }
    }

    #[test]
    fn what_spelling_needs_stays() {
        for name in [
            "می\u{200c}خواهم.md",
            "क\u{94d}\u{200d}ष.md",
            "👩\u{200d}💻.md",
            "❤\u{fe0f}\u{200d}🔥.md",
            "1\u{fe0f}\u{20e3}.md",
        ] {
            assert_eq!((hidden_in(name), &*visible(name)), (None, name));
        }
        for name in ["\u{200c}می.md", "a\u{200d}b.md", "👩\u{200d}a", "a\u{fe0f}.md", "می\u{200c}\u{200c}خ"] {
            assert!(hidden_in(name).is_some(), "{}", visible(name));
        }
    }
}
