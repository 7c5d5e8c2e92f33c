//! Messages between page and worker, and which worker runs what.

use std::collections::{HashMap, HashSet};

use proptest::prelude::*;
use serde_json::json;
use turnwise::worker::pool::{CallEnd, Pool, PoolAction, PoolEvent, WorkerId};
use turnwise_content::markdown::Node;
use turnwise_demo_model::{DemoChunk, DemoRequest, Scripted};
use turnwise_engine::{DemoMode, Message, RequestId, Slug, ToolChoice, ToolOutcome};
use turnwise_protocol::tool_worker::{
    ChangedBlocks, CheckedArguments, FileChange, GrowingPart, Request, SchemaRef, Ticket, WorkerAnswer, WorkerCall,
    WorkerReply,
};
use turnwise_tools::{Arguments, Repaired};

const W0: WorkerId = WorkerId(0);
const W1: WorkerId = WorkerId(1);
const A: Ticket = Ticket(1);
const B: Ticket = Ticket(2);
const C: Ticket = Ticket(3);

#[test]
fn requests_are_id_method_args() {
    let schema = SchemaRef { id: 4, define: None };
    let define = SchemaRef { id: 4, define: Some(json!({"type": "object"})) };
    let change = FileChange { path: "a.md".into(), version: 7, size: Some(3) };
    let removed = FileChange { path: "b.md".into(), version: 8, size: None };
    let cases = [
        (
            WorkerCall::Run { name: "now".into(), arguments: "{}".into(), schema, now: 5, files: vec![] },
            json!({"id": 1, "method": "run", "args": {"name": "now", "arguments": "{}", "schema": {"id": 4}, "now": 5}}),
        ),
        (
            WorkerCall::Run {
                name: "r".into(),
                arguments: String::new(),
                schema: define.clone(),
                now: 5,
                files: vec![change, removed],
            },
            json!({"id": 1, "method": "run", "args": {
                "name": "r", "arguments": "", "schema": {"id": 4, "define": {"type": "object"}}, "now": 5,
                "files": [{"path": "a.md", "version": 7, "size": 3}, {"path": "b.md", "version": 8}]}}),
        ),
        (
            WorkerCall::Check { name: "x".into(), arguments: "{".into(), schema: define },
            json!({"id": 1, "method": "check", "args": {
                "name": "x", "arguments": "{", "schema": {"id": 4, "define": {"type": "object"}}}}),
        ),
        (
            WorkerCall::Render { markdown: "*a*".into(), growing: None },
            json!({"id": 1, "method": "render", "args": {"markdown": "*a*"}}),
        ),
        (
            WorkerCall::Render { markdown: "*a*".into(), growing: Some(GrowingPart { text: 7, from: 3, last: false }) },
            json!({"id": 1, "method": "render", "args": {"markdown": "*a*", "growing": {"text": 7, "from": 3}}}),
        ),
        (WorkerCall::Text { path: "a.pdf".into() }, json!({"id": 1, "method": "text", "args": {"path": "a.pdf"}})),
        (
            WorkerCall::Demo(Box::new(DemoRequest {
                mode: DemoMode::Endless,
                seed: u64::MAX,
                request: RequestId(1),
                attempt: 1,
                attempts: 3,
                messages: vec![Message::user("go")],
                tools: vec![],
                choice: ToolChoice::Auto,
            })),
            json!({"id": 1, "method": "demo", "args": {
                "mode": "endless", "seed": u64::MAX, "request": 1, "attempt": 1, "attempts": 3, "messages": [{"role": "user", "content": "go"}], "tools": [], "choice": "auto"}}),
        ),
    ];
    for (call, expected) in cases {
        let request = Request { id: A, call };
        let text = request.encode();
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), expected);
        assert_eq!(Request::decode(&text).unwrap(), request);
    }
}

