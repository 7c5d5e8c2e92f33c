//! Answers questions about the site that a worker holds: data in, JSON text out.

use serde::Serialize;

use super::site::Site;
use super::{Ask, Step, tools};

/// Answers one question. `texts`: the bodies of the fetched addresses, in the order of the answers that have one; for
/// `Load`, the stored text.
///
/// # Errors
/// The message for users if no site is open.
pub fn answer(held: &mut Option<Site>, ask: Ask, texts: Vec<String>) -> Result<String, String> {
    let mut texts = texts.into_iter();
    if let Ask::Open { page, html, source } = ask {
        let (site, step) = Site::open(&page, html.as_deref(), source.as_deref());
        *held = Some(site);
        return Ok(written(&step));
    }
    if ask == Ask::Tools {
        return Ok(written(&tools::specs()));
    }
    let site = held.as_mut().ok_or("no site is open")?;
    Ok(match ask {
        Ask::Take(answers) => {
            let mut all = Step::default();
            for got in answers {
                let text = if got.body { texts.next() } else { None };
                let step = site.take(&got, text.as_deref());
                let fetch = std::mem::take(&mut all.fetch);
                all = Step { fetch: [fetch, step.fetch.clone()].concat(), ..step };
            }
            written(&all)
        }
        Ask::Search { query, limit } => written(&site.search(&query, limit)),
        Ask::Call { name, arguments } => written(&tools::call(site, &name, &arguments)),
        Ask::Save => site.save(),
        Ask::Load { version } => written(&site.load(&version, &texts.next().unwrap_or_default())),
        Ask::Open { .. } | Ask::Tools => String::new(),
    })
}

fn written(part: &impl Serialize) -> String {
    // Plain data with string keys: serializing cannot fail.
    serde_json::to_string(part).unwrap_or_default()
}
