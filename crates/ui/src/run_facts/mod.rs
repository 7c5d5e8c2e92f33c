//! The run panel: turn and meter, available actions, usage, ending.

pub mod export;
pub mod meter;

use leptos::ev;
use leptos::html;
use leptos::prelude::*;

use turnwise_content::format::clock;
use turnwise_engine::CounterLevel;
use turnwise_view::ending::Tone;
use turnwise_view::meter::level_words;
use turnwise_view::panel::{Estimated, Fill};
use turnwise_view::preview;
use turnwise_view::{EndingView, PanelPhase, PanelView, TickKind};

use crate::answer::ending::dot;
use crate::client::slots::{EndDrawn, RunPage};
use crate::components::button::{Look, button};
use crate::components::icon::{self, Icon, icon};
use crate::components::reactive::{attribute, reactive};
use crate::plans;
use crate::plans::state::PlanPage;
use crate::state::{App, Dialog};
use crate::transcript::call;
use crate::viewer::state::View;

pub fn panel(app: App) -> impl IntoView {
    let page = Memo::new_with_compare(move |_| app.page().map(PageKey), |a, b| a != b);
    let open = move || if app.panel_open.get() { "true" } else { "false" };
    let plan = Memo::new_with_compare(move |_| app.plan().map(PlanKey), |a, b| a != b);
    let content = move || match (plan.get(), page.get()) {
        (Some(PlanKey(page)), _) => plans::panel::panel(app, &page).into_any(),
        (None, Some(PageKey(page))) => of_run(app, &page).into_any(),
        (None, None) => before(app).into_any(),
    };
    html::aside()
        .class("panel")
        .attr("aria-label", attribute(move || if plan.with(Option::is_some) { "Plan" } else { "Run" }))
        .attr("data-open", attribute(open))
        .attr("data-start", attribute(move || app.current.get().is_none().then_some("true")))
        .child(reactive(content))
}

/// A page compared by identity, so that the panel is rebuilt only for another run.
#[derive(Clone)]
struct PageKey(RunPage);

impl PartialEq for PageKey {
    fn eq(&self, other: &Self) -> bool {
        self.0.panel == other.0.panel
    }
}

/// The same for a plan.
#[derive(Clone)]
struct PlanKey(PlanPage);

impl PartialEq for PlanKey {
    fn eq(&self, other: &Self) -> bool {
        self.0.panel == other.0.panel
    }
}

fn of_run(app: App, page: &RunPage) -> impl IntoView + use<> {
    let panel = page.panel.clone();
    let meter = {
        let panel = panel.clone();
        // The start page has a legend of the ticks; next to a run, it is their tooltip.
        let legend = page.behind.with(|source| preview::legend(source.config)).unwrap_or_default();
        let legend = legend.into_iter().map(|(_, words)| words).collect::<Vec<_>>().join("\n");
        move || panel.with(|view| figures(app, view, &legend))
    };
    let controls = {
        let panel = panel.clone();
        let end = page.end.clone();
        let state = Memo::new(move |before: Option<&Can>| match (end.get(), before) {
            (EndDrawn::Panel, Some(before)) => *before,
            _ => panel.with(Can::from_panel),
        });
        move || {
            let can = state.get();
            match can.phase {
                PanelPhase::Ended => ended(app, can).into_any(),
                // It belongs to another tab.
                PanelPhase::Running | PanelPhase::Synthesizing if can.elsewhere => export::downloads(app).into_any(),
                PanelPhase::Running | PanelPhase::Synthesizing => running(app).into_any(),
            }
        }
    };
    let numbers = {
        let panel = panel.clone();
        move || panel.with(|view| numbers(app, view))
    };
    let progress = {
        let panel = panel.clone();
        move || panel.with(|view| view.progress.as_ref().map(call::progress))
    };
    let end = page.end.clone();
    let is_due = Memo::new(move |_| !matches!(end.get(), EndDrawn::Panel | EndDrawn::PanelActions));
    let ending = move || {
        panel.with(|view| view.ending.as_ref().filter(|_| is_due.get()).map(|ending| ends(ending, &view.facts)))
    };
    (meter, progress, controls, reactive(ending), numbers, log(app, page))
}

fn log(app: App, page: &RunPage) -> impl IntoView + use<> {
    let log = page.log.clone();
    html::button()
        .r#type("button")
        .class("btn quiet log-button")
        .attr("title", "Failed attempts with their raw responses, and traces")
        .on(ev::click, move |_| app.dialog.set(Some(Dialog::Log)))
        .child((html::span().child(reactive(move || log.with(turnwise_view::log::Log::title))), html::kbd().child("L")))
}

