//! What a person sees of sub-agents: a lane each, live and from disk, the tally, and what is told of them.
#![cfg(not(target_arch = "wasm32"))]
#![allow(clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::unwrap_used)]

mod support;

use serde_json::json;
use support::*;
use turnwise::engine::*;
use turnwise::trajectory::{Recorder, Trajectory};
use turnwise::view::ending::Tone;
use turnwise::view::tasks::EXAMPLES;
use turnwise::view::*;

/// A tree of runs, answered the oldest request first.
struct Tree {
    recorder: Recorder,
    at: u64,
    open: Vec<ModelCall>,
    tools: Vec<RunTool>,
}

impl Tree {
    fn new(config: RunConfig) -> Self {
        let (recorder, effects) = Recorder::start(config, task());
        let mut tree = Tree { recorder, at: 0, open: Vec::new(), tools: Vec::new() };
        tree.take(effects);
        tree
    }

    fn handle(&mut self, event: Event) {
        self.at += 100;
        let effects = self.recorder.handle(Millis(self.at), event);
        self.take(effects);
    }

    fn take(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::CallModel(call) => self.open.push(call),
                Effect::RunTool(tool) => self.tools.push(tool),
                Effect::Abort(Abort::Request(id)) => self.open.retain(|call| call.request != id),
                Effect::Abort(Abort::Tool(id)) => self.tools.retain(|tool| tool.call != id),
                _ => {}
            }
        }
    }

    /// Answers the oldest request; the root asks for a sub-agent a task.
    fn reply(&mut self, tasks: &[&str]) {
        let call = self.open.remove(0);
        let (request, child) = (call.request, call.request.child());
        let reply = match (child, call.turn, call.tools) {
            (0, 1, ToolChoice::Auto) => {
                let tasks: Vec<_> = tasks.iter().map(|task| json!({ "task": task })).collect();
                calls_tool(spawn::TOOL, &json!({ "tasks": tasks }).to_string())
            }
            (0, ..) | (_, _, ToolChoice::None) => says(&format!("what {child} found")),
            (1, ..) => calls_tool("search", "{}"),
            (2, ..) => says("found at once"),
            _ => {
                let error = error(Slug::AuthError, Retry::Fatal);
                return self.handle(Event::ModelFailed { request, error, raw: None });
            }
        };
        self.handle(Event::ModelReplied { request, reply, raw: None, first_token_ms: None });
        // Arguments are checked first.
        while self.tools.iter().any(|tool| tool.run == RunMode::Check) {
            self.run_tool();
        }
    }

    fn run_tool(&mut self) {
        let tool = self.tools.remove(0);
        let outcome = ToolOutcome::Executed { content: "found".into(), repaired_args: None };
        self.handle(Event::ToolFinished { call: tool.call, outcome });
    }

    fn finish(&mut self, tasks: &[&str]) {
        while !self.open.is_empty() || !self.tools.is_empty() {
            if self.tools.is_empty() { self.reply(tasks) } else { self.run_tool() }
        }
        assert_eq!(self.recorder.run.status(), Status::Ended);
    }

    fn lanes(&self) -> Vec<LaneView> {
        LaneView::of_turn(&Source::from(&self.recorder.run), 0)
    }

    fn view(&self) -> ViewModel {
        ViewModel::from(&self.recorder.run)
    }

    /// Written to disk and read again.
    fn document(&self) -> Trajectory {
        Trajectory::parse(&serde_json::to_string(&self.recorder.document()).unwrap()).unwrap()
    }
}

fn says(content: &str) -> Reply {
    Reply { content: content.into(), ..Reply::default() }
}

fn calls_tool(name: &str, arguments: &str) -> Reply {
    let call = RawCall { id: String::new(), name: name.into(), arguments: arguments.into() };
    Reply { tool_calls: vec![call], finish: FinishReason::ToolCalls, ..Reply::default() }
}

fn spawning(parallel: u32) -> RunConfig {
    let mut config = config(Preset::Research);
    config.tools.push(spawn::spec(&[]));
    config.limits.parallel_tools = parallel;
    config
}

fn words(lanes: &[LaneView]) -> Vec<&str> {
    lanes.iter().map(|lane| lane.words.as_str()).collect()
}

