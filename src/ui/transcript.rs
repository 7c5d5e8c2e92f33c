//! The document: the runs of the open thread below each other, followed to its end while it grows.

use leptos::html;
use leptos::prelude::*;

use super::page;
use super::state::App;

pub fn transcript(app: App) -> impl IntoView {
    let current = Memo::new(move |_| app.current.get());
    move || {
        current.get()?;
        let thread = app.threads.with_untracked(|threads| {
            threads.iter().find(|thread| Some(thread.id) == current.get_untracked()).cloned()
        })?;
        let pages = thread.pages.clone();
        let column = html::div().class("col").child(For(ForProps::builder()
            .each(move || pages.get())
            .key(|page| page.place)
            .children(move |of| page::page(app, of))
            .build()));
        Some(html::div().class("scroll").id("transcript").attr("tabindex", "-1").child(column))
    }
}
