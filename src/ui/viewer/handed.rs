//! A record that the window's opener hands over: "Open in the app" of a docs agent (`www/widget/hand-over.js`).
//!
//! The opener posts `{ turnwise: 'trajectory', text }` until it hears `asked`, `taken` or `refused` in the same way. It
//! may be of any site: a record from another origin than the app's own is opened only when the person says so.
//!
//! Invariants: no other window is listened to; nothing of a record is read before it may be; one page asks once.

use std::cell::Cell;
use std::rc::Rc;

use js_sys::{JsString, Object, Reflect};
use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::spawn_local;
use web_sys::{MessageEvent, Window};

use crate::view::replay::Refused;

use super::super::dom;
use super::super::icon::{Icon, icon};
use super::super::state::{App, Local};
use super::open::open_text;

/// Longer texts are not taken, in millions of UTF-16 units: a page that is not the person's own choice gets less than a file.
const MOST_MB: u32 = 64;
const MOST_UNITS: u32 = MOST_MB * 1_048_576;
/// The origin of a page that has none: a file, or a frame without rights.
const OPAQUE: &str = "null";
const NOT_NOW: &str = "hand-over-not-now";

/// A record that waits for an answer.
#[derive(Clone, Debug)]
pub struct HandedOver {
    /// The opener's origin, as the browser states it.
    from: String,
    text: Local<JsString>,
    opener: Local<Window>,
}

/// Waits for it, where another page opened this one.
pub fn listen(app: App) {
    let Some(opener) = dom::window().opener().ok().filter(|opener| opener.is_object()) else { return };
    // Of another realm, so it is no instance of this one's `Window`.
    let opener: Window = opener.unchecked_into();
    let heard = Rc::new(Cell::new(false));
    let hear = Closure::<dyn FnMut(MessageEvent)>::new(move |event: MessageEvent| {
        let Some(text) = handed(&event, &opener) else { return };
        // The opener repeats itself until it is answered.
        if heard.replace(true) {
            return;
        }
        let record = HandedOver { from: event.origin(), text: Local::new(text), opener: Local::new(opener.clone()) };
        if record.text.length() > MOST_UNITS {
            record.answer("refused");
            app.complain(format!("The record from {} was not opened: it is larger than {MOST_MB} MB.", record.site()));
        } else if dom::window().location().origin().is_ok_and(|own| own == record.from) {
            record.open(app);
        } else {
            record.answer("asked");
            app.handed.set(Some(record));
        }
    });
    let listened = dom::window().add_event_listener_with_callback("message", hear.as_ref().unchecked_ref());
    if listened.is_ok() {
        hear.forget(); // for as long as the page lives
    }
}

/// The text, not yet looked at.
fn handed(event: &MessageEvent, opener: &Window) -> Option<JsString> {
    let source = event.source()?;
    let get = |key: &str| Reflect::get(&event.data(), &key.into()).ok();
    let ours = Object::is(source.as_ref(), opener.as_ref()) && get("turnwise")? == "trajectory";
    get("text").filter(|_| ours)?.dyn_into().ok()
}

/// Asks, above everything else.
pub fn notice(app: App) -> impl IntoView {
    move || {
        let record = app.handed.get()?;
        let site = record.site();
        let (opened, refused) = (record.clone(), record);
        // Whoever is writing goes on writing.
        let idle = dom::document().active_element().is_none_or(|element| element.tag_name() == "BODY");
        if idle {
            request_animation_frame(|| dom::focus(NOT_NOW));
        }
        Some(
            html::div()
                .class("hand-over")
                .attr("role", "alertdialog")
                .attr("aria-label", "A record from another page")
                .attr("aria-describedby", "hand-over-words")
                .child((
                    icon(Icon::File),
                    html::div().class("words").attr("id", "hand-over-words").child((
                        html::p().child((html::b().child(site), " wants to open a record here")),
                        html::p().class("fact").child("Nothing of it was read yet. Open it if you came from there."),
                    )),
                    html::div().class("acts").child((
                        html::button()
                            .r#type("button")
                            .id(NOT_NOW)
                            .class("btn quiet small")
                            .on(ev::click, move |_| {
                                app.handed.set(None);
                                refused.answer("refused");
                            })
                            .child("Not now"),
                        html::button()
                            .r#type("button")
                            .class("btn primary small")
                            .on(ev::click, move |_| {
                                app.handed.set(None);
                                opened.clone().open(app);
                            })
                            .child("Open"),
                    )),
                )),
        )
    }
}

impl HandedOver {
    /// Who hands it over, in words.
    fn site(&self) -> String {
        if self.from == OPAQUE { "A page without an address".to_owned() } else { self.from.clone() }
    }

    fn answer(&self, word: &str) {
        let answer = Object::new();
        let _ = Reflect::set(&answer, &"turnwise".into(), &word.into());
        // The word is no secret; a page without an origin can be reached in no other way.
        let to = if self.from == OPAQUE { "*" } else { &self.from };
        let _ = self.opener.post_message(&answer, to);
    }

    fn open(self, app: App) {
        spawn_local(async move {
            match self.take(app).await {
                Ok(()) => self.answer("taken"),
                Err(why) => app.complain(why),
            }
        });
    }

    async fn take(&self, app: App) -> Result<(), String> {
        let (name, from) = ("The record", self.site());
        let text = String::from(&*self.text);
        let blob = dom::text_blob(&text, "application/json").ok_or("The record could not be taken over.")?;
        open_text(app, Some(name), &blob).await.map_err(|why| match why {
            Refused::Unreadable(why) => format!("The record from {from} was not opened. {why}"),
            Refused::NotJson | Refused::OtherFormat => format!("What {from} handed over is no trajectory."),
        })?;
        app.tell(format!("Opened a run of {from}, to be read."));
        Ok(())
    }
}
