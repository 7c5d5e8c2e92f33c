//! Records that earlier builds made (`tests/fixtures/records`): this build reads, draws, exports and replays each, and goes on
//! from it. A record of another engine version may replay differently, and says so; nothing else may become impossible.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::sync::LazyLock;

use crate::support::plan as plans;
use crate::support::*;
use serde_json::{Value, json};
use turnwise_engine::*;
use turnwise_protocol::record::{Cursor, DocumentPart, RecordQuery};
use turnwise_protocol::tool_worker::DocumentTask;
use turnwise_record::plan::document::FORMAT as PLAN;
use turnwise_record::plan::{PlanDocument, StepRecord};
use turnwise_record::trajectory::document::{ENGINE_VERSION, FORMAT as RUN};
use turnwise_record::trajectory::import::import;
use turnwise_record::trajectory::{Carried, ExportFormat, Restored, RunSummary, Trajectory, replay};
use turnwise_view::branch::{self, BranchDraft};
use turnwise_view::compare::{ComparedWith, Comparison};
use turnwise_view::export::export;
use turnwise_view::insight::{Filter, Insight};
use turnwise_view::lane::Tally;
use turnwise_view::log::{Log, LogFilter};
use turnwise_view::plan::{ContextView, Graph, StepSource, StepView};
use turnwise_view::replay::{ReplaySteps, ReplayVerdict, RequestView, Viewer};
use turnwise_view::{LaneView, RunSource, SourceOrigin, ViewModel};
use turnwise_worker::documents;

const AT: EpochMillis = EpochMillis(1_800_000_000_000);

/// The text of each run, named after its file and its place in it, and of each plan.
struct Kept {
    runs: Vec<(String, String)>,
    plans: Vec<(String, String)>,
}

static KEPT: LazyLock<Kept> = LazyLock::new(|| {
    let folder = format!("{}/tests/fixtures/records", env!("CARGO_MANIFEST_DIR"));
    let mut kept = Kept { runs: Vec::new(), plans: Vec::new() };
    let mut files: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    for file in files.iter().filter(|file| file.extension().is_some_and(|of| of == "json")) {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        let text = fs::read_to_string(file).unwrap();
        let value: Value = serde_json::from_str(&text).unwrap();
        match value["format"].as_str().unwrap_or_default() {
            RUN => kept.runs.push((name, text)),
            PLAN => {
                let document = PlanDocument::parse(&text).unwrap();
                for step in &document.steps {
                    let Some(run) = &step.run else { continue };
                    let run = serde_json::to_string(run).unwrap();
                    kept.runs.push((format!("{name}, step {}", step.order), run));
                }
                kept.plans.push((name, text));
            }
            // What the package stores of a conversation.
            "turnwise-chat" => {
                for (at, run) in value["runs"].as_array().unwrap().iter().enumerate() {
                    kept.runs.push((format!("{name}, run {at}"), run.to_string()));
                }
            }
            other => panic!("{name}: what is a {other:?}?"),
        }
    }
    kept
});

/// Each run, parsed.
fn runs() -> impl Iterator<Item = (&'static str, Trajectory)> {
    KEPT.runs.iter().map(|(name, text)| {
        let document = Trajectory::parse(text).unwrap_or_else(|error| panic!("{name}: {error}"));
        (name.as_str(), document)
    })
}

/// Each run that was not imported from another format: it has events.
fn own_runs() -> impl Iterator<Item = (&'static str, Trajectory)> {
    runs().filter(|(_, document)| document.imported.is_none())
}

fn plan_documents() -> impl Iterator<Item = (&'static str, PlanDocument)> {
    KEPT.plans.iter().map(|(name, text)| {
        let document = PlanDocument::parse(text).unwrap_or_else(|error| panic!("{name}: {error}"));
        (name.as_str(), document)
    })
}

fn words<T: ToString>(all: impl IntoIterator<Item = T>) -> BTreeSet<String> {
    all.into_iter().map(|one| one.to_string()).collect()
}

