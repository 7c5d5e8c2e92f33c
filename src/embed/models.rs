//! `listModels`: what a provider offers.

use js_sys::Promise;
use serde::Serialize;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::future_to_promise;

use super::error::error;
use super::options::provider;
use super::trajectory::to_js;
use crate::engine::Price;
use crate::llm::models::ModelInfo;
use crate::shell;

/// One row, as `types.d.ts` has it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Listed {
    id: String,
    name: String,
    context_tokens: Option<u64>,
    price: Option<Price>,
    images: Option<bool>,
}

/// The models of a provider, with what is known of each.
#[wasm_bindgen(js_name = listModels, unchecked_return_type = "Promise<ModelInfo[]>")]
pub fn list_models(#[wasm_bindgen(unchecked_param_type = "Provider")] given: &JsValue) -> Promise {
    let read = provider("provider", given);
    future_to_promise(async move {
        let (config, access) = read?;
        let models = shell::list_models(&config, &access).await.map_err(|failed| error(&failed.message))?;
        let listed = models.into_iter().map(|ModelInfo { id, name, context_tokens, price, images }| Listed {
            id,
            name,
            context_tokens,
            price,
            images,
        });
        to_js(&listed.collect::<Vec<_>>())
    })
}
