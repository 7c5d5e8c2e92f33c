//! Sign-in at OpenRouter (PKCE, RFC 7636): gives the visitor their own key without a server of ours. Contains the requests,
//! the responses, and the messages for errors. The page keeps the verifier and makes the calls. PURE -> content, files.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use turnwise_content::format::one_line;
use turnwise_files::base64::base64;

/// The URL that exchanges a code for a key.
pub const KEYS: &str = "https://openrouter.ai/api/v1/auth/keys";
const AUTH: &str = "https://openrouter.ai/auth";

/// The state of a sign-in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SignIn {
    #[default]
    Idle,
    /// The page is about to go to OpenRouter.
    Leaving,
    /// It came back with a code, which is being exchanged.
    Asking,
    Done,
    Failed(String),
}

/// The result with which OpenRouter redirected to the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Back {
    Code(String),
    Refused(String),
}

impl SignIn {
    /// Returns the text for the line next to the button.
    #[must_use]
    pub fn message(&self) -> String {
        match self {
            SignIn::Idle => String::new(),
            SignIn::Leaving => "Opening openrouter.ai.".to_owned(),
            SignIn::Asking => "Asking OpenRouter for the key.".to_owned(),
            SignIn::Done => "Signed in. The key is in this tab's memory.".to_owned(),
            SignIn::Failed(why) => why.clone(),
        }
    }
}

/// Returns random bytes as a verifier: 43 characters for 32 bytes.
#[must_use]
pub fn verifier(random: &[u8]) -> String {
    url_safe(random)
}

/// Returns the S256 challenge of a verifier.
#[must_use]
pub fn challenge(verifier: &str) -> String {
    url_safe(&Sha256::digest(verifier.as_bytes()))
}

/// Returns the URL where the visitor signs in. `callback` is the page's own URL.
#[must_use]
pub fn auth_url(callback: &str, verifier: &str) -> String {
    let (callback, challenge) = (escaped(callback), challenge(verifier));
    format!("{AUTH}?callback_url={callback}&code_challenge={challenge}&code_challenge_method=S256")
}

/// Returns the body of the request to [`KEYS`].
#[must_use]
pub fn exchange(code: &str, verifier: &str) -> String {
    json!({ "code": code, "code_verifier": verifier, "code_challenge_method": "S256" }).to_string()
}

/// Returns OpenRouter's result from the page's URL parameters (decoded), if there is one.
#[must_use]
pub fn back(parameters: &[(String, String)]) -> Option<Back> {
    let parameter = |name: &str| parameters.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
    match (parameter("code").filter(|code| !code.is_empty()), parameter("error")) {
        (_, Some("access_denied")) => Some(Back::Refused(
            "OpenRouter issued no key because access was denied. Sign in again and allow it.".into(),
        )),
        (_, Some(error)) => {
            Some(Back::Refused(format!("OpenRouter refused to sign in: {}. Try again.", one_line(error, 80))))
        }
        (Some(code), None) => Some(Back::Code(code.to_owned())),
        (None, None) => None,
    }
}

/// Returns whether a parameter is from OpenRouter and has to be removed from the URL.
#[must_use]
pub fn is_ours(parameter: &str) -> bool {
    matches!(parameter, "code" | "error" | "error_description" | "error_uri" | "state")
}

/// Returns the message for a code that this tab did not request: from another tab's sign-in, or from a crafted link.
#[must_use]
pub fn unasked() -> String {
    "This page was opened with a sign-in code that this tab did not ask for, so the code was dropped. Sign in from here."
        .to_owned()
}

/// Returns the key from the response of [`KEYS`]. The response's own text may quote the request, so it is not shown.
///
/// # Errors
/// A sentence that says what to do.
pub fn key_of(status: u16, body: &str) -> Result<String, String> {
    let value: Value = serde_json::from_str(body).unwrap_or_default();
    let key = value.get("key").and_then(Value::as_str).filter(|key| !key.is_empty());
    match (status, key) {
        (200..=299, Some(key)) => Ok(key.to_owned()),
        (400 | 401 | 403 | 404, _) => {
            Err("The sign-in code has expired or was used before. Sign in again: each code works only once.".to_owned())
        }
        (429, _) => Err("OpenRouter limits how often you can sign in. Try again in a minute.".to_owned()),
        (500.., _) => Err(format!("OpenRouter could not issue a key (HTTP {status}). Try again in a minute.")),
        _ => Err(format!("OpenRouter's answer contained no key (HTTP {status}). Sign in again, or paste a key.")),
    }
}

/// Returns the message for an exchange that did not reach OpenRouter.
#[must_use]
pub fn unreachable() -> String {
    "openrouter.ai could not be reached, so there is no key yet. Check the connection and any blocker, then sign in again."
        .to_owned()
}

fn url_safe(bytes: &[u8]) -> String {
    base64(bytes).trim_end_matches('=').replace('+', "-").replace('/', "_")
}

/// Percent-encodes everything except unreserved characters.
fn escaped(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    text.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}
