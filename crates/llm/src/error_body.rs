//! The errors that servers report, in their various formats.

use serde_json::Value;

use turnwise_engine::{EpochMillis, time};

/// An error as a server reports it; missing parts are empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ErrorBody {
    /// For people.
    pub message: String,
    /// `type`, Gemini's `status`, and `code`, also if it is a number that is no HTTP status: in lower case, separated by a space.
    pub kind: String,
    /// All that it says, in lower case: its texts, kinds, and what they are about. What it repeats of the request is no part of it.
    pub said: String,
    /// `code` if it is a number: an HTTP status.
    pub status: Option<u16>,
    pub wait: WaitHint,
}

/// When the server wants to be asked again, if its body says so. Its headers say the same, but scripts of another origin cannot
/// read most of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum WaitHint {
    #[default]
    Unknown,
    /// In so many milliseconds.
    For(u64),
    Until(EpochMillis),
}

impl WaitHint {
    /// The wait in milliseconds from `now`; a time in the past means no wait. Without a clock, only a duration is known.
    pub fn ms(self, now: Option<EpochMillis>) -> Option<u64> {
        match self {
            WaitHint::Unknown => None,
            WaitHint::For(ms) => Some(ms),
            WaitHint::Until(at) => Some(at.0.saturating_sub(now?.0)),
        }
    }
}

impl ErrorBody {
    /// Reads the body of a response, JSON or not.
    pub fn read(body: &str) -> ErrorBody {
        match serde_json::from_str::<Value>(body) {
            Ok(value) => ErrorBody::of(&value),
            Err(_) if body.trim_start().starts_with('<') => {
                ErrorBody { message: page_title(body).unwrap_or_default().to_owned(), ..ErrorBody::default() }
            }
            Err(_) => ErrorBody {
                message: excerpt(body),
                said: cut(body).to_lowercase(),
                wait: wait_in_words(body),
                ..ErrorBody::default()
            },
        }
    }

    /// Reads `{"error": {…}}`, `{"error": "…"}` (Ollama), `{"code": …, "error": "…"}` (xAI), `[{"error": {…}}]` (Gemini),
    /// `{"errors": …}` (Cloudflare), `{"base_resp": {…}}` (MiniMax), `{"message": …}` (vLLM, AWS), `{"detail": …}` (FastAPI),
    /// or the value of `error`.
    pub fn of(value: &Value) -> ErrorBody {
        let outer = first(value);
        let inner =
            ["error", "errors", "base_resp"].iter().find_map(|name| outer.get(*name).filter(|inner| is_said(inner)));
        let inner = inner.map(first);
        // If the error is only a text, what is next to it belongs to it.
        let error = inner.filter(|inner| inner.is_object()).unwrap_or(outer);
        let word = |name: &str| error.get(name).and_then(Value::as_str).unwrap_or_default();
        let texts = [
            "/message",
            "/Message",
            "/detail",
            "/msg",
            "/status_msg",
            "/detail/0/msg",
            "/message/detail/0/msg",
            "/detail/message",
            "/details",
        ];
        let text = texts.iter().find_map(|path| error.pointer(path)?.as_str()).unwrap_or_default();
        // A relay passes the whole body of the server behind it on as its message (gemini-for-kubernetes-development#1215).
        let nested = is_begun(text).then(|| serde_json::from_str::<Value>(text).ok()).flatten();
        let nested = nested.filter(|value| first(value).is_object()).map(|value| ErrorBody::of(&value));
        let own = [inner, Some(error)].into_iter().flatten().find_map(Value::as_str).unwrap_or_default();
        let mut message = match (&nested, own, text) {
            (Some(nested), ..) if !nested.message.is_empty() => nested.message.clone(),
            // Next to a name of the error may be what is wrong (opencrabs#1059).
            (_, "", text) | (_, text, "") => excerpt(text),
            (_, own, text) if own == text => excerpt(text),
            (_, own, text) => excerpt(&format!("{own}: {text}")),
        };
        // OpenRouter: the text of the upstream provider.
        if let Some(raw) = error.pointer("/metadata/raw").and_then(Value::as_str) {
            message = excerpt(&format!("{message}: {raw}"));
        }
        let number = ["code", "status", "status_code"].iter().find_map(|name| error.get(*name)?.as_u64());
        let is_status = |n: &u64| (400..600).contains(n);
        // An event of a stream has it next to the error (claude-code-proxy#139).
        let beside = || ["status_code", "status"].iter().find_map(|name| outer.get(*name)?.as_u64()).filter(is_status);
        let mut status = number.filter(is_status).or_else(beside).and_then(|n| u16::try_from(n).ok());
        let code = number.filter(|n| !is_status(n)).map(|number| number.to_string()).unwrap_or_default();
        let kind = [word("type"), word("status"), word("code"), word("__type"), &code];
        let mut kind =
            kind.iter().filter(|word| !word.is_empty()).copied().collect::<Vec<_>>().join(" ").to_lowercase();
        let mut waits = vec![wait_in_fields(error), wait_in_words(&message)];
        if let Some(nested) = nested {
            kind = format!("{kind} {}", nested.kind).trim().to_owned();
            status = status.or(nested.status);
            waits.push(nested.wait);
        }
        let wait = waits.into_iter().find(|wait| *wait != WaitHint::Unknown).unwrap_or_default();
        let mut said = String::new();
        say(value, &mut said);
        ErrorBody { message, kind, said: said.to_lowercase(), status, wait }
    }
}

