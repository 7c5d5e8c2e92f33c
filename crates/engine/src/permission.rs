//! Which tool calls run, which ask first and which are denied, and how far an answer reaches (tool-calls.md#permissions).
//!
//! The engine decides; the shell only asks. A denied call never reaches the shell.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::config::{Answers, PermissionRule, Permissions, Scope, SideEffect, ToolSpec};

/// The rules of a run, and the answers that reach beyond their call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Consent {
    /// `None`: a record made before there were permissions, so nothing is asked or denied here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    permissions: Option<Permissions>,
    /// Answers for all calls of a tool, by its name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    tools: BTreeMap<String, bool>,
    /// The answer for the whole run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    run: Option<bool>,
}

/// What happens to a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CallDecision {
    Allowed,
    Ask,
    /// The reason, for the model.
    Denied(String),
}

impl Consent {
    pub(super) fn new(permissions: Option<Permissions>) -> Self {
        Consent { permissions, ..Consent::default() }
    }

    /// The rules change; answers that were given stay.
    pub(super) fn set(&mut self, permissions: Permissions) {
        self.permissions = Some(permissions);
    }

    /// The rules, if the run has any.
    pub(super) fn permissions(&self) -> Option<&Permissions> {
        self.permissions.as_ref()
    }

    /// Forgets the answers: they were given for another run.
    pub(super) fn forget(&mut self) {
        self.tools.clear();
        self.run = None;
    }

    /// Keeps an answer that reaches beyond its call.
    pub(super) fn remember(&mut self, tool: &str, allow: bool, scope: Scope) {
        match scope {
            Scope::Call => {}
            Scope::Host | Scope::Tool => drop(self.tools.insert(tool.to_owned(), allow)),
            Scope::Run => self.run = Some(allow),
        }
    }

    /// What happens to a call of this tool with these arguments.
    pub(super) fn decide(&self, tool: &ToolSpec, arguments: &str) -> CallDecision {
        let Some(permissions) = &self.permissions else { return CallDecision::Allowed };
        let touches = permissions.touches(tool, arguments);
        match (permissions.rule(tool, touches, arguments), permissions.answers) {
            (PermissionRule::Allow, _) | (PermissionRule::Ask, Answers::All) => CallDecision::Allowed,
            (PermissionRule::Deny, _) => CallDecision::Denied(denied(tool, touches)),
            (PermissionRule::Ask, Answers::Nobody) => CallDecision::Denied(nobody(tool, touches)),
            (PermissionRule::Ask, Answers::Page) => match self.answer(tool, touches, arguments) {
                None => CallDecision::Ask,
                Some(true) => CallDecision::Allowed,
                Some(false) => CallDecision::Denied(REFUSED.to_owned()),
            },
        }
    }

    /// The answer that was given before and covers this call: the one for its host, its tool or the run, in this order.
    fn answer(&self, tool: &ToolSpec, touches: SideEffect, arguments: &str) -> Option<bool> {
        let kept = |key: String| self.tools.get(&key).copied();
        let of_host = Destination::of(tool, arguments).and_then(|to| kept(host_key(tool, &to)));
        of_host.or_else(|| kept(key(tool, touches, arguments)?)).or(self.run)
    }

    /// How far an answer reaches, and under which key it is kept: an answer about the files of the run says nothing about a
    /// folder of the user, and one for a host only covers calls whose host is known.
    pub(super) fn answer_key(&self, tool: &ToolSpec, arguments: &str, scope: Scope) -> (String, Scope) {
        if scope == Scope::Host {
            let to = Destination::of(tool, arguments);
            return to.map_or((String::new(), Scope::Call), |to| (host_key(tool, &to), scope));
        }
        match key(tool, self.touches(tool, arguments), arguments) {
            None if scope == Scope::Tool => (String::new(), Scope::Call),
            key => (key.unwrap_or_default(), scope),
        }
    }

