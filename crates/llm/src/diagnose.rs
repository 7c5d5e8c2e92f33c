//! Explains why a first request got no response at all: derives the cause from what a page can find out, and the
//! message from the cause.
//!
//! A browser tells a script nothing but "failed". The shell gathers everything else that can be observed
//! ([`Evidence`]); this module determines the cause, and the advice for each kind of server. Causes that cannot be told
//! apart are reported as such.

use turnwise_engine::{ModelError, ProviderConfig, ProviderKind, Retry, Slug};

use super::address::{self, AddressSpace};
use super::classify::Online;
use super::endpoint;
use super::servers::{self, Browser};

/// The facts that could be determined after `fetch` rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    pub online: Online,
    /// `None`: there is no browser (Node.js), so there is no CORS, no policy and no permission.
    pub page: Option<PageOrigin>,
    /// The full address of the request.
    pub target: String,
    /// The directive of the page's content security policy that forbade the request (`connect-src`).
    pub violation: Option<String>,
    pub knock: Knock,
    pub permission: LocalPermission,
    /// The runtime's error message.
    pub words: String,
}

/// The page that made the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageOrigin {
    /// `null` for a page without an origin, such as a local file.
    pub origin: String,
    /// Whether it is a secure context: https, or served by this machine.
    pub secure: bool,
}

/// The result of a request whose response cannot be read (`no-cors`): it shows whether anything responds at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Knock {
    NotTried,
    Answered,
    Failed,
    /// No response within the deadline: inconclusive.
    Silent,
}

/// Whether the page may reach local addresses, according to the browser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocalPermission {
    /// The browser has no such permission, or it is not needed.
    Unknown,
    Granted,
    Denied,
    Prompt,
}

/// Why there was no response, as far as that can be known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoResponseCause {
    /// An https page called a plain http server that is not on this machine.
    MixedContent,
    /// The content security policy of the page forbids the request.
    Csp,
    Offline,
    /// A page without https called a server on this machine or network.
    InsecurePage,
    LocalNetworkDenied,
    /// The browser's permission prompt was not accepted, or nothing responds at the address.
    LocalNetworkAsk,
    /// Something responds, but the page may not read the response.
    Cors,
    /// The page's own server did not respond.
    OwnServer,
    /// Nothing responds on this machine or network.
    ServerDown,
    /// Nothing responds on the internet.
    Unreachable,
    /// CORS, a hidden error, or no connection.
    Hidden,
}

impl Evidence {
    /// Whether a knock can reveal something that is not known yet.
    #[must_use]
    pub fn wants_knock(&self) -> bool {
        let open = [
            NoResponseCause::Hidden,
            NoResponseCause::LocalNetworkAsk,
            NoResponseCause::LocalNetworkDenied,
            NoResponseCause::InsecurePage,
        ];
        self.knock == Knock::NotTried && self.page.is_some() && open.contains(&self.cause())
    }

    /// The names of the permissions to query in the browser, most specific first.
    #[must_use]
    pub fn permissions(&self) -> &'static [&'static str] {
        match address::space(&self.target) {
            target if target <= self.page_space() => &[],
            AddressSpace::Loopback => &["loopback-network", "local-network-access"],
            _ => &["local-network", "local-network-access"],
        }
    }

    /// Returns the first matching cause: certain causes first, then those found by a knock, then the rest.
    #[must_use]
    pub fn cause(&self) -> NoResponseCause {
        let space = address::space(&self.target);
        let Some(page) = &self.page else {
            return if space == AddressSpace::Public {
                NoResponseCause::Unreachable
            } else {
                NoResponseCause::ServerDown
            };
        };
        let plain = self.target.starts_with("http://");
        // Browsers that ask for permission let an https page reach a private address over http once it is granted.
        let asks = space == AddressSpace::Private && self.permission != LocalPermission::Unknown;
        if page.origin.starts_with("https://") && plain && space != AddressSpace::Loopback && !asks {
            return NoResponseCause::MixedContent;
        }
        if self.violation.is_some() {
            return NoResponseCause::Csp;
        }
        // This machine is reachable without a network, too.
        if self.online == Online::No && space != AddressSpace::Loopback {
            return NoResponseCause::Offline;
        }
        if page.origin == address::origin(&self.target) {
            return NoResponseCause::OwnServer;
        }
        match (self.knock, self.permission) {
            (Knock::Answered, _) => NoResponseCause::Cors,
            (_, LocalPermission::Denied) if page.secure => NoResponseCause::LocalNetworkDenied,
            (_, LocalPermission::Denied) => NoResponseCause::InsecurePage,
            (_, LocalPermission::Prompt) => NoResponseCause::LocalNetworkAsk,
            (Knock::Failed, _) if space == AddressSpace::Public => NoResponseCause::Unreachable,
            (Knock::Failed, _) => NoResponseCause::ServerDown,
            (Knock::NotTried | Knock::Silent, _) => NoResponseCause::Hidden,
        }
    }

    /// Classifies the page by its host name only: a script cannot know the address from which the page was really loaded.
    fn page_space(&self) -> AddressSpace {
        let Some(page) = &self.page else { return AddressSpace::Loopback };
        let host = address::host(&page.origin);
        let name = host.split(':').next().unwrap_or(host);
        let at_home =
            !name.contains('.') || [".lan", ".home", ".internal", ".home.arpa"].iter().any(|end| name.ends_with(end));
        let named = if at_home && page.origin.contains("://") { AddressSpace::Private } else { AddressSpace::Public };
        address::space(&page.origin).max(named)
    }

    fn page_origin(&self) -> &str {
        self.page.as_ref().map_or("this page", |page| &page.origin)
    }

    fn page_name(&self) -> &str {
        if self.page_origin() == "null" { "a page without an origin" } else { self.page_origin() }
    }
}

