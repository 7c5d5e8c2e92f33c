//! The browser's built-in model, called from this thread, with the same decoder and deadlines as for servers.

use std::ops::ControlFlow;

use web_sys::AbortController;

use super::fetch::Exchange;
use super::reading::Reading;
use super::watch::Watch;
use super::{js, prompt_api as browser};
use crate::engine::{Event, Message, ToolSpec};

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

pub(super) fn begin(exchange: &Exchange, abort: &AbortController) -> (Reading, Watch) {
    (Reading::new(exchange, js::now()), exchange.dog.watch(abort.clone()))
}

fn sink(reading: &Reading, watch: &Watch) -> impl FnMut(&[u8]) -> ControlFlow<()> + use<> {
    let (reading, watch) = (reading.clone(), watch.clone());
    move |bytes| reading.take_watched(bytes, &watch)
}