fn word(value: impl serde::Serialize) -> String {
    json!(value).as_str().unwrap_or_default().to_owned()
}

/// Asserts that everything that can be is kept: what is missing is named.
fn assert_kept(what: &str, kept: &BTreeSet<String>, can_be: &BTreeSet<String>) {
    let missing: Vec<_> = can_be.difference(kept).collect();
    assert!(missing.is_empty(), "no kept record has {what} {missing:?}: a build that makes such records adds one");
}

/// The values of a field, wherever it is in the records.
fn values_of(key: &str) -> BTreeSet<String> {
    fn walk(value: &Value, key: &str, into: &mut BTreeSet<String>) {
        match value {
            Value::Object(fields) => {
                into.extend(fields.get(key).and_then(Value::as_str).map(str::to_owned));
                fields.values().for_each(|field| walk(field, key, into));
            }
            Value::Array(list) => list.iter().for_each(|entry| walk(entry, key, into)),
            _ => {}
        }
    }
    let mut all = BTreeSet::new();
    for (_, text) in KEPT.runs.iter().chain(&KEPT.plans) {
        walk(&serde_json::from_str(text).unwrap(), key, &mut all);
    }
    all
}

#[test]
fn every_kind_of_record_is_kept() {
    let (mut presets, mut kinds, mut endings, mut events) = <[BTreeSet<String>; 4]>::default().into();
    let (mut parts, mut outcomes, mut pairs) = <[BTreeSet<String>; 3]>::default().into();
    for (_, document) in own_runs() {
        presets.insert(document.preset.as_str().to_owned());
        kinds.extend(document.config.providers.iter().map(|provider| provider.kind.as_str().to_owned()));
        let reason = document.termination_reason.map_or_else(|| "open".to_owned(), |reason| reason.to_string());
        pairs.insert(format!("{} {reason}", document.preset.as_str()));
        endings.insert(reason);
        for recorded in &document.events {
            let event = json!(recorded.event);
            events.insert(event["type"].as_str().unwrap().to_owned());
            outcomes.extend(event["outcome"]["status"].as_str().map(str::to_owned));
        }
        for branch in document.branches() {
            parts.extend(branch.parts.iter().map(word));
            parts.extend(branch.edited.map(|_| "result".to_owned()));
        }
    }
    assert_kept("the preset", &presets, &words(Preset::ALL.iter().map(|preset| preset.as_str())));
    assert_kept("a provider of the kind", &kinds, &words(ProviderKind::ALL.iter().map(|kind| kind.as_str())));
    let concluded = Trigger::ALL
        .iter()
        .flat_map(|trigger| [TerminationReason::Synthesized(*trigger), TerminationReason::SynthesisFailed(*trigger)]);
    let plain = [
        TerminationReason::LlmComplete,
        TerminationReason::FinalResult,
        TerminationReason::FinalReport,
        TerminationReason::LlmError,
        TerminationReason::RetriesExhausted,
        TerminationReason::MaxTurnsExhausted,
        TerminationReason::Cancelled,
    ];
    let mut all = words(concluded.chain(plain));
    all.insert("open".to_owned());
    assert_kept("the ending", &endings, &all);
    let together = [
        "research llm_complete",
        "research cancelled",
        "research open",
        "orchestrator llm_complete",
        "orchestrator llm_error",
        "orchestrator max_turns_synthesis_failed",
        "orchestrator open",
        "strict final_report",
        "strict final_result",
        "strict retries_exhausted",
        "strict max_turns_exhausted",
        "strict cancelled",
        "strict open",
    ];
    assert_kept("the ending of a preset", &pairs, &words(together));
    let happened = [
        "model_replied",
        "model_failed",
        "model_streamed",
        "tool_finished",
        "tool_asked",
        "permitted",
        "permissions_set",
        "timer_fired",
        "stop_requested",
        "cancelled",
        "turns_granted",
        "resumed",
        "branched",
    ];
    assert_kept("the event", &events, &words(happened));
    assert_kept("a call that was", &outcomes, &words(["executed", "rejected", "failed", "timed_out"]));
    assert_kept("a branch with another", &parts, &words(["reply", "message", "system", "model", "limits", "result"]));
    assert_kept("the status of a step", &values_of("status"), &words(["completed", "failed", "blocked", "cancelled"]));
    assert_kept("answers by", &values_of("answers"), &words(["nobody", "page", "all"]));
    assert_kept("an answer for", &values_of("scope"), &words(["call", "tool", "run"]));
}

