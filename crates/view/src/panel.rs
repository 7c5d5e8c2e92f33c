//! The run panel: the progress of the run, its usage, and the available actions.

use turnwise_engine::{CounterLevel, Outcome, Slug, Status, Trigger, Usage, own_tools};

use super::attempt::is_refusal;
use super::call::{self, ProgressView};
use super::ending::{EndingView, trigger_words};
use super::lane::Tally;
use super::meter::{self, Meter};
use super::models::price_words;
use super::source::{RunSource, SourceOrigin, forces_report};
use super::turn::WaitView;
use turnwise_content::format::{counted, dollars, sentence_case, thousands};

#[derive(Clone, Debug, PartialEq)]
pub struct PanelView {
    pub phase: PanelPhase,
    pub turn: u32,
    pub max_turns: u32,
    pub level: CounterLevel,
    pub meter: Meter,
    /// One sentence under the meter.
    pub note: String,
    /// The requests so far.
    pub calls: String,
    /// `at most 24 in all`, while the run is in progress. It shrinks, so it is not next to the count.
    pub calls_bound: Option<String>,
    pub tokens_in: String,
    pub tokens_out: String,
    pub tokens_cached: Option<String>,
    pub tokens_reasoning: Option<String>,
    pub tokens_estimated: Estimated,
    /// US dollars, if the prices are known.
    pub cost: Option<String>,
    /// The prices that the cost is based on, with the date of prices from the table.
    pub cost_words: Option<String>,
    /// How full the model's context window is, if its size is known.
    pub context: Option<Fill>,
    /// `3 of 5 done`, if there are sub-agents.
    pub subagents: Option<String>,
    /// The model's latest progress report, while the run is in progress.
    pub progress: Option<ProgressView>,
    /// Milliseconds since 1970.
    pub started_at: u64,
    /// Its duration, once it has ended, without the pauses between its segments.
    pub elapsed_ms: Option<u64>,
    /// These pauses, in total.
    pub paused_ms: u64,
    pub wait: Option<WaitView>,
    pub ending: Option<EndingView>,
    /// Whether `Resume` has an effect: the page was closed during the run.
    pub can_resume: bool,
    /// Whether it makes sense to wrap up: there is something to conclude from. Not while the text of a reply streams, which may be the
    /// answer; the record does not have it yet.
    pub can_wrap_up: bool,
    /// Whether another page drives the run, so that no action is possible here.
    pub elsewhere: bool,
    /// Whether `Continue` has an effect.
    pub can_continue: bool,
    /// The turns that it grants.
    pub more_turns: u32,
    /// What the user can do about a run that failed or was stopped.
    pub remedy: Option<Remedy>,
    /// For the tab: `Turn 3/15`, `Done`.
    pub title: String,
    /// The run in one line, once it has ended: `Done`, `3 of 15 turns`, `7.4k tokens`.
    pub facts: Vec<String>,
    /// Announced by screen readers when it changes.
    pub announcement: String,
}

/// The phase of a run, which decides which controls make sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PanelPhase {
    Running,
    /// It concludes already, so it cannot wrap up.
    Synthesizing,
    Ended,
}

/// What has to change before the same task can succeed, or how it goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// The provider refused the key.
    Key,
    /// Nothing: the server or the network did not answer this time.
    Time,
    /// Anything else about the model: another one may answer.
    Model,
    /// Nothing: the user stopped the run. Its last turn can be written again, as a separate run.
    LastTurn,
}

/// How full a context window is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fill {
    /// 0 to 100, for the bar.
    pub bar: u64,
    /// `74 %`; more than 100 if the estimate is.
    pub percent: String,
    /// `filling up`
    pub words: &'static str,
    pub level: CounterLevel,
}

/// Whether the token counts come from the provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Estimated {
    Exact,
    Estimated,
}

