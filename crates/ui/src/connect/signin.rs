//! Signing in with OpenRouter: the browser goes there and comes back with a code. Data kept in between is in this
//! tab's session storage, and only until then.

use gloo_net::http::Request;
use leptos::prelude::*;
use serde::{Deserialize, Serialize};
use wasm_bindgen_futures::spawn_local;

use turnwise::shell::stream;
use turnwise_engine::RAW_CAP;
use turnwise_view::provider::provider_card;
use turnwise_view::settings::ConfigField;
use turnwise_view::signin::{self, Back, SignIn};

use crate::browser::dom;
use crate::state::{App, Dialog};

const KEPT: &str = "turnwise.signin";
const OPENROUTER: &str = "openrouter";

/// Data that the page needs after coming back.
#[derive(Serialize, Deserialize)]
struct SignInState {
    verifier: String,
    draft: String,
}

/// Navigates to OpenRouter.
pub fn go(app: App) {
    let went = (|| {
        let mut random = [0; 32];
        dom::window().crypto().ok()?.get_random_values_with_u8_array(&mut random).ok()?;
        let verifier = signin::verifier(&random);
        let location = dom::window().location();
        let callback = format!("{}{}", location.origin().ok()?, location.pathname().ok()?);
        let url = signin::auth_url(&callback, &verifier);
        let kept =
            serde_json::to_string(&SignInState { verifier, draft: app.composer().draft.get_untracked() }).ok()?;
        dom::window().session_storage().ok()??.set_item(KEPT, &kept).ok()?;
        app.connect().signin.set(SignIn::Leaving);
        location.assign(&url).ok()
    })();
    if went.is_none() {
        let text = "This browser blocks session storage, which sign-in needs. Paste a key instead.";
        app.connect().signin.set(SignIn::Failed(text.to_owned()));
    }
}

/// Handles the return from OpenRouter: removes the code from the address at once, and exchanges it for a key.
pub fn come_back(app: App) {
    let Some(found) = from_address() else { return };
    let kept = kept();
    app.settings.update(|settings| settings.set(ConfigField::Provider, OPENROUTER));
    app.dialog.set(Some(Dialog::Settings));
    match (found, kept) {
        (Back::Refused(why), kept) => {
            app.composer().draft.set(kept.map(|kept| kept.draft).unwrap_or_default());
            fail(app, why);
        }
        (Back::Code(_), None) => fail(app, signin::unasked()),
        (Back::Code(code), Some(SignInState { verifier, draft })) => {
            app.composer().draft.set(draft);
            app.connect().signin.set(SignIn::Asking);
            spawn_local(async move {
                let key = match exchange(&code, &verifier).await {
                    Some((status, body)) => signin::key_of(status, &body),
                    None => Err(signin::unreachable()),
                };
                match key {
                    Ok(key) => done(app, &key),
                    Err(why) => fail(app, why),
                }
            });
        }
    }
}

/// Exchanges a code for a key. Returns the status and body of the response; `None`: there was no response, and browsers reveal
/// no details to a page.
async fn exchange(code: &str, verifier: &str) -> Option<(u16, String)> {
    let request = Request::post(signin::KEYS).header("content-type", "application/json");
    let response = request.body(signin::exchange(code, verifier)).ok()?.send().await.ok()?;
    let text = match response.body() {
        Some(body) => stream::read_text(&body, RAW_CAP).await.ok().flatten().unwrap_or_default(),
        None => String::new(),
    };
    Some((response.status(), text))
}

fn done(app: App, key: &str) {
    // For OpenRouter's own address, whatever is set by now.
    if let Some(openrouter) = provider_card(OPENROUTER) {
        app.keys.update(|keys| keys.set(openrouter.base_url(), key));
    }
    app.connect().signin.set(SignIn::Done);
    app.tell("Signed in with OpenRouter.");
}

fn fail(app: App, why: String) {
    app.complain(why.clone());
    app.connect().signin.set(SignIn::Failed(why));
}

/// Takes the result out of the page's address.
fn from_address() -> Option<Back> {
    let location = dom::window().location();
    let search = location.search().ok()?;
    let decoded = |text: &str| {
        let spaced = text.replace('+', " ");
        js_sys::decode_uri_component(&spaced).ok().and_then(|text| text.as_string()).unwrap_or(spaced)
    };
    let parts: Vec<&str> = search.trim_start_matches('?').split('&').filter(|part| !part.is_empty()).collect();
    let pairs: Vec<(String, String)> = parts
        .iter()
        .map(|part| part.split_once('=').unwrap_or((part, "")))
        .map(|(k, v)| (decoded(k), decoded(v)))
        .collect();
    let found = signin::back(&pairs)?;
    let left: Vec<&str> =
        parts.iter().zip(&pairs).filter(|(_, (name, _))| !signin::is_ours(name)).map(|(part, _)| *part).collect();
    let query = if left.is_empty() { String::new() } else { format!("?{}", left.join("&")) };
    let clean = format!("{}{query}{}", location.pathname().ok()?, location.hash().unwrap_or_default());
    let history = dom::window().history().ok()?;
    history.replace_state_with_url(&wasm_bindgen::JsValue::NULL, "", Some(&clean)).ok()?;
    Some(found)
}

/// Takes what was kept; it is good for one return.
fn kept() -> Option<SignInState> {
    let storage = dom::window().session_storage().ok().flatten()?;
    let text = storage.get_item(KEPT).ok().flatten()?;
    let _ = storage.remove_item(KEPT);
    serde_json::from_str(&text).ok()
}
