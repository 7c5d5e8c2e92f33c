//! Models that are asked in the page: a function of its own, and the browser's. Same decoder, same deadlines as for servers.

use std::ops::ControlFlow;

use gloo_net::http::Response;
use js_sys::Function;
use web_sys::AbortController;

use super::custom::{self, Answered};
use super::fetch::Exchange;
use super::reading::Reading;
use super::watch::Watch;
use super::{js, prompt_api as browser};
use crate::engine::{Event, Message, ToolSpec};

pub(super) async fn custom(exchange: &Exchange, complete: &Function, request: &[u8], abort: &AbortController) -> Event {
    let (reading, watch) = begin(exchange, abort);
    match custom::ask(complete, &exchange.provider, request, abort, sink(&reading, &watch)).await {
        Ok(Answered::Response(response)) => exchange.answered(Response::from(response), &watch, js::now()).await,
        Ok(Answered::Taken) => exchange.ended(&reading, &watch),
        Err(error) => exchange.failed(error, &watch),
    }
}

pub(super) async fn prompt_api(
    exchange: &Exchange,
    messages: &[Message],
    tools: &[ToolSpec],
    abort: &AbortController,
) -> Event {
    let (reading, watch) = begin(exchange, abort);
    match browser::ask(messages, tools, abort, sink(&reading, &watch)).await {
        Ok(()) => exchange.ended(&reading, &watch),
        Err(error) => exchange.failed(error, &watch),
    }
}

fn begin(exchange: &Exchange, abort: &AbortController) -> (Reading, Watch) {
    (Reading::new(exchange, js::now()), exchange.dog.watch(abort.clone()))
}

fn sink(reading: &Reading, watch: &Watch) -> impl FnMut(&[u8]) -> ControlFlow<()> + use<> {
    let (reading, watch) = (reading.clone(), watch.clone());
    move |bytes| reading.take_watched(bytes, &watch)
}