impl From<&RunSource<'_>> for PanelView {
    fn from(source: &RunSource<'_>) -> Self {
        let turn = source.turns_used();
        let max_turns = source.effective_max_turns;
        let phase = phase(source);
        let usage = source.usage;
        let some = |count: u64| (count > 0).then(|| thousands(count));
        let last = source.segments.len().checked_sub(1).filter(|_| phase == PanelPhase::Ended);
        let ending = last.and_then(|last| EndingView::for_segment(source, last));
        let outcome = source.segments.last().map(|ending| ending.outcome).filter(|_| ending.is_some());
        PanelView {
            phase,
            turn,
            max_turns,
            level: meter::level(source.config.counter.as_ref(), turn, max_turns),
            meter: Meter::from(source),
            note: note(source, phase, turn),
            calls: thousands(u64::from(source.requests_answered())),
            calls_bound: (phase != PanelPhase::Ended)
                .then(|| calls_bound(source.requests_answered(), source.calls_left)),
            tokens_in: tokens(usage, usage.input.0),
            tokens_out: tokens(usage, usage.output.0),
            tokens_cached: some(usage.cached.0),
            tokens_reasoning: some(usage.reasoning.0),
            tokens_estimated: if usage.estimated { Estimated::Estimated } else { Estimated::Exact },
            cost: source.cost.filter(|_| source.requests > 0).map(dollars),
            cost_words: cost_words(source),
            context: source.context_percent.map(fill),
            subagents: Tally::from_source(source).summary(),
            progress: progress(source, phase),
            started_at: source.started_at.0,
            elapsed_ms: (phase == PanelPhase::Ended).then(|| source.elapsed_ms()),
            paused_ms: source.paused_ms(),
            wait: wait(source),
            can_resume: source.origin == SourceOrigin::Interrupted,
            can_wrap_up: can_wrap_up(source, phase),
            elsewhere: source.origin == SourceOrigin::Elsewhere,
            can_continue: source.can_continue,
            more_turns: more_turns(source),
            remedy: match outcome {
                Some(Outcome::Failed) => Some(remedy(source)),
                Some(Outcome::Cancelled) => Some(Remedy::LastTurn),
                Some(Outcome::Success | Outcome::Partial) | None => None,
            },
            facts: ending.as_ref().map(|ending| facts(ending, usage)).unwrap_or_default(),
            title: title(phase, turn, max_turns, outcome),
            announcement: announcement(source, phase, turn, ending.as_ref()),
            ending,
        }
    }
}

fn remedy(source: &RunSource<'_>) -> Remedy {
    let Some(turn) = source.turns.last() else { return Remedy::Model };
    match turn.attempts.last().and_then(|attempt| attempt.slugs.first()) {
        Some(Slug::AuthError) => Remedy::Key,
        Some(Slug::ProviderError) if !is_refusal(source, turn) => Remedy::Time,
        Some(Slug::RateLimited | Slug::NetworkError | Slug::Timeout | Slug::StreamCut | Slug::Interrupted) => {
            Remedy::Time
        }
        _ => Remedy::Model,
    }
}

fn phase(source: &RunSource<'_>) -> PanelPhase {
    match source.status {
        Status::Ended => PanelPhase::Ended,
        Status::Calling { synthesis: true, .. } | Status::Waiting { synthesis: true, .. } => PanelPhase::Synthesizing,
        Status::Calling { .. } | Status::Waiting { .. } | Status::Tools { .. } => PanelPhase::Running,
    }
}

/// Before the first tool call there is nothing to conclude from, and a run is asked once.
fn can_wrap_up(source: &RunSource<'_>, phase: PanelPhase) -> bool {
    let has_gathered = source.turns.len() > 1 || matches!(source.status, Status::Tools { .. });
    let reports = source.turns.last().is_some_and(|turn| source.asks_for_report(turn, source.effective_max_turns));
    phase == PanelPhase::Running && source.wrap_up.is_none() && has_gathered && !reports
}

