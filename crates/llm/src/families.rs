//! How the messages of a conversation are written for families of models, wherever they are served. What they take of a run's settings
//! is in `abilities.rs`.

use super::call_ids::IdRule;

/// How the model's own thoughts go back to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Thoughts {
    Never,
    /// In a field of this name.
    Field(&'static str),
    /// At the beginning of the text, between `<think>` and `</think>`.
    Tags,
}

/// The field in which most servers have thoughts.
pub(super) const REASONING_CONTENT: &str = "reasoning_content";

/// A family of models, by the beginning of a name without its vendor.
#[derive(Debug)]
pub(super) struct ModelFamily {
    names: &'static [&'static str],
    pub thoughts: Thoughts,
    pub needs_thoughts: bool,
    pub ids: IdRule,
    pub user_after_tool: bool,
}

const ANY: ModelFamily = ModelFamily {
    names: &[],
    thoughts: Thoughts::Never,
    needs_thoughts: false,
    ids: IdRule::Max(40),
    user_after_tool: true,
};

const FAMILIES: &[ModelFamily] = &[
    ModelFamily {
        names: &["deepseek", "kimi"],
        thoughts: Thoughts::Field(REASONING_CONTENT),
        needs_thoughts: true,
        ..ANY
    },
    // Interleaved thinking: what is left out is thought again.
    ModelFamily { names: &["minimax-m"], thoughts: Thoughts::Tags, ..ANY },
    // The chat templates of all of them: llama.cpp#19851, mistral-vibe#1006, NIM, vLLM.
    ModelFamily {
        names: &["mistral", "ministral", "magistral", "devstral", "codestral", "mixtral", "pixtral", "voxtral"],
        ids: IdRule::Nine,
        user_after_tool: false,
        ..ANY
    },
];

/// The family of a model.
pub(super) fn family(model: &str) -> &'static ModelFamily {
    let name = plain(model);
    FAMILIES.iter().find(|family| family.names.iter().any(|known| name.starts_with(known))).unwrap_or(&ANY)
}

/// Whether the limit of a reply is called `max_completion_tokens`. OpenAI's models from o1 and GPT-5 on refuse `max_tokens` wherever they
/// are served (Azure, LiteLLM: litellm#13432, opencode#5421). Most other servers know only `max_tokens`.
pub(super) fn caps_completion(model: &str) -> bool {
    let name = plain(model);
    let number = |prefix: &str| {
        let rest = name.strip_prefix(prefix)?;
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        rest.get(..digits)?.parse::<u32>().ok()
    };
    number("gpt-").is_some_and(|version| version >= 5) || number("o").is_some()
}

/// A name without `vendor/` and `models/`, in lower case.
fn plain(model: &str) -> String {
    model.rsplit('/').next().unwrap_or_default().to_ascii_lowercase()
}
