//! The transcript of a report: turns, calls, failed attempts, endings, and sub-agents below the call that started them.

use super::{figures, nodes};
use crate::action;
use crate::attempt::Weight;
use crate::call::{CallNote, FEW_CALLS, FigurePlace, GroupView};
use crate::ending::Tone;
use crate::markup::Html;
use crate::note;
use crate::report::{ReportBody, ReportPosition};
use crate::{
    CallState, CallView, CounterLine, EndingView, FailedAttempt, LaneView, PartialView, ReportView, RunSource,
    SegmentView, TurnKind, TurnView, ViewModel,
};
use turnwise_engine::CounterLevel;

/// Writes the transcript. `level` is the heading level of a turn, 2 in the run itself. `answer`: the turn whose text the page begins
/// with.
pub fn transcript(html: &mut Html, source: &RunSource<'_>, level: u8, answer: Option<usize>) {
    let view = ViewModel::from(source);
    html.raw("<section class=\"transcript\" aria-label=\"Transcript\">\n");
    segments(html, &view, None, level);
    for turn_view in &view.turns {
        turn(html, source, turn_view, level, answer == Some(turn_view.index));
        segments(html, &view, Some(turn_view.index), level);
    }
    html.raw("</section>\n");
}

/// Writes the segments, where they ended. The page begins with the end of the run itself.
fn segments(html: &mut Html, view: &ViewModel, after: Option<usize>, level: u8) {
    let is_said = level == 2 && view.panel.ending.is_some();
    let rest = view.segments.len().saturating_sub(usize::from(is_said));
    let here = view.segments.iter().take(rest).filter(|segment| segment.after == after);
    here.for_each(|segment| segment_end(html, segment, level));
}

fn segment_end(html: &mut Html, segment: &SegmentView, level: u8) {
    let position = segment.report.as_ref().map(|report| report.position);
    if let (Some(report), Some(ReportPosition::Before)) = (&segment.report, position) {
        self::report(html, report, level);
    }
    html.raw("<div class=\"ending\">");
    ends(html, &segment.ending);
    html.raw("</div>\n");
    if let (Some(report), Some(ReportPosition::After)) = (&segment.report, position) {
        self::report(html, report, level);
    }
    if let Some(turns) = segment.granted {
        let turns = turnwise_content::format::counted(u64::from(turns), "turn");
        html.element("p", "granted", &format!("The user granted {turns} more.")).raw("\n");
    }
}

pub(super) fn report(html: &mut Html, view: &ReportView, level: u8) {
    html.raw("<div class=\"report\">");
    heading(html, level, "", |html| _ = html.text(view.title).text(" ").element("span", "kind", view.format));
    if let Some(note) = view.note {
        html.element("p", "note", note);
    }
    match &view.body {
        ReportBody::Text(text) => _ = html.element("p", "plain", text),
        ReportBody::Markdown(text) => nodes::markdown(html, text, level),
        // The same text as the copy button gives.
        ReportBody::Json(_) | ReportBody::Slack(_) => _ = html.element("pre", "", &view.copy),
    }
    html.raw("</div>\n");
}

/// Writes how a segment ended: in a sentence, and as fields.
fn ends(html: &mut Html, view: &EndingView) {
    headline(html, view, &view.headline);
    fields(html, view);
    if let Some(error) = &view.error {
        html.element("p", "why", error);
    }
}

/// Writes a line with the sign of an ending.
pub(super) fn headline(html: &mut Html, view: &EndingView, text: &str) {
    html.raw("<p class=\"headline\" data-tone=\"").raw(tone(view)).raw("\">").text(text).close("p");
}

/// Writes the ending fields as text, together with their exact values.
pub(super) fn fields(html: &mut Html, view: &EndingView) {
    html.raw("<dl class=\"fields\">");
    let mut row = |name: &str, code: &str, text: &str| {
        html.raw("<div>").element("dt", "", name).raw("<dd>");
        if !code.is_empty() {
            html.element("code", "", code).raw(" ");
        }
        html.element("span", "words", text).raw("</dd></div>");
    };
    row("Ended by", &view.reason, "");
    row("Outcome", view.outcome, view.outcome_words);
    row("Answer from", view.source, view.source_words);
    row("Used", "", &view.turns);
    html.raw("</dl>");
}

