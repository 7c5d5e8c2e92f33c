//! Two runs side by side; one below the other on narrow pages.

use leptos::html;
use leptos::prelude::*;
use wasm_bindgen_futures::spawn_local;

use turnwise::worker::ViewerHost;
use turnwise_content::format::counted;
use turnwise_protocol::record::RecordQuery;
use turnwise_view::compare::{ComparedWith, Comparison, Fact, Pair, TextChange, TurnRow, TurnSummary};
use turnwise_view::replay::difference::ChangedText;

use crate::browser::dom;
use crate::client::slots::RunPage;
use crate::components::icon;
use crate::components::reactive::reactive;
use crate::state::App;
use crate::text::prose::Prose;
use crate::transcript::original::Original;
use crate::viewer::difference::pieces;
use crate::viewer::state::Compared;

/// Rows of turns shown at first, and added with each click.
const PORTION: usize = 40;
/// Texts up to this length, in bytes, are values: a number, the name of a model.
const VALUE: usize = 60;

pub fn compare(app: App, Compared { own, other, place }: Compared) -> impl IntoView {
    let pages = app.thread_now().and_then(|thread| thread.page_at(own));
    let pages = pages.zip(app.thread_with(other).and_then(|thread| thread.page_at(place)));
    let made = pages.and_then(|(a, b)| {
        let is_branch = |of: &RunPage, from: &RunPage| Original::of(of).is_some_and(|original| original.is(from));
        let with = match (is_branch(&a, &b), is_branch(&b, &a)) {
            (true, _) => ComparedWith::Original,
            (_, true) => ComparedWith::Branch,
            _ => ComparedWith::Other,
        };
        a.behind.with(|a| b.behind.with(|b| Comparison::new(a, b, with))).flatten()
    });
    let content = match made {
        Some(made) => drawn(app, &made).into_any(),
        None => html::p().class("nothing").child("This run is no longer in the list.").into_any(),
    };
    html::section()
        .class("scroll comparison")
        .attr("tabindex", "0")
        .attr("aria-label", "Comparison")
        .child(html::div().class("both").child(content))
}

