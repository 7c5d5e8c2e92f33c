//! What runs may ask of the web: the search services, and services that the user added with an OpenAPI document.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use turnwise_content::format::counted;
use turnwise_engine::{PermissionRule, Permissions, RunConfig, ToolSpec};

use crate::provider::Need;

/// A search service that can be chosen (`www/client/web/search.ts` asks it).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchCard {
    pub id: &'static str,
    pub name: &'static str,
    /// Its own address; empty: each instance has another one.
    pub base_url: &'static str,
    pub key: Need,
    /// Where keys are obtained; may be empty.
    pub keys_at: &'static str,
    /// What to know before choosing it.
    pub hint: &'static str,
}

pub const SEARCH_CARDS: &[SearchCard] = &[
    SearchCard {
        id: "searxng",
        name: "SearXNG",
        base_url: "",
        key: Need::Optional,
        keys_at: "",
        hint: "Your own instance. Its settings.yml needs json in search.formats, and it has to allow this page (CORS).",
    },
    SearchCard {
        id: "brave",
        name: "Brave Search",
        base_url: "https://api.search.brave.com/res/v1",
        key: Need::Needed,
        keys_at: "https://api-dashboard.search.brave.com/app/keys",
        hint: "If it does not let this page ask it (CORS), enter the address of a proxy of yours.",
    },
    SearchCard {
        id: "tavily",
        name: "Tavily",
        base_url: "https://api.tavily.com",
        key: Need::Needed,
        keys_at: "https://app.tavily.com/home",
        hint: "If it does not let this page ask it (CORS), enter the address of a proxy of yours.",
    },
];

/// The choices of the setting.
pub const SEARCH_CHOICES: &[(&str, &str)] =
    &[("", "None"), ("searxng", "SearXNG"), ("brave", "Brave Search"), ("tavily", "Tavily")];

pub fn search_card(id: &str) -> Option<&'static SearchCard> {
    SEARCH_CARDS.iter().find(|card| card.id == id)
}

/// What the page's end of the tools gets (`HostedAgent` of `www/client/host.ts`). It may have a key, so it is not for storage.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WebSettings {
    pub web: WebOptions,
    pub hosts: BTreeMap<String, PermissionRule>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WebOptions {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub search: Option<SearchSettings>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relay: Option<String>,
}

#[derive(Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SearchSettings {
    pub kind: &'static str,
    pub base_url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_key: Option<String>,
}

impl std::fmt::Debug for SearchSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SearchSettings").field("base_url", &self.base_url).finish_non_exhaustive()
    }
}

/// What came of a trial of a tool that reaches the web.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Trial {
    /// The result as a model reads it.
    pub text: String,
    /// The pages that a search found.
    pub hits: Vec<Hit>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Hit {
    pub url: String,
    pub page: String,
}

/// A service that the user added, as it is stored. The document itself is stored beside it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct KeptService {
    /// Its name in storage: `1732873000000`.
    pub id: String,
    /// The file or the address that its document came from.
    pub from: String,
    /// The address of the document, for relative addresses of servers.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub url: String,
    /// New runs do not get it.
    pub off: bool,
    /// The operations that are offered, as `GET /pets`. Not there: those that only read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chosen: Option<Vec<String>>,
    /// Operations that only read run without a question.
    pub reads_unasked: bool,
    pub auth: ServiceAuth,
    /// Which of the document's servers; behind the last one: the user's own address.
    pub server: usize,
    pub own_server: String,
    /// Values for the variables of the server.
    pub variables: BTreeMap<String, String>,
    /// When it was added, in milliseconds since 1970.
    pub added_ms: u64,
}

/// How a service is told who asks. The value itself is kept with the other keys.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ServiceAuth {
    pub kind: AuthKind,
    /// Of the header or of the parameter.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AuthKind {
    #[default]
    None,
    Bearer,
    Header,
    Query,
}

impl AuthKind {
    pub const ALL: [AuthKind; 4] = [AuthKind::None, AuthKind::Bearer, AuthKind::Header, AuthKind::Query];

    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            AuthKind::None => "none",
            AuthKind::Bearer => "bearer",
            AuthKind::Header => "header",
            AuthKind::Query => "query",
        }
    }

    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            AuthKind::None => "Nothing",
            AuthKind::Bearer => "A bearer token",
            AuthKind::Header => "A key in a header",
            AuthKind::Query => "A key in the query",
        }
    }

    /// Whether the header or the parameter has a name.
    #[must_use]
    pub fn is_named(self) -> bool {
        matches!(self, AuthKind::Header | AuthKind::Query)
    }
}

