//! The page in a real browser: hostile text stays text, the meter, the empty page, the keyboard, a first turn.
#![cfg(target_arch = "wasm32")]
#![allow(clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::unwrap_used)]

use std::cell::Cell;
use std::rc::Rc;

use js_sys::{Array, Function};
use turnwise::run_manager::RunManager;
use turnwise::shell::{ApprovalRequest, Code, Page, PageOutput, PendingRequest};
use turnwise_content::markdown::{Align, Class, CodeSpan, ListItem, MarkdownTable, Node, parse};
use turnwise_engine::{CounterLevel, ProgramAnswer};
use turnwise_protocol::CallNumber;
use turnwise_view::{Meter, Tick, TickKind, TickState};
use wasm_bindgen::prelude::*;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::{JsFuture, spawn_local};
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};
use web_sys::{Document, Element, HtmlElement, HtmlTextAreaElement, KeyboardEvent, KeyboardEventInit};

wasm_bindgen_test_configure!(run_in_browser);

fn document() -> Document {
    web_sys::window().unwrap().document().unwrap()
}

/// Renders blocks in an element of the page, so that a browser would act on them if it could.
fn rendered(blocks: &[Node]) -> Element {
    let host = document().create_element("div").unwrap();
    document().body().unwrap().append_child(&host).unwrap();
    for block in blocks {
        host.append_child(&turnwise_ui::text::markdown::block(block)).unwrap();
    }
    host
}

fn all(root: &Element, selector: &str) -> Vec<Element> {
    let list = root.query_selector_all(selector).unwrap();
    (0..list.length()).map(|place| list.get(place).unwrap().unchecked_into()).collect()
}

fn names_of_attributes(element: &Element) -> Vec<String> {
    element.get_attribute_names().iter().filter_map(|name| name.as_string()).collect()
}

/// Checks that nothing runs or loads, and that there is no attribute but the few listed here.
fn assert_harmless(host: &Element, given: &str) {
    let bad = "script, img, iframe, object, embed, style, link, svg, math, video, audio, form, base, meta";
    assert!(all(host, bad).is_empty(), "{given} made {}", host.inner_html());
    let known = "href rel target title class start tabindex type data-file data-lang data-copy-code dir \
                 data-note data-note-mark data-note-back aria-label";
    let known: Vec<&str> = known.split(' ').collect();
    for element in all(host, "*") {
        for name in names_of_attributes(&element) {
            assert!(known.contains(&name.as_str()), "{given} made the attribute {name}");
        }
        if let Some(href) = element.get_attribute("href") {
            let href = href.to_ascii_lowercase();
            assert!(["http:", "https:", "mailto:"].iter().any(|scheme| href.starts_with(scheme)), "{given}: {href}");
        }
    }
}

async fn pause(ms: i32) {
    let promise = js_sys::Promise::new(&mut |resolve, _| {
        web_sys::window().unwrap().set_timeout_with_callback_and_timeout_and_arguments_0(&resolve, ms).unwrap();
    });
    JsFuture::from(promise).await.unwrap();
}

/// A page that must not be asked for anything.
struct Nobody;

impl Page for Nobody {
    fn tool(&self, _: &str, _: &str) -> PendingRequest {
        panic!("a tool was asked for")
    }

    fn approve(&self, _: ApprovalRequest<'_>) -> PendingRequest {
        panic!("a permission was asked for")
    }

    fn complete(&self, _: usize, _: &[u8], _: Box<dyn FnMut(PageOutput)>) -> PendingRequest {
        panic!("a model was asked for")
    }

    fn program(&self, _: Code<'_>, _: Box<dyn FnMut(PageOutput)>) -> PendingRequest {
        panic!("a program was asked for")
    }

    fn answer_program(&self, _: CallNumber, _: usize, _: &ProgramAnswer) {
        panic!("no program was asked for")
    }

    fn fetch(&self, _: &str, _: Box<dyn FnMut(PageOutput)>) -> PendingRequest {
        panic!("a page was asked for")
    }

    fn abort(&self, _: CallNumber) {
        panic!("nothing was asked for")
    }
}

/// Installs the app's run manager in this thread: this page has no worker file. News arrive later, as from a worker.
fn put_manager() {
    let open = Closure::<dyn Fn(Function) -> JsValue>::new(|hear: Function| {
        let manager = RunManager::open(Rc::new(Nobody), move |news, parts| {
            let (hear, text) = (hear.clone(), serde_json::to_string(&news).unwrap());
            spawn_local(async move {
                let parts: Array = parts.into_iter().collect();
                hear.call2(&JsValue::UNDEFINED, &text.into(), &parts).unwrap();
            });
        });
        let tell = Closure::<dyn Fn(String, Array)>::new(move |text: String, parts: Array| {
            manager.take(serde_json::from_str(&text).unwrap(), parts.to_vec());
        });
        tell.into_js_value()
    });
    let class = "globalThis.TurnwiseAppWorker = class { constructor(hear) { this.tell = open(hear); } }";
    Function::new_with_args("open", class).call1(&JsValue::UNDEFINED, &open.into_js_value()).unwrap();
}

