//! The attempts of a turn that gave no usable reply: the reason, the consequence, and the notice sent to the model.

use turnwise_engine::{AttemptRecord, CallRecord, PartialReply, Slug, TurnRecord, prompts};

use super::call::CallView;
use super::lines::AddedLines;
use super::slug::{SlugView, is_models_doing};
use super::source::RunSource;
use turnwise_content::format::{duration, one_line};

/// An attempt that gave no usable reply, or several in a row that failed for the same reason.
#[derive(Clone, Debug, PartialEq)]
pub struct FailedAttempt {
    /// The most significant first; never empty.
    pub slugs: Vec<SlugView>,
    /// Empty if one of its calls says the same.
    pub message: String,
    /// `attempt 1 of 3`, `attempts 1 to 3 of 3`
    pub attempt: String,
    /// `tried again after 0.8 s`, `no attempt left`
    pub then: String,
    /// The same for people: `Tried 3 times`; empty while it is not known what follows.
    pub tried: String,
    /// The notice about it that the next request sent to the model, without its prefix.
    pub notice: Option<String>,
    /// The calls it requested: they were answered, but did not make the turn succeed.
    pub calls: Vec<CallView>,
    /// The part that had arrived when the request ended: shown with what ended it, and never part of the conversation.
    pub partial: Option<PartialView>,
    pub weight: Weight,
    /// Whether the ending right below says the message.
    pub is_in_ending: bool,
}

/// The beginning of a reply that was cut short.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartialView {
    pub cut: ReplyCut,
    /// `Stopped here`
    pub remark: &'static str,
    pub reasoning: String,
    /// Markdown, cut off at any point; may be empty if only reasoning arrived.
    pub content: String,
}

/// What cut a reply short, which decides what its beginning is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplyCut {
    /// The user stopped the run: this is what there is of the answer.
    Stopped,
    /// The page was closed: the same, until the run is resumed.
    Interrupted,
    /// A wrap-up or a limit: the conclusion takes its place.
    Superseded,
}

/// How much a failed attempt matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// Ended by the user, not by a fault.
    ByUser,
    /// Another attempt followed.
    Passing,
    /// No further attempt followed in this turn.
    Last,
}

/// Returns the failed attempts of a turn; `lines`: those of its last result, `next`: the turn after it.
pub(super) fn failed(
    record: &TurnRecord,
    lines: AddedLines,
    next: Option<&TurnRecord>,
    max_attempts: u32,
    open: bool,
) -> Vec<FailedAttempt> {
    let faults = record.attempts.iter().enumerate().filter(|(_, attempt)| !attempt.slugs.is_empty());
    let mut shown: Vec<(AttemptSeries, FailedAttempt)> = Vec::new();
    for (place, attempt) in faults {
        let again = record.attempts.get(place + 1);
        let mut failed = failed_attempt(attempt, max_attempts, again, open);
        let retry = again.or_else(|| next.and_then(|turn| turn.attempts.first()));
        failed.notice = retry.and_then(|retry| notice_after(attempt, retry));
        failed.calls = calls_of(record, lines, attempt.attempt);
        // The call's card says it better, with the details.
        if failed.calls.iter().any(|call| call.slug == failed.slugs.first().copied()) {
            failed.message.clear();
        }
        match shown.last_mut() {
            Some((series, before)) if series.goes_on(attempt, before, &failed) => {
                series.add(attempt, max_attempts, before, failed);
            }
            _ => shown.push((AttemptSeries { first: attempt, waits: Vec::new() }, failed)),
        }
    }
    shown.into_iter().map(|(_, failed)| failed).collect()
}

/// Successive attempts that failed for the same reason, and have nothing else to show: they are shown as one.
struct AttemptSeries<'a> {
    first: &'a AttemptRecord,
    /// The wait before each attempt but the first: `0.8 s`
    waits: Vec<String>,
}

impl AttemptSeries<'_> {
    fn goes_on(&self, next: &AttemptRecord, before: &FailedAttempt, failed: &FailedAttempt) -> bool {
        let is_plain = |view: &FailedAttempt| view.notice.is_none() && view.calls.is_empty() && view.partial.is_none();
        next.error.is_some()
            && (&next.error, &next.slugs) == (&self.first.error, &self.first.slugs)
            && is_plain(before)
            && is_plain(failed)
    }

    fn add(&mut self, next: &AttemptRecord, max_attempts: u32, shown: &mut FailedAttempt, failed: FailedAttempt) {
        self.waits.push(next.waited_ms.filter(|ms| *ms > 0).map_or_else(|| "0 s".to_owned(), duration));
        let waits = match self.waits.split_last() {
            Some((last, [])) => last.clone(),
            Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
            None => String::new(),
        };
        *shown = FailedAttempt {
            attempt: format!("attempts {} to {} of {max_attempts}", self.first.attempt, next.attempt),
            then: match failed.then.as_str() {
                "" => format!("tried again after {waits}"),
                then => format!("tried again after {waits}, {then}"),
            },
            ..failed
        };
    }
}

/// Returns the maximum number of attempts of a turn.
pub(super) fn attempts_of(source: &RunSource<'_>, record: &TurnRecord) -> u32 {
    match (record.synthesis, &source.config.synthesis) {
        (true, Some(synthesis)) => synthesis.attempts,
        _ => source.config.max_attempts,
    }
}