#[test]
fn replies_are_ready_fatal_or_id_with_result_or_error() {
    let executed = ToolOutcome::executed("4".into(), None);
    let rejected = ToolOutcome::Rejected { slug: Slug::InvalidArguments, path: Some("/a".into()), message: "m".into() };
    let arguments = Arguments { value: json!({"a": 1}), repaired: Repaired::Yes };
    let outcome = |outcome, writes| WorkerAnswer::Outcome { outcome, writes };
    let cases = [
        (WorkerReply::Ready { ready: "0.1.0".into() }, json!({"ready": "0.1.0"})),
        (WorkerReply::Fatal { fatal: "f".into() }, json!({"fatal": "f"})),
        (WorkerReply::Error { id: B, error: "e".into() }, json!({"id": 2, "error": "e"})),
        (
            WorkerReply::Result { id: A, result: outcome(executed.clone(), vec![]) },
            json!({"id": 1, "result": {"outcome": {"outcome": {"status": "executed", "content": "4"}}}}),
        ),
        (
            WorkerReply::Result { id: A, result: outcome(executed, vec!["w.md".into()]) },
            json!({"id": 1, "result": {"outcome": {"outcome": {"status": "executed", "content": "4"}, "writes": ["w.md"]}}}),
        ),
        (
            WorkerReply::Result { id: A, result: WorkerAnswer::Checked(CheckedArguments::Valid(arguments)) },
            json!({"id": 1, "result": {"checked": {"valid": {"value": {"a": 1}, "repaired": "yes"}}}}),
        ),
        (
            WorkerReply::Result { id: A, result: WorkerAnswer::Checked(CheckedArguments::Refused(rejected)) },
            json!({"id": 1, "result": {"checked": {"refused":
                {"status": "rejected", "slug": "invalid_arguments", "path": "/a", "message": "m"}}}}),
        ),
        (
            WorkerReply::Result {
                id: A,
                result: WorkerAnswer::Nodes(ChangedBlocks {
                    nodes: [Node::Rule].as_slice().into(),
                    ..ChangedBlocks::default()
                }),
            },
            json!({"id": 1, "result": {"nodes": {"nodes": ["rule"]}}}),
        ),
        (
            WorkerReply::Result {
                id: A,
                result: WorkerAnswer::Nodes(ChangedBlocks { same: 2, ..ChangedBlocks::default() }),
            },
            json!({"id": 1, "result": {"nodes": {"same": 2, "nodes": []}}}),
        ),
        (
            WorkerReply::Result {
                id: A,
                result: WorkerAnswer::Demo(Scripted::stream(vec![DemoChunk {
                    after_ms: 5,
                    text: "data: {}\n\n".into(),
                }])),
            },
            json!({"id": 1, "result": {"demo": {"answer": {
                "status": 200, "headers": [["content-type", "text/event-stream"]],
                "chunks": [{"after_ms": 5, "text": "data: {}\n\n"}], "end": "closed"}}}}),
        ),
    ];
    for (reply, expected) in cases {
        let text = reply.clone().encode();
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), expected);
        assert_eq!(WorkerReply::decode(&text).unwrap(), reply);
    }
}

#[test]
fn what_is_no_reply_is_an_error() {
    for text in
        ["", "{}", "[]", "null", "{\"id\":1}", "{\"result\":{\"nodes\":[]}}", "{\"id\":1,\"result\":{}}", "ready"]
    {
        assert!(WorkerReply::decode(text).is_err(), "{text}");
    }
}

/// Feeds the inputs and expects exactly these actions after each.
fn check(max: usize, script: Vec<(PoolEvent, Vec<PoolAction>)>) {
    let mut pool = Pool::new(max);
    for (step, (input, expected)) in script.into_iter().enumerate() {
        assert_eq!(pool.handle(input.clone()), expected, "step {step}: {input:?}");
    }
}

#[test]
fn a_call_waits_for_ready_and_the_lowest_idle_worker_gets_the_next() {
    check(
        2,
        vec![
            (PoolEvent::Submit(A), vec![PoolAction::Spawn(W0)]),
            (PoolEvent::Submit(B), vec![PoolAction::Spawn(W1)]),
            (PoolEvent::Submit(C), vec![]),
            (PoolEvent::Ready(W1), vec![PoolAction::Post(W1, A)]),
            (PoolEvent::Ready(W0), vec![PoolAction::Post(W0, B)]),
            (PoolEvent::Answered(W1, A), vec![PoolAction::End(A, CallEnd::Answered), PoolAction::Post(W1, C)]),
            (PoolEvent::Answered(W0, B), vec![PoolAction::End(B, CallEnd::Answered)]),
            (PoolEvent::Answered(W1, C), vec![PoolAction::End(C, CallEnd::Answered)]),
            (PoolEvent::Submit(A), vec![PoolAction::Post(W0, A)]),
        ],
    );
}

