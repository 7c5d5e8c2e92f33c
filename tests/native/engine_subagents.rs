//! Sub-agents: the form and order of their reports, bounds, stop, cancel, budgets, nested documents.

use std::collections::BTreeSet;

use crate::support::tree::*;
use crate::support::*;
use serde_json::json;
use turnwise_engine::*;
use turnwise_record::trajectory::{Trajectory, replay};

/// The parent spawns two sub-agents; each works until its limit and concludes.
fn endless(call: &ModelCall) -> Result<Reply, ModelError> {
    Ok(match (call.request.child(), call.turn, call.tools) {
        (0, 1, _) => spawn_call(&tasks(2)),
        (0, ..) => says("all together"),
        (child, _, ToolChoice::None) => says(&format!("what {child} found")),
        _ => reply_call("search", "{}"),
    })
}

#[test]
fn children_that_reach_their_limit_report_what_they_synthesized_in_order() {
    let tree = Tree::new(spawning(Preset::Research)).play(endless);
    let result = tree.run().turns()[0].tool_calls[0].result.clone().unwrap();
    assert_eq!(
        result,
        "[{\"report\":\"what 1 found\",\"status\":\"success\",\"synthesized\":true,\"task_id\":1,\"turns\":8},\
         {\"report\":\"what 2 found\",\"status\":\"success\",\"synthesized\":true,\"task_id\":2,\"turns\":8}]\n[Turn 1/15]"
    );
    assert!(tree.children().all(|e| e.outcome == Outcome::Partial && e.max_turns == 7));
    assert_eq!(tree.run().ending().unwrap().output, "all together");
    assert_eq!(tree.run().requests(), 2 + 2 * 8, "the tree's");
    let last = tree.requests.iter().rfind(|call| call.request.child() == 1).unwrap();
    let Message::User { content, .. } = &last.tail[0] else { panic!("{last:?}") };
    assert!(content.starts_with("You have reached the maximum number of reasoning steps."), "{content}");
}

#[test]
fn a_child_whose_provider_is_down_has_failed_and_the_parent_goes_on() {
    fn model(call: &ModelCall) -> Result<Reply, ModelError> {
        match (call.request.child(), call.turn) {
            (0, 1) => Ok(spawn_call(&tasks(2))),
            (2, _) => Err(error(Slug::AuthError, Retry::Fatal)),
            (child, _) => Ok(says(&format!("done by {child}"))),
        }
    }
    let tree = Tree::new(spawning(Preset::Research)).play(model);
    let reports = tree.reports();
    assert_eq!(
        reports[0],
        json!({ "task_id": 1, "report": "done by 1", "status": "success", "synthesized": false, "turns": 1 })
    );
    assert_eq!((&reports[1]["status"], &reports[1]["synthesized"]), (&json!("failed"), &json!(false)));
    assert!(reports[1]["report"].as_str().unwrap().contains("auth_error"), "{}", reports[1]);
    assert_eq!(tree.run().ending().unwrap().outcome, Outcome::Success);
    let wrn = |run: &Run| run.logs().iter().filter(|l| l.level == LogLevel::Warn).count();
    assert_eq!((wrn(tree.run()), tree.run().child_runs().map(wrn).sum::<usize>()), (0, 1), "logged where it happened");
}

#[test]
fn as_many_work_at_once_as_tools_may_and_no_more_than_the_limit_at_all() {
    fn model(call: &ModelCall) -> Result<Reply, ModelError> {
        Ok(match (call.request.child(), call.turn) {
            (0, 1) => spawn_call(&tasks(6)),
            (child, _) => says(&format!("done by {child}")),
        })
    }
    let mut config = spawning(Preset::Research);
    (config.limits.parallel_tools, config.limits.children) = (2, 5);
    let tree = Tree::new(config).play(model);
    assert_eq!(tree.most_open, 2);
    let reports = tree.reports();
    let status: Vec<&str> = reports.iter().map(|r| r["status"].as_str().unwrap()).collect();
    assert_eq!(status, ["success", "success", "success", "success", "success", "failed"]);
    assert_eq!(reports[5]["report"], "not run: at most 5 sub-agents work for one run");
    let ids: Vec<u64> = reports.iter().map(|r| r["task_id"].as_u64().unwrap()).collect();
    assert_eq!(ids, [1, 2, 3, 4, 5, 6]);
}

