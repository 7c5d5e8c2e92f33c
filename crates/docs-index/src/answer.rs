//! Answers questions about the site that a worker holds: data in, JSON text out.

use serde::Serialize;

use super::site::Site;
use super::{SiteQuery, SiteStep, tools};

/// Answers one question. `texts`: the bodies of the fetched addresses, in the order of the answers that have one; for
/// `Load`, the stored text.
///
/// # Errors
/// The message for users if no site is open.
pub fn answer(held: &mut Option<Site>, ask: SiteQuery, texts: Vec<String>) -> Result<String, String> {
    let mut texts = texts.into_iter();
    if let SiteQuery::Open { page, html, source } = ask {
        let (site, step) = Site::open(&page, html.as_deref(), source.as_deref());
        *held = Some(site);
        return Ok(written(&step));
    }
    if ask == SiteQuery::Tools {
        return Ok(written(&tools::specs()));
    }
    let site = held.as_mut().ok_or("no site is open")?;
    Ok(match ask {
        SiteQuery::Take(answers) => {
            let mut all = SiteStep::default();
            for got in answers {
                let text = if got.body { texts.next() } else { None };
                let step = site.take(&got, text.as_deref());
                let fetch = std::mem::take(&mut all.fetch);
                all = SiteStep { fetch: [fetch, step.fetch.clone()].concat(), ..step };
            }
            written(&all)
        }
        SiteQuery::Search { query, limit } => written(&site.search(&query, limit)),
        SiteQuery::Call { name, arguments } => written(&tools::call(site, &name, &arguments)),
        SiteQuery::Save => site.save(),
        SiteQuery::Load { version } => written(&site.load(&version, &texts.next().unwrap_or_default())),
        SiteQuery::Open { .. } | SiteQuery::Tools => String::new(),
    })
}

fn written(part: &impl Serialize) -> String {
    // Plain data with string keys: serializing cannot fail.
    serde_json::to_string(part).unwrap_or_default()
}
