//! A passage of the transcript that the user has selected, as a quotation in the task box.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;

use turnwise_view::quotation;

use crate::browser::dom;
use crate::components::icon::{Icon, icon};
use crate::components::reactive::reactive;
use crate::state::App;
use crate::transcript::follow;

/// Most characters of a quotation.
const MOST: usize = 4_000;

/// Draws the button, while something is selected in the transcript.
pub fn button(app: App) -> impl IntoView {
    let selected = RwSignal::new(false);
    let look = Closure::<dyn FnMut()>::new(move || {
        let now = selection().is_some();
        if selected.try_get_untracked().is_some_and(|before| before != now) {
            selected.set(now);
        }
    });
    // The page lasts as long as the document.
    let _ = dom::document().add_event_listener_with_callback("selectionchange", look.into_js_value().unchecked_ref());
    reactive(move || {
        (selected.get() && app.can_write()).then(|| {
            html::button()
                .r#type("button")
                .class("btn quiet small quote")
                // A press would take the selection away before the click.
                .on(ev::mousedown, |event| event.prevent_default())
                .on(ev::click, move |_| selection().iter().for_each(|text| app.quote(text)))
                .child((icon(Icon::Quote), "Quote selection"))
        })
    })
}

impl App {
    /// Adds a passage to the task box, as a quotation.
    pub fn quote(&self, text: &str) {
        self.composer().draft.update(|draft| *draft = quotation::add(draft, text));
        dom::focus(dom::TASK);
    }
}

/// The selected text, if it is in the transcript.
pub fn selection() -> Option<String> {
    let selection = dom::window().get_selection().ok().flatten().filter(|selection| !selection.is_collapsed())?;
    let transcript = dom::document().get_element_by_id(follow::TRANSCRIPT)?;
    if !transcript.contains(selection.anchor_node().as_ref()) {
        return None;
    }
    let text: String = String::from(selection.to_string()).chars().take(MOST).collect();
    (!text.trim().is_empty()).then_some(text)
}
