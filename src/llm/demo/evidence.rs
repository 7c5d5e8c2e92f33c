//! Finds the sentences of the files read that match the task best.

use super::scene::Scene;
use super::words::{is_stop, keywords, same, words};

/// Maximum number of quotations, in total and per file.
const MOST: usize = 5;
const MOST_OF_ONE: usize = 3;
/// Longer sentences are truncated.
const MAX_CHARS: usize = 320;

/// A sentence that matches, and its location.
#[derive(Debug)]
pub(super) struct Quote {
    pub path: String,
    pub heading: String,
    pub text: String,
    score: f64,
}

/// A sentence, and the heading above it.
#[derive(Debug)]
struct Sentence {
    heading: String,
    text: String,
    /// Its factor in the score: code is rarely an answer.
    weight: f64,
}

/// The best matches, best first.
#[allow(clippy::cast_precision_loss)] // counts of words and hits are small
pub(super) fn quotes(scene: &Scene<'_>) -> Vec<Quote> {
    let wanted = keywords(scene.task);
    let asks_number =
        ["how many", "how much", "how long", "how often", "default", "limit", "version", "when", "maximum"]
            .iter()
            .any(|words| scene.task.to_lowercase().contains(words));
    let all = all_sentences(scene);
    let bags: Vec<Vec<String>> = all.iter().map(|(_, sentence)| bag(&sentence.text)).collect();
    let hits = scene.hits();
    let has = |bag: &[String], keyword: &str| bag.iter().any(|word| same(keyword, word));
    // A word that occurs in few sentences is more significant.
    let weights: Vec<f64> = wanted
        .iter()
        .map(|keyword| {
            let with = bags.iter().filter(|bag| has(bag, keyword)).count();
            let rarity = (1.0 + all.len() as f64) / (1.0 + with as f64);
            1.0 + rarity.ln()
        })
        .collect();
    let mut found: Vec<Quote> = Vec::new();
    for ((path, sentence), bag) in all.into_iter().zip(&bags) {
        let title = self::bag(&sentence.heading);
        let mut score = 0.0;
        for (keyword, weight) in wanted.iter().zip(&weights) {
            if has(bag, keyword) {
                score += weight;
            } else if has(&title, keyword) {
                score += 0.4 * weight;
            }
        }
        let in_text = wanted.iter().any(|keyword| has(bag, keyword));
        if !in_text || found.iter().any(|other| other.text == sentence.text) {
            continue;
        }
        if asks_number && sentence.text.bytes().any(|b| b.is_ascii_digit()) {
            score += 0.75;
        }
        // Adjacent words of the task.
        let pairs = wanted.iter().zip(wanted.iter().skip(1));
        let side_by_side =
            |one: &str, two: &str| bag.windows(2).any(|w| matches!(w, [a, b] if same(one, a) && same(two, b)));
        score += pairs.filter(|(one, two)| side_by_side(one, two)).count() as f64;
        // The search covers more files than were read.
        let shown = |snippet: &str| !snippet.is_empty() && sentence.text.contains(snippet.get(..40).unwrap_or(snippet));
        if let Some(rank) = hits.iter().position(|(hit, _, snippet)| *hit == path && shown(snippet)) {
            score += 1.5 / (1.0 + rank as f64);
        }
        score *= match bag.len() {
            0..4 => 0.5,
            4..25 => 1.0,
            long => 1.0 / (0.6 + 0.016 * long as f64),
        };
        let Sentence { heading, text, weight } = sentence;
        score *= weight;
        found.push(Quote { path, heading, text, score });
    }
    found.sort_by(|a, b| b.score.total_cmp(&a.score));
    let best = found.first().map_or(0.0, |quote| quote.score);
    let mut kept: Vec<Quote> = Vec::new();
    for quote in found {
        let of_file = kept.iter().filter(|other| other.path == quote.path).count();
        if quote.score >= best * 0.45 && of_file < MOST_OF_ONE && kept.len() < MOST {
            kept.push(quote);
        }
    }
    kept
}

/// All words, and the parts of names: `turn_limit` is about turns too.
fn bag(text: &str) -> Vec<String> {
    let mut bag: Vec<String> = words(text).collect();
    let parts: Vec<String> =
        bag.iter().filter(|word| word.contains('_')).flat_map(|word| word.split('_')).map(str::to_owned).collect();
    bag.extend(parts);
    bag
}

/// A word that is frequent in the best matches and was not searched for yet.
pub(super) fn next_word(scene: &Scene<'_>, searched: &str) -> Option<String> {
    let mut counts: Vec<(String, usize)> = Vec::new();
    for quote in quotes(scene) {
        for word in words(&quote.text) {
            if word.len() < 5 || is_stop(&word) || words(searched).any(|other| same(&other, &word)) {
                continue;
            }
            match counts.iter_mut().find(|(other, _)| *other == word) {
                Some((_, count)) => *count += 1,
                None => counts.push((word, 1)),
            }
        }
    }
    // The first of the most frequent.
    counts.into_iter().rev().max_by_key(|(_, count)| *count).map(|(word, _)| word)
}

/// The sentences of every file that was read, and the snippets of hits in files that were not.
fn all_sentences(scene: &Scene<'_>) -> Vec<(String, Sentence)> {
    let mut all = Vec::new();
    let mut read: Vec<String> = Vec::new();
    for step in scene.of("read_file").filter(|step| !step.failed) {
        let path = step.arg("path").into_owned();
        all.extend(sentences(&path, step.result).into_iter().map(|sentence| (path.clone(), sentence)));
        read.push(path);
    }
    for (path, _, snippet) in scene.hits() {
        if !snippet.is_empty() && !read.iter().any(|other| other == path) {
            let text = cells(strip_item(snippet.trim_start_matches(['#', ' '])));
            all.push((path.to_owned(), Sentence { heading: String::new(), text, weight: 1.0 }));
        }
    }
    all
}

