//! The tabs of the settings. Every panel is in the page, so that a value keeps its place while another tab is open.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use web_sys::KeyboardEvent;

use turnwise_view::settings::{FieldError, SettingsTab};

use crate::browser::dom;
use crate::components::reactive::{attribute, reactive};
use crate::settings::Errors;

/// The tab that is open.
pub type OpenTab = RwSignal<SettingsTab>;

/// Draws the list of tabs. The arrow keys move through it; a tab with a wrong value is marked.
pub fn list(open: OpenTab, errors: Errors) -> impl IntoView {
    let pressed = move |event: KeyboardEvent| {
        let at = SettingsTab::ALL.iter().position(|tab| *tab == open.get_untracked()).unwrap_or_default();
        let last = SettingsTab::ALL.len() - 1;
        let next = match event.key().as_str() {
            "Home" => 0,
            "End" => last,
            "ArrowLeft" => at.checked_sub(1).unwrap_or(last),
            "ArrowRight" => (at + 1) % SettingsTab::ALL.len(),
            _ => return,
        };
        event.prevent_default();
        if let Some(tab) = SettingsTab::ALL.get(next) {
            open.set(*tab);
            dom::focus(&tab_id(*tab));
        }
    };
    let tabs = SettingsTab::ALL.map(|tab| {
        let is_open = Memo::new(move |_| open.get() == tab);
        let wrong = Memo::new(move |_| errors.with(|errors| errors.iter().any(|error| tab_of(error) == tab)));
        html::button()
            .r#type("button")
            .class("tab")
            .attr("role", "tab")
            .id(tab_id(tab))
            .attr("aria-controls", panel_id(tab))
            .attr("aria-selected", attribute(move || if is_open.get() { "true" } else { "false" }))
            .attr("tabindex", attribute(move || if is_open.get() { "0" } else { "-1" }))
            .on(ev::click, move |_| open.set(tab))
            .child((
                tab.title(),
                reactive(move || {
                    wrong
                        .get()
                        .then(|| html::span().class("dot").attr("role", "img").attr("aria-label", "has a wrong value"))
                }),
            ))
    });
    html::div()
        .class("tab-list")
        .attr("role", "tablist")
        .attr("aria-label", "Settings")
        .on(ev::keydown, pressed)
        .child(tabs.into_iter().collect_view())
}

/// Draws the panel of a tab.
pub fn panel(tab: SettingsTab, open: OpenTab, content: impl IntoView) -> impl IntoView {
    html::div()
        .class("tab-panel")
        .attr("role", "tabpanel")
        .id(panel_id(tab))
        .attr("aria-labelledby", tab_id(tab))
        .attr("hidden", attribute(move || (open.get() != tab).then_some("")))
        .child(content)
}

/// The tab of a wrong value.
pub fn tab_of(error: &FieldError) -> SettingsTab {
    error.field.row().map(|row| row.group.tab()).unwrap_or_default()
}

fn tab_id(tab: SettingsTab) -> String {
    format!("tab-{}", tab.title())
}

fn panel_id(tab: SettingsTab) -> String {
    format!("panel-{}", tab.title())
}
