//! Finds the sentences of the files read that match the task best.

use super::chat::Chat;
use super::text::{is_same, keywords, words};

/// Maximum number of quotes; longer ones are truncated.
const MAX_QUOTES: usize = 5;
const MAX_CHARS: usize = 320;
/// Quotes with a smaller share of the best score are left out.
const MIN_SHARE: f64 = 0.45;

/// The starts of lines that continue no paragraph.
const OWN_LINES: [&str; 6] = ["#", "- ", "* ", "+ ", "> ", "|"];

/// A sentence and its location.
#[derive(Clone, Debug)]
pub(super) struct Quote<'a> {
    pub path: &'a str,
    pub heading: String,
    pub text: String,
    words: Vec<String>,
}

/// The best matches, best first.
pub(super) fn quotes<'c>(chat: &'c Chat<'_>) -> Vec<Quote<'c>> {
    let wanted = keywords(chat.task);
    let all = sentences(chat);
    let has = |list: &[String], keyword: &str| list.iter().any(|word| is_same(keyword, word));
    // A word that occurs in few sentences says more.
    let weight = |keyword: &String| {
        let occurs = all.iter().filter(|quote| has(&quote.words, keyword)).count();
        1.0 + ((1 + all.len()) as f64 / (1 + occurs) as f64).ln()
    };
    let weights: Vec<f64> = wanted.iter().map(weight).collect();
    let hits = chat.hits();
    let score = |quote: &Quote<'_>| {
        let heading = with_parts(&quote.heading);
        let value = |keyword: &String| match (has(&quote.words, keyword), has(&heading, keyword)) {
            (true, _) => 1.0,
            (false, true) => 0.4,
            (false, false) => 0.0,
        };
        let found: f64 = wanted.iter().zip(&weights).map(|(keyword, weight)| weight * value(keyword)).sum();
        let is_pair = |one: &str, two: &str| {
            quote.words.windows(2).any(|next| matches!(next, [a, b] if is_same(one, a) && is_same(two, b)))
        };
        let pairs = wanted.windows(2).filter(|pair| matches!(pair, [one, two] if is_pair(one, two))).count();
        // The search covers more files than were read.
        let starts = |snippet: &str| quote.text.contains(snippet.get(..40).unwrap_or(snippet));
        let rank = hits.iter().position(|hit| hit.path == quote.path && starts(hit.snippet));
        let length = match quote.words.len() {
            0..4 => 0.5,
            4..25 => 1.0,
            long => 1.0 / (0.6 + 0.016 * long as f64),
        };
        // A file that the task names is the one that it is about.
        let name = quote.path.rsplit('/').next().unwrap_or_default();
        let of_file = if chat.task.contains(name) { 3.0 } else { 0.0 };
        (found + of_file + pairs as f64 + rank.map_or(0.0, |rank| 1.5 / (1 + rank) as f64)) * length
    };
    let mut scored: Vec<(f64, &Quote<'_>)> = Vec::new();
    for quote in all.iter().filter(|quote| wanted.iter().any(|keyword| has(&quote.words, keyword))) {
        if scored.iter().all(|(_, other)| other.text != quote.text) {
            scored.push((score(quote), quote));
        }
    }
    scored.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let least = scored.first().map_or(0.0, |(best, _)| best * MIN_SHARE);
    scored.into_iter().take(MAX_QUOTES).filter(|(score, _)| *score >= least).map(|(_, quote)| quote.clone()).collect()
}

/// All words, and the parts of names: `turn_limit` is about turns too.
fn with_parts(text: &str) -> Vec<String> {
    let mut all: Vec<String> = words(text).collect();
    let names: String = all.iter().filter(|word| word.contains('_')).map(|name| name.replace('_', " ") + " ").collect();
    all.extend(words(&names));
    all
}

/// The text without the addresses of its links, whose words are those of another place.
fn without_addresses(text: &str) -> String {
    let mut parts = text.split("](");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |seen, part| seen + part.split_once(')').map_or("", |(_, after)| after))
}

/// The sentences of every file that was read, and of the snippets that the search quoted from others.
fn sentences<'c>(chat: &'c Chat<'_>) -> Vec<Quote<'c>> {
    // The search quotes HTML as text; the file itself is tags.
    let is_text = |result: &str| !result.trim_start().starts_with('<');
    let read = chat.calls_of("read_file").filter(|call| !call.failed && is_text(call.result));
    let read: Vec<(&str, &str)> = read.map(|call| (call.arg("path"), call.result)).collect();
    let hits = chat.hits().into_iter().map(|hit| (hit.path, hit.snippet.trim_start_matches(['#', ' '])));
    let others: Vec<_> = hits.filter(|(path, _)| read.iter().all(|(other, _)| other != path)).collect();
    read.into_iter().chain(others).flat_map(|(path, text)| split(path, text)).collect()
}

