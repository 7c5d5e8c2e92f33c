//! The calculations in a task: percentages, arithmetic, conversions, travel times, in the calculator's syntax.

use super::units::{canonical, is_length, is_money, is_speed};

/// Maximum number of calculations per task.
const MOST: usize = 4;

/// One calculation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sum {
    pub expression: String,
    /// The unit of the result, if the calculator does not have it.
    pub money: Option<String>,
    check: Check,
}

/// How a result is checked.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Check {
    /// The result divided by this is the requested share.
    Share(String),
    /// The result converted to this unit is the given value.
    Back(&'static str),
    /// The result times this is the given value, in this unit.
    Times(String, &'static str),
    Difference,
}

impl Sum {
    fn new(expression: String, check: Check) -> Self {
        Sum { expression, money: None, check }
    }

    /// A second calculation that checks the result of the first.
    pub fn check(&self, result: &str) -> Option<String> {
        let value = result.trim().trim_start_matches("approx.").trim();
        let exact = value.len() == result.trim().len();
        if !value.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
            return None;
        }
        match &self.check {
            Check::Share(whole) => Some(format!("{value} / {whole}")),
            Check::Back(unit) => Some(format!("{value} to {unit}")),
            Check::Times(factor, unit) => Some(format!("{value} * {factor} to {unit}")),
            Check::Difference => exact.then(|| format!("({}) - ({value})", self.expression)),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Token<'a> {
    Number(String),
    Word(&'a str),
    /// An operator; the surrounding text decides whether a dash is a minus.
    Op(char),
    Percent,
    Other,
}

/// The calculations of a task, in its order.
pub(super) fn sums(task: &str) -> Vec<Sum> {
    let tokens = tokens(task);
    let (mut found, mut at) = (Vec::new(), 0);
    while at < tokens.len() {
        let (before, rest) = tokens.split_at(at);
        match read(before, rest) {
            Some((mut sum, length)) => {
                let used = tokens.iter().skip(at).take(length + 1);
                sum.money = used.filter_map(word).find(|word| is_money(word)).map(str::to_owned);
                if !found.contains(&sum) {
                    found.push(sum);
                }
                at += length;
            }
            None => at += 1,
        }
    }
    found.truncate(MOST);
    found
}

/// A calculation that starts with the first token of `rest`, and its number of tokens.
fn read(before: &[Token<'_>], rest: &[Token<'_>]) -> Option<(Sum, usize)> {
    use Token::{Number, Op, Percent, Word};
    if let [Word(kind), Word("of"), list @ ..] = rest {
        return list_of(kind, list).map(|(sum, length)| (sum, length + 2));
    }
    let Some(Number(a)) = rest.first() else { return if rest.first() == Some(&Op('(')) { infix(rest) } else { None } };
    match rest {
        [_, Percent, Word("of"), tail @ ..] => {
            let skipped = tail.iter().take_while(|token| matches!(token, Word(_))).count();
            if let Some(Number(b)) = tail.get(skipped) {
                return Some((Sum::new(format!("{a}% of {b}"), Check::Share(b.clone())), skipped + 4));
            }
        }
        [_, Percent, Word("off"), Number(b), ..] => {
            return Some((Sum::new(format!("{b} - {a}% of {b}"), Check::Share(b.clone())), 4));
        }
        [_, Word("squared"), ..] => return Some((Sum::new(format!("{a}^2"), Check::Difference), 2)),
        [_, Word("cubed"), ..] => return Some((Sum::new(format!("{a}^3"), Check::Difference), 2)),
        [_, Word("to"), Word("the"), Word("power"), Word("of"), Number(b), ..] => {
            return Some((Sum::new(format!("{a}^{b}"), Check::Difference), 6));
        }
        _ => {}
    }
    if let Some(found) = infix(rest) {
        return Some(found);
    }
    // `12 seats at 49 EUR`, `300 km at 80 km/h`
    let words = rest.iter().skip(1).take_while(|token| word(token).is_some_and(|w| w != "at" && w != "à")).count();
    if let (Some(Word("at" | "à")), Some(Number(b))) = (rest.get(words + 1), rest.get(words + 2)) {
        let first = rest.get(1).and_then(word).and_then(canonical);
        let speed = rest.get(words + 3).and_then(word).and_then(canonical).filter(|unit| is_speed(unit));
        return match (first, speed) {
            (Some(unit), Some(speed)) => {
                let factor = format!("({b} {speed})");
                Some((Sum::new(format!("{a} {unit} / {factor} to minutes"), Check::Times(factor, unit)), words + 4))
            }
            _ if words < 3 => Some((Sum::new(format!("{a} * {b}"), Check::Difference), words + 3)),
            _ => None,
        };
    }
    let unit = rest.get(1).and_then(word).and_then(canonical)?;
    if let [Word("in" | "to" | "into" | "as"), Word(other), ..] = rest.get(2..).unwrap_or_default() {
        let other = canonical(other)?;
        return Some((Sum::new(format!("{a} {unit} to {other}"), Check::Back(unit)), 4));
    }
    let clause = before.rsplit(|token| *token == Token::Other).next().unwrap_or_default();
    if let Some(other) = asked_unit(clause).filter(|other| *other != unit) {
        return Some((Sum::new(format!("{a} {unit} to {other}"), Check::Back(unit)), 2));
    }
    if is_length(unit) && clause.iter().filter_map(word).any(|word| word == "light") {
        let factor = "(299792458 m/s)";
        let sum = Sum::new(format!("{a} {unit} / {factor} to seconds"), Check::Times(factor.to_owned(), unit));
        return Some((sum, 2));
    }
    None
}

/// The requested unit, such as `kWh` in `how many kWh are`.
fn asked_unit(clause: &[Token<'_>]) -> Option<&'static str> {
    let at = clause.iter().rposition(|token| matches!(token, Token::Word("many" | "much")))?;
    clause.iter().skip(at + 1).filter_map(word).find_map(canonical)
}

/// `sum of 3, 4 and 5`, `square root of 2`
fn list_of(kind: &str, list: &[Token<'_>]) -> Option<(Sum, usize)> {
    let (mut numbers, mut length) = (Vec::new(), 0);
    for token in list {
        match token {
            Token::Number(number) => numbers.push(number.as_str()),
            Token::Other | Token::Word("and") => {}
            _ => break,
        }
        length += 1;
    }
    let first = numbers.first()?;
    let expression = match (kind, numbers.len()) {
        ("root", _) => return Some((Sum::new(format!("sqrt({first})"), Check::Difference), 1)),
        ("factorial", _) => return Some((Sum::new(format!("{first}!"), Check::Difference), 1)),
        ("sum" | "total", 2..) => numbers.join(" + "),
        ("product", 2..) => numbers.join(" * "),
        ("average" | "mean", 2..) => format!("({}) / {}", numbers.join(" + "), numbers.len()),
        _ => return None,
    };
    Some((Sum::new(expression, Check::Difference), length))
}

/// Numbers, units, operators and brackets in a row, with at least one operator between numbers.
fn infix(tokens: &[Token<'_>]) -> Option<(Sum, usize)> {
    let (mut text, mut operators, mut depth, mut after_number) = (String::new(), 0, 0_i32, false);
    let (mut good, mut good_text) = (0, String::new());
    for (index, token) in tokens.iter().enumerate() {
        let piece = match token {
            Token::Number(number) if !after_number => {
                after_number = true;
                number.clone()
            }
            Token::Op('(') if !after_number => {
                depth += 1;
                "(".to_owned()
            }
            Token::Op(')') if after_number && depth > 0 => {
                depth -= 1;
                ")".to_owned()
            }
            Token::Word(word) if after_number => match (infix_word(word), canonical(word)) {
                (Some(operator), _) => {
                    operators += 1;
                    after_number = false;
                    operator.to_string()
                }
                (None, Some(unit)) => unit.to_owned(),
                (None, None) => break,
            },
            Token::Op(operator) if after_number && !matches!(operator, '(' | ')') => {
                operators += 1;
                after_number = false;
                operator.to_string()
            }
            _ => break,
        };
        if !text.is_empty() && !matches!(piece.as_str(), ")") && !text.ends_with('(') {
            text.push(' ');
        }
        text.push_str(&piece);
        if after_number && depth == 0 && operators > 0 {
            good = index + 1;
            good_text.clone_from(&text);
        }
    }
    (good > 0).then(|| (Sum::new(good_text, Check::Difference), good))
}

fn infix_word(word: &str) -> Option<char> {
    match word {
        "plus" => Some('+'),
        "minus" => Some('-'),
        "times" | "x" => Some('*'),
        _ => None,
    }
}

fn word<'a>(token: &Token<'a>) -> Option<&'a str> {
    match token {
        Token::Word(word) => Some(word),
        _ => None,
    }
}

fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let (token, length) = if first.is_ascii_digit() {
            number(rest)
        } else if first.is_alphabetic() || first == '°' || first == '_' {
            let end = rest.find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '°' | '/')).unwrap_or(rest.len());
            let word = rest.get(..end).unwrap_or_default();
            (if word == "percent" { Token::Percent } else { Token::Word(word) }, end)
        } else {
            let token = match first {
                ' ' | '\t' | '\n' => None,
                '€' | '$' | '£' => Some(Token::Word(rest.get(..first.len_utf8()).unwrap_or_default())),
                '%' => Some(Token::Percent),
                '+' | '*' | '^' | '(' | ')' => Some(Token::Op(first)),
                '×' | '·' => Some(Token::Op('*')),
                '÷' => Some(Token::Op('/')),
                '-' | '–' | '/' if is_operator(text, rest) => Some(Token::Op(if first == '/' { '/' } else { '-' })),
                _ => Some(Token::Other),
            };
            match token {
                Some(token) => (token, first.len_utf8()),
                None => {
                    rest = rest.get(first.len_utf8()..).unwrap_or_default();
                    continue;
                }
            }
        };
        // A currency sign before its number moves after it.
        match (tokens.last(), &token) {
            (Some(Token::Word("€" | "$" | "£")), Token::Number(_)) => tokens.insert(tokens.len() - 1, token),
            _ => tokens.push(token),
        }
        rest = rest.get(length..).unwrap_or_default();
    }
    tokens
}

/// Whether a dash or slash has spaces on both sides; without them it may be a range, a date or a path.
fn is_operator(text: &str, rest: &str) -> bool {
    let before = text.get(..text.len() - rest.len()).unwrap_or_default();
    before.ends_with(' ') && rest.chars().nth(1) == Some(' ')
}

/// Reads a number such as `2,340` or `1.5`; dates, times and versions are not numbers.
fn number(rest: &str) -> (Token<'static>, usize) {
    let end =
        rest.find(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | ',' | ':' | '-' | '_')).unwrap_or(rest.len());
    let text = rest.get(..end).unwrap_or_default().trim_end_matches(['.', ',', ':', '-', '_']);
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let mut groups = whole.split(',');
    let head = groups.next().unwrap_or_default();
    let grouped = head.len() <= 3 || !whole.contains(',');
    let good = grouped
        && groups.all(|group| group.len() == 3)
        && !fraction.is_empty()
        && [whole, fraction].iter().all(|part| part.bytes().all(|b| b.is_ascii_digit() || b == b','))
        && !fraction.contains(',');
    let token = if good { Token::Number(text.replace(',', "")) } else { Token::Other };
    (token, text.len().max(1))
}
