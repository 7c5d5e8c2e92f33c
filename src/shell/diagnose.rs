//! Collects what a page can still find out about a rejected `fetch`. `turnwise_llm::diagnose` interprets it.
//!
//! Only for a server that has never answered in this session: a first request usually fails for reasons that somebody has
//! to fix, a later one for reasons that pass. The knock is not an LLM request: it carries no key and no text, its response is
//! not read, it counts towards no bound and waits at no gate.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use js_sys::{Object, Promise, Reflect};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::{JsFuture, future_to_promise};
use web_sys::{
    AbortController, ReferrerPolicy, Request, RequestCache, RequestCredentials, RequestInit, RequestMode,
    SecurityPolicyViolationEvent, SecurityPolicyViolationEventDisposition,
};

use super::wire::Template;
use super::{js, timer};
use turnwise_engine::{ModelError, ProviderConfig};
use turnwise_llm::{Evidence, Knock, LocalPermission, PageOrigin, address};

/// How long a knock may take. A permission prompt from the browser can delay it until somebody answers.
const KNOCK_MS: f64 = 4_000.0;
/// A policy's violation report is a separate task, which runs right after the rejection.
const REPORT_MS: u32 = 20;

/// The servers that a session has called, by origin.
#[derive(Debug, Default)]
pub(super) struct CalledServers {
    answered: RefCell<Vec<Rc<str>>>,
    /// One knock per server: later callers wait for the same one.
    knocks: RefCell<Vec<(Rc<str>, Promise)>>,
}

#[wasm_bindgen]
extern "C" {
    /// `navigator.permissions`.
    type Permissions;
    #[wasm_bindgen(method, structural, catch)]
    fn query(this: &Permissions, descriptor: &Object) -> Result<Promise, JsValue>;
}

/// A request that the page's content security policy blocked.
struct Violation {
    blocked: String,
    directive: String,
}

thread_local! {
    /// `None` until the first request, which starts listening for violations.
    static VIOLATIONS: RefCell<Option<Vec<Violation>>> = const { RefCell::new(None) };
}

impl CalledServers {
    /// Notes that the server answered, whatever its answer.
    pub(super) fn answers(&self, origin: &Rc<str>) {
        if !self.has_answered(origin) {
            self.answered.borrow_mut().push(Rc::clone(origin));
        }
    }

    pub(super) fn has_answered(&self, origin: &str) -> bool {
        self.answered.borrow().iter().any(|known| **known == *origin)
    }

    /// Finds out why a first request failed.
    pub(super) async fn diagnose(&self, p: &ProviderConfig, template: &Template, text: String) -> ModelError {
        let mut evidence = Evidence {
            online: js::online(),
            page: page(),
            target: template.request.url(),
            violation: None,
            knock: Knock::NotTried,
            permission: LocalPermission::Unknown,
            words: text,
        };
        if evidence.page.is_some() {
            timer::pause(REPORT_MS).await;
            evidence.violation = violation(&evidence.target);
        }
        evidence.permission = permission(evidence.permissions()).await;
        if evidence.wants_knock() {
            evidence.knock = self.knock(&template.origin, turnwise_llm::diagnose::knock_address(p)).await;
            // The knock may have triggered a permission prompt.
            evidence.permission = permission(evidence.permissions()).await;
        }
        turnwise_llm::diagnose(p, &evidence)
    }

    async fn knock(&self, origin: &Rc<str>, url: &str) -> Knock {
        let earlier = self.knocks.borrow().iter().find(|(known, _)| known == origin).map(|(_, knock)| knock.clone());
        let knock = earlier.unwrap_or_else(|| {
            let url = url.to_owned();
            let knock = future_to_promise(async move { Ok(JsValue::from_str(knock(&url).await)) });
            self.knocks.borrow_mut().push((Rc::clone(origin), knock.clone()));
            knock
        });
        match JsFuture::from(knock).await.ok().and_then(|said| said.as_string()).as_deref() {
            Some("answered") => Knock::Answered,
            Some("failed") => Knock::Failed,
            _ => Knock::Silent,
        }
    }
}

