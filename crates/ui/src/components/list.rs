//! A list of what can be opened, one line each.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;

/// Draws one line: a sign, a title in whatever script, a fact. All of it opens what it names.
pub fn row(sign: impl IntoView, title: String, fact: impl Into<String>, open: impl Fn() + 'static) -> impl IntoView {
    let fact: String = fact.into();
    html::li().child(html::button().r#type("button").class("list-row").on(ev::click, move |_| open()).child((
        sign,
        html::span().class("title").attr("dir", "auto").child(title),
        html::span().class("when").child(fact),
    )))
}

/// Draws a list; `empty`: what will be here.
pub fn list(rows: Vec<AnyView>, empty: &'static str) -> impl IntoView {
    match rows.is_empty() {
        true => html::p().class("fact").child(empty).into_any(),
        false => html::ul().class("list").child(rows).into_any(),
    }
}
