//! `DocsSite`: a documentation site that was found, read and indexed, and the tools over it.

use js_sys::{Array, Function, JSON, Object, Promise, Reflect};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::future_to_promise;
use web_sys::AbortSignal;

use super::error::{describe, error, type_error};
use super::listener::Aborting;
use super::options::beside_module;
use super::reader::Reader;
use super::trajectory::to_js;
use crate::docs::Step;
use crate::engine::ToolSpec;
use crate::shell::{Docs, DocsOptions};

/// Hits of `search` unless the page asks for others.
const DEFAULT_HITS: usize = 8;

/// See `types.d.ts`.
#[wasm_bindgen]
#[derive(Debug)]
pub struct DocsSite {
    docs: Docs,
    tools: Array,
    /// What the tools call; after `free` they throw.
    _executes: Vec<Closure<dyn Fn(JsValue) -> Promise>>,
}

#[wasm_bindgen]
impl DocsSite {
    /// Finds what the site of this page ships, reads and indexes it.
    #[wasm_bindgen(unchecked_return_type = "Promise<DocsSite>")]
    pub fn open(
        #[wasm_bindgen(unchecked_param_type = "string")] page: &JsValue,
        #[wasm_bindgen(unchecked_optional_param_type = "DocsOptions")] options: &JsValue,
    ) -> Promise {
        let opened = read_options(page, options).map(|(options, signal)| (Docs::open(options), signal));
        future_to_promise(async move {
            let ((docs, ready), signal) = opened?;
            let aborted = || error("the site was closed before it was read");
            let _aborting = signal.map(|signal| {
                if signal.aborted() {
                    docs.close();
                }
                let docs = docs.clone();
                Aborting::new(signal, move || docs.close())
            });
            match ready.await {
                Ok(Ok(())) => Ok(DocsSite::new(docs)?.into()),
                Ok(Err(why)) => {
                    docs.close();
                    Err(error(&why))
                }
                Err(_) => Err(aborted()),
            }
        })
    }

    /// What is known of the site by now.
    #[wasm_bindgen(getter, unchecked_return_type = "DocsInfo")]
    pub fn info(&self) -> Result<JsValue, JsValue> {
        to_js(&self.docs.info())
    }

    /// For `agent.registerTool`.
    #[wasm_bindgen(getter, unchecked_return_type = "Tool[]")]
    pub fn tools(&self) -> Array {
        self.tools.clone()
    }

    /// The best sections, best first.
    #[wasm_bindgen(unchecked_return_type = "Promise<DocsHit[]>")]
    pub fn search(
        &self,
        #[wasm_bindgen(unchecked_param_type = "string")] query: &JsValue,
        #[wasm_bindgen(unchecked_optional_param_type = "{ limit?: number }")] options: &JsValue,
    ) -> Promise {
        let docs = self.docs.clone();
        let given =
            query.as_string().ok_or_else(|| type_error(&format!("query: got {}; it takes a string", describe(query))));
        let limit = Reader::open_optional("options", options, &["limit"], &[])
            .and_then(|given| given.whole::<usize>("limit", 1));
        future_to_promise(async move {
            let hits = docs.search(given?, limit?.unwrap_or(DEFAULT_HITS)).await;
            to_js(&hits.map_err(|why| error(&why))?)
        })
    }
}

impl DocsSite {
    fn new(docs: Docs) -> Result<Self, JsValue> {
        let (tools, mut executes) = (Array::new(), Vec::new());
        for spec in docs.tools() {
            let execute = execute(docs.clone(), spec.name.clone());
            tools.push(&tool(&spec, execute.as_ref().unchecked_ref())?);
            executes.push(execute);
        }
        Ok(DocsSite { docs, tools, _executes: executes })
    }
}

impl Drop for DocsSite {
    fn drop(&mut self) {
        self.docs.close();
    }
}

fn execute(docs: Docs, name: String) -> Closure<dyn Fn(JsValue) -> Promise> {
    Closure::new(move |arguments: JsValue| {
        let (docs, name) = (docs.clone(), name.clone());
        let text = JSON::stringify(&arguments).ok().and_then(|text| text.as_string()).unwrap_or_default();
        let arguments = serde_json::from_str(&text).unwrap_or_default();
        future_to_promise(
            async move { docs.call(&name, arguments).await.map(JsValue::from).map_err(|why| error(&why)) },
        )
    })
}

fn tool(spec: &ToolSpec, execute: &Function) -> Result<JsValue, JsValue> {
    let tool = Object::new();
    let set = |name: &str, value: &JsValue| Reflect::set(&tool, &name.into(), value);
    set("name", &spec.name.as_str().into())?;
    set("description", &spec.description.as_str().into())?;
    set("parameters", &to_js(&spec.parameters)?)?;
    set("sideEffect", &"none".into())?;
    set("execute", execute)?;
    Ok(tool.into())
}

fn read_options(page: &JsValue, options: &JsValue) -> Result<(DocsOptions, Option<AbortSignal>), JsValue> {
    let page = match page.dyn_ref::<web_sys::Url>() {
        Some(url) => url.href(),
        None => page.as_string().ok_or_else(|| {
            type_error(&format!("page: got {}; it takes the address of a page of the site", describe(page)))
        })?,
    };
    let known = &["html", "source", "onProgress", "signal", "cache", "workerUrl"];
    let given = Reader::open_optional("options", options, known, &[])?;
    let signal = match given.get("signal") {
        None => None,
        Some(signal) => {
            let wrong = given.wrong("signal", &signal, "an AbortSignal");
            Some(signal.dyn_into::<AbortSignal>().map_err(|_| wrong)?)
        }
    };
    let on_progress = given.function("onProgress")?;
    let options = DocsOptions {
        page,
        html: given.text("html")?,
        source: given.text("source")?.filter(|source| source != "auto"),
        cache: given.flag("cache")?.unwrap_or(true),
        worker_url: given.text("workerUrl")?.unwrap_or_else(|| beside_module("worker.js")),
        on_progress: Box::new(move |step| tell(on_progress.as_ref(), step)),
    };
    Ok((options, signal))
}

/// A listener that throws is the page's own trouble.
fn tell(on_progress: Option<&Function>, step: &Step) {
    let Some(on_progress) = on_progress else { return };
    let progress = serde_json::json!({
        "stage": step.stage.as_str(), "source": step.source, "done": step.done, "total": step.total,
    });
    if let Ok(progress) = to_js(&progress)
        && let Err(thrown) = on_progress.call1(&JsValue::UNDEFINED, &progress)
    {
        web_sys::console::error_2(&"turnwise: onProgress threw".into(), &thrown);
    }
}