#[test]
fn workers_are_made_only_on_demand() {
    check(
        4,
        vec![
            (PoolEvent::Submit(A), vec![PoolAction::Spawn(W0)]),
            (PoolEvent::Ready(W0), vec![PoolAction::Post(W0, A)]),
            (PoolEvent::Answered(W0, A), vec![PoolAction::End(A, CallEnd::Answered)]),
            (PoolEvent::Submit(B), vec![PoolAction::Post(W0, B)]),
            (PoolEvent::Submit(C), vec![PoolAction::Spawn(W1)]),
        ],
    );
}

#[test]
fn a_missed_deadline_ends_the_worker_and_the_next_call_gets_a_new_one() {
    check(
        1,
        vec![
            (PoolEvent::Submit(A), vec![PoolAction::Spawn(W0)]),
            (PoolEvent::Ready(W0), vec![PoolAction::Post(W0, A)]),
            (PoolEvent::Submit(B), vec![]),
            (
                PoolEvent::Deadline(W0),
                vec![PoolAction::Terminate(W0), PoolAction::End(A, CallEnd::TimedOut), PoolAction::Spawn(W0)],
            ),
            (PoolEvent::Answered(W0, A), vec![]),
            (PoolEvent::Ready(W0), vec![PoolAction::Post(W0, B)]),
            (PoolEvent::Answered(W0, B), vec![PoolAction::End(B, CallEnd::Answered)]),
            (PoolEvent::Deadline(W0), vec![]),
        ],
    );
}

#[test]
fn a_crash_ends_only_the_call_in_that_worker() {
    let crash = || "boom".to_owned();
    check(
        2,
        vec![
            (PoolEvent::Submit(A), vec![PoolAction::Spawn(W0)]),
            (PoolEvent::Submit(B), vec![PoolAction::Spawn(W1)]),
            (PoolEvent::Ready(W0), vec![PoolAction::Post(W0, A)]),
            (PoolEvent::Ready(W1), vec![PoolAction::Post(W1, B)]),
            (
                PoolEvent::Lost(W0, crash()),
                vec![PoolAction::Terminate(W0), PoolAction::End(A, CallEnd::Crashed(crash()))],
            ),
            (PoolEvent::Submit(C), vec![PoolAction::Spawn(W0)]),
            (PoolEvent::Answered(W1, B), vec![PoolAction::End(B, CallEnd::Answered), PoolAction::Post(W1, C)]),
            (PoolEvent::Ready(W0), vec![]),
            (PoolEvent::Lost(W0, crash()), vec![PoolAction::Terminate(W0)]),
            (PoolEvent::Answered(W1, C), vec![PoolAction::End(C, CallEnd::Answered)]),
        ],
    );
}

#[test]
fn where_no_worker_starts_every_waiting_call_is_told_once() {
    let why = || "blocked".to_owned();
    check(
        2,
        vec![
            (PoolEvent::Submit(A), vec![PoolAction::Spawn(W0)]),
            (PoolEvent::Submit(B), vec![PoolAction::Spawn(W1)]),
            (PoolEvent::Submit(C), vec![]),
            (
                PoolEvent::Lost(W0, why()),
                vec![PoolAction::Terminate(W0), PoolAction::End(A, CallEnd::NoWorker(why())), PoolAction::Spawn(W0)],
            ),
            (PoolEvent::Lost(W1, why()), vec![PoolAction::Terminate(W1), PoolAction::End(B, CallEnd::NoWorker(why()))]),
            (PoolEvent::Lost(W0, why()), vec![PoolAction::Terminate(W0), PoolAction::End(C, CallEnd::NoWorker(why()))]),
            (PoolEvent::Submit(A), vec![PoolAction::Spawn(W0)]),
        ],
    );
}

