//! The JavaScript API in a page: options, events, files, runs against a scripted `fetch`. More of it, over real HTTP and
//! with real workers, is in `tests/e2e/node_api.test.mjs`.
#![cfg(all(target_arch = "wasm32", feature = "sdk"))]
#![allow(clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::unwrap_used)]

use js_sys::{Array, JSON, Promise, Reflect};
use turnwise::embed::{Agent, export_trajectory, import_trajectory, replay_trajectory};
use turnwise::worker::documents;
use turnwise::worker::protocol::DocumentTask;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};

wasm_bindgen_test_configure!(run_in_browser);

fn js(source: &str) -> JsValue {
    js_sys::eval(&format!("({source})")).expect("the test's own JavaScript is right")
}

fn get(value: &JsValue, path: &str) -> JsValue {
    path.split('.').fold(value.clone(), |value, key| Reflect::get(&value, &key.into()).unwrap())
}

fn text(value: &JsValue, path: &str) -> String {
    get(value, path).as_string().unwrap_or_else(|| format!("{path} is {:?}", get(value, path)))
}

async fn done(promise: Promise) -> Result<JsValue, JsValue> {
    JsFuture::from(promise).await
}

fn message(error: &JsValue) -> String {
    text(error, "message")
}

/// Puts a script in the place of `fetch`: each request takes the next answer. What was sent is in `window.sent`.
fn script(answers: &[&str]) {
    let chunk = |delta: &str, finish: &str| {
        format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{delta},\"finish_reason\":{finish}}}]}}\n\n")
    };
    let bodies = answers.iter().map(|answer| match answer.strip_prefix("call:") {
        Some(arguments) => {
            let arguments = JSON::stringify(&arguments.into()).unwrap().as_string().unwrap();
            let call = format!(
                "{{\"tool_calls\":[{{\"index\":0,\"id\":\"c\",\"function\":{{\"name\":\"echo\",\"arguments\":{arguments}}}}}]}}"
            );
            chunk(&call, "\"tool_calls\"") + "data: [DONE]\n\n"
        }
        None => chunk(&format!("{{\"content\":\"{answer}\"}}"), "\"stop\"") + "data: [DONE]\n\n",
    });
    Reflect::set(&js_sys::global(), &"bodies".into(), &bodies.map(JsValue::from).collect::<Array>()).unwrap();
    js("(() => { window.sent = []; window.fetch = async (template, init) => {
        const text = await new Response(init.body).text();
        window.sent.push({ url: template.url, key: template.headers.get('authorization'), body: JSON.parse(text) });
        const answer = window.bodies.shift();
        if (answer === undefined) throw new TypeError('a request too many');
        return new Response(answer, { headers: { 'content-type': 'text/event-stream' } });
    }; })()");
}

fn sent() -> Vec<JsValue> {
    assert_eq!(get(&js_sys::global(), "bodies.length"), 0, "the script has answers that nobody asked for");
    Array::from(&get(&js_sys::global(), "sent")).iter().collect()
}

fn agent(more: &str) -> Agent {
    let options =
        format!("{{ provider: {{ kind: 'openai', baseUrl: '/v1', model: 'm' }}, tools: [], seed: 3, {more} }}");
    Agent::new(&js(&options)).unwrap()
}

const ECHO: &str = "{ name: 'echo', description: '', execute: ({ text }) => text + '!',
    parameters: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } }";

