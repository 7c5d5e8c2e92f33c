//! The notice of a new version of the app: shown once; the user decides when to activate it. `www/app/boot.js` detects and
//! activates it.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;

use crate::browser::dom;
use crate::components::button::{Look, button};
use crate::components::reactive::reactive;

pub fn notice() -> impl IntoView {
    let ready = RwSignal::new(false);
    let _ = window_event_listener_untyped("turnwise-update", move |_| ready.set(true));
    // The live region stays; only its content changes, or screen readers would not announce it.
    html::div().class("update").attr("role", "status").child(reactive(move || {
        ready.get().then(|| {
            (
                html::span().child("A new version is ready."),
                button(Look::PrimarySmall).on(ev::click, |_| take_over()).child("Reload"),
                button(Look::BareSmall).on(ev::click, move |_| ready.set(false)).child("Later"),
            )
        })
    }))
}

fn take_over() {
    if let Ok(event) = web_sys::Event::new("turnwise-take-over") {
        let _ = dom::window().dispatch_event(&event);
    }
}
