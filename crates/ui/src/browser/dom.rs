//! Browser calls that several components share.

use std::cell::Cell;

use leptos::prelude::{LocalStorage, StoredValue, WithValue, on_cleanup};
pub use leptos::prelude::{document, window};
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, UnwrapThrowExt};
use web_sys::{Element, HtmlElement, ResizeObserver};

use turnwise_engine::hidden::visible;

/// The element id of the task box, to focus it.
pub const TASK: &str = "task";

/// When a record says that it began, in milliseconds since 1970; now, if it does not say.
pub fn began(of_record: u64) -> u64 {
    if of_record == 0 { now() } else { of_record }
}

/// Returns the milliseconds since 1970.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Dates are positive and whole.
#[must_use]
pub fn now() -> u64 {
    js_sys::Date::now() as u64
}

/// Returns the milliseconds since the page was opened, with fractions.
#[must_use]
pub fn uptime() -> f64 {
    window().performance().map_or_else(js_sys::Date::now, |clock| clock.now())
}

/// What has to be added to UTC for the user's clock, in milliseconds.
#[allow(clippy::cast_possible_truncation)] // At most a day.
#[must_use]
pub fn clock_offset() -> i64 {
    -(js_sys::Date::new_0().get_timezone_offset() * 60_000.0) as i64
}

/// Creates an element. Its name is fixed and valid, so this cannot fail.
#[must_use]
pub fn element(name: &'static str) -> Element {
    document().create_element(name).unwrap_throw()
}

/// Moves the keyboard focus to an element.
pub fn focus(id: &str) {
    let element = document().get_element_by_id(id).and_then(|element| element.dyn_into::<HtmlElement>().ok());
    if let Some(element) = element {
        let _ = element.focus();
    }
}

/// Moves the focus to the beginning of a text field. Of a part of the page that is still loading: as soon as it is there.
pub fn focus_start(id: &str) {
    await_field(id, focus_start);
    focus(id);
    let active = document().active_element().filter(|active| active.id() == id);
    if let Some(area) = active.and_then(|active| active.dyn_into::<web_sys::HtmlTextAreaElement>().ok()) {
        let _ = area.set_selection_range(0, 0);
        area.set_scroll_top(0);
    }
}

/// Scrolls what is around an element as little as possible, until it is seen.
pub fn reveal(element: &Element) {
    let options = web_sys::ScrollIntoViewOptions::new();
    options.set_block(web_sys::ScrollLogicalPosition::Nearest);
    element.scroll_into_view_with_scroll_into_view_options(&options);
}

type Focusing = (String, fn(&str));

thread_local! {
    /// The field that is to get the focus once the part of the page that has it is there, and what gives it the focus.
    static AWAITED: Cell<Option<Focusing>> = const { Cell::new(None) };
}

fn await_field(id: &str, focus: fn(&str)) {
    AWAITED.set(document().get_element_by_id(id).is_none().then(|| (id.to_owned(), focus)));
}

/// Gives the focus to the field that was asked for before this part of the page had arrived.
pub fn focus_awaited() {
    if let Some((id, focus)) = AWAITED.take() {
        focus(&id);
    }
}

/// Moves the focus to an element, and selects the text of a field. If the part of the page that has it is still loading: as soon as
/// it is there.
pub fn select(id: &str) {
    await_field(id, select);
    focus(id);
    let active = document().active_element().filter(|active| active.id() == id);
    if let Some(input) = active.and_then(|active| active.dyn_into::<web_sys::HtmlInputElement>().ok()) {
        input.select();
    }
}

/// Puts the caret into the field that has the focus again: after a dialog, Chromium may give the focus back without it, and
/// then drops what is typed.
pub fn restore_caret() {
    let active = document().active_element();
    if let Some(area) = active.and_then(|active| active.dyn_into::<web_sys::HtmlTextAreaElement>().ok()) {
        let end = area.selection_end().ok().flatten().unwrap_or_default();
        let _ = area.set_selection_range(end, end);
    }
}