#[wasm_bindgen_test]
fn wrong_options_are_named_with_what_they_got_and_what_they_take() {
    let cases = [
        ("{ maxTurns: '15' }", "options.maxTurns: got \"15\"; it takes a whole number, 1 or more"),
        ("{ maxTurns: 1.5 }", "options.maxTurns: got 1.5; it takes a whole number, 1 or more"),
        ("{ temperature: NaN }", "options.temperature: got a number that is not finite; it takes a number, 0 or more"),
        ("{ system: null }", "options.system: got null; it takes a string"),
        (
            "{ counter: { templates: { urgent: [] } } }",
            "options.counter.templates.urgent: got an array; it takes a string",
        ),
        (
            "{ counter: { modrateAt: 4 } }",
            "options.counter.modrateAt: unknown option; options.counter takes moderateAt, urgentAt, templates",
        ),
        ("{ synthesis: 'no' }", "options.synthesis: got \"no\"; it takes an object or false"),
        ("{ limits: { children: -1 } }", "options.limits.children: got -1; it takes a whole number, 0 or more"),
        ("{ report: { format: 'text' } }", "options.report: got an object; it takes nothing: only the 'strict' preset"),
        ("{ preset: 'loose' }", "options.preset: got \"loose\"; it takes "),
        ("{ provider: {} }", "options.provider.kind: missing; it takes 'demo' or 'openai'"),
        ("{ provider: { kind: 'openai', apiKey: {} } }", "options.provider.apiKey: got an object; it takes a string"),
        (
            "{ provider: { kind: 'openai', baseUrl: 'http://' } }",
            "options.provider.baseUrl: got \"http://\"; it takes an address such as 'https://api.example.com/v1' or '/v1'",
        ),
        ("{ tools: 'all' }", "options.tools: got \"all\"; it takes an array of "),
        ("{ seed: -1 }", "options.seed: got -1; it takes a whole number, 0 or more"),
        ("[]", "options: got an array; it takes an object"),
    ];
    for (options, expected) in cases {
        let error = Agent::new(&js(options)).expect_err(options);
        assert!(error.is_instance_of::<js_sys::TypeError>(), "{options}");
        assert!(message(&error).starts_with(expected), "{options}: {}", message(&error));
    }
}

#[wasm_bindgen_test]
fn every_option_can_be_given() {
    let all = "{ preset: 'orchestrator', provider: [{ kind: 'demo', demo: 'endless' }, { kind: 'openai', baseUrl: 'v1', model: 'm',
        apiKey: 'k', headers: { a: 'b' }, maxOutputTokens: 5 }], system: 's', temperature: 0.5, maxTurns: 3, maxAttempts: 2,
        counter: { moderateAt: 2, urgentAt: 1, templates: { normal: 'n', moderate: 'm', urgent: 'u' } },
        synthesis: { role: 'user', numbered: true, prompt: 'p', onError: 'message', attempts: 2 }, tools: ['calculate'],
        limits: { toolTimeoutMs: 1, parallelTools: 1, toolCallsPerTurn: 1, maxResultChars: 1, headersMs: 1,
            firstTokenMs: 1, requestMs: 1, idleMs: 1 },
        retry: { baseMs: 0, capMs: 0, retryAfterCapMs: 0 }, seed: 7, workerUrl: new URL('w.js', location.href) }";
    assert!(Agent::new(&js(all)).is_ok());
    assert!(Agent::new(&js("{ counter: false, synthesis: false }")).is_ok());
    assert!(Agent::new(&JsValue::UNDEFINED).is_ok());
}

#[wasm_bindgen_test]
async fn a_run_resolves_with_a_plain_trajectory_that_replays() {
    script(&["call:{\"text\":\"hi\"}", "Done."]);
    let agent = agent("");
    agent.register_tool(&js(ECHO)).unwrap();
    let trajectory = done(agent.run(&"go".into(), &JsValue::UNDEFINED)).await.unwrap();
    assert_eq!(text(&trajectory, "output"), "Done.");
    assert_eq!(text(&trajectory, "termination_reason"), "llm_complete");
    assert_eq!(text(&trajectory, "turns.0.tool_calls.0.result"), "hi!\n[Turn 1/15]");
    assert_eq!(get(&trajectory, "config.seed"), 3);
    let id = text(&trajectory, "run_id");
    assert!(id.len() == 26 && id.starts_with("run_2") && id.is_char_boundary(19), "{id}");
    let exported = done(export_trajectory(&trajectory, &"native".into())).await.unwrap().as_string().unwrap();
    assert_eq!(JSON::stringify(&JSON::parse(&exported).unwrap()).unwrap(), JSON::stringify(&trajectory).unwrap());
    // What the package's worker answers; there is none beside these tests.
    assert_eq!(documents::answer(DocumentTask::Replay, &exported).unwrap(), "{\"ok\":true}");

    let sent = sent();
    assert_eq!(sent.len(), 2);
    assert_eq!(get(&sent[0], "key"), JsValue::NULL, "no key was set");
    assert!(text(&sent[0], "url").ends_with("/v1/chat/completions") && text(&sent[0], "url").starts_with("http"));
    assert_eq!(text(&sent[1], "body.messages.3.content"), "hi!\n[Turn 1/15]");
}

