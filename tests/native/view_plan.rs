//! The view of a plan: the graph, each step, its context, the panel. Pure, from plans and their records alone.

use crate::support::plan as plans;

use plans::*;
use serde_json::{Value, json};
use turnwise_engine::*;
use turnwise_protocol::Snapshot;
use turnwise_protocol::app::{Header, StoredKind, step_key};
use turnwise_record::plan::*;
use turnwise_record::trajectory::RunSummary;
use turnwise_view::ending::Tone;
use turnwise_view::plan::cell::StepField;
use turnwise_view::plan::edit::{FaultView, PlanDraft, to_fix};
use turnwise_view::plan::example::PLAN;
use turnwise_view::plan::*;
use turnwise_view::{RailView, RunSource, SourceOrigin, TickKind, TickState};

/// Builds a plan; agents G* gather, S* synthesize.
fn plan_of(steps: &[(u32, &str, &[u32])]) -> Plan {
    let steps: Vec<Value> = steps
        .iter()
        .map(|(order, agent, dependencies)| {
            json!({ "order": order, "agent": agent, "action": format!("do {order}"), "dependencies": dependencies })
        })
        .collect();
    plan(&json!({ "agents": { "G": { "kind": "gather" }, "S": { "kind": "synthesis" } }, "steps": steps }))
}

/// Steps 1 and 2 gather, 3 needs 1, 4 concludes, 5 needs 2, 6 concludes.
fn mixed() -> Plan {
    plan_of(&[(1, "G", &[]), (2, "G", &[]), (3, "G", &[1]), (4, "S", &[]), (5, "G", &[2]), (6, "S", &[])])
}

fn node(graph: &Graph, order: u32) -> GraphNode {
    *graph.nodes.iter().find(|node| node.order == order).expect("a node")
}

fn columns(graph: &Graph) -> Vec<(u32, usize)> {
    graph.nodes.iter().map(|node| (node.order, node.column)).collect()
}

