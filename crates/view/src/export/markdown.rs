//! The Markdown report. Model output is included verbatim, with its Markdown; tool results are in fenced blocks.

use crate::note;
use crate::report::{ReportBody, ReportPosition};
use crate::{
    CallView, EndingView, FailedAttempt, HeadView, LaneView, PanelView, PartialView, ReportView, RunSource,
    SegmentView, TurnKind, TurnView, ViewModel,
};
use turnwise_record::trajectory::Trajectory;
use turnwise_record::trajectory::export::whole_cost;

pub fn write(document: &Trajectory) -> String {
    let source = RunSource::from(document);
    let (head, panel) = (HeadView::from(&source), PanelView::from(&source));
    let mut page = MarkdownPage::default();
    page.line(&format!("# {}", line(&head.task)));
    page.line(&head.facts.iter().map(|fact| escape(fact)).collect::<Vec<_>>().join(" · "));
    if head.task.contains('\n') {
        page.line(&quote(&head.task));
    }
    for picture in &head.pictures {
        page.line(&format!("*{}*", escape(&picture.alt)));
    }
    page.line("## Result");
    match &panel.ending {
        Some(ending) => page.ending(ending),
        None => page.line(&escape(&panel.note)),
    }
    let figures = [
        Some(("LLM calls", panel.calls.clone())),
        Some(("Tokens in", panel.tokens_in.clone())),
        panel.tokens_cached.clone().map(|count| ("of which cached", count)),
        Some(("Tokens out", panel.tokens_out.clone())),
        panel.tokens_reasoning.clone().map(|count| ("of which reasoning", count)),
        document.tokens.estimated.then(|| ("Token counts are", "estimates".to_owned())),
        panel.subagents.clone().map(|text| ("Sub-agents", text)),
        whole_cost(document)
            .filter(|_| document.requests > 0)
            .map(|cost| ("Cost", turnwise_content::format::dollars(cost))),
        Some(("Began", document.started_at.clone())),
        Some(("Run", format!("`{}`", document.run_id))),
        document.imported.as_ref().map(|from| ("Read from", escape(&from.to_string()))),
    ];
    let rows = figures.into_iter().flatten().map(|(name, value)| format!("- {name}: {value}"));
    page.line(&rows.collect::<Vec<_>>().join("\n"));
    page.line("## Transcript");
    page.transcript(&source, 3);
    page.0
}

/// Blocks with an empty line between them.
#[derive(Default)]
struct MarkdownPage(String);

impl MarkdownPage {
    fn line(&mut self, block: &str) {
        let block = block.trim_end();
        if block.is_empty() {
            return;
        }
        if !self.0.is_empty() {
            self.0.push('\n');
        }
        self.0.push_str(block);
        self.0.push('\n');
    }

    fn heading(&mut self, level: usize, text: &str) {
        self.line(&format!("{} {}", "#".repeat(level.min(6)), line(text)));
    }

    fn ending(&mut self, view: &EndingView) {
        self.line(&format!("**{}**", escape(&view.headline)));
        self.line(&format!(
            "- Ended by: `{}`\n- Outcome: `{}`, {}\n- Answer from: `{}`, {}\n- Used: {}",
            view.reason, view.outcome, view.outcome_words, view.source, view.source_words, view.turns
        ));
        if let Some(error) = &view.error {
            self.line(&quote(error));
        }
    }

    fn transcript(&mut self, source: &RunSource<'_>, level: usize) {
        let view = ViewModel::from(source);
        self.segments(&view, None, level);
        for turn in &view.turns {
            self.turn(source, turn, level);
            self.segments(&view, Some(turn.index), level);
        }
    }

    /// Writes the segments. The last ending of the root run is already shown above.
    fn segments(&mut self, view: &ViewModel, after: Option<usize>, level: usize) {
        let last = view.segments.len().saturating_sub(1);
        for (place, segment) in view.segments.iter().enumerate().filter(|(_, segment)| segment.after == after) {
            self.segment(segment, place < last || level > 3, level);
        }
    }

    fn segment(&mut self, segment: &SegmentView, with_ending: bool, level: usize) {
        if let Some(report) = segment.report.as_ref().filter(|report| report.position == ReportPosition::Before) {
            self.report(report, level);
        }
        if with_ending {
            self.heading(level, "End");
            self.ending(&segment.ending);
        }
        if let Some(report) = segment.report.as_ref().filter(|report| report.position == ReportPosition::After) {
            self.report(report, level);
        }
        if let Some(turns) = segment.granted {
            let turns = turnwise_content::format::counted(u64::from(turns), "turn");
            self.line(&format!("The user granted {turns} more."));
        }
    }