    /// What a call touches.
    pub(super) fn touches(&self, tool: &ToolSpec, arguments: &str) -> SideEffect {
        self.permissions.as_ref().map_or(tool.side_effect, |rules| rules.touches(tool, arguments))
    }
}

/// `None`: no answer for a tool covers this call, since it does not say which tool it is for.
fn key(tool: &ToolSpec, touches: SideEffect, arguments: &str) -> Option<String> {
    let name = named_tool(tool, arguments)?;
    Some(if touches == SideEffect::Folder && tool.side_effect != touches {
        format!("{name} in a folder")
    } else {
        name
    })
}

/// The name of the tool that a call is for: its own, or the one that its arguments name ([`ToolSpec::tool_argument`]). `None`: they
/// name none, or are not JSON and may still be repaired to name any.
#[must_use]
pub fn named_tool(tool: &ToolSpec, arguments: &str) -> Option<String> {
    let Some(argument) = &tool.tool_argument else { return Some(tool.name.clone()) };
    let arguments: Value = serde_json::from_str(arguments).ok()?;
    let name = arguments.get(argument)?.as_str()?;
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    is_name.then(|| name.to_owned())
}

/// A space cannot be in the name of a tool.
fn host_key(tool: &ToolSpec, to: &Destination) -> String {
    format!("{} {}", tool.name, to.authority)
}

/// Where a call goes.
struct Destination {
    /// `https://docs.example.org:8443`
    origin: String,
    host: String,
    /// The host, with its port if that is not the scheme's own.
    authority: String,
}

impl Destination {
    /// The destination in the arguments of a call; `None`: there is none, or it is written so that only a browser can say which host
    /// it names (`http:/\\host`, `http://0x7f.1%2e`). No rule and no answer for a host covers such a call.
    fn of(tool: &ToolSpec, arguments: &str) -> Option<Self> {
        let arguments: Value = serde_json::from_str(arguments).ok()?;
        let (scheme, rest) = arguments.get(tool.host_argument.as_ref()?)?.as_str()?.split_once("://")?;
        let scheme = scheme.to_ascii_lowercase();
        let own = match scheme.as_str() {
            "http" => "80",
            "https" => "443",
            _ => return None,
        };
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let authority = rest.get(..end)?.to_ascii_lowercase();
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) => (host, port),
            Some(_) => return None,
            None => (authority.as_str(), own),
        };
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
        if host.is_empty() || !host.bytes().all(plain) {
            return None;
        }
        let port = port.trim_start_matches('0');
        let port = if port == own { String::new() } else { format!(":{port}") };
        let (host, authority) = (host.to_owned(), format!("{host}{port}"));
        Some(Destination { origin: format!("{scheme}://{authority}"), host, authority })
    }
}

/// The host that a call goes to, with its port if that is not the scheme's own; `None`: it goes to none, or it is not written plainly.
#[must_use]
pub fn host_of(tool: &ToolSpec, arguments: &str) -> Option<String> {
    Destination::of(tool, arguments).map(|to| to.authority)
}

impl Permissions {
    /// The rule for the host that a call goes to: that of its origin, of its host, or of the nearest domain above.
    fn host_rule(&self, tool: &ToolSpec, arguments: &str) -> Option<PermissionRule> {
        if self.hosts.is_empty() {
            return None;
        }
        let Destination { origin, host, authority } = Destination::of(tool, arguments)?;
        let above = host.match_indices('.').filter_map(|(at, _)| Some(format!("*{}", host.get(at..)?)));
        // A host without a port is that host at the ports of the schemes.
        let by_host = (authority == host).then(|| std::iter::once(host.clone()).chain(above)).into_iter().flatten();
        [origin, authority].into_iter().chain(by_host).find_map(|name| self.hosts.get(&name).copied())
    }