fn tone(view: &EndingView) -> &'static str {
    match view.tone {
        Tone::Complete => "complete",
        Tone::Synthesized => "synthesized",
        Tone::Failed => "failed",
        Tone::Cancelled => "cancelled",
    }
}

fn heading(html: &mut Html, level: u8, class: &str, inner: impl FnOnce(&mut Html)) {
    let name = ["h1", "h2", "h3", "h4", "h5"].get(usize::from(level) - 1).unwrap_or(&"h6");
    html.open(name, class);
    inner(html);
    html.close(name);
}

fn turn(html: &mut Html, source: &RunSource<'_>, view: &TurnView, level: u8, is_answer: bool) {
    let synthesis = matches!(view.kind, TurnKind::Synthesis { .. });
    let of_level = if synthesis { "synthesis" } else { level_name(view.level) };
    html.raw("<article class=\"turn\" data-level=\"").raw(of_level).raw("\">");
    heading(html, level, "n", |html| {
        match (&view.kind, view.of) {
            (TurnKind::Synthesis { .. }, _) => _ = html.raw("<span aria-hidden=\"true\">∑</span>"),
            (TurnKind::Turn, of) => {
                html.raw("<span aria-hidden=\"true\">").text(&view.number.to_string());
                if let Some(of) = of {
                    html.raw("<span class=\"of\">/").text(&of.to_string()).raw("</span>");
                }
                html.raw("</span>");
            }
        }
        html.element("span", "hidden", &view.label);
    });
    html.open("div", if synthesis { "body box" } else { "body" });
    if let TurnKind::Synthesis { title } = &view.kind {
        html.element("p", "title", title);
    }
    if let Some(remark) = &view.remark {
        html.element("p", "remark", remark);
    }
    view.failed.iter().for_each(|failed| self::failed(html, failed));
    view.left.iter().for_each(|left| partial(html, left));
    if view.changed_from.is_some() {
        html.raw("<p>").element("span", "changed", crate::turn::CHANGED).raw("</p>");
    }
    if !view.reasoning.is_empty() {
        html.raw("<details class=\"reasoning\"><summary>Reasoning</summary>");
        html.element("p", "plain", &view.reasoning).raw("</details>");
    }
    match is_answer {
        true => _ = html.element("p", "note", "Its text is the answer, with which this page begins."),
        false if view.content.is_empty() => {}
        false => nodes::markdown(html, &view.content, level),
    }
    calls(html, &view.calls);
    for lane in LaneView::of_turn(source, view.index) {
        self::lane(html, source, &lane, level);
    }
    if let Some(CounterLine { text, .. }) = &view.counter {
        html.element("p", "counter", text);
    }
    note::at(source, view.index).for_each(|note| note_on(html, note));
    html.raw("</div></article>\n");
}

/// Writes what somebody noted about the turn.
fn note_on(html: &mut Html, note: &turnwise_record::trajectory::Note) {
    html.raw("<div class=\"note-on\"><p class=\"over\">Note, ").text(&note::date(&note.at, 0)).raw(" UTC</p>");
    html.raw("<p class=\"plain\" dir=\"auto\">").text(&note.text).raw("</p></div>");
}

fn level_name(level: CounterLevel) -> &'static str {
    match level {
        CounterLevel::Normal => "normal",
        CounterLevel::Moderate => "moderate",
        CounterLevel::Urgent => "urgent",
        CounterLevel::Off => "off",
    }
}

fn failed(html: &mut Html, view: &FailedAttempt) {
    let class = match view.weight {
        Weight::ByUser => "failed by-user",
        Weight::Passing => "failed",
        Weight::Last => "failed last",
    };
    html.open("div", class).raw("<p>");
    view.slugs.iter().for_each(|slug| _ = html.element("code", "", slug.name).raw(" "));
    html.text(&view.message);
    html.raw(" <span class=\"then\">").text(&view.attempt);
    if !view.then.is_empty() {
        html.text(", ").text(&view.then);
    }
    html.raw("</span></p>");
    if let Some(notice) = &view.notice {
        html.raw("<details><summary>Notice to the model</summary>");
        html.element("p", "plain", notice).raw("</details>");
    }
    view.partial.iter().for_each(|view| partial(html, view));
    calls(html, &view.calls);
    html.raw("</div>");
}

