//! Why a first request got no response: every row of the decision, and messages that name the exact setting.

use turnwise_engine::*;
use turnwise_llm::address::{AddressSpace, host, origin, port, space};
use turnwise_llm::{
    Evidence, Knock, LocalPermission, NoResponseCause, Online, PageOrigin, base_url, classify_fetch_failure, diagnose,
};

const SECURE: &str = "https://agents.example.org";
const LOCAL_PAGE: &str = "http://localhost:8080";
const PUBLIC: &str = "https://models.example.org/v1/chat/completions";
const OLLAMA: &str = "http://localhost:11434/v1/chat/completions";
const NEAR: &str = "http://192.168.0.9:8081/v1/chat/completions";

/// Evidence that a page of that origin requested `target`; nothing else is known.
fn asked(page: &str, target: &str) -> Evidence {
    let secure = page.starts_with("https://") || space(page) == AddressSpace::Loopback;
    Evidence {
        online: Online::Yes,
        page: Some(PageOrigin { origin: page.into(), secure }),
        target: target.into(),
        violation: None,
        knock: Knock::NotTried,
        permission: LocalPermission::Unknown,
        words: "Failed to fetch".into(),
    }
}

fn provider(kind: ProviderKind, base_url: &str) -> ProviderConfig {
    ProviderConfig { kind, base_url: base_url.into(), model: "m".into(), ..ProviderConfig::default() }
}

fn told(kind: ProviderKind, base_url: &str, evidence: &Evidence) -> String {
    diagnose(&provider(kind, base_url), evidence).message
}

#[test]
fn an_address_tells_where_it_leads() {
    let cases = [
        ("http://localhost:11434/v1", AddressSpace::Loopback),
        ("http://models.localhost", AddressSpace::Loopback),
        ("http://127.9.0.1:1/v1", AddressSpace::Loopback),
        ("http://[::1]:8080/v1", AddressSpace::Loopback),
        ("http://0.0.0.0:8080", AddressSpace::Loopback),
        ("http://192.168.0.9/v1", AddressSpace::Private),
        ("http://10.1.2.3:11434", AddressSpace::Private),
        ("http://172.31.0.1", AddressSpace::Private),
        ("http://172.32.0.1", AddressSpace::Public),
        ("http://box.local:11434/v1", AddressSpace::Private),
        ("http://[fd00::1]:8080/v1", AddressSpace::Private),
        ("http://[fe80::1]/v1", AddressSpace::Private),
        ("http://[2001:db8::1]/v1", AddressSpace::Public),
        ("https://api.openai.com/v1", AddressSpace::Public),
        ("https://localhost.example.org/v1", AddressSpace::Public),
    ];
    for (url, expected) in cases {
        assert_eq!(space(url), expected, "{url}");
    }
    assert_eq!(origin("https://a.example:1/v1?x"), "https://a.example:1");
    assert_eq!(origin("https://a.example?x"), "https://a.example");
    assert_eq!((host("http://[::1]:8080/v1"), port("http://[::1]:8080/v1")), ("[::1]:8080", Some(8080)));
    assert_eq!((host("https://a.example"), port("https://a.example")), ("a.example", None));
}

