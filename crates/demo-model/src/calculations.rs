//! The calculations in a task, in the calculator's syntax. A table maps phrases to expressions; the calculator knows the
//! arithmetic and the units.

/// Maximum number of calculations per task, and of words that a `*` in a phrase matches.
const MAX_CALCULATIONS: usize = 4;
const MAX_WORDS_BETWEEN: usize = 4;

/// A phrase, its expression, and the expression that checks its result `$r`. In phrases `N` is a number, `U` a unit, `E`
/// arithmetic with an operator, and `*` a few words; expressions have `$1`, `$2`, … for the others. The first phrase that
/// fits is used.
const PHRASES: &[(&str, &str, &str)] = &[
    ("N % of * N", "$1% of $2", "$r / $2"),
    ("N % off * N", "$2 - $1% of $2", "$r / $2"),
    ("N squared", "$1^2", "$r / $1"),
    ("N to the power of N", "$1^$2", "$r / $1"),
    ("root of N", "sqrt($1)", "$r^2"),
    ("sum of N and N", "$1 + $2", "$r - $2"),
    ("sum of N , N and N", "$1 + $2 + $3", "$r - $2 - $3"),
    ("average of N and N", "($1 + $2) / 2", "2 * $r - $2"),
    ("average of N , N and N", "($1 + $2 + $3) / 3", "3 * $r - $2 - $3"),
    ("E", "$1", "($1) - ($r)"),
    ("N U at N U", "$1 $2 / ($3 $4) to minutes", "$r * ($3 $4) to $2"),
    ("N * at N", "$1 * $2", "$r / $2"),
    ("N U to U", "$1 $2 to $3", "$r to $2"),
    ("many U * N U", "$2 $3 to $1", "$r to $3"),
    ("light * N U", "$1 $2 / lightspeed to seconds", "$r * lightspeed to $2"),
];

/// Units that people write and the calculator knows, compared case-insensitively.
const UNITS: &str = "km kilometers kilometres kilometer kilometre m meters metres meter metre cm centimeters centimetres mm \
    millimeters millimetres miles mile mi yards yard feet ft foot inches inch kg kilograms kilogram g grams gram pounds \
    pound lbs lb ounces ounce oz litres liters litre liter l ml gallons gallon seconds second s minutes minute min hours \
    hour h days day weeks week months month years year kWh Wh MJ kJ J joules joule kcal watts W kW km/h m/s mph knots °C \
    °F celsius fahrenheit kelvin bytes byte KB MB GB TB KiB MiB GiB bits bit hectares hectare acres acre psi";

/// Words for money, which has no unit in the calculator: the answer names it next to the result.
const MONEY: &str = "EUR euro euros USD dollar dollars GBP CHF SEK NOK DKK JPY € $ £";

/// Other spellings of the words and operators in phrases.
const SYNONYMS: &str =
    "percent=% in=to into=to as=to mean=average much=many plus=+ minus=- –=- times=* x=* ×=* ·=* ÷=/";

/// Characters that are words of their own.
const SYMBOLS: &str = "+*^()%×·÷€$£";

/// One calculation.
#[derive(Debug, PartialEq)]
pub(super) struct Calculation {
    pub expression: String,
    /// The currency of the result.
    pub money: String,
    check: String,
}

impl Calculation {
    /// A second calculation that checks the result of the first.
    pub fn check(&self, result: &str) -> Option<String> {
        let value = result.trim_start_matches("approx.").trim();
        value.starts_with(|c: char| c.is_ascii_digit() || c == '-').then(|| self.check.replace("$r", value))
    }
}

/// Whether a word is a unit of measure or a currency.
pub(super) fn is_unit(word: &str) -> bool {
    spelling(UNITS, word).or(spelling(MONEY, word)).is_some()
}

/// The calculations of a task, in its order.
pub(super) fn calculations(task: &str) -> Vec<Calculation> {
    let tokens = tokens(task);
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(rest) = tokens.get(at..).filter(|rest| !rest.is_empty()) {
        let read = PHRASES.iter().find_map(|(phrase, expression, check)| {
            let mut captures = Vec::new();
            let length = rest.len() - fit(phrase, rest, &mut captures)?.len();
            let mut around = tokens.iter().take(at + length + 1).skip(at.saturating_sub(1));
            let money = around.find_map(|token| spelling(MONEY, token)).unwrap_or_default().to_owned();
            let fill = |template: &str| {
                let numbered = captures.iter().zip(1..);
                numbered.fold(template.to_owned(), |text, (capture, n)| text.replace(&format!("${n}"), capture))
            };
            Some((Calculation { expression: fill(expression), money, check: fill(check) }, length))
        });
        at += read.as_ref().map_or(1, |(_, length)| *length);
        found.extend(read.map(|(calculation, _)| calculation).filter(|calculation| !found.contains(calculation)));
    }
    found.truncate(MAX_CALCULATIONS);
    found
}

