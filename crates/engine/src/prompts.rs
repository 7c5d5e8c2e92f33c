//! The exact texts that the engine writes for the model and for the report when there is none: the default system message, the
//! counter line, notices, the synthesis prompt, and the reports of failed runs (semantics.md#presets, semantics.md#turn-counter, semantics.md#when-a-run-reaches-its-turn-limit, retries.md#system-notices).

use super::config::{CounterConfig, Preset, RunConfig, SynthesisConfig, SynthesisRole};
use super::failure::Slug;
use super::judge::{Offer, Policy, TurnSuccess};
use super::message::{Image, Message, ToolCall, ToolMessage};
use super::own_tools::EarlierAsked;
use super::record::{CounterLevel, TerminationReason, Trigger};
use super::skills;

// --- the system message (semantics.md#presets) -----------------------------------------------------------------------

/// The system message: the user's own, or a description of the run, its number of turns, and that it may be asked to
/// synthesize. The catalogue of the skills follows it.
#[must_use]
pub fn system_text(config: &RunConfig) -> String {
    let text = own_text(config);
    match skills::catalogue(&config.skills) {
        Some(catalogue) => format!("{text}\n\n{catalogue}"),
        None => text,
    }
}

fn own_text(config: &RunConfig) -> String {
    if !config.system.is_empty() {
        return config.system.clone();
    }
    let who = match config.preset {
        Preset::Research => {
            "You are a research agent. You work on the user's task step by step, with the tools you are offered."
        }
        Preset::Strict => "You are an agent. You work on the user's task step by step, with the tools you are offered.",
        Preset::Orchestrator => {
            "You are an orchestrating agent. You plan the user's task and carry it out with the tools you are offered."
        }
    };
    let end = match config.preset {
        Preset::Strict => {
            "End the run by calling final_report: text alone does not end it, and in the last turn it is the only tool. \
             Each turn needs a tool call that is really run."
        }
        Preset::Research | Preset::Orchestrator => "When you have the answer, give it as text without calling a tool.",
    };
    let turns = config.max_turns;
    let counter = match config.counter {
        Some(_) => " A turn counter at the end of the tool results tells you how many are left.",
        None => "",
    };
    let limit = match config.synthesis_attempts() {
        0 => "",
        _ => {
            " If you run out of turns, you will be asked to synthesize your findings without tools, so keep track of what you have learned."
        }
    };
    format!("{who} You have {turns} turns; each reply of yours is one turn.{counter}{limit} {end}")
}

// --- at the end of tool results (semantics.md#turn-counter, retries.md#context-window) -----------------------------

/// The urgency of the counter in a turn, from the number of turns that remain after it.
#[must_use]
pub fn counter_level(config: &CounterConfig, turn: u32, max_turns: u32) -> CounterLevel {
    match max_turns.saturating_sub(turn) {
        left if left <= config.urgent_at => CounterLevel::Urgent,
        left if left <= config.moderate_at => CounterLevel::Moderate,
        _ => CounterLevel::Normal,
    }
}

/// The counter line of a turn, without the newline before it, and its level.
#[must_use]
pub fn counter_line(config: &CounterConfig, turn: u32, max_turns: u32) -> (CounterLevel, String) {
    let level = counter_level(config, turn, max_turns);
    let template = match level {
        CounterLevel::Urgent => &config.templates.urgent,
        CounterLevel::Moderate => &config.templates.moderate,
        CounterLevel::Normal | CounterLevel::Off => &config.templates.normal,
    };
    let text = template
        .replace("{turn}", &turn.to_string())
        .replace("{max}", &max_turns.to_string())
        .replace("{remaining}", &max_turns.saturating_sub(turn).to_string());
    (level, text)
}

/// `[Context 74% full]`, over 70 %.
#[must_use]
pub fn context_line(percent: u64) -> Option<String> {
    (percent > 70).then(|| format!("[Context {percent}% full]"))
}

// --- a conversation that outgrows the context window (retries.md#context-window) -----------------------------------

/// The beginning of the note in place of messages that a request leaves out.
pub const LEFT_OUT_PREFIX: &str = "[Left out here to fit the context window: ";

/// The note in place of the oldest messages of a conversation.
#[must_use]
pub fn left_out(messages: usize, turns: usize, results: usize, readable: bool) -> Message {
    let counted = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let mut parts = vec![counted(turns, "message") + " of the user"];
    if results > 0 {
        parts.push(counted(results, "tool result"));
    }
    let which = if messages == 1 { "message 1".to_owned() } else { format!("messages 1 to {messages}") };
    let read = match readable {
        true => " read_earlier({\"from\": 1}) reads them, from any number on.",
        false => "",
    };
    Message::user(format!("{LEFT_OUT_PREFIX}{which} of this conversation ({}).{read}]", parts.join(", ")))
}