/// The app on its start page, mounted once for all tests of this page.
async fn app() -> Element {
    thread_local!(static MOUNTED: Cell<bool> = const { Cell::new(false) });
    if !MOUNTED.replace(true) {
        put_manager();
        turnwise_ui::mount();
    }
    pause(50).await;
    document().active_element().unwrap().unchecked_into::<HtmlElement>().blur().unwrap();
    press(&web_sys::window().unwrap(), "n");
    pause(50).await;
    document().query_selector(".app").unwrap().expect("the app stands")
}

fn press(target: &web_sys::EventTarget, key: &str) {
    let init = KeyboardEventInit::new();
    init.set_key(key);
    init.set_bubbles(true);
    init.set_cancelable(true);
    let event = KeyboardEvent::new_with_keyboard_event_init_dict("keydown", &init).unwrap();
    target.dispatch_event(&event).unwrap();
}

fn click(element: &Element) {
    element.dyn_ref::<HtmlElement>().unwrap().click();
}

fn focused() -> String {
    document().active_element().map(|element| element.id()).unwrap_or_default()
}

#[wasm_bindgen_test]
fn hostile_markdown_makes_no_element_that_runs_or_loads_anything() {
    let hostile = [
        "<script>window.pwned = 1</script>",
        "<img src=x onerror=\"window.pwned = 1\">",
        "![tracking](https://evil.example/pixel.png)",
        "[click](javascript:window.pwned=1)",
        "[click](JaVaScRiPt:window.pwned=1)",
        "[click](data:text/html,<script>window.pwned=1</script>)",
        "<a href=\"#\" onclick=\"window.pwned = 1\">x</a>",
        "<svg/onload=window.pwned=1>",
        "`<script>` and **<iframe src=//evil.example>**",
        "| <img src=x onerror=1> |\n|---|\n| [x](vbscript:1) |",
        "```html\n<script>window.pwned = 1</script>\n```",
        "[x](https://ok.example \"\\\" onmouseover=\\\"window.pwned=1\")",
        "<style>*{display:none}</style>",
        "&lt;script&gt;window.pwned=1&lt;/script&gt;",
        "x[^\"><script>]\n\n[^\"><script>]: <img src=x onerror=\"window.pwned = 1\">",
    ];
    for text in hostile {
        let host = rendered(&parse(text));
        assert_harmless(&host, text);
        host.remove();
    }
    assert!(js_sys::Reflect::get(&js_sys::global(), &"pwned".into()).unwrap().is_undefined());
}

#[wasm_bindgen_test]
fn nodes_no_parser_would_make_are_harmless_too() {
    let text = || vec![Node::Text("<b onclick=1>x</b>".into())];
    let nodes = [
        Node::Link { href: "javascript:window.pwned=1".into(), children: text() },
        Node::Image { alt: "\"><script>".into(), href: Some("javascript:1".into()) },
        Node::CodeBlock {
            lang: "\" onload=\"1".into(),
            spans: vec![CodeSpan { class: Class::Keyword, text: "<script>".into() }],
        },
        Node::List { start: Some(3), items: vec![ListItem { task: None, footnote: Some(u32::MAX), children: text() }] },
        Node::FootnoteMark(0),
        Node::Table(MarkdownTable { align: vec![Align::Right], head: vec![text()], rows: vec![vec![text(), text()]] }),
        Node::Heading { level: 255, children: text() },
    ];
    let host = rendered(&nodes);
    assert_harmless(&host, "hand-made nodes");
    assert!(host.text_content().unwrap().contains("<b onclick=1>x</b>"), "it shows as text");
    host.remove();
}

#[wasm_bindgen_test]
fn links_show_where_they_lead_and_tell_nobody_where_they_were() {
    let host = rendered(&parse(
        "Read [the guide](https://docs.example/a/b) or https://plain.example/x or [mail](mailto:a@b.example)",
    ));
    let links = all(&host, "a");
    for link in &links {
        assert_eq!(link.get_attribute("rel").as_deref(), Some("noopener noreferrer nofollow"));
        assert_eq!(link.get_attribute("target").as_deref(), Some("_blank"));
        assert_eq!(link.get_attribute("title"), link.get_attribute("href"));
    }
    assert!(host.text_content().unwrap().contains("the guide (docs.example)"));
    assert!(host.text_content().unwrap().contains("mail (a@b.example)"));
    host.remove();
}

#[wasm_bindgen_test]
fn a_relative_link_names_a_file_and_goes_nowhere() {
    let host = rendered(&parse("See [caching](docs/v3/caching.md#rules)."));
    assert!(all(&host, "a").is_empty());
    let file = all(&host, "[data-file]").pop().expect("a file link");
    assert_eq!(file.get_attribute("data-file").as_deref(), Some("docs/v3/caching.md#rules"));
    assert!(host.text_content().unwrap().contains("caching (docs/v3/caching.md#rules)"));
    host.remove();
}

#[wasm_bindgen_test]
fn images_are_placeholders_with_their_words() {
    let host = rendered(&parse("![a chart of costs](https://evil.example/p.png)"));
    assert!(host.text_content().unwrap().contains("image, not loaded: a chart of costs"));
    assert!(all(&host, "img").is_empty());
    host.remove();
}

