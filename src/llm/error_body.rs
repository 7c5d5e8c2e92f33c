//! The errors that servers report, in their various formats.

use serde_json::Value;

/// An error as a server reports it; missing parts are empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ErrorBody {
    /// For people.
    pub message: String,
    /// `type` or Gemini's `status`, and `code` if it is a word: in lower case, separated by a space.
    pub kind: String,
    /// `code` if it is a number: an HTTP status.
    pub status: Option<u16>,
    pub retry_after_ms: Option<u64>,
}

impl ErrorBody {
    /// Reads the body of a response, JSON or not.
    pub fn read(body: &str) -> ErrorBody {
        match serde_json::from_str::<Value>(body) {
            Ok(value) => ErrorBody::of(&value),
            Err(_) if body.trim_start().starts_with('<') => {
                ErrorBody { message: page_title(body).unwrap_or_default().to_owned(), ..ErrorBody::default() }
            }
            Err(_) => ErrorBody { message: excerpt(body), ..ErrorBody::default() },
        }
    }

    /// Reads `{"error": {…}}`, `{"error": "…"}` (Ollama), `[{"error": {…}}]` (Gemini), `{"message": …}` (vLLM),
    /// `{"detail": …}` (FastAPI), or the value of `error`.
    pub fn of(value: &Value) -> ErrorBody {
        let value = match value {
            Value::Array(list) => list.first().unwrap_or(value),
            _ => value,
        };
        let error = value.get("error").filter(|error| !error.is_null()).unwrap_or(value);
        let word = |name: &str| error.get(name).and_then(Value::as_str).unwrap_or_default();
        let said =
            [Some(error), error.get("message"), error.get("detail"), error.get("msg"), error.pointer("/detail/0/msg")];
        let mut message = excerpt(said.into_iter().flatten().find_map(Value::as_str).unwrap_or_default());
        // OpenRouter: the text of the upstream provider.
        if let Some(raw) = error.pointer("/metadata/raw").and_then(Value::as_str) {
            message = excerpt(&format!("{message}: {raw}"));
        }
        let kind = [word("type"), word("status"), word("code")].join(" ").trim().to_lowercase();
        let number = error.get("code").or_else(|| error.get("status")).and_then(Value::as_u64);
        let status = number.and_then(|n| u16::try_from(n).ok()).filter(|n| (400..600).contains(n));
        let retry_after_ms = delay(error).or_else(|| try_again_in(&message));
        ErrorBody { message, kind, status, retry_after_ms }
    }
}

/// Gemini: `details: [{"retryDelay": "34s"}]`. The header has the same value, but scripts of another origin cannot read it.
fn delay(error: &Value) -> Option<u64> {
    let details = error.get("details")?.as_array()?;
    duration(details.iter().find_map(|detail| detail.get("retryDelay")?.as_str())?)
}

/// OpenAI, Groq: `Please try again in 1m2.5s.`
fn try_again_in(message: &str) -> Option<u64> {
    let (_, rest) = message.split_once("try again in ")?;
    duration(rest.split(' ').next()?.trim_end_matches(['.', ',']))
}

/// `1h2m3.5s`, `20s`, `350ms`.
fn duration(text: &str) -> Option<u64> {
    let (mut total, mut rest) = (0.0, text);
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, tail) = rest.split_at(digits);
        let unit_end = tail.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(unit_end);
        let unit = match unit {
            "ms" => 1.0,
            "s" => 1000.0,
            "m" => 60_000.0,
            "h" => 3_600_000.0,
            _ => return None,
        };
        total += number.parse::<f64>().ok()? * unit;
        rest = tail;
    }
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // not negative, and `as` saturates
    (!text.is_empty()).then_some(total.ceil() as u64)
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
