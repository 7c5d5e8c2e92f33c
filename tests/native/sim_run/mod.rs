//! Random scripts, faults, timings and user actions against the invariants of a run.
//!
//! 10,000 runs by default; `TURNWISE_CASES` sets another number. A failure prints the configuration and the seed of the
//! world, which together determine the whole run.

mod ended;
mod seen;
mod world;

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use crate::support::*;
use ended::{check_calls, check_one, synthesis_attempts};
use proptest::prelude::*;
use seen::Seen;
use turnwise_engine::retry::Rng;
use turnwise_engine::*;
use turnwise_record::trajectory::{Recorder, Trajectory, replay};

fn cases() -> u32 {
    std::env::var("TURNWISE_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(10_000)
}

thread_local! { static RUNS: Cell<u32> = const { Cell::new(0) }; }

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), max_shrink_iters: 200, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn every_run_keeps_the_invariants(config in world::configs(), world in any::<u64>()) {
        let n = RUNS.with(|r| { r.set(r.get() + 1); r.get() });
        // 300 runs play every step through a serialized copy; the others play one random step each.
        let reload = if n <= 300 { Reload::EveryStep } else { Reload::OneStep };
        Sim::new(&config, world, reload).play();
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Reload {
    EveryStep,
    OneStep,
}

/// A random world: it answers, fails, delays, repeats, and lets the user interfere.
struct Sim {
    rng: Rng,
    recorder: Recorder,
    /// The run as seen by an observer that receives changes only.
    seen: Seen,
    at: u64,
    reload: Reload,
    reload_in: u64,
    open: Vec<Open>,
    echo: Option<Event>,
    /// The history as the shell has it: the run's own (0), and each sub-agent's.
    mirrors: BTreeMap<u32, (BaseId, Vec<Message>)>,
    /// Totals over the records of each sub-agent so far.
    children: BTreeMap<u32, Told>,
    bound: u32,
    left: u32,
    requests: u32,
    grants: u32,
    branches: u32,
    kept: BTreeSet<CallId>,
    /// The answers of the user so far: for calls, for tools, for the run.
    permits: (BTreeSet<CallId>, BTreeMap<String, bool>, Option<bool>),
    ended: bool,
    segment: Segment,
    effective_max_turns: u32,
    failed_attempts: usize,
}

#[derive(Clone, PartialEq, Debug)]
enum Open {
    Request(RequestId),
    Tool(CallId, RunMode),
    /// A program with its calls so far: whether each is answered.
    Program(CallId, Vec<bool>),
    /// A question whether a call of this tool may run.
    Asked(CallId, String, CallPermission),
    Timer(TimerId),
}

/// Totals over the records of one sub-agent.
struct Told {
    left: u32,
    terminals: u32,
    failed_attempts: usize,
}

#[derive(Default)]
struct Segment {
    finals: u32,
    terminals: u32,
}

impl Sim {
    fn new(config: &RunConfig, seed: u64, reload: Reload) -> Self {
        let (recorder, effects) = Recorder::start(config.clone(), world::task(seed));
        let synthesis = synthesis_attempts(config);
        let children = if config.spawns() { config.limits.children * setup::most_child_requests(config) } else { 0 };
        let bound = config.max_turns * config.max_attempts + synthesis + children;
        let mut rng = Rng::new(seed);
        let reload_in = rng.up_to(20);
        let mut sim = Sim {
            rng,
            effective_max_turns: recorder.run.effective_max_turns(),
            recorder,
            seen: Seen::default(),
            at: 0,
            reload,
            reload_in,
            open: Vec::new(),
            echo: None,
            mirrors: BTreeMap::new(),
            children: BTreeMap::new(),
            bound,
            left: bound,
            requests: 0,
            grants: 0,
            branches: 0,
            kept: BTreeSet::new(),
            permits: Default::default(),
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
            1 => return Event::Cancelled { keeps_text: self.rng.up_to(1) == 0 },
            2 => return Event::TurnsGranted { turns: 2 },
            3 => return Event::TimerFired { timer: TimerId(self.rng.up_to(9) as u32 + 1000) },
            4 => return Event::ToolFinished { call: CallId("nobody".into()), outcome: ToolOutcome::Stopped },
            10 => {
                let (name, arguments) = ("read".into(), "{}".into());
                return Event::ToolAsked { call: CallId("nobody".into()), name, arguments };
            }
            // A question that nobody asked.
            23 => return self.permitted(CallId("call_1_1_0".into())),
            24 if self.recorder.run.permissions().is_some() => {
                return Event::PermissionsSet { permissions: world::permissions(&mut self.rng) };
            }
            7 => {
                let at = EpochMillis(1_795_298_400_000 + self.at + self.rng.up_to(99_999));
                return Event::Resumed { at, authority: self.authority() };
            }
            8 if self.branches < 2 => return self.branch(),
            6 => {
                let open = self.open.iter().find_map(|one| match one {
                    Open::Request(request) => Some(*request),
                    _ => None,
                });
                let partial = PartialReply { content: "streamed so far".into(), reasoning: "and thought".into() };
                return Event::ModelStreamed { request: open.unwrap_or(RequestId(7_777)), partial };
            }
            // An answer that was given before.
            11..=22 if self.echo.is_some() => return self.echo.take().expect("there is one"),
            5 => {
                let request = RequestId(self.requests + 1 + self.rng.up_to(3) as u32);
                return Event::ModelReplied { request, reply: self.reply(), raw: None, first_token_ms: None };
            }
            _ => {}
        }
        assert!(!self.open.is_empty(), "the run waits for nothing: {:?}", self.recorder.run.status());
        let index = self.rng.up_to(self.open.len() as u64 - 1) as usize;
        if self.rng.up_to(3) > 0
            && let Open::Program(call, asked) = &mut self.open[index]
        {
            asked.push(false);
            let call = call.clone();
            let arguments = ["{}", "{\"q\": 1}", "no JSON"][self.rng.up_to(2) as usize].into();
            return Event::ToolAsked { call, name: self.tool_name().into(), arguments };
        }
        let event = match self.open.remove(index) {
            Open::Program(call, _) => Event::ToolFinished { call, outcome: self.outcome(RunMode::Run) },
            Open::Timer(timer) => Event::TimerFired { timer },
            Open::Tool(call, mode) => Event::ToolFinished { call, outcome: self.outcome(mode) },
            Open::Asked(call, ..) if self.rng.up_to(5) == 0 => {
                let outcome = ToolOutcome::Failed { message: "nobody answered".into() };
                Event::ToolFinished { call, outcome }
            }
            // Tools whose interrupted calls have no effect run without a question.
            Open::Asked(call, _, CallPermission::AskAgain) if self.rng.up_to(1) == 0 => {
                Event::ToolFinished { call, outcome: self.outcome(RunMode::Run) }
            }
            Open::Asked(call, name, permission) => {
                self.open.push(Open::Asked(call.clone(), name, permission));
                self.permitted(call)
            }
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

    /// Sometimes somebody else goes on with the run, who has other limits and not all of its tools.
    fn authority(&mut self) -> Option<Box<Authority>> {
        let mut config = self.recorder.run.config().clone();
        config.tools.retain(|_| self.rng.up_to(4) > 0);
        config.max_turns = 1 + self.rng.up_to(7) as u32;
        config.max_attempts = 1 + self.rng.up_to(4) as u32;
        config.limits.parallel_tools = 1 + self.rng.up_to(5) as u32;
        config.permissions = Some(world::permissions(&mut self.rng));
        (self.rng.up_to(1) == 0).then(|| Box::new(Authority::from(&config)))
    }

    fn branch(&mut self) -> Event {
        let some = |sim: &mut Sim| sim.rng.up_to(1) == 0;
        let providers =
            some(self).then(|| vec![ProviderConfig { model: "another".into(), ..ProviderConfig::default() }]);
        let branch = Branch {
            run_id: "run_20261122_100000_fedcba".into(),
            session_id: "another session".into(),
            parent: Parent { run_id: self.recorder.run.task().run_id.clone(), turn: 1 },
            at: EpochMillis(1_795_298_400_000 + self.at),
            providers,
            limits: None,
            authority: self.authority(),
            system: some(self).then(|| "another way".into()),
            max_turns: some(self).then(|| 1 + self.rng.up_to(5) as u32),
            say: some(self).then(|| "and shorter".into()),
            reply: some(self).then(|| self.reply()),
            edited: None,
        };
        Event::Branched(Box::new(branch))
    }

    /// Prepares for an event: after a resume nothing is open any more, and a branch has its own bound.
    fn before(&mut self, event: &Event) {
        match event {
            Event::Resumed { authority, .. } => {
                self.open.clear();
                if authority.is_some() {
                    self.permits = Default::default();
                }
            }
            Event::Permitted { call, allow, scope } => {
                let asked = |open: &Open| matches!(open, Open::Asked(asked, ..) if asked == call);
                let Some(at) = self.open.iter().position(asked) else { return };
                let Open::Asked(_, name, _) = self.open.remove(at) else { return };
                let (calls, tools, run) = &mut self.permits;
                match scope {
                    Scope::Call | Scope::Host => {} // no tool here has a host
                    Scope::Tool => drop(tools.insert(name, *allow)),
                    Scope::Run => *run = Some(*allow),
                }
                if *allow {
                    calls.insert(call.clone());
                }
            }
            Event::Branched(_) if matches!(self.recorder.run.status(), Status::Calling { attempt: 1, .. }) => {
                self.branches += 1;
                self.permits = Default::default();
                (self.bound, self.left, self.effective_max_turns) = (u32::MAX / 2, u32::MAX / 2, u32::MAX);
            }
            _ => {}
        }
    }

    fn step(&mut self, event: Event) {
        self.before(&event);
        let branched = matches!(event, Event::Branched(_));
        let replied = matches!(&event, Event::Branched(branch) if branch.reply.is_some());
        self.play_step(event);
        // A reply that the branch brings counts as a request, though none was sent.
        if replied && self.recorder.run.requests() == self.requests + 1 {
            self.requests += 1;
        }
        if branched && self.bound == u32::MAX / 2 {
            self.left = self.recorder.run.calls_left();
            self.bound = self.requests + self.left;
        }
    }

    fn play_step(&mut self, event: Event) {
        self.at += self.rng.up_to(3000);
        let every = self.reload == Reload::EveryStep;
        self.reload_in = self.reload_in.wrapping_sub(1);
        let copy = (every || self.reload_in == 0).then(|| serde_json::to_string(&self.recorder).expect("serializes"));
        let effects = self.recorder.handle(Millis(self.at), event.clone());
        if let Some(text) = copy {
            let mut copy: Recorder = serde_json::from_str(&text).expect("reads back");
            assert_eq!(copy.handle(Millis(self.at), event), effects, "a reloaded run behaves differently");
            // Pending storage is not part of the run.
            copy.with_changed(|_, _| {});
            self.recorder.with_changed(|_, _| {});
            assert_eq!(copy, self.recorder);
            // The copy plays the rest.
            self.recorder = copy;
        }
        self.seen.follow(&self.recorder.run, self.at.is_multiple_of(3));
        self.take(effects);
    }

    fn grant(&mut self) {
        let n = 1 + self.rng.up_to(2) as u32;
        let config = self.recorder.run.config();
        let more = n * config.max_attempts + synthesis_attempts(config);
        // Sub-agents that were never spawned can still be spawned: they are part of the bound from the start.
        let asked = self.recorder.run.children().iter().filter(|c| !c.is_refused()).count() as u32;
        let children =
            if config.spawns() { (config.limits.children - asked) * setup::most_child_requests(config) } else { 0 };
        (self.bound, self.left) = (self.bound + more, more + children);
        if self.branches > 0 {
            // A branch that only concluded counted no sub-agents.
            self.bound = self.requests + self.left;
        }
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
                Effect::AnswerProgram { program, asked, .. } => {
                    let calls = self.open.iter_mut().find_map(|open| match open {
                        Open::Program(call, calls) if *call == program => Some(calls),
                        _ => None,
                    });
                    let answered = calls.expect("the program runs").get_mut(asked).expect("it asked for this");
                    assert!(!std::mem::replace(answered, true), "call {asked} of {program} is answered twice");
                }
                Effect::RunTool(tool) => {
                    self.check_permission(&tool);
                    self.open.push(match tool.permission {
                        CallPermission::Allowed if tool.program.is_some() => Open::Program(tool.call, Vec::new()),
                        CallPermission::Allowed => Open::Tool(tool.call, tool.run),
                        asked => Open::Asked(tool.call, tool.name, asked),
                    });
                }
                Effect::Sleep { timer, .. } => self.open.push(Open::Timer(timer)),
                Effect::Abort(what) => {
                    self.open.retain(|open| match (open, &what) {
                        (Open::Request(a), Abort::Request(b)) => a != b,
                        (Open::Tool(a, _) | Open::Asked(a, ..) | Open::Program(a, _), Abort::Tool(b)) => a != b,
                        (Open::Timer(a), Abort::Timer(b)) => a != b,
                        _ => true,
                    });
                }
                Effect::Record(record) => self.check_record(&record),
                Effect::KeepResult { handle, .. } => {
                    assert!(self.kept.insert(handle.clone()), "{handle} is kept twice");
                }
                Effect::Finish => self.ended = true,
            }
        }
        if matches!(self.recorder.run.status(), Status::Calling { .. }) {
            assert_eq!(self.mirrors[&0].1, self.recorder.run.shown_messages(), "the shell has another history");
        }
        let now = self.recorder.run.effective_max_turns();
        assert!(now <= self.effective_max_turns, "effective_max_turns grew within a segment");
        self.effective_max_turns = now;
    }

    /// A denied call never gets here, and one that needs permission runs only after a yes.
    fn check_permission(&self, tool: &RunTool) {
        let run = &self.recorder.run;
        let spec = run.config_of(&tool.call).tools.iter().find(|spec| spec.name == tool.name);
        let (Some(permissions), Some(spec), true) = (run.permissions(), spec, tool.run != RunMode::Check) else {
            return assert_eq!(tool.permission, CallPermission::Allowed, "{tool:?}");
        };
        let (calls, tools, all) = &self.permits;
        let answer = tools.get(&tool.name).copied().or(*all);
        let rule = permissions.rule(spec, spec.side_effect, "{}");
        let permitted = match (rule, permissions.answers) {
            (PermissionRule::Allow, _) | (PermissionRule::Ask, Answers::All) => true,
            (PermissionRule::Deny, _) | (PermissionRule::Ask, Answers::Nobody) => calls.contains(&tool.call),
            (PermissionRule::Ask, Answers::Page) => calls.contains(&tool.call) || answer == Some(true),
        };
        assert!(
            permitted || tool.permission == CallPermission::Ask,
            "{tool:?} runs without permission: {permissions:?}"
        );
        if tool.permission == CallPermission::Ask {
            assert_eq!((rule, permissions.answers, answer), (PermissionRule::Ask, Answers::Page, None));
        }
    }

    fn check_request(&mut self, call: &ModelCall) {
        let child = call.request.child();
        let mirror = self.mirrors.entry(child).or_insert((call.base, Vec::new()));
        if call.base != mirror.0 {
            *mirror = (call.base, Vec::new());
        }
        mirror.1.extend(call.append.iter().cloned());
        self.check_fits(call);
        if child > 0 && self.recorder.run.wrap_up_trigger().is_some() {
            let of = self.recorder.run.children().iter().find(|one| one.id == child).and_then(ChildRun::run);
            let preset = of.map_or(self.recorder.run.config().preset, |run| run.config().preset);
            let concludes = if preset == Preset::Strict { ToolChoice::Report } else { ToolChoice::None };
            assert_eq!(call.tools, concludes, "after a wrap-up a sub-agent only concludes");
        }
        let warned = self.recorder.run.logs().iter().filter(|l| l.level == LogLevel::Warn).count();
        assert_eq!(warned, self.failed_attempts, "each failed attempt is logged before the next begins");
        assert!(self.requests <= self.bound, "{} requests, the bound is {}", self.requests, self.bound);
        assert!(
            self.requests + self.left <= self.bound,
            "{} sent, {} left, of {}",
            self.requests,
            self.left,
            self.bound
        );
        let notices =
            |m: &&Message| matches!(m, Message::User { content, .. } if content.starts_with(prompts::NOTICE_PREFIX));
        assert!(call.tail.iter().filter(notices).count() <= 1, "more than one notice in a request");
        assert_eq!(call.append.iter().filter(notices).count(), 0, "a notice in the history");
        let mine = |o: &&Open| matches!(o, Open::Request(id) if id.child() == child);
        assert_eq!(self.open.iter().filter(mine).count(), 0, "two requests of one run are open");
    }

    /// Every request fits a known window, and is a whole conversation with the system message and the task, however much is left out.
    fn check_fits(&self, call: &ModelCall) {
        let child = call.request.child();
        let of = self.recorder.run.children().iter().find(|one| one.id == child).and_then(ChildRun::run);
        let run = of.unwrap_or(&self.recorder.run);
        let sent = &self.mirrors[&child].1;
        check_calls(sent);
        if !run.config().shortens {
            return;
        }
        let tail = call
            .tail
            .iter()
            .map(|message| match message {
                Message::System { content } | Message::User { content, .. } => content.len() as u64,
                other => panic!("{other:?}"),
            })
            .sum::<u64>();
        if let Some(window) = run.config().limits.context_tokens {
            let tokens = run.request_tokens() + tail / 4;
            assert!(tokens <= window, "{tokens} tokens are sent to a window of {window}");
        }
        assert!(matches!(sent.first(), Some(Message::System { .. })), "the system message is left out");
        let task = Message::User { content: run.task().input.clone(), images: run.task().images.clone() };
        assert!(sent.contains(&task), "the task is left out");
        let is_note =
            |m: &&Message| matches!(m, Message::User { content, .. } if content.starts_with(prompts::LEFT_OUT_PREFIX));
        let left_out = run.turns().last().and_then(|turn| turn.attempts.last()).map_or(0, |attempt| attempt.left_out);
        assert_eq!(sent.iter().filter(is_note).count(), usize::from(left_out > 0), "one note for what is left out");
        let user = |m: &&Message| matches!(m, Message::User { content, .. } if !content.starts_with("[Left"));
        assert_eq!(sent.iter().rfind(user), run.messages().iter().rfind(user), "the newest message is left out");
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
            RecordKind::Child { child, event } => self.check_child_record(*child, event),
            RecordKind::AttemptFailed { slugs, .. } if slugs != &[Slug::Stopped] => self.failed_attempts += 1,
            _ => assert_eq!(self.segment.finals, 0, "only the terminal record follows the final one"),
        }
    }

    /// Checks that a sub-agent's records follow the same rules as a run's.
    fn check_child_record(&mut self, child: u32, record: &Record) {
        let told = self.children.entry(child).or_insert(Told { left: u32::MAX, terminals: 0, failed_attempts: 0 });
        assert!(record.calls_left <= told.left, "the bound of sub-agent {child} grew: {:?}", record.what);
        told.left = record.calls_left;
        assert_eq!(told.terminals, 0, "a record after the terminal one");
        match &record.what {
            RecordKind::Child { .. } => panic!("a sub-agent has sub-agents"),
            RecordKind::AgentFinished { .. } | RecordKind::AgentFailed { .. } => told.terminals += 1,
            RecordKind::AttemptFailed { slugs, .. } if slugs != &[Slug::Stopped] => told.failed_attempts += 1,
            _ => {}
        }
    }

    fn check_segment(&mut self) {
        assert_eq!((self.segment.finals, self.segment.terminals), (1, 1));
        assert_eq!(self.open, [], "work is still open after the end");
        let e = self.recorder.run.ending().expect("ended");
        let reported = e.termination_reason == TerminationReason::FinalReport;
        let success = matches!(e.termination_reason, TerminationReason::LlmComplete | TerminationReason::FinalResult)
            || (reported && e.wrap_up.is_none());
        assert_eq!(e.outcome == Outcome::Success, success, "{e:?}");
        let last = self.recorder.run.turns().last();
        let accepted = last.is_some_and(|t| t.tool_calls.iter().any(|c| c.name == own_tools::REPORT && c.is_final));
        assert!(!reported || accepted, "a report that was not accepted: {e:?}");
        if e.termination_reason == TerminationReason::LlmComplete {
            let own = last.is_some_and(|t| t.is_final && t.tool_calls.is_empty() && t.content == e.output);
            assert!(own, "a completion that is not the model's own text: {e:?}");
        }
        let partial =
            matches!(e.termination_reason, TerminationReason::Synthesized(_)) || (reported && e.wrap_up.is_some());
        assert_eq!(e.outcome == Outcome::Partial, partial, "{e:?}");
        if self.recorder.run.config().preset == Preset::Strict {
            assert_ne!(e.termination_reason, TerminationReason::LlmComplete, "text alone never completes a strict run");
        }
        assert_eq!(e.outcome == Outcome::Cancelled, e.termination_reason == TerminationReason::Cancelled);
    }

    fn check_run(&self) {
        let run = &self.recorder.run;
        world::check_figures(&self.recorder, self.requests);
        check_one(run, self.failed_attempts);
        for child in run.children() {
            let Some(run) = child.run() else { continue };
            let told = &self.children[&child.id];
            assert_eq!(told.terminals, 1, "each sub-agent that began has ended, once");
            check_one(run, told.failed_attempts);
        }
        self.check_document();
    }

    fn check_document(&self) {
        let document = self.recorder.document();
        let text = serde_json::to_string(&document).expect("serializes");
        let read = Trajectory::parse(&text).expect("reads back");
        assert_eq!(read, document);
        if self.reload == Reload::EveryStep {
            validate(&document);
            world::export_all(&document);
        }
        let again = replay(&read).unwrap_or_else(|m| panic!("replay differs: {m:?}"));
        assert_eq!(serde_json::to_string(&again.document()).expect("serializes"), text, "replay is byte for byte");
    }
}
