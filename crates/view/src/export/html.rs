//! The HTML report, the page that is shared: the answer, the work that led to it, and the facts. One page that opens from disk, with no script to run and nothing to load. It contains the document
//! itself as data, so that the page can be dropped onto the app and opened there.

use super::{nodes, turns};
use crate::markup::Html;
use crate::{HeadView, PanelView, RunSource, WorkView, quotation, segments};
use turnwise_record::trajectory::Trajectory;
use turnwise_record::trajectory::export::whole_cost;
use turnwise_record::trajectory::import::EMBEDDED;

/// The app's own colours.
const TOKENS: &str = include_str!("../../../../www/app/styles/tokens.css");
/// For reports with tables or charts of results.
const FIGURE: &str = include_str!("../../../../www/app/styles/figure.css");
const STYLE: &str = include_str!("page.css");
/// The page loads nothing and runs nothing.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";
/// Longer tasks are shown as text, not as a headline.
const HEADLINE: usize = 180;

pub fn write(document: &Trajectory) -> String {
    let source = RunSource::from(document);
    let head = HeadView::from(&source);
    let panel = PanelView::from(&source);
    let mut html = Html::default();
    html.raw("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    html.raw("<meta http-equiv=\"Content-Security-Policy\"").attribute("content", POLICY).raw(">\n");
    html.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    html.raw("<meta name=\"referrer\" content=\"no-referrer\">\n");
    html.element("title", "", &title(quotation::split(&head.task).1)).raw("\n");
    let mut body = Html::default();
    task(&mut body, &head);
    let work = WorkView::from_source(&source);
    answer(&mut body, &source, &panel, work.as_ref());
    // Without an answer, the turns are what there is to read.
    match &work {
        Some(work) => _ = body.raw("<details class=\"work\"><summary>").text(&work.words).raw("</summary>\n"),
        None => _ = body.raw("<details class=\"work\" open><summary>Turns</summary>\n"),
    }
    turns::transcript(&mut body, &source, 2, work.as_ref().and_then(|work| work.answer));
    body.raw("</details>\n");
    facts(&mut body, document, &head, &panel);
    let body = body.finish();
    // Only our own markup has such an attribute: quotes in texts are escaped.
    let figures = if body.contains("class=\"fig") { FIGURE } else { "" };
    html.raw("<style>\n").raw(TOKENS).raw(STYLE).raw(figures).raw("</style>\n</head>\n<body>\n<main>\n").raw(&body);
    foot(&mut html, document);
    html.raw("</main>\n");
    data(&mut html, document);
    html.raw("</body>\n</html>\n");
    html.finish()
}

/// Returns the title for the tab, which is also the file name when the page is printed.
fn title(task: &str) -> String {
    let task = turnwise_content::format::one_line(task, 80);
    if task.is_empty() { "Turnwise run".to_owned() } else { format!("{task} - Turnwise") }
}

fn task(html: &mut Html, head: &HeadView) {
    html.raw("<header>");
    let (quoted, task) = quotation::split(&head.task);
    if let Some(quoted) = quoted {
        html.element("blockquote", "asked-of", &quoted);
    }
    html.element("h1", if task.chars().count() > HEADLINE { "task long" } else { "task" }, task);
    if !head.pictures.is_empty() {
        html.raw("<ul class=\"pictures\">");
        for picture in &head.pictures {
            html.raw("<li><img").attribute("src", &picture.src()).attribute("alt", &picture.alt).raw("></li>");
        }
        html.raw("</ul>");
    }
    html.raw("</header>\n");
}

/// Writes the answer, or why there is none, and the run in one line.
fn answer(html: &mut Html, source: &RunSource<'_>, panel: &PanelView, work: Option<&WorkView>) {
    html.raw("<section class=\"answer\" aria-label=\"Answer\">\n");
    if let Some(turn) = work.and_then(|work| source.turns.get(work.answer?)) {
        nodes::markdown(html, &turn.content, 1);
    }
    let report = segments(source).pop().and_then(|last| last.report);
    let report = |html: &mut Html| report.iter().for_each(|report| turns::report(html, report, 2));
    match (&panel.ending, work) {
        (Some(ending), Some(_)) => {
            report(html);
            turns::headline(html, ending, &panel.facts.join(" \u{b7} "));
        }
        (Some(ending), None) => {
            turns::headline(html, ending, &ending.headline);
            report(html);
            if let Some(error) = &ending.error {
                html.element("p", "why", error);
            }
        }
        (None, _) => _ = html.element("p", "headline", &panel.note),
    }
    html.raw("</section>\n");
}

/// Writes the model and the settings, how the run ended exactly, and what it used.
fn facts(html: &mut Html, document: &Trajectory, head: &HeadView, panel: &PanelView) {
    html.raw("<section class=\"summary\"><h2>Facts</h2>\n<ul class=\"facts\">");
    head.facts.iter().for_each(|fact| _ = html.element("li", "", fact));
    html.raw("</ul>");
    if let Some(ending) = &panel.ending {
        turns::fields(html, ending);
    }
    html.raw("<dl class=\"figures\">");
    let mut row = |name: &str, value: &str| {
        html.raw("<div>").element("dt", "", name).element("dd", "", value).raw("</div>");
    };
    row("Requests", &panel.calls);
    row("Tokens in", &panel.tokens_in);
    if let Some(cached) = &panel.tokens_cached {
        row("of which cached", cached);
    }
    row("Tokens out", &panel.tokens_out);
    if let Some(reasoning) = &panel.tokens_reasoning {
        row("of which reasoning", reasoning);
    }
    if document.tokens.estimated {
        row("Token counts are", "estimates");
    }
    if let Some(text) = &panel.subagents {
        row("Sub-agents", text);
    }
    if let Some(ms) = panel.elapsed_ms.filter(|ms| *ms > 0) {
        row("Elapsed", &turnwise_content::format::clock(ms));
    }
    if let Some(cost) = whole_cost(document).filter(|_| document.requests > 0) {
        row("Cost", &turnwise_content::format::dollars(cost));
    }
    // To the minute.
    let began = document.started_at.get(..16).unwrap_or(&document.started_at);
    row("Began", &format!("{} UTC", began.replace('T', " ")));
    html.raw("</dl></section>\n");
}

fn foot(html: &mut Html, document: &Trajectory) {
    html.raw("<footer><p>");
    match &document.imported {
        Some(from) => _ = html.text("Imported from another format: ").text(&from.to_string()).text(". "),
        None => _ = html.text("Recorded by Turnwise ").text(&document.engine_version).text(". "),
    }
    html.element("code", "", &document.run_id);
    html.text(". The complete record is in this file. To replay, verify or branch the run, save this file, open Turnwise, and choose the file there under Files, or drop it on the page.");
    html.raw("</p></footer>\n");
}

/// Embeds the document as data. Without `<`, nothing in it can end the element.
fn data(html: &mut Html, document: &Trajectory) {
    let json = serde_json::to_string(document).unwrap_or_default().replace('<', "\\u003c");
    html.raw(EMBEDDED.0).raw(&json).raw(EMBEDDED.1).raw("\n");
}
