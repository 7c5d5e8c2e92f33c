//! Reports in a real browser: JSON trees and Slack previews of hostile content stay text, and are built as they are opened.
#![cfg(target_arch = "wasm32")]
#![allow(clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::unwrap_used)]

use std::sync::Arc;

use leptos::IntoView;
use serde_json::{Value, json};
use turnwise_content::json::JsonNode;
use turnwise_content::slack::messages;
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::JsFuture;
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};
use web_sys::{Document, Element, HtmlElement};

wasm_bindgen_test_configure!(run_in_browser);

const HOSTILE: &str = "<img src=x onerror=\"window.pwned=1\"><script>window.pwned=1</script>";

fn document() -> Document {
    web_sys::window().unwrap().document().unwrap()
}

fn all(root: &Element, selector: &str) -> Vec<Element> {
    let list = root.query_selector_all(selector).unwrap();
    (0..list.length()).map(|place| list.get(place).unwrap().unchecked_into()).collect()
}

fn click(element: &Element) {
    element.dyn_ref::<HtmlElement>().unwrap().click();
}

async fn pause(ms: i32) {
    let promise = js_sys::Promise::new(&mut |resolve, _| {
        web_sys::window().unwrap().set_timeout_with_callback_and_timeout_and_arguments_0(&resolve, ms).unwrap();
    });
    JsFuture::from(promise).await.unwrap();
}

/// Mounts a component in the page for as long as `look` inspects it.
async fn shown<V: IntoView + 'static>(make: impl FnOnce() -> V + 'static, look: impl AsyncFnOnce(&Element)) {
    let host: HtmlElement = document().create_element("div").unwrap().unchecked_into();
    document().body().unwrap().append_child(&host).unwrap();
    let mounted = leptos::mount::mount_to(host.clone(), make);
    pause(30).await;
    look(&host).await;
    assert!(js_sys::Reflect::get(&js_sys::global(), &"pwned".into()).unwrap().is_undefined());
    drop(mounted);
    host.remove();
}

fn assert_harmless(host: &Element) {
    let bad = "script, img, iframe, object, embed, style, link, video, audio, form, base, meta, input";
    assert!(all(host, bad).is_empty(), "{}", host.inner_html());
    for element in all(host, "*") {
        for name in element.get_attribute_names().iter().filter_map(|name| name.as_string()) {
            assert!(!name.starts_with("on") && name != "style" && name != "src", "{name}");
        }
    }
    for link in all(host, "[href]") {
        let href = link.get_attribute("href").unwrap();
        assert!(href.starts_with("https://") || href.starts_with("mailto:"), "{href}");
    }
}

fn tree(value: Value) -> impl IntoView {
    turnwise_ui::text::json::tree(JsonNode::root(Arc::new(value)))
}

#[wasm_bindgen_test]
async fn keys_and_strings_of_a_tree_are_text() {
    let value =
        json!({ HOSTILE: HOSTILE, "long": HOSTILE.repeat(9), "list": [HOSTILE], "link": "javascript:window.pwned=1" });
    shown(
        || tree(value),
        async |host| {
            for summary in all(host, "summary") {
                click(&summary);
            }
            pause(20).await;
            assert_harmless(host);
            assert!(all(host, "a").is_empty(), "nothing in a tree is a link");
            assert!(host.text_content().unwrap().contains(HOSTILE));
        },
    )
    .await;
}

#[wasm_bindgen_test]
async fn a_tree_is_built_as_it_is_opened_and_in_portions() {
    let mut deep = json!("bottom");
    for _ in 0..400 {
        deep = Value::Array(vec![deep]);
    }
    let value = json!({ "deep": deep, "many": (0..1_000).map(|n| json!({ "n": n })).collect::<Vec<_>>() });
    shown(
        || tree(value),
        async |host| {
            let before = all(host, "details").len();
            assert!(before < 10, "{before} levels stand open");
            let many = all(host, "summary").into_iter().find(|it| it.text_content().unwrap().contains("many")).unwrap();
            assert!(many.text_content().unwrap().contains("[ 1,000 items ]"));
            click(&many);
            pause(20).await;
            let level = many.parent_element().unwrap();
            let rows = || all(&level, ":scope > .level > details").len();
            assert_eq!(rows(), 200, "a portion");
            click(&all(host, "button.link")[0]);
            pause(20).await;
            assert_eq!(rows(), 400);
            for _ in 0..30 {
                let closed = all(host, "details")
                    .into_iter()
                    .find(|it| !it.has_attribute("open") && all(it, "details").is_empty());
                click(&all(&closed.unwrap(), "summary")[0]);
                pause(0).await;
            }
        },
    )
    .await;
}

#[wasm_bindgen_test]
async fn hostile_slack_messages_stay_words() {
    let plain = json!({ "type": "plain_text", "text": HOSTILE });
    let mrkdwn = |text: &str| json!({ "type": "mrkdwn", "text": text });
    let blocks = json!([
        { "type": "header", "text": plain },
        { "type": "section", "text": mrkdwn(HOSTILE), "fields": [mrkdwn("<javascript:window.pwned=1|click>"), mrkdwn("<JAVASCRIPT:1>")] },
        { "type": "section", "text": mrkdwn("<https://ok.example/x|fine> <data:text/html,x|no>"), "accessory": { "type": "button", "text": plain, "url": "javascript:window.pwned=1" } },
        { "type": "context", "elements": [{ "type": "image", "image_url": "javascript:1", "alt_text": HOSTILE }] },
        { "type": "image", "image_url": "https://evil.example/pixel.png", "alt_text": "\" onload=\"1" },
        { "type": "actions", "elements": [{ "type": "button", "text": plain, "action_id": HOSTILE }] },
        { "type": "rich_text", "elements": [{ "type": "rich_text_section", "elements": [{ "type": "link", "url": "javascript:1", "text": HOSTILE }] }] },
        { "type": HOSTILE, "html": HOSTILE },
        { "type": "markdown", "text": HOSTILE },
    ]);
    let read = messages(&json!([{ "text": HOSTILE, "blocks": blocks }])).unwrap();
    shown(
        move || turnwise_ui::text::slack::messages(&read, None),
        async |host| {
            assert_harmless(host);
            let links: Vec<String> = all(host, "a").iter().filter_map(|link| link.get_attribute("href")).collect();
            assert_eq!(
                links,
                ["https://ok.example/x", "https://evil.example/pixel.png"],
                "links are followed by hand only"
            );
            assert!(all(host, "button:not(.link)").is_empty(), "nothing to press");
            assert!(host.text_content().unwrap().contains("block of type <img"));
        },
    )
    .await;
}
