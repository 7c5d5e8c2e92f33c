//! Pages that do nothing but lead to another one (`<meta http-equiv="refresh">`), as generators write them for moved pages
//! and for the front page.

use super::marks::value;
use super::{html, url};

/// Such a page is not larger, and says little.
const MAX_BYTES: usize = 8 << 10;
const MAX_TEXT: usize = 500;
const MAX_SECONDS: usize = 5;

/// The page of the same origin that a page leads to at once.
#[must_use]
pub fn target(page: &str, text: &str) -> Option<String> {
    if text.len() > MAX_BYTES {
        return None;
    }
    let link = text.split('<').skip(1).find_map(|tag| {
        let tag = tag.split('>').next()?;
        let lower = tag.to_ascii_lowercase();
        let refreshes = lower.starts_with("meta") && lower.contains("http-equiv") && lower.contains("refresh");
        let content = value(tag, if tag.contains("CONTENT") { "CONTENT" } else { "content" }).filter(|_| refreshes)?;
        let (seconds, rest) = content.split_once([';', ','])?;
        let rest = rest.trim_start();
        let named = rest.get(..3).is_some_and(|name| name.eq_ignore_ascii_case("url"));
        let link = rest.get(3..).filter(|_| named)?.trim_start().strip_prefix('=')?;
        let soon =
            seconds.split('.').next().unwrap_or_default().trim().parse::<usize>().is_ok_and(|s| s <= MAX_SECONDS);
        soon.then(|| link.trim().trim_matches(['\'', '"']))
    })?;
    let target = url::page(&url::join(&html::head(page, text).base, link)?);
    let leads = url::same_origin(page, &target) && url::key(&target) != url::key(page) && !url::ends_session(&target);
    (leads && html::plain(text).len() <= MAX_TEXT).then_some(target)
}
