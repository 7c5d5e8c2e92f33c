//! What runs may ask of the web, and the services that the user added with OpenAPI documents. The documents are read by a script of
//! the page's end (`www/client/app-services.ts`), and stored by the worker for later visits.

pub mod store;

use std::collections::BTreeMap;

use leptos::prelude::*;
use serde::Serialize;
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::spawn_local;
use web_sys::Blob;

use turnwise::worker::Workspace;
use turnwise_engine::RunConfig;
use turnwise_engine::hidden::visible;
use turnwise_protocol::AgentFileChange;
use turnwise_protocol::app::{KeptList, Order};
use turnwise_view::services::{AuthKind, KeptService, OfferedServices, ServiceAuth};

use crate::browser::dom;
use crate::client::app_worker::AppWorker;
use crate::components::toast::Undo;
use crate::composer::drop;
use crate::state::App;

/// Tells the page's end of the tools what they may ask, whenever that changes.
pub fn keep(app: App) {
    Effect::new(move || {
        let web = app.settings.with(|settings| app.keys.with(|keys| settings.web(|address| keys.get(address))));
        if let Some(line) = app.line.get_value() {
            line.reach(&web);
        }
    });
    // A key is for the address that the document names, so this is done again once that is known.
    let keys = Memo::new(move |_| app.service_keys());
    Effect::new(move || {
        // Read, not only tracked: a memo that nobody has read follows nothing.
        let _ = keys.get();
        if app.services().kept.with(|kept| !kept.is_empty())
            || app.services().offered.with_untracked(|all| !all.services.is_empty())
        {
            spawn_local(async move { app.read_services().await });
        }
    });
}

/// Loads the services of earlier visits.
pub fn load(app: App, line: &AppWorker) -> impl Future<Output = ()> + use<> {
    let workspace = Workspace::new();
    let files = line.with(&workspace).files;
    let loaded = line.ask(move |id| Order::KeptFiles { id, list: KeptList::Services, files }, Vec::new());
    let line = line.clone();
    async move {
        let loaded = loaded.await;
        let mut services = Vec::new();
        for file in workspace.list() {
            let Some(blob) = workspace.get(&file.path).filter(|_| file.path.ends_with(".json")) else { continue };
            let Ok(kept) = serde_json::from_str::<KeptService>(&drop::text_of(&blob).await) else { continue };
            let Some(document) = workspace.get(&format!("{}.txt", kept.id)) else { continue };
            // Only a damaged file cannot be read again; its service then says so.
            let _ = line.services::<ReadDocument>("put", &Given::of(&kept), vec![document.clone()]).await;
            app.services().documents.update_value(|all| {
                all.insert(kept.id.clone(), document);
            });
            services.push(kept);
        }
        if !services.is_empty() {
            app.services().kept.try_update(|all| {
                all.extend(services);
                all.sort_by_key(|one| one.added_ms);
            });
            app.read_services().await;
        }
        if let Err(why) = loaded {
            app.complain(why);
        }
    }
}

/// What the script needs to take in a document.
#[derive(Serialize)]
struct Given<'a> {
    id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<&'a str>,
}

impl<'a> Given<'a> {
    fn of(kept: &'a KeptService) -> Self {
        Given { id: &kept.id, url: Some(kept.url.as_str()).filter(|url| !url.is_empty()) }
    }
}

/// What it says about one.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
struct ReadDocument {
    url: String,
    title: String,
    /// What the document says about credentials.
    suggested: ServiceAuth,
}

#[derive(Serialize)]
struct Kept<'a> {
    services: &'a [KeptService],
    keys: BTreeMap<String, String>,
}

impl App {
    /// Gives a run the operations of the services that are on.
    pub fn with_services(&self, config: RunConfig) -> RunConfig {
        self.services().offered.with_untracked(|offered| offered.give(config))
    }

    /// The key of each service that has one, by its id.
    fn service_keys(&self) -> BTreeMap<String, String> {
        let wants = self.services().kept.with(|all| {
            let wants = all.iter().filter(|one| one.auth.kind != AuthKind::None);
            wants.map(|one| one.id.clone()).collect::<Vec<_>>()
        });
        self.services().offered.with(|offered| {
            let address = |id: &String| Some(&offered.services.iter().find(|one| one.id == *id)?.address);
            let key = |id: String| Some((self.keys.with(|keys| keys.get(address(&id)?))?, id));
            wants.into_iter().filter_map(key).map(|(key, id)| (id, key)).collect()
        })
    }

    /// Reads the documents with the settings of now, which are cheap to read again; the tools of later runs follow from that.
    async fn read_services(self) {
        let Some(line) = self.line.get_value() else { return };
        let store = self.services();
        let kept = store.kept.get_untracked();
        let given = Kept { services: &kept, keys: untrack(|| self.service_keys()) };
        // The script answers in the order in which it was asked.
        match line.services::<OfferedServices>("offer", &given, Vec::new()).await {
            Ok((offered, _)) => {
                line.set_page_tools(offered.tools.iter().map(|tool| tool.name.clone()).collect());
                if store.offered.with_untracked(|old| *old != offered) {
                    store.offered.set(offered);
                }
            }
            Err(why) => self.complain(format!("The services could not be read: {why}.")),
        }
    }