/// Starts listening for violations of the content security policy of this page or worker. Node.js has no such policy.
pub(super) fn listen() {
    if VIOLATIONS.with_borrow(Option::is_some) {
        return;
    }
    VIOLATIONS.set(Some(Vec::new()));
    let global = js_sys::global();
    // A worker receives reports about its own policy, which is the one that applies to its requests.
    let document = Reflect::get(&global, &"document".into()).ok().filter(JsValue::is_object);
    let Ok(scope) = document.unwrap_or_else(|| global.into()).dyn_into::<web_sys::EventTarget>() else { return };
    let heard = Closure::<dyn FnMut(_)>::new(|event: SecurityPolicyViolationEvent| {
        let directive = event.effective_directive();
        let forbids = event.disposition() == SecurityPolicyViolationEventDisposition::Enforce;
        if !forbids || !matches!(directive.as_str(), "connect-src" | "default-src") {
            return;
        }
        let blocked = address::origin(&event.blocked_uri()).to_owned();
        VIOLATIONS.with_borrow_mut(|list| {
            let list = list.get_or_insert_default();
            if !list.iter().any(|known| known.blocked == blocked) {
                list.push(Violation { blocked, directive });
            }
        });
    });
    if scope.add_event_listener_with_callback("securitypolicyviolation", heard.as_ref().unchecked_ref()).is_ok() {
        heard.forget(); // for as long as the page lives
    }
}

fn violation(target: &str) -> Option<String> {
    VIOLATIONS.with_borrow(|list| {
        let found = list.iter().flatten().find(|violation| violation.blocked == address::origin(target));
        found.map(|violation| violation.directive.clone())
    })
}

/// The page's origin and whether it is a secure context. Pages and their workers have an origin; Node.js has none.
fn page() -> Option<PageOrigin> {
    let get = |name: &str| Reflect::get(&js_sys::global(), &name.into()).unwrap_or_default();
    if get("location").is_undefined() {
        return None;
    }
    Some(PageOrigin { origin: get("origin").as_string()?, secure: get("isSecureContext").is_truthy() })
}

/// Returns the state of the first of these permissions that the browser knows.
async fn permission(names: &[&str]) -> LocalPermission {
    let get = |object: &JsValue, name: &str| Reflect::get(object, &name.into()).unwrap_or_default();
    let permissions = get(&get(&js_sys::global(), "navigator"), "permissions");
    if permissions.is_undefined() {
        return LocalPermission::Unknown;
    }
    let permissions: Permissions = permissions.unchecked_into();
    for name in names {
        let descriptor = Object::new();
        let _ = Reflect::set(&descriptor, &"name".into(), &(*name).into());
        let Ok(asked) = permissions.query(&descriptor) else { continue };
        let Ok(status) = JsFuture::from(asked).await else { continue };
        return match get(&status, "state").as_string().as_deref() {
            Some("granted") => LocalPermission::Granted,
            Some("denied") => LocalPermission::Denied,
            Some("prompt") => LocalPermission::Prompt,
            _ => LocalPermission::Unknown,
        };
    }
    LocalPermission::Unknown
}

/// Checks whether anything answers at all; the response itself is opaque.
async fn knock(url: &str) -> &'static str {
    let (Ok(abort), Ok(request)) = (AbortController::new(), Request::new_with_str(url)) else { return "failed" };
    let init = RequestInit::new();
    init.set_mode(RequestMode::NoCors);
    init.set_credentials(RequestCredentials::Omit);
    init.set_cache(RequestCache::NoStore);
    init.set_referrer_policy(ReferrerPolicy::NoReferrer);
    init.set_signal(Some(&abort.signal()));
    let late = Rc::new(Cell::new(false));
    let (passed, cut) = (Rc::clone(&late), abort.clone());
    let deadline = timer::Timeout::new(KNOCK_MS, move || {
        passed.set(true);
        cut.abort();
    });
    let answer = JsFuture::from(js::fetch(&request, &init)).await;
    drop(deadline);
    abort.abort(); // nobody reads the rest
    match answer {
        Ok(_) => "answered",
        Err(_) if late.get() => "silent",
        Err(_) => "failed",
    }
}