/// Returns the error of a first request that got no response: one sentence about what happened, then what to do.
#[must_use]
pub fn diagnose(p: &ProviderConfig, evidence: &Evidence) -> ModelError {
    let cause = evidence.cause();
    let mut message = format!("{} {}", happened(cause, evidence), to_do(cause, p, evidence));
    let words = evidence.words.trim();
    if !words.is_empty() && (cause == NoResponseCause::Hidden || evidence.page.is_none()) {
        let whose = if evidence.page.is_some() { "The browser says" } else { "The runtime says" };
        message.push_str(&format!(" ({whose}: {words})"));
    }
    // A problem that only a person can fix will also fail on the next attempt.
    let retry = match cause {
        NoResponseCause::MixedContent
        | NoResponseCause::Csp
        | NoResponseCause::InsecurePage
        | NoResponseCause::LocalNetworkDenied => Retry::Fatal,
        _ => Retry::Yes,
    };
    ModelError { slug: Slug::NetworkError, message, status: None, retry_after_ms: None, retry }
}

/// The URL to knock at: the base URL, without the suffix for replies.
#[must_use]
pub fn knock_address(p: &ProviderConfig) -> &str {
    endpoint::base(p)
}

fn happened(cause: NoResponseCause, e: &Evidence) -> String {
    let (host, origin, page) = (address::host(&e.target), address::origin(&e.target), e.page_name());
    match cause {
        NoResponseCause::MixedContent => format!("An https page may not call the plain http address {origin}."),
        NoResponseCause::Csp => format!("The content security policy of this page forbids calls to {origin}."),
        NoResponseCause::Offline => format!("The browser is offline, so {host} could not be reached."),
        NoResponseCause::InsecurePage => format!("The browser does not let a page without HTTPS reach {}.", place(e)),
        NoResponseCause::LocalNetworkDenied => format!("The browser does not let this page reach {}.", place(e)),
        NoResponseCause::LocalNetworkAsk => {
            format!("{host} was not reached, and this page has no permission for {} yet.", place(e))
        }
        NoResponseCause::Cors => format!("{host} answers, but {page} may not read its answer (CORS)."),
        NoResponseCause::OwnServer => format!("{host}, the server of this page, did not answer."),
        NoResponseCause::ServerDown => format!("Nothing answers at {origin}."),
        NoResponseCause::Unreachable => format!("{host} cannot be reached."),
        NoResponseCause::Hidden => format!("No readable answer from {host}, and the browser hides the reason."),
    }
}

fn to_do(cause: NoResponseCause, p: &ProviderConfig, e: &Evidence) -> String {
    let (host, origin, page) = (address::host(&e.target), address::origin(&e.target), e.page_name());
    let server = NamedServer::of(p, e);
    match cause {
        NoResponseCause::MixedContent => {
            "Give the model server an https address, or run it on this machine: http://localhost is allowed.".to_owned()
        }
        NoResponseCause::Csp => {
            let directive = e.violation.as_deref().unwrap_or("connect-src");
            format!(
                "Add `{origin}` to `{directive}` in the Content-Security-Policy of the page (HTTP header or \
                 <meta>), and load it again."
            )
        }
        NoResponseCause::Offline => "Check the connection and try again.".to_owned(),
        NoResponseCause::InsecurePage => {
            "Open this page over https, or from this machine (http://localhost).".to_owned()
        }
        NoResponseCause::LocalNetworkDenied => format!(
            "Open the site settings (the icon left of the address), set \"{}\" (older browsers: \"Local \
             network access\") to Allow for {page}, and load the page again.",
            setting(e)
        ),
        NoResponseCause::LocalNetworkAsk => format!(
            "If the browser asks, choose Allow and try again (site settings: \"{}\"). If it does not ask: {}",
            setting(e),
            server.start(e)
        ),
        NoResponseCause::Cors => server.allow(p, e),
        NoResponseCause::OwnServer => {
            format!("Check that it runs, and the base URL ({}).", endpoint::base(p))
        }
        NoResponseCause::ServerDown => server.start(e),
        NoResponseCause::Unreachable if e.page.is_none() => {
            format!("Check the base URL ({}) and the connection.", endpoint::base(p))
        }
        NoResponseCause::Unreachable => format!(
            "Check the base URL ({}). If it is right, the server is down, its certificate is not trusted, or \
             something on the way blocks it: an extension, a proxy, a firewall.",
            endpoint::base(p)
        ),
        NoResponseCause::Hidden => format!(
            "Possible causes: it does not allow {page} (CORS), it answered with an error that the browser hides, \
             or {host} cannot be reached. {}",
            server.allow(p, e)
        ),
    }
}

