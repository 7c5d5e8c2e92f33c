//! Features with a page of their own: each is its folder and one row (`features!` in lib.rs). A page is drawn in place of the run, has
//! an address (`#/NAME`), and is found in the menu and in the palette.

use leptos::html;
use leptos::prelude::*;

use crate::browser::focus;
use crate::components::button::{self, Look, button};
use crate::components::dialog::messages;
use crate::components::icon::{Icon, icon};
use crate::components::reactive::reactive;
use crate::state::App;

/// What the page knows of a feature.
#[derive(Debug)]
pub struct Feature {
    /// In the address.
    pub name: &'static str,
    pub title: &'static str,
    pub icon: Icon,
    /// Draws what is below the title.
    pub page: fn(App) -> AnyView,
}

/// One name, one feature.
impl PartialEq for Feature {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

/// Declares the folders of the features and lists what they give, `FEATURE`.
macro_rules! features {
    ($($folder:ident),* $(,)?) => {
        $(mod $folder;)*
        /// In the order of the menu.
        const FEATURES: &[&crate::features::Feature] = &[$(&$folder::FEATURE),*];
    };
}

/// Draws the page of the feature that is open.
pub fn page(app: App) -> impl IntoView {
    reactive(move || {
        let feature = named(app.feature.get()?)?;
        let close = button::close(move || app.close_feature()).attr("title", "Close (Esc)");
        let head = html::header().child((html::h1().child(feature.title), close));
        Some(
            html::section()
                .class("scroll feature")
                .attr("data-feature", feature.name)
                .attr("tabindex", "-1")
                .attr("aria-label", feature.title)
                .child((
                    html::div().class("wide").child((head, (feature.page)(app))),
                    messages(app, in_page(app, true)),
                )),
        )
    })
}

/// Whether messages belong in the page, below no dialog and no drawer: in that of a feature, or in that of a run.
pub fn in_page(app: App, of_feature: bool) -> Memo<bool> {
    Memo::new(move |_| {
        let is_covered = app.dialog.get().is_some() || app.rail_open.get();
        !is_covered && app.feature.with(Option::is_some) == of_feature
    })
}

/// Draws the features' rows of the menu.
pub fn rows(app: App) -> impl IntoView {
    let row = move |feature: &&'static Feature| {
        let feature = *feature;
        let is_open = move || app.feature.get() == Some(feature.name);
        button(Look::Bare)
            .attr("aria-current", crate::components::reactive::attribute(move || is_open().then_some("page")))
            .on(leptos::ev::click, move |_| app.open_feature(feature))
            .child((icon(feature.icon), feature.title))
    };
    crate::FEATURES.iter().map(row).collect_view()
}

/// Finds a feature by its name in the address.
pub fn named(name: &str) -> Option<&'static Feature> {
    crate::FEATURES.iter().chain(crate::HIDDEN).find(|feature| feature.name == name).copied()
}

impl App {
    pub fn open_feature(&self, feature: &'static Feature) {
        let here = self.current.get_untracked();
        self.start_page();
        self.rail_open.set(false);
        self.toast.set(None);
        self.left.set_value(here);
        self.feature.set(Some(feature.name));
        focus::arrive();
    }

    /// Goes back to the run that was open before, or to the start page.
    pub fn close_feature(&self) {
        match self.left.get_value().filter(|id| self.thread_with(*id).is_some()) {
            Some(id) => self.open_thread(id),
            None => self.new_run(),
        }
    }
}