#[test]
fn the_decision_row_by_row() {
    use NoResponseCause::*;
    let plain = "http://models.example.org/v1";
    let csp = |e: Evidence| Evidence { violation: Some("connect-src".into()), ..e };
    let offline = |e: Evidence| Evidence { online: Online::No, ..e };
    let knock = |knock, e: Evidence| Evidence { knock, ..e };
    let may = |permission, e: Evidence| Evidence { permission, ..e };
    let node = |e: Evidence| Evidence { page: None, ..e };
    use Knock::{Answered, Failed, Silent};
    use LocalPermission::{Denied, Granted, Prompt};
    let rows = [
        ("an https page, plain http", asked(SECURE, plain), MixedContent),
        ("mixed content wins over the policy: another policy would not help", csp(asked(SECURE, plain)), MixedContent),
        ("plain http to this machine is allowed", asked(SECURE, OLLAMA), Hidden),
        ("plain http to the network, a browser that never asks", asked(SECURE, NEAR), MixedContent),
        ("plain http to the network, not asked yet", may(Prompt, asked(SECURE, NEAR)), LocalNetworkAsk),
        ("plain http to the network, refused", may(Denied, asked(SECURE, NEAR)), LocalNetworkDenied),
        ("plain http to the network, allowed", knock(Failed, may(Granted, asked(SECURE, NEAR))), ServerDown),
        ("a plain page may call plain http", knock(Failed, asked("http://a.example.org", plain)), Unreachable),
        ("the policy", csp(asked(SECURE, PUBLIC)), Csp),
        ("the policy, offline", offline(csp(asked(SECURE, PUBLIC))), Csp),
        ("offline", offline(asked(SECURE, PUBLIC)), Offline),
        ("offline, another machine here", offline(may(Granted, asked(SECURE, NEAR))), Offline),
        ("offline, this machine", offline(knock(Failed, asked(SECURE, OLLAMA))), ServerDown),
        ("offline, this machine, CORS", offline(knock(Answered, asked(SECURE, OLLAMA))), Cors),
        ("the page's own server", asked(LOCAL_PAGE, "http://localhost:8080/llm/v1"), OwnServer),
        ("offline from the page's own server", offline(asked(SECURE, "https://agents.example.org/v1")), Offline),
        ("not allowed to reach this machine", knock(Failed, may(Denied, asked(SECURE, OLLAMA))), LocalNetworkDenied),
        ("no https", knock(Failed, may(Denied, asked("http://a.example.org", OLLAMA))), InsecurePage),
        ("not asked, or no server", knock(Failed, may(Prompt, asked(SECURE, OLLAMA))), LocalNetworkAsk),
        ("the question stands", knock(Silent, may(Prompt, asked(SECURE, OLLAMA))), LocalNetworkAsk),
        ("what answers was reached", knock(Answered, may(Denied, asked("http://a.example.org", OLLAMA))), Cors),
        ("allowed, and it answers", knock(Answered, may(Granted, asked(SECURE, OLLAMA))), Cors),
        ("allowed, and nothing answers", knock(Failed, may(Granted, asked(SECURE, OLLAMA))), ServerDown),
        ("answers, unreadable", knock(Answered, asked(SECURE, PUBLIC)), Cors),
        ("nothing answers", knock(Failed, asked(SECURE, PUBLIC)), Unreachable),
        ("nothing answers here", knock(Failed, asked(LOCAL_PAGE, OLLAMA)), ServerDown),
        ("a knock that said nothing", knock(Silent, asked(SECURE, PUBLIC)), Hidden),
        ("nothing was tried", asked(SECURE, PUBLIC), Hidden),
        ("no browser", node(asked(SECURE, PUBLIC)), Unreachable),
        ("no browser, this machine", node(asked(SECURE, OLLAMA)), ServerDown),
    ];
    for (what, evidence, expected) in rows {
        assert_eq!(evidence.cause(), expected, "{what}");
        let error = diagnose(&provider(ProviderKind::Openai, "https://models.example.org/v1"), &evidence);
        let fatal = matches!(expected, MixedContent | Csp | LocalNetworkDenied | InsecurePage);
        assert_eq!((error.slug, error.retry == Retry::Fatal), (Slug::NetworkError, fatal), "{what}");
        assert_eq!((error.status, error.retry_after_ms), (None, None), "{what}");
        let (first, rest) = error.message.split_once(". ").expect("what happened, then what to do");
        assert!((20..=120).contains(&first.len()), "{what}: {first}");
        assert!(rest.len() > 20, "{what}: {rest}");
    }
}

#[test]
fn a_knock_is_asked_for_only_where_it_tells_something() {
    let knocks = [
        (asked(SECURE, PUBLIC), true),
        (asked(SECURE, OLLAMA), true),
        (Evidence { permission: LocalPermission::Prompt, ..asked(SECURE, OLLAMA) }, true),
        (Evidence { permission: LocalPermission::Denied, ..asked(SECURE, OLLAMA) }, true),
        (Evidence { violation: Some("connect-src".into()), ..asked(SECURE, PUBLIC) }, false),
        (Evidence { online: Online::No, ..asked(SECURE, PUBLIC) }, false),
        (asked(SECURE, "http://models.example.org/v1"), false),
        (asked(SECURE, "https://agents.example.org/llm/v1"), false),
        (Evidence { page: None, ..asked(SECURE, PUBLIC) }, false),
        (Evidence { knock: Knock::Failed, ..asked(SECURE, PUBLIC) }, false),
    ];
    for (evidence, wanted) in knocks {
        assert_eq!(evidence.wants_knock(), wanted, "{evidence:?}");
    }
}

