//! Formulas in LaTeX: `$…$`, `$$…$$`, `\(…\)` and `\[…\]`, which Markdown does not know. They are taken out of a text before it is
//! parsed, each leaving a mark, so that nothing in them is markup; the marks become nodes afterwards.
//!
//! A dollar sign is also money. A formula between single ones begins with no space, ends with no space, and neither follows a
//! letter or digit nor is followed by a digit; there is no other dollar sign in it. No formula contains code or an empty line.

use std::collections::HashMap;

use super::Node;

/// Delimits a mark: a private-use character. A text that already contains it is not searched for formulas.
const MARK: char = '\u{10fffd}';

/// The formulas of a text, in the order in which they first occur; the marks name their places.
#[derive(Default)]
pub(super) struct Formulas<'a> {
    found: Vec<Formula<'a>>,
    /// Where each mark ends in the marked text, and its formula in the text as it was written, in bytes.
    ends: Vec<(usize, usize)>,
}

struct Formula<'a> {
    /// With its delimiters.
    source: &'a str,
    tex: String,
    display: bool,
}

/// How a formula is delimited.
#[derive(Clone, Copy)]
enum DelimiterKind {
    Dollar,
    Dollars,
    Round,
    Square,
}

impl DelimiterKind {
    fn close(self) -> &'static str {
        match self {
            DelimiterKind::Dollar => "$",
            DelimiterKind::Dollars => "$$",
            DelimiterKind::Round => "\\)",
            DelimiterKind::Square => "\\]",
        }
    }

    fn is_display(self) -> bool {
        matches!(self, DelimiterKind::Dollars | DelimiterKind::Square)
    }
}

impl<'a> Formulas<'a> {
    /// Takes the formulas out of a text; `None`: it has none.
    pub(super) fn take_out(markdown: &'a str) -> Option<(String, Self)> {
        let may_have = markdown.contains('$') || markdown.contains("\\(") || markdown.contains("\\[");
        if !may_have || markdown.contains(MARK) {
            return None;
        }
        let mut found = FormulaFinder::default();
        for paragraph in Paragraphs::new(markdown) {
            found.copy(paragraph);
        }
        (!found.formulas.found.is_empty()).then_some((found.text, found.formulas))
    }

    /// Where a place of the marked text, outside of marks, is in the text as it was written.
    pub(super) fn source(&self, place: usize) -> usize {
        let before = self.ends.partition_point(|(marked, _)| *marked <= place);
        let last = before.checked_sub(1).and_then(|last| self.ends.get(last));
        last.map_or(place, |(marked, written)| place - marked + written)
    }

    /// Returns a text as it was written: for code, addresses and labels.
    pub(super) fn restore(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        self.walk(text, &mut |part| match part {
            Ok(text) => out.push_str(text),
            Err(formula) => out.push_str(formula.source),
        });
        out
    }

    /// Makes nodes of the marks in texts.
    pub(super) fn put_back(&self, nodes: &mut Vec<Node>) {
        let mut whole = Vec::with_capacity(nodes.len());
        for mut node in nodes.drain(..) {
            match &mut node {
                Node::Text(text) if text.contains(MARK) => {
                    self.walk(text, &mut |part| match part {
                        Ok("") => {}
                        Ok(text) => whole.push(Node::Text(text.to_owned())),
                        Err(formula) => {
                            whole.push(Node::Formula { tex: formula.tex.clone(), display: formula.display });
                        }
                    });
                    continue;
                }
                Node::Paragraph(children)
                | Node::Heading { children, .. }
                | Node::Quote(children)
                | Node::Strong(children)
                | Node::Emphasis(children)
                | Node::Strike(children)
                | Node::Link { children, .. } => self.put_back(children),
                Node::List { items, .. } => items.iter_mut().for_each(|item| self.put_back(&mut item.children)),
                Node::Table(table) => {
                    let rows = std::iter::once(&mut table.head).chain(&mut table.rows);
                    rows.flatten().for_each(|cell| self.put_back(cell));
                }
                _ => {}
            }
            whole.push(node);
        }
        *nodes = whole;
    }

    /// Goes through the texts and the formulas of a text with marks.
    fn walk(&self, text: &str, each: &mut dyn FnMut(Result<&str, &Formula<'a>>)) {
        let mut rest = text;
        while let Some((before, after)) = rest.split_once(MARK).filter(|_| !self.found.is_empty()) {
            each(Ok(before));
            let named = after.split_once(MARK).and_then(|(number, after)| Some((number.parse::<usize>().ok()?, after)));
            // An entity can make such a character, too.
            rest = match named.and_then(|(number, after)| Some((self.found.get(number)?, after))) {
                Some((formula, after)) => {
                    each(Err(formula));
                    after
                }
                None => {
                    each(Ok(MARK.encode_utf8(&mut [0; 4])));
                    after
                }
            };
        }
        each(Ok(rest));
    }
}

/// A part of a text: a block of fenced code, which has no formulas, or what lies between such blocks and empty lines.
struct Paragraph<'a> {
    text: &'a str,
    fenced: bool,
}

