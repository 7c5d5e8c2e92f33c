//! Two runs side by side; one below the other on narrow pages.

use leptos::html;
use leptos::prelude::*;
use wasm_bindgen_futures::spawn_local;

use turnwise::worker::ViewerHost;
use turnwise_content::format::{counted, sentence_case};
use turnwise_protocol::record::RecordQuery;
use turnwise_view::compare::{Comparison, Fact, Pair, TurnRow, TurnSummary};
use turnwise_view::replay::difference::{ChangedText, PieceKind};

use crate::browser::dom;
use crate::components::icon;
use crate::components::reactive::reactive;
use crate::state::App;
use crate::text::prose::Prose;
use crate::transcript::original::Original;
use crate::viewer::difference::pieces;
use crate::viewer::state::Compared;

/// Rows of turns shown at first, and added with each click.
const PORTION: usize = 40;

pub fn compare(app: App, Compared { own, other, place }: Compared) -> impl IntoView {
    let pages = app.thread_now().and_then(|thread| thread.page_at(own));
    let pages = pages.zip(app.thread_with(other).and_then(|thread| thread.page_at(place)));
    let made = pages.and_then(|(a, b)| {
        let name = if Original::of(&a).is_some_and(|of| of.is(&b)) { "the original" } else { "the other" };
        let made = a.behind.with(|a| b.behind.with(|b| Comparison::new(a, b, name))).flatten();
        made.map(|made| (made, name))
    });
    // Once it is drawn.
    request_animation_frame(|| {
        if let Ok(Some(first)) = dom::document().query_selector(".pair[data-first]") {
            first.scroll_into_view();
        }
    });
    let content = match made {
        Some((made, name)) => drawn(app, &made, name).into_any(),
        None => html::p().class("nothing").child("This run is no longer in the list.").into_any(),
    };
    html::section()
        .class("scroll comparison")
        .attr("tabindex", "0")
        .attr("aria-label", "Comparison")
        .child(html::div().class("both").child(content))
}

fn drawn(app: App, comparison: &Comparison, name: &'static str) -> impl IntoView + use<> {
    let other = sentence_case(name);
    let head = |text: String| html::th().attr("scope", "col").child(text);
    let facts = comparison.facts.iter().map(fact).collect_view();
    let (rows, whose) = (comparison.rows.clone(), other.clone());
    let shown = RwSignal::new(PORTION);
    let all = rows.len();
    let turns = For(ForProps::builder()
        .each(move || 0..shown.get().min(all))
        .key(|at| *at)
        .children(move |at| rows.get(at).map(|of| row(app, of, &whose)))
        .build());
    let more = move || {
        let left = all.saturating_sub(shown.get());
        (left > 0).then(|| {
            html::button()
                .r#type("button")
                .class("link")
                .on(leptos::ev::click, move |_| shown.update(|shown| *shown += PORTION))
                .child(format!("Show {} more", left.min(PORTION)))
        })
    };
    (
        html::h1().class("task").child("Two runs side by side"),
        html::p().class("summary").child(comparison.words.clone()),
        html::table().class("facts-table").child((
            html::thead().child(html::tr().child((
                html::th().attr("scope", "col").child(html::span().class("hidden").child("Fact")),
                head("This run".to_owned()),
                head(other),
            ))),
            html::tbody().child(facts),
        )),
        html::h2().child("Turns"),
        html::ol().class("pairs").child(turns),
        reactive(more),
        html::h2().child("Final outputs"),
        outputs(app, &comparison.outputs, name),
    )
}

fn fact(compared: &Fact) -> impl IntoView + use<> {
    // An amount says by how much it differs; the other facts can be read.
    let change = compared.change.clone().map(|change| html::span().class("differs").child((", ", change)));
    let differs = compared.differs() && change.is_none();
    let mark = differs.then(|| html::span().class("hidden").child("differs"));
    html::tr().attr("data-differs", differs.then_some("")).child((
        html::th().attr("scope", "row").child((compared.name, mark)),
        html::td().child(compared.values[0].clone()),
        html::td().child((compared.values[1].clone(), change)),
    ))
}

fn row(app: App, compared: &TurnRow, other: &str) -> AnyView {
    match compared {
        TurnRow::Same(turns) => same(app, turns.clone()).into_any(),
        TurnRow::Turns(pair) => differing(app, pair, other).into_any(),
    }
}