fn drawn(app: App, comparison: &Comparison) -> impl IntoView + use<> {
    let head = |text: &String| html::th().attr("scope", "col").child(text.clone());
    let facts = comparison.facts.iter().map(fact).collect_view();
    let (rows, names) = (comparison.rows.clone(), comparison.names.clone());
    let shown = RwSignal::new(PORTION);
    let all = rows.len();
    let turns = For(ForProps::builder()
        .each(move || 0..shown.get().min(all))
        .key(|at| *at)
        .children(move |at| rows.get(at).map(|of| row(app, of, &names)))
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
    let table = html::table().class("facts-table").child((
        html::thead().child(html::tr().child((
            html::th().attr("scope", "col").child(html::span().class("hidden").child("Fact")),
            comparison.names.iter().map(head).collect_view(),
        ))),
        html::tbody().child(facts),
    ));
    (
        html::h1().class("task").child(comparison.title.clone().unwrap_or_else(|| "Two identical runs".to_owned())),
        html::p().class("summary").child(comparison.words.clone()),
        html::ol().class("pairs").attr("aria-label", "Turns").child(turns),
        reactive(more),
        html::h2().child("Final outputs"),
        outputs(app, &comparison.outputs, &comparison.names),
        html::h2().child("Facts"),
        table,
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

fn row(app: App, compared: &TurnRow, names: &[String; 2]) -> AnyView {
    match compared {
        TurnRow::Same(turns) => same(app, turns.clone()).into_any(),
        TurnRow::Turns(pair) => differing(app, pair, names).into_any(),
    }
}

/// Draws equal turns, folded until they are opened.
fn same(app: App, turns: Vec<TurnSummary>) -> impl IntoView {
    let text = counted(turns.len() as u64, "identical turn");
    html::li().class("same").child(folded(app, turns, text))
}

fn folded(app: App, turns: Vec<TurnSummary>, text: String) -> impl IntoView {
    let opened = RwSignal::new(false);
    let inside = move || {
        opened.get().then(|| {
            let rest = turns.len().saturating_sub(PORTION);
            let rest =
                (rest > 0).then(|| html::p().class("gap").child(format!("{} more", counted(rest as u64, "turn"))));
            let each = turns.iter().take(PORTION).map(|turn| side(app, Some(turn), "Both runs"));
            (each.collect_view(), rest)
        })
    };
    html::details()
        .on(leptos::ev::toggle, move |_| opened.set(true))
        .child((html::summary().child((icon::chevron(), text)), html::div().class("equal").child(reactive(inside))))
}

fn differing(app: App, pair: &Pair, names: &[String; 2]) -> impl IntoView + use<> {
    let text = format!("{}: {}", if pair.first { "First difference" } else { "Differs" }, pair.differs);
    let changes = pair.changes.iter().map(|change| text_change(change, names)).collect_view();
    let sides = match (pair.same_reply, &pair.sides) {
        // Two equal cards would say that nothing differs.
        (true, [Some(turn), _]) => html::div()
            .class("same")
            .child(folded(app, vec![turn.clone()], "The replies are identical".to_owned()))
            .into_any(),
        (_, sides) => {
            sides.iter().zip(names).map(|(turn, whose)| side(app, turn.as_ref(), whose)).collect_view().into_any()
        }
    };
    html::li().class("pair").attr("data-differs", "").attr("data-first", pair.first.then_some("")).child((
        html::p().class("differs").child(text),
        changes,
        sides,
    ))
}

/// Draws what changed in a text.
fn text_change(change: &TextChange, [before, after]: &[String; 2]) -> impl IntoView + use<> {
    let head = html::p().class("over").child((
        html::b().child(change.name.clone()),
        html::span().child(format!("{before}, then {}", uncapitalized(after))),
    ));
    html::div().class("turn-of change").child((head, changed(&change.texts)))
}

fn uncapitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default()
}

/// Draws two texts in one, of which a worker finds the changes.
fn changed([before, after]: &[String; 2]) -> AnyView {
    // A value was replaced, there are no words to compare.
    if before.len().max(after.len()) <= VALUE && !before.contains('\n') && !after.contains('\n') {
        return html::p()
            .class("text pieces")
            .child((html::del().child(before.clone()), " ", html::ins().child(after.clone())))
            .into_any();
    }
    let (before, after) = (before.clone(), after.clone());
    let found = RwSignal::new(None::<Result<Vec<ChangedText>, String>>);
    spawn_local(async move {
        let host = ViewerHost::new(dom::worker_url());
        let answer = host.ask::<Vec<ChangedText>>(RecordQuery::Compare { before, after }).await;
        let _ = found.try_set(Some(answer));
    });
    reactive(move || match found.get() {
        None => html::p().class("fact").child("Comparing").into_any(),
        Some(Ok(found)) => pieces(&found).into_any(),
        Some(Err(why)) => {
            html::p().class("fact").child(format!("The texts differ, but they could not be compared: {why}")).into_any()
        }
    })
    .into_any()
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

/// Draws the outputs next to each other, and below them what changed from one to the other.
fn outputs(app: App, texts: &[String; 2], names: &[String; 2]) -> AnyView {
    let [before, after] = texts;
    if before == after {
        let text = if before.is_empty() { "Neither run has an output." } else { "The outputs are the same." };
        return html::p().class("fact").child(text).into_any();
    }
    let side = |(whose, text): (&String, &String)| {
        if text.is_empty() {
            return html::div().class("turn-of none").child(format!("{whose} has no output.")).into_any();
        }
        let head = html::p().class("over").child(html::b().child(whose.clone()));
        html::div().class("turn-of").child((head, prose(app, text))).into_any()
    };
    let sides = html::div().class("pair").child(names.iter().zip(texts).map(side).collect_view());
    let [from, to] = names.each_ref().map(|name| uncapitalized(name));
    let legend = html::p().class("fact").child((
        html::del().child(format!("Only in {from}")),
        " ",
        html::ins().child(format!("Only in {to}")),
    ));
    html::div()
        .class("outputs")
        .child((
            sides,
            html::h3().child(format!("Changes in the text, from {from} to {to}")),
            legend,
            html::div().class("output").child(changed(texts)),
        ))
        .into_any()
}
