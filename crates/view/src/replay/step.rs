//! One step: an event as text, and its consequences.

use serde::{Deserialize, Serialize};

use crate::{ending, provider};
use turnwise_content::format::{counted, duration, one_line};
use turnwise_engine::{Authority, ChildRun, Effect, Ending, Event, RecordKind, Run, Scope, Slug, Status, ToolOutcome};

/// One event of the record, or the start before them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReplayStep {
    /// The number in the record; 0: the start.
    pub seq: u32,
    /// Since the run started.
    pub at_ms: u64,
    /// The turn it belongs to, in its own line of work.
    pub turn: u32,
    /// Turns of the run itself after it.
    pub turns: usize,
    /// The sub-agent it belongs to, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
    pub kind: StepKind,
    pub tone: StepTone,
    pub title: String,
    /// Its consequences, if the title does not say them.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// The last request so far in its line of work, as an index among all requests.
    pub request: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepKind {
    Start,
    Reply,
    Failure,
    Tool,
    Timer,
    Stop,
    Cancel,
    Grant,
    Other,
}

/// The tone of a step; the text says the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepTone {
    Plain,
    Warn,
    Failed,
    Synthesis,
    Done,
    /// It had no consequences.
    Quiet,
}

/// Some steps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReplaySteps {
    pub steps: Vec<ReplayStep>,
    /// The total number of steps.
    pub of: usize,
    pub requests: usize,
}

/// A step in progress: observed before and after the engine handles the event.
#[derive(Debug)]
pub(super) struct Moment {
    /// The number of the sub-agent it belongs to; 0: the run itself.
    pub child: u32,
    turn: u32,
    kind: StepKind,
    tone: StepTone,
    title: String,
    detail: Vec<String>,
}

impl Moment {
    pub fn start(run: &Run) -> Self {
        let model = run.config().providers.first().map(crate::provider::name).unwrap_or_default();
        Moment {
            child: 0,
            turn: 1,
            kind: StepKind::Start,
            tone: StepTone::Plain,
            title: "The run begins".to_owned(),
            detail: vec![format!("first request to {model}")],
        }
    }

    /// Describes the event for the state of the run before it.
    pub fn before(run: &Run, child: u32, event: &Event) -> Self {
        let line =
            run.children().iter().find(|one| one.id == child && child > 0).and_then(ChildRun::run).unwrap_or(run);
        let turn = line.turns().last().map_or(0, |turn| turn.turn);
        let synthesis = line.turns().last().is_some_and(|turn| turn.synthesis);
        let (kind, mut tone, title, mut detail) = describe(line, event);
        if synthesis && kind == StepKind::Reply {
            tone = StepTone::Synthesis;
        }
        if let Event::ModelReplied { request, .. } | Event::ModelFailed { request, .. } = event
            && !run.awaits(*request)
        {
            (tone, detail) = (StepTone::Quiet, vec!["too late: its request was no longer open".to_owned()]);
        }
        Moment { child, turn, kind, tone, title, detail }
    }

    /// Adds the consequences of the event.
    pub fn after(&mut self, run: &Run, effects: &[Effect]) {
        for effect in effects {
            let Effect::Record(record) = effect else { continue };
            let (child, what) = match &record.what {
                RecordKind::Child { child, event } => (*child, &event.what),
                own => (0, own),
            };
            if child == self.child {
                self.came(what);
            }
        }
        if self.kind == StepKind::Timer && effects.is_empty() && self.detail.is_empty() {
            self.tone = StepTone::Quiet;
            self.detail.push("nothing was waiting for it".to_owned());
        }
        if self.turn == 0 {
            self.turn = run.turns().last().map_or(0, |turn| turn.turn);
        }
    }

    fn came(&mut self, what: &RecordKind) {
        match what {
            RecordKind::AttemptFailed { slugs, .. } if self.kind == StepKind::Reply => {
                self.tone = StepTone::Warn;
                self.detail = vec![because(slugs)];
            }
            RecordKind::Waiting { ms, .. } => self.detail.push(format!("waits {}", duration(*ms))),
            RecordKind::SynthesisStarted { trigger } => {
                self.detail.push(format!("synthesis requested: {}", ending::trigger_words(*trigger)));
            }
            RecordKind::AttemptStarted { attempt, .. } if *attempt > 1 => {
                self.detail.push(format!("attempt {attempt} is sent"));
            }
            RecordKind::AgentFinished { ending } | RecordKind::AgentFailed { ending } => self.ended(ending),
            _ => {}
        }
    }

    fn ended(&mut self, ending_record: &Ending) {
        self.tone = match ending::tone(ending_record) {
            ending::Tone::Complete => StepTone::Done,
            ending::Tone::Synthesized => StepTone::Synthesis,
            ending::Tone::Failed => StepTone::Failed,
            ending::Tone::Cancelled => StepTone::Quiet,
        };
        self.detail.push(format!("ends: {}", ending::short(ending_record)));
    }

    pub fn step(self, seq: u32, at_ms: u64, line: Option<String>, request: usize, turns: usize) -> ReplayStep {
        let Moment { turn, kind, tone, title, detail, .. } = self;
        ReplayStep { seq, at_ms, turn, turns, line, kind, tone, title, detail: detail.join(", "), request }
    }
}

