//! A button that opens a menu. The browser handles layering, Escape and clicks elsewhere (popover); keys and position
//! are handled here.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::*;
use web_sys::{Element, HtmlElement, KeyboardEvent};

use crate::browser::dom;
use crate::components::button::{Look, button};

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_name = Element)]
    type Boxed;
    #[wasm_bindgen(method, js_name = getBoundingClientRect)]
    fn rect(this: &Boxed) -> JsValue;
}

/// One entry: its name, a note on its use, and its action.
pub struct MenuEntry {
    pub name: &'static str,
    pub note: &'static str,
    pub act: Box<dyn Fn()>,
}

impl std::fmt::Debug for MenuEntry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Entry").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Draws the button and its menu. `id`: the id of the menu, unique on the page. `face`: the content of the button.
pub fn menu<V: IntoView + 'static>(
    id: &'static str,
    title: &'static str,
    face: V,
    entries: Vec<MenuEntry>,
) -> impl IntoView {
    let items = entries
        .into_iter()
        .map(|MenuEntry { name, note, act }| {
            html::button()
                .r#type("button")
                .attr("role", "menuitem")
                .attr("tabindex", "-1")
                .on(ev::click, move |_| {
                    close(id);
                    act();
                })
                .child((html::span().class("name").child(name), html::span().class("fact").child(note)))
        })
        .collect_view();
    (
        button(Look::Quiet)
            .attr("title", title)
            .attr("aria-haspopup", "menu")
            .attr("popovertarget", id)
            .on(ev::click, move |event| {
                if let Some(button) = event.current_target().and_then(|target| target.dyn_into::<Element>().ok()) {
                    place(id, &button);
                }
            })
            .child(face),
        html::div()
            .class("menu")
            .attr("id", id)
            .attr("role", "menu")
            .attr("aria-label", title)
            .attr("popover", "auto")
            .on(ev::keydown, move |event| keys(id, &event))
            .on(ev::toggle, move |_| opened(id))
            .child(items),
    )
}

fn element(id: &str) -> Option<HtmlElement> {
    dom::document().get_element_by_id(id)?.dyn_into().ok()
}

/// Moves the focus to the first entry of a menu that has just opened.
fn opened(id: &str) {
    let open = element(id).filter(|menu| menu.matches(":popover-open").unwrap_or(false));
    if let Some(first) = open.and_then(|menu| menu.query_selector("[role=menuitem]").ok().flatten()) {
        let _ = first.unchecked_into::<HtmlElement>().focus();
    }
}

fn close(id: &str) {
    if let Some(menu) = element(id) {
        let _ = menu.hide_popover();
    }
}

/// Places the menu next to its button, on the side with more room, before it is shown.
fn place(id: &str, button: &Element) {
    let Some(menu) = element(id) else { return };
    let (window, rect) = (dom::window(), button.unchecked_ref::<Boxed>().rect());
    let length = |size: Result<JsValue, _>| size.ok().and_then(|size| size.as_f64()).unwrap_or_default();
    let edge = |name: &str| length(js_sys::Reflect::get(&rect, &name.into()));
    let (width, height) = (length(window.inner_width()), length(window.inner_height()));
    let (top, bottom) = (edge("top"), edge("bottom"));
    let below = height - bottom > top;
    let style = menu.style();
    let px = |value: f64| format!("{}px", value.max(8.0).round());
    let set = |name: &str, value: &str| _ = style.set_property(name, value);
    let begins_left = edge("left") < width / 2.0;
    set("left", &if begins_left { px(edge("left")) } else { "auto".to_owned() });
    set("right", &if begins_left { "auto".to_owned() } else { px(width - edge("right")) });
    set("top", &if below { px(bottom + 6.0) } else { "auto".to_owned() });
    set("bottom", &if below { "auto".to_owned() } else { px(height - top + 6.0) });
    set("max-height", &px(if below { height - bottom } else { top } - 16.0));
}

/// Handles keys: arrows, Home and End move through the entries; Tab closes the menu.
fn keys(id: &str, event: &KeyboardEvent) {
    let Some(menu) = element(id) else { return };
    let Ok(items) = menu.query_selector_all("[role=menuitem]") else { return };
    let items: Vec<HtmlElement> = (0..items.length()).filter_map(|place| items.get(place)?.dyn_into().ok()).collect();
    let now = dom::document().active_element();
    let at = items.iter().position(|item| Some(item.as_ref()) == now.as_ref());
    let last = items.len().saturating_sub(1);
    let next = match (event.key().as_str(), at) {
        ("Tab", _) => return close(id),
        ("Home", _) | ("ArrowDown", None) => 0,
        ("End", _) | ("ArrowUp", None) => last,
        ("ArrowDown", Some(at)) => {
            if at == last {
                0
            } else {
                at + 1
            }
        }
        ("ArrowUp", Some(at)) => at.checked_sub(1).unwrap_or(last),
        _ => return,
    };
    event.prevent_default();
    if let Some(item) = items.get(next) {
        let _ = item.focus();
    }
}