/// Whether a turn ended with an error of the provider that another attempt would not mend, such as a model that does not exist.
pub(super) fn is_refusal(source: &RunSource<'_>, record: &TurnRecord) -> bool {
    let is_refused = |last: &AttemptRecord| {
        last.slugs.first() == Some(&Slug::ProviderError) && last.attempt < attempts_of(source, record)
    };
    record.attempts.last().is_some_and(is_refused)
}

/// Returns the calls of the attempts that did not fail.
pub(super) fn calls(record: &TurnRecord, lines: AddedLines) -> Vec<CallView> {
    let failed = |number: u32| record.attempts.iter().any(|a| a.attempt == number && !a.slugs.is_empty());
    let kept = record.tool_calls.iter().filter(|call| !failed(call.attempt));
    kept.map(|call| call_view(record, lines, call)).collect()
}

/// Only the last result of a turn has lines of the engine.
fn call_view(record: &TurnRecord, lines: AddedLines, call: &CallRecord) -> CallView {
    let is_last = record.tool_calls.last().is_some_and(|last| last.id == call.id);
    CallView::new(call, if is_last { lines.bytes() } else { 0 })
}

fn calls_of(record: &TurnRecord, lines: AddedLines, attempt: u32) -> Vec<CallView> {
    let found = record.tool_calls.iter().filter(|call| call.attempt == attempt);
    found.map(|call| call_view(record, lines, call)).collect()
}

fn failed_attempt(
    attempt: &AttemptRecord,
    max_attempts: u32,
    next: Option<&AttemptRecord>,
    open: bool,
) -> FailedAttempt {
    let by_user = ended_by_user(attempt);
    let then = match next {
        Some(next) => match next.waited_ms {
            Some(ms) if ms > 0 => format!("tried again after {}", duration(ms)),
            _ => "tried again at once".to_owned(),
        },
        None if by_user => String::new(),
        // The line below says when.
        None if open => String::new(),
        None if attempt.attempt >= max_attempts => "no attempt left".to_owned(),
        None => "not tried again".to_owned(),
    };
    let weight = match (by_user, next) {
        (true, _) => Weight::ByUser,
        (false, None) if !open => Weight::Last,
        (false, _) => Weight::Passing,
    };
    let tried = match (weight, attempt.attempt) {
        (Weight::ByUser, _) => String::new(),
        (Weight::Passing, _) if next.is_none() => String::new(),
        (Weight::Passing, _) => "Tried again".to_owned(),
        (Weight::Last, 1) => "Not tried again".to_owned(),
        (Weight::Last, 2) => "Tried twice".to_owned(),
        (Weight::Last, count) => format!("Tried {count} times"),
    };
    FailedAttempt {
        slugs: attempt.slugs.iter().map(|slug| SlugView::from(*slug)).collect(),
        message: message(attempt, by_user),
        attempt: if by_user { String::new() } else { format!("attempt {} of {max_attempts}", attempt.attempt) },
        then,
        tried,
        notice: None,
        calls: Vec::new(),
        partial: partial(attempt),
        weight,
        is_in_ending: false,
    }
}

/// Said where the user stopped a run.
const STOPPED: &str = "Stopped here";

/// Returns what had arrived of the last reply of a run that is not driven any more, and whose request is still open in its record.
pub(super) fn left(record: &TurnRecord) -> Option<PartialView> {
    record.attempts.last().filter(|attempt| attempt.slugs.is_empty()).and_then(partial)
}

fn partial(attempt: &AttemptRecord) -> Option<PartialView> {
    let PartialReply { content, reasoning } = attempt.partial.clone()?;
    let (cut, remark) = match attempt.slugs.first() {
        Some(Slug::Cancelled) => (ReplyCut::Stopped, STOPPED),
        Some(Slug::Interrupted) | None => {
            (ReplyCut::Interrupted, "Interrupted here: the page was closed while this was written.")
        }
        _ => (ReplyCut::Superseded, "Not part of the answer: the run had to conclude while this was written."),
    };
    Some(PartialView { cut, remark, reasoning, content })
}

/// The engine's message for an unusable reply only repeats the slugs; their meanings say more.
fn message(attempt: &AttemptRecord, by_user: bool) -> String {
    match (attempt.error.as_deref(), attempt.slugs.first()) {
        (None, Some(Slug::Stopped)) => "Wrapped up here".to_owned(),
        (None, _) if by_user => STOPPED.to_owned(),
        (Some(_), Some(slug)) if is_models_doing(*slug) => SlugView::from(*slug).meaning.to_owned(),
        (error, _) => one_line(error.unwrap_or_default(), 600),
    }
}

/// Returns the notice about this failure. If the attempt failed for reasons outside the model, the next request can only
/// repeat an older notice, which is about another failure.
fn notice_after(failed: &AttemptRecord, retry: &AttemptRecord) -> Option<String> {
    failed.slugs.first().filter(|slug| is_models_doing(**slug))?;
    let text = retry.notice.as_deref()?;
    Some(text.strip_prefix(prompts::NOTICE_PREFIX).unwrap_or(text).to_owned())
}

/// Returns whether the user ended the attempt: stop and cancel are not faults.
pub(super) fn ended_by_user(attempt: &AttemptRecord) -> bool {
    attempt.slugs.iter().any(|slug| matches!(slug, Slug::Stopped | Slug::Cancelled))
}