#[wasm_bindgen_test]
async fn events_come_in_order_and_each_says_turn_and_calls_left() {
    script(&["call:{\"text\":\"hi\"}", "Done."]);
    let agent = agent("");
    agent.register_tool(&js(ECHO)).unwrap();
    let options = js("{ onEvent: (event) => { (window.seen ??= []).push(event); } }");
    done(agent.run(&"go".into(), &options)).await.unwrap();
    let seen = Array::from(&get(&js_sys::global(), "seen"));
    let types: Vec<String> = seen.iter().map(|event| text(&event, "type")).collect();
    assert_eq!(types.first().map(String::as_str), Some("run_started"));
    assert_eq!(types[types.len() - 2..], ["final", "agent_finished"]);
    let at = |name: &str| types.iter().position(|other| other == name).unwrap_or_else(|| panic!("no {name}"));
    assert!(at("turn_started") < at("attempt_started") && at("attempt_started") < at("tool_started"));
    assert!(at("tool_started") < at("tool_finished") && at("tool_finished") < at("text_delta"));
    for event in seen.iter() {
        assert!(get(&event, "turn").as_f64().is_some() && get(&event, "callsLeft").as_f64().is_some());
    }
    let started = seen.get(0);
    assert_eq!(text(&started, "task"), "go");
    assert_eq!(get(&started, "maxTurns"), 15);
    let finished = seen.get(at("tool_finished") as u32);
    assert_eq!(text(&finished, "call.args.text"), "hi");
}

#[wasm_bindgen_test]
async fn a_listener_that_throws_does_not_stop_the_run() {
    script(&["Done."]);
    let options = js("{ onEvent: () => { throw new Error('mine'); } }");
    let trajectory = done(agent("").run(&"go".into(), &options)).await.unwrap();
    assert_eq!(text(&trajectory, "outcome"), "success");
}

#[wasm_bindgen_test]
async fn the_next_run_may_start_inside_the_last_event() {
    script(&["One.", "Two."]);
    let agent = std::rc::Rc::new(agent(""));
    let (again, second) = (agent.clone(), std::rc::Rc::new(std::cell::RefCell::new(None)));
    let kept = second.clone();
    let on_event = Closure::<dyn FnMut(JsValue)>::new(move |event: JsValue| {
        if text(&event, "type") == "agent_finished" && kept.borrow().is_none() {
            *kept.borrow_mut() = Some(again.run(&"more".into(), &JsValue::UNDEFINED));
        }
    });
    let options = js("{}");
    Reflect::set(&options, &"onEvent".into(), on_event.as_ref()).unwrap();
    let first = done(agent.run(&"go".into(), &options)).await.unwrap();
    assert_eq!(text(&first, "output"), "One.");
    let promise = second.borrow_mut().take().unwrap();
    assert_eq!(text(&done(promise).await.unwrap(), "output"), "Two.");
}

#[wasm_bindgen_test]
async fn a_second_run_at_once_is_refused_and_cancel_resolves_the_first() {
    js("(() => { window.fetch = (template, init) => new Promise((_, reject) => {
        init.signal.addEventListener('abort', () => { window.abortedWith = init.signal.reason.name; reject(init.signal.reason); });
    }); })()");
    let agent = agent("");
    let first = agent.run(&"go".into(), &JsValue::UNDEFINED);
    let refused = done(agent.run(&"go".into(), &JsValue::UNDEFINED)).await.unwrap_err();
    assert!(message(&refused).contains("has a run under way"), "{}", message(&refused));
    agent.cancel();
    let trajectory = done(first).await.unwrap();
    assert_eq!(text(&trajectory, "outcome"), "cancelled");
    assert_eq!(text(&js_sys::global(), "abortedWith"), "AbortError");
}

#[wasm_bindgen_test]
async fn an_aborted_signal_cancels() {
    script(&["never read"]);
    let options = js("{ signal: AbortSignal.abort() }");
    let trajectory = done(agent("").run(&"go".into(), &options)).await.unwrap();
    assert_eq!(text(&trajectory, "termination_reason"), "cancelled");
}

