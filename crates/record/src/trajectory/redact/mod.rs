//! Redaction: no secret reaches an event, a record, a log or the model. One function, [`Secrets::scrub`], for all of them.
//!
//! It removes the secrets that the shell knows (keys, values of headers) wherever they appear, also encoded or escaped, and
//! text that looks like a secret: docs/security.md has the list.

mod known;
mod looks;
mod stream;

use std::borrow::Cow;

use serde_json::Value;

pub use known::Secrets;
pub use looks::REDACTED;
use looks::{scan, without};
pub use stream::StreamScrub;

use turnwise_engine::{
    Authority, CounterConfig, Event, Message, ProviderConfig, RawResponse, Reply, RunConfig, Skill, Task, ToolOutcome,
    ToolSpec, user_info,
};

impl Secrets {
    /// Returns the text without secrets.
    #[must_use]
    pub fn scrub<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let (known, _) = self.find(text, true);
        let clean = if known.is_empty() { Cow::Borrowed(text) } else { Cow::Owned(without(text, &known, false)) };
        let spans = scan(&clean, 0, None, true).spans;
        if spans.is_empty() { clean } else { Cow::Owned(without(&clean, &spans, false)) }
    }

    pub fn scrub_in_place(&self, text: &mut String) {
        if let Cow::Owned(clean) = self.scrub(text) {
            *text = clean;
        }
    }

    /// Redacts every text in an event.
    pub fn scrub_event(&self, event: &mut Event) {
        match event {
            Event::ModelReplied { reply, raw, .. } => {
                self.scrub_reply(reply);
                self.scrub_raw(raw);
            }
            Event::ModelStreamed { partial, .. } => {
                self.scrub_in_place(&mut partial.content);
                self.scrub_in_place(&mut partial.reasoning);
            }
            Event::ModelFailed { error, raw, .. } => {
                self.scrub_in_place(&mut error.message);
                self.scrub_raw(raw);
            }
            Event::ToolFinished { outcome, .. } => match outcome {
                ToolOutcome::Executed { content, images: _, repaired_args, structured_content } => {
                    self.scrub_in_place(content);
                    [repaired_args, structured_content].into_iter().flatten().for_each(|value| self.scrub_value(value));
                }
                ToolOutcome::Rejected { message, .. } | ToolOutcome::Failed { message } => self.scrub_in_place(message),
                ToolOutcome::TimedOut { .. } | ToolOutcome::Cancelled | ToolOutcome::Stopped => {}
            },
            Event::ToolAsked { name, arguments, .. } => {
                self.scrub_in_place(name);
                self.scrub_in_place(arguments);
            }
            Event::Branched(branch) => {
                let texts = [branch.system.as_mut(), branch.say.as_mut()];
                texts.into_iter().flatten().for_each(|text| self.scrub_in_place(text));
                branch.providers.iter_mut().flatten().for_each(|provider| self.scrub_provider(provider));
                branch.reply.iter_mut().for_each(|reply| self.scrub_reply(reply));
                branch.authority.iter_mut().for_each(|authority| self.scrub_authority(authority));
            }
            Event::Resumed { authority, .. } => {
                authority.iter_mut().for_each(|authority| self.scrub_authority(authority));
            }
            Event::Permitted { .. }
            | Event::PermissionsSet { .. }
            | Event::TimerFired { .. }
            | Event::StopRequested
            | Event::Cancelled { .. }
            | Event::TurnsGranted { .. } => {}
        }
    }

    fn scrub_reply(&self, reply: &mut Reply) {
        self.scrub_in_place(&mut reply.content);
        self.scrub_in_place(&mut reply.reasoning);
        self.scrub_in_place(&mut reply.id);
        self.scrub_in_place(&mut reply.model);
        for call in &mut reply.tool_calls {
            self.scrub_in_place(&mut call.id);
            self.scrub_in_place(&mut call.name);
            self.scrub_in_place(&mut call.arguments);
        }
        if let Some(opaque) = &mut reply.opaque {
            self.scrub_value(opaque);
        }
    }

    /// Redacts the inputs of a run: the task's texts, the system text, the endpoints.
    pub fn scrub_origin(&self, config: &mut RunConfig, task: &mut Task) {
        self.scrub_in_place(&mut task.input);
        // Without `..`: a new field that has a text is redacted here.
        let RunConfig {
            preset: _,
            system,
            temperature: _,
            top_p: _,
            reasoning: _,
            tool_choice: _,
            max_turns: _,
            max_attempts: _,
            counter,
            synthesis,
            providers,
            report,
            tools,
            agents,
            skills,
            permissions: _,
            limits: _,
            retry: _,
            adjusted: _,
            shortens: _,
            seed: _,
        } = config;
        self.scrub_in_place(system);
        providers.iter_mut().for_each(|provider| self.scrub_provider(provider));
        if let Some(CounterConfig { templates: t, .. }) = counter {
            [&mut t.normal, &mut t.moderate, &mut t.urgent].into_iter().for_each(|text| self.scrub_in_place(text));
        }
        synthesis.iter_mut().filter_map(|s| s.prompt.as_mut()).for_each(|text| self.scrub_in_place(text));
        report.schema.iter_mut().for_each(|schema| self.scrub_value(schema));
        tools.iter_mut().for_each(|tool| self.scrub_tool(tool));
        for agent in agents {
            self.scrub_in_place(&mut agent.description);
            self.scrub_in_place(&mut agent.system);
        }
        skills.iter_mut().for_each(|skill| self.scrub_skill(skill));
        task.history.iter_mut().for_each(|message| self.scrub_message(message));
    }

    fn scrub_authority(&self, authority: &mut Authority) {
        authority.providers.iter_mut().for_each(|provider| self.scrub_provider(provider));
        authority.tools.iter_mut().for_each(|tool| self.scrub_tool(tool));
        authority.skills.iter_mut().for_each(|skill| self.scrub_skill(skill));
    }

    fn scrub_skill(&self, skill: &mut Skill) {
        let Skill { name: _, description, instructions, files, scripts, binary: _, allowed_tools: _ } = skill;
        self.scrub_in_place(description);
        self.scrub_in_place(instructions);
        files.values_mut().for_each(|text| self.scrub_in_place(text));
        scripts.iter_mut().for_each(|script| self.scrub_in_place(&mut script.description));
    }

    fn scrub_tool(&self, tool: &mut ToolSpec) {
        self.scrub_in_place(&mut tool.description);
        self.scrub_value(&mut tool.parameters);
    }

    fn scrub_provider(&self, provider: &mut ProviderConfig) {
        if let Some(range) = user_info(&provider.base_url) {
            provider.base_url.replace_range(range, "");
        }
        self.scrub_in_place(&mut provider.base_url);
        self.scrub_in_place(&mut provider.model);
        provider.provider_options.iter_mut().for_each(|options| self.scrub_value(options));
    }

    fn scrub_message(&self, message: &mut Message) {
        match message {
            Message::System { content } | Message::User { content, .. } => self.scrub_in_place(content),
            Message::Tool(tool) => self.scrub_in_place(&mut tool.content),
            Message::Assistant(said) => {
                self.scrub_in_place(&mut said.content);
                self.scrub_in_place(&mut said.reasoning);
                for call in &mut said.tool_calls {
                    self.scrub_in_place(&mut call.name);
                    self.scrub_in_place(&mut call.arguments);
                    let more = call.wire_id.iter_mut().chain(&mut call.repaired);
                    more.for_each(|text| self.scrub_in_place(text));
                }
                said.opaque.iter_mut().for_each(|opaque| self.scrub_value(opaque));
            }
        }
    }

    fn scrub_raw(&self, raw: &mut Option<RawResponse>) {
        if let Some(raw) = raw {
            self.scrub_in_place(&mut raw.text);
        }
    }

    fn scrub_value(&self, value: &mut Value) {
        match value {
            Value::String(text) => self.scrub_in_place(text),
            Value::Array(items) => items.iter_mut().for_each(|v| self.scrub_value(v)),
            Value::Object(fields) => {
                if fields.keys().any(|name| matches!(self.scrub(name), Cow::Owned(_))) {
                    let named = std::mem::take(fields).into_iter();
                    *fields = named.map(|(name, v)| (self.scrub(&name).into_owned(), v)).collect();
                }
                fields.values_mut().for_each(|v| self.scrub_value(v));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}