fn describe(line: &Run, event: &Event) -> (StepKind, StepTone, String, Vec<String>) {
    let plain = |kind, title: String| (kind, StepTone::Plain, title, Vec::new());
    match event {
        Event::ModelReplied { reply, .. } => {
            let names: Vec<&str> = reply.tool_calls.iter().map(|call| call.name.as_str()).collect();
            let text = one_line(&reply.content, 120);
            match (names.as_slice(), text.is_empty()) {
                ([], true) => plain(StepKind::Reply, "The model sends an empty reply".to_owned()),
                ([], false) => (StepKind::Reply, StepTone::Plain, "The model answers".to_owned(), vec![text]),
                (names, _) => plain(StepKind::Reply, format!("The model calls {}", listed(names))),
            }
        }
        Event::ModelFailed { error, .. } => {
            let title = format!("The request fails: {}", error.slug);
            (StepKind::Failure, StepTone::Warn, title, vec![one_line(&error.message, 160)])
        }
        Event::ModelStreamed { partial, .. } => {
            let text = if partial.content.is_empty() { &partial.reasoning } else { &partial.content };
            let title = "The reply is cut short, and its beginning is kept".to_owned();
            (StepKind::Other, StepTone::Quiet, title, vec![one_line(text, 120)])
        }
        Event::ToolFinished { call, outcome } => {
            let records = line.turns().iter().rev().flat_map(|turn| &turn.tool_calls);
            let mut each = records.flat_map(|record| record.calls.iter().chain(std::iter::once(record)));
            let (tone, title) = match (each.find(|record| record.id == *call), outcome) {
                (Some(record), outcome) => answered(&record.name, outcome),
                // In `strict`, the check of a final result has its own id.
                (None, ToolOutcome::Executed { .. }) => {
                    (StepTone::Plain, "The final result fits its format".to_owned())
                }
                (None, outcome) => answered("The check of the final result", outcome),
            };
            (StepKind::Tool, tone, title, Vec::new())
        }
        Event::ToolAsked { name, .. } => plain(StepKind::Tool, format!("The program calls {name}")),
        Event::Permitted { call, allow, scope } => {
            let records = line.turns().iter().rev().flat_map(|turn| &turn.tool_calls);
            let mut each = records.flat_map(|record| record.calls.iter().chain(std::iter::once(record)));
            let name = each.find(|record| record.id == *call).map_or("a call", |record| record.name.as_str());
            let verb = if *allow { "allows" } else { "refuses" };
            let reach = match scope {
                Scope::Call => "",
                Scope::Host => ", for every call of this tool to this host",
                Scope::Tool => ", for every call of this tool",
                Scope::Run => ", for the whole run",
            };
            let tone = if *allow { StepTone::Plain } else { StepTone::Warn };
            (StepKind::Tool, tone, format!("The user {verb} {name}{reach}"), Vec::new())
        }
        Event::PermissionsSet { .. } => plain(StepKind::Other, "Other permissions apply from here on".to_owned()),
        Event::TimerFired { .. } => match line.status() {
            Status::Waiting { .. } => plain(StepKind::Timer, "The wait is over".to_owned()),
            _ => plain(StepKind::Timer, "A deadline passes".to_owned()),
        },
        Event::StopRequested => plain(StepKind::Stop, "The user asks to wrap up".to_owned()),
        Event::Cancelled { .. } => (StepKind::Cancel, StepTone::Quiet, "The user stops the run".to_owned(), Vec::new()),
        Event::Resumed { authority, .. } => {
            let facts = authority.iter().flat_map(|authority| adopted(authority)).collect();
            (StepKind::Grant, StepTone::Warn, "The run continues after its page was closed".to_owned(), facts)
        }
        Event::Branched(branch) => {
            let from = format!("from {} before turn {}", branch.parent.run_id, branch.parent.turn);
            let facts = branch.authority.iter().flat_map(|authority| adopted(authority));
            (
                StepKind::Grant,
                StepTone::Plain,
                "A branch begins".to_owned(),
                std::iter::once(from).chain(facts).collect(),
            )
        }
        Event::TurnsGranted { turns } => {
            plain(StepKind::Grant, format!("The user grants {}", counted(u64::from(*turns), "more turn")))
        }
    }
}

/// What applies from here on, because whoever continued the run said so.
fn adopted(authority: &Authority) -> Vec<String> {
    let models = authority.providers.iter().map(provider::name).collect::<Vec<_>>().join(", ");
    vec![format!("from here on with {models}"), "the tools, permissions and limits of whoever continued it".to_owned()]
}

fn answered(name: &str, outcome: &ToolOutcome) -> (StepTone, String) {
    match outcome {
        ToolOutcome::Executed { content, .. } => {
            let lines = content.lines().count() as u64;
            let size =
                if lines > 1 { counted(lines, "line") } else { counted(content.chars().count() as u64, "character") };
            (StepTone::Plain, format!("{name} answers, {size}"))
        }
        ToolOutcome::Rejected { slug, .. } => (StepTone::Warn, format!("{name} is not run: {slug}")),
        ToolOutcome::Failed { message } => (StepTone::Warn, format!("{name} fails: {}", one_line(message, 120))),
        ToolOutcome::TimedOut { after_ms } => {
            (StepTone::Warn, format!("{name} does not answer within {}", duration(*after_ms)))
        }
        ToolOutcome::Cancelled => (StepTone::Quiet, format!("{name} is cancelled")),
        ToolOutcome::Stopped => (StepTone::Quiet, format!("{name} is stopped")),
    }
}

/// `search_files`, `search_files and read_file`, `5 tools`
fn listed(names: &[&str]) -> String {
    match names {
        [only] => (*only).to_owned(),
        [first, second] if first != second => format!("{first} and {second}"),
        [first, rest @ ..] if rest.iter().all(|name| name == first) => {
            format!("{first}, {}", counted(names.len() as u64, "time"))
        }
        several => format!("{} tools: {}", several.len(), one_line(&several.join(", "), 80)),
    }
}

fn because(slugs: &[Slug]) -> String {
    let first = slugs.first();
    first.map(|first| format!("not accepted, {first}: {}", first.because())).unwrap_or_default()
}