/// What `read_earlier` answers: messages by number, in at most about `room` characters, and the pictures of a single message.
#[must_use]
pub fn earlier(left_out: &[Message], asked: EarlierAsked, room: usize) -> (String, Vec<Image>) {
    let EarlierAsked { from, count, offset } = asked;
    let of = left_out.len();
    if from > of {
        return (format!("There are {of} earlier messages, from 1 to {of}."), Vec::new());
    }
    let end = from.saturating_add(count).min(of + 1);
    let (mut texts, mut used, mut next) = (Vec::new(), 0, None);
    for (number, message) in (1..).zip(left_out).skip(from - 1).take(end - from) {
        let text = said(message);
        let skipped = if number == from { offset } else { 0 };
        let (left, most) = (text.chars().count().saturating_sub(skipped), room.saturating_sub(used));
        if left > most && number > from {
            next = Some((number, 0));
            break;
        }
        let shown: String = text.chars().skip(skipped).take(most).collect();
        let begin = if skipped > 0 { format!(", from character {skipped}") } else { String::new() };
        texts.push(format!("{number}. {}{begin}:\n{shown}", author(message)));
        used += left.min(most);
        if left > most {
            next = Some((number, skipped + most));
            break;
        }
    }
    let last = next.map_or(end - 1, |(number, at)| if at > 0 { number } else { number - 1 });
    let which = if last == from { format!("message {from}") } else { format!("messages {from} to {last}") };
    let more = match next {
        Some((number, 0)) => format!("; read_earlier({{\"from\": {number}}}) reads on"),
        Some((number, at)) => format!("; read_earlier({{\"from\": {number}, \"offset\": {at}}}) reads on"),
        None => String::new(),
    };
    let images = match left_out.get(from - 1) {
        Some(Message::User { images, .. } | Message::Tool(ToolMessage { images, .. })) if last == from => {
            images.clone()
        }
        _ => Vec::new(),
    };
    (format!("[{which} of {of}{more}]\n\n{}", texts.join("\n\n")), images)
}

fn author(message: &Message) -> String {
    match message {
        Message::System { .. } => "System".to_owned(),
        Message::User { .. } => "User".to_owned(),
        Message::Assistant(_) => "You".to_owned(),
        Message::Tool(tool) => format!("Result of {} ({})", tool.name, tool.call_id),
    }
}

/// A message as text: with the calls of a reply, and with the number of its pictures.
fn said(message: &Message) -> String {
    let (text, images) = match message {
        Message::System { content } => (content.clone(), 0),
        Message::User { content, images } | Message::Tool(ToolMessage { content, images, .. }) => {
            (content.clone(), images.len())
        }
        Message::Assistant(said) => {
            let call = |call: &ToolCall| format!("[calls {}({}) as {}]", call.name, call.written(), call.id);
            let parts = (!said.content.is_empty()).then(|| said.content.clone()).into_iter();
            (parts.chain(said.tool_calls.iter().map(call)).collect::<Vec<_>>().join("\n"), 0)
        }
    };
    match images {
        0 => text,
        1 => format!("{text}\n[1 picture or document: count 1 shows it]"),
        n => format!("{text}\n[{n} pictures or documents: count 1 shows them]"),
    }
}

// --- system notices (retries.md#system-notices) --------------------------------------------------------------------

/// The prefix of every notice.
pub const NOTICE_PREFIX: &str = "system notice: ";

/// The notice for a failure, from its first slug: what was wrong, why the turn did not progress, what to do now. It is one
/// user message in the next request, and never part of the history. `None`: the model did not cause the failure.
#[must_use]
pub fn notice(policy: Policy, offer: Offer, slugs: &[Slug]) -> Option<String> {
    let slug = *slugs.first()?;
    let wrong = slug.notice()?;
    let now = match (slug, offer, policy.turn_success) {
        (Slug::SynthesisToolCall, ..) => "Write your conclusion as text now, from what you already have.",
        (_, Offer::ReportOnly, _) => {
            "This is the last turn and final_report is the only tool: call it now, alone, with the report that you can give."
        }
        (Slug::FinalReportSchemaFail | Slug::FinalReportInvalidFormat | Slug::FinalReportMissing, _, _) => {
            "Call final_report again with these faults corrected."
        }
        (Slug::TruncatedOutput, _, _) => {
            "Continue with a shorter reply: finish the answer in fewer words, or call tools with shorter arguments."
        }
        (Slug::Refused, _, TurnSuccess::ExecutedTool) => {
            "Do not repeat it: call another of the offered tools, or final_report with what you have."
        }
        (_, _, TurnSuccess::AnyReply) => "Reply now with a tool call or with your answer as text.",
        (_, _, TurnSuccess::ExecutedTool) => {
            "Call one of the offered tools with valid arguments, or final_report if the task is done."
        }
    };
    Some(format!("{NOTICE_PREFIX}{wrong} {now}"))
}

// --- synthesis (semantics.md#when-a-run-reaches-its-turn-limit) ------------------------------------------------------

const RESEARCH: (&str, &str) = (
    "You have reached the maximum number of reasoning steps.",
    " Based on all the research and analysis you've done so far, provide a final conclusion or answer. Synthesize your \
     findings and provide the best response you can with the information gathered.",
);
const ORCHESTRATOR: (&str, &str) = (
    "You have reached the maximum number of turns.",
    " Please provide an answer based on the information you have gathered so far.",
);

