//! One chart: a picture, its interactive areas, and all its figures as a table.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;

use turnwise_view::insight::chart::{ChartId, ChartMark, ColourRole, InsightChart};
use turnwise_view::insight::draw::draw;

use crate::browser::dom;
use crate::browser::theme::Theme;
use crate::components::icon;
use crate::components::reactive::{attribute, flag, reactive};
use crate::insight::Looking;
use crate::state::App;

pub fn chart(app: App, looking: Looking, id: ChartId) -> impl IntoView {
    let current =
        Memo::new(move |_| looking.page.with(|page| page.charts.iter().find(|chart| chart.id == id).cloned()));
    let part = move |get: fn(&InsightChart) -> String| {
        move || current.with(|chart| chart.as_ref().map(get).unwrap_or_default())
    };
    let area = NodeRef::<html::Div>::new();
    let width = RwSignal::new(0_u32);
    let measure = move || {
        if let Some(area) = area.get_untracked() {
            width.set(u32::try_from(area.client_width()).unwrap_or_default());
        }
    };
    // The grid gets its columns only once it is in the page.
    Effect::new(move || {
        if area.get().is_some() {
            request_animation_frame(measure);
        }
    });
    let resized = window_event_listener(ev::resize, move |_| measure());
    on_cleanup(move || resized.remove());
    let dark = dark(app);
    let drawn = Memo::new(move |_| {
        let (width, dark) = (Some(width.get()).filter(|width| *width > 0)?, dark.get());
        current.with(|chart| chart.as_ref().map(|chart| draw(chart, width, dark)))
    });
    let alt = part(|chart| format!("{}. {}", chart.title, chart.summary));
    let image = move || {
        drawn.get().map(|drawn| {
            html::img()
                .attr("src", source(&drawn.svg))
                .attr("alt", alt())
                .attr("width", drawn.width.to_string())
                .attr("height", drawn.height.to_string())
        })
    };
    let spots = move || {
        let placed = drawn.get().map(|drawn| drawn.spots).unwrap_or_default();
        let marks = current.with(|chart| chart.as_ref().map(|chart| chart.marks.clone()).unwrap_or_default());
        placed.into_iter().zip(marks).map(|(at, mark)| spot(looking, at, &mark)).collect_view()
    };
    html::section()
        .class("chart")
        .attr("data-chart", format!("{id:?}").to_lowercase())
        .attr("aria-label", part(|chart| chart.title.clone()))
        .child((
            html::h2().child(part(|chart| chart.title.clone())),
            html::p().class("summary").child(part(|chart| chart.summary.clone())),
            html::div().class("picture").node_ref(area).child((reactive(image), reactive(spots))),
            reactive(move || current.with(|chart| chart.as_ref().and_then(legend))),
            figures(current),
        ))
}

/// Draws an area of the picture: it says what it shows, and filters if there is something to filter by.
fn spot(looking: Looking, [left, top, width, height]: [i32; 4], mark: &ChartMark) -> impl IntoView + use<> {
    let text = format!("{}: {}", mark.name, mark.words);
    let px = |n: i32| format!("{n}px");
    let Some(key) = mark.key.clone() else {
        return html::span()
            .class("spot")
            .attr("title", text)
            .style(("left", px(left)))
            .style(("top", px(top)))
            .style(("width", px(width)))
            .style(("height", px(height)))
            .into_any();
    };
    let reason = key.parse().ok();
    let is_set = move || looking.filter.with(|filter| filter.termination_reason == reason);
    html::button()
        .r#type("button")
        .class("spot")
        .attr("title", text.clone())
        .attr("aria-label", format!("Only {text}"))
        .attr("aria-pressed", attribute(move || if is_set() { "true" } else { "false" }))
        .style(("left", px(left)))
        .style(("top", px(top)))
        .style(("width", px(width)))
        .style(("height", px(height)))
        .on(ev::click, move |_| {
            looking.filter.update(|filter| {
                filter.termination_reason = if filter.termination_reason == reason { None } else { reason };
            });
        })
        .into_any()
}

fn legend(chart: &InsightChart) -> Option<impl IntoView + use<>> {
    let each = chart.legend.iter().map(|(role, name)| {
        html::li().child((html::span().class("swatch").attr("data-role", role_name(*role)), name.clone()))
    });
    (chart.legend.len() > 1).then(|| html::ul().class("legend").child(each.collect_view()))
}

fn role_name(role: ColourRole) -> &'static str {
    match role {
        ColourRole::Good | ColourRole::Plain => "good",
        ColourRole::Warn => "warn",
        ColourRole::Bad => "bad",
        ColourRole::Synthesis => "synthesis",
        ColourRole::Soft => "soft",
    }
}

/// Draws the table of figures; it is built when it is opened.
fn figures(current: Memo<Option<InsightChart>>) -> impl IntoView {
    let opened = RwSignal::new(false);
    let table = move || {
        let chart = current.get().filter(|chart| opened.get() && !chart.marks.is_empty())?;
        let row = |mark: &ChartMark| {
            html::tr()
                .child((html::th().attr("scope", "row").child(mark.name.clone()), html::td().child(mark.words.clone())))
        };
        let head = chart.columns.iter().map(|name| html::th().attr("scope", "col").child(name.clone())).collect_view();
        Some(
            html::div()
                .class("rows")
                .attr("tabindex", "0")
                .attr("role", "region")
                .attr("aria-label", format!("{}: figures", chart.title))
                .child(html::table().child((
                    html::thead().child(html::tr().child(head)),
                    html::tbody().child(chart.marks.iter().map(row).collect_view()),
                ))),
        )
    };
    let some = move || current.with(|chart| chart.as_ref().is_some_and(|chart| !chart.marks.is_empty()));
    html::details().class("figures").prop("hidden", flag(move || !some())).child((
        html::summary().on(ev::click, move |_| opened.set(true)).child((icon::chevron(), "Show figures")),
        reactive(table),
    ))
}

fn source(svg: &str) -> String {
    format!("data:image/svg+xml;charset=utf-8,{}", js_sys::encode_uri_component(svg))
}

/// Returns whether the page is dark, by the user's choice or the system's.
fn dark(app: App) -> Memo<bool> {
    let query = dom::window().match_media("(prefers-color-scheme: dark)").ok().flatten();
    let system = RwSignal::new(query.as_ref().is_some_and(web_sys::MediaQueryList::matches));
    if let Some(query) = query {
        let asked = query.clone();
        let changed = Closure::<dyn FnMut()>::new(move || system.set(asked.matches()));
        query.set_onchange(Some(changed.as_ref().unchecked_ref()));
        let held = StoredValue::new_local((query, changed));
        on_cleanup(move || {
            let _ = held.try_with_value(|(query, _)| query.set_onchange(None));
            held.dispose();
        });
    }
    Memo::new(move |_| match app.theme.get() {
        Theme::Auto => system.get(),
        Theme::Light => false,
        Theme::Dark => true,
    })
}
