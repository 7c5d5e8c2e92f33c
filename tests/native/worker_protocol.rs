//! Messages between page and worker, and which worker runs what.

use std::collections::{HashMap, HashSet};

use proptest::prelude::*;
use serde_json::json;
use turnwise::worker::pool::{Action, End, Input, Pool, WorkerId};
use turnwise_content::markdown::Node;
use turnwise_demo_model::{DemoChunk, DemoRequest, Scripted};
use turnwise_engine::{DemoMode, Message, RequestId, Slug, ToolChoice, ToolOutcome};
use turnwise_protocol::tool_worker::{Answer, Blocks, Call, Checked, FileChange, Reply, Request, SchemaRef, Ticket};
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
            Call::Run { name: "now".into(), arguments: "{}".into(), schema, now: 5, files: vec![] },
            json!({"id": 1, "method": "run", "args": {"name": "now", "arguments": "{}", "schema": {"id": 4}, "now": 5}}),
        ),
        (
            Call::Run {
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
            Call::Check { name: "x".into(), arguments: "{".into(), schema: define },
            json!({"id": 1, "method": "check", "args": {
                "name": "x", "arguments": "{", "schema": {"id": 4, "define": {"type": "object"}}}}),
        ),
        (
            Call::Render { markdown: "*a*".into(), growing: None },
            json!({"id": 1, "method": "render", "args": {"markdown": "*a*"}}),
        ),
        (
            Call::Render { markdown: "*a*".into(), growing: Some(7) },
            json!({"id": 1, "method": "render", "args": {"markdown": "*a*", "growing": 7}}),
        ),
        (Call::Text { path: "a.pdf".into() }, json!({"id": 1, "method": "text", "args": {"path": "a.pdf"}})),
        (
            Call::Demo(Box::new(DemoRequest {
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
    let executed = ToolOutcome::Executed { content: "4".into(), images: Vec::new(), repaired_args: None };
    let rejected = ToolOutcome::Rejected { slug: Slug::InvalidArguments, path: Some("/a".into()), message: "m".into() };
    let arguments = Arguments { value: json!({"a": 1}), repaired: Repaired::Yes };
    let outcome = |outcome, writes| Answer::Outcome { outcome, writes };
    let cases = [
        (Reply::Ready { ready: "0.1.0".into() }, json!({"ready": "0.1.0"})),
        (Reply::Fatal { fatal: "f".into() }, json!({"fatal": "f"})),
        (Reply::Error { id: B, error: "e".into() }, json!({"id": 2, "error": "e"})),
        (
            Reply::Result { id: A, result: outcome(executed.clone(), vec![]) },
            json!({"id": 1, "result": {"outcome": {"outcome": {"status": "executed", "content": "4"}}}}),
        ),
        (
            Reply::Result { id: A, result: outcome(executed, vec!["w.md".into()]) },
            json!({"id": 1, "result": {"outcome": {"outcome": {"status": "executed", "content": "4"}, "writes": ["w.md"]}}}),
        ),
        (
            Reply::Result { id: A, result: Answer::Checked(Checked::Valid(arguments)) },
            json!({"id": 1, "result": {"checked": {"valid": {"value": {"a": 1}, "repaired": "yes"}}}}),
        ),
        (
            Reply::Result { id: A, result: Answer::Checked(Checked::Refused(rejected)) },
            json!({"id": 1, "result": {"checked": {"refused":
                {"status": "rejected", "slug": "invalid_arguments", "path": "/a", "message": "m"}}}}),
        ),
        (
            Reply::Result { id: A, result: Answer::Nodes(Blocks { same: 0, nodes: [Node::Rule].as_slice().into() }) },
            json!({"id": 1, "result": {"nodes": {"nodes": ["rule"]}}}),
        ),
        (
            Reply::Result { id: A, result: Answer::Nodes(Blocks { same: 2, nodes: [].as_slice().into() }) },
            json!({"id": 1, "result": {"nodes": {"same": 2, "nodes": []}}}),
        ),
        (
            Reply::Result {
                id: A,
                result: Answer::Demo(Scripted::stream(vec![DemoChunk { after_ms: 5, text: "data: {}\n\n".into() }])),
            },
            json!({"id": 1, "result": {"demo": {"answer": {
                "status": 200, "headers": [["content-type", "text/event-stream"]],
                "chunks": [{"after_ms": 5, "text": "data: {}\n\n"}], "end": "closed"}}}}),
        ),
    ];
    for (reply, expected) in cases {
        let text = reply.clone().encode();
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), expected);
        assert_eq!(Reply::decode(&text).unwrap(), reply);
    }
}

#[test]
fn what_is_no_reply_is_an_error() {
    for text in
        ["", "{}", "[]", "null", "{\"id\":1}", "{\"result\":{\"nodes\":[]}}", "{\"id\":1,\"result\":{}}", "ready"]
    {
        assert!(Reply::decode(text).is_err(), "{text}");
    }
}

/// Feeds the inputs and expects exactly these actions after each.
fn check(max: usize, script: Vec<(Input, Vec<Action>)>) {
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
            (Input::Submit(A), vec![Action::Spawn(W0)]),
            (Input::Submit(B), vec![Action::Spawn(W1)]),
            (Input::Submit(C), vec![]),
            (Input::Ready(W1), vec![Action::Post(W1, A)]),
            (Input::Ready(W0), vec![Action::Post(W0, B)]),
            (Input::Answered(W1, A), vec![Action::End(A, End::Answered), Action::Post(W1, C)]),
            (Input::Answered(W0, B), vec![Action::End(B, End::Answered)]),
            (Input::Answered(W1, C), vec![Action::End(C, End::Answered)]),
            (Input::Submit(A), vec![Action::Post(W0, A)]),
        ],
    );
}