#[test]
fn the_browser_is_asked_about_the_permission_that_the_address_needs() {
    let names = |page: &str, target: &str| asked(page, target).permissions().first().copied();
    assert_eq!(names(SECURE, OLLAMA), Some("loopback-network"));
    assert_eq!(names(SECURE, NEAR), Some("local-network"));
    assert_eq!(names(SECURE, PUBLIC), None);
    assert_eq!(names(LOCAL_PAGE, OLLAMA), None);
    assert_eq!(names(LOCAL_PAGE, NEAR), None);
    assert_eq!(names("http://192.168.0.5", NEAR), None, "a page of the same network");
    assert_eq!(names("http://192.168.0.5", OLLAMA), Some("loopback-network"));
    assert_eq!(names("http://nas", NEAR), None, "a name without a dot is one of this network");
    assert_eq!(names("null", OLLAMA), Some("loopback-network"));
    assert_eq!(Evidence { page: None, ..asked(SECURE, OLLAMA) }.permissions(), [""; 0]);
}

#[test]
fn the_words_name_the_setting_of_the_server() {
    use ProviderKind::*;
    let down = |base: &str| Evidence { knock: Knock::Failed, ..asked(LOCAL_PAGE, base) };
    let cors = |base: &str| Evidence { knock: Knock::Answered, ..asked(SECURE, base) };
    // kind, base URL, evidence, text in the message
    let rows: [(_, &str, Evidence, &[&str]); 18] = [
        (
            Ollama,
            "",
            cors(OLLAMA),
            &[
                "localhost:11434 answers, but https://agents.example.org may not read its answer (CORS).",
                "Set `OLLAMA_ORIGINS=https://agents.example.org` and start Ollama again.",
            ],
        ),
        (Openai, "http://localhost:11434/v1", cors(OLLAMA), &["OLLAMA_ORIGINS=https://agents.example.org"]),
        (Lmstudio, "", cors("http://localhost:1234/v1"), &["`lms server start --cors`"]),
        (Llamacpp, "", cors("http://localhost:8080/v1"), &["`llama-server --cors-origins https://agents.example.org`"]),
        (
            Openai,
            "",
            cors("https://api.openai.com/v1"),
            &[
                "api.openai.com lets pages read its replies",
                "check the key, the base URL (https://api.openai.com/v1) and extra headers.",
            ],
        ),
        (OpenaiResponses, "", cors("https://api.openai.com/v1"), &["api.openai.com lets pages"]),
        (Gemini, "", cors("https://generativelanguage.googleapis.com/v1beta"), &["extra headers"]),
        (Openrouter, "", cors("https://openrouter.ai/api/v1"), &["openrouter.ai lets pages"]),
        (Anthropic, "", cors("https://api.anthropic.com/v1"), &["organisation of the key allows calls from browsers"]),
        (
            Anthropic,
            "https://proxy.example.org/v1",
            cors("https://proxy.example.org/v1"),
            &[
                "Access-Control-Allow-Origin: https://agents.example.org",
                "Access-Control-Allow-Headers: content-type, anthropic-version, anthropic-dangerous-direct-browser-access, x-api-key`.",
            ],
        ),
        (
            Openai,
            "https://integrate.api.nvidia.com/v1",
            cors("https://integrate.api.nvidia.com/v1"),
            &[
                "integrate.api.nvidia.com does not let web pages call it (as of 2026-11). Call it through your own server",
            ],
        ),
        (
            Openai,
            "https://api.groq.com/openai/v1",
            cors("https://api.groq.com/openai/v1"),
            &["api.groq.com lets pages read its replies"],
        ),
        (
            Openai,
            "https://models.example.org/v1",
            cors(PUBLIC),
            &["Access-Control-Allow-Headers: content-type, authorization`."],
        ),
        (
            Ollama,
            "",
            down(OLLAMA),
            &["Nothing answers at http://localhost:11434.", "`ollama serve`", "host and port of the base URL"],
        ),
        (Lmstudio, "", down("http://localhost:1234/v1"), &["`lms server start --cors`"]),
        (
            Llamacpp,
            "http://127.0.0.1:8081/v1",
            down("http://127.0.0.1:8081/v1"),
            &["`llama-server --jinja --port 8081`"],
        ),
        (
            Openai,
            "https://localhost:8443/v1",
            down("https://localhost:8443/v1"),
            &["Start the model server.", "A certificate that is not trusted looks the same."],
        ),
        (
            Openai,
            "https://models.example.org/v1",
            down(PUBLIC),
            &[
                "models.example.org cannot be reached.",
                "Check the base URL (https://models.example.org/v1)",
                "an extension",
            ],
        ),
    ];
    for (kind, base, evidence, says) in rows {
        let message = told(kind, base, &evidence);
        for part in says {
            assert!(message.contains(part), "{kind:?} {base}: {part:?} is not in {message:?}");
        }
        assert!(!message.contains("Failed to fetch"), "the browser's words add nothing: {message}");
    }
}