fn note(source: &RunSource<'_>, phase: PanelPhase, turn: u32) -> String {
    let left = counted(u64::from(source.calls_left), "LLM call");
    let remaining = source.effective_max_turns.saturating_sub(turn);
    let outcome = source.segments.last().map(|ending| ending.outcome);
    match (phase, source.can_continue) {
        (PanelPhase::Ended, _) if source.origin == SourceOrigin::Interrupted => {
            format!("The page was closed during turn {}. Resume to ask the model again: up to {left}.", turn.max(1))
        }
        (PanelPhase::Running | PanelPhase::Synthesizing, _) if source.origin == SourceOrigin::Elsewhere => {
            "It runs in another tab; this one follows.".to_owned()
        }
        (PanelPhase::Ended, _) if source.origin == SourceOrigin::Document => match source.segments.last() {
            _ if source.imported.is_some() => {
                "Opened from a file in another format (read-only). It has no events, so it cannot be replayed."
                    .to_owned()
            }
            Some(_) => "Opened from a file (read-only).".to_owned(),
            None => "Opened from a file that was written while the run was in progress.".to_owned(),
        },
        (PanelPhase::Ended, true) => limit(source).to_owned(),
        (PanelPhase::Ended, false) if outcome == Some(Outcome::Failed) => {
            "It failed. The transcript says why, and what you can do.".to_owned()
        }
        (PanelPhase::Ended, false) if outcome == Some(Outcome::Cancelled) => {
            "You stopped it. Ask a follow-up below, or have the answer finished.".to_owned()
        }
        (PanelPhase::Ended, false) => "Ask a follow-up below; it continues this conversation.".to_owned(),
        // The bound of LLM calls shrinks with each of them, so it is said where the calls are counted.
        (PanelPhase::Synthesizing, _) => "Writing the synthesis.".to_owned(),
        (PanelPhase::Running, _) if remaining == 0 && forces_report(source.config) => {
            "The last turn asks for the report.".to_owned()
        }
        (PanelPhase::Running, _) if remaining == 0 => "This is the last turn.".to_owned(),
        (PanelPhase::Running, _) => format!("Up to {} left.", counted(u64::from(remaining), "turn")),
    }
}

/// The turns that a run is granted at a time.
const MORE: u32 = 5;

/// Returns the turns that `Continue` grants. The new limit counts from the turns used, so that a run that was stopped early gets at
/// least the rest of its limit: continuing it never lowers the limit.
fn more_turns(source: &RunSource<'_>) -> u32 {
    let limit = source.config.max_turns.max(source.effective_max_turns);
    let used = source.segments.last().map_or(0, |ending| ending.total_turns);
    limit.saturating_sub(used).max(MORE)
}

