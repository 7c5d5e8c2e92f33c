//! What looks like a secret is removed, and nothing else: the shapes that are promised in docs/security.md, the files of this
//! repository, and ordinary documents.

use std::path::Path;
use std::process::Command;

use turnwise_record::trajectory::Secrets;
use turnwise_record::trajectory::redact::{REDACTED, StreamScrub};

/// Random characters that are the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % n
    }

    fn of(&mut self, characters: &str, len: usize) -> String {
        (0..len).map(|_| char::from(characters.as_bytes()[self.below(characters.len())])).collect()
    }

    fn hex(&mut self, len: usize) -> String {
        self.of("0123456789abcdef", len)
    }

    fn letters(&mut self, len: usize) -> String {
        self.of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", len)
    }

    fn base64(&mut self, len: usize) -> String {
        self.of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", len)
    }

    fn upper(&mut self, len: usize) -> String {
        self.of("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", len)
    }

    fn uuid(&mut self) -> String {
        [8, 4, 4, 4, 12].map(|len| self.hex(len)).join("-")
    }
}

fn scrub(text: &str) -> String {
    Secrets::default().scrub(text).into_owned()
}

#[test]
fn the_keys_of_providers_are_removed() {
    let mut random = Random(7);
    let prefixes = [
        ("sk-", 48),
        ("sk-proj-", 120),
        ("sk-svcacct-", 120),
        ("sk-admin-", 120),
        ("sk-ant-api03-", 95),
        ("sk-ant-admin01-", 95),
        ("sk-or-v1-", 64),
        ("sk-lf-", 36),
        ("pk-lf-", 36),
        ("gsk_", 52),
        ("xai-", 80),
        ("hf_", 34),
        ("r8_", 37),
        ("fw_", 24),
        ("pplx-", 48),
        ("csk-", 48),
        ("nvapi-", 64),
        ("tgp_v1_", 43),
        ("tvly-", 32),
        ("jina_", 60),
        ("pcsk_", 70),
        ("sk_", 48),
        ("AIza", 35),
        ("AQ.", 50),
        ("ya29.", 100),
        ("GOCSPX-", 28),
        ("ghp_", 36),
        ("gho_", 36),
        ("ghu_", 36),
        ("ghs_", 36),
        ("ghr_", 36),
        ("github_pat_", 82),
        ("glpat-", 20),
        ("gldt-", 20),
        ("glrt-", 20),
        ("glcbt-", 24),
        ("glptt-", 40),
        ("xoxb-123456789012-", 24),
        ("xoxp-123456789012-", 24),
        ("xapp-1-A0123456789-", 64),
        ("sk_live_", 24),
        ("sk_test_", 24),
        ("rk_live_", 24),
        ("whsec_", 32),
        ("npm_", 36),
        ("pypi-", 150),
        ("rubygems_", 48),
        ("dckr_pat_", 27),
        ("dop_v1_", 64),
        ("doo_v1_", 64),
        ("cfut_", 48),
        ("cfat_", 48),
        ("cfk_", 48),
        ("SG.", 66),
        ("ntn_", 46),
        ("secret_", 43),
        ("lin_api_", 40),
        ("shpat_", 32),
        ("shpss_", 32),
        ("sq0atp-", 22),
        ("sq0csp-", 43),
        ("EAAA", 60),
        ("sbp_", 40),
        ("sb_secret_", 31),
        ("vcp_", 56),
        ("figd_", 40),
        ("hvs.", 95),
        ("dp.pt.", 43),
        ("glsa_", 41),
        ("glc_", 60),
        ("sntrys_", 80),
        ("sntryu_", 64),
        ("NRAK-", 27),
        ("PMAK-", 59),
        ("xkeysib-", 81),
        ("ATATT3", 180),
        ("LTAI", 20),
        ("pul-", 40),
        ("key-", 32),
    ];
    let with = |(prefix, len): &(&str, usize), random: &mut Random| format!("{prefix}{}", random.letters(*len));
    let mut keys: Vec<String> = prefixes.iter().map(|one| with(one, &mut random)).collect();
    keys.extend(["AKIA", "ASIA"].map(|prefix| format!("{prefix}{}7A{}", random.upper(8), random.upper(6))));
    keys.extend(["SK", "dapi"].map(|prefix| format!("{prefix}{}", random.hex(32))));
    keys.push(format!("MT{}.{}.{}", random.letters(24), random.letters(6), random.letters(27)));
    keys.push(format!("eyJ{}.eyJ{}.{}", random.letters(30), random.letters(60), random.letters(43)));
    for key in keys {
        let texts =
            ["it is #.", "X=#\n", "\"#\",", "line\\n#\\nline", "%20#%20", "https://host/#/x", "(#)", "'#'", "> #"];
        for text in texts {
            // In base64, letters may follow a slash by chance.
            if text.contains("/#") && !key[..8].contains(['-', '_', '.']) {
                continue;
            }
            let text = text.replace('#', &key);
            let clean = scrub(&text);
            assert!(clean.contains(REDACTED) && !clean.contains(&key[key.len() - 8..]), "{text}: {clean}");
            assert_eq!(scrub(&clean), clean);
        }
    }
    let bot = format!("https://api.telegram.org/bot110201543:AA{}/getMe", random.letters(33));
    assert_eq!(scrub(&bot), format!("https://api.telegram.org/bot110201543:{REDACTED}"));
}

