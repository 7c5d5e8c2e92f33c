//! One line to each provider of a run: where it is, how it is spoken to, what it was told so far.

use std::rc::Rc;

use gloo_net::http::{Headers, Method, RequestBuilder};
use wasm_bindgen::JsValue;

use super::history::History;
use super::session::Access;
use crate::engine::{BaseId, Message, ModelCall, ProviderConfig, ProviderKind, RunConfig, ToolChoice};
use crate::llm::demo::DemoRequest;
use crate::llm::{self, Encoder, Position};

/// All lines of a run.
pub(super) struct Wire {
    base: Option<BaseId>,
    lines: Vec<Line>,
}

struct Line {
    provider: Rc<ProviderConfig>,
    encoder: Encoder,
    access: Access,
    /// Address, method and headers, built at the first request.
    template: Option<Template>,
    history: History,
    /// The messages themselves: the demo model reads those, not bytes.
    told: Vec<Message>,
    position: Position,
}

/// What all requests of a line have in common.
#[derive(Clone)]
pub(super) struct Template {
    pub(super) request: web_sys::Request,
    pub(super) origin: Rc<str>,
}

/// One request, ready to go.
pub(super) struct Job {
    pub(super) provider: Rc<ProviderConfig>,
    pub(super) how: How,
}

pub(super) enum How {
    Http { template: Template, body: JsValue },
    Demo { request: Box<DemoRequest> },
}

impl Wire {
    pub(super) fn new(config: &RunConfig, access: &[Access]) -> Self {
        let mut access = access.iter().cloned();
        let line = |provider: &ProviderConfig| Line {
            provider: Rc::new(provider.clone()),
            encoder: Encoder::new(provider, config.temperature),
            access: access.next().unwrap_or_default(),
            template: None,
            history: History::default(),
            told: Vec::new(),
            position: Position::First,
        };
        Wire { base: None, lines: config.providers.iter().map(line).collect() }
    }

    /// Takes the new messages in and builds the request. `Err` is what the browser threw.
    pub(super) fn prepare(&mut self, config: &RunConfig, call: &ModelCall) -> Result<Job, JsValue> {
        let fresh_base = self.base.replace(call.base) != Some(call.base);
        for line in &mut self.lines {
            if fresh_base {
                line.start_over();
            }
            line.tell(&call.append);
        }
        let count = self.lines.len().max(1);
        match self.lines.get_mut(call.provider % count) {
            Some(line) => line.job(config, call),
            None => Err(js_sys::Error::new("the run has no provider").into()),
        }
    }
}

impl Line {
    fn start_over(&mut self) {
        self.history = History::default();
        self.history.fresh().extend_from_slice(&self.encoder.prefix());
        self.told.clear();
        self.position = Position::First;
    }

    fn tell(&mut self, messages: &[Message]) {
        if self.provider.kind == ProviderKind::Demo {
            self.told.extend_from_slice(messages);
            return;
        }
        for message in messages {
            self.encoder.message(message, self.position, self.history.fresh());
            self.position = Position::Next;
        }
    }

    fn job(&mut self, config: &RunConfig, call: &ModelCall) -> Result<Job, JsValue> {
        let provider = Rc::clone(&self.provider);
        if provider.kind == ProviderKind::Demo {
            let attempts = match call.tools {
                ToolChoice::None => config.synthesis_attempts(),
                ToolChoice::Auto | ToolChoice::Report => config.max_attempts,
            };
            let request = Box::new(DemoRequest {
                mode: provider.demo.unwrap_or_default(),
                seed: config.seed,
                request: call.request,
                attempt: call.attempt,
                attempts,
                messages: self.told.iter().chain(&call.tail).cloned().collect(),
                tools: config.tools.clone(),
                choice: call.tools,
            });
            return Ok(Job { provider, how: How::Demo { request } });
        }
        let template = match &self.template {
            Some(template) => template.clone(),
            None => self.template.insert(template(&provider, &self.access)?).clone(),
        };
        let (encoder, mut position) = (&self.encoder, self.position);
        let body = self.history.body(|out| {
            for message in &call.tail {
                encoder.message(message, position, out);
                position = Position::Next;
            }
            out.extend_from_slice(&encoder.suffix(&config.tools, call.tools));
        })?;
        Ok(Job { provider, how: How::Http { template, body } })
    }
}

/// A relative address is resolved against the page by the browser, as for any request.
fn template(provider: &ProviderConfig, access: &Access) -> Result<Template, JsValue> {
    let head = llm::request_head(provider, access.api_key.as_deref());
    let headers = web_sys::Headers::new()?;
    for (name, value) in head.headers.iter().chain(&access.headers) {
        headers.set(name, value)?;
    }
    let request = RequestBuilder::new(&head.url)
        .method(Method::POST)
        .headers(Headers::from_raw(headers))
        .build()
        .map_err(|error| js_sys::Error::new(&error.to_string()))?;
    let request = web_sys::Request::from(request);
    let origin = origin(&request.url()).into();
    Ok(Template { request, origin })
}

/// Scheme and host of an absolute address.
fn origin(url: &str) -> &str {
    let host = url.find("://").map_or(0, |at| at + 3);
    let end = url.get(host..).and_then(|rest| rest.find('/')).map_or(url.len(), |at| host + at);
    url.get(..end).unwrap_or(url)
}