/// Looks at a step as its record describes it.
fn with_source<T>(document: &PlanDocument, record: &StepRecord, look: impl FnOnce(&StepSource<'_>) -> T) -> T {
    let run = record.run.as_ref().map(|run| Snapshot::recorded(&run.trajectory().unwrap()));
    let run = run.as_ref().map(|run| RunSource::from(run).recorded());
    look(&StepSource { plan: &document.plan, record, run, traces: &document.traces, origin: SourceOrigin::Document })
}

/// The steps of a plan whose page was closed.
fn interrupted_views(document: &PlanDocument) -> Vec<StepView> {
    let view = |record: &StepRecord| {
        let run = record.run.as_ref().map(|run| Snapshot::recorded(&run.trajectory().unwrap()));
        let run = run.as_ref().map(|run| match record.status {
            StepStatus::Running => RunSource::from(run).interrupted(),
            _ => RunSource::from(run).recorded(),
        });
        let (plan, traces) = (&document.plan, document.traces.as_slice());
        StepView::from(&StepSource { plan, record, run, traces, origin: SourceOrigin::Interrupted })
    };
    document.steps.iter().map(view).collect()
}

fn views(document: &PlanDocument) -> Vec<StepView> {
    let view = |record: &StepRecord| with_source(document, record, |source| StepView::from(source));
    document.steps.iter().map(view).collect()
}

fn view(document: &PlanDocument, order: u32) -> StepView {
    views(document).into_iter().find(|view| view.order == order).expect("a step")
}

fn context(document: &PlanDocument, order: u32) -> ContextView {
    let record = document.steps.iter().find(|step| step.order == order).expect("a step");
    with_source(document, record, |source| ContextView::from(source))
}

fn panel(document: &PlanDocument, origin: SourceOrigin, calls_left: u32) -> PlanPanelView {
    let told = PlanProgress { started_at: document.started_ms, calls_left, ending: document.ending.as_ref(), origin };
    PlanPanelView::new(&views(document), &told)
}

/// The coordinates of a path, in order.
fn points(path: &str) -> Vec<i32> {
    path.split(|c: char| !c.is_ascii_digit() && c != '-').filter_map(|n| n.parse().ok()).collect()
}

#[test]
fn a_step_stands_right_of_all_it_is_told_of() {
    let graph = Graph::wide(&mixed());
    assert_eq!(columns(&graph), [(1, 0), (2, 0), (3, 1), (4, 2), (5, 1), (6, 3)]);
    let edges: Vec<(u32, u32)> = graph.edges.iter().map(|edge| (edge.from, edge.to)).collect();
    let expected = [(1, 3), (1, 4), (2, 4), (3, 4), (2, 5), (1, 6), (2, 6), (3, 6), (4, 6), (5, 6)];
    assert_eq!(edges, expected);
    let synthesis = |edge: &Edge| edge.kind == AgentKind::Synthesis;
    assert_eq!(graph.edges.iter().filter(|edge| synthesis(edge)).count(), 8);
    assert_eq!(graph.ports.iter().map(|port| port.order).collect::<Vec<_>>(), [3, 4, 5, 6]);
}

#[test]
fn steps_and_lanes_do_not_meet() {
    for plan in [mixed(), read(&PLAN.plan(), &["list_files", "search_files", "read_file", "calculate"]).unwrap()] {
        let graph = Graph::wide(&plan);
        for (at, one) in graph.nodes.iter().enumerate() {
            assert!(one.x >= 0 && one.y >= 0 && one.y + one.height <= graph.height, "{one:?}");
            assert!(one.x + one.width.unwrap() <= graph.width);
            for other in &graph.nodes[at + 1..] {
                let apart = one.column != other.column || (one.y - other.y).abs() >= one.height;
                assert!(apart, "{one:?} {other:?}");
            }
        }
        // Where a line runs level inside a column, no step of the column is at that height.
        for edge in &graph.edges {
            let (from, to) = (node(&graph, edge.from), node(&graph, edge.to));
            assert!(from.x < to.x);
            let (ends, middle) = (points(&edge.path), to.y + to.height / 2);
            let end = (ends[ends.len() - 2], ends[ends.len() - 1]);
            let trunk = graph.trunks.iter().find(|trunk| trunk.to == edge.to);
            let at_lane = trunk.is_some_and(|trunk| trunk.path.contains(&format!("{} {}", end.0, end.1)));
            assert!(end == (to.x, middle) || at_lane, "{edge:?} {trunk:?}");
        }
        for trunk in &graph.trunks {
            for part in trunk.path.split('H').take(trunk.path.matches('H').count()) {
                let ends = points(part);
                let (x, y) = (ends[ends.len() - 2], ends[ends.len() - 1]);
                let mut inside = graph.nodes.iter().filter(|node| node.x == x);
                assert!(inside.all(|node| y < node.y || y > node.y + node.height), "{}", trunk.path);
            }
        }
    }
}

#[test]
fn lines_to_one_step_share_a_lane() {
    let graph = Graph::wide(&plan_of(&[(1, "G", &[]), (2, "G", &[]), (3, "S", &[]), (4, "S", &[])]));
    let [trunk] = graph.trunks.as_slice() else { panic!("{:?}", graph.trunks) };
    assert_eq!(trunk.to, 4);
    let begin = points(&trunk.path)[..2].to_vec();
    let to_last: Vec<&Edge> = graph.edges.iter().filter(|edge| edge.to == 4 && edge.from < 3).collect();
    assert_eq!(to_last.len(), 2);
    assert!(to_last.iter().all(|edge| points(&edge.path).ends_with(&begin)), "{to_last:?} {begin:?}");
    let direct = graph.edges.iter().find(|edge| (edge.from, edge.to) == (3, 4)).unwrap();
    let last = node(&graph, 4);
    assert!(points(&direct.path).ends_with(&[last.x, last.y + last.height / 2]));
}

#[test]
fn on_narrow_pages_steps_stand_below_each_other_and_lines_beside_them() {
    let graph = Graph::narrow(&mixed());
    let mut rows: Vec<(i32, u32)> = graph.nodes.iter().map(|node| (node.y, node.order)).collect();
    rows.sort_unstable();
    assert_eq!(rows.iter().map(|(_, order)| *order).collect::<Vec<_>>(), [1, 2, 3, 5, 4, 6]);
    assert!(rows.windows(2).all(|pair| pair[1].0 - pair[0].0 > graph.nodes[0].height));
    assert!(graph.nodes.iter().all(|node| node.x == graph.width && node.width.is_none()));
    for edge in &graph.edges {
        assert!(node(&graph, edge.from).y < node(&graph, edge.to).y, "lines go down");
        assert!(points(&edge.path).iter().all(|n| *n >= 0), "{}", edge.path);
    }
    let alone = Graph::narrow(&plan_of(&[(1, "G", &[])]));
    assert_eq!((alone.width, alone.edges.len()), (0, 0));
}

#[test]
fn the_same_plan_gives_the_same_graph_and_none_gives_an_empty_one() {
    assert_eq!(Graph::wide(&mixed()), Graph::wide(&mixed()));
    let nothing = Graph::wide(&Plan::default());
    assert_eq!((nothing.nodes.len(), nothing.height), (0, 0));
    assert_eq!(Graph::narrow(&Plan::default()).height, 0);
}

#[test]
fn a_step_says_what_it_waits_for_what_it_does_and_how_it_ended() {
    let mut driven = Driven::start(mixed(), options());
    let document = driven.document();
    let states: Vec<String> = views(&document).into_iter().map(|view| view.state).collect();
    assert_eq!(
        states[2..],
        ["waits for step 1", "waits for all earlier steps", "waits for step 2", "waits for all earlier steps"]
    );
    driven.end(1, Outcome::Success, "first");
    driven.end(2, Outcome::Failed, "no key");
    let document = driven.document();
    let (first, second, fifth) = (view(&document, 1), view(&document, 2), view(&document, 5));
    assert_eq!((first.state.as_str(), first.tone), ("completed", Some(Tone::Complete)));
    assert_eq!((second.state.as_str(), second.tone), ("failed", Some(Tone::Failed)));
    assert!(second.error.unwrap().contains("no key"));
    assert_eq!(fifth.state, "blocked by step 2");
    assert_eq!(view(&document, 3).status, StepStatus::Running);
    assert!(first.time(0).is_some() && first.inputs_text.is_empty());
    assert_eq!(first.ticks.len(), 1);
    driven.end(3, Outcome::Partial, "in short");
    let document = driven.document();
    let third = view(&document, 3);
    assert_eq!((third.state.as_str(), third.tone), ("completed early", Some(Tone::Synthesized)));
    assert_eq!(third.inputs_text, "Received the results of 1.");
}

#[test]
fn the_context_names_exactly_what_was_given_and_what_was_not() {
    let mut driven = Driven::start(mixed(), options());
    let before = context(&driven.document(), 4);
    assert!(before.words.contains("will receive"), "{}", before.words);
    assert!(before.artifacts.is_empty() && before.json.is_none());
    assert_eq!(context(&driven.document(), 1).words, "Only its action: it does not depend on other steps.");
    driven.end(1, Outcome::Success, "one\ntwo");
    driven.end(2, Outcome::Failed, "no key");
    driven.end(3, Outcome::Success, "three");
    driven.complete();
    let document = driven.document();
    let fourth = context(&document, 4);
    let traces: Vec<String> = fourth.traces.iter().map(|trace| format!("{}: {}", trace.name, trace.words)).collect();
    assert!(traces.first().is_some_and(|first| first.starts_with("synthesis_check: ")), "{traces:?}");
    assert!(traces.last().is_some_and(|last| last.starts_with("context_total: ")), "{traces:?}");
    assert!(traces.iter().any(|line| line.starts_with("context_step_added: step ")), "{traces:?}");
    assert_eq!(fourth.words, "The results of every earlier step that completed: steps 1 and 3.");
    assert!(fourth.missing.unwrap().starts_with("No result from step 2"));
    let first = &fourth.artifacts[0];
    assert_eq!(
        (first.title.as_str(), first.size.as_str(), first.result.as_str()),
        ("Step 1, G", "2 lines", "one\ntwo")
    );
    assert!(fourth.json.is_some());
    let given = view(&document, 4);
    assert_eq!((given.given_by(1), given.given_by(2)), (GivenLine::Given, GivenLine::Missing));
    assert_eq!(view(&document, 5).given_by(2), GivenLine::Missing, "it was blocked");
    assert_eq!(context(&document, 3).words, "The results of the steps it depends on: step 1.");
    assert_eq!(context(&document, 5).words, "This step was not run, so it received no input.");
}

#[test]
fn the_panel_counts_steps_calls_and_tokens() {
    let mut driven = Driven::start(mixed(), options());
    driven.end(1, Outcome::Success, "one");
    let open = panel(&driven.document(), SourceOrigin::Session, 40);
    assert_eq!((open.done, open.of, open.running, open.can_rerun), (1, 6, true, false));
    assert_eq!(open.title, "1/6 steps");
    assert!(open.note.ends_with("up to 40 requests more."), "{}", open.note);
    assert!(open.calls_bound.as_ref().is_some_and(|bound| bound.starts_with("at most ")), "{:?}", open.calls_bound);
    assert_eq!(open.meter.ticks[0].state, TickState::Used);
    assert_eq!(open.meter.ticks[3].kind, TickKind::Synthesis);
    assert_eq!(open.rail("x").words, "plan, 1 of 6 steps");
    driven.complete();
    let document = driven.document();
    let ended = panel(&document, SourceOrigin::Session, 0);
    let ending = ended.ending.clone().unwrap();
    assert_eq!((ending.headline.as_str(), ending.steps.as_str()), ("Every step completed.", "6 completed"));
    assert_eq!((ended.done, ended.running, ended.can_rerun, ended.title.as_str()), (6, false, true, "Done"));
    assert_eq!(ended.calls, document.requests.to_string());
    assert_eq!(ended.rail("x").tone, Some(Tone::Complete));
    assert!(ended.elapsed_ms.is_some());
    let file = panel(&document, SourceOrigin::Document, 0);
    assert!(file.note.starts_with("Opened from a file"));
}

#[test]
fn an_interrupted_plan_says_where_it_was_and_what_resume_costs() {
    let mut driven = Driven::start(mixed(), options());
    driven.end(1, Outcome::Success, "one");
    let stored = RailView::from(&driven.run);
    let (config, task) = driven.running[&2].clone();
    let begun = turnwise_record::trajectory::Recorder::start(config, task).0.document();
    // The run of step 3 was not stored.
    let document = driven.run.document(|order| (order == 2).then(|| begun.clone()));
    let steps = interrupted_views(&document);
    assert_eq!(
        [&steps[0].state, &steps[1].state, &steps[2].state],
        ["completed", "interrupted", "not stored, starts again"]
    );
    assert_eq!([steps[1].tone, steps[3].tone], [Some(Tone::Cancelled), None]);
    assert_eq!(steps[1].tick().state, TickState::Ahead, "nothing is in flight");
    assert_eq!(steps[1].time(document.started_ms.0 + 60_000), steps[1].time(0), "its clock stands still");
    let progress = PlanProgress {
        started_at: document.started_ms,
        calls_left: 40,
        ending: None,
        origin: SourceOrigin::Interrupted,
    };
    let panel = PlanPanelView::new(&steps, &progress);
    assert_eq!((panel.running, panel.can_resume, panel.can_wrap_up, panel.can_rerun), (false, true, false, false));
    assert!(
        panel.note.starts_with("Interrupted when the tab closed.") && panel.note.contains("up to 40 requests"),
        "{}",
        panel.note
    );
    assert_eq!(panel.announcement, "Plan interrupted: 1 of 6 steps completed.");
    let rail = panel.rail("Its name");
    assert_eq!(
        (rail.title.as_str(), rail.words.as_str(), rail.tone),
        ("Its name", "plan, 1 of 6 steps, interrupted", Some(Tone::Cancelled))
    );

    // Its line in the list is drawn without its steps.
    assert_eq!((stored.title.as_str(), stored.words.as_str(), stored.tone), ("do 6", "plan, 1 of 6 steps", None));
    let left = stored.clone().plan_left_open();
    assert_eq!((left.words.as_str(), left.tone), ("plan, 1 of 6 steps, interrupted", Some(Tone::Cancelled)));
    assert_eq!(left.ticks, rail.ticks);
    let live = PlanPanelView::new(&views(&document), &PlanProgress { origin: SourceOrigin::Session, ..progress });
    assert_eq!(live.rail("do 6"), stored, "the same as the open plan shows");
    driven.complete();
    assert_eq!(panel_rail(&driven.document()), RailView::from(&driven.run));
}

fn panel_rail(document: &PlanDocument) -> RailView {
    panel(document, SourceOrigin::Session, 0).rail("do 6")
}

#[test]
fn a_plan_of_another_tab_offers_nothing() {
    let mut driven = Driven::start(mixed(), options());
    driven.end(1, Outcome::Success, "one");
    let panel = panel(&driven.document(), SourceOrigin::Elsewhere, 40);
    assert_eq!((panel.running, panel.elsewhere, panel.can_resume), (true, true, false));
    assert_eq!(panel.note, "It runs in another tab; this one follows.");
}

#[test]
fn a_plan_and_its_steps_are_one_line_of_the_list() {
    let (config, task) = Driven::start(mixed(), options()).running[&1].clone();
    let run = ended(&config, &task, Outcome::Success, "one");
    let header = |key: &str, kind| Header {
        key: key.to_owned(),
        kind,
        name: None,
        version: None,
        strange: None,
        updated_ms: 0,
        ended: true,
        summary: RunSummary::from(&run),
        rail: Value::Null,
        words: String::new(),
    };
    let key = "01a21769-bf72-7038-b196-cc0cba14baac";
    let step = header(&step_key(key, 12), StoredKind::Step);
    assert_eq!((header(key, StoredKind::Plan).line(), step.line()), (key, key));
    assert_eq!(step.began_ms(), header(key, StoredKind::Plan).began_ms());
    let alone = header(key, StoredKind::Run);
    assert_eq!(alone.line(), "session_00");
    // What versions without plans stored has no kind.
    let text = serde_json::to_value(&alone).unwrap();
    assert_eq!(text.get("kind"), None);
    assert_eq!(serde_json::from_value::<Header>(text).unwrap(), alone);
}

#[test]
fn a_record_from_the_middle_of_a_plan_is_not_running() {
    let mut driven = Driven::start(mixed(), options());
    driven.end(1, Outcome::Success, "one");
    let panel = panel(&driven.document(), SourceOrigin::Document, 0);
    assert!(!panel.running && panel.can_rerun && panel.elapsed_ms.is_some());
    assert_eq!(panel.rail("x").tone, Some(Tone::Cancelled));
    assert_eq!(panel.rail("x").words, "plan, 1 of 6 steps, unfinished");
}

#[test]
fn the_example_is_a_plan_of_five_and_two_over_files_that_are_there() {
    let tools: Vec<String> = turnwise_tools::all().into_iter().map(|tool| tool.name).collect();
    let names: Vec<&str> = tools.iter().map(String::as_str).collect();
    let plan = read(&PLAN.plan(), &names).unwrap_or_else(|faults| panic!("{}", fault::listed(&faults)));
    let kinds: Vec<AgentKind> = plan.steps.iter().map(|step| plan.kind(step)).collect();
    assert_eq!(kinds[..5], [AgentKind::Gather; 5]);
    assert_eq!(kinds[5..], [AgentKind::Synthesis; 2]);
    assert_eq!(PLAN.ticks().len(), 7);
    for file in PLAN.files {
        let text = std::fs::read_to_string(format!("www/app/{}/{file}", PLAN.folder)).unwrap();
        assert!(text.starts_with("# ") && text.len() < 2_000, "{file}");
    }
    let graph = Graph::wide(&plan);
    assert!(graph.width <= 800, "it fits the page: {}", graph.width);
    assert_eq!(graph.edges.len(), 5 + 6);
}

const TOOLS: [&str; 2] = ["read_file", "calculate"];

fn written(value: &Value) -> PlanDraft {
    let mut draft = PlanDraft::default();
    draft.fill(value);
    draft
}

fn small() -> Value {
    json!({
        "agents": {
            "Reader": { "kind": "gather", "tools": ["read_file", "calculate"], "maxTurns": 4 },
            "Writer": { "kind": "synthesis", "system": "You write.", "tools": [] },
        },
        "steps": [
            { "order": 1, "agent": "Reader", "action": "read" },
            { "order": 4, "agent": "Reader", "action": "reckon", "dependencies": [1], "tools": ["calculate"] },
            { "order": 7, "agent": "Writer", "action": "write" },
        ],
    })
}

#[test]
fn what_is_filled_in_comes_out_the_same() {
    let plan = read(&small(), &TOOLS).unwrap();
    let mut draft = written(&small());
    assert_eq!(draft.plan(&TOOLS), Ok(plan.clone()));
    draft.switch().unwrap();
    assert!(draft.text.is_some());
    assert_eq!(draft.plan(&TOOLS), Ok(plan.clone()));
    draft.switch().unwrap();
    assert_eq!(draft.plan(&TOOLS), Ok(plan.clone()));
    assert_eq!(PlanDraft::from_json(&draft.to_json()), draft);
    let mut again = PlanDraft::default();
    again.fill_from(&plan);
    assert_eq!(again.plan(&TOOLS), Ok(plan));
}

#[test]
fn nothing_kept_is_a_plan_to_begin_with() {
    for text in ["", "{}", "[1]", "nonsense"] {
        let draft = PlanDraft::from_json(text);
        assert_eq!((draft.agents.len(), draft.steps.len()), (2, 2), "{text}");
    }
    let faults = PlanDraft::blank().plan(&TOOLS).unwrap_err();
    assert_eq!(
        faults.iter().map(|fault| fault.place.as_str()).collect::<Vec<_>>(),
        ["Step 1, action", "Step 2, action"]
    );
}

#[test]
fn every_fault_of_the_form_stands_beside_a_field() {
    let mut draft = written(&small());
    let (reader, writer) = (draft.agents[0].key, draft.agents[1].key);
    let steps: Vec<u32> = draft.steps.iter().map(|step| step.key).collect();
    draft.set(reader, StepField::Turns, "many".into());
    draft.set(writer, StepField::Kind, "dance".into());
    draft.set(writer, StepField::AgentTools, "telepathy".into());
    draft.set(steps[0], StepField::Order, String::new());
    draft.set(steps[1], StepField::Dependencies, "4, 9 no".into());
    draft.set(steps[1], StepField::StepTools, "calculate, guess".into());
    draft.set(steps[2], StepField::Agent, "Nobody".into());
    draft.set(steps[2], StepField::Order, "4".into());
    draft.set(steps[2], StepField::Action, " ".into());
    let faults = draft.plan(&TOOLS).unwrap_err();
    let at = |key: u32, field: StepField| faults.iter().filter(|fault| fault.is_at(&draft.path(key, field))).count();
    let places = [
        (reader, StepField::Turns, 1),
        (writer, StepField::Kind, 1),
        (writer, StepField::AgentTools, 1),
        (steps[0], StepField::Order, 1),
        (steps[1], StepField::Dependencies, 3),
        (steps[1], StepField::StepTools, 1),
        (steps[2], StepField::Agent, 1),
        (steps[2], StepField::Order, 1),
        (steps[2], StepField::Action, 1),
    ];
    for (key, field, count) in places {
        assert_eq!(at(key, field), count, "{field:?}: {faults:?}");
    }
    assert_eq!(faults.len(), places.iter().map(|(_, _, count)| count).sum::<usize>());
    assert!(faults.iter().all(|fault| !fault.is_about_the_whole() && !fault.advice.is_empty()));
    assert_eq!(at(steps[1], StepField::Action), 0);
}

#[test]
fn an_order_that_does_not_exist_is_one_fault_in_one_field() {
    let mut draft = written(&small());
    let last = draft.steps.last().unwrap().key;
    draft.set(last, StepField::Dependencies, "1, 99".into());
    let faults = draft.plan(&TOOLS).unwrap_err();
    assert_eq!(faults.len(), 1, "{faults:?}");
    assert!(faults[0].message.contains("no step has order 99"), "{faults:?}");
    assert_eq!(to_fix(&faults), "Fix 1 field to run.");
    // Two faults in one field.
    draft.set(last, StepField::Dependencies, "98, 99".into());
    let faults = draft.plan(&TOOLS).unwrap_err();
    assert_eq!((faults.len(), to_fix(&faults).as_str()), (2, "Fix 1 field to run."));
}

#[test]
fn names_that_json_cannot_say_are_faults_too() {
    let mut draft = written(&small());
    let (reader, writer) = (draft.agents[0].key, draft.agents[1].key);
    draft.set(writer, StepField::Name, " Reader ".into());
    let faults = draft.plan(&TOOLS).unwrap_err();
    assert!(faults.iter().any(|fault| fault.is_at(&draft.path(writer, StepField::Name))), "{faults:?}");
    draft.remove(writer);
    draft.set(reader, StepField::Name, String::new());
    let faults = draft.plan(&TOOLS).unwrap_err();
    assert!(faults.iter().any(|fault| fault.message == "this agent has no name"), "{faults:?}");
    for step in draft.steps.clone() {
        draft.remove(step.key);
    }
    assert!(draft.plan(&TOOLS).unwrap_err().iter().any(FaultView::is_about_the_whole), "it has no steps");
}

#[test]
fn lists_are_edited_entry_by_entry_and_offer_what_fits() {
    let mut draft = written(&small());
    let [reader, writer] = [draft.agents[0].key, draft.agents[1].key];
    let [first, second, last] = [draft.steps[0].key, draft.steps[1].key, draft.steps[2].key];
    let offered = |draft: &PlanDraft, key, field| {
        draft.addable(key, field, &TOOLS).into_iter().map(|(value, _)| value).collect::<Vec<_>>()
    };
    // Only earlier steps, and nothing twice.
    assert_eq!(offered(&draft, first, StepField::Dependencies), [""; 0]);
    assert_eq!(offered(&draft, second, StepField::Dependencies), [""; 0]);
    assert_eq!(offered(&draft, last, StepField::Dependencies), ["1", "4"]);
    assert_eq!(draft.addable(last, StepField::Dependencies, &TOOLS)[1].1, "4 Reader: reckon");
    assert_eq!(offered(&draft, second, StepField::StepTools), ["read_file"]);
    assert_eq!(offered(&draft, reader, StepField::AgentTools), [""; 0]);
    assert_eq!(draft.entries(writer, StepField::AgentTools), ["none"]);
    draft.add(writer, StepField::AgentTools, "calculate");
    assert_eq!(draft.entries(writer, StepField::AgentTools), ["calculate"], "no tools, until there is one");
    draft.remove_entry(writer, StepField::AgentTools, 0);
    assert_eq!(offered(&draft, writer, StepField::AgentTools), ["none", "read_file", "calculate"]);
    draft.add(last, StepField::Dependencies, "4");
    draft.add(last, StepField::Dependencies, "1");
    draft.remove_entry(last, StepField::Dependencies, 0);
    draft.remove_entry(last, StepField::Dependencies, 9);
    assert_eq!(draft.plan(&TOOLS).unwrap().steps[2].dependencies, [1]);
    assert_eq!(offered(&draft, last, StepField::Order), [""; 0]);
}

#[test]
fn a_plan_can_be_drawn_while_it_is_written() {
    let mut draft = PlanDraft::blank();
    assert!(draft.plan(&TOOLS).is_err());
    let sketch = |draft: &PlanDraft| {
        draft
            .sketch()
            .map(|plan| plan.steps.into_iter().map(|step| (step.order, step.dependencies)).collect::<Vec<_>>())
    };
    assert_eq!(sketch(&draft), Some(vec![(1, vec![]), (2, vec![])]));
    draft.add_step();
    let last = draft.steps[2].key;
    draft.set(last, StepField::Dependencies, "1, 3, 9, x".into());
    draft.set(last, StepField::StepTools, "telepathy".into());
    assert_eq!(sketch(&draft), Some(vec![(1, vec![]), (2, vec![]), (3, vec![1])]));
    draft.set(last, StepField::Order, "two".into());
    assert_eq!(sketch(&draft), None);
    draft.text = Some(small().to_string());
    assert_eq!(sketch(&draft).unwrap().len(), 3);
    draft.text = Some("{".into());
    assert_eq!(sketch(&draft), None);
}

#[test]
fn rows_that_are_added_have_keys_and_orders_of_their_own() {
    let mut draft = written(&small());
    draft.add_step();
    draft.add_agent();
    let step = draft.steps.last().unwrap();
    assert_eq!((step.order.as_str(), step.agent.as_str()), ("8", "Reader"));
    let mut keys: Vec<u32> = draft.agents.iter().map(|a| a.key).chain(draft.steps.iter().map(|s| s.key)).collect();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), draft.agents.len() + draft.steps.len());
    assert_eq!(draft.choices(StepField::Agent).unwrap()[..2], ["Reader", "Writer"]);
    assert_eq!(draft.choices(StepField::Kind).unwrap(), ["gather", "synthesis"]);
    assert_eq!(draft.choices(StepField::Order), None);
}

