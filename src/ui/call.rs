//! A tool call's card: one line closed; open, the arguments and the answer as the model read it.

use leptos::html;
use leptos::prelude::*;

use crate::view::call::{CallState, CallView, Note};

use super::icon;

pub fn card(call: &CallView) -> impl IntoView + use<> {
    let state = match call.state {
        CallState::Open => "open",
        CallState::Done => "done",
        CallState::Failed => "failed",
        CallState::Ended => "ended",
    };
    let why = call.error.clone().filter(|_| call.slug.is_some());
    html::details().class("call").attr("data-state", state).child((
        html::summary().child((
            icon::chevron(),
            html::span().class("line").child((
                html::span().class("name").child(call.name.clone()),
                html::span().class("arg").child(call.summary.clone()),
                note(call),
                call.slug.map(|slug| html::span().class("slug").child(slug)),
                call.duration.clone().map(|duration| html::span().class("t").child(duration)),
                (call.state == CallState::Open).then(|| html::span().class("pulse").attr("title", "running")),
            )),
            why.map(|why| html::span().class("why").child(why)),
        )),
        html::div().class("detail").child((
            html::p().class("over").child("Arguments"),
            html::pre().class("args").attr("tabindex", "0").child(call.args.clone()),
            html::p()
                .class("over")
                .child(("What the model read", call.is_final.then(|| html::span().child("final result")))),
            html::pre().attr("tabindex", "0").child(call.result.clone().unwrap_or_else(|| "no answer yet".to_owned())),
        )),
    ))
}

fn note(call: &CallView) -> Option<AnyView> {
    match call.note.clone()? {
        Note::Value(value) => Some(html::span().class("value").child(value).into_any()),
        Note::Size(size) => Some(html::span().class("t").child(size).into_any()),
    }
}