/// What a provider needs back unchanged is the part of a record that this program does not understand.
#[test]
fn the_thoughts_of_every_wire_format_are_kept() {
    let texts: Vec<&str> = KEPT.runs.iter().map(|(_, text)| text.as_str()).collect();
    for mark in [
        "\"encrypted_content\"",
        "\"signature\"",
        "\"redacted_thinking\"",
        "\"thought\"",
        "\"reasoning.encrypted\"",
        "\"reasoning\":\"Hmm.\"",
    ] {
        assert!(texts.iter().any(|text| text.contains(mark)), "{mark}");
    }
    for (what, there) in [
        ("images", runs().any(|(_, run)| !run.images.is_empty())),
        ("history", runs().any(|(_, run)| !run.history.is_empty())),
        ("notes", runs().any(|(_, run)| !run.notes.is_empty())),
        ("sub-agents of kinds", runs().any(|(_, run)| !run.children.is_empty() && !run.config.agents.is_empty())),
        ("a cancelled sub-agent", runs().any(|(_, run)| run.children.iter().any(is_cancelled))),
        ("several segments", runs().any(|(_, run)| run.segments.len() > 2)),
        ("an import", runs().any(|(_, run)| run.imported.is_some())),
        ("a program", KEPT.runs.iter().any(|(_, text)| text.contains("\"run_code\""))),
    ] {
        assert!(there, "no kept record has {what}");
    }
}

fn is_cancelled(child: &Trajectory) -> bool {
    child.outcome == Some(Outcome::Cancelled)
}

#[test]
fn each_is_valid_and_is_written_as_it_was_read() {
    for (name, document) in runs() {
        validate(&document);
        let again = Trajectory::parse(&serde_json::to_string(&document).unwrap()).unwrap();
        assert_eq!(again, document, "{name}");
    }
    for (_, document) in plan_documents() {
        plans::validate_session(&document);
    }
}

#[test]
fn each_replays_or_names_the_version_that_made_it() {
    let mut exact = 0;
    for (name, document) in own_runs() {
        match replay(&document) {
            Ok(recorder) => {
                exact += 1;
                assert_eq!(recorder.document().turns, document.turns, "{name}");
            }
            Err(mismatch) => {
                assert_ne!(document.engine_version, ENGINE_VERSION, "{name}: {mismatch:?}");
                assert_eq!(mismatch.recorded_by.as_ref(), Some(&document.engine_version), "{name}");
                assert!(mismatch.path.starts_with('/'), "{name}: {}", mismatch.path);
            }
        }
    }
    assert!(exact > 0, "not one replays");
}

#[test]
fn each_is_drawn() {
    let documents: Vec<(&str, Trajectory)> = runs().collect();
    let mut before: Option<&Trajectory> = None;
    for (name, document) in &documents {
        let source = RunSource::from(document);
        let view = ViewModel::from(&source);
        assert_eq!((view.turns.len(), view.segments.len()), (document.turns.len(), document.segments.len()), "{name}");
        for place in 0..document.turns.len() {
            let lanes = LaneView::of_turn(&source, place);
            assert!(lanes.iter().all(|lane| !lane.words.is_empty()), "{name}");
        }
        let asked = Tally::from_source(&source).asked;
        assert!(asked >= document.children.len() as u64, "{name}: {asked}");
        for child in &document.children {
            assert_eq!(ViewModel::from(&RunSource::from(child)).turns.len(), child.turns.len(), "{name}");
        }
        let mut log = Log::default();
        log.take(&source);
        assert!(log.view(&LogFilter::default()).entries.len() <= document.logs.len() + document.traces.len(), "{name}");
        let _ = (branch::changes(&source), branch::version(&source), branch::go_on_message(&source));
        if let Some(other) = before {
            assert!(!Comparison::new(&RunSource::from(other), &source, ComparedWith::Other).words.is_empty(), "{name}");
        }
        before = Some(document);
    }
    let summaries: Vec<RunSummary> = documents.iter().map(|(_, document)| RunSummary::from(document)).collect();
    assert_eq!(Insight::from_summaries(&summaries, &Filter::default()).runs as usize, documents.len());
}

