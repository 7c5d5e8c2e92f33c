//! Documentation sites that the page opened.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use serde_json::Value;
use wasm_bindgen_futures::spawn_local;

use super::outbox::{AskError, Outbox};
use crate::docs_fetch::{Docs, DocsOptions};
use turnwise_docs_index::SiteStep;
use turnwise_protocol::{AskId, OpenedSite, Progress, SiteId, WorkerMessage};

/// The sites that are open.
pub(super) struct Sites {
    outbox: Rc<Outbox>,
    open: RefCell<BTreeMap<SiteId, Docs>>,
}

impl Sites {
    pub(super) fn new(outbox: Rc<Outbox>) -> Rc<Self> {
        Rc::new(Sites { outbox, open: RefCell::default() })
    }

    /// Begins to read a site. Answered when the site can be queried; progress is reported until all of it has been read.
    pub(super) fn open(
        self: &Rc<Self>,
        id: AskId,
        site: SiteId,
        options: impl FnOnce(Box<dyn Fn(&SiteStep)>) -> DocsOptions,
    ) {
        let outbox = Rc::clone(&self.outbox);
        let on_progress = move |step: &SiteStep| {
            let progress = Progress { stage: step.stage, source: &step.source, done: step.done, total: step.total };
            outbox.tell(&WorkerMessage::Site { site, progress: Some(progress), info: step.info.as_ref() }, None);
        };
        let (docs, ready) = Docs::open(options(Box::new(on_progress)));
        self.open.borrow_mut().insert(site, docs.clone());
        let sites = Rc::clone(self);
        spawn_local(async move {
            match ready.await {
                Ok(Ok(())) => {
                    let (info, tools) = (docs.info(), docs.tools());
                    sites.outbox.done(id, &OpenedSite { info: &info, tools: &tools });
                }
                Ok(Err(why)) => {
                    sites.close(site);
                    sites.outbox.refused(id, &AskError::Untimely(why));
                }
                Err(_) => {
                    sites.outbox.refused(id, &AskError::Untimely("the site was closed before it was read".to_owned()));
                }
            }
        });
    }

    pub(super) fn search(self: &Rc<Self>, id: AskId, site: SiteId, query: String, limit: usize) {
        self.ask(id, site, async move |docs| docs.search(query, limit).await);
    }

    pub(super) fn call(self: &Rc<Self>, id: AskId, site: SiteId, name: String, arguments: Value) {
        self.ask(id, site, async move |docs| docs.call(&name, arguments).await);
    }

    pub(super) fn close(&self, site: SiteId) {
        let closed = self.open.borrow_mut().remove(&site);
        if let Some(docs) = closed {
            docs.close();
        }
    }

    fn ask<T: serde::Serialize>(
        self: &Rc<Self>,
        id: AskId,
        site: SiteId,
        question: impl AsyncFnOnce(Docs) -> Result<T, String> + 'static,
    ) {
        let docs = self.open.borrow().get(&site).cloned();
        let outbox = Rc::clone(&self.outbox);
        spawn_local(async move {
            let answer = match docs {
                Some(docs) => question(docs).await,
                None => Err("the site was closed".to_owned()),
            };
            match answer {
                Ok(answer) => outbox.done(id, &answer),
                Err(why) => outbox.refused(id, &AskError::Untimely(why)),
            }
        });
    }
}
