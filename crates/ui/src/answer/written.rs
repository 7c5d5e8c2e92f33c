//! The files that a run wrote, below its answer: open and download. Those that are gone by now are left out.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;

use turnwise_content::format::bytes;
use turnwise_engine::hidden::visible;
use turnwise_tools::path::normalize;
use turnwise_view::written::written;

use crate::client::slots::RunPage;
use crate::components::button::{Look, button};
use crate::components::icon::{Icon, icon};
use crate::components::reactive::reactive;
use crate::files::library::whole;
use crate::state::{App, Dialog};

/// Most files that are shown; the drawer has all of them.
const MOST: usize = 12;

/// Draws them once the run has ended.
pub fn cards(app: App, page: &RunPage) -> impl IntoView + use<> {
    let (drawn, behind) = (page.clone(), page.behind.clone());
    let paths = move || {
        let paths = drawn.is_over().then(|| behind.with(written)).flatten().unwrap_or_default();
        app.drawer().version.track();
        paths.into_iter().filter_map(|path| normalize(&path).ok()).collect::<Vec<_>>()
    };
    reactive(move || {
        let mut found: Vec<(String, String)> = Vec::new();
        for path in paths() {
            if let Some(blob) = app.file(&path).filter(|_| found.iter().all(|(known, _)| *known != path)) {
                found.push((path, bytes(whole(blob.size()))));
            }
        }
        let more = found.len().checked_sub(MOST).filter(|more| *more > 0);
        found.truncate(MOST);
        let cards = found.into_iter().map(|(path, size)| card(app, &path, size)).collect_view();
        (!cards.is_empty()).then(|| {
            html::section().class("written").attr("aria-label", "Files it wrote").child((
                html::ul().child(cards),
                more.map(|more| html::p().class("fact").child(format!("and {more} more in Files"))),
            ))
        })
    })
}

fn card(app: App, path: &str, size: String) -> impl IntoView + use<> {
    let (shown, saved) = (path.to_owned(), path.to_owned());
    let path = visible(path).into_owned();
    let named = |text: &str| {
        let label = format!("{text} {path}");
        button(Look::QuietSmall).attr("title", label.clone()).attr("aria-label", label)
    };
    let open = named("Open").child("Open").on(ev::click, move |_| {
        app.drawer().place.set(String::new());
        app.drawer().file.set(Some(shown.clone()));
        app.dialog.set(Some(Dialog::Files));
    });
    let save = named("Download").child(icon(Icon::Download)).on(ev::click, move |_| app.save_file(&saved));
    html::li().child((
        icon(Icon::File),
        html::span().class("name").child((
            html::span().class("path").attr("title", path.clone()).child(path.clone()),
            html::span().class("fact").child(size),
        )),
        open,
        save,
    ))
}
