//! Facts about models that are known without a request: context window, prices, whether they accept images.
//!
//! The table is `table.csv`: vendor, model, context window in tokens, US dollars per million tokens of input, of output
//! and of cached input, and whether images are accepted. It contains the providers' list prices for short contexts and
//! goes out of date, so every price is shown with [`AS_OF`]. The user's settings and a provider's own list take
//! precedence.

mod list;

use turnwise_engine::{Price, ProviderConfig, ProviderKind, RunConfig};

use super::endpoint;
use super::providers::{Prices, WireFormat, wire};

pub use list::{ModelInfo, read_list};

/// The month in which the table was last compared with the providers' price lists (as listed in LiteLLM 1.110.2);
/// `node .ci/families.mjs --prices` renews the table.
pub const AS_OF: &str = "2026-11";

const TABLE: &str = include_str!("table.csv");

/// The table's data on a model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Facts {
    /// Maximum number of input tokens.
    pub context_tokens: u64,
    pub price: Price,
    pub images: bool,
}

/// Returns the row of a model; a dated version (`…-2026-04-23`, `…-20251001`) uses its model's row. OpenRouter's models
/// (`vendor/model`) have the window of the original, and its prices, which OpenRouter passes on.
#[must_use]
pub fn table_row(kind: ProviderKind, model: &str) -> Option<Facts> {
    let model = model.trim();
    let wire = wire(kind);
    match wire.prices {
        Prices::Unknown => None,
        Prices::Of(vendor) if wire.format == WireFormat::Gemini => row(vendor, model.trim_start_matches("models/")),
        Prices::Of(vendor) => row(vendor, model),
        Prices::OfVendorInName => {
            let (vendor, model) = model.split_once('/')?;
            let vendor = if vendor == "google" { "gemini" } else { vendor };
            // OpenRouter writes Anthropic's versions with dots.
            row(vendor, model).or_else(|| row(vendor, &model.replace('.', "-")))
        }
    }
}

/// Fills in values that the user left open and the table has: prices, and the smallest window of the providers.
pub fn complete(config: &mut RunConfig) {
    let mut windows = Vec::new();
    for provider in &mut config.providers {
        let known = table_row_of(provider);
        provider.price = provider.price.or(known.map(|facts| facts.price));
        windows.push(known.map(|facts| facts.context_tokens));
    }
    let smallest = windows.into_iter().collect::<Option<Vec<u64>>>().and_then(|windows| windows.into_iter().min());
    config.limits.context_tokens = config.limits.context_tokens.or(smallest);
}

/// The table's data on a provider's model; `None` for other servers, which may name their models as they like.
#[must_use]
pub fn table_row_of(p: &ProviderConfig) -> Option<Facts> {
    if endpoint::uses_default_url(p) { table_row(p.kind, &p.model) } else { None }
}

fn row(vendor: &str, model: &str) -> Option<Facts> {
    let find = |model: &str| {
        TABLE.lines().find_map(|line| {
            let mut cells = line.split(',');
            (cells.next() == Some(vendor) && cells.next() == Some(model)).then(|| read(cells)).flatten()
        })
    };
    find(model).or_else(|| find(undated(model)?))
}

fn read<'a>(mut cells: impl Iterator<Item = &'a str>) -> Option<Facts> {
    let context_tokens = cells.next()?.parse().ok()?;
    let mut price = || cells.next()?.parse::<f64>().ok();
    let (input, output, cached) = (price()?, price()?, price());
    let price = Price { input, output, cached: cached.unwrap_or(input) };
    Some(Facts { context_tokens, price, images: cells.next() == Some("yes") })
}

/// The name without the date at its end.
fn undated(model: &str) -> Option<&str> {
    let digits = |text: &str, n: usize| text.len() == n && text.bytes().all(|byte| byte.is_ascii_digit());
    let (rest, last) = model.rsplit_once('-')?;
    if digits(last, 8) {
        return Some(rest);
    }
    let (rest, month) = rest.rsplit_once('-').filter(|_| digits(last, 2))?;
    let (rest, year) = rest.rsplit_once('-').filter(|_| digits(month, 2))?;
    digits(year, 4).then_some(rest)
}