#[test]
fn values_are_removed_where_their_names_say_what_they_are() {
    for (text, clean) in [
        // Headers, as lines, as JSON, as JSON in JSON, as pairs.
        ("Authorization: Basic dXNlcjpwYXNz\n", "Authorization: Basic §\n"),
        ("Proxy-Authorization: Bearer abcdef123456", "Proxy-Authorization: Bearer §"),
        (r#"{"authorization": "Bearer abcdef123456"}"#, r#"{"authorization": "Bearer §"}"#),
        (r#"{"Authorization":"Basic dXNlcjpwYXNz"}"#, r#"{"Authorization":"Basic §"}"#),
        (r#"{"x-api-key": "abcd1234efgh"}"#, r#"{"x-api-key": "§"}"#),
        (r#"{\"api-key\":\"abcd1234efgh\"}"#, r#"{\"api-key\":\"§\"}"#),
        (r#"[["x-api-key","abcd1234efgh"]]"#, r#"[["x-api-key","§"]]"#),
        ("curl -H 'x-goog-api-key: abcd1234efgh' https://h", "curl -H 'x-goog-api-key: §' https://h"),
        ("Cookie: theme=dark; sid=a1b2c3d4e5\r\nAccept: */*", "Cookie: §\r\nAccept: */*"),
        (r#"{"set-cookie": "sid=a1b2c3d4e5; Path=/"}"#, r#"{"set-cookie": "§"}"#),
        // Variables and settings.
        ("DB_PASSWORD=tr0ub4dor&3\nX=1", "DB_PASSWORD=§\nX=1"),
        ("export API_TOKEN='abc12345'", "export API_TOKEN='§'"),
        ("CLIENT_SECRET=\"a8f3k2l9\"", "CLIENT_SECRET=\"§\""),
        ("STRIPE_KEY=4eC39HqLyjWDarjtT1zdp7dc", "STRIPE_KEY=§"),
        ("MYSQL_PASS=gr33nTea", "MYSQL_PASS=§"),
        ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "aws_secret_access_key = §"),
        (r#""SecretAccessKey": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY""#, r#""SecretAccessKey": "§""#),
        (r#"{"password":"P@55w0rd!","user":"x"}"#, r#"{"password":"§","user":"x"}"#),
        ("password: hunter22", "password: §"),
        ("'password' => 'hunter22',", "'password' => '§',"),
        ("os.environ[\"APP_SECRET\"] = \"abc123def456\"", "os.environ[\"APP_SECRET\"] = \"§\""),
        ("<password>hunter22</password>", "<password>§</password>"),
        ("//registry.npmjs.org/:_authToken=0a1b2c3d-4e5f-6789-abcd-ef0123456789", "//registry.npmjs.org/:_authToken=§"),
        // Addresses and connection strings.
        ("postgres://app:s3cr3t-pw@db:5432/app", "postgres://app:§@db:5432/app"),
        ("mongodb+srv://root:p@ss@cluster0.mongodb.net/x", "mongodb+srv://root:§@cluster0.mongodb.net/x"),
        ("redis://:geheim@h:6379 amqp://bob:geheim@h", "redis://:§@h:6379 amqp://bob:§@h"),
        ("https://alice:geheim@host/v1", "https://alice:§@host/v1"),
        ("https://0a1b2c3d4e5f60718293@host/v1", "https://§@host/v1"),
        ("jdbc:mysql://h/db?user=root&password=abc12345&ssl=1", "jdbc:mysql://h/db?user=root&password=§&ssl=1"),
        ("Server=h;User Id=sa;Password=Str0ngPass;Database=x", "Server=h;User Id=sa;Password=§;Database=x"),
        ("AccountName=x;AccountKey=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1;E=1", "AccountName=x;AccountKey=§;E=1"),
        ("GET /x?access_token=abcdef123456&x=1", "GET /x?access_token=§&x=1"),
    ] {
        assert_eq!(scrub(text), clean.replace('§', REDACTED));
        assert_eq!(scrub(&scrub(text)), scrub(text));
    }
}

#[test]
fn private_keys_are_removed_whole_and_nothing_after_them() {
    let mut random = Random(3);
    for kind in ["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "] {
        for head in ["", "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0123456789ABCDEF0123456789ABCDEF\n\n"] {
            let lines: Vec<String> = (0..26).map(|_| random.base64(64)).collect();
            let block = format!(
                "-----BEGIN {kind}PRIVATE KEY-----\n{head}{}\n-----END {kind}PRIVATE KEY-----",
                lines.join("\n")
            );
            let json = serde_json::to_string(&block).unwrap();
            for (text, clean) in [
                (format!("a\n{block}\nThe end."), "a\n§\nThe end."),
                (format!("key: {json}, \"next\": 1"), "key: \"§\", \"next\": 1"),
                (serde_json::to_string(&json).unwrap(), r#""\"§\"""#),
            ] {
                assert_eq!(scrub(&text), clean.replace('§', REDACTED));
                let (secrets, mut stream) = (Secrets::default(), StreamScrub::default());
                let mut shown: String = text
                    .as_bytes()
                    .chunks(5)
                    .map(|piece| stream.push(&secrets, std::str::from_utf8(piece).unwrap()))
                    .collect();
                shown.push_str(&stream.finish(&secrets));
                assert_eq!(shown, clean.replace('§', REDACTED));
            }
        }
    }
    // A key that was cut off ends where other text begins.
    let cut = format!("-----BEGIN PRIVATE KEY-----\n{}\n[cut]\nAll is well.", random.base64(64));
    assert_eq!(scrub(&cut), format!("{REDACTED}[cut]\nAll is well."));
    for text in
        ["It begins with `-----BEGIN PRIVATE KEY-----`.", "-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuT\n"]
    {
        assert_eq!(scrub(text), text);
    }
}

/// Files with texts that look like secrets on purpose: tests plant keys, and look for them afterwards.
const PLANTED: &[&str] = &[
    "crates/record/src/trajectory/notes.rs",
    "tests/browsers/attacks.mjs",
    "tests/e2e/agent_api.test.mjs",
    "tests/e2e/aimock.test.mjs",
    "tests/e2e/app_again.test.mjs",
    "tests/e2e/app_draft.test.mjs",
    "tests/e2e/app_folder.test.mjs",
    "tests/e2e/app_offline.test.mjs",
    "tests/e2e/app_openrouter.test.mjs",
    "tests/e2e/app_permissions.test.mjs",
    "tests/e2e/app_plans_stored.test.mjs",
    "tests/e2e/app_return.test.mjs",
    "tests/e2e/cli.test.mjs",
    "tests/e2e/cookbook.test.mjs",
    "tests/e2e/faults.test.mjs",
    "tests/e2e/fleet.test.mjs",
    "tests/e2e/formats.test.mjs",
    "tests/e2e/kept_records.test.mjs",
    "tests/e2e/key_proxy.test.mjs",
    "tests/e2e/key_proxy_hostile.test.mjs",
    "tests/e2e/lib/key-proxy.mjs",
    "tests/e2e/lib/programs.mjs",
    "tests/e2e/lib/stranger.mjs",
    "tests/e2e/misuse.test.mjs",
    "tests/e2e/models.test.mjs",
    "tests/e2e/node_api.test.mjs",
    "tests/e2e/openapi.test.mjs",
    "tests/e2e/openapi_page.test.mjs",
    "tests/e2e/permissions.test.mjs",
    "tests/e2e/plan.test.mjs",
    "tests/e2e/stored.test.mjs",
    "tests/e2e/widget_models.test.mjs",
    "tests/fixtures/link_targets.json",
    "tests/native/export_formats.rs",
    "tests/native/llm_anthropic.rs",
    "tests/native/llm_base_url.rs",
    "tests/native/redact_looks.rs",
    "tests/native/redact_stream.rs",
    "tests/native/trajectory.rs",
    "tests/native/view_settings.rs",
];

#[test]
fn no_file_of_the_repository_changes() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let listed = Command::new("git").args(["ls-files", "-z"]).current_dir(root).output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    let (mut texts, mut changed) = (0, Vec::new());
    for name in listed.split_terminator('\0') {
        let Ok(text) = std::fs::read_to_string(root.join(name)) else { continue };
        texts += 1;
        if scrub(&text) != text && !PLANTED.contains(&name) {
            changed.push(name);
        }
    }
    assert!(texts > 1000, "{texts} texts");
    assert!(changed.is_empty(), "{changed:?}");
}

#[test]
fn no_ordinary_document_changes() {
    let mut documents: Vec<String> =
        include_str!("../fixtures/ordinary.txt").split("\n=====\n").map(str::to_owned).collect();
    let mut random = Random(11);
    for n in 0..20 {
        documents.extend(generated(n, &mut random));
    }
    assert!(documents.len() >= 200, "{} documents", documents.len());
    for document in &documents {
        assert_eq!(&scrub(document), document);
    }
}

/// Documents with random text in them that is no secret.
fn generated(n: usize, random: &mut Random) -> [String; 10] {
    let many = |write: &mut dyn FnMut(usize) -> String| (0..12).map(write).collect::<Vec<_>>().join("\n");
    [
        many(&mut |_| format!("commit {}\nAuthor: A. Person <a.person@example.org>\n\n    Fix #{n}\n", random.hex(40))),
        many(&mut |i| {
            format!("\"pkg-{i}\": {{ \"version\": \"1.{i}.0\", \"integrity\": \"sha512-{}==\" }},", random.base64(86))
        }),
        many(&mut |i| format!("[[package]]\nname = \"crate{i}\"\nchecksum = \"{}\"\n", random.hex(64))),
        format!("<img alt=\"\" src=\"data:image/png;base64,iVBORw0KGgo{}=\">", random.base64(3000)),
        many(&mut |i| {
            format!("{},{i},{},\"a, b\",2026-11-{:02}T10:00:00Z", random.uuid(), random.below(100_000), i + 1)
        }),
        many(&mut |_| {
            let (ip, path, ms) = (random.below(255), random.letters(22), random.below(900));
            format!(
                "10.0.0.{ip} - - [28/Nov/2026:00:05:11 +0000] \"GET /a/{path}?id={ms} HTTP/1.1\" 200 {ms} request_id={}",
                random.uuid()
            )
        }),
        format!(
            "{{\"id\":\"{}\",\"object\":\"chat.completion\",\"usage\":{{\"prompt_tokens\":{n},\"total_tokens\":1{n}}},\
                 \"system_fingerprint\":\"fp_{}\"}}",
            random.uuid(),
            random.hex(10)
        ),
        many(&mut |_| {
            format!("sha256:{}  layer.tar\nmd5 {}\netag: W/\"{}\"", random.hex(64), random.hex(32), random.hex(20))
        }),
        format!(
            "!function(e,t){{var n={{}},r=\"{}\";e.a{n}=t[r],e.k=function(){{return n[r]}}}}(this,{{}});\n\
                 //# sourceMappingURL=data:application/json;base64,eyJ2ZXJzaW9uIjoz{}",
            random.letters(12),
            random.base64(900)
        ),
        many(&mut |_| {
            format!(
                "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{} user@host\nSHA256:{}",
                random.base64(43),
                random.base64(43)
            )
        }),
    ]
}