#[test]
fn plans_are_drawn() {
    for (name, document) in plan_documents() {
        assert_eq!(Graph::wide(&document.plan).nodes.len(), document.steps.len(), "{name}");
        assert_eq!(Graph::narrow(&document.plan).nodes.len(), document.steps.len(), "{name}");
        for record in &document.steps {
            let run = record.run.as_ref().map(|run| run.trajectory().unwrap());
            let run = run.as_ref().map(|run| RunSource::from(run).recorded());
            let (plan, traces) = (&document.plan, document.traces.as_slice());
            let source = StepSource { plan, record, run, traces, origin: SourceOrigin::Document };
            let view = StepView::from(&source);
            assert!(!view.facts(document.started_ms.0).is_empty() || record.run.is_none(), "{name}");
            let _ = ContextView::from(&source);
        }
    }
}

fn ask<T: serde::de::DeserializeOwned>(name: &str, viewer: &mut Viewer, ask: &RecordQuery) -> T {
    let answer = viewer.answer(ask).unwrap_or_else(|error| panic!("{name}, {ask:?}: {error}"));
    serde_json::from_str(&answer).unwrap_or_else(|error| panic!("{name}, {ask:?}: {error}"))
}

#[test]
fn the_viewer_steps_through_each() {
    for (name, text) in &KEPT.runs {
        let (mut viewer, opened) = Viewer::open(text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let mut turns = 0;
        let mut next = Some(Cursor::default());
        while let Some(cursor) = next {
            let part: DocumentPart = ask(name, &mut viewer, &RecordQuery::Part(cursor));
            turns += part.turns.len();
            next = part.next;
        }
        assert_eq!(turns, opened.turns, "{name}");
        let verdict: ReplayVerdict = ask(name, &mut viewer, &RecordQuery::Verify);
        assert!(!verdict.words.is_empty(), "{name}");
        let imported = Trajectory::parse(text).unwrap().imported.is_some();
        assert!(
            verdict.exact || imported || !text.contains(&format!("\"engine_version\":\"{ENGINE_VERSION}\"")),
            "{name}: {}",
            verdict.words
        );
        let steps: ReplaySteps = ask(name, &mut viewer, &RecordQuery::Steps { from: 0 });
        assert_eq!(steps.of, opened.events + 1, "{name}");
        assert!(steps.steps.iter().all(|step| !step.title.is_empty()), "{name}");
        for step in 0..steps.of {
            let _: Value = ask(name, &mut viewer, &RecordQuery::State { step });
        }
        for index in 0..steps.requests {
            let request: RequestView = ask(name, &mut viewer, &RecordQuery::Request { index });
            let _: Value = ask(name, &mut viewer, &RecordQuery::Difference { index });
            for at in 0..request.of {
                let _: Value = ask(name, &mut viewer, &RecordQuery::Message { index, at });
            }
        }
    }
}

#[test]
fn each_is_exported_in_every_format() {
    for (name, document) in runs() {
        for format in ExportFormat::ALL {
            let text = export(&document, *format);
            assert!(text.len() > 100, "{name}, {format:?}");
            if matches!(format, ExportFormat::Native | ExportFormat::Html) {
                assert_eq!(import(&text).unwrap(), document, "{name}, {format:?}");
            }
            if *format == ExportFormat::Atif {
                assert_eq!(import(&text).unwrap().turns.len(), document.turns.len(), "{name}, {format:?}");
            }
        }
    }
}

/// A run that goes on, with whatever it waits for.
struct Going {
    restored: Restored,
    requests: Vec<ModelCall>,
    tools: Vec<RunTool>,
    timers: Vec<TimerId>,
}

impl Going {
    fn on(restored: Restored, event: Event) -> Self {
        let mut going = Going { restored, requests: Vec::new(), tools: Vec::new(), timers: Vec::new() };
        going.send(event);
        going
    }

    fn send(&mut self, event: Event) {
        self.restored.at.0 += 5;
        for effect in self.restored.recorder.handle(self.restored.at, event) {
            match effect {
                Effect::CallModel(call) => self.requests.push(call),
                Effect::RunTool(tool) => self.tools.push(tool),
                Effect::Sleep { timer, .. } => self.timers.push(timer),
                Effect::Abort(Abort::Request(id)) => self.requests.retain(|call| call.request != id),
                Effect::Abort(Abort::Tool(id)) => self.tools.retain(|tool| tool.call != id),
                Effect::Abort(Abort::Timer(id)) => self.timers.retain(|timer| *timer != id),
                Effect::AnswerProgram { .. } | Effect::KeepResult { .. } | Effect::Record(_) | Effect::Finish => {}
            }
        }
    }

    /// Answers everything until the run has ended.
    fn play_to_the_end(mut self, name: &str) -> Trajectory {
        for _ in 0..500 {
            if self.restored.recorder.run.ending().is_some() && self.requests.is_empty() {
                let document = self.restored.recorder.document();
                assert!(document.outcome.is_some(), "{name}");
                return document;
            }
            if let Some(tool) = self.tools.pop() {
                self.send(match tool.permission {
                    CallPermission::Ask => Event::Permitted { call: tool.call, allow: true, scope: Scope::Call },
                    CallPermission::Allowed | CallPermission::AskAgain => Event::ToolFinished {
                        call: tool.call,
                        outcome: ToolOutcome::executed("done at last".into(), None),
                    },
                });
            } else if let Some(call) = self.requests.pop() {
                let reply = self.reply(&call);
                self.send(Event::ModelReplied { request: call.request, reply, raw: None, first_token_ms: None });
            } else if let Some(timer) = self.timers.pop() {
                self.send(Event::TimerFired { timer });
            } else {
                panic!("{name}: nothing is open: {:?}", self.restored.recorder.run.status());
            }
        }
        panic!("{name}: it does not end: {:?}", self.restored.recorder.run.status());
    }

    /// The reply that ends the run which asks.
    fn reply(&self, call: &ModelCall) -> Reply {
        let run = &self.restored.recorder.run;
        let asks = match call.request.child() {
            0 => run,
            child => run.child_runs().find(|run| run.task().child == child).expect("the sub-agent that asks"),
        };
        let config = asks.config();
        if config.preset != Preset::Strict {
            return Reply { content: "It goes on.".into(), ..Reply::default() };
        }
        let arguments = match config.report.format {
            ReportFormat::Json => json!({ "format": "json", "content": { "trains": 3 } }),
            ReportFormat::Slack => json!({ "format": "slack", "messages": [
                { "blocks": [{ "type": "section", "text": { "type": "plain_text", "text": "It goes on." } }] }
            ] }),
            format => json!({ "format": word(format), "content": "It goes on." }),
        };
        let report = RawCall { id: "report".into(), name: "final_report".into(), arguments: arguments.to_string() };
        Reply { tool_calls: vec![report], finish: FinishReason::ToolCalls, ..Reply::default() }
    }
}

fn restored(document: &Trajectory) -> Restored {
    let (config, task) = document.origin();
    Restored::from_events(config, task, document.events.clone())
}

/// As an earlier build wrote it: what a later one adds has a default.
fn resumed() -> Event {
    serde_json::from_value(json!({ "type": "resumed", "at": AT })).unwrap()
}

#[test]
fn each_interrupted_one_goes_on_to_its_end() {
    let mut presets = BTreeMap::<&str, usize>::new();
    for (name, document) in own_runs().filter(|(_, document)| document.outcome.is_none()) {
        *presets.entry(document.preset.as_str()).or_default() += 1;
        let text = serde_json::to_string(&document).unwrap();
        documents::answer(DocumentTask::Resume, &text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let ended = Going::on(restored(&document), resumed()).play_to_the_end(name);
        assert!(ended.requests >= document.requests && ended.turns.len() >= document.turns.len(), "{name}");
        assert_eq!(ended.run_id, document.run_id, "{name}");
        validate(&ended);
        replay(&ended).unwrap_or_else(|mismatch| panic!("{name}: {mismatch:?}"));
    }
    assert_eq!(presets.keys().copied().collect::<Vec<_>>(), ["orchestrator", "research", "strict"]);
    assert!(presets.values().sum::<usize>() > 15, "{presets:?}");
}

#[test]
fn each_ended_one_takes_more_turns_and_is_followed_up() {
    let mut granted = 0;
    for (name, document) in own_runs().filter(|(_, document)| document.outcome.is_some()) {
        let text = serde_json::to_string(&document).unwrap();
        let carried = Carried::from_record(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(carried.session_id, document.session_id, "{name}");
        assert!(carried.history.len() > 1, "{name}");
        let mut restored = restored(&document);
        drop(restored.recorder.handle(restored.at, resumed()));
        if !restored.recorder.run.can_continue() {
            continue;
        }
        granted += 1;
        let ended = Going::on(restored, Event::TurnsGranted { turns: 2 }).play_to_the_end(name);
        assert_eq!(ended.segments.len(), document.segments.len() + 1, "{name}");
        replay(&ended).unwrap_or_else(|mismatch| panic!("{name}: {mismatch:?}"));
    }
    assert!(granted > 10, "{granted} can take more turns");
}

#[test]
fn each_branches_at_every_turn() {
    let mut branches = 0;
    for (name, document) in own_runs() {
        for (place, turn) in document.turns.iter().enumerate() {
            let mut draft = BranchDraft::new(&RunSource::from(&document), &document.run_id, place, false).unwrap();
            draft.say = "Go another way.".into();
            let changes = draft.changes(None, &document.tools).unwrap();
            assert_eq!(changes.parent, Parent { run_id: document.run_id.clone(), turn: turn.turn }, "{name}");
            let restored = Restored::before_turn(&document, place)
                .unwrap_or_else(|| panic!("{name}: there is no way to turn {}", turn.turn));
            let run_id = "run_20270115_080000_fedcba".to_owned();
            let branch = Branch { run_id: run_id.clone(), session_id: "another".into(), at: AT, ..changes };
            let ended = Going::on(restored, Event::Branched(Box::new(branch))).play_to_the_end(name);
            assert_eq!((&ended.run_id, ended.parent.map(|parent| parent.turn)), (&run_id, Some(turn.turn)), "{name}");
            branches += 1;
        }
    }
    assert!(branches > 150, "{branches}");
}

#[test]
fn each_plan_is_resumed_from_its_record() {
    for (name, document) in plan_documents() {
        let text = serde_json::to_string(&document).unwrap();
        assert_eq!(documents::answer(DocumentTask::Session, &text).as_deref(), Ok("true"), "{name}");
        let options =
            turnwise_record::plan::PlanOptions { after: Some(Box::new(document.clone())), ..plans::options() };
        let mut driven = plans::Driven::start(document.plan.clone(), options);
        let kept: Vec<&StepRecord> = document.steps.iter().filter(|step| word(step.status) == "completed").collect();
        assert!(kept.iter().all(|step| !driven.started.contains(&step.order)), "{name}: {:?}", driven.started);
        driven.complete();
        plans::validate_session(&driven.document());
    }
}