fn partial(html: &mut Html, view: &PartialView) {
    html.raw("<details open><summary>").text(view.remark).raw("</summary>");
    for text in [&view.reasoning, &view.content] {
        if !text.is_empty() {
            html.element("p", "plain", text);
        }
    }
    html.raw("</details>");
}

fn calls(html: &mut Html, views: &[CallView]) {
    let mut rest = views;
    for length in action::groups(views.iter().map(|view| view.name.as_str())) {
        let (group, after) = rest.split_at_checked(length).unwrap_or((rest, &[]));
        rest = after;
        if group.len() == 1 {
            group.iter().for_each(|view| call(html, view));
            continue;
        }
        let view = GroupView::new(group);
        html.raw("<details class=\"inner-calls\"><summary>").text(&view.words);
        if let Some(failed) = &view.failed {
            html.raw(" ").element("span", "slug", failed);
        }
        html.raw("</summary>");
        group.iter().for_each(|view| call(html, view));
        html.raw("</details>");
    }
}

fn call(html: &mut Html, view: &CallView) {
    if let Some(progress) = &view.progress {
        let detail = progress.detail.as_deref().map(|detail| format!(": {detail}")).unwrap_or_default();
        html.element("p", "progress", &format!("{}{detail}", progress.status));
        return;
    }
    let state = match view.state {
        CallState::Open => "open",
        CallState::Done => "done",
        CallState::Failed => "failed",
        CallState::Ended => "ended",
    };
    html.raw("<details class=\"call\" data-state=\"").raw(state).raw("\"><summary>");
    html.element("span", "name", &view.verb).raw(" ").element("span", "arg", &view.summary);
    match &view.note {
        Some(CallNote::Value(value)) => _ = html.raw(" ").element("span", "value", value),
        Some(CallNote::Size(size)) => _ = html.raw(" ").element("span", "size", size),
        None => {}
    }
    if view.changed_from.is_some() {
        html.raw(" ").element("span", "changed", "changed");
    }
    if let Some(slug) = &view.slug {
        html.raw(" ").element("code", "slug", slug.name);
    }
    if let Some(how) = view.ended_run {
        html.raw(" ").element("span", "tag", how);
    }
    if let Some(duration) = &view.duration {
        html.raw(" ").element("span", "t", duration);
    }
    if let Some(error) = &view.error {
        html.raw(" ").element("span", "why", error);
    }
    html.raw("</summary><div class=\"detail\">");
    match &view.code {
        Some(code) => {
            html.element("p", "over", &format!("Program, {}", view.name));
            nodes::javascript(html, code);
        }
        None => _ = html.element("p", "over", &format!("Arguments of {}", view.name)).element("pre", "", &view.args),
    }
    if let Some(result) = &view.result {
        let title = match view.changed_from {
            Some(_) => "Result, changed by hand, as the model read it",
            None => "Result, as the model read it",
        };
        html.element("p", "over", title).element("pre", "", result);
    }
    if view.figure == Some(FigurePlace::Inside) {
        figures::figure(html, view.result.as_deref());
    }
    match view.inner.len() > FEW_CALLS {
        true => {
            let count = turnwise_content::format::counted(view.inner.len() as u64, "call");
            html.raw("<details class=\"inner-calls\"><summary>").text(&count).raw("</summary>");
            calls(html, &view.inner);
            html.raw("</details>");
        }
        false => calls(html, &view.inner),
    }
    html.raw("</div></details>");
    if view.figure == Some(FigurePlace::Below) {
        figures::figure(html, view.result.as_deref());
    }
}

fn lane(html: &mut Html, source: &RunSource<'_>, view: &LaneView, level: u8) {
    html.raw("<details class=\"lane\"><summary>");
    html.element("span", "name", &format!("Sub-agent {}", view.task_id)).raw(" ");
    if let Some(agent) = &view.agent {
        html.element("span", "tag", agent).raw(" ");
    }
    html.element("span", "arg", &view.task).raw(" ").element("span", "size", &view.words).raw("</summary>");
    html.raw("<div class=\"inside\">");
    match source.child(&view.call, view.task_id) {
        Some(child) => {
            if let Some(whole) = view.whole(child.input) {
                html.element("p", "plain", &whole);
            }
            transcript(html, &child, level.saturating_add(1), None);
        }
        None => _ = html.element("p", "note", view.nothing_yet()),
    }
    html.raw("</div></details>");
}