#[test]
fn workers_are_made_only_on_demand() {
    check(
        4,
        vec![
            (Input::Submit(A), vec![Action::Spawn(W0)]),
            (Input::Ready(W0), vec![Action::Post(W0, A)]),
            (Input::Answered(W0, A), vec![Action::End(A, End::Answered)]),
            (Input::Submit(B), vec![Action::Post(W0, B)]),
            (Input::Submit(C), vec![Action::Spawn(W1)]),
        ],
    );
}

#[test]
fn a_missed_deadline_ends_the_worker_and_the_next_call_gets_a_new_one() {
    check(
        1,
        vec![
            (Input::Submit(A), vec![Action::Spawn(W0)]),
            (Input::Ready(W0), vec![Action::Post(W0, A)]),
            (Input::Submit(B), vec![]),
            (Input::Deadline(W0), vec![Action::Terminate(W0), Action::End(A, End::TimedOut), Action::Spawn(W0)]),
            (Input::Answered(W0, A), vec![]),
            (Input::Ready(W0), vec![Action::Post(W0, B)]),
            (Input::Answered(W0, B), vec![Action::End(B, End::Answered)]),
            (Input::Deadline(W0), vec![]),
        ],
    );
}

#[test]
fn a_crash_ends_only_the_call_in_that_worker() {
    let crash = || "boom".to_owned();
    check(
        2,
        vec![
            (Input::Submit(A), vec![Action::Spawn(W0)]),
            (Input::Submit(B), vec![Action::Spawn(W1)]),
            (Input::Ready(W0), vec![Action::Post(W0, A)]),
            (Input::Ready(W1), vec![Action::Post(W1, B)]),
            (Input::Lost(W0, crash()), vec![Action::Terminate(W0), Action::End(A, End::Crashed(crash()))]),
            (Input::Submit(C), vec![Action::Spawn(W0)]),
            (Input::Answered(W1, B), vec![Action::End(B, End::Answered), Action::Post(W1, C)]),
            (Input::Ready(W0), vec![]),
            (Input::Lost(W0, crash()), vec![Action::Terminate(W0)]),
            (Input::Answered(W1, C), vec![Action::End(C, End::Answered)]),
        ],
    );
}