/// Splits a text into sentences, without its code. The lines of a paragraph are joined; list items and table rows are
/// sentences of their own.
fn split<'c>(path: &'c str, text: &str) -> Vec<Quote<'c>> {
    let mut blocks: Vec<String> = Vec::new();
    for line in text.split("```").step_by(2).flat_map(|prose| prose.lines().chain([""])).map(str::trim) {
        let is_own = line.is_empty() || OWN_LINES.iter().any(|mark| line.starts_with(mark));
        match blocks.last_mut().filter(|block| !is_own && !block.starts_with(['#', '|'])) {
            Some(block) if block.is_empty() => block.push_str(line),
            Some(block) => block.extend([" ", line]),
            None => blocks.push(line.to_owned()),
        }
    }
    let (mut quotes, mut heading, mut columns) = (Vec::new(), String::new(), Vec::new());
    for block in blocks {
        if block.starts_with('#') {
            // The docs tools write a section's address behind its heading: `## Policy {#policy}`.
            let text = block.trim_matches(['#', ' ']);
            heading = text.split(" {#").next().unwrap_or(text).to_owned();
        }
        let content = match block.starts_with('|') {
            true => table_row(&block, &mut columns),
            false => {
                columns.clear();
                OWN_LINES.iter().fold(block.as_str(), |text, mark| text.trim_start_matches(mark)).trim().to_owned()
            }
        };
        // Notes of the tool are in brackets.
        let is_left_out = block.starts_with('#') || (block.starts_with('[') && block.ends_with(']'));
        let mut rest = if is_left_out { "" } else { content.as_str() };
        while rest.contains(char::is_alphanumeric) {
            let (sentence, tail) = rest.split_at(sentence_end(rest));
            let cut = sentence.char_indices().nth(MAX_CHARS).and_then(|(end, _)| sentence.get(..end));
            let text = cut.map_or_else(|| sentence.to_owned(), |cut| format!("{cut}…"));
            quotes.push(Quote { path, heading: heading.clone(), words: with_parts(&without_addresses(&text)), text });
            rest = tail.trim_start();
        }
    }
    quotes
}

/// A row of a table as a sentence: `For Halden Cargo, the share is 8 % and the price is 8,600 euro.` The first row names the
/// columns, and is none.
fn table_row(row: &str, columns: &mut Vec<String>) -> String {
    let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
    if columns.is_empty() {
        columns.extend(cells.into_iter().map(ToOwned::to_owned));
        return String::new();
    }
    let named: Vec<_> = cells.iter().zip(columns.iter()).skip(1).filter(|(cell, _)| !cell.is_empty()).collect();
    let Some(first) = cells.first().filter(|first| first.contains(char::is_alphanumeric)) else { return String::new() };
    if let [(only, _)] = named.as_slice() {
        return format!("{first}: {only}");
    }
    // `what it does` is no noun.
    let is_noun = |column: &str| {
        !["what", "when", "where", "how", "why", "who"].contains(&column.split(' ').next().unwrap_or_default())
    };
    let part = |(cell, column): &(&&str, &String)| {
        let column = column.to_lowercase();
        if is_noun(&column) { format!("the {column} is {cell}") } else { format!("{column}: {cell}") }
    };
    let parts: Vec<String> = named.iter().map(part).collect();
    match parts.split_last() {
        Some((last, others)) => format!("For {first}, {} and {}.", others.join(", "), last.trim_end_matches('.')),
        None => String::new(),
    }
}

/// The end of the first sentence: a full stop and a space, if the next word starts like a sentence and the last is not
/// an abbreviation.
fn sentence_end(text: &str) -> usize {
    let is_end = |at: &usize| {
        let (before, after) = text.split_at_checked(*at).unwrap_or_default();
        let word = before.rsplit([' ', '(']).next().unwrap_or_default();
        after.chars().nth(2).is_some_and(|c| !c.is_lowercase()) && word.len() > 2 && !word.contains('.')
    };
    text.match_indices(". ").map(|(at, _)| at).find(is_end).map_or(text.len(), |at| at + 1)
}