#[wasm_bindgen_test]
async fn a_failed_fetch_names_what_to_try() {
    js("(() => { console.warn = console.error = () => {}; window.knocks = []; window.fetch = async (request, init) => {
        if (init.mode !== 'no-cors') throw new TypeError('Failed to fetch');
        window.knocks.push(`${init.method ?? request.method} ${request.url} ${init.credentials} ${init.body}`);
        return new Response('');
    }; })()");
    let told = async |base: &str| {
        let provider = format!("{{ kind: 'openai', baseUrl: '{base}', model: 'm', apiKey: 'k' }}");
        let options = format!("{{ provider: {provider}, tools: [], maxAttempts: 1 }}");
        let agent = Agent::new(&js(&options)).unwrap();
        let trajectory = done(agent.run(&"go".into(), &JsValue::UNDEFINED)).await.unwrap();
        assert_eq!(text(&trajectory, "termination_reason"), "llm_error");
        assert_eq!(text(&trajectory, "logs.0.slugs.0"), "network_error");
        text(&trajectory, "logs.0.message")
    };
    let own = told("/v1").await;
    assert!(own.contains("the server of this page, gave no answer"), "{own}");
    let other = told("http://127.0.0.1:9/v1").await;
    assert!(other.contains("(CORS)"), "{other}");
    let knocks: Array = get(&js_sys::global(), "knocks").unchecked_into();
    assert_eq!(knocks.join(" "), "GET http://127.0.0.1:9/v1 omit undefined", "one, and not at the page's own server");
}

#[wasm_bindgen_test]
async fn files_are_put_listed_read_and_removed() {
    let agent = Agent::new(&JsValue::UNDEFINED).unwrap();
    let files = agent.files();
    assert_eq!(files.put("b/./c.md", &"text".into()).unwrap(), "b/c.md");
    files.put("a.bin", &js("new Blob(['x'])")).unwrap();
    assert_eq!(files.list().join(" "), "a.bin b/c.md");
    let blob = files.get("b/c.md").unwrap();
    assert_eq!(JsFuture::from(blob.text()).await.unwrap(), "text");
    files.remove("a.bin");
    assert!(files.get("a.bin").is_none());
    assert!(files.put("../up", &"x".into()).unwrap_err().is_instance_of::<js_sys::TypeError>());
    assert!(message(&files.put("a", &5.into()).unwrap_err()).contains("got 5; it takes a text or a Blob"));
}

#[wasm_bindgen_test]
fn wrong_tools_are_refused() {
    let agent = Agent::new(&JsValue::UNDEFINED).unwrap();
    let cases = [
        ("{ name: 'no spaces', execute() {} }", "tool.name: got \"no spaces\""),
        ("{ execute() {} }", "tool.name: missing"),
        ("{ name: 'x' }", "tool.execute: missing; it takes a function"),
        (
            "{ name: 'x', execute() {}, parameters: { type: 'array' } }",
            "tool.parameters: got an object; it takes a JSON Schema with type: 'object'",
        ),
        ("{ name: 'x', execute() {}, sideEffect: 'much' }", "tool.sideEffect: got \"much\""),
        ("{ name: 'x', run() {} }", "tool.run: unknown option"),
    ];
    for (tool, expected) in cases {
        let error = agent.register_tool(&js(tool)).expect_err(tool);
        assert!(message(&error).starts_with(expected), "{tool}: {}", message(&error));
    }
}

#[wasm_bindgen_test]
async fn what_is_no_trajectory_is_refused() {
    for value in ["5", "{}", "{ format: 'turnwise-trajectory', version: 99 }"] {
        let error = done(export_trajectory(&js(value), &"native".into())).await.unwrap_err();
        assert!(error.is_instance_of::<js_sys::TypeError>(), "{value}");
        let text = JSON::stringify(&js(value)).unwrap().as_string().unwrap();
        assert!(documents::answer(DocumentTask::Replay, &text).is_err(), "{value}");
    }
    let error = done(replay_trajectory(&js("5"))).await.unwrap_err();
    assert_eq!(message(&error), "trajectory: got 5; it takes a trajectory");
    let error = done(export_trajectory(&js("{}"), &"xml".into())).await.unwrap_err();
    assert!(message(&error).starts_with("format: got \"xml\"; it takes 'native', 'atif', "), "{}", message(&error));
    let error = done(import_trajectory(&js("5"))).await.unwrap_err();
    assert!(message(&error).starts_with("text: got 5; it takes the text of a trajectory"), "{}", message(&error));
}
