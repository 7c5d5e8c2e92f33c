//! One run in the transcript: its task, its turns, its endings.

use leptos::html;
use leptos::prelude::*;

use crate::files::picture::PictureView;

use super::chunks;
use super::ending;
use super::pictures;
use super::slots::{Behind, Transcript, Whose};
use super::state::{App, Page};
use super::turn;

/// Tasks longer than this are set as text, not as a headline.
const HEADLINE: usize = 180;

pub fn page(app: App, page: &Page) -> impl IntoView + use<> {
    let task = page.head.task.clone();
    let class = if task.chars().count() > HEADLINE { "task long" } else { "task" };
    let facts = page.head.facts.iter().map(|fact| html::li().child(fact.clone())).collect_view();
    let heading = if page.place == 0 {
        html::h1().class(class).attr("dir", "auto").child(task).into_any()
    } else {
        html::h2().class(class).attr("dir", "auto").child(task).into_any()
    };
    html::article().class("page").child((
        heading,
        pictures(&page.head.pictures),
        html::ul().class("facts").child(facts),
        turns(app, &page.behind, &page.transcript, Some(page.place)),
    ))
}

/// Draws the pictures that came with the task.
fn pictures(of: &[PictureView]) -> impl IntoView + use<> {
    let each = of.iter().map(|picture| html::li().child(pictures::shown(picture)));
    (!of.is_empty()).then(|| html::ul().class("pictures").attr("aria-label", "Pictures").child(each.collect_view()))
}

/// Draws the turns of a run or of a sub-agent, and how its segments ended.
pub fn transcript(app: App, behind: &Behind, of: &Transcript) -> impl IntoView + use<> {
    turns(app, behind, of, None)
}

/// Draws turns and endings. `page`: the index of the run in its thread, if its turns can be branched.
fn turns(app: App, behind: &Behind, of: &Transcript, page: Option<usize>) -> impl IntoView + use<> {
    let (segments, behind, whose) = (of.segments.clone(), behind.clone(), of.whose);
    let place = page.unwrap_or(0);
    let first = endings(app, whose, place, segments.clone(), None);
    let transcript = of.clone();
    let turn = move |index: usize| {
        let renderer = app.renderer.get_value();
        let slot = behind.with(|source| transcript.turn(source, index, &renderer)).flatten()?;
        let after = endings(app, whose, place, segments.clone(), Some(index));
        Some((turn::turn(app, &behind, &slot, page), after).into_any())
    };
    (first, chunks::chunks(of.length.clone(), turn))
}

fn endings(
    app: App,
    whose: Whose,
    page: usize,
    segments: ArcRwSignal<Vec<crate::view::SegmentView>>,
    after: Option<usize>,
) -> impl IntoView {
    move || {
        segments.with(|segments| {
            segments
                .iter()
                .enumerate()
                .filter(|(_, segment)| segment.after == after)
                .map(|(place, segment)| ending::ending(app, segment, whose, (page, place)))
                .collect_view()
        })
    }
}
