//! What runs may ask of the web: search services, rules for hosts, and services with their operations.

use serde_json::json;
use turnwise_engine::own_tools::SEARCH_WEB;
use turnwise_engine::{PermissionRule, RunConfig, SideEffect};
use turnwise_view::provider::Need;
use turnwise_view::services::*;
use turnwise_view::settings::{ConfigField, UserSettings};

use super::support::plain_tool;

fn with(fields: &[(ConfigField, &str)]) -> UserSettings {
    let mut settings = UserSettings::default();
    fields.iter().for_each(|(field, value)| settings.set(*field, value));
    settings
}

#[test]
fn the_search_services_are_those_that_the_client_can_ask() {
    let client = include_str!("../../www/client/web/search.ts");
    let kinds = client.split_once("kind: '").and_then(|(_, rest)| rest.split_once("';")).expect("the kinds").0;
    let kinds: Vec<&str> = kinds.split("' | '").collect();
    assert_eq!(SEARCH_CARDS.iter().map(|card| card.id).collect::<Vec<_>>(), kinds);
    let choices: Vec<(&str, &str)> = SEARCH_CARDS.iter().map(|card| (card.id, card.name)).collect();
    assert_eq!(SEARCH_CHOICES[0], ("", "None"));
    assert_eq!(SEARCH_CHOICES[1..], choices);
    for card in SEARCH_CARDS {
        let row = client.split_once(&format!("  {}: {{", card.id)).expect("its row").1;
        let row = row.split_once("request:").expect("a request").0;
        let needs = row.contains("needsKey: true");
        assert_eq!(needs, card.key == Need::Needed, "{}", card.id);
        assert_eq!(needs, !card.keys_at.is_empty(), "{}: where a key is obtained", card.id);
        assert_eq!(row.contains("baseUrl"), !card.base_url.is_empty(), "{}", card.id);
        assert!(row.contains(card.base_url), "{}", card.id);
    }
}

#[test]
fn a_search_is_offered_once_its_service_has_an_address() {
    let offers = |settings: &UserSettings| {
        settings.build(turnwise_tools::all()).map(|config| config.tools.iter().any(|tool| tool.name == SEARCH_WEB))
    };
    assert_eq!(offers(&UserSettings::default()), Ok(false));
    assert!(offers(&with(&[(ConfigField::SearchService, "searxng")])).is_err());
    let own = [(ConfigField::SearchService, "searxng"), (ConfigField::SearchAddress, "localhost:8888/")];
    assert_eq!(offers(&with(&own)), Ok(true));
    let mut brave = with(&[(ConfigField::SearchService, "brave")]);
    assert_eq!(offers(&brave), Ok(true));
    brave.toggle_tool(SEARCH_WEB);
    assert_eq!(offers(&brave), Ok(false));
    brave.reset();
    assert_eq!(offers(&UserSettings::from_json(&brave.to_json())), Ok(true), "a reset keeps the service");
    // A key is that of the address where searches go.
    let key = |address: &str| Some(format!("key of {address}"));
    let web = serde_json::to_value(with(&own).web(key)).expect("JSON");
    let search =
        json!({ "kind": "searxng", "baseUrl": "http://localhost:8888", "apiKey": "key of http://localhost:8888" });
    assert_eq!(web, json!({ "web": { "search": search }, "hosts": {} }));
    let web = brave.web(|address| (address == "https://api.search.brave.com/res/v1").then(|| "k".to_owned()));
    assert_eq!(web.web.search.as_ref().and_then(|search| search.api_key.as_deref()), Some("k"));
    assert!(!format!("{web:?}").contains("\"k\""));
}

