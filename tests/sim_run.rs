//! Random scripts, faults, timings and user actions against the invariants of a run.
//!
//! 10,000 runs by default; `TURNWISE_CASES` sets another number. A failure prints the configuration and the seed of the
//! world, which together are the whole run.
#![cfg(not(target_arch = "wasm32"))]
#![allow(clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::unwrap_used)]

mod support;

use std::cell::Cell;
use std::collections::BTreeSet;

use proptest::prelude::*;
use support::*;
use turnwise::engine::retry::Rng;
use turnwise::engine::*;
use turnwise::trajectory::{Recorder, Trajectory, replay};

fn cases() -> u32 {
    std::env::var("TURNWISE_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(10_000)
}

fn configs() -> impl Strategy<Value = RunConfig> {
    let synthesis = (any::<bool>(), any::<bool>(), 1..4u32, any::<bool>());
    let limits = (1..4u32, 1..5u32, 5..60usize);
    (
        any::<bool>(),
        1..6u32,
        1..4u32,
        proptest::option::weighted(0.85, synthesis),
        any::<bool>(),
        limits,
        any::<u64>(),
        1..3usize,
    )
        .prop_map(|(orchestrator, max_turns, max_attempts, synthesis, counter, limits, seed, providers)| {
            let preset = if orchestrator { Preset::Orchestrator } else { Preset::Research };
            let mut c = RunConfig { max_turns, max_attempts, seed, ..config(preset) };
            c.synthesis = synthesis.map(|(system, numbered, attempts, text)| SynthesisConfig {
                role: if system { SynthesisRole::System } else { SynthesisRole::User },
                numbered,
                on_error: if text { SynthesisFallback::AggregatedText } else { SynthesisFallback::Message },
                attempts,
                prompt: None,
            });
            if !counter {
                c.counter = None;
            }
            c.providers = vec![ProviderConfig::default(); providers];
            (c.limits.parallel_tools, c.limits.tool_calls_per_turn, c.limits.max_result_chars) = limits;
            c
        })
}

thread_local! { static RUNS: Cell<u32> = const { Cell::new(0) }; }

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), max_shrink_iters: 200, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn every_run_keeps_the_invariants(config in configs(), world in any::<u64>()) {
        let n = RUNS.with(|r| { r.set(r.get() + 1); r.get() });
        // Every step of 300 runs is played through a serialized copy; one random step of each of the others.
        let reload = if n <= 300 { Reload::EveryStep } else { Reload::OneStep };
        Sim::new(&config, world, reload).play();
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Reload {
    EveryStep,
    OneStep,
}

/// One random world: it answers, fails, delays, repeats, and lets the user interfere.
struct Sim {
    rng: Rng,
    recorder: Recorder,
    at: u64,
    reload: Reload,
    reload_in: u64,
    open: Vec<Open>,
    echo: Option<Event>,
    bound: u32,
    left: u32,
    requests: u32,
    grants: u32,
    ended: bool,
    segment: Segment,
    effective_max_turns: u32,
    failed_attempts: usize,
}

#[derive(Clone, PartialEq, Debug)]
enum Open {
    Request(RequestId),
    Tool(CallId),
    Timer(TimerId),
}

#[derive(Default)]
struct Segment {
    finals: u32,
    terminals: u32,
}

impl Sim {
    fn new(config: &RunConfig, seed: u64, reload: Reload) -> Self {
        let (recorder, effects) = Recorder::start(config.clone(), task());
        let synthesis = config.synthesis.as_ref().map_or(0, |s| s.attempts);
        let bound = config.max_turns * config.max_attempts + synthesis;
        let mut rng = Rng::new(seed);
        let reload_in = rng.up_to(20);
        let mut sim = Sim {
            rng,
            effective_max_turns: recorder.run.effective_max_turns(),
            recorder,
            at: 0,
            reload,
            reload_in,
            open: Vec::new(),
            echo: None,
            bound,
            left: bound,
            requests: 0,
            grants: 0,
            ended: false,
            segment: Segment::default(),
            failed_attempts: 0,
        };
        sim.take(effects);
        sim
    }

    fn play(mut self) {
        for _ in 0..2_000 {
            if self.ended {
                self.check_segment();
                if !(self.grants < 2 && self.recorder.run.can_continue() && self.rng.up_to(1) == 0) {
                    return self.check_run();
                }
                self.grant();
                continue;
            }
            let event = self.next_event();
            self.step(event);
        }
        panic!("the run did not end");
    }

    fn next_event(&mut self) -> Event {
        match self.rng.up_to(120) {
            0 => return Event::StopRequested,
            1 => return Event::Cancelled,
            2 => return Event::TurnsGranted { turns: 2 },
            3 => return Event::TimerFired { timer: TimerId(self.rng.up_to(9) as u32 + 1000) },
            4 => return Event::ToolFinished { call: CallId("nobody".into()), outcome: ToolOutcome::Stopped },
            // An answer that was given before.
            6..=20 if self.echo.is_some() => return self.echo.take().expect("there is one"),
            5 => {
                let request = RequestId(self.requests + 1 + self.rng.up_to(3) as u32);
                return Event::ModelReplied { request, reply: self.reply(), raw: None, first_token_ms: None };
            }
            _ => {}
        }
        assert!(!self.open.is_empty(), "the run waits for nothing: {:?}", self.recorder.run.status());
        let index = self.rng.up_to(self.open.len() as u64 - 1) as usize;
        let event = match self.open.remove(index) {
            Open::Timer(timer) => Event::TimerFired { timer },
            Open::Tool(call) => Event::ToolFinished { call, outcome: self.outcome() },
            Open::Request(request) if self.rng.up_to(3) == 0 => {
                let raw = Some(RawResponse { text: "raw".into(), truncated: false });
                Event::ModelFailed { request, error: self.model_error(), raw }
            }
            Open::Request(request) => {
                let raw = Some(RawResponse { text: "raw".into(), truncated: false });
                Event::ModelReplied { request, reply: self.reply(), raw, first_token_ms: Some(1) }
            }
        };
        if self.rng.up_to(8) == 0 {
            self.echo = Some(event.clone());
        }
        event
    }

    fn step(&mut self, event: Event) {
        self.at += self.rng.up_to(3000);
        let every = self.reload == Reload::EveryStep;
        self.reload_in = self.reload_in.wrapping_sub(1);
        let copy = (every || self.reload_in == 0).then(|| serde_json::to_string(&self.recorder).expect("serializes"));
        let effects = self.recorder.handle(Millis(self.at), event.clone());
        if let Some(text) = copy {
            let mut copy: Recorder = serde_json::from_str(&text).expect("reads back");
            assert_eq!(copy.handle(Millis(self.at), event), effects, "a reloaded run behaves differently");
            assert_eq!(copy, self.recorder);
            // The rest is played by the copy.
            self.recorder = copy;
        }
        self.take(effects);
    }

    fn grant(&mut self) {
        let n = 1 + self.rng.up_to(2) as u32;
        let config = self.recorder.run.config();
        let more = n * config.max_attempts + config.synthesis.as_ref().map_or(0, |s| s.attempts);
        (self.bound, self.left) = (self.bound + more, more);
        (self.grants, self.ended, self.segment) = (self.grants + 1, false, Segment::default());
        self.effective_max_turns = u32::MAX;
        self.step(Event::TurnsGranted { turns: n });
    }

    fn take(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            assert!(!self.ended, "an effect after the end: {effect:?}");
            match effect {
                Effect::CallModel(call) => {
                    self.requests += 1;
                    self.check_request(&call);
                    self.open.push(Open::Request(call.request));
                }
                Effect::RunTool(tool) => self.open.push(Open::Tool(tool.call)),
                Effect::Sleep { timer, .. } => self.open.push(Open::Timer(timer)),
                Effect::Abort(what) => {
                    let gone = match what {
                        Abort::Request(id) => Open::Request(id),
                        Abort::Tool(id) => Open::Tool(id),
                        Abort::Timer(id) => Open::Timer(id),
                    };
                    self.open.retain(|o| *o != gone);
                }
                Effect::Record(record) => self.check_record(&record),
                Effect::KeepResult { content, .. } => {
                    assert!(content.chars().count() > self.recorder.run.config().limits.max_result_chars);
                }
                Effect::Finish => self.ended = true,
            }
        }
        let now = self.recorder.run.effective_max_turns();
        assert!(now <= self.effective_max_turns, "effective_max_turns grew within a segment");
        self.effective_max_turns = now;
    }

    fn check_request(&mut self, call: &ModelCall) {
        assert!(self.requests <= self.bound, "{} requests, the bound is {}", self.requests, self.bound);
        assert!(
            self.requests + self.left <= self.bound,
            "{} sent, {} left, of {}",
            self.requests,
            self.left,
            self.bound
        );
        let notices = |m: &&Message| matches!(m, Message::User { content } if content.starts_with(notice::PREFIX));
        assert!(call.tail.iter().filter(notices).count() <= 1, "more than one notice in a request");
        assert_eq!(call.append.iter().filter(notices).count(), 0, "a notice in the history");
        assert_eq!(self.open.iter().filter(|o| matches!(o, Open::Request(_))).count(), 0, "two requests are open");
    }

    fn check_record(&mut self, record: &Record) {
        assert!(
            record.calls_left <= self.left,
            "the bound grew from {} to {}: {:?}",
            self.left,
            record.calls_left,
            record.what
        );
        self.left = record.calls_left;
        assert_eq!(self.segment.terminals, 0, "a record after the terminal one");
        match &record.what {
            RecordKind::Final { output, .. } => {
                assert!(!output.is_empty(), "an empty report");
                self.segment.finals += 1;
            }
            RecordKind::AgentFinished { .. } | RecordKind::AgentFailed { .. } => self.segment.terminals += 1,
            RecordKind::AttemptFailed { slugs, .. } if slugs != &[Slug::Stopped] => self.failed_attempts += 1,
            _ => assert_eq!(self.segment.finals, 0, "only the terminal record follows the final one"),
        }
    }

    fn check_segment(&mut self) {
        assert_eq!((self.segment.finals, self.segment.terminals), (1, 1));
        assert_eq!(self.open, [], "work is still open after the end");
        let e = self.recorder.run.ending().expect("ended");
        let success = matches!(e.termination_reason, TerminationReason::LlmComplete | TerminationReason::FinalResult);
        assert_eq!(e.outcome == Outcome::Success, success, "{e:?}");
        assert_eq!(e.outcome == Outcome::Partial, matches!(e.termination_reason, TerminationReason::Synthesized(_)));
        assert_eq!(e.outcome == Outcome::Cancelled, e.termination_reason == TerminationReason::Cancelled);
    }

    fn check_run(&self) {
        let run = &self.recorder.run;
        check_calls(run.messages());
        assert_eq!(run.requests(), self.requests);
        let count = |level| run.logs().iter().filter(|l| l.level == level).count();
        assert_eq!(count(LogLevel::Warn), self.failed_attempts, "one WRN a failed attempt");
        let failed = run.segments().iter().filter(|s| s.outcome == Outcome::Failed).count();
        assert_eq!(count(LogLevel::Error), failed, "one ERR a failed segment");
        for turn in run.turns() {
            for call in &turn.tool_calls {
                assert!(call.result.is_some() && call.duration_ms.is_some(), "an unanswered call: {call:?}");
            }
            let last = turn.tool_calls.last().and_then(|c| c.result.as_ref());
            if let (Some(result), Some(_)) = (last, &run.config().counter) {
                assert!(result.lines().last().unwrap().starts_with(&format!("[Turn {}/", turn.turn)), "{result}");
            }
        }
        let document = self.recorder.document();
        let text = serde_json::to_string(&document).expect("serializes");
        let read = Trajectory::parse(&text).expect("reads back");
        assert_eq!(read, document);
        if self.reload == Reload::EveryStep {
            validate(&document);
        }
        let again = replay(&read).unwrap_or_else(|m| panic!("replay differs: {m:?}"));
        assert_eq!(serde_json::to_string(&again.document()).expect("serializes"), text, "replay is byte for byte");
    }

    fn reply(&mut self) -> Reply {
        let content = match self.rng.up_to(3) {
            0 => String::new(),
            1 => " \n".into(),
            n => format!("text {n} {}", self.rng.up_to(99)),
        };
        let reasoning = if self.rng.up_to(3) == 0 { "thinking".into() } else { String::new() };
        let count = if self.rng.up_to(2) == 0 { 0 } else { self.rng.up_to(5) };
        let tool_calls = (0..count).map(|_| self.raw_call()).collect();
        let finish = if self.rng.up_to(9) == 0 { FinishReason::Length } else { FinishReason::Stop };
        let usage = (self.rng.up_to(1) == 0).then(|| Usage { input: TokenCount(10), ..Usage::default() });
        Reply { content, reasoning, tool_calls, finish, usage, ..Reply::default() }
    }

    fn raw_call(&mut self) -> RawCall {
        let id = match self.rng.up_to(3) {
            0 => String::new(),
            1 => "call_0".into(),
            2 => format!("call_{}_{}_{}", self.rng.up_to(4), self.rng.up_to(3), self.rng.up_to(3)),
            _ => "no id, ünusable".into(),
        };
        let name = ["search", "read", "submit", "bash", ""][self.rng.up_to(4) as usize].into();
        let arguments = ["{}", "", "{\"q\": 1}", "{\"q\":"][self.rng.up_to(3) as usize].into();
        RawCall { id, name, arguments }
    }

    fn outcome(&mut self) -> ToolOutcome {
        let content = match self.rng.up_to(5) {
            0 => String::new(),
            1 => "x".repeat(self.rng.up_to(200) as usize),
            2 => "ä".repeat(self.rng.up_to(200) as usize),
            3 if self.rng.up_to(3) == 0 => "<<<FINAL_RESULT>>>{\"a\":1}<<<END_FINAL_RESULT>>>".into(),
            _ => "found".into(),
        };
        match self.rng.up_to(9) {
            0 => ToolOutcome::Rejected { slug: Slug::InvalidArguments, path: None, message: "no".into() },
            1 => ToolOutcome::Failed { message: "boom".into() },
            2 => ToolOutcome::TimedOut { after_ms: 30_000 },
            3 => ToolOutcome::Executed { content, repaired_args: Some(serde_json::json!({"q": 1})) },
            _ => ToolOutcome::Executed { content, repaired_args: None },
        }
    }

    fn model_error(&mut self) -> ModelError {
        let slug = [Slug::NetworkError, Slug::StreamCut, Slug::RateLimited, Slug::Timeout][self.rng.up_to(3) as usize];
        let retry = if self.rng.up_to(5) == 0 { Retry::Fatal } else { Retry::Yes };
        let retry_after_ms = (self.rng.up_to(3) == 0).then(|| self.rng.up_to(70_000));
        ModelError { retry_after_ms, ..error(slug, retry) }
    }
}

/// Every call is answered exactly once, in the order of the calls, right after the reply that made them.
fn check_calls(messages: &[Message]) {
    let mut ids = BTreeSet::new();
    let mut expected: Vec<CallId> = Vec::new();
    for message in messages {
        match message {
            Message::Tool(tool) => {
                assert!(!expected.is_empty(), "an answer nobody asked for");
                assert_eq!(tool.call_id, expected.remove(0), "answered in the order of the calls");
            }
            other => {
                assert!(expected.is_empty(), "unanswered calls before {other:?}");
                if let Message::Assistant(a) = other {
                    for call in &a.tool_calls {
                        let valid = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
                        assert!(!call.id.0.is_empty() && call.id.0.bytes().all(valid), "{}", call.id);
                        assert!(ids.insert(call.id.clone()), "{} is used twice", call.id);
                    }
                    expected = a.tool_calls.iter().map(|c| c.id.clone()).collect();
                }
            }
        }
    }
    assert!(expected.is_empty(), "unanswered calls at the end");
}