/// Joins the lines of paragraphs and splits them into sentences; list items, table rows and headings are sentences of
/// their own.
fn sentences(path: &str, text: &str) -> Vec<Sentence> {
    let is_html = text.trim_start().starts_with('<')
        || ((path.ends_with(".html") || path.ends_with(".htm")) && is_mostly_tags(text));
    let plain = if is_html { without_tags(text) } else { text.to_owned() };
    let (mut found, mut heading, mut paragraph) = (Vec::new(), String::new(), String::new());
    let mut fenced = false;
    for line in plain.lines().map(str::trim).chain([""]) {
        if line.starts_with("```") || line.starts_with("~~~") {
            cut(&heading, &std::mem::take(&mut paragraph), 1.0, &mut found);
            fenced = !fenced;
            continue;
        }
        let is_note = line.starts_with('[') && line.ends_with(']');
        let starts_own = line.starts_with(['#', '|', '>', '<']) || is_note || is_item(line) || fenced;
        if line.is_empty() || starts_own {
            cut(&heading, &std::mem::take(&mut paragraph), if fenced { 0.5 } else { 1.0 }, &mut found);
        }
        if line.starts_with('#') {
            heading = line.trim_matches(['#', ' ']).to_owned();
            continue;
        }
        if line.bytes().all(|b| matches!(b, b'-' | b'=' | b'|' | b':' | b' ' | b'*')) {
            // An underline turns the line above it into a heading.
            if line.starts_with(['=', '-']) && line.len() > 2 {
                heading = found.pop().map_or(heading, |sentence: Sentence| sentence.text);
            }
            continue;
        }
        if !paragraph.is_empty() {
            paragraph.push(' ');
        }
        paragraph.push_str(strip_item(line));
        if line.starts_with('|') || fenced {
            cut(&heading, &std::mem::take(&mut paragraph), if fenced { 0.5 } else { 1.0 }, &mut found);
        }
    }
    found
}

/// Whether a text is mostly tags: pages that were read as Markdown keep their `.html` names.
fn is_mostly_tags(text: &str) -> bool {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let (all, tags) = lines.fold((0, 0), |(all, tags), line| (all + 1, tags + usize::from(line.starts_with('<'))));
    tags * 3 >= all
}

fn is_item(line: &str) -> bool {
    strip_item(line).len() < line.len()
}

fn strip_item(line: &str) -> &str {
    let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = digits.strip_prefix(". ").filter(|_| digits.len() < line.len());
    let bullet = ["- ", "* ", "+ ", "> "].iter().find_map(|mark| line.strip_prefix(mark));
    numbered.or(bullet).unwrap_or(line)
}

/// A table row as plain text.
fn cells(text: &str) -> String {
    text.trim().trim_matches('|').trim().replace(" | ", ": ")
}

fn cut(heading: &str, paragraph: &str, weight: f64, found: &mut Vec<Sentence>) {
    let mut rest = paragraph.trim();
    while !rest.is_empty() {
        let end = sentence_end(rest);
        let (sentence, tail) = rest.split_at(end);
        let sentence = cells(sentence);
        if sentence.chars().any(char::is_alphanumeric) {
            let text = match sentence.char_indices().nth(MAX_CHARS) {
                Some((cut, _)) => format!("{}…", sentence.get(..cut).unwrap_or_default()),
                None => sentence,
            };
            found.push(Sentence { heading: heading.to_owned(), text, weight });
        }
        rest = tail.trim_start();
    }
}

/// The end of the first sentence: a full stop and a space, if the next word starts like a sentence and the last is not
/// an abbreviation.
fn sentence_end(text: &str) -> usize {
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| rest.find(". ")).map(|at| from + at) {
        let next = text.get(at + 2..).and_then(|rest| rest.chars().next());
        let word = text.get(..at).unwrap_or_default().rsplit([' ', '(']).next().unwrap_or_default();
        if next.is_some_and(|c| !c.is_lowercase()) && word.len() > 2 && !word.contains('.') {
            return at + 1;
        }
        from = at + 2;
    }
    text.len()
}

/// The text of HTML, roughly: blocks become lines, scripts and styles are dropped.
fn without_tags(html: &str) -> String {
    let (mut text, mut rest) = (String::new(), html);
    while let Some(open) = rest.find('<') {
        let (before, tag) = rest.split_at(open);
        // Line breaks of the source are insignificant in HTML.
        text.push_str(&before.replace('\n', " "));
        let end = tag.find('>').map_or(tag.len(), |end| end + 1);
        let name: String = tag
            .chars()
            .skip(1)
            .take_while(|c| c.is_ascii_alphanumeric() || *c == '/')
            .collect::<String>()
            .to_lowercase();
        rest = tag.get(end..).unwrap_or_default();
        match name.trim_matches('/') {
            "script" | "style" if !name.starts_with('/') => {
                rest = rest.split_once(&format!("</{name}")).map_or("", |(_, tail)| tail);
                rest = rest.split_once('>').map_or("", |(_, tail)| tail);
            }
            "h1" | "h2" | "h3" | "h4" | "h5" if !name.starts_with('/') => text.push_str("\n# "),
            "p" | "br" | "li" | "tr" | "div" | "h1" | "h2" | "h3" | "h4" | "h5" | "dd" | "dt" | "pre" | "section"
            | "ul" | "title" | "table" | "nav" => text.push_str("\n\n"),
            "td" | "th" => text.push(' '),
            _ => {}
        }
    }
    text.push_str(rest);
    [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&nbsp;", " "), ("&amp;", "&")]
        .iter()
        .fold(text, |text, (entity, plain)| text.replace(entity, plain))
}
