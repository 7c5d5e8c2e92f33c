//! A native modal dialog: focus stays inside, Escape closes it, the page behind it is inert. The browser does all of
//! that.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;

use crate::browser::dom;
use crate::components::button;
use crate::components::reactive::reactive;
use crate::components::toast::toast;
use crate::state::{App, Dialog};

/// Draws what the page has to tell while `here` holds: what is open makes the rest of the page inert.
pub fn messages(app: App, here: Memo<bool>) -> impl IntoView {
    toast(app.toast, here, move |deleted| app.undo(deleted))
}

/// Draws a dialog whose content exists only while it is open.
pub fn dialog<V: IntoView + 'static>(
    app: App,
    which: Dialog,
    class: &'static str,
    title: &'static str,
    content: impl Fn() -> V + Send + Sync + 'static,
) -> impl IntoView {
    let element = NodeRef::<html::Dialog>::new();
    let open = Memo::new(move |_| app.dialog.get() == Some(which));
    // Not by the memo: a dialog that the browser has closed may be opened again before the page hears of it.
    Effect::new(move || {
        let (Some(element), open) = (element.get(), app.dialog.get() == Some(which)) else { return };
        if open && !element.open() {
            let _ = element.show_modal();
        } else if !open && element.open() {
            element.close();
            dom::restore_caret();
        }
    });
    let close = move || {
        if app.dialog.get_untracked() == Some(which) {
            app.dialog.set(None);
        }
        // It opens with its list again.
        if which == Dialog::Files {
            app.drawer().file.set(None);
        }
    };
    let head =
        html::div().class("dialog-head").child((html::h2().child(title), button::close(close), messages(app, open)));
    html::dialog()
        .class(class)
        .attr("aria-label", title)
        .node_ref(element)
        // Escape: it is closed now, and `close` comes a task later.
        .on(ev::Custom::<ev::Event>::new("cancel"), move |_| close())
        .on(ev::close, move |_| {
            dom::restore_caret();
            // The event comes a task after the dialog was closed; it may be open again by then.
            if element.get_untracked().is_some_and(|element| !element.open()) {
                close();
            }
        })
        .on(ev::click, move |event| {
            // A click on the backdrop is a click on the dialog itself.
            if event.target().map(wasm_bindgen::JsValue::from)
                == element.get_untracked().map(wasm_bindgen::JsValue::from)
            {
                close();
            }
        })
        .child((head, reactive(move || open.get().then(&content))))
}