#[test]
fn where_no_worker_starts_every_waiting_call_is_told_once() {
    let why = || "blocked".to_owned();
    check(
        2,
        vec![
            (Input::Submit(A), vec![Action::Spawn(W0)]),
            (Input::Submit(B), vec![Action::Spawn(W1)]),
            (Input::Submit(C), vec![]),
            (
                Input::Lost(W0, why()),
                vec![Action::Terminate(W0), Action::End(A, End::NoWorker(why())), Action::Spawn(W0)],
            ),
            (Input::Lost(W1, why()), vec![Action::Terminate(W1), Action::End(B, End::NoWorker(why()))]),
            (Input::Lost(W0, why()), vec![Action::Terminate(W0), Action::End(C, End::NoWorker(why()))]),
            (Input::Submit(A), vec![Action::Spawn(W0)]),
        ],
    );
}

#[test]
fn an_aborted_call_is_taken_from_the_queue_or_its_worker_ended() {
    check(
        1,
        vec![
            (Input::Submit(A), vec![Action::Spawn(W0)]),
            (Input::Submit(B), vec![]),
            (Input::Submit(C), vec![]),
            (Input::Ready(W0), vec![Action::Post(W0, A)]),
            (Input::Abort(B), vec![Action::End(B, End::Aborted)]),
            (Input::Abort(A), vec![Action::Terminate(W0), Action::End(A, End::Aborted), Action::Spawn(W0)]),
            (Input::Ready(W0), vec![Action::Post(W0, C)]),
            (Input::Abort(A), vec![]),
        ],
    );
}

#[test]
fn close_ends_everything_and_a_later_call_starts_again() {
    check(
        1,
        vec![
            (Input::Submit(A), vec![Action::Spawn(W0)]),
            (Input::Ready(W0), vec![Action::Post(W0, A)]),
            (Input::Submit(B), vec![]),
            (Input::Close, vec![Action::Terminate(W0), Action::End(A, End::Aborted), Action::End(B, End::Aborted)]),
            (Input::Answered(W0, A), vec![]),
            (Input::Submit(C), vec![Action::Spawn(W0)]),
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
                    Input::Submit(Ticket(next))
                }
                Step::Ready(id) => Input::Ready(WorkerId(*id)),
                Step::Answer(id) => {
                    let ticket = running.get(&WorkerId(*id)).copied().flatten().unwrap_or(Ticket(0));
                    if let Some(slot) = running.get_mut(&WorkerId(*id)) {
                        *slot = None;
                    }
                    Input::Answered(WorkerId(*id), ticket)
                }
                Step::Lose(id) => Input::Lost(WorkerId(*id), "lost".into()),
                Step::Deadline(id) => Input::Deadline(WorkerId(*id)),
                Step::AbortOldest => Input::Abort(open.iter().min().copied().unwrap_or(Ticket(0))),
                Step::Close => Input::Close,
            };
            for action in pool.handle(input) {
                match action {
                    Action::Spawn(id) => {
                        prop_assert!(running.insert(id, None).is_none(), "made twice");
                        prop_assert!(running.len() <= max);
                    }
                    Action::Post(id, ticket) => {
                        prop_assert!(open.contains(&ticket));
                        let slot = running.get_mut(&id);
                        prop_assert_eq!(slot.as_deref(), Some(&None), "posted to a busy or absent worker");
                        running.insert(id, Some(ticket));
                    }
                    Action::Terminate(id) => prop_assert!(running.remove(&id).is_some(), "ended twice"),
                    Action::End(ticket, _) => prop_assert!(open.remove(&ticket), "ended twice"),
                }
            }
        }
        prop_assert!(open.is_empty(), "left open: {:?}", open);
        prop_assert!(running.is_empty());
    }
}