/// How much of an error is read for what it says.
const MOST_SAID: usize = 4000;

/// Adds the texts of an error and of what is in it. FastAPI repeats a part of the request as `input`.
fn say(value: &Value, said: &mut String) {
    match value {
        _ if said.len() > MOST_SAID => {}
        Value::String(text) => {
            said.push_str(cut(text));
            said.push(' ');
        }
        Value::Array(list) => list.iter().for_each(|value| say(value, said)),
        Value::Object(fields) => {
            let of_error = fields.iter().filter(|(key, _)| !matches!(key.as_str(), "input" | "ctx" | "body" | "url"));
            of_error.for_each(|(_, value)| say(value, said));
            // Whether it was nothing is a part of what is wrong.
            if fields.get("input").is_some_and(Value::is_null) {
                said.push_str("null ");
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Whether a text may be JSON.
fn is_begun(text: &str) -> bool {
    text.trim_start().starts_with(['{', '['])
}

fn cut(text: &str) -> &str {
    text.get(..text.floor_char_boundary(MOST_SAID)).unwrap_or(text)
}

/// The first of a list, or the value itself.
fn first(value: &Value) -> &Value {
    value.as_array().and_then(|list| list.first()).unwrap_or(value)
}

/// Whether the value of `error` reports one: some servers always send the field, and `null`, `false`, `""`, `{}` or a
/// `status_code` of 0 mean that all is well.
pub(super) fn is_said(error: &Value) -> bool {
    match error {
        Value::Null => false,
        Value::Bool(said) => *said,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(list) => list.iter().any(is_said),
        Value::Object(fields) => !fields.is_empty() && fields.get("status_code").is_none_or(is_said),
    }
}

/// Gemini: `details: [{"retryDelay": "34s"}]`. Codex: `resets_in_seconds`, `resets_at`. OpenRouter: `metadata.headers`, with a time in
/// milliseconds. Others: seconds.
fn wait_in_fields(error: &Value) -> WaitHint {
    let details = error.get("details").and_then(Value::as_array);
    let delay = |path: &str| details?.iter().find_map(|detail| detail.pointer(path)?.as_str());
    let delay = delay("/retryDelay").or_else(|| delay("/metadata/quotaResetDelay"));
    if let Some(ms) = delay.and_then(|delay| duration(delay, None)) {
        return WaitHint::For(ms);
    }
    let number = |value: &Value| {
        let number = value.as_f64().or_else(|| value.as_str()?.trim().parse::<f64>().ok());
        number.filter(|number| number.is_finite() && *number >= 0.0)
    };
    let field = |path: &str| error.pointer(path).and_then(number);
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // not negative, and `as` saturates
    let whole = |n: f64| n.ceil() as u64;
    const SECONDS: [&str; 4] =
        ["/retry_after", "/retry_after_seconds", "/resets_in_seconds", "/metadata/retry_after_seconds"];
    if let Some(seconds) = SECONDS.iter().find_map(|path| field(path)) {
        return WaitHint::For(whole(seconds * 1000.0));
    }
    if let Some(seconds) = field("/resets_at").filter(|at| *at > 1e9) {
        return WaitHint::Until(EpochMillis(whole(seconds * 1000.0)));
    }
    if let Some(at) = error.get("resets_at").and_then(Value::as_str).and_then(time_with_zone) {
        return WaitHint::Until(at);
    }
    let headers = error.pointer("/metadata/headers").and_then(Value::as_object);
    let header = |name: &str| {
        let (_, value) = headers?.iter().find(|(key, _)| key.eq_ignore_ascii_case(name))?;
        number(value)
    };
    if let Some(seconds) = header("retry-after") {
        return WaitHint::For(whole(seconds * 1000.0));
    }
    match header("x-ratelimit-reset") {
        // Milliseconds or seconds since 1970, or seconds from now.
        Some(at) if at > 1e11 => WaitHint::Until(EpochMillis(whole(at))),
        Some(at) if at > 1e9 => WaitHint::Until(EpochMillis(whole(at * 1000.0))),
        Some(seconds) => WaitHint::For(whole(seconds * 1000.0)),
        None => WaitHint::Unknown,
    }
}

/// OpenAI, Groq: `Please try again in 1m2.5s.` Azure: `Please retry after 33 seconds.`
fn wait_in_words(message: &str) -> WaitHint {
    const WORDS: [&str; 10] = [
        "try again in ",
        "try again after ",
        "retry in ",
        "retry after ",
        "retry-after: ",
        "please wait ",
        "resets in ",
        // pi#2851
        "reset after ",
        "reset in ",
        "available in ",
    ];
    let said = message.to_lowercase();
    let found = WORDS.iter().find_map(|words| {
        let (_, rest) = said.split_once(words)?;
        // `Retry after 33`, as in the header.
        duration(rest, words.contains("after").then_some(1000.0))
    });
    found.map(WaitHint::For).or_else(|| reset_in_words(message)).unwrap_or_default()
}

/// Z.ai: `Resets at 2026-08-07T05:00:00Z` (TeXRA#9865). A time without a zone may be that of any place, so it is not read.
fn reset_in_words(message: &str) -> Option<WaitHint> {
    let said = message.to_ascii_lowercase();
    let at = said.find("resets at ").or_else(|| said.find("reset at "))?;
    let word = message.get(at..)?.split_whitespace().nth(2)?;
    time_with_zone(word.trim_end_matches(['.', ',', ')', ';'])).map(WaitHint::Until)
}

fn time_with_zone(text: &str) -> Option<EpochMillis> {
    const DATE: usize = "2026-08-07".len();
    let has_zone = text.ends_with(['Z', 'z']) || text.get(DATE..)?.contains(['+', '-']);
    time::parse(text).filter(|_| has_zone)
}

/// The duration at the start of a text, in milliseconds: `1h2m3.5s`, `20s`, `350ms`, `33 seconds`, `1 minute and 30 seconds`.
/// `bare`: the unit of a number without one.
fn duration(text: &str, bare: Option<f64>) -> Option<u64> {
    let (mut total, mut rest, mut found) = (0.0, text, false);
    loop {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, tail) = rest.split_at(digits);
        let Ok(number) = number.trim_end_matches('.').parse::<f64>() else { break };
        let tail = tail.trim_start_matches([' ', '-']);
        let unit_end = tail.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(unit_end);
        let unit = match unit {
            "ms" | "millisecond" | "milliseconds" => Some(1.0),
            "s" | "sec" | "secs" | "second" | "seconds" => Some(1000.0),
            "m" | "min" | "mins" | "minute" | "minutes" => Some(60_000.0),
            "h" | "hr" | "hrs" | "hour" | "hours" => Some(3_600_000.0),
            "d" | "day" | "days" => Some(86_400_000.0),
            _ if found => break,
            "" => bare,
            _ => None,
        };
        total += number * unit?;
        found = true;
        let next = tail.trim_start_matches([' ', ',']);
        rest = next.strip_prefix("and ").unwrap_or(next);
    }
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // not negative, and `as` saturates
    found.then_some(total.ceil() as u64)
}

/// Shortens a text to at most 300 characters on one line.
pub(super) fn excerpt(text: &str) -> String {
    const MOST: usize = 300;
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if line.len() > MOST * 4 {
            break;
        }
    }
    match line.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line,
    }
}

/// The title of a web page.
pub(super) fn page_title(html: &str) -> Option<&str> {
    let open = html.to_ascii_lowercase().find("<title")?;
    let rest = html.get(open..)?.split_once('>')?.1;
    let title = rest.split('<').next()?.trim();
    (!title.is_empty() && title.len() < 200).then_some(title)
}