/// The tokens after the phrase, if they start with it.
fn fit<'t>(phrase: &str, tokens: &'t [String], captures: &mut Vec<String>) -> Option<&'t [String]> {
    let (part, phrase) = phrase.split_once(' ').unwrap_or((phrase, ""));
    let is_word = |token: &&String| token.chars().all(char::is_alphabetic) || spelling(MONEY, token).is_some();
    let (capture, length) = match (part, tokens.first()?) {
        ("*", _) => {
            let (words, before) = (tokens.iter().take_while(is_word).count(), captures.len());
            return (0..=words.min(MAX_WORDS_BETWEEN)).find_map(|skipped| {
                captures.truncate(before);
                fit(phrase, tokens.get(skipped..)?, captures)
            });
        }
        ("N", token) if is_number(token) => (token.clone(), 1),
        ("U", token) => (spelling(UNITS, token)?.to_owned(), 1),
        ("E", token) if is_number(token) || token == "(" => {
            let is_operand = |token: &str| is_number(token) || spelling(UNITS, token).is_some() || "()".contains(token);
            let terms = tokens.iter().take_while(|token| is_operand(token) || "+-*/^".contains(token.as_str())).count();
            // An operator at the end belongs to the text.
            let length = tokens.iter().take(terms).rposition(|token| token != "(" && is_operand(token))? + 1;
            let terms = tokens.get(..length)?;
            terms.iter().find(|token| "+-*/^".contains(token.as_str()))?;
            (terms.join(" ").replace("( ", "(").replace(" )", ")"), length)
        }
        (word, token) if token.eq_ignore_ascii_case(word) => (String::new(), 1),
        _ => return None,
    };
    captures.extend(Some(capture).filter(|capture| !capture.is_empty()));
    let rest = tokens.get(length..)?;
    if phrase.is_empty() { Some(rest) } else { fit(phrase, rest, captures) }
}

/// The word as it is spelled in a list.
fn spelling(list: &'static str, word: &str) -> Option<&'static str> {
    list.split(' ').find(|known| known.eq_ignore_ascii_case(word))
}

/// Whether a token is a number such as `2340` or `1.5`: dates, times and versions are not.
fn is_number(token: &str) -> bool {
    token.starts_with(|c: char| c.is_ascii_digit()) && token.parse::<f64>().is_ok()
}

/// Words, numbers without the commas between thousands, symbols, and a comma for each end of a clause.
fn tokens(text: &str) -> Vec<String> {
    let symbols = SYMBOLS.chars().map(|symbol| (symbol, format!(" {symbol} ")));
    let spaced = symbols.fold(text.to_owned(), |text, (symbol, spaced)| text.replace(symbol, &spaced));
    let mut tokens = Vec::new();
    for word in spaced.split_whitespace() {
        let clean = word.trim_matches(['.', ',', ';', ':', '?', '!', '"', '\'', '…']);
        let is_number_first = clean.starts_with(|c: char| c.is_ascii_digit());
        let unit = clean.find(|c: char| c.is_alphabetic() || c == '°').filter(|_| is_number_first);
        let (number, rest) = clean.split_at(unit.unwrap_or(0));
        for part in [number, rest].into_iter().filter(|part| !part.is_empty()) {
            let is_grouped = part.split(',').skip(1).all(|group| group.split('.').next().map(str::len) == Some(3));
            let part = if is_grouped { part.replace(',', "") } else { part.to_owned() };
            let synonym = SYNONYMS.split(' ').filter_map(|pair| pair.split_once('=')).find(|(other, _)| *other == part);
            tokens.push(synonym.map_or(part.clone(), |(_, word)| word.to_owned()));
        }
        tokens.extend(word.ends_with(['.', ',', ';', ':', '?', '!']).then(|| ",".to_owned()));
    }
    tokens
}
