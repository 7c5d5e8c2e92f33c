//! The connection to each provider of a run: its URL, its format, and the messages sent so far.

use std::rc::Rc;

use gloo_net::http::{Headers, Method, RequestBuilder};
use wasm_bindgen::JsValue;

use super::access::Access;
use super::history::EncodedHistory;
use super::js;
use turnwise_demo_model::DemoRequest;
use turnwise_engine::{
    BaseId, Correction, Message, ModelCall, ProviderConfig, ProviderKind, RunConfig, ToolChoice, ToolSpec,
};
use turnwise_llm::{Encode, address};

/// All connections of a run.
pub(super) struct RunConnections {
    base: Option<BaseId>,
    lines: Vec<WireConnection>,
}

struct WireConnection {
    provider: Rc<ProviderConfig>,
    encoder: Box<dyn Encode>,
    learnt: Vec<Correction>,
    access: Access,
    /// Address, method and headers, built for the first request.
    template: Option<Template>,
    history: EncodedHistory,
    /// The messages themselves, for models that are not reached over HTTP.
    messages_so_far: Vec<Message>,
}

/// The part that all requests of a connection share.
#[derive(Clone)]
pub(super) struct Template {
    pub(super) request: web_sys::Request,
    pub(super) origin: Rc<str>,
    /// Whether it carries a key or a header of the page.
    pub(super) keyed: bool,
}

/// One request, ready to be sent.
pub(super) struct ReadyRequest {
    pub(super) provider: Rc<ProviderConfig>,
    pub(super) how: Transport,
}

pub(super) enum Transport {
    Http {
        template: Template,
        body: JsValue,
    },
    Demo {
        request: Box<DemoRequest>,
    },
    /// A model that the page calls itself: the number of its provider, and the request as JSON.
    Custom {
        provider: usize,
        request: Vec<u8>,
    },
    PromptApi {
        messages: Vec<Message>,
        tools: Vec<ToolSpec>,
    },
}

impl RunConnections {
    pub(super) fn new(config: &RunConfig, access: &[Access]) -> Self {
        let line = |(at, provider): (usize, &ProviderConfig)| WireConnection {
            provider: Rc::new(provider.clone()),
            encoder: turnwise_llm::encoder(provider, config, &[]),
            learnt: Vec::new(),
            access: Access::of(access, at, provider),
            template: None,
            history: EncodedHistory::default(),
            messages_so_far: Vec::new(),
        };
        RunConnections { base: None, lines: config.providers.iter().enumerate().map(line).collect() }
    }

    /// Replaces the credentials, from the next request on.
    pub(super) fn set_access(&mut self, access: &[Access]) {
        for (at, line) in self.lines.iter_mut().enumerate() {
            (line.access, line.template) = (Access::of(access, at, &line.provider), None);
        }
    }

    /// Adds the new messages and builds the request. `Err` is what the browser threw.
    pub(super) fn prepare(&mut self, config: &RunConfig, call: &ModelCall) -> Result<ReadyRequest, JsValue> {
        let fresh_base = self.base.replace(call.base) != Some(call.base);
        let count = self.lines.len().max(1);
        // With another base only, so nothing was written in the other way.
        if let Some(line) = self.lines.get_mut(call.provider % count)
            && line.learnt != call.learnt
        {
            line.encoder = turnwise_llm::encoder(&line.provider, config, &call.learnt);
            line.learnt.clone_from(&call.learnt);
        }
        for line in &mut self.lines {
            if fresh_base {
                line.start_over();
            }
            line.tell(&call.append);
        }
        match self.lines.get_mut(call.provider % count) {
            Some(line) => line.job(config, call),
            None => Err(js_sys::Error::new("the run has no provider").into()),
        }
    }
}

impl WireConnection {
    fn start_over(&mut self) {
        self.history = EncodedHistory::default();
        self.encoder.start(self.history.fresh());
        self.messages_so_far.clear();
    }

    fn tell(&mut self, messages: &[Message]) {
        if !self.provider.kind.is_http() {
            self.messages_so_far.extend_from_slice(messages);
            return;
        }
        for message in messages {
            self.encoder.message(message, self.history.fresh());
        }
    }