fn figures(app: App, view: &PanelView, legend: &str) -> impl IntoView + use<> {
    let synthesizing = view.phase == PanelPhase::Synthesizing;
    let (level, word) = match (view.phase, view.level) {
        (PanelPhase::Synthesizing, _) => ("synthesis", "synthesis"),
        (PanelPhase::Ended, _) | (_, CounterLevel::Off) => ("off", ""),
        (PanelPhase::Running, of) => (meter::level(of), level_words(of)),
    };
    let more = html::button()
        .r#type("button")
        .class("btn quiet small more")
        .attr("aria-expanded", attribute(move || if app.panel_open.get() { "true" } else { "false" }))
        .on(ev::click, move |_| app.panel_open.update(|open| *open = !*open))
        .child("Details");
    // On narrow pages, where the bar with the views takes too much room.
    let replay = (view.phase == PanelPhase::Ended).then(|| {
        html::button()
            .r#type("button")
            .class("btn quiet square more")
            .attr("aria-label", "Replay")
            .attr("title", "Replay the run step by step")
            .on(ev::click, move |_| app.look(View::Replay))
            .child(icon(Icon::Play))
    });
    html::div().class("meter").attr("data-level", level).attr("data-synthesis", synthesizing.then_some("true")).child((
        html::div().class("figure").child((
            html::span().child(view.turn),
            html::span().class("of").child(format!("/ {}", view.max_turns)),
            html::span().class("word").child(word),
        )),
        html::div().class("legend-of").attr("title", legend.to_owned()).child(meter::meter(&view.meter)),
        replay,
        more,
        html::p().class("note").child(view.note.clone()),
    ))
}

fn action(
    class: &'static str,
    text: impl Into<String>,
    title: impl Into<String>,
    act: impl Fn() + 'static,
) -> impl IntoView {
    let (text, title) = (text.into(), title.into());
    html::button().r#type("button").class(class).attr("title", title).on(ev::click, move |_| act()).child(text)
}

/// What the two ways to end a run do.
const STOP: &str = "End now: nothing more is sent. The text that has arrived stays (Ctrl .)";
const WRAP_UP: &str = "One more request asks the model to conclude from what it has found";
/// The keys for Stop, for screen readers.
pub const STOP_KEYS: &str = "Control+. Meta+.";
const HOW_TO_END: &str = "Stop ends now and keeps the text. Wrap up has the model conclude from what it has.";
const HOW_TO_STOP: &str = "Stop ends now and keeps the text.";

/// Draws the button that ends the open run now.
pub fn stop(app: App) -> impl IntoView {
    button(Look::Quiet)
        .attr("title", STOP)
        .attr("aria-keyshortcuts", STOP_KEYS)
        .on(ev::click, move |_| app.stop())
        .child("Stop")
}

/// Draws the button that has the open run conclude, while that makes sense.
pub fn wrap_up(app: App) -> impl IntoView {
    let is_offered = offers_wrap_up(app);
    reactive(move || is_offered.get().then(|| action("btn quiet wrap-up", "Wrap up", WRAP_UP, move || app.wrap_up())))
}

fn offers_wrap_up(app: App) -> Memo<bool> {
    Memo::new(move |_| app.page().is_some_and(|page| page.can_wrap_up()))
}

fn running(app: App) -> impl IntoView {
    let is_offered = offers_wrap_up(app);
    let how = move || if is_offered.get() { HOW_TO_END } else { HOW_TO_STOP };
    html::div().class("row").child((stop(app), wrap_up(app), html::p().class("fact").child(reactive(how))))
}

/// The actions that a run allows.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Can {
    phase: PanelPhase,
    resume: bool,
    /// With so many turns.
    go_on: Option<u32>,
    elsewhere: bool,
}

impl Can {
    fn from_panel(view: &PanelView) -> Self {
        Can {
            phase: view.phase,
            resume: view.can_resume,
            go_on: view.can_continue.then_some(view.more_turns),
            elsewhere: view.elsewhere,
        }
    }
}

fn ended(app: App, can: Can) -> impl IntoView {
    // A next step stays visible on narrow pages too.
    let class = if can.resume || can.go_on.is_some() { "row next" } else { "row" };
    html::div().class(class).child((
        can.resume.then(|| {
            action("btn primary", "Resume", "Ask the model again and continue from there", move || app.resume())
        }),
        can.go_on.map(|turns| {
            action("btn primary", format!("Continue +{turns}"), format!("Grant {turns} more turns"), move || {
                app.grant(turns);
            })
        }),
        export::downloads(app),
    ))
}

