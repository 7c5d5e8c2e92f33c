//! The API key: typed in or obtained by signing in, kept for one address only.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;

use turnwise_engine::{ProviderKind, RunConfig};
use turnwise_view::provider::{Need, ProviderCard, address as address_of, host, needs_key};
use turnwise_view::settings::ConfigField;
use turnwise_view::signin::SignIn;

use crate::components::reactive::{attribute, reactive};
use crate::connect::signin;
use crate::settings::probe;
use crate::state::App;

/// The id of the field.
pub const KEY: &str = "setting-key";

/// Draws the field with the Test button.
pub fn key(app: App, provider: ProviderCard) -> impl IntoView {
    asked(app, provider, true)
}

/// Draws the field alone.
pub fn plain(app: App, provider: ProviderCard) -> impl IntoView {
    asked(app, provider, false)
}

fn asked(app: App, provider: ProviderCard, with_test: bool) -> impl IntoView {
    let label = match provider.key {
        Need::Needed => "API key",
        Need::Optional => "API key, if the server wants one",
        Need::No => "API key (not needed)",
    };
    let meant = Memo::new(move |_| app.settings.with(|settings| settings.address().is_some()));
    reactive(move || match meant.get() {
        true => field(app, provider, label, with_test).into_any(),
        false => html::p().class("advice").child("Enter the address first.").into_any(),
    })
}

impl App {
    /// Returns whether a run with this configuration would be refused, because its provider wants a key and has none. Then the
    /// dialog that connects a model is open at the key, and says so.
    pub fn lacks_key(&self, config: &RunConfig) -> bool {
        let needed = config.providers.first().filter(|provider| self.key_for(provider).is_none());
        let Some((provider, name)) = needed.and_then(|provider| Some((provider, needs_key(provider)?))) else {
            return false;
        };
        let is_chosen = self.settings.with_untracked(|settings| settings.address()) == Some(address_of(provider));
        let remedy = if is_chosen {
            "Enter it here."
        } else {
            "The run keeps its model: choose this provider here and enter its key."
        };
        self.connect().refused.set(true);
        self.open_connect_at(KEY);
        self.complain(format!("Nothing was sent: {name} needs a key, and this page has none. {remedy}"));
        true
    }

    /// The same for what goes on with the model of the open thread's last run, or of its plan.
    pub fn own_model_lacks_key(&self) -> bool {
        let config = self.thread_now().and_then(|thread| match thread.plan() {
            // All of its steps have the same model.
            Some(plan) => plan.steps.iter().find_map(|step| step.handle.look(|source| source.config.clone())),
            None => thread.with_last(|source| source.config.clone()),
        });
        config.is_some_and(|config| self.lacks_key(&config))
    }
}

fn field(app: App, provider: ProviderCard, label: &'static str, with_test: bool) -> impl IntoView {
    // Said once a run was refused for it.
    let missing = Memo::new(move |_| {
        let no_key = || app.keys.with(|keys| keys.get(&address(app)).is_none());
        app.connect().refused.get()
            && app.settings.with(|settings| needs_key(&settings.provider()).is_some())
            && no_key()
    });
    let wrong = move || {
        missing.get().then(|| {
            html::span().class("wrong").id("setting-key-wrong").child(format!(
                "{} needs a key. A key that is not remembered on this device is gone after a reload: enter it again.",
                provider.name
            ))
        })
    };
    let input = html::input()
        .r#type("password")
        .id(KEY)
        .attr("aria-invalid", attribute(move || if missing.get() { "true" } else { "false" }))
        .attr("autocomplete", "off")
        .attr("spellcheck", "false")
        .attr("aria-describedby", "setting-key-wrong setting-key-help")
        .prop("value", move || app.keys.with(|keys| keys.get(&address(app))).unwrap_or_default())
        .on(ev::input, move |event| {
            let address = address(app);
            app.keys.update(|keys| keys.set(&address, &event_target_value(&event)));
        });
    let (test, result) = with_test.then(|| probe::probe(app)).unzip();
    html::div().class("input mono wide").child((
        html::label().r#for(KEY).child(label),
        (provider.kind == ProviderKind::Openrouter).then(|| sign_in(app)),
        html::div().class("beside").child((input, test)),
        reactive(wrong),
        result,
        html::span().class("help").id("setting-key-help").child((
            reactive(kept(app, move || address(app))),
            (!provider.keys_at.is_empty()).then(|| {
                html::a()
                    .href(provider.keys_at)
                    .target("_blank")
                    .rel("noreferrer")
                    .child(format!("Get a key from {}", provider.name))
            }),
        )),
        remember(app, "setting-remember".to_owned(), move || address(app)),
    ))
}

