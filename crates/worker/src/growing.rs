//! The texts that grow in a page: it sends what is added, and is answered what changes of the blocks. PURE.

use std::collections::VecDeque;

use turnwise_content::markdown::growing::{Changes, GrowingText};
use turnwise_content::markdown::highlight::Highlight;
use turnwise_protocol::tool_worker::{ChangedBlocks, GrowingPart};

/// So many texts grow at once at most; of another one, the page is asked for the beginning again.
const TEXTS: usize = 8;

/// The texts that are not complete, by their numbers, the latest one last.
#[derive(Debug, Default)]
pub struct Growing<H: Highlight>(VecDeque<(u32, GrowingText<H>)>);

impl<H: Highlight> Growing<H> {
    /// Returns what changes in a text with this part of it.
    pub fn changes(&mut self, part: GrowingPart, markdown: &str) -> ChangedBlocks {
        let GrowingPart { text: number, from, last } = part;
        let known = self.0.iter().position(|(known, _)| *known == number).and_then(|at| self.0.remove(at));
        let known = known.filter(|(_, text)| from > 0 && text.length() == from);
        let Some((_, mut text)) = known.or_else(|| (from == 0).then(|| (number, GrowingText::default()))) else {
            return ChangedBlocks { lost: true, ..ChangedBlocks::default() };
        };
        let Changes { same, keep, nodes } = text.grow(markdown, last);
        if !last {
            if self.0.len() >= TEXTS {
                self.0.pop_front();
            }
            self.0.push_back((number, text));
        }
        ChangedBlocks { same, keep, nodes: nodes.as_slice().into(), lost: false }
    }
}