#[test]
fn text_that_is_no_json_stays_as_it_is() {
    let mut draft = PlanDraft::default();
    draft.text = Some("{ \"agents\": ".into());
    let faults = draft.plan(&TOOLS).unwrap_err();
    assert_eq!((faults.len(), faults[0].place.as_str()), (1, "JSON"));
    assert!(draft.switch().unwrap_err().starts_with("This is not JSON"));
    assert_eq!(draft.text.as_deref(), Some("{ \"agents\": "));
}

/// A plan's record may come from anywhere, like a run's.
#[test]
fn the_record_of_a_plan_with_every_number_at_its_limit_is_refused_or_shown() {
    fn numbers(value: &Value, at: &str, found: &mut Vec<String>) {
        match value {
            Value::Number(_) => found.push(at.to_owned()),
            Value::Array(items) => {
                items.iter().enumerate().for_each(|(n, item)| numbers(item, &format!("{at}/{n}"), found));
            }
            Value::Object(fields) => {
                let named = |(key, item): (&String, &Value)| numbers(item, &format!("{at}/{key}"), found);
                fields.iter().filter(|(key, _)| *key != "version" && *key != "parameters").for_each(named);
            }
            _ => {}
        }
    }
    let mut driven = Driven::start(mixed(), options());
    driven.end(1, Outcome::Success, "one");
    driven.end(2, Outcome::Failed, "no key");
    driven.complete();
    let record = json!(driven.document());
    let mut places = Vec::new();
    numbers(&record, "", &mut places);
    let (mut shown, mut refused) = (0, 0);
    for place in &places {
        for extreme in [json!(u64::MAX), json!(u32::MAX), json!(i64::MAX), json!(0)] {
            let mut record = record.clone();
            *record.pointer_mut(place).unwrap() = extreme;
            let Ok(document) = PlanDocument::parse(&record.to_string()) else {
                refused += 1;
                continue;
            };
            shown += 1;
            let steps =
                document.steps.iter().filter(|step| step.run.as_ref().is_none_or(|run| run.trajectory().is_ok()));
            let whole = PlanDocument { steps: steps.cloned().collect(), ..document.clone() };
            let panel = panel(&whole, SourceOrigin::Document, u32::MAX);
            let graph = (Graph::wide(&document.plan), Graph::narrow(&document.plan));
            let size = format!("{panel:?}{:?}{graph:?}", views(&whole)).len();
            assert!(size < 200_000, "{place}: {size}");
        }
    }
    assert!(shown > 100 && refused > 10, "{shown} shown, {refused} refused of {}", places.len());
}
