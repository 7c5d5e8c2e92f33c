//! Where two runs part: the first decision that differs, in one sentence.

use turnwise_engine::{CallRecord, TurnRecord};

use super::source::RunSource;
use turnwise_content::format::{counted, one_line};

/// What differs in two turns, in the order in which it happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DivergenceCause {
    /// Only one run has the turn.
    Missing,
    Request,
    Attempts,
    Kind,
    Text,
    Calls,
    Results,
}

impl DivergenceCause {
    pub(super) fn label(self) -> &'static str {
        match self {
            DivergenceCause::Missing => "only one run has this turn",
            DivergenceCause::Request => "request",
            DivergenceCause::Attempts => "failed attempts",
            DivergenceCause::Kind => "kind",
            DivergenceCause::Text => "text",
            DivergenceCause::Calls => "tool calls",
            DivergenceCause::Results => "results",
        }
    }
}

/// Returns what differs in two turns. Once the runs have parted, their requests differ too, which then says nothing.
pub(super) fn causes(turns: [Option<&TurnRecord>; 2], parted: bool) -> Vec<DivergenceCause> {
    let [Some(a), Some(b)] = turns else { return vec![DivergenceCause::Missing] };
    let calls = a.tool_calls.len() != b.tool_calls.len() || same_calls(a, b) < a.tool_calls.len();
    let found = [
        (!parted && requests_differ(a, b), DivergenceCause::Request),
        (
            !a.attempts.iter().map(|one| &one.slugs).eq(b.attempts.iter().map(|one| &one.slugs)),
            DivergenceCause::Attempts,
        ),
        (a.synthesis != b.synthesis, DivergenceCause::Kind),
        (a.content != b.content, DivergenceCause::Text),
        (calls, DivergenceCause::Calls),
        (!calls && differing_result(a, b).is_some(), DivergenceCause::Results),
    ];
    found.into_iter().filter(|(differs, _)| *differs).map(|(_, cause)| cause).collect()
}

