//! The insight page: figures and charts over all runs, as a page of its own.

pub mod chart;
pub mod filters;
pub mod runs;

use leptos::ev;
use leptos::html;
use leptos::prelude::*;

use turnwise::worker::records::{self, KeptWorker};
use turnwise_record::trajectory::RunSummary;
use turnwise_view::insight::{Filter, Insight, InsightPage, Range, Tile};

use crate::browser::dom;
use crate::components::button::{Look, button};
use crate::components::icon::{Icon, icon};
use crate::components::reactive::{flag, reactive};
use crate::features::Feature;
use crate::parts::{later, parts};
use crate::state::App;

/// The filter of the page, and what it shows.
#[derive(Clone, Copy, Debug)]
pub struct Looking {
    pub filter: RwSignal<Filter>,
    pub range: RwSignal<Range>,
    pub page: Memo<InsightPage>,
}

pub const FEATURE: Feature =
    Feature { name: "insight", title: "Insight", icon: Icon::Chart, page: |app| later(load(app)) };

parts! {
    inspect: load(app: App) => content(app);
}

pub fn content(app: App) -> impl IntoView {
    let summaries: StoredValue<Vec<RunSummary>> = StoredValue::new(crate::insight::runs::summaries(app));
    // One worker draws for as long as the page is open.
    let kept: StoredValue<KeptWorker, LocalStorage> = StoredValue::new_local(records::keep(dom::worker_url()));
    on_cleanup(move || kept.dispose());
    let (filter, range) = (RwSignal::new(Filter::default()), RwSignal::new(Range::All));
    let found = move |filter: &Filter| summaries.with_value(|all| Insight::from_summaries(all, filter));
    let page = Memo::new(move |_| filter.with(|filter| InsightPage::new(&found(filter), filter)));
    let looking = Looking { filter, range, page };
    let charts = For(ForProps::builder()
        .each(move || page.with(|page| page.charts.iter().map(|chart| chart.id).collect::<Vec<_>>()))
        .key(|id| *id)
        .children(move |id| crate::insight::chart::chart(app, looking, id))
        .build());
    let empty = move || page.with(|page| page.empty).map(|text| html::p().class("none").child(text));
    let save = move |_| {
        let json = filter.with_untracked(|filter| serde_json::to_string_pretty(&found(filter))).unwrap_or_default();
        match dom::text_blob(&json, "application/json") {
            Some(blob) => dom::save_as("insight.json", &blob),
            None => app.complain("The figures could not be written to a file."),
        }
    };
    (
        html::div().class("insight-body").child((
            crate::insight::filters::filters(looking),
            reactive(empty),
            html::dl()
                .class("tiles")
                .child(reactive(move || page.with(|page| page.tiles.iter().map(tile).collect_view()))),
            html::div().class("charts").child(charts),
        )),
        html::div().class("insight-foot").child((
            html::span()
                .class("grow")
                .attr("role", "status")
                .child(reactive(move || page.with(|page| page.words.clone()))),
            button(Look::Quiet)
                .attr("title", "Download all figures of these runs as JSON")
                .prop("disabled", flag(move || page.with(|page| page.tiles.is_empty())))
                .on(ev::click, save)
                .child((icon(Icon::Download), "Download figures")),
        )),
    )
}

fn tile(tile: &Tile) -> impl IntoView + use<> {
    html::div().child((
        html::dt().child(tile.name),
        html::dd().class("value").child(tile.value.clone()),
        html::dd().class("note").child(tile.note.clone()),
    ))
}
