//! Requests a provider's list of models.

use gloo_net::http::Response;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{AbortController, Request, RequestInit, RequestRedirect};

use super::access::Access;
use super::timer::Timeout;
use super::{js, stream};
use turnwise_engine::caps::MAX_MODEL_LIST;
use turnwise_engine::{EpochMillis, ModelError, ProviderConfig, Retry, Slug};
use turnwise_llm::RetryHeaders;
use turnwise_llm::models::{ModelInfo, read_list};
use turnwise_record::trajectory::Secrets;

/// A list is small and served at once: one that takes longer will not come.
const DEADLINE_MS: f64 = 20_000.0;

/// Lists the models of a provider, with what is known about each. Not an LLM request: it counts against no bound.
///
/// # Errors
/// The failure, classified as for a run; `provider_error` if this kind of provider has no list.
pub async fn list_models(provider: &ProviderConfig, access: &Access) -> Result<Vec<ModelInfo>, ModelError> {
    let access = &access.clone().trimmed();
    ask(provider, access).await.map_err(|mut error| {
        // A server's error may echo a key.
        Secrets::new(access.secrets()).scrub_in_place(&mut error.message);
        error
    })
}

async fn ask(provider: &ProviderConfig, access: &Access) -> Result<Vec<ModelInfo>, ModelError> {
    let server = turnwise_llm::server(provider).map_err(|fault| failure(format!("The base URL {fault}.")))?;
    let head = turnwise_llm::models_head(provider, access.api_key.as_deref());
    if head.url.is_empty() {
        return Err(failure(format!("{} has no list of models.", provider.kind.as_str())));
    }
    let unsendable = |thrown: JsValue| failure(format!("The request could not be made: {}", js::error_text(&thrown)));
    let headers = web_sys::Headers::new().map_err(unsendable)?;
    for (name, value) in head.headers.iter().chain(&access.headers) {
        headers.set(name, value).map_err(unsendable)?;
    }
    let abort = AbortController::new().map_err(unsendable)?;
    let init = RequestInit::new();
    init.set_headers(&headers);
    init.set_signal(Some(&abort.signal()));
    // As for requests to models: a redirect would forward headers that contain a key.
    init.set_redirect(RequestRedirect::Manual);
    let request = Request::new_with_str_and_init(&js::absolute(&head.url), &init).map_err(unsendable)?;
    js::goes_to(&request.url(), &server).map_err(unsendable)?;
    let deadline = Timeout::new(DEADLINE_MS, move || abort.abort());
    let unreachable =
        |reason: JsValue| turnwise_llm::classify_fetch_failure(provider, &js::error_text(&reason), js::online());
    let response = JsFuture::from(js::fetch(&request, &RequestInit::new())).await.map_err(unreachable)?;
    let response = Response::from(response.unchecked_into::<web_sys::Response>());
    let body = text(&response).await?;
    drop(deadline);
    let header = |name: &str| response.headers().get(name).unwrap_or_default();
    let refused = || {
        let now = EpochMillis(js::epoch_ms());
        let (status, content_type) = (response.status(), header("content-type"));
        let classify =
            if access.is_keyed() { turnwise_llm::classify_response } else { turnwise_llm::classify_keyless_response };
        classify(provider, status, &RetryHeaders::default(), &content_type, &body, now)
    };
    if !response.ok() {
        return Err(refused());
    }
    read_list(provider.kind, &body).map_err(|_| refused())
}

async fn text(response: &Response) -> Result<String, ModelError> {
    let Some(body) = response.body() else { return Ok(String::new()) };
    let text = stream::read_text(&body, MAX_MODEL_LIST).await.map_err(|reason| failure(js::error_text(&reason)))?;
    let too_large = || ModelError {
        slug: Slug::ReplyTooLarge,
        ..failure(format!("The list of models was too large: the limit is {} MiB.", MAX_MODEL_LIST >> 20))
    };
    text.ok_or_else(too_large)
}

fn failure(message: String) -> ModelError {
    ModelError { slug: Slug::ProviderError, message, status: None, retry_after_ms: None, retry: Retry::Fatal }
}
