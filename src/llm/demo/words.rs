//! Words: which words of a task are significant, and when two are the same.

use super::units;

/// Maximum number of words searched for.
const MOST: usize = 7;

/// Words that do not describe what is searched for.
const STOP: &str = " a about above add after again all also am an and answer any anything are as ask at be because been \
    before being between both but by calculate can cannot compare compute concerning content contents could describe did do document \
    documents does doing done each every everything explain few file files find first folder for from further get gets \
    give had happen happens has have having here how i if in into is it its just know last let list long look looking \
    make many may me mean means might more most much must my name named need needed needs no not note notes now of off \
    on once one only or other our out over own page pages percent please quote read reach reaches say says search see \
    shall she should show save so some something stand store state such summarise summarize summary take takes tell text than that \
    the their them then there these they thing things this those through to today too under until up use used uses using \
    very want was we were what whats when where whether which while who whom whose why will with within word words work \
    workspace would write you your ";

/// The significant words of a text, in order, in lower case.
pub(super) fn keywords(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for word in words(text) {
        let letters = word.chars().any(char::is_alphabetic);
        let telling = letters && (word.chars().count() > 2 || word.chars().any(|c| c.is_ascii_digit()));
        if telling && !is_stop(&word) && !units::is_unit(&word) && !found.iter().any(|other| same(other, &word)) {
            found.push(word);
        }
    }
    found.truncate(MOST);
    found
}

/// All words in lower case; `max_turns` is one word, `it's` is `it`.
pub(super) fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '\'' && c != '’')
        .filter_map(|word| word.split(['\'', '’']).find(|part| !part.is_empty()))
        .map(str::to_lowercase)
}

pub(super) fn is_stop(word: &str) -> bool {
    STOP.split(' ').any(|stop| stop == word)
}

/// The same word in another form: `retry` and `retries`, `cache` and `caching`.
pub(super) fn same(one: &str, other: &str) -> bool {
    if one == other {
        return true;
    }
    let (short, long) = (one.len().min(other.len()), one.len().max(other.len()));
    let common = one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    common >= 4 && common + 1 >= short && long - short <= 3
}

/// `1 file`, `2 files`.
pub(super) fn count(n: usize, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}

/// `a`, `a and b`, `a, b and c`, each in code font; a long list ends with the number of further names.
pub(super) fn code_list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    const MOST: usize = 6;
    let mut names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    if let Some(more) = names.len().checked_sub(MOST).filter(|more| *more > 0) {
        names.truncate(MOST);
        names.push(format!("{more} more"));
    }
    match names.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, head)) => format!("{} and {last}", head.join(", ")),
        None => String::new(),
    }
}
