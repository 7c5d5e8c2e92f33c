//! A plan survives faults: a failed step blocks only the steps that need it, completed work is kept, and any step can
//! be rerun (plans.md#resuming-a-plan).

use crate::support::plan as plans;

use plans::*;
use serde_json::{Value, json};
use turnwise_engine::*;
use turnwise_record::plan::*;
use turnwise_record::trajectory::{Recorder, Trajectory, replay};

/// Builds a plan of `order agent dependencies`; agents G* gather, S* synthesize.
fn plan_of(steps: &[(u32, &str, &[u32])]) -> Plan {
    let steps: Vec<Value> = steps
        .iter()
        .map(|(order, agent, dependencies)| {
            json!({ "order": order, "agent": agent, "action": format!("do {order}"), "dependencies": dependencies })
        })
        .collect();
    plan(&json!({ "agents": { "G": { "kind": "gather" }, "S": { "kind": "synthesis" } }, "steps": steps }))
}

/// Steps 1 and 2 gather, 3 needs 1, 4 needs 3, 5 needs 2, 6 concludes.
fn tree() -> Plan {
    plan_of(&[(1, "G", &[]), (2, "G", &[]), (3, "G", &[1]), (4, "G", &[3]), (5, "G", &[2]), (6, "S", &[])])
}

fn after(driven: &Driven, from: Option<u32>) -> PlanOptions {
    let text = serde_json::to_string(&driven.document()).unwrap();
    let document = PlanDocument::parse(&text).unwrap();
    PlanOptions { after: Some(Box::new(document)), from, started_at: EpochMillis(STARTED.0 + 60_000), ..options() }
}

#[test]
fn a_failed_step_blocks_what_needs_it_and_nothing_else() {
    let mut driven = Driven::start(tree(), options());
    assert_eq!(driven.started, [1, 2]);
    driven.end(1, Outcome::Failed, "no key");
    driven.complete();
    assert_eq!(driven.statuses(), "1 failed, 2 completed, 3 blocked by 1, 4 blocked by 3, 5 completed, 6 completed");
    let document = driven.document();
    assert!(document.steps[0].error.as_deref().unwrap().contains("no key"));
    let ending = document.ending.as_ref().unwrap();
    assert_eq!((ending.outcome, ending.output.as_str()), (Outcome::Partial, "result of 6"));
    assert_eq!((ending.completed, ending.failed, ending.blocked, ending.cancelled), (3, 1, 2, 0));
    let orders: Vec<u32> = document.steps[5].context.artifacts().iter().map(|a| a.step_order).collect();
    assert_eq!(orders, [2, 5], "a synthesis step is given what completed");
    validate_session(&document);
}

#[test]
fn a_synthesis_step_with_nothing_to_go_on_is_blocked() {
    let mut driven = Driven::start(plan_of(&[(1, "G", &[]), (2, "S", &[1]), (3, "S", &[])]), options());
    driven.end(1, Outcome::Failed, "no key");
    assert_eq!(driven.statuses(), "1 failed, 2 blocked by 1, 3 blocked by 1 2");
    let ending = driven.document().ending.unwrap();
    assert_eq!((ending.outcome, ending.output_step), (Outcome::Failed, None));
    let alone = Driven::start(plan_of(&[(1, "S", &[])]), options());
    assert_eq!(alone.statuses(), "1 blocked");
    validate_session(&alone.document());
}

#[test]
fn a_synthesized_run_completes_its_step() {
    let mut driven = Driven::start(plan_of(&[(1, "G", &[]), (2, "G", &[1])]), options());
    driven.end(1, Outcome::Partial, "in short");
    assert_eq!(driven.context(2)["dependency_artifacts"][0]["result"], "in short");
    driven.complete();
    assert_eq!(driven.document().ending.unwrap().outcome, Outcome::Success);
}

#[test]
fn no_more_steps_run_at_once_than_allowed() {
    let steps: Vec<(u32, &str, &[u32])> = (1..=9).map(|order| (order, "G", [].as_slice())).collect();
    let mut driven = Driven::start(plan_of(&steps), PlanOptions { parallel: 2, ..options() });
    assert_eq!(driven.started, [1, 2]);
    driven.end(2, Outcome::Success, "x");
    assert_eq!(driven.started, [1, 2, 3]);
    driven.complete();
    assert_eq!(driven.started, (1..=9).collect::<Vec<u32>>());
}

