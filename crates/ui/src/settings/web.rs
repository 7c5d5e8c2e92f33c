//! What runs may ask of the web: a search service, reading of pages, a relay, rules for hosts; each with a way to try it.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use serde_json::{Value, json};
use wasm_bindgen_futures::spawn_local;

use turnwise_content::format::{counted, one_line};
use turnwise_engine::hidden::visible;
use turnwise_engine::own_tools::{FETCH_URL, SEARCH_WEB};
use turnwise_view::provider::Need;
use turnwise_view::services::{SearchCard, Trial};
use turnwise_view::settings::Group;

use crate::components::reactive::{attribute, flag, reactive};
use crate::settings::Errors;
use crate::state::App;

/// What a trial of a search looks for.
const QUERY: &str = "wikipedia";
/// Results and characters of a page that a trial shows.
const SHOWN: usize = 3;
const WORDS: usize = 300;
const PAGE: &str = "web-page";

pub fn web(app: App, errors: Errors) -> AnyView {
    (search(app, errors), pages(app, errors)).into_any()
}

fn search(app: App, errors: Errors) -> AnyView {
    let card = Memo::new(move |_| app.settings.with(|settings| settings.search_card()));
    let about = move || card.get().map(|card| of_service(app, card));
    html::fieldset()
        .class("group")
        .child((
            html::legend().child(Group::Search.title()),
            html::div().class("grid").child((crate::settings::fields(app, Group::Search, errors), reactive(about))),
        ))
        .into_any()
}

fn of_service(app: App, card: &'static SearchCard) -> AnyView {
    let address = Memo::new(move |_| app.settings.with(|settings| settings.search_address()).unwrap_or_default());
    let named = Memo::new(move |_| address.with(|address| !address.is_empty()));
    let label = if card.key == Need::Needed { "API key" } else { "API key, if your instance wants one" };
    let keys_at = (!card.keys_at.is_empty()).then_some((card.name, card.keys_at));
    let key = move || {
        named.get().then(|| crate::settings::key::of_service(app, "search-key", label, keys_at, move || address.get()))
    };
    let (button, result) = trial(app, SEARCH_WEB, "Test", || Some(json!({ "query": QUERY, "limit": SHOWN })));
    let offered = move || app.settings.with(|settings| settings.tool_offered(SEARCH_WEB));
    html::div()
        .class("wide web-service")
        .child((
            html::p().class("help").child(card.hint),
            reactive(key),
            html::div().class("tried").child((
                button,
                html::span().class("help").child(format!("Sends one search for \u{201c}{QUERY}\u{201d}.")),
            )),
            result,
            reactive(move || {
                let off = named.get() && !offered();
                off.then(|| {
                    html::p().class("advice").child("search_web is switched off under Tools, so runs do not have it.")
                })
            }),
        ))
        .into_any()
}

fn pages(app: App, errors: Errors) -> AnyView {
    let address = RwSignal::new(String::new());
    let (button, result) = trial(app, FETCH_URL, "Read it", move || {
        let url = address.get_untracked().trim().to_owned();
        (!url.is_empty()).then(|| json!({ "url": url }))
    });
    html::fieldset()
        .class("group")
        .child((
            html::legend().child(Group::Pages.title()),
            html::div().class("grid").child((
                html::div().class("check wide").child((
                    html::input()
                        .r#type("checkbox")
                        .id("web-fetch")
                        .prop("checked", flag(move || app.settings.with(|settings| settings.tool_offered(FETCH_URL))))
                        .on(ev::change, move |_| app.settings.update(|settings| settings.toggle_tool(FETCH_URL))),
                    html::label().r#for("web-fetch").child("Runs may read pages of the web"),
                    html::span()
                        .class("help")
                        .child("With fetch_url. Each host is asked about, with the whole address."),
                )),
                crate::settings::fields(app, Group::Pages, errors),
                html::div().class("input wide").child((
                    html::label().r#for(PAGE).child("Try a page"),
                    html::div().class("beside").child((
                        html::input()
                            .r#type("text")
                            .id(PAGE)
                            .attr("inputmode", "url")
                            .attr("placeholder", "https://example.org/page")
                            .attr("autocomplete", "off")
                            .attr("spellcheck", "false")
                            .attr("aria-describedby", "web-page-help")
                            .on(ev::input, move |event| address.set(event_target_value(&event))),
                        button,
                    )),
                    html::span().class("help").id("web-page-help").child("Reads it now, in the way that runs do."),
                    result,
                )),
            )),
        ))
        .into_any()
}

