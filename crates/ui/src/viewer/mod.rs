//! The viewer: a record stepped through event by event, and two runs side by side.
//!
//! A record is open in its own worker (`worker::ViewerHost`); the page sends queries, and draws what `view::replay`
//! makes of it.

pub mod address;
pub mod bar;
pub mod difference;
pub mod events;
pub mod follow;
pub mod handed;
pub mod keys;
pub mod load;
pub mod message;
pub mod open;
pub mod place;
pub mod request;
pub mod stage;
pub mod state;
pub mod stepped;
pub mod store;
pub mod timeline;

use leptos::html;
use leptos::prelude::*;

use crate::parts::{later, parts};
use crate::state::App;
use crate::transcript;

use crate::components::reactive::{attribute, reactive};
pub use crate::viewer::address::named as named_in_address;
pub use crate::viewer::bar::bar;
pub use crate::viewer::handed::notice as handed;
pub use crate::viewer::open::{open_text, read_text};
use crate::viewer::state::{LoadState, StagedRun, View};

/// Sets up keys, the record named in the page's address, and records that are handed over.
pub fn listen(app: App) {
    crate::viewer::keys::listen(app);
    crate::viewer::address::open(app);
    crate::viewer::handed::listen(app);
}

/// Draws what replaces the transcript.
pub fn viewer(app: App) -> impl IntoView {
    let view = Memo::new(move |_| app.view.get());
    let thread = Memo::new(move |_| app.current.get());
    reactive(move || {
        thread.get()?;
        let view = view.get();
        (view != View::Transcript).then(|| later(viewer_part(app, view)))
    })
}

parts! {
    inspect: viewer_part(app: App, view: View) => content(app, view);
}

fn content(app: App, view: View) -> Option<AnyView> {
    match view {
        View::Transcript => None,
        View::Replay => Some(replay(app).into_any()),
        View::Compare(compared) => Some(crate::compare::compare(app, compared).into_any()),
    }
}

fn replay(app: App) -> impl IntoView {
    reactive(move || {
        let stage = app.replays().stage.get()?;
        Some(of_stage(app, &stage))
    })
}

fn of_stage(app: App, stage: &StagedRun) -> impl IntoView + use<> {
    let ready = {
        let stage = stage.clone();
        move || match stage.load.get() {
            LoadState::Busy(text) => html::p()
                .class("doing")
                .child((html::span().class("pulse").attr("aria-hidden", "true"), text))
                .into_any(),
            LoadState::Nothing(text) => html::p().class("nothing").attr("role", "status").child(text).into_any(),
            LoadState::Ready => there(app, &stage).into_any(),
        }
    };
    html::section()
        .class("viewer")
        .attr("aria-label", "Replay")
        .child((html::h1().class("hidden").child("Replay"), ready))
}

fn there(app: App, stage: &StagedRun) -> impl IntoView + use<> {
    let tab = stage.tab;
    let (scroller, column) = (NodeRef::<html::Div>::new(), NodeRef::<html::Div>::new());
    stage.following.watch(scroller, column);
    let following = stage.following.clone();
    let let_go = move || following.let_go();
    let (wheeled, pressed) = (let_go.clone(), let_go.clone());
    let state = html::div()
        .class("scroll")
        .node_ref(scroller)
        .on(leptos::ev::wheel, move |_| wheeled())
        .on(leptos::ev::pointerdown, move |_| pressed())
        .on(leptos::ev::keydown, move |_| let_go())
        .attr("tabindex", "0")
        .attr("role", "region")
        .attr("aria-label", "The run up to this step")
        .on(leptos::ev::click, move |event| transcript::clicked(app, &event))
        .child(html::div().class("col").node_ref(column).child(crate::transcript::page::page(app, &stage.page)));
    (
        crate::viewer::timeline::timeline(app, stage),
        html::div().class("stage").attr("data-tab", attribute(move || tab.get().name())).child((
            crate::viewer::stage::tabs(stage),
            state,
            html::aside()
                .class("side")
                .attr("aria-label", "Details of the step")
                .child((crate::viewer::request::request(app, stage), crate::viewer::events::events(app, stage))),
        )),
    )
}
