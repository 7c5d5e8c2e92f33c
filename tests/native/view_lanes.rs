//! The view of sub-agents: a lane each, live and from disk, the tally, and the texts about them.

use crate::support::tree::*;
use crate::support::*;
use turnwise_engine::*;
use turnwise_record::trajectory::Trajectory;
use turnwise_view::ending::Tone;
use turnwise_view::tasks::EXAMPLES;
use turnwise_view::*;

/// The root gives a part to each of three sub-agents: the first works until its limit, the second is done at once, the
/// third's provider is down.
fn model(call: &ModelCall) -> Result<Reply, ModelError> {
    match (call.request.child(), call.turn, call.tools) {
        (0, 1, ToolChoice::Auto) => Ok(spawn_call(&tasks(3))),
        (child @ 0, ..) | (child, _, ToolChoice::None) => Ok(says(&format!("what {child} found"))),
        (1, ..) => Ok(reply_call("search", "{}")),
        (2, ..) => Ok(says("found at once")),
        _ => Err(error(Slug::AuthError, Retry::Fatal)),
    }
}

fn two_at_once() -> RunConfig {
    let mut config = spawning(Preset::Research);
    config.limits.parallel_tools = 2;
    config
}

/// The first two have begun: their parts were requested, and the arguments checked.
fn begun(config: RunConfig) -> Tree {
    let mut tree = Tree::new(config);
    step(&mut tree, 2);
    tree
}

fn step(tree: &mut Tree, times: usize) {
    (0..times).for_each(|_| assert!(tree.step(model)));
}

fn lanes(tree: &Tree) -> Vec<LaneView> {
    LaneView::of_turn(&RunSource::from(tree.run()), 0)
}

fn view(tree: &Tree) -> ViewModel {
    ViewModel::from(tree.run())
}

/// The document, written to disk and read again.
fn document(tree: &Tree) -> Trajectory {
    Trajectory::parse(&serde_json::to_string(&tree.recorder.document()).unwrap()).unwrap()
}

fn words(lanes: &[LaneView]) -> Vec<&str> {
    lanes.iter().map(|lane| lane.words.as_str()).collect()
}

fn states(lanes: &[LaneView]) -> Vec<LaneState> {
    lanes.iter().map(|lane| lane.state).collect()
}

#[test]
fn a_lane_says_in_one_line_what_its_sub_agent_is_doing() {
    let mut tree = begun(two_at_once());
    assert_eq!(
        words(&lanes(&tree)),
        ["turn 1 of 7, asking the model", "turn 1 of 7, asking the model", "waiting to start"]
    );
    assert_eq!(states(&lanes(&tree)), [LaneState::Running, LaneState::Running, LaneState::Waiting]);
    step(&mut tree, 1);
    let now = lanes(&tree);
    assert_eq!(now[0].words, "turn 1 of 7, running search");
    assert_eq!((now[0].task.as_str(), now[0].task_id), ("part 1", 1));
    let state = |state: TickState| now[0].ticks.iter().filter(|tick| tick.state == state).count();
    assert_eq!((state(TickState::Live), state(TickState::Ahead)), (1, 7), "six turns and a synthesis are ahead");
    let since = tree.run().child_runs().next().unwrap().task().started_at;
    assert_eq!((&now[0].time, &now[2].time), (&LaneTime::Since(since.0), &LaneTime::None));
    assert!(now[2].ticks.is_empty());
    // The second ends, so that the third begins.
    step(&mut tree, 2);
    let now = lanes(&tree);
    assert_eq!(words(&now)[1..], ["1 turn, complete", "turn 1 of 7, asking the model"]);
    assert_eq!((now[1].state, now[1].ticks.len()), (LaneState::Ended(Tone::Complete), 1));
    assert_eq!(now[1].time, LaneTime::Took("30 ms".into()));
}