#[test]
fn the_bound_counts_children_not_yet_asked_for_and_only_shrinks() {
    let mut config = spawning(Preset::Research);
    (config.max_turns, config.limits.children) = (3, 2);
    let tree = Tree::new(config).play(endless);
    let child = 7 * 3 + 3;
    assert_eq!(tree.records[0].calls_left, 3 * 3 + 3 + 2 * child);
    let mut left = u32::MAX;
    for record in &tree.records {
        assert!(record.calls_left <= left, "{record:?}");
        left = record.calls_left;
    }
}

#[test]
fn after_stop_each_child_concludes_and_nothing_else_is_asked() {
    let mut config = spawning(Preset::Research);
    config.limits.parallel_tools = 2;
    let mut tree = Tree::new(config);
    fn model(call: &ModelCall) -> Result<Reply, ModelError> {
        match (call.request.child(), call.turn) {
            (0, 1) => Ok(spawn_call(&tasks(3))),
            _ => endless(call),
        }
    }
    (0..6).for_each(|_| assert!(tree.step(model)));
    let before = tree.requests.len();
    tree.handle(Event::StopRequested);
    let tree = tree.play(model);
    assert!(tree.requests[before..].iter().all(|call| call.tools == ToolChoice::None), "only conclusions");
    let reports = tree.reports();
    assert_eq!((&reports[0]["synthesized"], &reports[1]["synthesized"]), (&json!(true), &json!(true)));
    assert_eq!((&reports[2]["status"], &reports[2]["report"]), (&json!("failed"), &json!("stopped before it began")));
    let parent = tree.run().ending().unwrap();
    assert_eq!(parent.termination_reason, TerminationReason::Synthesized(Trigger::Stop));
    assert!(tree.children().all(|e| e.wrap_up == Some(Trigger::Stop)));
}

#[test]
fn cancel_ends_every_child_at_once() {
    let mut tree = Tree::new(spawning(Preset::Research));
    (0..5).for_each(|_| assert!(tree.step(endless)));
    tree.handle(Event::Cancelled { keeps_text: true });
    assert!(tree.finished && tree.open.is_empty() && tree.tools.is_empty() && tree.timers.is_empty());
    assert!(tree.children().all(|e| e.outcome == Outcome::Cancelled));
    let call = &tree.run().turns()[0].tool_calls[0];
    assert_eq!((call.result.as_deref(), call.slug), (Some("cancelled\n[Turn 1/15]"), Some(Slug::Cancelled)));
}

#[test]
fn kinds_of_agents_have_their_own_text_tools_and_turns() {
    fn model(call: &ModelCall) -> Result<Reply, ModelError> {
        Ok(match (call.request.child(), call.turn, call.tools) {
            (0, 1, _) => spawn_call(&[json!({ "task": "t", "agent": "reader", "max_turns": 99 })]),
            (0, ..) => says("end"),
            (_, _, ToolChoice::None) => says("concluded"),
            _ => reply_call("read", "{}"),
        })
    }
    let reader = SubagentKind {
        name: "reader".into(),
        description: "reads".into(),
        system: "You read.".into(),
        tools: vec!["read".into()],
        skills: Vec::new(),
        max_turns: 2,
        preset: Some(Preset::Research),
        counter: Some(false),
    };
    let mut config = spawning(Preset::Orchestrator);
    config.agents = vec![reader];
    let tree = Tree::new(config).play(model);
    let offered = tree.run().config().tools.iter().find(|t| t.name == own_tools::SPAWN).unwrap();
    assert_eq!(
        offered.parameters["properties"]["tasks"]["items"]["properties"]["agent"],
        json!({ "enum": ["reader"] })
    );
    let child = tree.run().child_runs().next().unwrap();
    assert_eq!(child.config().tools.iter().map(|t| t.name.as_str()).collect::<Vec<_>>(), ["read"]);
    assert_eq!((child.config().max_turns, child.messages()[0].clone()), (2, Message::system("You read.".to_owned())));
    assert_eq!(tree.reports()[0]["turns"], 3, "two turns and the synthesis");
    assert_eq!((child.config().preset, &child.config().counter), (Preset::Research, &None));
    assert!(!child.turns()[0].tool_calls[0].result.as_ref().unwrap().contains("[Turn"), "no counter for this kind");
}