struct Paragraphs<'a> {
    rest: &'a str,
}

impl<'a> Paragraphs<'a> {
    fn new(text: &'a str) -> Self {
        Paragraphs { rest: text }
    }

    fn take(&mut self, length: usize, fenced: bool) -> Paragraph<'a> {
        let (text, rest) = self.rest.split_at(length);
        self.rest = rest;
        Paragraph { text, fenced }
    }
}

impl<'a> Iterator for Paragraphs<'a> {
    type Item = Paragraph<'a>;

    fn next(&mut self) -> Option<Paragraph<'a>> {
        let mut length = 0;
        let mut fence = None;
        for line in self.rest.split_inclusive('\n') {
            match fence {
                None if length == 0 => {
                    fence = opened_fence(line);
                    length = line.len();
                }
                None if opened_fence(line).is_some() => return Some(self.take(length, false)),
                None => {
                    length += line.len();
                    if line.trim_start_matches(['>', ' ', '\t']).trim().is_empty() {
                        return Some(self.take(length, false));
                    }
                }
                Some(fence) => {
                    length += line.len();
                    if closes(line, fence) {
                        return Some(self.take(length, true));
                    }
                }
            }
        }
        (length > 0).then(|| self.take(length, fence.is_some()))
    }
}

/// The character and the length of a fence with which a line begins, also in a list or a quote.
fn opened_fence(line: &str) -> Option<(char, usize)> {
    let line = line.trim_start_matches(|c: char| " \t>-*+.)".contains(c) || c.is_ascii_digit());
    let mark = line.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let rest = line.trim_start_matches(mark);
    let length = line.len() - rest.len();
    (length >= 3 && !(mark == '`' && rest.contains('`'))).then_some((mark, length))
}

fn closes(line: &str, (mark, length): (char, usize)) -> bool {
    let line = line.trim_start_matches([' ', '\t', '>']).trim_end();
    line.len() >= length && line.chars().all(|c| c == mark)
}

/// Copies a text, with marks in place of its formulas.
#[derive(Default)]
struct FormulaFinder<'a> {
    text: String,
    formulas: Formulas<'a>,
    places: HashMap<String, usize>,
    /// Number of bytes of the paragraphs before this one.
    passed: usize,
}

impl<'a> FormulaFinder<'a> {
    fn copy(&mut self, Paragraph { text, fenced }: Paragraph<'a>) {
        let mut copied = 0;
        if !fenced {
            let mut scan = FormulaScan::new(text);
            let mut line = 0;
            while let Some((start, end, kind)) = scan.next() {
                let between = text.get(copied..start).unwrap_or_default();
                self.text.push_str(between);
                line = between.rfind('\n').map_or(line, |at| copied + at + 1);
                let source = text.get(start..end).unwrap_or_default();
                self.mark(source, kind, || quotes(text.get(line..start).unwrap_or_default()));
                self.formulas.ends.push((self.text.len(), self.passed + end));
                line = source.rfind('\n').map_or(line, |at| start + at + 1);
                copied = end;
            }
        }
        self.text.push_str(text.get(copied..).unwrap_or_default());
        self.passed += text.len();
    }

    /// The same formula has the same mark: labels of links and footnotes are compared.
    fn mark(&mut self, source: &'a str, kind: DelimiterKind, quotes: impl FnOnce() -> usize) {
        let next = self.formulas.found.len();
        let number = *self.places.entry(source.to_owned()).or_insert(next);
        if number == next {
            let width = kind.close().len();
            let inside = source.get(width..source.len() - width).unwrap_or_default();
            let tex = if inside.contains('\n') { unquoted(inside, quotes()) } else { inside.to_owned() };
            let tex = tex.trim().to_owned();
            self.formulas.found.push(Formula { source, tex, display: kind.is_display() });
        }
        self.text.push_str(&format!("{MARK}{number}{MARK}"));
    }
}

/// The number of quotes that a line is in, given its beginning.
fn quotes(line: &str) -> usize {
    line.chars().take_while(|c| matches!(c, ' ' | '\t' | '>')).filter(|c| *c == '>').count()
}

/// Removes the marks of a quote from all lines but the first.
fn unquoted(text: &str, quotes: usize) -> String {
    let mut lines = text.split('\n');
    let mut out = lines.next().unwrap_or_default().to_owned();
    for mut line in lines {
        for _ in 0..quotes {
            let Some(rest) = line.trim_start().strip_prefix('>') else { break };
            line = rest;
        }
        out.push('\n');
        out.push_str(line);
    }
    out
}

/// Finds the formulas of one paragraph, from left to right, in linear time.
struct FormulaScan<'a> {
    text: &'a str,
    at: usize,
    /// Up to there, no formula of this kind ends: `$$`, `\)`, `\]`.
    unclosed: [usize; 3],
    /// The last place of a run of backticks, by its length.
    backticks: Option<Vec<usize>>,
}

impl<'a> FormulaScan<'a> {
    fn new(text: &'a str) -> Self {
        FormulaScan { text, at: 0, unclosed: [0; 3], backticks: None }
    }