/// Calls `f` once the page was drawn, in a task of its own: drawing takes long enough without it. `f` is told how long it took,
/// in milliseconds. Hidden tabs are not drawn, but a run goes on in them: there, a little later.
pub fn after_frame(f: impl FnOnce(f64) + 'static) {
    if document().hidden() {
        return later(250, move || f(0.0));
    }
    let draws = Closure::once_into_js(move || {
        let begun = uptime();
        later(0, move || f(uptime() - begun));
    });
    let _ = window().request_animation_frame(draws.unchecked_ref());
}

/// Calls `f` in a task of its own, after so many milliseconds.
pub fn later(ms: i32, f: impl FnOnce() + 'static) {
    let f = Closure::once_into_js(f);
    let _ = window().set_timeout_with_callback_and_timeout_and_arguments_0(f.unchecked_ref(), ms);
}

/// Returns whether a media query matches now.
pub fn matches(query: &str) -> bool {
    window().match_media(query).ok().flatten().is_some_and(|list| list.matches())
}

/// Calls `f` now and whenever one of the elements changes size, for as long as the reactive owner lives.
pub fn on_resize(elements: &[&Element], f: impl Fn() + 'static) {
    let resized = Closure::<dyn FnMut()>::new(f);
    let Ok(observer) = ResizeObserver::new(resized.as_ref().unchecked_ref()) else { return };
    elements.iter().for_each(|element| observer.observe(element));
    let kept: StoredValue<_, LocalStorage> = StoredValue::new_local((observer, resized));
    on_cleanup(move || kept.with_value(|(observer, _)| observer.disconnect()));
}

/// A URL for a blob, revoked when it is dropped.
#[derive(Debug)]
pub struct BlobUrl(String);

impl BlobUrl {
    /// Creates a URL; `None`: the browser has no room for it.
    #[must_use]
    pub fn new(blob: &web_sys::Blob) -> Option<Self> {
        web_sys::Url::create_object_url_with_blob(blob).ok().map(BlobUrl)
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Drop for BlobUrl {
    fn drop(&mut self) {
        let _ = web_sys::Url::revoke_object_url(&self.0);
    }
}

/// Returns the URL of `worker.js`, which is next to the page, whatever the page's path.
#[must_use]
pub fn worker_url() -> String {
    beside("turnwise/worker.js")
}

/// Returns the URL of a file of the site.
#[must_use]
pub fn beside(path: &str) -> String {
    let base = document().base_uri().ok().flatten().unwrap_or_default();
    web_sys::Url::new_with_base(path, &base).map_or_else(|_| path.to_owned(), |url| url.href())
}

/// Saves a file through the browser's downloads. Its name there reads as it is.
pub fn save_as(name: &str, blob: &web_sys::Blob) {
    let Ok(url) = web_sys::Url::create_object_url_with_blob(blob) else { return };
    if let Ok(link) = element("a").dyn_into::<web_sys::HtmlAnchorElement>() {
        link.set_href(&url);
        link.set_download(&visible(name));
        link.click();
    }
    // By then the download holds its own reference.
    leptos::prelude::set_timeout(
        move || {
            let _ = web_sys::Url::revoke_object_url(&url);
        },
        std::time::Duration::from_secs(60),
    );
}

/// Returns a text as a blob.
#[must_use]
pub fn text_blob(text: &str, kind: &str) -> Option<web_sys::Blob> {
    let options = web_sys::BlobPropertyBag::new();
    options.set_type(kind);
    let parts = js_sys::Array::of1(&text.into());
    web_sys::Blob::new_with_str_sequence_and_options(&parts, &options).ok()
}

/// Lets the page do other work.
pub async fn pause() {
    rest(0).await;
}

/// Resolves after so many milliseconds.
pub async fn rest(ms: i32) {
    let promise = js_sys::Promise::new(&mut |resolve, _| {
        let _ = window().set_timeout_with_callback_and_timeout_and_arguments_0(&resolve, ms);
    });
    let _ = wasm_bindgen_futures::JsFuture::from(promise).await;
}
