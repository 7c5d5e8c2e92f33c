//! The header of a run: what the list shows without reading the run's events.

use serde_json::Value;

use turnwise_engine::{Run, Task, time};
use turnwise_protocol::app::{Header, StoredKind, VersionOf};
use turnwise_record::plan::PlanRun;
use turnwise_record::trajectory::RunSummary;
use turnwise_view::{RailView, RunSource, branch};

/// Bytes of the text that the search looks through.
const MAX_WORDS: usize = 20_000;

/// The part of a header that does not follow from the run.
#[derive(Clone, Default)]
pub(super) struct GivenHeader {
    pub name: Option<String>,
    pub version: Option<VersionOf>,
    /// As in [`Header`].
    pub strange: Option<bool>,
}

/// Returns the header of a run in its current state.
#[must_use]
pub(super) fn header(key: &str, kind: StoredKind, given: GivenHeader, run: &Run, updated_ms: u64) -> Header {
    let source = RunSource::from(run);
    let rail = serde_json::to_value(RailView::from(&source)).unwrap_or(Value::Null);
    let of_branch = branch::version(&source).map(|(run_id, change)| VersionOf { run_id, change });
    let (summary, ended) = (RunSummary::of_run(run), run.ending().is_some());
    let words = if ended { words(run) } else { run.task().input.clone() };
    let GivenHeader { name, version, strange } = given;
    let version = of_branch.or(version);
    Header {
        key: key.to_owned(),
        kind,
        name,
        version,
        strange,
        updated_ms,
        ended,
        summary,
        rail,
        words: clipped(words),
    }
}

/// Returns the header of a plan in its current state. Its steps have their own.
#[must_use]
pub(super) fn plan_header(key: &str, given: GivenHeader, plan: &PlanRun, updated_ms: u64) -> Header {
    let GivenHeader { name, strange, .. } = given;
    let view = RailView::from(plan);
    let (options, ending) = (plan.options(), plan.ending());
    let (requests, tokens) = plan.usage();
    let task = Task {
        run_id: plan.plan().plan_id.clone(),
        session_id: options.session_id.clone(),
        input: view.title.clone(),
        started_at: options.started_at,
        ..Task::default()
    };
    let none = Run::start(options.base.clone(), task).0;
    let summary = RunSummary {
        requests,
        tokens,
        outcome: ending.map(|ending| ending.outcome),
        finished_ms: ending.and_then(|ending| time::parse(&ending.finished_at)).map(|at| at.0),
        ..RunSummary::of_run(&none)
    };
    let actions = plan.plan().steps.iter().map(|step| step.action.as_str());
    let words: Vec<&str> = actions.chain(ending.map(|ending| ending.output.as_str())).collect();
    Header {
        key: key.to_owned(),
        kind: StoredKind::Plan,
        name,
        version: None,
        strange,
        updated_ms,
        ended: ending.is_some(),
        summary,
        rail: serde_json::to_value(view).unwrap_or(Value::Null),
        words: clipped(words.join("\n")),
    }
}

/// The text of a run that people remember it by.
fn words(run: &Run) -> String {
    let mut words = run.task().input.clone();
    let mut add = |text: &str| {
        words.push('\n');
        words.push_str(text);
    };
    run.segments().iter().for_each(|ending| add(&ending.output));
    for call in run.turns().iter().flat_map(|turn| &turn.tool_calls) {
        add(&call.name);
        add(&call.args.to_string());
    }
    words
}

fn clipped(mut words: String) -> String {
    words.truncate(words.floor_char_boundary(MAX_WORDS));
    words
}

/// Returns a new key. Keys created later sort later.
#[must_use]
pub(super) fn new_key(now_ms: u64) -> String {
    let (seconds, millis) = (now_ms / 1000, (now_ms % 1000) as u32);
    let at = uuid::Timestamp::from_unix(uuid::NoContext, seconds, millis * 1_000_000);
    uuid::Uuid::new_v7(at).to_string()
}