#[test]
fn hosts_are_rules_of_a_run_and_of_the_page() {
    let settings = with(&[
        (
            ConfigField::HostsAllowed,
            " Docs.Example.org:443\n*.wiki.example, HTTP://127.0.0.1:8123/ http://x.example:80",
        ),
        (ConfigField::HostsDenied, "evil.example docs.example.org:8443"),
        (ConfigField::Relay, "https://ask.example.org/v1/relay"),
    ]);
    let rules = settings.build(Vec::new()).expect("valid").permissions.expect("there are rules");
    assert_eq!(rules.workspace, Some(PermissionRule::Allow), "as without rules for hosts");
    let named: Vec<(&str, bool)> =
        rules.hosts.iter().map(|(name, rule)| (name.as_str(), *rule == PermissionRule::Allow)).collect();
    let expected = [
        ("*.wiki.example", true),
        ("docs.example.org", true),
        ("docs.example.org:8443", false),
        ("evil.example", false),
        ("http://127.0.0.1:8123", true),
        ("http://x.example", true),
    ];
    assert_eq!(named, expected);
    let web = settings.web(|_| None);
    assert_eq!((web.hosts, web.web.relay.as_deref()), (rules.hosts, Some("https://ask.example.org/v1/relay")));
    let asking = with(&[(ConfigField::FileChanges, "ask"), (ConfigField::HostsAllowed, "a.example")]);
    let rules = asking.build(Vec::new()).expect("valid").permissions.expect("there are rules");
    assert_eq!(rules.workspace, Some(PermissionRule::Ask));
}

fn operation(method: &str, path: &str, name: &str) -> ServiceOperation {
    ServiceOperation {
        name: name.into(),
        method: method.into(),
        path: path.into(),
        server: "https://shop.example/v1".into(),
        read_only: method == "GET",
        ..ServiceOperation::default()
    }
}

#[test]
fn operations_that_only_read_are_chosen_until_the_user_chooses() {
    let operations =
        vec![operation("GET", "/a", "getA"), operation("DELETE", "/a", "deleteA"), operation("GET", "/b", "getB")];
    let read = ReadService { operations, ..ReadService::default() };
    let mut kept = KeptService::default();
    assert_eq!(kept.summary(&read), "2 of 3 operations, reading only");
    kept.choose(&read, "DELETE /a", true);
    kept.choose(&read, "GET /b", false);
    assert_eq!(kept.chosen, Some(vec!["GET /a".to_owned(), "DELETE /a".to_owned()]));
    assert_eq!(kept.summary(&read), "2 of 3 operations, 1 may change something");
    let stored: KeptService = serde_json::from_str(&serde_json::to_string(&kept).expect("JSON")).expect("read");
    assert_eq!(stored, kept);
}

#[test]
fn a_run_gets_the_operations_and_the_rules_for_those_that_need_no_question() {
    let network = |name: &str| turnwise_engine::ToolSpec { side_effect: SideEffect::Network, ..plain_tool(name) };
    let offered = OfferedServices {
        services: vec![ReadService {
            operations: vec![operation("DELETE", "/a", "deleteA")],
            ..ReadService::default()
        }],
        tools: vec![network("getA"), network("read_file")],
        unasked: vec!["getA".into()],
    };
    let config = RunConfig { tools: vec![plain_tool("read_file")], ..RunConfig::default() };
    let given = offered.give(config.clone());
    let names: Vec<&str> = given.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["read_file", "getA"], "a tool of the run keeps its name");
    assert_eq!(given.tools[0].side_effect, SideEffect::None);
    let rules = given.permissions.clone().expect("there are rules");
    assert_eq!((rules.tools.get("getA"), rules.workspace), (Some(&PermissionRule::Allow), Some(PermissionRule::Allow)));
    assert_eq!(offered.give(given.clone()), given, "given once");
    assert_eq!(OfferedServices::default().give(config.clone()), config);
    let said = offered.said_of("deleteA").expect("it is known");
    assert_eq!(said, "DELETE /a at shop.example. It may change something there.");
    assert_eq!(offered.said_of("getA"), None);
}

#[test]
fn a_fault_says_its_place_and_what_was_done() {
    let fault =
        |action: &str| ServiceFault { path: "/paths/~1a".into(), message: "it is odd".into(), action: action.into() };
    assert_eq!(fault("skipped").sentence(), "/paths/~1a: it is odd. It is left out.");
    let said = ServiceFault { message: "GET /a is not offered: it is odd".into(), ..fault("skipped") };
    assert_eq!(said.sentence(), "/paths/~1a: GET /a is not offered: it is odd.");
    assert_eq!(fault("ignored").sentence(), "/paths/~1a: it is odd. This part has no effect.");
    assert_eq!(fault("changed").sentence(), "/paths/~1a: it is odd.");
}