/// The synthesis prompt as the model reads it.
#[must_use]
pub fn synthesis_prompt(preset: Preset, config: &SynthesisConfig, trigger: Trigger) -> Message {
    let (reached, ask) = match preset {
        Preset::Research | Preset::Strict => RESEARCH,
        Preset::Orchestrator => ORCHESTRATOR,
    };
    let text = match (&config.prompt, trigger) {
        (Some(own), _) => own.clone(),
        (None, Trigger::MaxTurns) => format!("{reached}{ask}"),
        (None, Trigger::Stop) => format!("You have been asked to finish now.{ask}"),
        (None, Trigger::Context) => format!("Your context window is full.{ask}"),
        (None, Trigger::WallTime) => format!("Your time is up.{ask}"),
        (None, Trigger::Tokens) => format!("Your token budget is used up.{ask}"),
        (None, Trigger::Cost) => format!("Your cost budget is used up.{ask}"),
    };
    match config.role {
        SynthesisRole::User => Message::user(text),
        SynthesisRole::System => Message::system(text),
    }
}

/// The user message after a grant.
#[must_use]
pub fn turns_granted(turns: u32) -> Message {
    Message::user(format!("You have been granted {turns} more turns. Continue with the task."))
}

// --- reports written by the system (semantics.md#when-a-run-reaches-its-turn-limit, semantics.md#how-a-run-ends, strict.md#the-contract) ---

/// The report if synthesis failed and no text is left to report.
#[must_use]
pub fn synthesis_failed_report(trigger: Trigger, error: &str) -> String {
    let first = match trigger {
        Trigger::MaxTurns => "Reached maximum reasoning steps.",
        Trigger::Stop => "Stopped on request.",
        Trigger::Context => "The context window is full.",
        Trigger::WallTime => "The time limit was reached.",
        Trigger::Tokens => "The token budget is used up.",
        Trigger::Cost => "The cost budget is used up.",
    };
    format!("{first} Failed to synthesize: {error}")
}

/// The report if a limit is reached and synthesis is switched off.
#[must_use]
pub fn no_synthesis_report(trigger: Trigger) -> String {
    match trigger {
        Trigger::MaxTurns => "Reached maximum reasoning steps.".to_owned(),
        other => synthesis_failed_report(other, "synthesis is switched off"),
    }
}

/// The report of a run that was cancelled in an earlier version, which did not keep the text that had arrived.
pub const CANCELLED_REPORT: &str = "The run was cancelled.";

/// The report of a cancelled run of whose reply no text had arrived.
pub const NOTHING_ARRIVED_REPORT: &str = "Stopped before an answer arrived.";

/// What happened to a reply that was refused or filtered; with the words of a refusal, since they are the only reason there is.
#[must_use]
pub fn declined(slug: Slug, content: &str) -> String {
    const MOST: usize = 300;
    let content = content.trim();
    let cut = if content.chars().nth(MOST).is_some() { "…" } else { "" };
    let words: String = content.chars().take(MOST).collect();
    match slug {
        Slug::Refusal if !words.is_empty() => format!("the model refused: {words}{cut}"),
        slug => slug.because().to_owned(),
    }
}

/// Why a request is not sent: what cannot be left out of it does not fit.
#[must_use]
pub fn too_large(tokens: u64, window: u64) -> String {
    format!(
        "The conversation is too long for the model: what cannot be left out of it has about {tokens} tokens, and the context window has {window}."
    )
}

/// The report of a run whose model could not be used. `found` is the assistant's text so far.
#[must_use]
pub fn llm_error_report(error: &str, found: &str) -> String {
    let mut report = format!("The run ended because the model could not be used: {error}");
    if !found.is_empty() {
        report.push_str("\n\nWhat it had written until then:\n\n");
        report.push_str(found);
    }
    report
}

/// The report of a failed strict run. `found` is the assistant's text so far.
#[must_use]
pub fn strict_failure_report(
    reason: TerminationReason,
    turns_completed: u32,
    report_attempts: u32,
    last_failure: &str,
    found: &str,
) -> String {
    let mut report = format!(
        "The run failed ({reason}): no report was accepted. Turns completed: {turns_completed}. \
         Report attempts: {report_attempts}. Last failure: {last_failure}."
    );
    if !found.is_empty() {
        report.push_str("\n\nWhat the model had written until then:\n\n");
        report.push_str(found);
    }
    report
}

/// The reason for a failure whose retries failed too, where no other report says so.
#[must_use]
pub fn no_attempts_left(error: &str, attempts: u32) -> String {
    let stop = if error.ends_with(['.', '!', '?', '…', ')']) { "" } else { "." };
    format!(
        "{error}{stop} No attempts left ({attempts} of {attempts}): try again later, or choose another model or provider."
    )
}

/// The reason for a run that would have to wait for the server longer than it waits.
#[must_use]
pub fn wait_too_long(error: &str, ms: u64) -> String {
    format!(
        "{error} The server asks to wait {} s, which is longer than this run waits. Start it again after that time.",
        ms.div_ceil(1000)
    )
}
