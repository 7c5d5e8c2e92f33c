//! The request that the model saw: the one in flight at this step, or the last one sent.

use std::sync::Arc;

use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen_futures::spawn_local;

use turnwise_content::format::counted;
use turnwise_protocol::record::RecordQuery;
use turnwise_view::replay::{MessageView, RequestView};

use crate::components::button::chip;
use crate::components::icon::{self, Icon, icon};
use crate::components::reactive::reactive;
use crate::state::App;
use crate::viewer::difference;
use crate::viewer::message;
use crate::viewer::state::{StagedRun, ViewerTab};

/// Messages added with each click.
const MORE: usize = 40;

pub fn request(app: App, stage: &StagedRun) -> impl IntoView + use<> {
    let (tab, stage) = (stage.tab, stage.clone());
    reactive(move || (tab.get() != ViewerTab::Events).then(|| seen(app, &stage)))
}

fn seen(app: App, stage: &StagedRun) -> impl IntoView + use<> {
    let (shown, stage) = (stage.request, stage.clone());
    html::div()
        .class("seen")
        .attr("tabindex", "0")
        .attr("role", "region")
        .attr("aria-label", "What the model saw")
        .child(reactive(move || shown.get().map(|request| of_request(app, &stage, &request))))
}

fn of_request(app: App, stage: &StagedRun, request: &Arc<RequestView>) -> impl IntoView + use<> {
    let differing = stage.differing;
    let toggle = {
        let stage = stage.clone();
        chip("Difference to the previous request", move || differing.get(), move || stage.toggle_difference())
    };
    let body = {
        let (stage, request) = (stage.clone(), Arc::clone(request));
        move || match differing.get() {
            true => difference::difference(&stage, request.index).into_any(),
            false => messages(&stage, &request).into_any(),
        }
    };
    (head(app, stage, request), html::div().class("row").child(toggle), tools(request), body)
}

fn head(app: App, stage: &StagedRun, request: &RequestView) -> impl IntoView + use<> {
    let to = |text: &'static str, name: Icon, index: Option<usize>| {
        let stage = stage.clone();
        html::button()
            .r#type("button")
            .class("btn bare square small")
            .attr("aria-label", text)
            .attr("title", text)
            .prop("disabled", index.is_none())
            .on(ev::click, move |_| {
                if let Some(index) = index {
                    stage.go_to_request(app, index);
                }
            })
            .child(icon(name))
    };
    let next = Some(request.index + 1).filter(|next| *next < stage.request_count());
    let facts = [
        request.line.clone(),
        Some(request.provider.clone()),
        Some(request.size.clone()),
        Some(format!("sent at {}", request.at)),
    ];
    let facts = facts.into_iter().flatten().map(|fact| html::li().child(fact)).collect_view();
    let rebuilt = request.rebuilt.then(|| {
        html::p().class("fact").child(
            "The whole conversation was sent again: tool results were removed from it before this request, or the run was \
             resumed or branched here.",
        )
    });
    (
        html::div().class("seen-head").child((
            html::h2().child(request.title.clone()),
            to("Previous request", Icon::Back, request.index.checked_sub(1)),
            to("Next request", Icon::Forward, next),
        )),
        html::ul().class("facts").child(facts),
        html::p().class("hash").child((
            "request_hash ",
            html::code().attr("title", request.hash.clone()).child(request.hash.chars().take(16).collect::<String>()),
        )),
        rebuilt,
    )
}

fn tools(request: &RequestView) -> impl IntoView + use<> {
    let temperature = request.temperature.map(|of| html::p().class("fact").child(format!("Temperature {of}")));
    let each = request
        .tools
        .iter()
        .map(|(name, about)| html::li().child((html::b().child(name.clone()), html::span().child(about.clone()))));
    let list = if request.tools.is_empty() {
        html::p().class("fact offered").child(request.choice.clone()).into_any()
    } else {
        html::details()
            .class("offered")
            .child((
                html::summary().child((icon::chevron(), request.choice.clone())),
                html::ul().child(each.collect_view()),
            ))
            .into_any()
    };
    (list, temperature)
}

/// Draws the first and the last messages, and those in between on demand.
fn messages(stage: &StagedRun, request: &RequestView) -> impl IntoView + use<> {
    let (index, of) = (request.index, request.of);
    let gap = request.messages.windows(2).position(|two| matches!(two, [a, b] if b.at > a.at + 1));
    let (first, last) = request.messages.split_at(gap.map_or(request.messages.len(), |at| at + 1));
    let from = first.len();
    let until = RwSignal::new(last.first().map_or(of, |message| message.at));
    let between = RwSignal::new(Vec::<MessageView>::new());
    let each =
        |views: &[MessageView]| views.iter().map(|view| message::message(stage, index, view, None)).collect_view();
    let more = {
        let stage = stage.clone();
        move || {
            let left = until.get().saturating_sub(from);
            (left > 0).then(|| {
                let stage = stage.clone();
                let ask = move |_| {
                    let (stage, to) = (stage.clone(), until.get_untracked());
                    let begin = to.saturating_sub(MORE).max(from);
                    spawn_local(async move {
                        let asked = RecordQuery::Messages { index, from: begin, to };
                        if let Ok(mut earlier) = stage.host.ask::<Vec<MessageView>>(asked).await {
                            between.update(|between| {
                                earlier.append(between);
                                *between = earlier;
                            });
                            until.set(begin);
                        }
                    });
                };
                let text = format!("Show {} of {} between", left.min(MORE), counted(left as u64, "message"));
                html::li()
                    .class("gap")
                    .child(html::button().r#type("button").class("link").on(ev::click, ask).child(text))
            })
        }
    };
    let middle = {
        let stage = stage.clone();
        For(ForProps::builder()
            .each(move || between.get())
            .key(|view| view.at)
            .children(move |view| message::message(&stage, index, &view, None))
            .build())
    };
    html::ol().class("messages").child((each(first), more, middle, each(last)))
}
