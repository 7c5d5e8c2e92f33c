//! The agent's worker at its own end of the connection, in a dedicated worker of a real browser: what a page posts, and
//! what it receives. The page's side, and both together, are in `tests/e2e/client*.test.mjs`.
#![cfg(target_arch = "wasm32")]
#![allow(clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::unwrap_used)]

use std::cell::RefCell;
use std::rc::Rc;

use js_sys::{Array, Function, JSON, Reflect, Uint8Array};
use serde_json::{Value, json};
use turnwise::embed::Port;
use turnwise_protocol::VERSION;
use wasm_bindgen::prelude::*;
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};

wasm_bindgen_test_configure!(run_in_dedicated_worker);

type Posts = Rc<RefCell<Vec<Vec<Value>>>>;
type Parts = Rc<RefCell<Vec<JsValue>>>;

/// A page: the messages that it received, and its answers to requests.
struct Page {
    port: Port,
    posts: Posts,
    parts: Parts,
    read: usize,
    _post: Closure<dyn FnMut(String, Array)>,
}

fn js(source: &str) -> JsValue {
    js_sys::eval(&format!("({source})")).expect("the test's own JavaScript is right")
}

impl Page {
    fn silent() -> Self {
        let (posts, parts) = (Posts::default(), Parts::default());
        let (told, beside) = (posts.clone(), parts.clone());
        let post = Closure::<dyn FnMut(String, Array)>::new(move |text: String, parts: Array| {
            told.borrow_mut().push(serde_json::from_str(&text).expect("a post is a list of messages"));
            beside.borrow_mut().extend(parts.iter());
        });
        let port = Port::new(post.as_ref().unchecked_ref::<Function>().clone(), String::new(), None);
        Page { port, posts, parts, read: 0, _post: post }
    }

    /// A page that has said hello.
    async fn new() -> Self {
        let mut page = Page::silent();
        page.say(
            &json!([{ "hello": { "protocol": VERSION, "page": "http://page.test/app/", "worker": "/worker.js" } }]),
        );
        assert_eq!(page.next("ready").await["protocol"], VERSION);
        page
    }

    fn say(&self, messages: &Value) {
        self.port.receive(&messages.to_string().into());
    }

    fn say_with(&self, messages: &Value, parts: &[JsValue]) {
        let mut post = Array::of1(&messages.to_string().into());
        post.extend(parts.iter().cloned());
        self.port.receive(&post);
    }

    fn told(&self) -> Vec<Value> {
        self.posts.borrow().iter().flatten().cloned().collect()
    }

    /// Returns the next message of this name.
    async fn next(&mut self, name: &str) -> Value {
        for _ in 0..500 {
            let told = self.told();
            while let Some(message) = told.get(self.read) {
                self.read += 1;
                if let Some(found) = message.get(name) {
                    return found.clone();
                }
            }
            turnwise::shell::pause(5).await;
        }
        panic!("no {name} in {:?}", self.told());
    }

    /// All events of a run, in order.
    fn events(&self, id: u32) -> Vec<Value> {
        let told = self.told();
        let of_run = told.iter().filter_map(|message| message.get("events")).filter(|events| events["id"] == id);
        of_run.flat_map(|events| events["events"].as_array().unwrap().clone()).collect()
    }

    fn open(&self, mut config: Value) {
        config["providers"] = json!([{ "kind": "openai", "base_url": "/v1", "model": "m" }]);
        config["seed"] = json!(3);
        self.say(&json!([{ "open": { "agent": 1, "options": { "config": config, "tools": [], "access": [{}] } } }]));
    }

    fn echo(&self) {
        let parameters =
            json!({ "type": "object", "properties": { "text": { "type": "string" } }, "required": ["text"] });
        let tool = json!({ "name": "echo", "description": "", "parameters": parameters });
        self.say(&json!([{ "tool": { "agent": 1, "tool": tool } }]));
    }

    fn run(&self, id: u32, approve: &str) {
        let how = json!({ "listens": true, "approve": approve });
        self.say(&json!([{ "run": { "id": id, "agent": 1, "task": "go", "how": how } }]));
    }

    /// The result of the request with this id: inline, or the next part.
    async fn done(&mut self, id: u32) -> Value {
        let done = self.next("done").await;
        assert_eq!(done["id"], id);
        match done.get("result") {
            Some(result) => result.clone(),
            None => {
                let bytes = self.parts.borrow_mut().remove(0).unchecked_into::<Uint8Array>().to_vec();
                serde_json::from_slice(&bytes).unwrap()
            }
        }
    }
}

