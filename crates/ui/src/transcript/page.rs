//! One run in the transcript: its task, its turns, its endings.

use leptos::html;
use leptos::prelude::*;

use turnwise_view::picture::PictureView;
use turnwise_view::quotation;

use crate::answer;
use crate::answer::work;
use crate::answer::written;
use crate::client::slots::RunPage;
use crate::components::reactive::attribute;
use crate::composer::pictures;
use crate::state::App;
use crate::text::pieces;
use crate::transcript::original::Original;
use crate::transcript::turn;

/// Tasks longer than this are set as text, not as a headline.
const HEADLINE: usize = 180;

pub fn page(app: App, page: &RunPage) -> impl IntoView + use<> {
    let (quotation, task) = quotation::split(&page.head.task);
    let class = if task.chars().count() > HEADLINE { "task long" } else { "task" };
    let facts = page.head.facts.iter().map(|fact| html::li().child(fact.clone())).collect_view();
    let heading = if page.place == 0 {
        html::h1().class(class).attr("dir", "auto").child(pieces::text(task)).into_any()
    } else {
        html::h2().class(class).attr("dir", "auto").child(pieces::text(task)).into_any()
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