#[test]
fn the_words_name_the_setting_of_the_page_and_of_the_browser() {
    let base = "https://models.example.org/v1";
    let csp = Evidence { violation: Some("connect-src".into()), ..asked(SECURE, PUBLIC) };
    assert_eq!(
        told(ProviderKind::Openai, base, &csp),
        "The content security policy of this page forbids calls to https://models.example.org. Add `https://models.example.org` to `connect-src` in the Content-Security-Policy of the page (HTTP header or <meta>), and load it again."
    );
    let mixed = told(ProviderKind::Openai, base, &asked(SECURE, "http://models.example.org:81/v1"));
    assert!(
        mixed.starts_with("An https page may not call the plain http address http://models.example.org:81. "),
        "{mixed}"
    );
    let offline = told(ProviderKind::Openai, base, &Evidence { online: Online::No, ..asked(SECURE, PUBLIC) });
    assert_eq!(
        offline,
        "The browser is offline, so models.example.org could not be reached. Check the connection and try again."
    );
    let denied = Evidence { permission: LocalPermission::Denied, ..asked(SECURE, OLLAMA) };
    let denied = told(ProviderKind::Ollama, "", &denied);
    assert!(denied.starts_with("The browser does not let this page reach servers on this machine. "), "{denied}");
    assert!(
        denied.contains("\"Apps on device\"") && denied.contains("Allow for https://agents.example.org"),
        "{denied}"
    );
    let near = Evidence { permission: LocalPermission::Denied, ..asked(SECURE, NEAR) };
    assert!(told(ProviderKind::Ollama, "", &near).contains("\"Local network\""));
    let ask = Evidence { permission: LocalPermission::Prompt, knock: Knock::Failed, ..asked(SECURE, OLLAMA) };
    let ask = told(ProviderKind::Ollama, "", &ask);
    assert!(ask.contains("choose Allow") && ask.contains("If it does not ask: Start Ollama"), "{ask}");
    let hidden = told(ProviderKind::Ollama, "", &asked(SECURE, OLLAMA));
    for part in [
        "the browser hides the reason",
        "CORS",
        "cannot be reached",
        "OLLAMA_ORIGINS=",
        "(The browser says: Failed to fetch)",
    ] {
        assert!(hidden.contains(part), "{hidden}");
    }
    let node = Evidence { page: None, words: "fetch failed: connect ECONNREFUSED".into(), ..asked(SECURE, OLLAMA) };
    let node = told(ProviderKind::Ollama, "", &node);
    assert!(node.contains("`ollama serve`") && node.contains("ECONNREFUSED") && !node.contains("CORS"), "{node}");
    let file = told(ProviderKind::Ollama, "", &Evidence { knock: Knock::Answered, ..asked("null", OLLAMA) });
    assert!(file.contains("a page without an origin may not read"), "{file}");
}

#[test]
fn every_kind_with_an_address_has_words_for_every_cause() {
    for kind in ProviderKind::ALL.iter().filter(|kind| kind.is_http()) {
        let base = base_url(*kind);
        for knock in [Knock::NotTried, Knock::Answered, Knock::Failed, Knock::Silent] {
            for online in [Online::Yes, Online::No, Online::Unknown] {
                let evidence = Evidence { knock, online, ..asked(SECURE, base) };
                let message = told(*kind, "", &evidence);
                assert!(message.contains(host(base)), "{kind:?}: {message}");
                assert!(message.len() < 600, "{kind:?}: {message}");
            }
        }
    }
}

#[test]
fn a_server_that_had_answered_is_not_looked_into_so_every_cause_is_named() {
    let cases = [
        (
            "https://models.example.org/v1",
            Online::Yes,
            &["CORS", "an error that the browser hides", "cannot be reached", "Check the key", "Failed to fetch"][..],
        ),
        ("https://models.example.org/v1", Online::No, &["offline", "models.example.org"]),
        ("http://localhost:11434/v1", Online::Yes, &["`ollama serve`", "OLLAMA_ORIGINS"]),
        ("http://127.0.0.1:8080/v1", Online::Unknown, &["--cors-origins", "lms server start --cors"]),
        ("http://192.168.0.9/v1", Online::Yes, &["https"]),
        ("https://api.moonshot.ai/v1", Online::Yes, &["does not let web pages call it", "your own server"]),
    ];
    for (base_url, online, says) in cases {
        let error = classify_fetch_failure(&provider(ProviderKind::Openai, base_url), "Failed to fetch", online);
        assert_eq!((error.slug, error.retry, error.status), (Slug::NetworkError, Retry::Yes, None));
        for part in says {
            assert!(error.message.contains(part), "{base_url}: {part:?} is not in {:?}", error.message);
        }
    }
}