#[wasm_bindgen_test]
async fn the_meter_draws_a_tick_a_turn_and_says_what_it_shows() {
    let tick = |kind, state| Tick { kind, state };
    let view = Meter {
        ticks: vec![
            tick(TickKind::Turn(CounterLevel::Normal), TickState::Used),
            tick(TickKind::Turn(CounterLevel::Moderate), TickState::Failed),
            tick(TickKind::Turn(CounterLevel::Urgent), TickState::Live),
            tick(TickKind::Synthesis, TickState::Ahead),
        ],
        label: "Turn 3 of 3".into(),
    };
    let host: HtmlElement = document().create_element("div").unwrap().unchecked_into();
    document().body().unwrap().append_child(&host).unwrap();
    let mounted = leptos::mount::mount_to(host.clone(), move || turnwise_ui::run_facts::meter::meter(&view));
    let drawn: Vec<String> = all(&host, "i")
        .iter()
        .map(|tick| {
            [tick.get_attribute("data-level"), tick.get_attribute("data-state")]
                .map(Option::unwrap_or_default)
                .join(" ")
        })
        .collect();
    assert_eq!(drawn, ["normal used", "moderate failed", "urgent live", "synthesis ahead"]);
    let meter = host.query_selector("[role=img]").unwrap().expect("a meter");
    assert_eq!(meter.get_attribute("aria-label").as_deref(), Some("Turn 3 of 3"));
    drop(mounted);
    host.remove();
}

#[wasm_bindgen_test]
async fn the_empty_page_teaches_with_its_examples() {
    let app = app().await;
    assert!(all(&app, ".example").len() >= turnwise_view::tasks::EXAMPLES.len());
    assert_eq!(all(&app, ".hello h1").len(), 1);
    assert!(all(&app, ".turn").is_empty());
    let panel = app.query_selector(".panel").unwrap().unwrap().text_content().unwrap();
    assert!(panel.contains("at most 48") && panel.contains("Demo (no AI)"), "{panel}");
}

#[wasm_bindgen_test]
async fn slash_goes_to_the_task_box_and_letters_typed_there_stay_letters() {
    let app = app().await;
    let window = web_sys::window().unwrap();
    document().active_element().unwrap().unchecked_into::<HtmlElement>().blur().unwrap();
    press(&window, "/");
    assert_eq!(focused(), "task");
    let task: HtmlTextAreaElement = app.query_selector("#task").unwrap().unwrap().unchecked_into();
    press(&task, "n");
    assert_eq!(focused(), "task", "N while typing is a letter");
    press(&task, "Enter");
    pause(20).await;
    assert!(all(&app, ".turn").is_empty(), "nothing to run");
}

#[wasm_bindgen_test]
async fn settings_open_as_a_modal_dialog_and_name_what_is_wrong() {
    let app = app().await;
    let buttons = all(&app, ".rail .foot .btn");
    let is_settings = |button: &&Element| button.text_content().is_some_and(|text| text.contains("Settings"));
    click(buttons.iter().find(is_settings).expect("the settings"));
    pause(30).await;
    let dialog = app.query_selector("dialog.settings").unwrap().unwrap();
    assert!(dialog.has_attribute("open"));
    let turns: web_sys::HtmlInputElement =
        dialog.query_selector("#setting-max_turns").unwrap().unwrap().unchecked_into();
    let type_in = |value: &str| {
        turns.set_value(value);
        turns.dispatch_event(&web_sys::Event::new("input").unwrap()).unwrap();
    };
    type_in("0");
    pause(30).await;
    assert_eq!(turns.get_attribute("aria-invalid").as_deref(), Some("true"));
    let wrong = dialog.query_selector("#setting-max_turns-wrong").unwrap().expect("an error");
    assert_eq!(wrong.text_content().as_deref(), Some("A whole number, 1 to 1000."));
    type_in("15");
    pause(30).await;
    assert_eq!(turns.get_attribute("aria-invalid").as_deref(), Some("false"));
    click(&dialog.query_selector("[aria-label=Close]").unwrap().unwrap());
    pause(30).await;
    assert!(!dialog.has_attribute("open"));
}

/// This page has no worker file, so the demo model cannot answer: the app says so, and lists the run that was begun.
/// End-to-end tests cover runs that are answered.
#[wasm_bindgen_test]
async fn an_example_starts_at_once_is_listed_and_says_why_it_ended() {
    let app = app().await;
    click(&all(&app, ".example")[2]);
    for _ in 0..200 {
        if app.query_selector(".panel .ends").unwrap().is_some() {
            break;
        }
        pause(50).await;
    }
    let ends = app.query_selector(".panel .ends").unwrap().expect("the ending fields").text_content().unwrap();
    assert!(ends.contains("llm_error"), "{ends}");
    assert_eq!(all(&app, ".run").len(), 1);
    let margin = app.query_selector(".turn .n").unwrap().unwrap().text_content().unwrap();
    assert_eq!(margin, "1/15");
    let text = app.text_content().unwrap();
    assert!(text.contains("the worker could not be started"), "{text}");
}