/// What a trial shows.
#[derive(Clone, PartialEq)]
enum State {
    Idle,
    Asking,
    Works(Trial),
    Failed(String),
}

/// A button that calls a tool as a run does, and the place of what came.
fn trial(
    app: App,
    tool: &'static str,
    label: &'static str,
    arguments: impl Fn() -> Option<Value> + Copy + 'static,
) -> (AnyView, AnyView) {
    let state = RwSignal::new(State::Idle);
    let count = StoredValue::new(0_u32);
    // A result does not apply to other settings.
    Effect::new(move || {
        app.settings.track();
        app.keys.track();
        state.set(State::Idle);
        count.update_value(|count| *count += 1);
    });
    let busy = move || state.with(|state| *state == State::Asking);
    let test = move |_| {
        let (Some(line), Some(arguments), false) = (app.line.get_value(), arguments(), untrack(busy)) else { return };
        state.set(State::Asking);
        let asked = count.get_value();
        spawn_local(async move {
            let found = line.try_tool(tool, &arguments).await;
            if count.try_get_value() == Some(asked) {
                state.try_set(found.map_or_else(State::Failed, State::Works));
            }
        });
    };
    let result = move || match state.get() {
        State::Idle => ("", ().into_any()),
        State::Asking => ("asking", (html::span().class("pulse"), "Asking.").into_any()),
        State::Works(trial) => ("ok", works(tool, trial).into_any()),
        State::Failed(why) => {
            let (slug, text) = match why.split_once(": ") {
                Some((slug, text))
                    if !slug.contains(' ') && slug.chars().all(|c| c.is_ascii_lowercase() || c == '_') =>
                {
                    (Some(slug.to_owned()), text.to_owned())
                }
                _ => (None, why),
            };
            (
                "failed",
                (
                    html::strong().child("It does not work"),
                    slug.map(|slug| html::code().class("slug").child(slug)),
                    html::span().class("advice").child(sentence(&text)),
                )
                    .into_any(),
            )
        }
    };
    // Not `disabled`: the focus stays.
    let button = html::button()
        .r#type("button")
        .class("btn quiet")
        .attr("aria-disabled", attribute(move || busy().then_some("true")))
        .on(ev::click, test)
        .child(label);
    let output = html::div().class("test").child(reactive(move || {
        let (kind, content) = result();
        html::output().attr("data-state", kind).child(content)
    }));
    (button.into_any(), output.into_any())
}

/// A clause as a sentence, with what cannot be seen written out.
fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    let end = if text.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{}{end}", visible(&(first + chars.as_str())))
}

fn works(tool: &str, Trial { text, hits }: Trial) -> AnyView {
    if tool == FETCH_URL {
        let lines = text.lines().skip(1).filter(|line| !line.trim().is_empty());
        let shown = one_line(&lines.collect::<Vec<_>>().join(" "), WORDS);
        return (html::strong().child("It was read"), html::span().class("advice").child(visible(&shown).into_owned()))
            .into_any();
    }
    if hits.is_empty() {
        let said = one_line(text.trim_matches(['[', ']']), WORDS * 2);
        return (html::strong().child("It answers"), html::span().class("advice").child(visible(&said).into_owned()))
            .into_any();
    }
    let rows = hits.iter().take(SHOWN).map(|hit| {
        html::li().child((
            html::b().child(visible(&one_line(&hit.page, 120)).into_owned()),
            html::span().class("fact").child(visible(&one_line(&hit.url, 200)).into_owned()),
        ))
    });
    (
        html::strong().child(format!("It works: {}", counted(hits.len() as u64, "result"))),
        html::ul().class("hits").child(rows.collect::<Vec<_>>()),
    )
        .into_any()
}