    /// Adds the document in a file.
    pub fn add_service_file(self, name: String, file: Blob) {
        self.add_service(name, None, vec![file]);
    }

    /// Adds the document at an address.
    pub fn add_service_at(self, address: String) {
        self.add_service(address.clone(), Some(address), Vec::new());
    }

    fn add_service(self, from: String, url: Option<String>, files: Vec<Blob>) {
        let store = self.services();
        let Some(line) = self.line.get_value().filter(|_| !store.busy.get_untracked()) else { return };
        store.busy.set(true);
        store.remark.set(None);
        let added_ms = dom::now();
        let id = added_ms.to_string();
        spawn_local(async move {
            let given = Given { id: &id, url: url.as_deref() };
            match line.services::<ReadDocument>("add", &given, files).await {
                Ok((ReadDocument { url, title, suggested: auth }, Some(document))) => {
                    let from = if url.is_empty() { from } else { url.clone() };
                    store.documents.update_value(|all| {
                        all.insert(id.clone(), document);
                    });
                    store.kept.update(|all| {
                        all.push(KeptService { id: id.clone(), from, url, auth, added_ms, ..KeptService::default() });
                    });
                    self.keep_services([format!("{id}.json"), format!("{id}.txt")]);
                    self.tell(format!("Added {}.", visible(if title.is_empty() { "the service" } else { &title })));
                }
                Ok((_, None)) => store.remark.set(Some("Nothing was added: its document is not there.".to_owned())),
                Err(why) => store.remark.set(Some(format!("Nothing was added: {}.", why.trim_end_matches('.')))),
            }
            store.busy.set(false);
        });
    }

    /// Changes the settings of a service.
    pub fn change_service(self, id: &str, change: impl FnOnce(&mut KeptService)) {
        self.services().kept.update(|all| {
            if let Some(one) = all.iter_mut().find(|one| one.id == id) {
                change(one);
            }
        });
        self.keep_services([format!("{id}.json")]);
    }

    pub fn remove_service(self, id: &str, title: &str) {
        let store = self.services();
        let document = store.documents.try_update_value(|all| all.remove(id)).flatten();
        let kept = store.kept.try_update(|all| {
            let place = all.iter().position(|one| one.id == id)?;
            Some(all.remove(place))
        });
        store.removed.set_value(kept.flatten().zip(document));
        self.tell_with_undo(format!("Removed {}.", visible(title)), Some(Undo::Service(id.to_owned())));
        self.keep_services([format!("{id}.json"), format!("{id}.txt")]);
    }

    pub fn put_back_service(self) {
        let store = self.services();
        let Some((kept, document)) = store.removed.try_update_value(Option::take).flatten() else { return };
        let id = kept.id.clone();
        store.documents.update_value(|all| {
            all.insert(id.clone(), document);
        });
        store.kept.update(|all| {
            all.push(kept);
            all.sort_by_key(|one| one.added_ms);
        });
        self.keep_services([format!("{id}.json"), format!("{id}.txt")]);
    }

    /// Stores these files, and deletes those that were removed. Sends one order at a time: the later change has to be stored later.
    fn keep_services(self, paths: impl IntoIterator<Item = String>) {
        let store = self.services();
        let busy = store.unkept.try_update_value(|(unkept, keeping)| {
            unkept.extend(paths);
            std::mem::replace(keeping, true)
        });
        let Some(line) = self.line.get_value().filter(|_| busy == Some(false)) else { return };
        spawn_local(async move {
            while let Some((changes, blobs)) = self.unkept_services() {
                if let Err(why) = line.ask(|id| Order::KeepFiles { id, list: KeptList::Services, changes }, blobs).await
                {
                    self.complain(why);
                }
            }
        });
    }

    fn unkept_services(self) -> Option<(Vec<AgentFileChange>, Vec<JsValue>)> {
        let store = self.services();
        let paths = store.unkept.try_update_value(|(unkept, keeping)| {
            *keeping = !unkept.is_empty();
            std::mem::take(unkept)
        })?;
        let content = |path: &str| -> Option<Blob> {
            let (id, kind) = path.rsplit_once('.')?;
            let settings = store.kept.with_untracked(|all| {
                all.iter().find(|one| one.id == id).and_then(|one| serde_json::to_string(one).ok())
            });
            match kind {
                "json" => dom::text_blob(&settings?, "application/json"),
                _ => settings.and_then(|_| store.documents.with_value(|all| all.get(id).cloned())),
            }
        };
        let (mut changes, mut blobs) = (Vec::new(), Vec::new());
        for path in paths {
            let blob = content(&path);
            changes.push(AgentFileChange { path, there: blob.is_some() });
            blobs.extend(blob.map(JsValue::from));
        }
        (!changes.is_empty()).then_some((changes, blobs))
    }
}