#[test]
fn stop_lets_running_steps_conclude_and_starts_no_other() {
    let mut driven = Driven::start(tree(), options());
    driven.send(PlanEvent::StopRequested);
    driven.send(PlanEvent::StopRequested);
    assert_eq!((driven.stopped.as_slice(), driven.cancelled.len()), ([1, 2].as_slice(), 0));
    driven.end(1, Outcome::Partial, "so far");
    driven.end(2, Outcome::Partial, "so far");
    assert!(driven.finished);
    assert_eq!(driven.statuses(), "1 completed, 2 completed, 3 cancelled, 4 cancelled, 5 cancelled, 6 cancelled");
    let ending = driven.document().ending.unwrap();
    assert_eq!((ending.outcome, ending.wrap_up), (Outcome::Partial, Some(Trigger::Stop)));
    validate_session(&driven.document());
}

#[test]
fn cancel_ends_everything_after_a_stop_too() {
    let mut driven = Driven::start(tree(), options());
    driven.send(PlanEvent::StopRequested);
    driven.send(PlanEvent::Cancelled);
    assert_eq!(driven.cancelled, [1, 2]);
    driven.end(1, Outcome::Cancelled, "");
    driven.end(2, Outcome::Cancelled, "");
    assert_eq!(driven.document().ending.unwrap().outcome, Outcome::Cancelled);
    assert_eq!(driven.run.calls_left(), 0);
    validate_session(&driven.document());
}

#[test]
fn from_a_step_on_everything_that_builds_on_it_is_run_again() {
    let mut first = Driven::start(tree(), options());
    first.complete();
    for (from, again) in [(1, "1 3 4 6"), (2, "2 5 6"), (3, "3 4 6"), (4, "4 6"), (5, "5 6"), (6, "6")] {
        let mut second = Driven::start(tree(), after(&first, Some(from)));
        second.complete();
        let mut started = second.started.clone();
        started.sort_unstable();
        let started: Vec<String> = started.iter().map(ToString::to_string).collect();
        assert_eq!(started.join(" "), again, "from {from}");
        assert_eq!(second.document().plan_id, first.document().plan_id);
    }
}

#[test]
fn all_later_synthesis_steps_are_run_again() {
    let plan = plan_of(&[(1, "S", &[]), (2, "G", &[]), (3, "S", &[]), (4, "G", &[]), (5, "G", &[4]), (6, "S", &[])]);
    let mut first = Driven::start(plan.clone(), options());
    first.complete();
    assert_eq!(first.statuses().split(", ").next(), Some("1 blocked"));
    let mut second = Driven::start(plan, after(&first, Some(2)));
    second.complete();
    assert_eq!(second.started, [2, 3, 6], "4 and 5 do not need it");
}

#[test]
fn a_plan_goes_on_after_a_reload_with_what_had_ended() {
    let mut first = Driven::start(tree(), options());
    first.end(1, Outcome::Success, "one");
    first.end(2, Outcome::Failed, "offline");
    let text = serde_json::to_string(&first.run).unwrap();
    assert_eq!(serde_json::from_str::<PlanRun>(&text).unwrap(), first.run, "the state itself can be kept");
    let mut second = Driven::start(tree(), after(&first, None));
    assert_eq!(second.started, [3], "1 is done, 2 failed, 3 was under way");
    second.complete();
    assert_eq!(second.context(3)["dependency_artifacts"][0]["result"], "one");
    assert_eq!(second.statuses(), "1 completed, 2 failed, 3 completed, 4 completed, 5 blocked by 2, 6 completed");
    // The failed step is rerun on request, along with the steps that it blocked.
    let mut third = Driven::start(tree(), after(&second, Some(2)));
    third.complete();
    assert_eq!(third.started, [2, 5, 6]);
    let document = third.document();
    assert_eq!(document.ending.as_ref().unwrap().outcome, Outcome::Success);
    assert_eq!(document.started_ms, STARTED, "the plan started when it first did");
    validate_session(&document);
}

#[test]
fn a_plan_that_was_cancelled_goes_on_where_it_stood() {
    let mut first = Driven::start(tree(), options());
    first.end(1, Outcome::Success, "one");
    first.send(PlanEvent::Cancelled);
    first.end(2, Outcome::Cancelled, "");
    first.end(3, Outcome::Cancelled, "");
    let mut second = Driven::start(tree(), after(&first, None));
    assert_eq!(second.started, [2, 3]);
    second.complete();
    assert_eq!(second.document().ending.unwrap().outcome, Outcome::Success);
}