/// Returns why a run that can continue has ended, and how it continues.
fn limit(source: &RunSource<'_>) -> &'static str {
    match source.segments.last().and_then(|ending| ending.wrap_up).unwrap_or(Trigger::MaxTurns) {
        Trigger::MaxTurns => "It reached its turn limit. Add turns to continue.",
        Trigger::Stop => "It wrapped up before its limit, as you asked. It can continue from there.",
        Trigger::Context => "Its context window was full. Add turns to continue.",
        Trigger::WallTime => "It reached its time limit. Add turns to continue.",
        Trigger::Tokens => "It used up its token budget. Add turns to continue.",
        Trigger::Cost => "It used up its cost budget. Add turns to continue.",
    }
}

/// The bound of requests as text.
pub(super) fn calls_bound(requests: u32, left: u32) -> String {
    format!("at most {} in all", thousands(u64::from(requests) + u64::from(left)))
}

/// Returns the latest progress report, including those inside a batch.
fn progress(source: &RunSource<'_>, phase: PanelPhase) -> Option<ProgressView> {
    if phase == PanelPhase::Ended {
        return None;
    }
    let calls = source.turns.iter().rev().flat_map(|turn| turn.tool_calls.iter().rev());
    let mut each = calls.flat_map(|call| call.calls.iter().rev().chain(std::iter::once(call)));
    each.find_map(call::progress)
}

fn cost_words(source: &RunSource<'_>) -> Option<String> {
    let text: Vec<String> = source.config.providers.iter().filter_map(price_words).collect();
    (!text.is_empty()).then(|| text.join("; "))
}

fn fill(percent: u64) -> Fill {
    let (level, text) = match percent {
        0..60 => (CounterLevel::Normal, "room to spare"),
        60..85 => (CounterLevel::Moderate, "filling up"),
        _ => (CounterLevel::Urgent, "nearly full"),
    };
    Fill { bar: percent.min(100), percent: format!("{percent} %"), words: text, level }
}

fn facts(ending: &EndingView, usage: Usage) -> Vec<String> {
    let count = usage.input.0.saturating_add(usage.output.0);
    let about = if usage.estimated { "≈ " } else { "" };
    let tokens = (count > 0).then(|| format!("{about}{}", counted_short(count, "token")));
    [Some(ending.label.to_owned()), Some(ending.turns.clone()), tokens].into_iter().flatten().collect()
}

/// `980 tokens`, `7.4k tokens`, `1.2M tokens`
fn counted_short(count: u64, noun: &str) -> String {
    let short = |unit: u64, suffix: char| {
        let tenths = (count + unit / 20) / (unit / 10);
        match (tenths / 10, tenths % 10) {
            (whole, 0) => format!("{whole}{suffix}"),
            (whole, tenth) if whole < 100 => format!("{whole}.{tenth}{suffix}"),
            (whole, _) => format!("{whole}{suffix}"),
        }
    };
    match count {
        0..1_000 => counted(count, noun),
        1_000..999_950 => format!("{} {noun}s", short(1_000, 'k')),
        _ => format!("{} {noun}s", short(1_000_000, 'M')),
    }
}

fn tokens(usage: Usage, count: u64) -> String {
    if usage.estimated { format!("≈ {}", thousands(count)) } else { thousands(count) }
}

fn wait(source: &RunSource<'_>) -> Option<WaitView> {
    let Status::Waiting { attempt, until, synthesis, .. } = source.status else { return None };
    let of = match (&source.config.synthesis, synthesis) {
        (Some(config), true) => config.attempts,
        _ => source.config.max_attempts,
    };
    Some(WaitView { until: source.started_at.0.saturating_add(until.0), attempt, of })
}

fn announcement(source: &RunSource<'_>, phase: PanelPhase, turn: u32, ending: Option<&EndingView>) -> String {
    match (phase, ending) {
        (PanelPhase::Ended, Some(ending)) => format!("Run ended: {} {}.", ending.headline, ending.turns),
        (PanelPhase::Ended, None) => String::new(),
        (PanelPhase::Synthesizing, _) => {
            let trigger = source.wrap_up.unwrap_or(Trigger::MaxTurns);
            format!("{}: writing the synthesis.", sentence_case(trigger_words(trigger)))
        }
        (PanelPhase::Running, _) => match source.status {
            Status::Waiting { attempt, .. } => format!("Turn {turn}: waiting before attempt {attempt}."),
            Status::Tools { .. } if at_work(source) => now_at_work(source, turn),
            Status::Calling { .. } | Status::Tools { .. } | Status::Ended => turn_words(source, turn),
        },
    }
}

fn turn_words(source: &RunSource<'_>, turn: u32) -> String {
    let max = source.effective_max_turns;
    match meter::level(source.config.counter.as_ref(), turn, max) {
        CounterLevel::Normal | CounterLevel::Off => format!("Turn {turn} of {max}."),
        level => format!("Turn {turn} of {max}, {}.", meter::level_words(level)),
    }
}

/// Returns whether sub-agents of this turn are running: the end of each is announced, but not its actions.
fn at_work(source: &RunSource<'_>) -> bool {
    source.last_calls().iter().any(|call| call.name == own_tools::SPAWN && call.result.is_none())
}

fn now_at_work(source: &RunSource<'_>, turn: u32) -> String {
    Tally::from_source(source).announcement().unwrap_or_else(|| turn_words(source, turn))
}

fn title(phase: PanelPhase, turn: u32, max_turns: u32, outcome: Option<Outcome>) -> String {
    match (phase, outcome) {
        (PanelPhase::Running, _) => format!("Turn {turn}/{max_turns}"),
        (PanelPhase::Synthesizing, _) => "Concluding".to_owned(),
        (PanelPhase::Ended, Some(Outcome::Success | Outcome::Partial)) => "Done".to_owned(),
        (PanelPhase::Ended, Some(Outcome::Failed)) => "Failed".to_owned(),
        (PanelPhase::Ended, Some(Outcome::Cancelled) | None) => String::new(),
    }
}
