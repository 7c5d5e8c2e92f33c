//! Thoughts that a server leaves in the text, between tags: `<think>` at its very beginning, up to `</think>` (vLLM, LM Studio and others
//! without a parser for the model; opencode#43770, picoclaw#1233).

/// The tags that open and close thoughts.
const TAGS: &[(&str, &str)] = &[
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    // Mistral (vllm-mlx#599), Kimi-VL (better-chatbot#107), Gemma 4 (ollama#18288)
    ("[THINK]", "[/THINK]"),
    ("◁think▷", "◁/think▷"),
    ("<|channel>thought", "<channel|>"),
];

/// Where in a text the pieces that arrive belong.
#[derive(Debug, Default)]
pub(super) enum Think {
    /// Nothing but white space so far, or what may become a tag; it is kept here.
    #[default]
    Start,
    Held(String),
    /// Behind a tag, up to the tag that closes it; `held` may be the beginning of that.
    Inside {
        close: &'static str,
        held: String,
    },
    /// White space directly after the thoughts.
    Closed,
    Text,
}

impl Think {
    /// Whether each further piece is a part of the text.
    pub fn is_text(&self) -> bool {
        matches!(self, Think::Text)
    }

    /// Takes the next piece.
    pub fn add(&mut self, piece: &str, text: &mut String, thoughts: &mut String) {
        match std::mem::replace(self, Think::Text) {
            Think::Text => text.push_str(piece),
            Think::Start if piece.is_empty() => *self = Think::Start,
            Think::Start => self.begin(piece.to_owned(), text, thoughts),
            Think::Held(held) => self.begin(held + piece, text, thoughts),
            Think::Inside { close, held } => self.inside(close, &(held + piece), text, thoughts),
            Think::Closed => self.closed(piece, text),
        }
    }

    fn begin(&mut self, held: String, text: &mut String, thoughts: &mut String) {
        let start = held.trim_start();
        let opened = TAGS.iter().find_map(|(open, close)| Some((close, start.strip_prefix(open)?)));
        if let Some((close, rest)) = opened {
            let rest = rest.to_owned();
            return self.inside(close, &rest, text, thoughts);
        }
        if TAGS.iter().any(|(open, _)| open.starts_with(start)) {
            *self = Think::Held(held);
        } else {
            text.push_str(&held);
        }
    }

    fn inside(&mut self, close: &'static str, held: &str, text: &mut String, thoughts: &mut String) {
        if let Some((thought, rest)) = held.split_once(close) {
            thoughts.push_str(thought);
            return self.closed(rest, text);
        }
        let kept = longest_start(held, close);
        let (thought, held) = held.split_at(held.len() - kept);
        thoughts.push_str(thought);
        *self = Think::Inside { close, held: held.to_owned() };
    }

    fn closed(&mut self, piece: &str, text: &mut String) {
        match piece.trim_start() {
            "" => *self = Think::Closed,
            rest => {
                text.push_str(rest);
                *self = Think::Text;
            }
        }
    }

    /// The end of the text: what was held is what it looks like.
    pub fn finish(self, text: &mut String, thoughts: &mut String) {
        match self {
            Think::Held(held) => text.push_str(&held),
            Think::Inside { held, .. } => thoughts.push_str(&held),
            Think::Start | Think::Closed | Think::Text => {}
        }
    }
}

/// Takes the thoughts out of a whole text of which only their end is marked: the chat templates of DeepSeek R1 and others open the tag
/// themselves. The tag is on a line of its own, or directly between two texts, without a space (sglang#36285); nobody writes it so in a sentence.
pub(super) fn take_unopened(text: &mut String, thoughts: &mut String) {
    let is_marked = |(open, close): &&(&str, &str)| text.contains(close) && !text.contains(open);
    let Some((_, close)) = TAGS.iter().find(is_marked).filter(|_| thoughts.is_empty()) else { return };
    let mut before = 0;
    for line in text.split_inclusive('\n') {
        if line.trim() == *close {
            thoughts.push_str(text.get(..before).unwrap_or_default());
            *text = text.get(before + line.len()..).unwrap_or_default().trim_start().to_owned();
            return;
        }
        before += line.len();
    }
    let Some((before, after)) = text.split_once(close) else { return };
    if !after.contains(close) && joins(before, after) {
        thoughts.push_str(before);
        *text = after.trim_start().to_owned();
    }
}

/// Whether a tag between two texts belongs to neither: nothing separates it from them, and it is not in code.
fn joins(before: &str, after: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or_default();
    let is_code = before.matches("```").count() % 2 == 1 || line.matches('`').count() % 2 == 1;
    let quotes = |c: char| matches!(c, '"' | '\'' | '`');
    let ends = line.chars().next_back().is_none_or(|c| !c.is_whitespace() && !quotes(c));
    let begins = match after.chars().next() {
        None => false,
        Some('\n') => !line.is_empty(),
        // Inside a line, it may be markup.
        Some('<') => line.is_empty(),
        Some(c) => c.is_alphanumeric() || matches!(c, '{' | '[' | '#' | '*' | '-'),
    };
    !is_code && ends && begins
}

/// How many bytes at the end of a text are the beginning of `mark`.
fn longest_start(text: &str, mark: &str) -> usize {
    let most = mark.len().min(text.len());
    (1..=most).rev().find(|n| text.ends_with(mark.get(..*n).unwrap_or(mark))).unwrap_or(0)
}
