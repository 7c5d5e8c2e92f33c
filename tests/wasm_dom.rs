//! The page's side in a real page: the workspace of blobs, and hosts whose worker cannot start.
#![cfg(target_arch = "wasm32")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)] // tests may panic

use std::cell::Cell;
use std::rc::Rc;

use turnwise::worker::{RenderError, RenderHost, ToolHost, Workspace};
use turnwise_engine::{CallId, CallPermission, RunMode, RunTool, ToolOutcome};
use turnwise_protocol::tool_worker::{Request, SchemaRef, Ticket, WorkerCall};
use turnwise_tools::path::PathError;
use turnwise_tools::{builtin, safe_set};
use wasm_bindgen_test::*;

wasm_bindgen_test_configure!(run_in_browser);

fn call(id: &str) -> RunTool {
    RunTool {
        call: CallId(id.into()),
        name: "now".into(),
        arguments: String::new(),
        timeout_ms: 1_000,
        run: RunMode::Run,
        program: None,
        permission: CallPermission::Allowed,
    }
}

/// A host whose worker script does not exist.
fn broken() -> ToolHost {
    ToolHost::new("/no-such-worker.js".into(), Workspace::new(), 2)
}

#[wasm_bindgen_test]
async fn a_file_is_kept_under_its_normal_path() {
    let files = Workspace::new();
    assert_eq!(files.put_text("./docs//ü.md", "grüße"), Ok("docs/ü.md".to_owned()));
    assert_eq!(files.text("docs/ü.md").await.as_deref(), Some("grüße"));
    let listed = files.list();
    assert_eq!((listed.len(), listed[0].path.as_str(), listed[0].size), (1, "docs/ü.md", 7));
}

#[wasm_bindgen_test]
fn paths_that_leave_the_workspace_are_refused() {
    let files = Workspace::new();
    assert_eq!(files.put_text("../x", ""), Err(PathError::Parent));
    assert_eq!(files.put_text("/x", ""), Err(PathError::Absolute));
    assert_eq!(files.version(), 0);
}

#[wasm_bindgen_test]
fn every_change_has_a_version_of_its_own() {
    let files = Workspace::new();
    files.put_text("a", "1").unwrap();
    files.put_text("b", "1").unwrap();
    files.put_text("a", "2").unwrap();
    files.remove("b");
    files.remove("never there");
    assert_eq!(files.version(), 4);
    assert_eq!(files.list().iter().map(|f| (f.path.as_str(), f.version)).collect::<Vec<_>>(), [("a", 3)]);
    assert!(files.get("b").is_none());
}

#[wasm_bindgen_test]
async fn kept_results_are_there_but_not_listed() {
    let files = Workspace::new();
    files.keep_result("call_1_1_0", "whole");
    assert!(files.list().is_empty());
    assert_eq!(files.text("results/call_1_1_0.txt").await.as_deref(), Some("whole"));
}

#[wasm_bindgen_test]
fn a_subscriber_hears_changes_until_it_is_dropped_and_may_change_files_itself() {
    let files = Workspace::new();
    let heard = Rc::new(Cell::new(0));
    let subscription = files.subscribe({
        let (files, heard) = (files.clone(), heard.clone());
        move || {
            heard.set(heard.get() + 1);
            if files.version() == 1 {
                files.put_text("b", "").unwrap();
            }
        }
    });
    files.put_text("a", "").unwrap();
    assert_eq!((heard.get(), files.list().len()), (2, 2));
    drop(subscription);
    files.put_text("c", "").unwrap();
    assert_eq!(heard.get(), 2);
}

#[wasm_bindgen_test]
fn clones_are_handles_on_one_workspace() {
    let files = Workspace::new();
    let clone = files.clone();
    clone.put_text("a", "x").unwrap();
    assert_eq!(files.list().len(), 1);
    assert!(Workspace::new().list().is_empty());
}

#[wasm_bindgen_test]
async fn a_worker_that_cannot_start_fails_every_call_and_says_what_may_block_it() {
    let host = broken();
    let spec = builtin("now").unwrap();
    for id in ["a", "b"] {
        let outcome = host.run(call(id), spec.clone(), false).await;
        let ToolOutcome::Failed { message } = &outcome else { panic!("{outcome:?}") };
        assert!(message.contains("no-such-worker.js") && message.contains("worker-src"), "{message}");
    }
}

#[wasm_bindgen_test]
async fn an_aborted_call_is_cancelled_before_its_worker_is_ready() {
    let host = broken();
    let running = host.run(call("a"), builtin("now").unwrap(), false);
    let abort = async {
        host.abort(&CallId("a".into()));
        host.abort(&CallId("never there".into()));
    };
    let (outcome, ()) = futures_join(running, abort).await;
    assert_eq!(outcome, ToolOutcome::Cancelled);
}

#[wasm_bindgen_test]
async fn arguments_cannot_be_checked_without_a_worker_and_rendering_says_why() {
    let refused = broken().check("{}", &builtin("now").unwrap()).await.unwrap_err();
    assert!(matches!(refused, ToolOutcome::Failed { .. }), "{refused:?}");
    let render = RenderHost::new("/no-such-worker.js".into());
    let error = render.render("*a*").await.unwrap_err();
    assert!(matches!(&error, RenderError::Worker(why) if why.contains("no-such-worker.js")), "{error}");
}

#[wasm_bindgen_test]
fn the_page_holds_specs_and_encodes_requests_without_the_worker_feature() {
    assert!(safe_set().iter().all(|spec| spec.parameters.is_object()));
    let schema = SchemaRef { id: 1, define: None };
    let call = WorkerCall::Check { name: "x".into(), arguments: "\u{2028}😀".into(), schema };
    let request = Request { id: Ticket(1), call };
    let text = js_sys::JSON::parse(&request.encode()).unwrap();
    let again = String::from(js_sys::JSON::stringify(&text).unwrap());
    assert_eq!(Request::decode(&again).unwrap(), request);
}

/// Polls both futures until both are done, the first one first.
async fn futures_join<A, B>(a: impl Future<Output = A>, b: impl Future<Output = B>) -> (A, B) {
    let (mut a, mut b) = (std::pin::pin!(a), std::pin::pin!(b));
    let (mut done_a, mut done_b) = (None, None);
    std::future::poll_fn(|cx| {
        if done_a.is_none()
            && let std::task::Poll::Ready(value) = a.as_mut().poll(cx)
        {
            done_a = Some(value);
        }
        if done_b.is_none()
            && let std::task::Poll::Ready(value) = b.as_mut().poll(cx)
        {
            done_b = Some(value);
        }
        if done_a.is_some() && done_b.is_some() { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
    (done_a.unwrap(), done_b.unwrap())
}