fn states(lanes: &[LaneView]) -> Vec<LaneState> {
    lanes.iter().map(|lane| lane.state).collect()
}

const THREE: [&str; 3] = ["read the first part", "read the second", "read the third"];

#[test]
fn a_lane_says_in_one_line_what_its_sub_agent_is_doing() {
    let mut tree = Tree::new(spawning(2));
    tree.reply(&THREE);
    assert_eq!(
        words(&tree.lanes()),
        ["turn 1 of 7, asking the model", "turn 1 of 7, asking the model", "waiting to begin"]
    );
    assert_eq!(states(&tree.lanes()), [LaneState::Running, LaneState::Running, LaneState::Waiting]);
    tree.reply(&THREE);
    let lanes = tree.lanes();
    assert_eq!(lanes[0].words, "turn 1 of 7, running search");
    assert_eq!((lanes[0].task.as_str(), lanes[0].task_id), ("read the first part", 1));
    let state = |state: TickState| lanes[0].ticks.iter().filter(|tick| tick.state == state).count();
    assert_eq!((state(TickState::Live), state(TickState::Ahead)), (1, 7), "six turns and a synthesis are ahead");
    let since = tree.recorder.run.child_runs().next().unwrap().task().started_at;
    assert_eq!((&lanes[0].time, &lanes[2].time), (&LaneTime::Since(since.0), &LaneTime::None));
    assert!(lanes[2].ticks.is_empty());
    // The second ends, so that the third begins.
    tree.reply(&THREE);
    let lanes = tree.lanes();
    assert_eq!(words(&lanes)[1..], ["1 turn, complete", "turn 1 of 7, asking the model"]);
    assert_eq!((lanes[1].state, lanes[1].ticks.len()), (LaneState::Ended(Tone::Complete), 1));
    assert_eq!(lanes[1].time, LaneTime::Took("200 ms".into()));
}

#[test]
fn the_card_the_panel_and_the_announcement_count_them() {
    let mut tree = Tree::new(spawning(2));
    tree.reply(&THREE);
    let view = tree.view();
    assert_eq!(view.turns[0].calls[0].summary, "3 sub-agents, none done yet");
    assert!(view.turns[0].calls[0].args.contains("read the second"), "the arguments are behind the disclosure");
    assert_eq!(view.turns[0].live, Some(Live::Tools { words: "Sub-agents at work".into() }));
    assert_eq!(view.panel.subagents.as_deref(), Some("0 of 3 done"));
    assert_eq!(view.panel.announcement, "Turn 1 of 15.");
    tree.reply(&THREE);
    assert_eq!(tree.view().panel.announcement, "Turn 1 of 15.", "turns of sub-agents are not told");
    tree.reply(&THREE);
    assert_eq!(tree.view().panel.announcement, "Sub-agents: 1 of 3 done.");
    tree.finish(&THREE);
    let view = tree.view();
    assert_eq!(view.turns[0].calls[0].summary, "3 sub-agents, 2 done, 1 failed");
    assert_eq!(view.panel.subagents.as_deref(), Some("2 of 3 done, 1 failed"));
    assert!(view.panel.announcement.starts_with("Run ended: "));
    let lanes = tree.lanes();
    assert_eq!(words(&lanes), ["8 turns, synthesized", "1 turn, complete", "failed: the model did not answer"]);
    assert_eq!(lanes[2].state, LaneState::Ended(Tone::Failed));
    let plain = play(config(Preset::Research), vec![text("done")]);
    assert_eq!(ViewModel::from(plain.run()).panel.subagents, None);
}

#[test]
fn an_opened_document_shows_the_same_lanes_and_what_is_in_them() {
    let mut tree = Tree::new(spawning(2));
    tree.finish(&THREE);
    let document = tree.document();
    let source = Source::from(&document);
    assert_eq!(LaneView::of_turn(&source, 0), tree.lanes());
    let (live, opened) = (ViewModel::from(&tree.recorder.run), ViewModel::from(&source));
    assert_eq!((opened.turns, opened.panel.subagents), (live.turns, live.panel.subagents));
    let call = tree.lanes()[0].call.clone();
    let of = |source: &Source<'_>, task_id| source.child(&call, task_id).map(|child| ViewModel::from(&child));
    let root = Source::from(&tree.recorder.run);
    for task_id in 1..=3 {
        let (live, opened) = (of(&root, task_id).unwrap(), of(&source, task_id).unwrap());
        assert_eq!((live.head.task, live.turns), (opened.head.task, opened.turns));
    }
    let first = of(&source, 1).unwrap();
    assert_eq!(first.turns.len(), 8);
    assert_eq!(first.turns[7].content, "what 1 found");
    assert!(of(&source, 4).is_none() && of(&source, 0).is_none() && source.child("another", 1).is_none());
}

