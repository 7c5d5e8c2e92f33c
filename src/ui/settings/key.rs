//! The API key: typed in or obtained by signing in, kept for one address only.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;

use crate::engine::ProviderKind;
use crate::signin::SignIn;
use crate::view::provider::{Need, ProviderCard};
use crate::view::settings::Field;

use super::super::signin;
use super::super::state::App;
use super::probe;

pub fn key(app: App, provider: ProviderCard) -> impl IntoView {
    let label = match provider.key {
        Need::Needed => "API key",
        Need::Optional => "API key, if the server wants one",
        Need::No => "API key (not needed)",
    };
    let meant = Memo::new(move |_| app.settings.with(|settings| settings.address().is_some()));
    move || match meant.get() {
        true => field(app, provider, label).into_any(),
        false => html::p()
            .class("advice")
            .child("Each key belongs to one base URL. Enter a valid base URL first.")
            .into_any(),
    }
}

fn field(app: App, provider: ProviderCard, label: &'static str) -> impl IntoView {
    let input = html::input()
        .r#type("password")
        .id("setting-key")
        .attr("autocomplete", "off")
        .attr("spellcheck", "false")
        .attr("aria-describedby", "setting-key-help")
        .prop("value", move || app.keys.with(|keys| keys.get(&address(app))).unwrap_or_default())
        .on(ev::input, move |event| {
            let address = address(app);
            app.keys.update(|keys| keys.set(&address, &event_target_value(&event)));
        });
    let (test, result) = probe::probe(app);
    let kept = move || match app.keys.with(|keys| keys.is_remembered(&address(app))) {
        true => "Stored on this device, sent only to this address and never recorded. ",
        false => {
            "Kept in this tab's memory, sent only to this address and never recorded. It is gone when the page is closed or reloaded. "
        }
    };
    html::div().class("input mono wide").child((
        html::label().r#for("setting-key").child(label),
        (provider.kind == ProviderKind::Openrouter).then(|| sign_in(app)),
        html::div().class("beside").child((input, test)),
        result,
        html::span().class("help").id("setting-key-help").child((
            kept,
            (!provider.keys_at.is_empty()).then(|| {
                html::a()
                    .href(provider.keys_at)
                    .target("_blank")
                    .rel("noreferrer")
                    .child(format!("Get a key from {}", provider.name))
            }),
        )),
        remember(app),
    ))
}

fn remember(app: App) -> impl IntoView {
    let remembered = move || app.keys.with(|keys| keys.is_remembered(&address(app)));
    let changed = move |event| {
        let (address, remember) = (address(app), event_target_checked(&event));
        app.keys.update(|keys| if remember { keys.remember(&address) } else { keys.forget(&address) });
    };
    html::div().class("check").child((
        html::input().r#type("checkbox").id("setting-remember").prop("checked", remembered).on(ev::change, changed),
        html::label().r#for("setting-remember").child("Remember on this device"),
        html::span().class("help").child(
            "The risk: the key is then stored unencrypted in this browser. Whoever uses this browser profile, and any \
             script served from this address, can read it.",
        ),
    ))
}

/// Draws the sign-in, only while requests go to OpenRouter itself: its key is for no other server.
fn sign_in(app: App) -> impl IntoView {
    let own = Memo::new(move |_| app.settings.with(|settings| settings.value(Field::BaseUrl).trim().is_empty()));
    let busy = move || matches!(app.signin.get(), SignIn::Leaving | SignIn::Asking);
    let state = move || match app.signin.get() {
        SignIn::Done => "ok",
        SignIn::Failed(_) => "failed",
        SignIn::Idle | SignIn::Leaving | SignIn::Asking => "",
    };
    move || {
        own.get().then(|| {
            html::div().class("test").child((
                html::button()
                    .r#type("button")
                    .class("btn quiet")
                    .prop("disabled", busy)
                    .on(ev::click, move |_| signin::go(app))
                    .child("Sign in with OpenRouter"),
                html::output().id("signin-state").attr("data-state", state).child(move || app.signin.get().message()),
            ))
        })
    }
}

fn address(app: App) -> String {
    app.settings.with(crate::view::settings::Settings::address).unwrap_or_default()
}