#[test]
fn a_child_cannot_have_children_and_a_batch_cannot_hold_them() {
    let tree = Tree::new(spawning(Preset::Research)).play(endless);
    assert!(tree.run().child_runs().all(|run| run.config().tools.iter().all(|t| t.name != own_tools::SPAWN)));
    assert!(!own_tools::allowed_inside(own_tools::SPAWN));
}

#[test]
fn in_a_strict_run_children_make_a_turn_succeed() {
    fn model(call: &ModelCall) -> Result<Reply, ModelError> {
        Ok(match (call.request.child(), call.turn) {
            (0, 1) => spawn_call(&tasks(1)),
            // The parent and its strict child report the same way.
            _ => reply_call("final_report", r#"{"format": "text", "content": "the answer"}"#),
        })
    }
    let tree = Tree::new(spawning(Preset::Strict)).play(model);
    let e = tree.run().ending().unwrap();
    assert_eq!((e.termination_reason, e.total_turns), (TerminationReason::FinalReport, 2));
    let child = tree.run().child_runs().next().unwrap();
    assert_eq!(child.config().preset, Preset::Strict);
    assert_eq!(child.ending().unwrap().termination_reason, TerminationReason::FinalReport);
    let mut none = spawning(Preset::Strict);
    none.limits.children = 0;
    fn only_spawns(call: &ModelCall) -> Result<Reply, ModelError> {
        let _ = call;
        Ok(spawn_call(&tasks(1)))
    }
    let tree = Tree::new(none).play(only_spawns);
    assert_eq!(tree.run().ending().unwrap().termination_reason, TerminationReason::RetriesExhausted);
    assert_eq!(tree.run().turns()[0].attempts[0].slugs, [Slug::ToolLimit], "nothing was started");
}

#[test]
fn a_strict_tree_stays_within_turns_times_attempts() {
    fn only_text(call: &ModelCall) -> Result<Reply, ModelError> {
        Ok(match (call.request.child(), call.turn) {
            (0, 1) => spawn_call(&tasks(2)),
            _ => says("done"),
        })
    }
    let mut config = spawning(Preset::Strict);
    (config.max_turns, config.max_attempts, config.limits.children) = (3, 2, 2);
    config.report = ReportConfig { format: ReportFormat::Json, schema: Some(json!({ "type": "object" })) };
    let bound = 3 * 2 + 2 * 7 * 2;
    assert_eq!((setup::most_child_requests(&config), Tree::new(config.clone()).run().calls_left()), (7 * 2, bound - 1));
    let tree = Tree::new(config.clone()).play(only_text);
    assert!(tree.run().requests() <= bound, "{}", tree.run().requests());
    for child in tree.run().child_runs() {
        assert_eq!(
            child.ending().unwrap().termination_reason,
            TerminationReason::RetriesExhausted,
            "text is no report"
        );
        assert_eq!((child.requests(), child.config().report.format), (2, ReportFormat::Text));
    }
    assert_eq!(tree.reports()[0]["status"], "failed");
    // A kind may override the preset, in both directions.
    config.agents =
        vec![SubagentKind { name: "free".into(), preset: Some(Preset::Research), ..SubagentKind::default() }];
    assert_eq!(setup::most_child_requests(&config), 7 * 2 + 3);
    let asked = own_tools::SubagentTask { task: "t".into(), max_turns: None, agent: Some("free".into()) };
    let free = setup::child_config(&config, &asked, 1).normalized();
    assert!(free.synthesis.is_some() && free.tools.iter().all(|tool| tool.name != "final_report"));
    let mut research = spawning(Preset::Research);
    research.agents =
        vec![SubagentKind { name: "careful".into(), preset: Some(Preset::Strict), ..SubagentKind::default() }];
    let asked = own_tools::SubagentTask { agent: Some("careful".into()), ..asked };
    assert_eq!(setup::child_requests(&research, &asked), 7 * 3);
    assert!(
        setup::child_config(&research, &asked, 1).normalized().tools.iter().any(|tool| tool.name == "final_report")
    );
}

#[test]
fn a_token_budget_is_the_whole_trees() {
    fn model(call: &ModelCall) -> Result<Reply, ModelError> {
        let usage = Usage { input: TokenCount(100), ..Usage::default() };
        endless(call).map(|reply| Reply { usage: Some(usage), ..reply })
    }
    let mut config = spawning(Preset::Research);
    config.limits.tokens = Some(650);
    let tree = Tree::new(config).play(model);
    let e = tree.run().ending().unwrap();
    assert_eq!(e.termination_reason, TerminationReason::Synthesized(Trigger::Tokens));
    assert!(tree.children().all(|e| e.termination_reason == TerminationReason::Synthesized(Trigger::Tokens)));
    // Six replies and then conclusions: one for each run, plus what was under way.
    assert!(tree.run().usage().input.0 <= 650 + 300 + 100, "{:?}", tree.run().usage());
}

#[test]
fn a_cost_budget_is_the_whole_trees() {
    fn model(call: &ModelCall) -> Result<Reply, ModelError> {
        let usage = Usage { input: TokenCount(1_000_000), ..Usage::default() };
        endless(call).map(|reply| Reply { usage: Some(usage), ..reply })
    }
    let priced = |budget| {
        let mut config = spawning(Preset::Research);
        config.providers =
            vec![ProviderConfig { price: Some(Price { input: 1.0, ..Price::default() }), ..ProviderConfig::default() }];
        config.limits.cost = budget;
        Tree::new(config).play(model)
    };
    // One dollar a reply. The first reply of the parent and five of its sub-agents' are within the budget.
    let tree = priced(Some(6.5));
    assert!(tree.children().all(|e| e.termination_reason == TerminationReason::Synthesized(Trigger::Cost)));
    assert_eq!(tree.run().ending().unwrap().termination_reason, TerminationReason::Synthesized(Trigger::Cost));
    // What was under way is paid too, and one conclusion for each run.
    assert!((7.0..=10.0).contains(&tree.run().cost().unwrap()), "{:?}", tree.run().cost());
    // A budget that is not used up changes nothing.
    assert_eq!(priced(Some(100.0)).run().requests(), priced(None).run().requests());
}

#[test]
fn a_long_report_is_cut_and_kept_and_the_array_is_not() {
    fn model(call: &ModelCall) -> Result<Reply, ModelError> {
        match (call.request.child(), call.turn) {
            (0, 1) => Ok(spawn_call(&tasks(2))),
            (0, _) => Ok(says("end")),
            _ => Ok(says(&"long ".repeat(40))),
        }
    }
    let mut config = spawning(Preset::Research);
    config.limits.max_result_chars = 100;
    let tree = Tree::new(config).play(model);
    assert_eq!(tree.kept.len(), 2);
    for (report, (handle, whole)) in tree.reports().iter().zip(&tree.kept) {
        assert_eq!(whole.len(), 200);
        assert!(report["report"].as_str().unwrap().contains(&format!("read_result(\"{handle}\")")), "{report}");
    }
}

#[test]
fn ids_are_unique_in_the_tree_and_stale_ones_do_nothing() {
    let mut tree = Tree::new(spawning(Preset::Research)).play(endless);
    let requests: BTreeSet<RequestId> = tree.requests.iter().map(|call| call.request).collect();
    assert_eq!(requests.len(), tree.requests.len());
    let runs = std::iter::once(tree.run()).chain(tree.run().child_runs());
    let calls: Vec<CallId> = runs.flat_map(|r| r.turns()).flat_map(|t| &t.tool_calls).map(|c| c.id.clone()).collect();
    assert_eq!(calls.iter().collect::<BTreeSet<_>>().len(), calls.len());
    let before = tree.run().clone();
    for request in [RequestId::numbered(1, 1), RequestId::numbered(9, 1)] {
        tree.handle(Event::ModelReplied { request, reply: says("late"), raw: None, first_token_ms: None });
    }
    assert_eq!((tree.run().turns(), tree.run().children()), (before.turns(), before.children()));
}

#[test]
fn the_document_nests_the_children_and_replays_byte_for_byte() {
    let tree = Tree::new(spawning(Preset::Research)).play(endless);
    let document = tree.recorder.document();
    validate(&document);
    let call = &document.turns[0].tool_calls[0];
    let ids: Vec<&str> = document.children.iter().map(|child| child.run_id.as_str()).collect();
    assert_eq!(call.children, ids);
    assert_eq!(document.children[1].input, "part 2");
    assert_eq!(document.children[1].turns.len(), 8);
    assert!(document.children.iter().all(|child| child.events.is_empty() && child.session_id == document.session_id));
    let text = serde_json::to_string(&document).unwrap();
    let again = replay(&Trajectory::parse(&text).unwrap()).unwrap_or_else(|m| panic!("{m:?}"));
    assert_eq!(serde_json::to_string(&again.document()).unwrap(), text);
}

#[test]
fn a_child_has_its_parents_configuration_but_for_what_is_its_own() {
    let mut parent = spawning(Preset::Orchestrator);
    parent.agents = vec![SubagentKind {
        name: "reader".into(),
        tools: vec!["read".into()],
        max_turns: 2,
        ..SubagentKind::default()
    }];
    (parent.limits.tokens, parent.limits.cost, parent.limits.child_ms) = (Some(9), Some(1.0), 5_000);
    parent.limits.max_result_chars = 77;
    parent.seed = 5;
    let asked = |agent: Option<&str>| own_tools::SubagentTask {
        task: "t".into(),
        max_turns: None,
        agent: agent.map(str::to_owned),
    };
    let child = setup::child_config(&parent, &asked(Some("reader")), 1);
    assert_eq!(
        (child.preset, child.synthesis),
        (Preset::Orchestrator, Some(SynthesisConfig::preset(Preset::Orchestrator)))
    );
    assert_eq!((child.agents.len(), child.limits.children, child.limits.max_result_chars), (0, 0, 77));
    assert_eq!((child.limits.wall_ms, child.limits.tokens, child.limits.cost), (Some(5_000), None, None));
    let seeds: BTreeSet<u64> = (1..=16).map(|id| setup::child_config(&parent, &asked(None), id).seed).collect();
    assert_eq!(seeds.len(), 16, "each has chance of its own");
    assert!(seeds.iter().all(|seed| *seed < 1 << 53), "a number that JSON keeps");
    assert!(seeds.iter().filter(|seed| **seed > 1 << 45).count() > 10, "{seeds:?}");
    assert_eq!(
        (setup::child_requests(&parent, &asked(Some("reader"))), setup::child_requests(&parent, &asked(None))),
        (2 * 3 + 3, 7 * 3 + 3)
    );
    assert_eq!(setup::most_child_requests(&parent), 7 * 3 + 3);
}

#[test]
fn the_calls_left_are_the_trees_at_every_step() {
    let mut config = spawning(Preset::Research);
    (config.max_turns, config.limits.children) = (3, 3);
    let mut tree = Tree::new(config);
    assert_eq!(tree.run().calls_left(), (2 + 2 * 3 + 3) + 3 * 24, "its own, and three that may be asked for");
    (0..2).for_each(|_| assert!(tree.step(endless)));
    assert_eq!(tree.run().calls_left(), (2 * 3 + 3) + 2 * 23 + 24, "two have asked once, one may still be asked for");
    tree.handle(Event::StopRequested);
    assert_eq!(tree.run().calls_left(), 3 + 2 * 2, "its conclusion, and two more attempts of each");
}

#[test]
fn a_batch_beside_sub_agents_keeps_its_own_answer_when_all_is_cancelled() {
    fn model(call: &ModelCall) -> Result<Reply, ModelError> {
        let _ = call;
        let batch = RawCall {
            id: "b".into(),
            name: "batch".into(),
            arguments: r#"{"calls": [{"name": "search", "arguments": {}}]}"#.into(),
        };
        let mut reply = spawn_call(&tasks(1));
        reply.tool_calls.push(batch);
        Ok(reply)
    }
    let mut config = spawning(Preset::Research);
    config.tools.push(own_tools::batch_spec());
    let mut tree = Tree::new(config);
    // The reply, and the checks of both calls.
    (0..3).for_each(|_| assert!(tree.step(model)));
    tree.handle(Event::Cancelled { keeps_text: true });
    let calls = &tree.run().turns()[0].tool_calls;
    assert_eq!(calls[0].result.as_deref(), Some("cancelled"));
    assert!(calls[1].result.as_deref().unwrap().starts_with("[{\"error\":\"cancelled\""), "{:?}", calls[1].result);
}

#[test]
fn a_run_without_room_for_sub_agents_spawns_none() {
    let mut config = spawning(Preset::Research);
    assert!(config.spawns());
    config.limits.children = 0;
    assert!(!config.spawns());
}

#[test]
fn a_counter_is_inherited_unless_the_kind_has_its_own_setting() {
    let own = CounterConfig { urgent_at: 9, ..CounterConfig::default() };
    let inherited = |parent: Option<&CounterConfig>, setting| setup::inherited_counter(parent, setting);
    assert_eq!(inherited(Some(&own), None), Some(own.clone()));
    assert_eq!(inherited(Some(&own), Some(true)), Some(own.clone()));
    assert_eq!(inherited(None, Some(true)), Some(CounterConfig::default()));
    assert_eq!([inherited(Some(&own), Some(false)), inherited(None, None)], [None, None]);
}

#[test]
fn a_parent_without_synthesis_has_no_child_with_one() {
    let kind = SubagentKind { name: "other".into(), preset: Some(Preset::Orchestrator), ..SubagentKind::default() };
    let asked = own_tools::SubagentTask { task: "t".into(), max_turns: None, agent: Some("other".into()) };
    let mut parent = RunConfig { agents: vec![kind], ..spawning(Preset::Research) };
    let synthesis = |parent: &RunConfig| setup::child_config(parent, &asked, 1).synthesis;
    assert_eq!(synthesis(&parent), Some(SynthesisConfig::preset(Preset::Orchestrator)));
    parent.synthesis = None;
    assert_eq!(synthesis(&parent), None);
}

#[test]
fn more_tasks_than_a_reply_may_have_calls_are_refused() {
    let result = |n: usize| {
        let mut tree = Tree::new(spawning(Preset::Research));
        let request = tree.open.remove(0).request;
        let reply = spawn_call(&tasks(n));
        tree.handle(Event::ModelReplied { request, reply, raw: None, first_token_ms: None });
        let call = tree.tools.remove(0).call;
        let outcome = ToolOutcome::executed(String::new(), None);
        tree.handle(Event::ToolFinished { call, outcome });
        (tree.run().children().len(), tree.run().turns()[0].tool_calls[0].result.clone().unwrap_or_default())
    };
    let (children, result_of_most) = result(caps::MAX_CALLS);
    assert!(children > 0 && result_of_most.is_empty(), "{result_of_most}");
    let (children, refused) = result(caps::MAX_CALLS + 1);
    assert_eq!(children, 0);
    assert!(refused.contains("not run: 257 tasks in one reply; at most 256 are accepted"), "{refused}");
}

/// A sub-agent's times are since its own start.
#[test]
fn a_childs_clock_begins_with_it() {
    let tree = Tree::new(spawning(Preset::Research)).play(|call| {
        Ok(match (call.request.child(), call.turn) {
            (0, 1) => spawn_call(&tasks(1)),
            (0, _) => says("done"),
            (_, 1) => reply_call("search", "{}"),
            _ => says("found"),
        })
    });
    let child = tree.run().child_runs().next().expect("it ran");
    let times: Vec<(u64, u64)> =
        child.turns().iter().flat_map(|t| &t.attempts).map(|a| (a.started_ms, a.duration_ms.unwrap_or(0))).collect();
    assert_eq!(times, [(0, 10), (20, 10)], "each step of the world takes 10 ms");
}

#[test]
fn an_event_belongs_to_the_run_that_asked_for_it() {
    let mut tree = Tree::new(spawning(Preset::Research));
    let replied = |request| Event::ModelReplied { request, reply: Reply::default(), raw: None, first_token_ms: None };
    assert!(tree.run().child_of(&replied(tree.open[0].request)).is_none());
    (0..2).for_each(|_| assert!(tree.step(|_| Ok(spawn_call(&tasks(2))))));
    let owners = tree.open.iter().map(|call| tree.run().child_of(&replied(call.request)).map(|child| child.id));
    assert_eq!(owners.collect::<Vec<_>>(), [Some(1), Some(2)]);
    assert!(tree.run().child_of(&Event::StopRequested).is_none());
}