/// Replaces `fetch` with a script: each request takes the next answer, whose chunks stream. The requests are recorded
/// in `sent`.
fn script(answers: &[&[Value]]) {
    let bodies: Vec<Vec<String>> = answers
        .iter()
        .map(|deltas| {
            let calls = deltas.iter().any(|delta| delta.get("tool_calls").is_some());
            let chunk = |delta: &Value, finish: Value| {
                format!("data: {}\n\n", json!({ "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }] }))
            };
            let mut body: Vec<String> = deltas.iter().map(|delta| chunk(delta, Value::Null)).collect();
            body.push(chunk(&json!({}), json!(if calls { "tool_calls" } else { "stop" })) + "data: [DONE]\n\n");
            body
        })
        .collect();
    Reflect::set(&js_sys::global(), &"bodies".into(), &JSON::parse(&json!(bodies).to_string()).unwrap()).unwrap();
    js("(() => { self.sent = []; self.fetch = async (template, init) => {
        self.sent.push({ url: template.url, body: JSON.parse(await new Response(init.body).text()) });
        const pieces = self.bodies.shift();
        if (!pieces) throw new TypeError('a request too many');
        const body = new ReadableStream({ start(c) { for (const p of pieces) c.enqueue(new TextEncoder().encode(p)); c.close(); } });
        return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
    }; })()");
}

fn sent() -> Value {
    serde_json::from_str(&js("JSON.stringify(self.sent)").as_string().unwrap()).unwrap()
}

fn text(text: &str) -> Value {
    json!({ "content": text })
}

fn call(arguments: &str) -> Value {
    json!({ "tool_calls": [{ "index": 0, "id": "c", "function": { "name": "echo", "arguments": arguments } }] })
}

#[wasm_bindgen_test]
async fn a_page_of_another_version_is_refused_by_both_numbers() {
    let mut page = Page::silent();
    page.say(&json!([{ "hello": { "protocol": VERSION + 1, "page": null, "worker": "/worker.js" } }]));
    let fatal = page.next("fatal").await["message"].as_str().unwrap().to_owned();
    assert!(
        fatal.contains(&format!("version {}", VERSION + 1)) && fatal.contains(&format!("version {VERSION}")),
        "{fatal}"
    );
    assert!(page.told().iter().all(|message| message.get("ready").is_none()));
}

#[wasm_bindgen_test]
async fn what_comes_before_hello_or_is_no_message_is_fatal() {
    let mut page = Page::silent();
    page.say(&json!([{ "stop": { "agent": 1 } }]));
    assert_eq!(page.next("fatal").await["message"], "the page must send its hello message first");
    page.say(&json!([{ "jump": {} }]));
    assert!(page.next("fatal").await["message"].as_str().unwrap().contains("cannot be read"));
}

#[wasm_bindgen_test]
async fn a_run_calls_the_pages_tool_and_ends_with_its_record() {
    script(&[&[call("{\"text\":\"hi\"}")], &[text("Done.")]]);
    let mut page = Page::new().await;
    page.open(json!({}));
    page.echo();
    page.run(7, "nobody");
    let asked = page.next("call").await;
    assert_eq!(asked["what"]["tool"], json!({ "name": "echo", "args": { "text": "hi" } }));
    page.say(&json!([{ "returned": { "call": asked["call"], "text": "hi!" } }]));
    let record = page.done(7).await;
    assert_eq!(record["output"], "Done.");
    assert_eq!(record["turns"][0]["tool_calls"][0]["result"], "hi!\n[Turn 1/15]");
    assert_eq!(record["config"]["seed"], 3);
    assert_eq!(sent()[0]["url"], "http://page.test/v1/chat/completions", "resolved against the page");
    assert_eq!(sent()[1]["body"]["messages"][3]["content"], "hi!\n[Turn 1/15]");
}

#[wasm_bindgen_test]
async fn events_come_in_order_and_streamed_text_once_a_frame() {
    let words: Vec<Value> = (0..200).map(|n| text(&format!("{n} "))).collect();
    script(&[&words]);
    let mut page = Page::new().await;
    page.open(json!({}));
    page.run(7, "nobody");
    let record = page.done(7).await;
    let events = page.events(7);
    let types: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(types.first(), Some(&"run_started"));
    assert_eq!(types[types.len() - 2..], ["final", "agent_finished"]);
    let streamed: Vec<&Value> = events.iter().filter(|event| event["type"] == "text_delta").collect();
    let said: String = streamed.iter().map(|event| event["text"].as_str().unwrap()).collect();
    assert_eq!(said.trim_end(), record["output"].as_str().unwrap().trim_end());
    assert!(streamed.len() < 20, "{} events for 200 chunks", streamed.len());
    assert!(events.iter().all(|event| event["turn"].is_u64() && event["callsLeft"].is_u64()), "{events:?}");
}

#[wasm_bindgen_test]
async fn nobody_who_does_not_listen_is_told_of_events() {
    script(&[&[text("Done.")]]);
    let mut page = Page::new().await;
    page.open(json!({}));
    let how = json!({ "listens": false, "approve": "nobody" });
    page.say(&json!([{ "run": { "id": 7, "agent": 1, "task": "go", "how": how } }]));
    assert_eq!(page.done(7).await["output"], "Done.");
    assert!(page.events(7).is_empty());
}

#[wasm_bindgen_test]
async fn options_lie_over_the_presets_and_null_switches_off() {
    script(&[&[text("Done.")]]);
    let mut page = Page::new().await;
    page.open(json!({ "preset": "orchestrator", "counter": { "urgent_at": 1 }, "synthesis": null, "limits": { "idle_ms": 9 } }));
    page.run(7, "nobody");
    let config = page.done(7).await["config"].clone();
    assert_eq!((&config["max_turns"], &config["counter"]["urgent_at"]), (&json!(10), &json!(1)));
    assert_eq!((&config["counter"]["moderate_at"], &config["synthesis"]), (&json!(5), &Value::Null));
    assert_eq!((&config["limits"]["idle_ms"], &config["limits"]["parallel_tools"]), (&json!(9), &json!(4)));
}

#[wasm_bindgen_test]
async fn a_cancelled_run_takes_its_question_back() {
    script(&[&[call("{\"text\":\"hi\"}")]]);
    let mut page = Page::new().await;
    page.open(json!({}));
    page.echo();
    page.run(7, "nobody");
    let asked = page.next("call").await;
    page.say(&json!([{ "cancel": { "agent": 1 } }]));
    assert_eq!(page.next("abort").await["call"], asked["call"]);
    assert_eq!(page.done(7).await["outcome"], "cancelled");
    page.say(&json!([{ "returned": { "call": asked["call"], "text": "too late" } }]));
}

#[wasm_bindgen_test]
async fn a_model_that_the_page_asks_is_read_like_a_server() {
    let mut page = Page::new().await;
    let config = json!({ "providers": [{ "kind": "custom", "model": "mine" }] });
    let options = json!({ "config": config, "tools": [], "access": [{ "inPage": true }] });
    page.say(&json!([{ "open": { "agent": 1, "options": options } }]));
    page.run(7, "nobody");
    let asked = page.next("call").await;
    assert_eq!(asked["what"]["complete"]["provider"], 0);
    let request = page.parts.borrow_mut().remove(0).unchecked_into::<Uint8Array>().to_vec();
    let request: Value = serde_json::from_slice(&request).unwrap();
    assert_eq!((&request["stream"], &request["messages"][1]["content"]), (&json!(true), &json!("go")));
    for delta in [json!({ "content": "From " }), json!({ "content": "here." })] {
        let chunk = json!({ "choices": [{ "delta": delta, "finish_reason": null }] }).to_string();
        page.say_with(&json!([{ "piece": { "call": asked["call"] } }]), &[Uint8Array::from(chunk.as_bytes()).into()]);
    }
    let end = json!({ "choices": [{ "delta": {}, "finish_reason": "stop" }] }).to_string();
    let end: JsValue = Uint8Array::from(end.as_bytes()).into();
    page.say_with(&json!([{ "piece": { "call": asked["call"] } }, { "returned": { "call": asked["call"] } }]), &[end]);
    let record = page.done(7).await;
    assert_eq!((&record["output"], &record["provider"]), (&json!("From here."), &json!("custom")));
}

#[wasm_bindgen_test]
async fn an_answer_of_a_server_that_the_page_asked_is_judged_as_one() {
    let mut page = Page::new().await;
    let config = json!({ "providers": [{ "kind": "custom" }], "max_attempts": 1 });
    let options = json!({ "config": config, "tools": [], "access": [{ "inPage": true }] });
    page.say(&json!([{ "open": { "agent": 1, "options": options } }]));
    page.run(7, "nobody");
    let asked = page.next("call").await;
    let head = json!({ "status": 401, "contentType": "application/json" });
    let body: JsValue = Uint8Array::from(&br#"{"error":{"message":"no such key"}}"#[..]).into();
    page.say_with(
        &json!([{ "head": { "call": asked["call"], "head": head } }, { "piece": { "call": asked["call"] } }, { "returned": { "call": asked["call"] } }]),
        &[body],
    );
    let record = page.done(7).await;
    assert_eq!(record["termination_reason"], "llm_error");
    assert_eq!(record["logs"][0]["slugs"][0], "auth_error");
}

#[wasm_bindgen_test]
async fn a_second_run_at_once_is_refused_and_a_freed_agent_is_unknown() {
    js(
        "(() => { self.fetch = (_, init) => new Promise((_, no) => init.signal.addEventListener('abort', () => no(init.signal.reason))); })()",
    );
    let mut page = Page::new().await;
    page.open(json!({}));
    page.run(7, "nobody");
    page.run(8, "nobody");
    let refused = page.next("refused").await;
    assert!(refused["id"] == 8 && refused["wrong"] == false, "{refused}");
    assert!(refused["message"].as_str().unwrap().contains("has a run under way"));
    page.say(&json!([{ "close": { "agent": 1 } }, { "cancel": { "agent": 1 } }]));
    page.run(9, "nobody");
    assert_eq!(page.next("refused").await["message"], "this agent was freed");
}

#[wasm_bindgen_test]
async fn files_of_the_page_are_not_told_back_to_it() {
    let mut page = Page::new().await;
    page.open(json!({}));
    let blob = js("new Blob(['text'])");
    let files = json!([{ "path": "a.md", "there": true }, { "path": "b.md", "there": false }]);
    page.say_with(&json!([{ "files": { "agent": 1, "files": files } }]), &[blob]);
    script(&[&[text("Done.")]]);
    page.run(7, "nobody");
    page.done(7).await;
    assert!(page.told().iter().all(|message| message.get("wrote").is_none()));
}
