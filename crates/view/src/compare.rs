//! Two runs side by side: their facts, their turns, and where they first differ.

use turnwise_engine::{CallRecord, TurnRecord};

use super::ending;
use super::parting::{DivergenceCause, causes, request_changes, result_change, sentence};
use super::provider;
use super::source::RunSource;
use turnwise_content::format::{counted, duration, one_line, sentence_case, thousands};

/// The maximum number of characters shown of a turn's text.
const TEXT: usize = 600;

/// What a run is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComparedWith {
    /// The run that it is a branch of.
    Original,
    /// A branch of it.
    Branch,
    Other,
}

impl ComparedWith {
    /// What it is called in a sentence.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            ComparedWith::Original => "the original",
            ComparedWith::Branch => "the branch",
            ComparedWith::Other => "the other",
        }
    }

    /// Puts what belongs to this run and to the other one in their order: the baseline, then what was changed.
    fn ordered<T>(self, [own, other]: [T; 2]) -> [T; 2] {
        if self == ComparedWith::Branch { [own, other] } else { [other, own] }
    }
}

/// Two runs. Of each pair, the first is of the baseline, and the second of the run that is compared with it: a branch, or the open run.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// What the runs are called: `["The original", "This run"]`
    pub names: [String; 2],
    /// `First difference: system message`; `None`: they are the same.
    pub title: Option<String>,
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
    /// How much more or less the second run has, if both are amounts and differ: `1,200 more (+14 %)`.
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
    /// The texts that differ, as far as the sides do not show it.
    pub changes: Vec<TextChange>,
    /// The replies and their results are the same: only what was asked for differs.
    pub same_reply: bool,
    /// Whether this is the first pair that differs.
    pub first: bool,
}

/// A text that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextChange {
    /// `System message`
    pub name: String,
    pub texts: [String; 2],
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
    /// Compares a run with another one.
    #[must_use]
    pub fn new(a: &RunSource<'_>, b: &RunSource<'_>, with: ComparedWith) -> Self {
        let fact = |((name, a, from), (_, b, to))| Fact { name, values: [a, b], change: change(name, from, to) };
        let [before, after] = with.ordered([a, b]);
        let facts = facts(before).into_iter().zip(facts(after)).map(fact).collect();
        let mut title = None;
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
            words.get_or_insert_with(|| sentence([a, b], turns, &causes, with.name()));
            let pair = Pair::new([before, after], with.ordered(turns), &causes, first);
            title.get_or_insert_with(|| format!("First difference: {}", pair.differs));
            rows.push(TurnRow::Turns(Box::new(Pair { sides: with.ordered(sides), ..pair })));
        }
        fold(&mut rows, &mut same);
        let output =
            |source: &RunSource<'_>| source.segments.last().map(|last| last.output.clone()).unwrap_or_default();
        let words = words.unwrap_or_else(|| "All turns are the same.".to_owned());
        let names = with.ordered(["This run".to_owned(), sentence_case(with.name())]);
        Comparison { names, title, facts, rows, words, outputs: [output(before), output(after)] }
    }
}

impl Pair {
    /// Says what differs in two turns; without their summaries.
    fn new(
        runs: [&RunSource<'_>; 2],
        turns: [Option<&TurnRecord>; 2],
        causes: &[DivergenceCause],
        first: bool,
    ) -> Self {
        let of_request = if causes.contains(&DivergenceCause::Request) { request_changes(runs) } else { Vec::new() };
        let named: Vec<&str> = of_request.iter().map(|(name, _)| *name).collect();
        let label = |cause: &DivergenceCause| match cause {
            DivergenceCause::Request if !named.is_empty() => named.join(", "),
            cause => cause.label().to_owned(),
        };
        let of_request = of_request.into_iter().map(|(name, texts)| TextChange { name: sentence_case(name), texts });
        let of_result = match (turns, causes.contains(&DivergenceCause::Results)) {
            ([Some(a), Some(b)], true) => result_change(a, b),
            _ => None,
        };
        let of_result = of_result.map(|(call, texts)| TextChange { name: format!("Result of {call}"), texts });
        Pair {
            sides: [None, None],
            differs: causes.iter().map(label).collect::<Vec<_>>().join(", "),
            changes: of_request.chain(of_result).collect(),
            same_reply: causes == [DivergenceCause::Request],
            first,
        }
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
        amount("Requests", u64::from(source.requests)),
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
