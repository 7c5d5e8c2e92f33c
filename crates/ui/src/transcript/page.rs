//! One run in the transcript: its task, its turns, its endings.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;

use turnwise_view::picture::PictureView;
use turnwise_view::quotation;

use crate::answer;
use crate::answer::work;
use crate::answer::written;
use crate::client::slots::RunPage;
use crate::components::reactive::{attribute, reactive};
use crate::composer::pictures;
use crate::state::App;
use crate::text::pieces;
use crate::transcript::original::Original;
use crate::transcript::turn;

/// Tasks longer than this are set as text, not as a headline.
const HEADLINE: usize = 180;
/// Longer ones, in characters or in lines, show their beginning until all of it is asked for.
const CLAMPED: usize = 700;
const LINES: usize = 8;

pub fn page(app: App, page: &RunPage) -> impl IntoView + use<> {
    let (quotation, task) = quotation::split(&page.head.task);
    let class = if task.chars().count() > HEADLINE { "task long" } else { "task" };
    let is_clamped = task.chars().count() > CLAMPED || task.lines().count() > LINES;
    let whole = RwSignal::new(!is_clamped);
    let clamped = move || attribute(move || (!whole.get()).then_some(""));
    let show = is_clamped.then(|| {
        html::button()
            .r#type("button")
            .class("link show-task")
            .attr("aria-expanded", attribute(move || if whole.get() { "true" } else { "false" }))
            .on(ev::click, move |_| whole.update(|whole| *whole = !*whole))
            .child(reactive(move || if whole.get() { "Show less" } else { "Show all" }))
    });
    let facts = page.head.facts.iter().map(|fact| html::li().child(fact.clone())).collect_view();
    let heading = if page.place == 0 {
        html::h1().class(class).attr("data-clamped", clamped()).attr("dir", "auto").child(pieces::text(task)).into_any()
    } else {
        html::h2().class(class).attr("data-clamped", clamped()).attr("dir", "auto").child(pieces::text(task)).into_any()
    };
    let original = Original::of(page).map(|original| {
        html::li().class("original").child(original.compare(app, "link", || "Compare with the original".into_any()))
    });
    let drawn = page.clone();
    let folded = page.folded.clone();
    let article = html::article()
        .class("page")
        .attr("data-ended", attribute(move || drawn.is_over().then_some("")))
        .attr("data-folded", attribute(move || folded.get().then_some("")));
    article.child((
        quotation.map(|text| html::blockquote().class("asked-of").attr("dir", "auto").child(pieces::text(&text))),
        heading,
        show,
        pictures(&page.head.pictures),
        html::ul().class("facts").child((facts, original)),
        work::button(app, page),
        work::turns(page, turn::turns(app, &page.behind, &page.transcript, Some(page)).into_any()),
        written::cards(app, page),
        answer::acts(app, page),
    ))
}

/// Draws the pictures that came with the task.
fn pictures(views: &[PictureView]) -> impl IntoView + use<> {
    let each = views.iter().map(|picture| html::li().child(pictures::shown(picture)));
    (!views.is_empty()).then(|| html::ul().class("pictures").attr("aria-label", "Pictures").child(each.collect_view()))
}