    /// What a call touches. A tool that writes files of the workspace touches a folder of the user if any of its arguments
    /// may be a path below one: it asks once too often rather than once too seldom.
    #[must_use]
    pub fn touches(&self, tool: &ToolSpec, arguments: &str) -> SideEffect {
        let arguments: Option<Value> = serde_json::from_str(arguments).ok();
        // Arguments that are not JSON may be repaired before the call runs, so they may hold anything.
        let without =
            |name: &String| arguments.as_ref().is_some_and(|given| given.is_object() && given.get(name).is_none());
        if tool.effect_argument.as_ref().is_some_and(without) {
            return SideEffect::None;
        }
        if tool.side_effect != SideEffect::Workspace || self.folders.is_empty() {
            return tool.side_effect;
        }
        let named = |folder: &String| arguments.as_ref().is_none_or(|given| names(given, folder));
        if self.folders.iter().any(named) { SideEffect::Folder } else { SideEffect::Workspace }
    }

    /// The folders of the user that a call may write to, by name.
    #[must_use]
    pub fn folders_in(&self, arguments: &str) -> Vec<String> {
        let arguments: Option<Value> = serde_json::from_str(arguments).ok();
        let named = |folder: &&String| arguments.as_ref().is_none_or(|given| names(given, folder));
        self.folders.iter().filter(named).cloned().collect()
    }

    /// The rule for a call: that of its tool, otherwise that of what it touches. A tool that writes files of the workspace
    /// needs the rule for folders to write to one, whatever its own rule permits. A call for another tool has that one's rule.
    #[must_use]
    pub fn rule(&self, tool: &ToolSpec, touches: SideEffect, arguments: &str) -> PermissionRule {
        let by_touch = match touches {
            SideEffect::None => PermissionRule::Allow,
            SideEffect::Workspace => self.workspace.unwrap_or(match self.answers {
                Answers::Page => PermissionRule::Ask,
                Answers::Nobody | Answers::All => PermissionRule::Allow,
            }),
            SideEffect::Folder => self.folder.unwrap_or(PermissionRule::Ask),
            SideEffect::Network => self.host_rule(tool, arguments).or(self.network).unwrap_or(PermissionRule::Ask),
            SideEffect::Page => self.page.unwrap_or(PermissionRule::Ask),
        };
        let of_named = named_tool(tool, arguments).and_then(|name| self.tools.get(&name));
        match of_named.or_else(|| self.tools.get(&tool.name)).copied() {
            Some(own)
                if touches != SideEffect::Folder || touches == tool.side_effect || own == PermissionRule::Deny =>
            {
                own
            }
            _ => by_touch,
        }
    }
}

