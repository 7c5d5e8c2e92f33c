//! Buttons and chips. Their states are in `base.css`; the gallery shows them.

use leptos::attr::Attribute;
use leptos::ev;
use leptos::html::{self, HtmlElement};
use leptos::prelude::*;

use crate::components::icon::{Icon, icon};
use crate::components::reactive::attribute;

/// A button: how important it is where it stands, and its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// The one main action.
    Primary,
    PrimarySmall,
    /// One of several actions.
    Quiet,
    QuietSmall,
    /// An action that is always there.
    Bare,
    BareSmall,
    /// An icon alone; the button needs a label.
    Square,
}

impl Look {
    const fn class(self) -> &'static str {
        match self {
            Look::Primary => "btn primary",
            Look::PrimarySmall => "btn primary small",
            Look::Quiet => "btn quiet",
            Look::QuietSmall => "btn quiet small",
            Look::Bare => "btn bare",
            Look::BareSmall => "btn bare small",
            Look::Square => "btn bare square",
        }
    }
}

/// Draws a button; the caller adds what it says and does. It says what it does: `Start the branch`.
///
/// One that cannot be used now has `aria-disabled`, so that it keeps the focus, and its action does nothing.
pub fn button(look: Look) -> HtmlElement<html::Button, impl Attribute, ()> {
    html::button().r#type("button").class(look.class())
}

/// Draws the button that closes what it is in.
pub fn close(act: impl Fn() + 'static) -> HtmlElement<html::Button, impl Attribute, impl RenderHtml> {
    button(Look::Square).attr("aria-label", "Close").on(ev::click, move |_| act()).child(icon(Icon::Close))
}

/// Draws one of several choices, each of which is on or off.
pub fn chip(
    face: impl IntoView,
    is_on: impl Fn() -> bool + Send + 'static,
    act: impl Fn() + 'static,
) -> HtmlElement<html::Button, impl Attribute, impl RenderHtml> {
    html::button()
        .r#type("button")
        .class("chip")
        .attr("aria-pressed", attribute(move || if is_on() { "true" } else { "false" }))
        .on(ev::click, move |_| act())
        .child(face)
}
