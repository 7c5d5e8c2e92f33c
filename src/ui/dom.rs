//! The few calls into the browser that several components share.

use wasm_bindgen::JsCast;
use web_sys::{Document, Element, HtmlElement, Window};

/// The page's window.
///
/// # Panics
/// Outside a page: the app has no meaning there.
#[allow(clippy::expect_used)]
#[must_use]
pub fn window() -> Window {
    web_sys::window().expect("the app runs in a page")
}

/// The page's document.
///
/// # Panics
/// Outside a page.
#[allow(clippy::expect_used)]
#[must_use]
pub fn document() -> Document {
    window().document().expect("a page has a document")
}

/// Milliseconds since 1970.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Dates are positive and whole.
#[must_use]
pub fn now() -> u64 {
    js_sys::Date::now() as u64
}

/// An element of a fixed name, so that its creation cannot fail.
///
/// # Panics
/// On a name that is no element name.
#[allow(clippy::expect_used)]
#[must_use]
pub fn element(name: &'static str) -> Element {
    document().create_element(name).expect("a valid element name")
}

/// Gives the keyboard to an element.
pub fn focus(id: &str) {
    let element = document().get_element_by_id(id).and_then(|element| element.dyn_into::<HtmlElement>().ok());
    if let Some(element) = element {
        let _ = element.focus();
    }
}