/// Draws equal turns, folded until they are opened.
fn same(app: App, turns: Vec<TurnSummary>) -> impl IntoView {
    let opened = RwSignal::new(false);
    let text = counted(turns.len() as u64, "equal turn");
    let inside = move || {
        opened.get().then(|| {
            let rest = turns.len().saturating_sub(PORTION);
            let rest =
                (rest > 0).then(|| html::p().class("gap").child(format!("{} more", counted(rest as u64, "turn"))));
            let each = turns.iter().take(PORTION).map(|turn| side(app, Some(turn), "Both runs"));
            (each.collect_view(), rest)
        })
    };
    html::li().class("same").child(
        html::details().on(leptos::ev::toggle, move |_| opened.set(true)).child((
            html::summary().child((icon::chevron(), text)),
            html::div().class("equal").child(reactive(inside)),
        )),
    )
}

fn differing(app: App, pair: &Pair, other: &str) -> impl IntoView + use<> {
    let text = format!("{}: {}", if pair.first { "They part here" } else { "Differs" }, pair.differs);
    let [a, b] = &pair.sides;
    html::li().class("pair").attr("data-differs", "").attr("data-first", pair.first.then_some("")).child((
        html::p().class("differs").child(text),
        side(app, a.as_ref(), "This run"),
        side(app, b.as_ref(), other),
    ))
}

fn side(app: App, turn: Option<&TurnSummary>, whose: &str) -> AnyView {
    let Some(turn) = turn else {
        return html::div().class("turn-of none").child(format!("{whose} has no such turn.")).into_any();
    };
    let calls = turn.calls.iter().map(|[name, args, result]| {
        html::li().child((
            html::b().child(name.clone()),
            html::code().child(args.clone()),
            html::span().class("result").child(result.clone()),
        ))
    });
    let calls = (!turn.calls.is_empty()).then(|| html::ul().class("asks").child(calls.collect_view()));
    let name = if turn.synthesis { "Synthesis".to_owned() } else { format!("Turn {}", turn.number) };
    html::div()
        .class("turn-of")
        .attr("data-level", turn.synthesis.then_some("synthesis"))
        .child((
            html::p().class("over").child((html::b().child(name), html::span().child(whose.to_owned()))),
            turn.failed.clone().map(|text| html::p().class("failed").child(text)),
            (!turn.text.is_empty()).then(|| prose(app, &turn.text)),
            calls,
        ))
        .into_any()
}

fn prose(app: App, text: &str) -> impl IntoView + use<> {
    let prose = Prose::new("prose");
    prose.set(text);
    app.renderer.get_value().render(&prose);
    prose.place()
}

/// Draws the outputs next to each other, and below them what changed from the other run to this one; a worker finds it.
fn outputs(app: App, [own, other]: &[String; 2], name: &'static str) -> AnyView {
    if own == other {
        let text = if own.is_empty() { "Neither run has an output." } else { "The outputs are the same." };
        return html::p().class("fact").child(text).into_any();
    }
    let side = |whose: String, text: &str| {
        if text.is_empty() {
            return html::div().class("turn-of none").child(format!("{whose} has no output.")).into_any();
        }
        let head = html::p().class("over").child(html::b().child(whose));
        html::div().class("turn-of").child((head, prose(app, text))).into_any()
    };
    let sides = html::div().class("pair").child((side("This run".to_owned(), own), side(sentence_case(name), other)));
    let (before, after) = (other.clone(), own.clone());
    let found = RwSignal::new(None::<Result<Vec<ChangedText>, String>>);
    spawn_local(async move {
        let host = ViewerHost::new(dom::worker_url());
        let answer = host.ask::<Vec<ChangedText>>(RecordQuery::Compare { before, after }).await;
        let _ = found.try_set(Some(answer));
    });
    let shown = move || match found.get() {
        None => html::p().class("fact").child("Comparing").into_any(),
        Some(Ok(found)) => (legend(&found, name), html::div().class("output").child(pieces(&found))).into_any(),
        Some(Err(why)) => html::p()
            .class("fact")
            .child(format!("The outputs differ, but they could not be compared: {why}"))
            .into_any(),
    };
    html::div()
        .class("outputs")
        .child((sides, html::h3().child(format!("Changes in the text, from {name} to this run")), reactive(shown)))
        .into_any()
}

fn legend(pieces: &[ChangedText], name: &str) -> impl IntoView + use<> {
    let some = |kind: PieceKind| pieces.iter().any(|piece| piece.kind == kind);
    html::p().class("fact").child((
        some(PieceKind::Removed).then(|| (html::del().child(format!("Only in {name}")), " ")),
        some(PieceKind::Added).then(|| html::ins().child("Only in this run")),
    ))
}
