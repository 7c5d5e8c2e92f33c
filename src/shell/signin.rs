//! The one request of a sign-in: exchanges a code for a key. The caller writes its content.

use gloo_net::http::Request;

use super::stream;
use crate::engine::RAW_CAP;

/// Posts JSON and returns the status and body of the response. `Err`: there was no response.
///
/// # Errors
/// The request failed; browsers reveal no details to a page.
pub async fn post(url: &str, body: String) -> Result<(u16, String), ()> {
    let request = Request::post(url).header("content-type", "application/json").body(body).map_err(drop)?;
    let response = request.send().await.map_err(drop)?;
    let text = match response.body() {
        Some(body) => stream::read_text(&body, RAW_CAP).await.ok().flatten().unwrap_or_default(),
        None => String::new(),
    };
    Ok((response.status(), text))
}
