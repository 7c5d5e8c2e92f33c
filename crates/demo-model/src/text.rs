//! Words: which words of a task say what it is about, and when two are the same.

use super::calculations::is_unit;

/// Maximum number of keywords of a text.
const MAX_KEYWORDS: usize = 7;

/// Words that do not describe what is searched for.
const STOP_WORDS: &str = " a about above add after again all also am an and answer any anything are as ask at be because been \
    before being between both but by calculate can cannot compare compute concerning content contents could describe did do document \
    documents does doing done each every everything explain few file files find first folder for from further get gets \
    give had happen happens has have having here how i if in into is it its just know last let list long look looking \
    make many may me mean means might more most much must my name named need needed needs no not note notes now of off \
    on once one only or other our out over own page pages percent please quote read reach reaches say says search see \
    shall she should show save so some something stand state store such summarise summarize summary take takes tell text than that \
    the their them then there these they thing things this those through to today too under until up use used uses using \
    very want was we were what whats when where whether which while who whom whose why will with within word words work \
    workspace would write you your ";

/// The words of a text that say what it is about, in order, in lower case.
pub(super) fn keywords(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for word in words(text) {
        let is_long = word.chars().count() > 2 || word.contains(|c: char| c.is_ascii_digit());
        let is_specific = is_long && word.contains(char::is_alphabetic) && !is_stop_word(&word) && !is_unit(&word);
        if is_specific && !found.iter().any(|other| is_same(other, &word)) {
            found.push(word);
        }
    }
    found.truncate(MAX_KEYWORDS);
    found
}

/// All words in lower case; `max_turns` is one word, `it's` is `it`.
pub(super) fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '\'' && c != '’')
        .filter_map(|word| word.split(['\'', '’']).find(|part| !part.is_empty()))
        .map(str::to_lowercase)
}

pub(super) fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.split(' ').any(|stop| stop == word)
}

/// Whether two words are forms of one: `retry` and `retries`, `cache` and `caching`.
pub(super) fn is_same(one: &str, other: &str) -> bool {
    let (short, long) = (one.len().min(other.len()), one.len().max(other.len()));
    let common = one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    one == other || (common >= 4 && common + 1 >= short && long - short <= 3)
}

/// `1 file`, `2 files`.
pub(super) fn count(n: usize, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}

/// The same items in their order, each only once.
pub(super) fn unique<'a>(items: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let mut unique = Vec::new();
    for item in items {
        if !unique.contains(&item) {
            unique.push(item);
        }
    }
    unique
}

/// The different names, each in code font.
pub(super) fn code_list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    unique(names).iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