/// A service as the page's script read it (`www/client/app-services.ts`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ReadService {
    pub id: String,
    pub title: String,
    pub version: String,
    pub operations: Vec<ServiceOperation>,
    pub servers: Vec<ServiceServer>,
    /// Where calls go, and the key with them; empty: nowhere.
    pub address: String,
    pub faults: Vec<ServiceFault>,
    /// Why nothing of it can be used; empty: it can.
    pub error: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ServiceOperation {
    /// The name of its tool.
    pub name: String,
    pub method: String,
    pub path: String,
    pub server: String,
    pub description: String,
    pub read_only: bool,
    pub deprecated: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ServiceServer {
    /// As the document writes it: `https://{region}.example.com`.
    pub url: String,
    pub description: String,
    pub variables: Vec<ServerVariable>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ServerVariable {
    pub name: String,
    pub value: String,
    pub description: String,
    /// The values that it may have; empty: any.
    pub values: Vec<String>,
}

/// What of a document is wrong or not supported.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ServiceFault {
    /// A JSON pointer.
    pub path: String,
    pub message: String,
    /// `skipped`, `ignored` or `changed`.
    pub action: String,
}

/// All services as they were read, and the tools that new runs get.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct OfferedServices {
    pub services: Vec<ReadService>,
    pub tools: Vec<ToolSpec>,
    /// Names of tools that run without a question.
    pub unasked: Vec<String>,
}

impl ServiceOperation {
    /// `GET /pets`
    #[must_use]
    pub fn key(&self) -> String {
        format!("{} {}", self.method, self.path)
    }
}

impl ServiceFault {
    /// `/paths/~1pets/get: GET /pets is not offered: a parameter cannot be read.`
    #[must_use]
    pub fn sentence(&self) -> String {
        let what = match self.action.as_str() {
            "skipped" if !self.message.contains("not offered") => " It is left out.",
            "ignored" => " This part has no effect.",
            _ => "",
        };
        let end = if self.message.ends_with('.') { "" } else { "." };
        format!("{}: {}{end}{what}", self.path, self.message)
    }
}

impl KeptService {
    /// Whether an operation is offered.
    #[must_use]
    pub fn offers(&self, operation: &ServiceOperation) -> bool {
        match &self.chosen {
            Some(chosen) => chosen.contains(&operation.key()),
            None => operation.read_only,
        }
    }

    /// Offers an operation, or no longer.
    pub fn choose(&mut self, read: &ReadService, key: &str, on: bool) {
        let offered = read.operations.iter().filter(|one| if one.key() == key { on } else { self.offers(one) });
        self.chosen = Some(offered.map(ServiceOperation::key).collect());
    }

    /// `3 of 12 operations, 1 may change something`
    #[must_use]
    pub fn summary(&self, read: &ReadService) -> String {
        let offered = || read.operations.iter().filter(|one| self.offers(one));
        let writes = offered().filter(|one| !one.read_only).count() as u64;
        let all = counted(read.operations.len() as u64, "operation");
        match writes {
            0 => format!("{} of {all}, reading only", offered().count()),
            1 => format!("{} of {all}, 1 may change something", offered().count()),
            more => format!("{} of {all}, {more} may change something", offered().count()),
        }
    }
}

impl OfferedServices {
    /// Gives a run the tools of the services, unless it has a tool of that name, and permits those that need no question.
    #[must_use]
    pub fn give(&self, mut config: RunConfig) -> RunConfig {
        let has = |config: &RunConfig, name: &str| config.tools.iter().any(|tool| tool.name == name);
        let new: Vec<ToolSpec> = self.tools.iter().filter(|tool| !has(&config, &tool.name)).cloned().collect();
        if new.is_empty() {
            return config;
        }
        config.tools.extend(new);
        if !self.unasked.is_empty() {
            let own = || Permissions { workspace: Some(PermissionRule::Allow), ..Permissions::default() };
            let rules = &mut config.permissions.get_or_insert_with(own).tools;
            rules.extend(self.unasked.iter().map(|name| (name.clone(), PermissionRule::Allow)));
        }
        config
    }

    /// What a tool does, for a question about a call of it: `DELETE /orders/{id} at shop.example`.
    #[must_use]
    pub fn said_of(&self, tool: &str) -> Option<String> {
        let mut all = self.services.iter().flat_map(|service| &service.operations);
        let operation = all.find(|operation| operation.name == tool)?;
        let host = turnwise_llm::address::host(&operation.server);
        let acts = if operation.read_only { "It only reads." } else { "It may change something there." };
        Some(format!("{} at {host}. {acts}", operation.key()))
    }
}
