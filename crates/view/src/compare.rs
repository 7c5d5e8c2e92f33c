//! Two runs side by side: their facts, their turns, and where they first differ.

use turnwise_engine::{CallRecord, TurnRecord};

use super::ending;
use super::parting::{DivergenceCause, causes, sentence};
use super::provider;
use super::source::RunSource;
use turnwise_content::format::{counted, duration, one_line, thousands};

/// The maximum number of characters shown of a turn's text.
const TEXT: usize = 600;

/// Two runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    pub facts: Vec<Fact>,
    pub rows: Vec<TurnRow>,
    /// Where they part, in one sentence.
    pub words: String,
    /// The reports.
    pub outputs: [String; 2],
}

/// One fact about both runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    pub name: &'static str,
    pub values: [String; 2],
    /// How much more or less the other run has, if both are amounts and differ: `1,200 more (+14 %)`.
    pub change: Option<String>,
}

/// One row of turns.
#[derive(Clone, Debug, PartialEq)]
pub enum TurnRow {
    /// Consecutive turns that are the same in both runs.
    Same(Vec<TurnSummary>),
    Turns(Box<Pair>),
}

/// The turns at one index; one of them may be missing.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    pub sides: [Option<TurnSummary>; 2],
    /// `text, tool calls`
    pub differs: String,
    /// Whether this is the first pair that differs.
    pub first: bool,
}

/// A short summary of a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnSummary {
    pub number: u32,
    pub synthesis: bool,
    pub text: String,
    /// Name, arguments, and the size of the result or its error.
    pub calls: Vec<[String; 3]>,
    /// The number of failed attempts, as text.
    pub failed: Option<String>,
}

impl Fact {
    #[must_use]
    pub fn differs(&self) -> bool {
        self.values[0] != self.values[1]
    }
}

impl Comparison {
    /// Compares two runs. `other`: what the second one is called in a sentence.
    #[must_use]
    pub fn new(a: &RunSource<'_>, b: &RunSource<'_>, other: &str) -> Self {
        let fact = |((name, a, from), (_, b, to))| Fact { name, values: [a, b], change: change(name, from, to) };
        let facts = facts(a).into_iter().zip(facts(b)).map(fact).collect();
        let (mut rows, mut same, mut words) = (Vec::new(), Vec::new(), None);
        for at in 0..a.turns.len().max(b.turns.len()) {
            let turns = [a.turns.get(at), b.turns.get(at)];
            let causes = causes(turns, words.is_some());
            let sides = turns.map(|turn| turn.map(TurnSummary::from_turn));
            if causes.is_empty() {
                same.extend(sides.into_iter().flatten().next());
                continue;
            }
            fold(&mut rows, &mut same);
            let first = words.is_none();
            words.get_or_insert_with(|| sentence([a, b], turns, &causes, other));
            let differs = causes.into_iter().map(DivergenceCause::label).collect::<Vec<_>>().join(", ");
            rows.push(TurnRow::Turns(Box::new(Pair { sides, differs, first })));
        }
        fold(&mut rows, &mut same);
        let output =
            |source: &RunSource<'_>| source.segments.last().map(|last| last.output.clone()).unwrap_or_default();
        let words = words.unwrap_or_else(|| "All turns are the same.".to_owned());
        Comparison { facts, rows, words, outputs: [output(a), output(b)] }
    }
}

impl TurnSummary {
    fn from_turn(turn: &TurnRecord) -> Self {
        let failed = turn.attempts.iter().filter(|attempt| !attempt.slugs.is_empty()).count() as u64;
        let call = |call: &CallRecord| {
            let result = match (&call.error, &call.result) {
                (Some(error), _) => one_line(error, 120),
                (None, Some(result)) => one_line(result, 120),
                (None, None) => "no answer".to_owned(),
            };
            [call.name.clone(), one_line(&call.args.to_string(), 160), result]
        };
        let mut text: String = turn.content.chars().take(TEXT).collect();
        if text.len() < turn.content.len() {
            text.push('…');
        }
        TurnSummary {
            number: turn.turn,
            synthesis: turn.synthesis,
            text,
            calls: turn.tool_calls.iter().map(call).collect(),
            failed: (failed > 0).then(|| counted(failed, "failed attempt")),
        }
    }
}

/// Adds the equal turns so far as one row.
fn fold(rows: &mut Vec<TurnRow>, same: &mut Vec<TurnSummary>) {
    if !same.is_empty() {
        rows.push(TurnRow::Same(std::mem::take(same)));
    }
}

/// Returns how much `to` is more or less than `from`.
fn change(name: &str, from: Option<u64>, to: Option<u64>) -> Option<String> {
    let (from, to) = (from?, to?);
    let is_time = name == DURATION;
    let (sign, by, than) = match to.cmp(&from) {
        std::cmp::Ordering::Equal => return None,
        std::cmp::Ordering::Greater => ('+', to - from, if is_time { "longer" } else { "more" }),
        std::cmp::Ordering::Less => ('\u{2212}', from - to, if is_time { "shorter" } else { "fewer" }),
    };
    let amount = if is_time { duration(by) } else { thousands(by) };
    let percent = by.saturating_mul(100).checked_div(from).map(|percent| format!(" ({sign}{percent}\u{a0}%)"));
    Some(format!("{amount} {than}{}", percent.unwrap_or_default()))
}

const DURATION: &str = "Duration";

/// Returns the facts: name, text, and the amount if it is one.
fn facts(source: &RunSource<'_>) -> Vec<(&'static str, String, Option<u64>)> {
    let ending = source.segments.last();
    let models = provider::facts(source.config).join(", ");
    let calls: usize = source.turns.iter().map(|turn| turn.tool_calls.len()).sum();
    let failed =
        source.turns.iter().flat_map(|turn| &turn.attempts).filter(|attempt| !attempt.slugs.is_empty()).count();
    let amount = |name, amount: u64| (name, thousands(amount), Some(amount));
    vec![
        ("Task", one_line(source.input, 300), None),
        ("Model", models, None),
        ("Preset", source.config.preset.as_str().to_owned(), None),
        ("Turns", format!("{} of {}", source.turns.len(), source.effective_max_turns), Some(source.turns.len() as u64)),
        amount("LLM calls", u64::from(source.requests)),
        amount("Failed attempts", failed as u64),
        amount("Tool calls", calls as u64),
        amount("Tokens in", source.usage.input.0),
        amount("Tokens out", source.usage.output.0),
        (DURATION, duration(source.elapsed_ms()), Some(source.elapsed_ms())),
        ("Ended", ending.map_or("unfinished", |ending| ending::how_of(ending.termination_reason)).to_owned(), None),
    ]
}

#[cfg(test)]
mod tests {
    use super::{DURATION, change};

    #[test]
    fn an_amount_says_by_how_much_it_differs() {
        assert_eq!(change("Tokens in", Some(1_000), Some(2_200)).as_deref(), Some("1,200 more (+120\u{a0}%)"));
        assert_eq!(change("Turns", Some(4), Some(3)).as_deref(), Some("1 fewer (\u{2212}25\u{a0}%)"));
        assert_eq!(change(DURATION, Some(0), Some(1_500)).as_deref(), Some("1.5 s longer"));
        assert_eq!((change("Turns", Some(4), Some(4)), change("Task", None, None)), (None, None));
    }
}
