//! The worker's own code in a dedicated worker of a real browser: tools, schema checks, blobs, Markdown.
#![cfg(target_arch = "wasm32")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)] // tests may panic

use serde_json::{Value, json};
use turnwise_content::markdown::Node;
use turnwise_demo_model::DemoRequest;
use turnwise_engine::{DemoMode, Message, RequestId, Slug, ToolChoice, ToolOutcome};
use turnwise_protocol::tool_worker::{
    ChangedBlocks, CheckedArguments, FileChange, GrowingPart, Request, SchemaRef, Ticket, WorkerAnswer, WorkerCall,
    WorkerReply,
};
use turnwise_tools::{Repaired, builtin, names};
use turnwise_tools_module::Complete;
use turnwise_worker::serve::Worker;
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::JsFuture;
use wasm_bindgen_test::*;
use web_sys::Blob;

wasm_bindgen_test_configure!(run_in_dedicated_worker);

fn blob(bytes: &[u8]) -> Blob {
    let parts = js_sys::Array::of1(&js_sys::Uint8Array::from(bytes));
    Blob::new_with_u8_array_sequence(&parts).unwrap()
}

/// A worker and the page's half of the conversation, including files and schemas.
#[derive(Default)]
struct Talk {
    worker: Worker<Complete>,
    files: Vec<FileChange>,
    blobs: Vec<Blob>,
    version: u64,
    schemas: Vec<String>,
    written: Vec<(String, Blob)>,
}

impl Talk {
    fn put(&mut self, path: &str, bytes: &[u8]) {
        self.version += 1;
        self.files.push(FileChange { path: path.into(), version: self.version, size: Some(bytes.len() as u64) });
        self.blobs.push(blob(bytes));
    }

    fn remove(&mut self, path: &str) {
        self.version += 1;
        self.files.push(FileChange { path: path.into(), version: self.version, size: None });
    }

    /// Sends the request as text, as the page does.
    async fn ask(&mut self, call: WorkerCall) -> WorkerAnswer {
        let request = Request::decode(&Request { id: Ticket(7), call }.encode()).unwrap();
        let (reply, written) = self.worker.answer(request, std::mem::take(&mut self.blobs)).await;
        let WorkerReply::Result { id: Ticket(7), result } = WorkerReply::decode(&reply.encode()).unwrap() else {
            panic!()
        };
        if let WorkerAnswer::Outcome { writes, .. } = &result {
            assert_eq!(writes.len(), written.len());
            self.written.extend(writes.iter().cloned().zip(written));
        }
        result
    }

    async fn run(&mut self, name: &str, arguments: &str) -> ToolOutcome {
        let known = self.schemas.iter().position(|known| known == name);
        let define = known.is_none().then(|| builtin(name).unwrap().parameters);
        let id = known.unwrap_or(self.schemas.len()) as u32;
        if define.is_some() {
            self.schemas.push(name.into());
        }
        let files = std::mem::take(&mut self.files);
        let schema = SchemaRef { id, define };
        let call =
            WorkerCall::Run { name: name.into(), arguments: arguments.into(), schema, now: 951_782_400_000, files };
        match self.ask(call).await {
            WorkerAnswer::Outcome { outcome, .. } => outcome,
            other => panic!("{other:?}"),
        }
    }

    /// The answer of a tool that ran.
    async fn text(&mut self, name: &str, arguments: Value) -> String {
        match self.run(name, &arguments.to_string()).await {
            ToolOutcome::Executed { content, .. } => content,
            other => panic!("{name}: {other:?}"),
        }
    }
}

#[wasm_bindgen_test]
async fn calculate_runs() {
    assert_eq!(Talk::default().text("calculate", json!({"expression": "2^80"})).await, "1208925819614629174706176");
}

#[wasm_bindgen_test]
async fn the_deepest_expression_allowed_does_not_overflow_the_stack() {
    let deep = format!("{}1{}", "(".repeat(40), ")".repeat(40));
    assert_eq!(Talk::default().text("calculate", json!({"expression": deep})).await, "1");
    let sum = vec!["1"; 300].join("+");
    assert_eq!(Talk::default().text("calculate", json!({"expression": sum})).await, "300");
}

#[wasm_bindgen_test]
async fn now_says_the_page_s_time() {
    assert_eq!(Talk::default().text("now", json!({})).await, "2000-02-29T00:00:00Z (Tuesday, UTC)");
}

#[wasm_bindgen_test]
async fn files_are_read_from_blobs() {
    let mut talk = Talk::default();
    talk.put("docs/ü.md", "grüße\nzwei".as_bytes());
    assert_eq!(talk.text("read_file", json!({"path": "docs/ü.md"})).await, "grüße\nzwei\n");
    assert_eq!(talk.text("list_files", json!({})).await, "docs/ü.md  12 B");
}

