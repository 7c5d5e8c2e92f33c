//! The address of what is open (`view::address`): a reload stays there, Back and Forward lead from place to place.
//!
//! A text that was shared to the installed app comes in the query (manifest.webmanifest) and goes to the task box.
//!
//! Records opened from a file have no address, because they are not stored.

use std::time::Duration;

use leptos::ev;
use leptos::prelude::*;
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::spawn_local;
use web_sys::Url;

use turnwise_view::address::Address;

use crate::browser::dom;
use crate::features;
use crate::state::App;

/// The parameters of a shared text.
const SHARED: [&str; 3] = ["share-title", "share-text", "share-url"];
/// A step of a replay is written once it has rested this long: browsers limit how often an address may change.
const REST: Duration = Duration::from_millis(250);

/// The place that an address asks for, until it is shown.
#[derive(Clone, Debug, PartialEq)]
struct Wanted {
    address: Address,
    /// What was shown when it was asked for. Anything else is a place that the user went to in the meantime.
    from: Option<Address>,
}

pub fn listen(app: App) {
    take_shared(app);
    let here = Memo::new(move |_| app.address());
    let wanted = RwSignal::new(current().map(|address| Wanted { address, from: None }));
    // The list of stored runs comes later than the page.
    let visits = app.visits.get_value();
    Effect::new(move || {
        if !app.list().listed.get() {
            return;
        }
        if let Some(Wanted { address, .. }) = wanted.get_untracked() {
            if app.visits.get_value() == visits {
                open(app, &address);
            } else {
                wanted.set(None);
            }
        }
    });
    let arriving = StoredValue::new(false);
    let later = StoredValue::new(None::<TimeoutHandle>);
    Effect::new(move || {
        let (here, asked) = (here.get(), wanted.get());
        later.update_value(|later| later.take().iter().for_each(TimeoutHandle::clear));
        let Some(Wanted { address, from }) = asked else { return write(later, here) };
        let is_there = here.as_ref().is_some_and(|here| here.session() == address.session());
        match &address {
            _ if here.as_ref() == Some(&address) => wanted.set(None),
            Address::Run { .. } if is_there && arriving.get_value() => {}
            Address::Run { view, .. } if is_there => {
                arriving.set_value(true);
                let view = view.clone();
                spawn_local(async move {
                    app.look_at(view).await;
                    arriving.set_value(false);
                    wanted.set(None);
                });
            }
            _ if here != from => wanted.set(None),
            // It is being opened, or it was not found.
            _ => {}
        }
    });
    let _ = window_event_listener(ev::popstate, move |_| match current() {
        Some(address) => {
            wanted.set(Some(Wanted { address: address.clone(), from: here.get_untracked() }));
            open(app, &address);
        }
        None if app.current.get_untracked().is_some() || app.feature.with_untracked(Option::is_some) => app.new_run(),
        None => {}
    });
}

fn take_shared(app: App) {
    let here = dom::window().location().href().ok().and_then(|href| Url::new(&href).ok());
    let Some(here) = here else { return };
    let params = here.search_params();
    let parts: Vec<String> =
        SHARED.iter().filter_map(|name| params.get(name)).filter(|part| !part.trim().is_empty()).collect();
    if parts.is_empty() {
        return;
    }
    // Before what was being written.
    app.composer().draft.update(|draft| *draft = format!("{}\n\n{draft}", parts.join("\n")).trim_end().to_owned());
    SHARED.iter().for_each(|name| params.delete(name));
    // A reload does not bring it again.
    if let Ok(history) = dom::window().history() {
        let _ = history.replace_state_with_url(&JsValue::NULL, "", Some(&here.href()));
    }
}

fn open(app: App, address: &Address) {
    let shown = app.thread_now().and_then(|thread| thread.session_id);
    match address {
        Address::Page(name) => match features::named(name) {
            Some(feature) if app.feature.with_untracked(|open| *open != Some(feature.name)) => {
                app.open_feature(feature);
            }
            Some(_) => {}
            None => app.complain("This version of the app has no page with this address."),
        },
        Address::Run { session, .. } | Address::Plan(session) => {
            if shown.as_deref() != Some(session) && !app.open_session(session) {
                app.keep_draft_here();
                app.complain(
                    "The run in the address is not stored in this browser. It may have been deleted, or run elsewhere.",
                );
            }
        }
    }
}

impl App {
    /// Returns the address of what is open; `None`: it has none.
    fn address(&self) -> Option<Address> {
        if let Some(name) = self.feature.get() {
            return Some(Address::Page(name.to_owned()));
        }
        let thread = self.thread()?;
        let session = thread.session_id.clone()?;
        Some(match thread.plan() {
            Some(_) => Address::Plan(session),
            None => Address::Run { session, view: self.run_address(&thread) },
        })
    }
}

fn current() -> Option<Address> {
    Address::parse(&dom::window().location().hash().ok()?)
}

/// The session of the run, or the key of the plan, in the page's address.
pub fn in_address() -> Option<String> {
    current().and_then(|address| address.session().map(str::to_owned))
}

/// Adds an entry to the history, unless the address is this one already; another step of the same replay takes the place of its
/// entry, a little later.
fn write(later: StoredValue<Option<TimeoutHandle>>, here: Option<Address>) {
    let now = current();
    if now == here {
        return;
    }
    if now.as_ref().zip(here.as_ref()).is_some_and(|(now, here)| now.is_same_place(here)) {
        let replace = move || put(here.as_ref(), true);
        return later.set_value(set_timeout_with_handle(replace, REST).ok());
    }
    put(here.as_ref(), false);
}

fn put(address: Option<&Address>, replaces: bool) {
    let location = dom::window().location();
    let (Ok(path), Ok(search), Ok(history)) = (location.pathname(), location.search(), dom::window().history()) else {
        return;
    };
    let url = format!("{path}{search}{}", address.map(Address::to_string).unwrap_or_default());
    let _ = match replaces {
        true => history.replace_state_with_url(&JsValue::NULL, "", Some(&url)),
        false => history.push_state_with_url(&JsValue::NULL, "", Some(&url)),
    };
}