#[test]
fn an_aborted_call_is_taken_from_the_queue_or_its_worker_ended() {
    check(
        1,
        vec![
            (PoolEvent::Submit(A), vec![PoolAction::Spawn(W0)]),
            (PoolEvent::Submit(B), vec![]),
            (PoolEvent::Submit(C), vec![]),
            (PoolEvent::Ready(W0), vec![PoolAction::Post(W0, A)]),
            (PoolEvent::Abort(B), vec![PoolAction::End(B, CallEnd::Aborted)]),
            (
                PoolEvent::Abort(A),
                vec![PoolAction::Terminate(W0), PoolAction::End(A, CallEnd::Aborted), PoolAction::Spawn(W0)],
            ),
            (PoolEvent::Ready(W0), vec![PoolAction::Post(W0, C)]),
            (PoolEvent::Abort(A), vec![]),
        ],
    );
}

#[test]
fn close_ends_everything_and_a_later_call_starts_again() {
    check(
        1,
        vec![
            (PoolEvent::Submit(A), vec![PoolAction::Spawn(W0)]),
            (PoolEvent::Ready(W0), vec![PoolAction::Post(W0, A)]),
            (PoolEvent::Submit(B), vec![]),
            (
                PoolEvent::Close,
                vec![
                    PoolAction::Terminate(W0),
                    PoolAction::End(A, CallEnd::Aborted),
                    PoolAction::End(B, CallEnd::Aborted),
                ],
            ),
            (PoolEvent::Answered(W0, A), vec![]),
            (PoolEvent::Submit(C), vec![PoolAction::Spawn(W0)]),
        ],
    );
}

#[derive(Clone, Debug)]
enum Step {
    Submit,
    Ready(usize),
    Answer(usize),
    Lose(usize),
    Deadline(usize),
    AbortOldest,
    Close,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => Just(Step::Submit),
        6 => (0..5_usize).prop_map(Step::Ready),
        6 => (0..5_usize).prop_map(Step::Answer),
        1 => (0..5_usize).prop_map(Step::Lose),
        1 => (0..5_usize).prop_map(Step::Deadline),
        1 => Just(Step::AbortOldest),
        1 => Just(Step::Close),
    ];
    prop::collection::vec(step, 0..120)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// A world that does what the pool says, with events in any order, sees each call end exactly once.
    #[test]
    fn every_call_ends_exactly_once_in_any_order_of_events(max in 1..5_usize, steps in steps()) {
        let mut pool = Pool::new(max);
        let mut next = 0_u32;
        let mut running: HashMap<WorkerId, Option<Ticket>> = HashMap::new();
        let mut open: HashSet<Ticket> = HashSet::new();
        let finish = [Step::Close];
        for step in steps.iter().chain(&finish) {
            let input = match step {
                Step::Submit => {
                    next += 1;
                    open.insert(Ticket(next));
                    PoolEvent::Submit(Ticket(next))
                }
                Step::Ready(id) => PoolEvent::Ready(WorkerId(*id)),
                Step::Answer(id) => {
                    let ticket = running.get(&WorkerId(*id)).copied().flatten().unwrap_or(Ticket(0));
                    if let Some(slot) = running.get_mut(&WorkerId(*id)) {
                        *slot = None;
                    }
                    PoolEvent::Answered(WorkerId(*id), ticket)
                }
                Step::Lose(id) => PoolEvent::Lost(WorkerId(*id), "lost".into()),
                Step::Deadline(id) => PoolEvent::Deadline(WorkerId(*id)),
                Step::AbortOldest => PoolEvent::Abort(open.iter().min().copied().unwrap_or(Ticket(0))),
                Step::Close => PoolEvent::Close,
            };
            for action in pool.handle(input) {
                match action {
                    PoolAction::Spawn(id) => {
                        prop_assert!(running.insert(id, None).is_none(), "made twice");
                        prop_assert!(running.len() <= max);
                    }
                    PoolAction::Post(id, ticket) => {
                        prop_assert!(open.contains(&ticket));
                        let slot = running.get_mut(&id);
                        prop_assert_eq!(slot.as_deref(), Some(&None), "posted to a busy or absent worker");
                        running.insert(id, Some(ticket));
                    }
                    PoolAction::Terminate(id) => prop_assert!(running.remove(&id).is_some(), "ended twice"),
                    PoolAction::End(ticket, _) => prop_assert!(open.remove(&ticket), "ended twice"),
                }
            }
        }
        prop_assert!(open.is_empty(), "left open: {:?}", open);
        prop_assert!(running.is_empty());
    }
}