    fn byte(&self, at: usize) -> u8 {
        self.text.as_bytes().get(at).copied().unwrap_or_default()
    }

    fn rest(&self, at: usize) -> &'a str {
        self.text.get(at..).unwrap_or_default()
    }

    /// The place and the kind of the next formula.
    fn next(&mut self) -> Option<(usize, usize, DelimiterKind)> {
        while let Some(offset) = self.rest(self.at).find(['\\', '$', '`', 'h']) {
            let start = self.at + offset;
            let (skipped, kind) = match (self.byte(start), self.byte(start + 1)) {
                (b'\\', b'(') => (2, Some(DelimiterKind::Round)),
                (b'\\', b'[') => (2, Some(DelimiterKind::Square)),
                (b'\\', next) => (if next.is_ascii() { 2 } else { 1 }, None),
                (b'$', _) => self.dollars(start),
                (b'`', _) => (self.code(start), None),
                _ => (self.address(start), None),
            };
            if let Some(end) = kind.and_then(|kind| self.end(start + kind.close().len(), kind)) {
                self.at = end;
                return Some((start, end, kind?));
            }
            self.at = (start + skipped).min(self.text.len());
        }
        None
    }

    /// What dollar signs can begin, and their number.
    fn dollars(&self, start: usize) -> (usize, Option<DelimiterKind>) {
        let rest = self.rest(start);
        let inside = rest.trim_start_matches('$');
        let run = rest.len() - inside.len();
        let after_word = start.checked_sub(1).is_some_and(|before| self.byte(before).is_ascii_alphanumeric());
        let kind = match run {
            1 if !after_word && !inside.starts_with(char::is_whitespace) => Some(DelimiterKind::Dollar),
            2 => Some(DelimiterKind::Dollars),
            _ => None,
        };
        (run, kind)
    }

    /// The end of the formula whose content begins there.
    fn end(&mut self, from: usize, kind: DelimiterKind) -> Option<usize> {
        let known = match kind {
            DelimiterKind::Dollar => None,
            DelimiterKind::Dollars => Some(0),
            DelimiterKind::Round => Some(1),
            DelimiterKind::Square => Some(2),
        };
        if known.and_then(|known| self.unclosed.get(known)).is_some_and(|unclosed| from < *unclosed) {
            return None;
        }
        let mut at = from;
        let close = loop {
            let Some(offset) = self.rest(at).find(['\\', '$', '`']) else { break Err(self.text.len()) };
            at += offset;
            let here = self.rest(at);
            match (here.as_bytes().first(), kind) {
                (Some(b'`'), _) => break Err(at),
                (Some(b'$'), DelimiterKind::Dollar) => break Ok(at),
                _ if here.starts_with(kind.close()) => break Ok(at),
                (Some(b'\\'), _) => {
                    at += 1 + here.get(1..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
                }
                _ => at += 1,
            }
        };
        let close = match close {
            Ok(close) => close,
            Err(stop) => {
                if let Some(unclosed) = known.and_then(|known| self.unclosed.get_mut(known)) {
                    *unclosed = stop;
                }
                return None;
            }
        };
        let inside = self.text.get(from..close)?;
        let end = close + kind.close().len();
        let ends_well = match kind {
            DelimiterKind::Dollar => !inside.ends_with(char::is_whitespace) && !self.byte(end).is_ascii_digit(),
            // Brackets that are escaped to be no link.
            DelimiterKind::Square => !matches!(self.byte(end), b'(' | b'[' | b':'),
            DelimiterKind::Dollars | DelimiterKind::Round => true,
        };
        (ends_well && !inside.trim().is_empty()).then_some(end)
    }

    /// The length of a code span, or of backticks that begin none.
    fn code(&mut self, start: usize) -> usize {
        let run = |text: &str| text.len() - text.trim_start_matches('`').len();
        let text = self.text;
        let length = run(self.rest(start));
        let last = self.backticks.get_or_insert_with(|| {
            let mut last = Vec::new();
            let mut at = 0;
            while let Some(offset) = text.get(at..).and_then(|rest| rest.find('`')) {
                let length = run(text.get(at + offset..).unwrap_or_default());
                if last.len() <= length {
                    last.resize(length + 1, 0);
                }
                if let Some(last) = last.get_mut(length) {
                    *last = at + offset;
                }
                at += offset + length;
            }
            last
        });
        if last.get(length).is_none_or(|last| *last <= start) {
            return length;
        }
        let mut at = start + length;
        while let Some(offset) = self.rest(at).find('`') {
            at += offset;
            let found = run(self.rest(at));
            at += found;
            if found == length {
                break;
            }
        }
        at - start
    }

    /// The length of a web address, which may have dollar signs, or of one letter.
    fn address(&self, start: usize) -> usize {
        let rest = self.rest(start);
        if !rest.starts_with("http://") && !rest.starts_with("https://") {
            return 1;
        }
        rest.find(char::is_whitespace).unwrap_or(rest.len())
    }
}
