//! A record handed over by the window's opener: "Open in the app" of a docs agent (`www/widget/hand-over.js`).
//!
//! The opener posts `{ turnwise: 'trajectory', text }` until it receives `asked`, `taken` or `refused` in the same
//! form. It may be of any site: a record from an origin other than the app's own is opened only with the user's
//! consent.
//!
//! Invariants: messages from other windows are ignored; nothing of a record is read before that is allowed; one page
//! asks once.

use std::cell::Cell;
use std::rc::Rc;

use js_sys::{JsString, Object, Reflect};
use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::spawn_local;
use web_sys::{MessageEvent, Window};

use turnwise_protocol::record::OpenError;

use crate::browser::dom;
use crate::client::slots::Local;
use crate::components::button::{Look, button};
use crate::components::icon::{Icon, icon};
use crate::components::reactive::reactive;
use crate::state::App;
use crate::viewer::open::open_text;
use crate::viewer::state::HandedOver;

/// Maximum length of a text, in millions of UTF-16 units. Files, which the user chooses, may be larger.
const MOST_MB: u32 = 64;
const MOST_UNITS: u32 = MOST_MB * 1_048_576;
/// The origin of a page that has none: a file, or a sandboxed frame.
const OPAQUE: &str = "null";
const NOT_NOW: &str = "hand-over-not-now";

/// Waits for a record, if another page opened this one.
pub fn listen(app: App) {
    let Some(opener) = dom::window().opener().ok().filter(|opener| opener.is_object()) else { return };
    // It belongs to another realm, so it is not an instance of this realm's `Window`.
    let opener: Window = opener.unchecked_into();
    let heard = Rc::new(Cell::new(false));
    let listener = Closure::<dyn FnMut(MessageEvent)>::new(move |event: MessageEvent| {
        let Some(text) = handed(&event, &opener) else { return };
        // The opener repeats its message until it is answered.
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
            app.replays().handed.set(Some(record));
        }
    });
    let listened = dom::window().add_event_listener_with_callback("message", listener.as_ref().unchecked_ref());
    if listened.is_ok() {
        listener.forget(); // for as long as the page lives
    }
}

/// Returns the text that the opener hands over, without reading it.
fn handed(event: &MessageEvent, opener: &Window) -> Option<JsString> {
    let source = event.source()?;
    let get = |key: &str| Reflect::get(&event.data(), &key.into()).ok();
    let ours = Object::is(source.as_ref(), opener.as_ref()) && get("turnwise")? == "trajectory";
    get("text").filter(|_| ours)?.dyn_into().ok()
}

/// Draws the question, on top of everything else.
pub fn notice(app: App) -> impl IntoView {
    reactive(move || {
        let record = app.replays().handed.get()?;
        let site = record.site();
        let (opened, refused) = (record.clone(), record);
        // A user who is typing keeps the focus.
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
                        html::p()
                            .class("fact")
                            .child("The record has not been read yet. Open it if you came from that page."),
                    )),
                    html::div().class("acts").child((
                        html::button()
                            .r#type("button")
                            .id(NOT_NOW)
                            .class("btn quiet small")
                            .on(ev::click, move |_| {
                                app.replays().handed.set(None);
                                refused.answer("refused");
                            })
                            .child("Not now"),
                        button(Look::PrimarySmall)
                            .on(ev::click, move |_| {
                                app.replays().handed.set(None);
                                opened.clone().open(app);
                            })
                            .child("Open"),
                    )),
                )),
        )
    })
}

impl HandedOver {
    /// Returns the origin of the record, for display.
    fn site(&self) -> String {
        if self.from == OPAQUE { "A page without an address".to_owned() } else { self.from.clone() }
    }

    fn answer(&self, word: &str) {
        let answer = Object::new();
        let _ = Reflect::set(&answer, &"turnwise".into(), &word.into());
        // The answer is no secret, and a page without an origin can be reached in no other way.
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
        let blob = dom::text_blob(&text, "application/json").ok_or("The record could not be received.")?;
        open_text(app, Some(name), &blob).await.map_err(|why| match why {
            OpenError::Unreadable(why) => format!("The record from {from} was not opened. {why}"),
            OpenError::NotJson | OpenError::OtherFormat => format!("The file from {from} is not a trajectory."),
        })?;
        app.tell_opened(&format!("Opened a run from {from} (read-only)."));
        Ok(())
    }
}