#[test]
fn a_step_that_was_edited_is_run_again() {
    let mut first = Driven::start(tree(), options());
    first.complete();
    let mut edited = tree();
    edited.steps[2].action = "do it better".into();
    let mut second = Driven::start(edited, after(&first, None));
    second.complete();
    assert_eq!(second.started, [3, 4, 6]);
    let mut shorter = tree();
    shorter.steps.retain(|step| step.order != 5);
    let third = Driven::start(shorter, after(&first, None));
    assert_eq!(third.started, [6], "it had been given the result of a step that is gone");
}

/// A plan as it is after its page was closed: `runs` are the stored runs of its steps.
fn reopened(driven: &Driven, runs: Vec<(u32, Trajectory)>) -> Driven {
    let text = serde_json::to_string(&driven.run.without_runs()).unwrap();
    let stored: PlanRun = serde_json::from_str(&text).unwrap();
    let runs = runs.iter().map(|(order, run)| (*order, StepRun::from_document(run)));
    Driven { run: stored.restored(runs), at: driven.at, ..Driven::nothing() }
}

/// The runs of the steps that have ended.
fn stored_runs(driven: &Driven) -> Vec<(u32, Trajectory)> {
    let steps = driven.document().steps.into_iter();
    steps.filter_map(|step| Some((step.order, step.run?.trajectory().unwrap()))).collect()
}

/// A run that has begun, and has sent its first request.
fn in_progress(driven: &Driven, order: u32) -> Trajectory {
    let (config, task) = &driven.running[&order];
    Recorder::start(config.clone(), task.clone()).0.document()
}

#[test]
fn an_interrupted_plan_goes_on_with_the_steps_that_were_in_progress() {
    let mut driven = Driven::start(tree(), options());
    driven.end(1, Outcome::Success, "result of 1");
    driven.send(PlanEvent::StepProgress { order: 2, calls_left: 5 });
    let bound = driven.run.calls_left();
    let mut runs = stored_runs(&driven);
    runs.extend([(2, in_progress(&driven, 2)), (3, in_progress(&driven, 3))]);
    let mut next = reopened(&driven, runs);
    assert_eq!(next.statuses(), driven.statuses());
    assert_eq!(next.run.calls_left(), bound, "the bound is that of the steps that are left");
    next.running.clone_from(&driven.running);
    next.send(PlanEvent::Resumed);
    assert_eq!((next.resumed.as_slice(), next.started.as_slice()), ([2, 3].as_slice(), [].as_slice()));
    next.complete();
    driven.complete();
    assert_eq!(next.started, [5, 4, 6], "what had ended is not run again");
    let (next, whole) = (next.document(), driven.document());
    for (step, same) in next.steps.iter().zip(&whole.steps) {
        assert_eq!((&step.context, step.status), (&same.context, same.status), "step {}", step.order);
    }
    assert_eq!((next.requests, next.ending.unwrap().output), (whole.requests, whole.ending.unwrap().output));
}

#[test]
fn a_step_whose_run_was_not_stored_starts_again_with_the_same_context() {
    let mut driven = Driven::start(tree(), options());
    driven.end(1, Outcome::Success, "result of 1");
    driven.send(PlanEvent::StepProgress { order: 3, calls_left: 1 });
    let (_, before) = driven.running[&3].clone();
    let mut runs = stored_runs(&driven);
    runs.push((2, in_progress(&driven, 2)));
    let mut next = reopened(&driven, runs);
    assert!(next.run.starts_again(3) && !next.run.starts_again(2) && !next.run.starts_again(1));
    let full = Driven::start(tree(), options()).run.calls_left() / 6;
    let bound = driven.run.calls_left() - 1 + full;
    assert_eq!(next.run.calls_left(), bound, "all of its requests can follow once more");
    next.send(PlanEvent::Resumed);
    assert_eq!((next.resumed.as_slice(), next.started.as_slice()), ([2].as_slice(), [3].as_slice()));
    assert_eq!((next.run.calls_left(), &next.running[&3].1.input), (bound, &before.input));
}

#[test]
fn what_follows_from_an_end_that_was_stored_is_not_lost() {
    let mut driven = Driven::start(tree(), options());
    let (config, task) = driven.running[&2].clone();
    let mut runs = stored_runs(&driven);
    runs.push((1, in_progress(&driven, 1)));
    // The end of step 2 was stored, but not that the plan knew of it.
    runs.push((2, ended(&config, &task, Outcome::Success, "result of 2")));
    let mut next = reopened(&driven, runs);
    next.send(PlanEvent::Resumed);
    assert_eq!((next.resumed.as_slice(), next.started.as_slice()), ([1].as_slice(), [5].as_slice()));
    assert_eq!(next.context(5)["dependency_artifacts"][0]["result"], "result of 2");

    // The plan knew of an end that was not stored: what needs its result has to wait for it again.
    driven.end(1, Outcome::Success, "result of 1");
    let mut next = reopened(&driven, vec![(1, in_progress(&Driven::start(tree(), options()), 1))]);
    assert_eq!(next.statuses().split(", ").next(), Some("1 running"));
    next.send(PlanEvent::Resumed);
    assert_eq!(next.resumed, [1]);
}