/// Draws the field of a key that is not a model's. `address`: where it is sent, and nowhere else.
pub fn of_service(
    app: App,
    id: &str,
    label: &'static str,
    keys_at: Option<(&'static str, &'static str)>,
    address: impl Fn() -> String + Copy + Send + Sync + 'static,
) -> AnyView {
    let help = format!("{id}-help");
    html::div()
        .class("input mono wide")
        .child((
            html::label().r#for(id.to_owned()).child(label),
            html::input()
                .r#type("password")
                .id(id.to_owned())
                .attr("autocomplete", "off")
                .attr("spellcheck", "false")
                .attr("aria-describedby", help.clone())
                .prop("value", move || app.keys.with(|keys| keys.get(&address())).unwrap_or_default())
                .on(ev::input, move |event| {
                    let address = untrack(address);
                    app.keys.update(|keys| keys.set(&address, &event_target_value(&event)));
                }),
            html::span().class("help").id(help).child((
                reactive(kept(app, address)),
                keys_at.map(|(name, at)| {
                    html::a().href(at).target("_blank").rel("noreferrer").child(format!("Get a key from {name}"))
                }),
            )),
            remember(app, format!("{id}-remember"), address),
        ))
        .into_any()
}

/// Says where a key goes, and how long it stays.
fn kept(app: App, address: impl Fn() -> String + Copy + 'static) -> impl Fn() -> String + Copy {
    move || {
        let address = address();
        let shown = host(&address).unwrap_or_else(|| address.clone());
        match app.keys.with(|keys| keys.is_remembered(&address)) {
            true => format!("Stored on this device and sent only to {shown}. "),
            false => format!("Sent only to {shown}. It is gone when the page is closed or reloaded. "),
        }
    }
}

fn remember(app: App, id: String, address: impl Fn() -> String + Copy + Send + Sync + 'static) -> impl IntoView {
    let remembered = move || app.keys.with(|keys| keys.is_remembered(&address()));
    let changed = move |event| {
        let (address, remember) = (untrack(address), event_target_checked(&event));
        app.keys.update(|keys| if remember { keys.remember(&address) } else { keys.forget(&address) });
    };
    html::div().class("check").child((
        html::input().r#type("checkbox").id(id.clone()).prop("checked", remembered).on(ev::change, changed),
        html::label().r#for(id).child("Remember on this device"),
        html::span().class("help").child(
            "The risk: the key is then stored unencrypted in this browser. Whoever uses this browser profile, and any \
             script served from this address, can read it.",
        ),
    ))
}

/// Draws the sign-in, only while requests go to OpenRouter itself: its key is for no other server.
fn sign_in(app: App) -> impl IntoView {
    let own = Memo::new(move |_| app.settings.with(|settings| settings.value(ConfigField::BaseUrl).trim().is_empty()));
    let busy = move || matches!(app.connect().signin.get(), SignIn::Leaving | SignIn::Asking);
    let state = move || match app.connect().signin.get() {
        SignIn::Done => "ok",
        SignIn::Failed(_) => "failed",
        SignIn::Idle | SignIn::Leaving | SignIn::Asking => "",
    };
    reactive(move || {
        own.get().then(|| {
            html::div().class("test").child((
                html::button()
                    .r#type("button")
                    .class("btn quiet")
                    .prop("disabled", busy)
                    .on(ev::click, move |_| signin::go(app))
                    .child("Sign in with OpenRouter"),
                html::output()
                    .id("signin-state")
                    .attr("data-state", attribute(state))
                    .child(reactive(move || app.connect().signin.get().message())),
            ))
        })
    })
}

fn address(app: App) -> String {
    app.settings.with(turnwise_view::settings::UserSettings::address).unwrap_or_default()
}
