//! The known facts about a model, as text, and the list of a provider's models, filtered as the user types.

use turnwise_engine::{Price, ProviderConfig};
use turnwise_llm::models::{AS_OF, Facts, ModelInfo};

use turnwise_content::format::thousands;

/// The number of models of a long list that are shown at once; typing finds the others.
pub const SHOWN: usize = 80;

/// The known facts about one model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KnownModel {
    /// The context size, in input tokens.
    pub context_tokens: Option<u64>,
    pub price: Option<Price>,
    /// Whether it accepts pictures.
    pub images: Option<bool>,
    pub by: By,
}

/// The source of the facts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// The provider's own current list.
    Provider,
    /// The table of this version, as of [`AS_OF`].
    Table,
}

impl From<Facts> for KnownModel {
    fn from(facts: Facts) -> Self {
        KnownModel {
            context_tokens: Some(facts.context_tokens),
            price: Some(facts.price),
            images: Some(facts.images),
            by: By::Table,
        }
    }
}

impl From<&ModelInfo> for KnownModel {
    fn from(model: &ModelInfo) -> Self {
        let ModelInfo { context_tokens, price, images, .. } = *model;
        KnownModel { context_tokens, price, images, by: By::Provider }
    }
}

impl KnownModel {
    /// `200 K tokens of context · $3 in / $15 out per million tokens (as of 2026-11) · accepts pictures`; empty if nothing is
    /// known.
    #[must_use]
    pub fn description(&self) -> String {
        let date = match self.by {
            By::Table => format!("as of {AS_OF}"),
            By::Provider => "as listed now".to_owned(),
        };
        let facts = [
            self.context_tokens.map(|tokens| format!("{} tokens of context", short(tokens))),
            self.price.map(|price| match (price.input, price.output) {
                (0.0, 0.0) => "free of charge".to_owned(),
                _ => format!("{} per million tokens ({date})", prices(price)),
            }),
            self.images.map(|images| if images { "accepts pictures" } else { "no pictures" }.to_owned()),
        ];
        facts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
    }
}

/// Returns the price that a run's cost is based on, for a tooltip.
#[must_use]
pub fn price_words(provider: &ProviderConfig) -> Option<String> {
    let price = provider.price?;
    let table = turnwise_llm::models::table_row_of(provider).is_some_and(|facts| facts.price == price);
    let date = if table { format!(": the list price as of {AS_OF}") } else { String::new() };
    Some(format!("{} per million tokens{date}", prices(price)))
}

/// `$3 in / $15 out`
fn prices(price: Price) -> String {
    format!("${} in / ${} out", amount(price.input), amount(price.output))
}

/// `3`, `0.50`, `0.075`: whole dollars, or at least two decimals.
fn amount(dollars: f64) -> String {
    let text = format!("{dollars:.4}");
    let short = text.trim_end_matches('0');
    match short.split_once('.') {
        Some((whole, "")) => whole.to_owned(),
        Some((_, decimals)) if decimals.len() == 1 => format!("{short}0"),
        _ => short.to_owned(),
    }
}

/// `8,192`, `200 K`, `1 M`, `1.05 M`.
fn short(tokens: u64) -> String {
    let hundredths = |unit: u64| {
        let value = (tokens * 100 + unit / 2) / unit;
        let text = format!("{}.{:02}", value / 100, value % 100);
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    };
    match tokens {
        0..10_000 => thousands(tokens),
        10_000..1_000_000 => format!("{} K", (tokens + 500) / 1_000),
        _ => format!("{} M", hundredths(1_000_000)),
    }
}

/// Returns a note for users if the model accepts no pictures.
#[must_use]
pub fn picture_note(known: Option<KnownModel>, is_demo: bool) -> Option<&'static str> {
    match known.and_then(|known| known.images) {
        _ if is_demo => Some("The demo model is scripted and ignores images."),
        Some(false) => Some("As far as is known, this model does not accept images. Choose another in Settings."),
        Some(true) | None => None,
    }
}

/// One model as an option of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelOption {
    pub id: String,
    /// The display name, if it differs from the id.
    pub name: Option<String>,
    /// `200 K · $3 / $15`
    pub facts: String,
}

/// Returns the options for the typed text, and the number of those that are not shown.
#[must_use]
pub fn options(models: &[ModelInfo], typed: &str) -> (Vec<ModelOption>, usize) {
    let typed = typed.trim().to_lowercase();
    let words: Vec<&str> = typed.split_whitespace().collect();
    let fits = |model: &&ModelInfo| {
        let text = format!("{} {}", model.id, model.name).to_lowercase();
        words.iter().all(|word| text.contains(word))
    };
    // Models that begin with the typed text come first.
    let (first, then): (Vec<&ModelInfo>, Vec<&ModelInfo>) = models.iter().filter(fits).partition(|model| {
        let id = model.id.to_lowercase();
        !typed.is_empty() && (id.starts_with(&typed) || id.split('/').any(|part| part.starts_with(&typed)))
    });
    let found = first.len() + then.len();
    let shown = first.into_iter().chain(then).take(SHOWN).map(ModelOption::from).collect();
    (shown, found.saturating_sub(SHOWN))
}

impl From<&ModelInfo> for ModelOption {
    fn from(model: &ModelInfo) -> Self {
        let price = model.price.map(|price| match (price.input, price.output) {
            (0.0, 0.0) => "free".to_owned(),
            (input, output) => format!("${} / ${}", amount(input), amount(output)),
        });
        let facts: Vec<String> = [model.context_tokens.map(short), price].into_iter().flatten().collect();
        let name = Some(model.name.clone()).filter(|name| !name.is_empty() && *name != model.id);
        ModelOption { id: model.id.clone(), name, facts: facts.join(" · ") }
    }
}
