//! A text that grows is rendered again and again. Of its blocks, only those that changed since the last time are answered: a
//! page would otherwise read and compare the whole text each time. PURE.

use turnwise_content::markdown::Node;
use turnwise_protocol::tool_worker::ChangedBlocks;

/// The last text that grew. Another one takes its place.
#[derive(Debug, Default)]
pub struct Growing {
    /// Numbers the text; the page uses a new number whenever it has lost the blocks.
    text: Option<u32>,
    nodes: Vec<Node>,
}

impl Growing {
    /// Returns what has changed in a text since it was last rendered.
    pub fn changes(&mut self, text: u32, nodes: Vec<Node>) -> ChangedBlocks {
        let known = self.text.replace(text) == Some(text);
        let same = match known {
            true => self.nodes.iter().zip(&nodes).take_while(|(old, new)| old == new).count(),
            false => 0,
        };
        self.nodes = nodes;
        ChangedBlocks { same, nodes: self.nodes.get(same..).unwrap_or_default().into() }
    }
}