    fn job(&mut self, config: &RunConfig, call: &ModelCall) -> Result<ReadyRequest, JsValue> {
        let provider = Rc::clone(&self.provider);
        if !provider.kind.is_http() {
            let frozen = self.messages_so_far.len();
            self.messages_so_far.extend_from_slice(&call.tail);
            let how = self.in_page(config, call);
            self.messages_so_far.truncate(frozen);
            return Ok(ReadyRequest { provider, how: how? });
        }
        let template = match &self.template {
            Some(template) => template.clone(),
            None => self.template.insert(template(&provider, &self.access)?).clone(),
        };
        let mut rest = self.encoder.fork();
        let body = self.history.body(|out| {
            rest.mark(out);
            for message in &call.tail {
                rest.message(message, out);
            }
            rest.end(&call.declared(config), call.tools, out);
        })?;
        Ok(ReadyRequest { provider, how: Transport::Http { template, body } })
    }

    /// Prepares a request to a model that runs in the browser or that the page calls itself. It receives the whole conversation.
    fn in_page(&self, config: &RunConfig, call: &ModelCall) -> Result<Transport, JsValue> {
        match (self.provider.kind, self.access.in_page) {
            (ProviderKind::Custom | ProviderKind::PromptApi, Some(provider)) => {
                let (mut encoder, mut request) = (self.encoder.fork(), Vec::new());
                encoder.start(&mut request);
                for message in &self.messages_so_far {
                    encoder.message(message, &mut request);
                }
                encoder.end(&call.declared(config), call.tools, &mut request);
                Ok(Transport::Custom { provider, request })
            }
            (ProviderKind::Custom, None) => {
                Err(js_sys::Error::new("the page gave no function for this provider").into())
            }
            (ProviderKind::PromptApi, _) => {
                // The API has no tool choice, so only the tools that may be called are offered.
                let asked = config.tool_choice.as_ref().filter(|_| call.tools == ToolChoice::Asked);
                let may = |tool: &&ToolSpec| call.tools.offers(tool) && asked.is_none_or(|asked| asked.allows(tool));
                let tools = call.declared(config).iter().filter(may).cloned().collect();
                Ok(Transport::PromptApi { messages: self.messages_so_far.clone(), tools })
            }
            _ => {
                let attempts = match call.tools {
                    ToolChoice::None => config.synthesis_attempts(),
                    ToolChoice::Auto | ToolChoice::Asked | ToolChoice::Report => config.max_attempts,
                };
                let request = Box::new(DemoRequest {
                    mode: self.provider.demo.unwrap_or_default(),
                    seed: config.seed,
                    request: call.request,
                    attempt: call.attempt,
                    attempts,
                    messages: self.messages_so_far.clone(),
                    tools: call.declared(config).into_owned(),
                    choice: call.tools,
                });
                Ok(Transport::Demo { request })
            }
        }
    }
}

/// Builds the template of a provider's requests. A relative address is resolved against the page.
fn template(provider: &ProviderConfig, access: &Access) -> Result<Template, JsValue> {
    let server =
        turnwise_llm::server(provider).map_err(|fault| js_sys::Error::new(&format!("the base URL {fault}")))?;
    let head = turnwise_llm::request_head(provider, access.api_key.as_deref());
    let headers = web_sys::Headers::new()?;
    if let (ProviderKind::Openrouter, Some(page)) = (provider.kind, js::page_origin()) {
        headers.set("http-referer", &page)?; // OpenRouter identifies applications by it
    }
    for (name, value) in head.headers.iter().chain(&access.headers) {
        headers.set(name, value)?;
    }
    let request = RequestBuilder::new(&js::absolute(&head.url))
        .method(Method::POST)
        .headers(Headers::from_raw(headers))
        .build()
        .map_err(|error| js_sys::Error::new(&error.to_string()))?;
    let request = web_sys::Request::from(request);
    js::goes_to(&request.url(), &server)?;
    let origin = address::origin(&request.url()).into();
    Ok(Template { request, origin, keyed: access.is_keyed() })
}