fn numbers(app: App, view: &PanelView) -> impl IntoView + use<> {
    let row = |class: &'static str, name: &'static str, value: String| {
        (html::dt().class(class).child(name), html::dd().child(value))
    };
    let ended = view.elapsed_ms;
    // As if it had begun so much later.
    let started = view.started_at.saturating_add(view.paused_ms);
    let elapsed = move || clock(ended.unwrap_or_else(|| app.now.get().saturating_sub(started)));
    html::dl().class("figures").child((
        (html::dt().child("Requests"), html::dd().attr("title", view.calls_bound.clone()).child(view.calls.clone())),
        row("", "Tokens in", view.tokens_in.clone()),
        view.tokens_cached.clone().map(|count| row("sub", "of which cached", count)),
        row("", "Tokens out", view.tokens_out.clone()),
        view.tokens_reasoning.clone().map(|count| row("sub", "of which reasoning", count)),
        (view.tokens_estimated == Estimated::Estimated).then(|| row("sub", "token counts are", "estimates".to_owned())),
        view.cost
            .clone()
            .map(|cost| (html::dt().child("Cost"), html::dd().attr("title", view.cost_words.clone()).child(cost))),
        view.subagents.clone().map(|text| row("", "Sub-agents", text)),
        (html::dt().child("Elapsed"), html::dd().child(reactive(elapsed))),
        view.context.as_ref().map(context),
    ))
}

fn context(fill: &Fill) -> impl IntoView + use<> {
    let bar = html::progress().attr("max", "100").attr("value", fill.bar.to_string()).attr("aria-hidden", "true");
    (
        html::dt().child("Context window"),
        html::dd().child(format!("{}, {}", fill.percent, fill.words)),
        html::dd().class("fill").attr("data-level", meter::level(fill.level)).child(bar),
    )
}

fn ends(view: &EndingView, facts: &[String]) -> impl IntoView + use<> {
    let row = |name: &'static str, text: String| {
        html::div().child((html::dt().child(name), html::dd().child(html::span().class("plain").child(text))))
    };
    let code = |name: &'static str, code: String| {
        html::div().child((html::dt().child(name), html::dd().child(html::code().child(code))))
    };
    // The transcript gives the cause of a failure and its remedies.
    let failed = view.tone == Tone::Failed;
    html::section().class("ends").attr("aria-label", "Ending").child((
        html::p().class("headline").child((dot(Some(view.tone), "dot"), html::span().child(facts.join(" · ")))),
        html::details().child((
            html::summary().child((icon::chevron(), "Details")),
            html::dl().child((
                (!failed).then(|| row("Ending", view.headline.clone())),
                (!failed).then(|| row("Outcome", view.outcome_words.to_owned())),
                (!failed).then(|| row("Answer", view.source_words.to_owned())),
                code("Ended by", view.reason.clone()),
                code("Outcome", view.outcome.to_owned()),
                code("Answer from", view.source.to_owned()),
            )),
        )),
    ))
}

/// Draws what the ticks mean.
fn legend(lines: Vec<(TickKind, String)>) -> impl IntoView + use<> {
    let line = |(kind, text)| html::li().child((meter::swatch(kind), html::span().child(text)));
    html::ul()
        .class("legend")
        .attr("aria-label", "What the ticks mean")
        .child(lines.into_iter().map(line).collect_view())
}

/// Draws the panel before a run: what the run will have, and what the ticks mean.
fn before(app: App) -> impl IntoView {
    let preview = move || app.preview();
    reactive(move || {
        let view = preview();
        (
            html::div().class("meter").child((
                html::div().class("figure").child((
                    html::span().child(view.max_turns),
                    html::span().class("of").child(if view.max_turns == 1 { "turn" } else { "turns" }),
                )),
                meter::meter(&view.meter),
                html::p().class("note").child(view.note.clone()),
            )),
            legend(view.legend),
            html::dl().class("figures").child((
                (html::dt().child("Model"), html::dd().child(view.model.clone())),
                (html::dt().child("Requests"), html::dd().child(view.calls.clone())),
                (html::dt().child("Tools"), html::dd().child(view.tools.clone())),
            )),
            html::div().class("row").child(
                button(Look::Quiet)
                    .on(ev::click, move |_| app.dialog.set(Some(Dialog::Settings)))
                    .child((icon(Icon::Settings), "Settings")),
            ),
        )
    })
}