#[test]
fn the_card_the_panel_and_the_announcement_count_them() {
    let mut tree = begun(two_at_once());
    let seen = view(&tree);
    assert_eq!(seen.turns[0].calls[0].summary, "3 sub-agents, none done yet");
    assert!(seen.turns[0].calls[0].args.contains("part 2"), "the arguments are behind the disclosure");
    assert_eq!(seen.turns[0].live, Some(Activity::Tools { words: "Sub-agents at work".into() }));
    assert_eq!(seen.panel.subagents.as_deref(), Some("0 of 3 done"));
    assert_eq!(seen.panel.announcement, "Turn 1 of 15.");
    step(&mut tree, 2);
    assert_eq!(view(&tree).panel.announcement, "Turn 1 of 15.", "turns of sub-agents are not told");
    step(&mut tree, 1);
    assert_eq!(view(&tree).panel.announcement, "Sub-agents: 1 of 3 done.");
    let tree = tree.play(model);
    let seen = view(&tree);
    assert_eq!(seen.turns[0].calls[0].summary, "3 sub-agents, 2 done, 1 failed");
    assert_eq!(seen.panel.subagents.as_deref(), Some("2 of 3 done, 1 failed"));
    assert!(seen.panel.announcement.starts_with("Run ended: "));
    let now = lanes(&tree);
    assert_eq!(words(&now), ["concluded at the turn limit", "1 turn, complete", "failed: no answer"]);
    assert_eq!(now[2].state, LaneState::Ended(Tone::Failed));
    let plain = play(config(Preset::Research), vec![text("done")]);
    assert_eq!(ViewModel::from(plain.run()).panel.subagents, None);
}

#[test]
fn an_opened_document_shows_the_same_lanes_and_what_is_in_them() {
    let tree = Tree::new(two_at_once()).play(model);
    let written = document(&tree);
    let source = RunSource::from(&written);
    assert_eq!(LaneView::of_turn(&source, 0), lanes(&tree));
    let (live, opened) = (ViewModel::from(tree.run()), ViewModel::from(&source));
    assert_eq!((opened.turns, opened.panel.subagents), (live.turns, live.panel.subagents));
    let call = lanes(&tree)[0].call.clone();
    let of = |source: &RunSource<'_>, task_id| source.child(&call, task_id).map(|child| ViewModel::from(&child));
    let root = RunSource::from(tree.run());
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
    let mut stopped = begun(two_at_once());
    stopped.handle(Event::StopRequested);
    let now = lanes(&stopped);
    assert_eq!(
        words(&now),
        ["writing the synthesis", "writing the synthesis", "stopped before it began"],
        "before the call is answered"
    );
    assert_eq!(states(&now), [LaneState::Concluding, LaneState::Concluding, LaneState::NotRun]);
    let mut stopped = stopped.play(model);
    assert_eq!(words(&lanes(&stopped))[2], "stopped before it began");
    assert_eq!(view(&stopped).turns[0].calls[0].summary, "3 sub-agents, 2 done, 1 not run");
    // Turns that are granted afterwards do not bring them back.
    stopped.handle(Event::TurnsGranted { turns: 2 });
    assert_eq!(states(&lanes(&stopped))[2], LaneState::NotRun);

    let mut cancelled = begun(two_at_once());
    cancelled.handle(Event::Cancelled { keeps_text: true });
    let now = lanes(&cancelled);
    assert_eq!(words(&now)[2], "stopped before it began");
    assert_eq!(now[0].state, LaneState::Ended(Tone::Cancelled));

    let mut few = two_at_once();
    few.limits.children = 2;
    let full = Tree::new(few).play(model);
    assert_eq!(words(&lanes(&full))[2], "not run: at most 2 sub-agents work for one run");

    for tree in [cancelled, full] {
        assert_eq!(LaneView::of_turn(&RunSource::from(&document(&tree)), 0), lanes(&tree));
    }
    let open = begun(two_at_once());
    let written = document(&open);
    let now = LaneView::of_turn(&RunSource::from(&written), 0);
    assert_eq!(words(&now), ["1 of 7 turns, unfinished", "1 of 7 turns, unfinished", "not started"]);
}

#[test]
fn a_call_that_is_refused_has_no_lanes() {
    let mut tree = Tree::new(two_at_once());
    let request = tree.open.remove(0).request;
    let reply = reply_call(own_tools::SPAWN, r#"{"tasks": "none"}"#);
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
    assert!(lanes(&tree).is_empty());
    assert_eq!(LaneView::of_turn(&RunSource::from(&document(&tree)), 0), []);
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
        assert_eq!(config.tools.iter().filter(|tool| tool.name == own_tools::SPAWN).count(), 1);
        let mut own = RunConfig::preset(*preset);
        named("Tools over files").apply(&mut own);
        assert_eq!(own.preset, *preset, "what any preset shows is left to the user");
    }
}