#[test]
fn a_plan_that_was_stopped_starts_nothing_when_it_goes_on() {
    let mut driven = Driven::start(tree(), options());
    driven.send(PlanEvent::StopRequested);
    let mut next = reopened(&driven, vec![(1, in_progress(&driven, 1))]);
    next.running.insert(1, driven.running[&1].clone());
    next.send(PlanEvent::Resumed);
    assert_eq!((next.resumed.as_slice(), next.started.as_slice()), ([1].as_slice(), [].as_slice()));
    next.complete();
    assert_eq!(next.statuses(), "1 completed, 2 cancelled, 3 cancelled, 4 cancelled, 5 cancelled, 6 cancelled");
    let ended = reopened(&next, stored_runs(&next));
    assert_eq!(ended.document(), next.document());
}

#[test]
fn a_step_has_its_own_configuration() {
    let mut value = forecast("synthesis");
    value["agents"]["Company"] =
        json!({ "kind": "gather", "system": "You look things up.", "tools": ["analyze"], "max_turns": 2 });
    value["steps"][1]["tools"] = json!([]);
    let mut driven = Driven::start(plan(&value), options());
    let tools = |driven: &Driven, order: u32| -> Vec<String> {
        driven.running[&order].0.tools.iter().map(|tool| tool.name.clone()).collect()
    };
    assert_eq!(tools(&driven, 1), ["get_stock_info"], "the only tools of the step");
    assert_eq!(tools(&driven, 2), ["analyze"], "else those of its agent");
    let (config, task) = driven.running[&1].clone();
    assert_eq!((config.system.as_str(), config.max_turns), ("You look things up.", 2));
    assert_eq!((config.preset, config.retry), (base().preset, base().retry));
    assert_eq!(task.session_id, "session_00");
    assert_ne!(config.seed, driven.running[&2].0.seed);
    // Three steps with 2 turns of 3 attempts and 3 for the synthesis, and the last step with 3 turns.
    assert_eq!(driven.run.calls_left(), 3 * (2 * 3 + 3) + (3 * 3 + 3));
    driven.send(PlanEvent::StepProgress { order: 1, calls_left: 4 });
    driven.send(PlanEvent::StepProgress { order: 1, calls_left: 8 });
    assert_eq!(driven.run.calls_left(), 4 + 2 * 9 + 12, "it only shrinks");
    driven.complete();
    assert_eq!(tools(&Driven::start(plan(&value), options()), 3), ["get_recommendations"]);
    assert_eq!(driven.run.calls_left(), 0);
}

#[test]
fn the_runs_in_the_record_replay() {
    let mut driven = Driven::start(tree(), options());
    driven.complete();
    let document = driven.document();
    for step in &document.steps {
        replay(&step.run.as_ref().unwrap().trajectory().unwrap())
            .unwrap_or_else(|m| panic!("step {}: {m:?}", step.order));
    }
    assert_eq!(document.requests, 6);
}

#[test]
fn a_step_that_cannot_be_started_fails_and_says_why() {
    let mut driven = Driven::start(plan_of(&[(1, "G", &[]), (2, "G", &[1])]), options());
    driven.send(PlanEvent::StepRefused { order: 1, message: "this agent was freed".into() });
    assert_eq!(driven.statuses(), "1 failed, 2 blocked by 1");
    assert_eq!(driven.document().steps[0].error.as_deref(), Some("this agent was freed"));
    validate_session(&driven.document());
}

#[test]
fn other_files_are_refused_and_say_so() {
    let refused = |text: &str| PlanDocument::parse(text).unwrap_err().to_string();
    assert!(refused("nothing").starts_with("This is not a JSON file"));
    assert!(refused("{}").contains("is not the record of a plan"));
    assert!(refused("[1]").contains("is not the record of a plan"));
    assert!(refused(r#"{"format":"turnwise-session","version":2}"#).contains("version 2"));
    assert!(refused(r#"{"format":"turnwise-session","version":1}"#).contains("damaged"));
}