    fn report(&mut self, view: &ReportView, level: usize) {
        self.heading(level, &format!("{} ({})", view.title, view.format));
        if let Some(note) = view.note {
            self.line(note);
        }
        match &view.body {
            ReportBody::Text(text) => self.line(&fence("", text)),
            ReportBody::Markdown(text) => self.line(text),
            ReportBody::Json(_) | ReportBody::Slack(_) => self.line(&fence("json", &view.copy)),
        }
    }

    fn turn(&mut self, source: &RunSource<'_>, view: &TurnView, level: usize) {
        match &view.kind {
            TurnKind::Synthesis { title } => self.heading(level, title),
            TurnKind::Turn => self.heading(level, &view.label),
        }
        if let Some(remark) = &view.remark {
            self.line(&format!("*{}*", escape(remark)));
        }
        if view.changed_from.is_some() {
            self.line(&format!("*{}.*", crate::turn::CHANGED));
        }
        view.failed.iter().for_each(|failed| self.failed(failed));
        view.left.iter().for_each(|left| self.partial(left));
        if !view.reasoning.is_empty() {
            self.line("Reasoning:");
            self.line(&quote(&view.reasoning));
        }
        self.line(&view.content);
        view.calls.iter().for_each(|call| self.call(call));
        for lane in LaneView::of_turn(source, view.index) {
            self.lane(source, &lane, level + 1);
        }
        if let Some(counter) = &view.counter {
            self.line(&format!("`{}`", counter.text.replace('`', "'")));
        }
        for on_turn in note::at(source, view.index) {
            self.line(&format!("Note, {} UTC:", note::date(&on_turn.at, 0)));
            self.line(&quote(&on_turn.text));
        }
    }

    fn failed(&mut self, view: &FailedAttempt) {
        let slugs = view.slugs.iter().map(|slug| format!("`{}`", slug.name)).collect::<Vec<_>>().join(", ");
        let then = if view.then.is_empty() { String::new() } else { format!(", {}", view.then) };
        let label = format!("- {slugs} {} ({}{then})", escape(&view.message), view.attempt);
        self.line(&label);
        if let Some(notice) = &view.notice {
            self.line("  Notice to the model:");
            self.line(&quote(notice));
        }
        view.partial.iter().for_each(|partial| self.partial(partial));
        view.calls.iter().for_each(|call| self.call(call));
    }

    fn partial(&mut self, view: &PartialView) {
        self.line(&format!("  {}", view.remark));
        for text in [&view.reasoning, &view.content] {
            if !text.is_empty() {
                self.line(&quote(text));
            }
        }
    }

    fn call(&mut self, view: &CallView) {
        if let Some(progress) = &view.progress {
            let detail = progress.detail.as_deref().map(|detail| format!(": {detail}")).unwrap_or_default();
            return self.line(&format!("*{}{}*", escape(&progress.status), escape(&detail)));
        }
        let mut text = format!("**Tool call** `{}`", view.name.replace('`', "'"));
        if let Some(duration) = &view.duration {
            text.push_str(&format!(", {duration}"));
        }
        if let Some(slug) = &view.slug {
            text.push_str(&format!(", failed: `{}`", slug.name));
        }
        if let Some(how) = view.ended_run {
            text.push_str(&format!(", {how}"));
        }
        self.line(&text);
        self.line(&match &view.code {
            Some(code) => fence("js", code),
            None => fence("json", &view.args),
        });
        if let Some(result) = &view.result {
            self.line(if view.changed_from.is_some() { "Result (changed by hand):" } else { "Result:" });
            self.line(&fence("", result));
        }
        view.inner.iter().for_each(|inner| self.call(inner));
    }

    fn lane(&mut self, source: &RunSource<'_>, view: &LaneView, level: usize) {
        let agent = view.agent.as_deref().map(|agent| format!(" ({agent})")).unwrap_or_default();
        self.heading(level, &format!("Sub-agent {}{agent}: {}", view.task_id, view.task));
        self.line(&escape(&view.words));
        if let Some(child) = source.child(&view.call, view.task_id) {
            if let Some(whole) = view.whole(child.input) {
                self.line(&quote(&whole));
            }
            self.transcript(&child, level + 1);
        }
    }
}

/// Returns the text as one line, for headings.
fn line(text: &str) -> String {
    escape(&turnwise_content::format::one_line(text, 200))
}

/// Escapes our own text and error messages, which are not Markdown.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '#' | '|') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

fn quote(text: &str) -> String {
    text.trim().lines().map(|line| format!("> {}", escape(line)).trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}

/// Encloses the text in a fence that is longer than any run of backticks inside.
fn fence(lang: &str, text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let marks = "`".repeat(longest.max(2) + 1);
    format!("{marks}{lang}\n{}\n{marks}", text.trim_end_matches('\n'))
}