/// Whether a string in the arguments of a call may be a path below a folder.
fn names(value: &Value, folder: &str) -> bool {
    match value {
        Value::String(text) => {
            let mut parts = text.split(['/', '\\']).map(str::trim).filter(|part| !part.is_empty() && *part != ".");
            parts.next() == Some(folder)
        }
        Value::Array(values) => values.iter().any(|value| names(value, folder)),
        Value::Object(fields) => fields.values().any(|value| names(value, folder)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// The user said no.
pub(super) const REFUSED: &str = "the user refused this call";

fn denied(tool: &ToolSpec, touches: SideEffect) -> String {
    let name = &tool.name;
    format!("not run: this run does not permit {name}, which {}. Go on without it", acts(touches))
}

fn nobody(tool: &ToolSpec, touches: SideEffect) -> String {
    let name = &tool.name;
    format!(
        "not run: {name} {}, which has to be approved, and this run has nobody to ask and no standing permission. \
         Go on without it",
        acts(touches)
    )
}

fn acts(touches: SideEffect) -> &'static str {
    match touches {
        SideEffect::None => "only reads",
        SideEffect::Workspace => "acts on the workspace",
        SideEffect::Folder => "acts on a folder of the user",
        SideEffect::Network => "acts on the network",
        SideEffect::Page => "acts on the page",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(name: &str, side_effect: SideEffect) -> ToolSpec {
        ToolSpec {
            name: name.into(),
            description: String::new(),
            parameters: serde_json::json!({}),
            may_finish: false,
            side_effect,
            effect_argument: None,
            host_argument: None,
            tool_argument: None,
        }
    }

    const TOUCHES: [SideEffect; 5] =
        [SideEffect::None, SideEffect::Workspace, SideEffect::Folder, SideEffect::Network, SideEffect::Page];

    /// One letter per kind of effect: `+` allowed, `?` asks, `-` denied.
    fn table(consent: &Consent) -> String {
        let sign = |touches| match consent.decide(&tool("t", touches), "{}") {
            CallDecision::Allowed => '+',
            CallDecision::Ask => '?',
            CallDecision::Denied(_) => '-',
        };
        TOUCHES.into_iter().map(sign).collect()
    }

    fn with(answers: Answers, rule: Option<PermissionRule>) -> Consent {
        let permissions = Permissions {
            answers,
            workspace: rule,
            folder: rule,
            network: rule,
            page: rule,
            tools: BTreeMap::new(),
            folders: vec!["notes".into()],
            hosts: BTreeMap::new(),
        };
        Consent::new(Some(permissions))
    }

    #[test]
    fn the_rule_table() {
        use Answers::{All, Nobody, Page};
        // By who answers and what the rules say: nothing, ask, allow, deny.
        let rows = [
            (Nobody, ["++---", "+----", "+++++", "+----"]),
            (Page, ["+????", "+????", "+++++", "+----"]),
            (All, ["+++++", "+++++", "+++++", "+----"]),
        ];
        for (answers, expected) in rows {
            let rules = [None, Some(PermissionRule::Ask), Some(PermissionRule::Allow), Some(PermissionRule::Deny)];
            let found = rules.map(|rule| table(&with(answers, rule)));
            assert_eq!(found.each_ref().map(String::as_str), expected, "{answers:?}");
        }
        assert_eq!(table(&Consent::default()), "+++++", "a record without permissions");
    }

    #[test]
    fn a_rule_for_a_tool_takes_precedence() {
        let mut consent = with(Answers::Page, Some(PermissionRule::Deny));
        let permissions = consent.permissions.as_mut().expect("there are rules");
        permissions.tools.insert("t".into(), PermissionRule::Ask);
        assert_eq!(table(&consent), "?????", "even of a tool that only reads");
        assert_eq!(
            consent.decide(&tool("other", SideEffect::Page), "{}"),
            CallDecision::Denied(denied(&tool("other", SideEffect::Page), SideEffect::Page))
        );
    }

    #[test]
    fn answers_reach_as_far_as_they_say() {
        let mut consent = with(Answers::Page, None);
        consent.remember("t", true, Scope::Call);
        assert_eq!(table(&consent), "+????");
        consent.remember("t", true, Scope::Tool);
        assert_eq!(table(&consent), "+++++");
        assert_eq!(consent.decide(&tool("other", SideEffect::Page), "{}"), CallDecision::Ask);
        consent.remember("other", false, Scope::Run);
        assert_eq!(consent.decide(&tool("third", SideEffect::Workspace), "{}"), CallDecision::Denied(REFUSED.into()));
        assert_eq!(table(&consent), "+++++", "the answer for the tool is the narrower one");
        consent.forget();
        assert_eq!(table(&consent), "+????");
    }

    #[test]
    fn a_call_that_may_write_below_a_folder_touches_the_folder() {
        let permissions = with(Answers::Page, None).permissions.expect("there are rules");
        let touches = |tool: &ToolSpec, arguments: &str| permissions.touches(tool, arguments);
        let write = tool("write_file", SideEffect::Workspace);
        for arguments in [
            r#"{"path":"notes/a.md"}"#,
            r#"{"path":" ./ notes // a.md"}"#,
            r#"{"path":"notes\\a.md"}"#,
            r#"{"path":"\u006eotes/a.md"}"#,
            r#"{"moves":[{"to":"notes/b"}]}"#,
            "{\"path\":\"notes/a",
            "notes",
        ] {
            assert_eq!(touches(&write, arguments), SideEffect::Folder, "{arguments}");
        }
        assert_eq!(permissions.folders_in(r#"{"moves":[{"to":"notes/b"}]}"#), ["notes"]);
        assert_eq!(permissions.folders_in("{\"path\":"), ["notes"], "it may be any");
        assert!(permissions.folders_in(r#"{"path":"my/notes/a.md"}"#).is_empty());
        for arguments in [r#"{"path":"notes.md"}"#, r#"{"path":"my/notes/a.md"}"#, "{}"] {
            assert_eq!(touches(&write, arguments), SideEffect::Workspace, "{arguments}");
        }
        assert_eq!(touches(&tool("read_file", SideEffect::None), r#"{"path":"notes/a.md"}"#), SideEffect::None);
    }

    #[test]
    fn a_yes_for_files_of_the_run_says_nothing_about_a_folder() {
        let mut consent = with(Answers::Page, None);
        let (write, inside) = (tool("write_file", SideEffect::Workspace), r#"{"path":"notes/a.md"}"#);
        let (key, _) = consent.answer_key(&write, "{}", Scope::Tool);
        consent.remember(&key, true, Scope::Tool);
        assert_eq!(consent.decide(&write, "{}"), CallDecision::Allowed);
        assert_eq!(consent.decide(&write, inside), CallDecision::Ask);
        let rules = consent.permissions.as_mut().expect("there are rules");
        rules.tools.insert("write_file".into(), PermissionRule::Allow);
        assert_eq!(consent.decide(&write, inside), CallDecision::Ask, "nor does a rule for the tool");
        let (key, _) = consent.answer_key(&write, inside, Scope::Tool);
        consent.remember(&key, true, Scope::Tool);
        assert_eq!(consent.decide(&write, inside), CallDecision::Allowed);
    }

    fn fetch(url: &str) -> String {
        serde_json::json!({ "url": url }).to_string()
    }

    fn fetcher() -> ToolSpec {
        ToolSpec { host_argument: Some("url".into()), ..tool("fetch", SideEffect::Network) }
    }

    #[test]
    fn an_answer_for_a_host_covers_that_host_only() {
        let mut consent = with(Answers::Page, None);
        let decide = |consent: &Consent, url: &str| consent.decide(&fetcher(), &fetch(url));
        let (key, scope) = consent.answer_key(&fetcher(), &fetch("https://docs.example.org/a?b#c"), Scope::Host);
        consent.remember(&key, true, scope);
        for same in ["https://docs.example.org", "HTTPS://Docs.Example.ORG:443/b", "http://docs.example.org:80"] {
            assert_eq!(decide(&consent, same), CallDecision::Allowed, "{same}");
        }
        for other in [
            "https://example.org/",
            "https://docs.example.org:8443/",
            "https://docs.example.org.evil.example/",
            "https://docs.example.org@evil.example/",
            "https://docs.example.org\\@evil.example/",
            "https:/\\docs.example.org/",
            "https://docs.example.org%2eevil.example/",
            "https://evil.example\t/docs.example.org",
            "ftp://docs.example.org/",
            "docs.example.org",
        ] {
            assert_eq!(decide(&consent, other), CallDecision::Ask, "{other}");
        }
        // Of an address whose host is not written plainly, the answer is for the call.
        let (key, scope) = consent.answer_key(&fetcher(), &fetch("https:/\\evil.example/"), Scope::Host);
        consent.remember(&key, true, scope);
        assert_eq!(decide(&consent, "https:/\\evil.example/"), CallDecision::Ask);
        let (key, scope) = consent.answer_key(&fetcher(), &fetch("https://evil.example/"), Scope::Host);
        consent.remember(&key, false, scope);
        consent.remember("fetch", true, Scope::Tool);
        assert_eq!(
            decide(&consent, "https://evil.example/x"),
            CallDecision::Denied(REFUSED.into()),
            "the narrower one"
        );
        assert_eq!(decide(&consent, "https://third.example/"), CallDecision::Allowed);
    }

    #[test]
    fn the_most_exact_rule_for_a_host_decides() {
        use PermissionRule::{Allow, Ask, Deny};
        let mut consent = with(Answers::Nobody, None);
        let rules = consent.permissions.as_mut().expect("there are rules");
        for (name, rule) in [
            ("docs.example.org", Allow),
            ("*.example.org", Deny),
            ("*.open.example.org", Allow),
            ("http://127.0.0.1:8123", Allow),
            ("api.example.org:8443", Allow),
        ] {
            rules.hosts.insert(name.into(), rule);
        }
        let rows = [
            ("https://docs.example.org/", Allow),
            ("https://docs.example.org:8443/", Ask),
            ("https://other.example.org/", Deny),
            ("https://a.b.open.example.org/", Allow),
            ("https://example.org/", Ask),
            ("http://127.0.0.1:8123/a", Allow),
            ("https://127.0.0.1:8123/a", Ask),
            ("http://127.0.0.1/a", Ask),
            ("https://api.example.org:8443/", Allow),
            ("https://notexample.org/", Ask),
        ];
        for (url, expected) in rows {
            let rules = consent.permissions.as_ref().expect("there are rules");
            assert_eq!(rules.rule(&fetcher(), SideEffect::Network, &fetch(url)), expected, "{url}");
        }
        let rules = consent.permissions.as_mut().expect("there are rules");
        rules.tools.insert("fetch".into(), Deny);
        let rule = rules.rule(&fetcher(), SideEffect::Network, &fetch("https://docs.example.org/"));
        assert_eq!(rule, Deny, "the tool's own rule comes first");
    }

    #[test]
    fn a_call_for_another_tool_has_the_rules_and_answers_of_that_tool() {
        let caller = ToolSpec { tool_argument: Some("name".into()), ..tool("call", SideEffect::Network) };
        let mut consent = with(Answers::Page, None);
        let rules = consent.permissions.as_mut().expect("there are rules");
        rules.tools.insert("read".into(), PermissionRule::Allow);
        rules.tools.insert("drop".into(), PermissionRule::Deny);
        let call = |name: &str| serde_json::json!({ "name": name, "arguments": { "name": "read" } }).to_string();
        let decide = |consent: &Consent, arguments: &str| consent.decide(&caller, arguments);
        assert_eq!(decide(&consent, &call("read")), CallDecision::Allowed);
        assert!(matches!(decide(&consent, &call("drop")), CallDecision::Denied(_)));
        let (key, scope) = consent.answer_key(&caller, &call("write"), Scope::Tool);
        consent.remember(&key, true, scope);
        assert_eq!(decide(&consent, &call("write")), CallDecision::Allowed);
        assert_eq!(decide(&consent, &call("other")), CallDecision::Ask, "the answer was for one tool");
        // What names no tool, or may be repaired to name another one, has no answer but that of the run.
        let odd = [
            r#"{"name": "read", "arguments": {}"#,
            r#"{"name": ["read"]}"#,
            "{}",
            r#"{"name": ""}"#,
            r#"{"name": "read "}"#,
            r#"{"name":"read","name":"other"}"#,
        ];
        for arguments in odd {
            assert_eq!(decide(&consent, arguments), CallDecision::Ask, "{arguments}");
            let (key, scope) = consent.answer_key(&caller, arguments, Scope::Tool);
            if named_tool(&caller, arguments).is_none() {
                assert_eq!(scope, Scope::Call, "{arguments}");
                consent.remember(&key, true, scope);
            }
        }
        consent.remember("", true, Scope::Run);
        assert_eq!(decide(&consent, "{}"), CallDecision::Allowed);
        assert!(matches!(decide(&consent, &call("drop")), CallDecision::Denied(_)));
    }

    #[test]
    fn an_answer_does_not_lift_a_denial() {
        let mut consent = with(Answers::Page, Some(PermissionRule::Deny));
        consent.remember("t", true, Scope::Run);
        assert_eq!(table(&consent), "+----");
    }
}