#[test]
fn those_that_never_began_say_why() {
    let mut stopped = Tree::new(spawning(2));
    stopped.reply(&THREE);
    stopped.handle(Event::StopRequested);
    let lanes = stopped.lanes();
    assert_eq!(
        words(&lanes),
        ["writing the synthesis", "writing the synthesis", "stopped before it began"],
        "before the call is answered"
    );
    assert_eq!(states(&lanes), [LaneState::Concluding, LaneState::Concluding, LaneState::NotRun]);
    stopped.finish(&THREE);
    assert_eq!(words(&stopped.lanes())[2], "stopped before it began");
    assert_eq!(stopped.view().turns[0].calls[0].summary, "3 sub-agents, 2 done, 1 not run");
    // Turns that are granted after it do not bring them back.
    stopped.handle(Event::TurnsGranted { turns: 2 });
    assert_eq!(states(&stopped.lanes())[2], LaneState::NotRun);

    let mut cancelled = Tree::new(spawning(2));
    cancelled.reply(&THREE);
    cancelled.handle(Event::Cancelled);
    let lanes = cancelled.lanes();
    assert_eq!(words(&lanes)[2], "cancelled before it began");
    assert_eq!(lanes[0].state, LaneState::Ended(Tone::Cancelled));

    let mut few = spawning(2);
    few.limits.children = 2;
    let mut full = Tree::new(few);
    full.finish(&THREE);
    assert_eq!(words(&full.lanes())[2], "not run: at most 2 sub-agents work for one run");

    for tree in [cancelled, full] {
        assert_eq!(LaneView::of_turn(&Source::from(&tree.document()), 0), tree.lanes());
    }
    let mut open = Tree::new(spawning(2));
    open.reply(&THREE);
    let document = open.document();
    let lanes = LaneView::of_turn(&Source::from(&document), 0);
    assert_eq!(words(&lanes), ["1 of 7 turns, unfinished", "1 of 7 turns, unfinished", "had not begun"]);
}

#[test]
fn a_call_that_is_refused_has_no_lanes() {
    let mut tree = Tree::new(spawning(2));
    let request = tree.open.remove(0).request;
    let reply = calls_tool(spawn::TOOL, r#"{"tasks": "none"}"#);
    tree.handle(Event::ModelReplied { request, reply, raw: None, first_token_ms: None });
    while !tree.tools.is_empty() {
        let tool = tree.tools.remove(0);
        let outcome = ToolOutcome::Rejected {
            slug: Slug::InvalidArguments,
            path: Some("/tasks".into()),
            message: "tasks is no array".into(),
        };
        tree.handle(Event::ToolFinished { call: tool.call, outcome });
    }
    assert!(tree.lanes().is_empty());
    assert_eq!(LaneView::of_turn(&Source::from(&tree.document()), 0), []);
}

#[test]
fn examples_keep_their_promise_under_every_preset() {
    let named = |title: &str| EXAMPLES.iter().find(|example| example.title == title).unwrap();
    for preset in Preset::ALL {
        let mut config = RunConfig { counter: None, synthesis: None, ..RunConfig::preset(*preset) };
        named("Limit and synthesis").apply(&mut config);
        assert_eq!((config.preset, config.max_turns), (Preset::Research, 7));
        assert!(config.synthesis.is_some() && config.counter.is_some() && !config.spawns());
        named("Parallel readers").apply(&mut config);
        named("Parallel readers").apply(&mut config);
        assert_eq!(config.tools.iter().filter(|tool| tool.name == spawn::TOOL).count(), 1);
        let mut own = RunConfig::preset(*preset);
        named("Tools over files").apply(&mut own);
        assert_eq!(own.preset, *preset, "what any preset shows is left to the user");
    }
}