fn place(e: &Evidence) -> &'static str {
    match address::space(&e.target) {
        AddressSpace::Loopback => "servers on this machine",
        _ => "the local network",
    }
}

/// Chromium's name for the permission in its site settings (156).
fn setting(e: &Evidence) -> &'static str {
    match address::space(&e.target) {
        AddressSpace::Loopback => "Apps on device",
        _ => "Local network",
    }
}

/// The server whose settings the message has to name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NamedServer {
    Ollama,
    LmStudio,
    LlamaCpp,
    /// A public service that lets pages call it.
    Service,
    /// One that does not, as of this date.
    Closed(&'static str),
    Other,
}

impl NamedServer {
    /// Determines the server by kind or, if the kind leaves it open, by address.
    fn of(p: &ProviderConfig, e: &Evidence) -> NamedServer {
        let local = address::space(&e.target) != AddressSpace::Public;
        let browser = servers::ServerRow::browser_of(p);
        match (p.kind, address::port(&e.target)) {
            (ProviderKind::Ollama, _) => NamedServer::Ollama,
            (ProviderKind::Lmstudio, _) => NamedServer::LmStudio,
            (ProviderKind::Llamacpp, _) => NamedServer::LlamaCpp,
            _ if !local && matches!(browser, Browser::Yes(_) | Browser::Header(_)) => NamedServer::Service,
            (_, Some(11434)) if local => NamedServer::Ollama,
            (_, Some(1234)) if local => NamedServer::LmStudio,
            _ => match browser {
                Browser::No(date) => NamedServer::Closed(date),
                _ => NamedServer::Other,
            },
        }
    }

    /// How to configure the server so that this page may read its responses.
    fn allow(self, p: &ProviderConfig, e: &Evidence) -> String {
        let (host, base, page) = (address::host(&e.target), endpoint::base(p), e.page_origin());
        match self {
            NamedServer::Ollama => format!("Set `OLLAMA_ORIGINS={page}` and start Ollama again."),
            NamedServer::LmStudio => "Switch CORS on: `lms server start --cors`.".to_owned(),
            NamedServer::LlamaCpp => format!("Start it with `llama-server --cors-origins {page}`."),
            NamedServer::Service => {
                let more = if p.kind == ProviderKind::Anthropic {
                    ", and whether the organisation of the key allows calls from browsers"
                } else {
                    ""
                };
                format!(
                    "{host} lets pages read its replies, so this was most likely an error: check the key, the \
                     base URL ({base}) and extra headers{more}."
                )
            }
            NamedServer::Closed(date) => endpoint::needs_proxy(p, date),
            NamedServer::Other => {
                let head = endpoint::request_head(p, Some("k"));
                let headers: Vec<&str> = head.headers.iter().map(|(name, _)| name.as_str()).collect();
                format!(
                    "The server has to answer OPTIONS and POST with `Access-Control-Allow-Origin: {page}` and \
                     `Access-Control-Allow-Headers: {}`. If it does, this was an error without them: check \
                     the key and the base URL ({base}).",
                    headers.join(", ")
                )
            }
        }
    }

    fn start(self, e: &Evidence) -> String {
        let port = address::port(&e.target);
        let secure =
            if e.target.starts_with("https://") { " A certificate that is not trusted looks the same." } else { "" };
        let how = match (self, port) {
            (NamedServer::Ollama, _) => "Start Ollama: `ollama serve`.".to_owned(),
            (NamedServer::LmStudio, _) => "Start LM Studio's server: `lms server start --cors`.".to_owned(),
            (NamedServer::LlamaCpp, Some(port)) => format!("Start llama.cpp: `llama-server --jinja --port {port}`."),
            (NamedServer::LlamaCpp, None) => "Start llama.cpp: `llama-server --jinja`.".to_owned(),
            (NamedServer::Service | NamedServer::Closed(_) | NamedServer::Other, _) => {
                "Start the model server.".to_owned()
            }
        };
        format!("{how} If it runs, check the host and port of the base URL.{secure}")
    }
}
