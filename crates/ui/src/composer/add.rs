//! The one button that adds to a task: files, a folder, pictures.

use leptos::prelude::*;

use crate::browser::scripts;
use crate::components::icon::{Icon, icon};
use crate::components::menu::{MenuEntry, menu};
use crate::composer::{drop, pictures};
use crate::state::App;

pub fn button(app: App) -> impl IntoView {
    let mut entries = vec![MenuEntry {
        name: "Files",
        note: "For the agent's tools; they stay in this browser",
        act: Box::new(move || drop::choose(app)),
    }];
    if scripts::has_picker() {
        entries.push(MenuEntry {
            name: "A folder",
            note: "Read where it is; every change asks you first",
            act: Box::new(move || app.open_folder()),
        });
    }
    entries.push(MenuEntry {
        name: "Pictures",
        note: "Sent with the task; you can also paste them",
        act: Box::new(move || pictures::choose(app)),
    });
    menu("add-menu", "Add files, a folder or pictures", icon(Icon::Plus), entries)
}
