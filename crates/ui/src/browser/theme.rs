//! Light, dark, or the system's theme.

use leptos::prelude::*;

use crate::browser::dom;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    #[default]
    Auto,
    Light,
    Dark,
}

impl Theme {
    pub const ALL: [Theme; 3] = [Theme::Auto, Theme::Light, Theme::Dark];

    pub fn key(self) -> &'static str {
        match self {
            Theme::Auto => "auto",
            Theme::Light => "light",
            Theme::Dark => "dark",
        }
    }

    pub fn label(self) -> &'static str {
        match self {
            Theme::Auto => "System",
            Theme::Light => "Light",
            Theme::Dark => "Dark",
        }
    }

    pub fn of_key(key: &str) -> Theme {
        Theme::ALL.into_iter().find(|theme| theme.key() == key).unwrap_or_default()
    }
}

/// Keeps the document's theme in sync with the user's choice.
pub fn follow(chosen: RwSignal<Theme>) {
    Effect::new(move || {
        let theme = chosen.get();
        if let Some(root) = dom::document().document_element() {
            let _ = root.set_attribute("data-theme", theme.key());
        }
    });
}