#[wasm_bindgen_test]
async fn binary_blobs_are_refused() {
    let mut talk = Talk::default();
    talk.put("a.bin", &[0, 159, 146, 150]);
    let outcome = talk.run("read_file", r#"{"path": "a.bin"}"#).await;
    assert!(matches!(&outcome, ToolOutcome::Failed { message } if message.contains("binary")), "{outcome:?}");
}

#[wasm_bindgen_test]
async fn search_follows_changed_and_removed_blobs() {
    let mut talk = Talk::default();
    talk.put("a.md", b"the walrus");
    talk.put("b.html", b"<p>the <b>tusk</b></p>");
    assert!(talk.text("search_files", json!({"query": "tusks"})).await.starts_with("b.html:1  "));
    talk.put("a.md", b"the tusk of the walrus");
    talk.remove("b.html");
    let found = talk.text("search_files", json!({"query": "tusk"})).await;
    assert!(found.starts_with("a.md:1  ") && found.lines().count() == 1, "{found}");
}

#[wasm_bindgen_test]
async fn writes_come_back_as_blobs_and_are_not_there_before_the_page_says_so() {
    let mut talk = Talk::default();
    talk.text("write_file", json!({"path": "out/a.md", "content": "häl\nlo"})).await;
    let (path, blob) = talk.written.pop().unwrap();
    assert_eq!(path, "out/a.md");
    assert_eq!(JsFuture::from(blob.text()).await.unwrap(), JsValue::from_str("häl\nlo"));
    assert_eq!(talk.text("list_files", json!({})).await, "The workspace has no files.");
}

#[wasm_bindgen_test]
async fn kept_results_are_read_in_parts() {
    let mut talk = Talk::default();
    talk.put("results/call_1_1_0.txt", "äöü".as_bytes());
    let part = talk.text("read_result", json!({"handle": "call_1_1_0", "offset": 1, "length": 1})).await;
    assert_eq!(part, "ö\n[characters 1-2 of 3; continue with offset 2]");
}

#[wasm_bindgen_test]
async fn arguments_are_repaired_and_the_repair_is_told() {
    let outcome = Talk::default().run("calculate", "{expression: '6*7',}").await;
    let repaired_args = Some(json!({"expression": "6*7"}));
    assert_eq!(outcome, ToolOutcome::executed("42".into(), repaired_args));
}

#[wasm_bindgen_test]
async fn arguments_that_fail_the_schema_name_the_path() {
    let outcome = Talk::default().run("read_file", r#"{"path": "a", "limit": "5"}"#).await;
    let ToolOutcome::Rejected { slug: Slug::InvalidArguments, path, .. } = outcome else { panic!("{outcome:?}") };
    assert_eq!(path.as_deref(), Some("/limit"));
    let outcome = Talk::default().run("read_file", r#"{"path": "a"#).await;
    assert!(matches!(outcome, ToolOutcome::Rejected { slug: Slug::MalformedToolCall, .. }), "{outcome:?}");
}

#[wasm_bindgen_test]
async fn a_schema_is_sent_once_and_known_from_then_on() {
    let mut talk = Talk::default();
    let define = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
    let check = |arguments: &str, define| WorkerCall::Check {
        name: "host_tool".into(),
        arguments: arguments.into(),
        schema: SchemaRef { id: 3, define },
    };
    let first = talk.ask(check(r#"{"n": 1}"#, Some(define))).await;
    assert!(
        matches!(&first, WorkerAnswer::Checked(CheckedArguments::Valid(a)) if a.repaired == Repaired::No),
        "{first:?}"
    );
    let second = talk.ask(check(r#"{"n": "1"}"#, None)).await;
    assert!(
        matches!(second, WorkerAnswer::Checked(CheckedArguments::Refused(ToolOutcome::Rejected { .. }))),
        "{second:?}"
    );
}

/// Returns what `check` answers for a value under `v`.
async fn held_against(schema: &Value, value: &Value) -> CheckedArguments {
    let define = Some(json!({"properties": {"v": schema}}));
    let arguments = json!({ "v": value }).to_string();
    let call = WorkerCall::Check { name: "host_tool".into(), arguments, schema: SchemaRef { id: 0, define } };
    match Talk::default().ask(call).await {
        WorkerAnswer::Checked(checked) => checked,
        other => panic!("{other:?}"),
    }
}

/// The official suite's tests of what is specific to ECMA-262 expressions.
#[wasm_bindgen_test]
async fn expressions_are_those_of_the_browser() {
    let suite = [
        include_str!("fixtures/json-schema/optional/ecmascript-regex.json"),
        include_str!("fixtures/json-schema/optional/non-bmp-regex.json"),
        include_str!("fixtures/json-schema/pattern.json"),
        include_str!("fixtures/json-schema/patternProperties.json"),
    ];
    let mut wrong = Vec::new();
    let mut ran = 0;
    for group in suite.iter().flat_map(|text| serde_json::from_str::<Vec<Value>>(text).unwrap()) {
        for case in group["tests"].as_array().unwrap() {
            ran += 1;
            let checked = held_against(&group["schema"], &case["data"]).await;
            let fits = match checked {
                CheckedArguments::Valid(_) => json!(true),
                CheckedArguments::Refused(ToolOutcome::Rejected { .. }) => json!(false),
                CheckedArguments::Refused(other) => json!(format!("{other:?}")),
            };
            if fits != case["valid"] {
                wrong.push(format!("{} / {}: {fits}", group["description"], case["description"]));
            }
        }
    }
    assert!(ran > 80 && wrong.is_empty(), "{ran} cases, wrong:\n{}", wrong.join("\n"));
}

#[wasm_bindgen_test]
async fn an_expression_that_is_none_fails_its_calls_only() {
    let checked = held_against(&json!({"pattern": "(?<open"}), &json!("x")).await;
    let CheckedArguments::Refused(ToolOutcome::Failed { message }) = &checked else { panic!("{checked:?}") };
    assert!(message.contains("`/properties/v`") && message.contains("(?<open"), "{message}");
    let checked = held_against(&json!({"pattern": r"^\p{Lu}(?<=\P{Ll})$"}), &json!("Ä")).await;
    assert!(matches!(checked, CheckedArguments::Valid(_)), "{checked:?}");
}

#[wasm_bindgen_test]
async fn endless_and_deep_schemas_do_not_overflow_the_stack() {
    let endless = json!({"anyOf": [{"not": {"oneOf": [{"$ref": "#/properties/v"}]}}]});
    let checked = held_against(&endless, &json!(1)).await;
    assert!(
        matches!(&checked, CheckedArguments::Refused(ToolOutcome::Failed { message }) if message.contains("schemas lead to schemas")),
        "{checked:?}"
    );
    let tree = json!({"anyOf": [{"type": "null"}, {"allOf": [{
        "properties": {"n": {"type": "array", "items": {"$ref": "#/properties/v"}}}, "unevaluatedProperties": false,
    }]}]});
    let deep = (0..25).fold(json!(null), |inner, _| json!({"n": [inner]}));
    let checked = held_against(&tree, &deep).await;
    assert!(matches!(checked, CheckedArguments::Valid(_)), "{checked:?}");
}

#[wasm_bindgen_test]
async fn every_schema_of_the_table_compiles_here() {
    let mut talk = Talk::default();
    for name in names() {
        let outcome = talk.run(name, r#"{"no_such_argument": 1}"#).await;
        assert!(matches!(outcome, ToolOutcome::Rejected { slug: Slug::InvalidArguments, .. }), "{name}: {outcome:?}");
    }
}

#[wasm_bindgen_test]
async fn markdown_becomes_nodes() {
    let markdown = "# T\n\n<script>x</script>".to_owned();
    let WorkerAnswer::Nodes(ChangedBlocks { nodes, .. }) =
        Talk::default().ask(WorkerCall::Render { markdown, growing: None }).await
    else {
        panic!()
    };
    let text = |text: &str| vec![Node::Text(text.into())];
    let expected = [Node::Heading { level: 1, children: text("T") }, Node::Paragraph(text("<script>x</script>"))];
    assert_eq!(nodes.read().unwrap(), expected);
}

#[wasm_bindgen_test]
async fn of_a_text_that_grows_only_the_changed_blocks_are_answered() {
    let mut talk = Talk::default();
    let mut blocks = async |text: &str, growing| {
        let WorkerAnswer::Nodes(blocks) = talk.ask(WorkerCall::Render { markdown: text.into(), growing }).await else {
            panic!()
        };
        (blocks.same, blocks.nodes.read().unwrap().len())
    };
    let part = |text, from, last| Some(GrowingPart { text, from, last });
    assert_eq!(blocks("one\n\ntwo", part(1, 0, false)).await, (0, 2));
    assert_eq!(blocks(" and three\n\nfour", part(1, 8, false)).await, (1, 2));
    assert_eq!(blocks("other", None).await, (0, 1));
    assert_eq!(blocks("", part(1, 24, true)).await, (3, 0));
    assert_eq!(blocks("one", part(2, 0, false)).await, (0, 1));
}

#[wasm_bindgen_test]
async fn hostile_markdown_does_not_overflow_the_stack() {
    let markdown = format!("{}deep {}", ">".repeat(10_000), "[".repeat(10_000));
    let WorkerAnswer::Nodes(ChangedBlocks { nodes, .. }) =
        Talk::default().ask(WorkerCall::Render { markdown, growing: None }).await
    else {
        panic!()
    };
    assert!(turnwise_content::markdown::plain_text(&nodes.read().unwrap()).contains("deep"));
}

#[wasm_bindgen_test]
async fn the_demo_model_answers_with_the_bytes_that_its_script_gives() {
    let request = DemoRequest {
        mode: DemoMode::Normal,
        seed: u64::MAX,
        request: RequestId(1),
        attempt: 1,
        attempts: 3,
        messages: vec![Message::system("You are an agent."), Message::user("What is 2 + 2? \"Ü\"")],
        tools: names().into_iter().filter_map(builtin).collect(),
        choice: ToolChoice::Auto,
    };
    let WorkerAnswer::Demo(scripted) = Talk::default().ask(WorkerCall::Demo(Box::new(request.clone()))).await else {
        panic!()
    };
    assert_eq!(scripted, turnwise_demo_model::script(&request));
}
