//! A record that the window's opener hands over: "Open in the app" of a docs agent (`www/widget/hand-over.js`).
//!
//! The opener posts `{ turnwise: 'trajectory', text }` until it hears `{ turnwise: 'taken' }`. It may be of any site: who
//! opens the app from there is told where the record is from. No other window is listened to.

use std::cell::Cell;
use std::rc::Rc;

use js_sys::{Object, Reflect};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::spawn_local;
use web_sys::{MessageEvent, Window};

use crate::view::replay::Refused;

use super::super::dom;
use super::super::state::App;
use super::open::open_text;

/// Longer texts are not taken.
const MOST_UNITS: usize = 64 << 20;

/// Waits for it, where another page opened this one.
pub fn listen(app: App) {
    let Some(opener) = dom::window().opener().ok().filter(|opener| opener.is_object()) else { return };
    // Of another realm, so it is no instance of this one's `Window`.
    let opener: Window = opener.unchecked_into();
    let taken = Rc::new(Cell::new(false));
    let hear = Closure::<dyn FnMut(MessageEvent)>::new(move |event: MessageEvent| {
        let Some(text) = handed(&event, &opener) else { return };
        // The opener repeats itself until it is answered.
        if taken.replace(true) {
            return;
        }
        let (opener, from) = (opener.clone(), event.origin());
        spawn_local(async move {
            match take(app, &text, &from).await {
                Ok(()) => {
                    let answer = Object::new();
                    let _ = Reflect::set(&answer, &"turnwise".into(), &"taken".into());
                    let _ = opener.post_message(&answer, &from);
                }
                Err(why) => app.complain(why),
            }
        });
    });
    let listened = dom::window().add_event_listener_with_callback("message", hear.as_ref().unchecked_ref());
    if listened.is_ok() {
        hear.forget(); // for as long as the page lives
    }
}

fn handed(event: &MessageEvent, opener: &Window) -> Option<String> {
    let source = event.source()?;
    let get = |key: &str| Reflect::get(&event.data(), &key.into()).ok().and_then(|value| value.as_string());
    let ours = Object::is(source.as_ref(), opener.as_ref()) && get("turnwise")? == "trajectory";
    get("text").filter(|text| ours && text.len() <= MOST_UNITS)
}

async fn take(app: App, text: &str, from: &str) -> Result<(), String> {
    let name = "The record";
    let blob = dom::text_blob(text, "application/json").ok_or("The record could not be taken over.")?;
    open_text(app, name, &blob).await.map_err(|why| match why {
        Refused::Unreadable(why) => format!("The record from {from} was not opened. {why}"),
        Refused::NotJson | Refused::OtherFormat => format!("What {from} handed over is no trajectory."),
    })?;
    app.tell(format!("Opened a run of {from}, to be read."));
    Ok(())
}