/// `They part at turn 3: this run calls read_file {"path":"a.txt"}; the other answers "B".`
pub(super) fn sentence(
    runs: [&RunSource<'_>; 2],
    turns: [Option<&TurnRecord>; 2],
    causes: &[DivergenceCause],
    other: &str,
) -> String {
    let number = turns[0].or(turns[1]).map_or(0, |turn| turn.turn);
    let both = |a: String, b: String| format!("They part at turn {number}: this run {a}; {other} {b}.");
    let [a, b] = match turns {
        [Some(a), Some(b)] => [a, b],
        [Some(only), None] => return both(decision(only, &TurnRecord::default()), "has ended".to_owned()),
        [None, Some(only)] => return both("has ended".to_owned(), decision(only, &TurnRecord::default())),
        [None, None] => return String::new(),
    };
    let decided = causes
        .iter()
        .any(|cause| matches!(cause, DivergenceCause::Kind | DivergenceCause::Text | DivergenceCause::Calls));
    match causes.first() {
        Some(DivergenceCause::Request) => {
            let what = request_parts(runs);
            let what = if what.is_empty() { String::new() } else { format!(" ({})", what.join(", ")) };
            let then = match decided {
                true => format!("this run {}; {other} {}", decision(a, b), decision(b, a)),
                false => "the replies are the same".to_owned(),
            };
            format!("They part at turn {number}, where the requests differ{what}: {then}.")
        }
        Some(DivergenceCause::Attempts) => both(attempts(a), attempts(b)),
        _ if decided => both(decision(a, b), decision(b, a)),
        _ => match differing_result(a, b) {
            Some((mine, theirs)) => {
                let result = |call: &CallRecord| quoted(call.result.as_deref().unwrap_or_default());
                format!(
                    "They part at turn {number}: {} returns {} to this run and {} to {other}.",
                    asked(mine),
                    result(mine),
                    result(theirs)
                )
            }
            None => format!("They part at turn {number}."),
        },
    }
}

/// Returns what the run does in a turn, where the other run does something else.
fn decision(turn: &TurnRecord, other: &TurnRecord) -> String {
    let same = same_calls(turn, other);
    let verb = match (same > 0, turn.synthesis) {
        (true, _) => "writes",
        (false, true) => "concludes",
        (false, false) => "answers",
    };
    match turn.tool_calls.get(same) {
        Some(call) => format!("calls {}", asked(call)),
        None if other.tool_calls.len() > same && same > 0 => "makes no further call".to_owned(),
        None if turn.content.trim().is_empty() => format!("{verb} nothing"),
        None => format!("{verb} {}", quoted(&turn.content)),
    }
}

fn attempts(turn: &TurnRecord) -> String {
    let failed = turn.attempts.iter().filter(|attempt| !attempt.slugs.is_empty());
    let slugs: Vec<&str> = failed.filter_map(|attempt| attempt.slugs.first()).map(|slug| slug.as_str()).collect();
    if slugs.is_empty() { "has no failed attempt".to_owned() } else { format!("fails first ({})", slugs.join(", ")) }
}

/// Returns the parts of the request that are known to differ.
fn request_parts(runs: [&RunSource<'_>; 2]) -> Vec<&'static str> {
    request_changes(runs).into_iter().map(|(part, _)| part).collect()
}

/// Returns the parts of the request that are known to differ, each with its text in both runs.
pub(super) fn request_changes(runs: [&RunSource<'_>; 2]) -> Vec<(&'static str, [String; 2])> {
    type Text = fn(&RunSource<'_>) -> String;
    let parts: [(&'static str, Text); 5] = [
        ("task", |run| match run.images.len() {
            0 => run.input.to_owned(),
            images => format!("{}\n\n{}", run.input, counted(images as u64, "picture")),
        }),
        ("model", |run| {
            let first = run.config.providers.first();
            first.map(|first| format!("{} · {}", first.model, super::provider::name(first))).unwrap_or_default()
        }),
        ("system message", |run| run.config.system_text()),
        ("max turns", |run| run.config.max_turns.to_string()),
        ("temperature", |run| run.config.temperature.map_or_else(|| "default".to_owned(), |value| value.to_string())),
    ];
    let texts = parts.into_iter().map(|(part, text)| (part, runs.map(text)));
    let same_pictures = runs[0].images == runs[1].images;
    texts.filter(|(part, [a, b])| a != b || (*part == "task" && !same_pictures)).collect()
}

fn requests_differ(a: &TurnRecord, b: &TurnRecord) -> bool {
    // A record of another agent has no hashes.
    let hash = |turn: &TurnRecord| turn.attempts.first().map(|attempt| attempt.request_hash.clone());
    let known = |turn: &TurnRecord| hash(turn).filter(|hash| !hash.is_empty());
    known(a).zip(known(b)).is_some_and(|(a, b)| a != b)
}

/// Returns the number of first calls that are the same.
fn same_calls(a: &TurnRecord, b: &TurnRecord) -> usize {
    let calls = a.tool_calls.iter().zip(&b.tool_calls);
    calls.take_while(|(a, b)| a.name == b.name && a.args == b.args).count()
}

/// Returns the name of the first call whose result differs, and both results.
pub(super) fn result_change(a: &TurnRecord, b: &TurnRecord) -> Option<(String, [String; 2])> {
    let (a, b) = differing_result(a, b)?;
    Some((a.name.clone(), [a, b].map(|call| call.result.clone().unwrap_or_default())))
}

fn differing_result<'a>(a: &'a TurnRecord, b: &'a TurnRecord) -> Option<(&'a CallRecord, &'a CallRecord)> {
    a.tool_calls.iter().zip(&b.tool_calls).find(|(a, b)| a.result != b.result)
}

/// `read_file {"path":"a.txt"}`
fn asked(call: &CallRecord) -> String {
    format!("{} {}", call.name, one_line(&call.args.to_string(), 100))
}

fn quoted(text: &str) -> String {
    format!("\u{201c}{}\u{201d}", one_line(text, 100).trim_end_matches('.'))
}
