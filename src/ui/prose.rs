//! A turn's text on the screen: plain while it streams, then blocks made from Markdown nodes.
//!
//! Owns its element for as long as the turn lives, so that switching runs neither renders again nor loses anything. A
//! delta costs its own length: it is appended to one text node; of rendered blocks only those that changed are made anew.

use std::cell::RefCell;
use std::sync::Arc;

use leptos::html;
use leptos::prelude::*;
use send_wrapper::SendWrapper;
use web_sys::{Element, Text};

use crate::view::markdown::Node;

use super::{dom, markdown};

/// A handle on one text; clones share it. Only ever touched on the page's one thread.
#[derive(Clone)]
pub struct Prose(Arc<SendWrapper<RefCell<Inner>>>);

struct Inner {
    host: Element,
    text: String,
    shown: Shown,
    /// How much of the text was handed out to be rendered.
    taken: usize,
}

enum Shown {
    Nothing,
    /// The node that grows.
    Plain(Text),
    /// One child element a block.
    Blocks(Vec<Node>),
}

impl std::fmt::Debug for Prose {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Prose")
    }
}

impl Prose {
    /// An empty text in an element of a class.
    pub fn new(class: &'static str) -> Self {
        let host = dom::element("div");
        host.set_class_name(class);
        let inner = Inner { host, text: String::new(), shown: Shown::Nothing, taken: 0 };
        Prose(Arc::new(SendWrapper::new(RefCell::new(inner))))
    }

    /// The element, to be put somewhere.
    pub fn host(&self) -> Element {
        self.0.borrow().host.clone()
    }

    /// The element as a child of a component.
    pub fn place(&self) -> impl IntoView + use<> {
        let prose = self.clone();
        let place = NodeRef::<html::Div>::new();
        place.on_load(move |place| {
            let _ = place.append_child(&prose.host());
        });
        html::div().class("placed").node_ref(place)
    }

    pub fn is_empty(&self) -> bool {
        self.0.borrow().text.is_empty()
    }

    /// Bytes.
    pub fn len(&self) -> usize {
        self.0.borrow().text.len()
    }

    /// The text, to be rendered; `None` where this very text was taken before.
    pub fn take_text(&self) -> Option<String> {
        let mut inner = self.0.borrow_mut();
        let length = inner.text.len();
        (std::mem::replace(&mut inner.taken, length) != length).then(|| inner.text.clone())
    }

    /// Adds what was streamed. Rendered blocks wait for the next [`Prose::show`].
    pub fn append(&self, delta: &str) {
        if delta.is_empty() {
            return;
        }
        let mut inner = self.0.borrow_mut();
        inner.text.push_str(delta);
        match &inner.shown {
            Shown::Plain(node) => {
                let _ = node.append_data(delta);
            }
            Shown::Nothing => {
                let node = dom::document().create_text_node(&inner.text);
                let _ = inner.host.class_list().add_1("plain");
                let _ = inner.host.append_child(&node);
                inner.shown = Shown::Plain(node);
            }
            Shown::Blocks(_) => {}
        }
    }

    /// Makes the whole text this; nothing where it is already.
    pub fn set(&self, text: &str) {
        if self.0.borrow().text != text {
            self.clear();
            self.append(text);
        }
    }

    /// Drops everything: the attempt it came from is void.
    pub fn clear(&self) {
        let mut inner = self.0.borrow_mut();
        inner.text.clear();
        inner.shown = Shown::Nothing;
        inner.taken = 0;
        inner.host.replace_children_with_node_0();
    }

    /// Marks that more is coming.
    pub fn mark(&self, streaming: &Streaming) {
        let host = &self.0.borrow().host;
        let _ = match streaming {
            Streaming::Yes => host.set_attribute("data-streaming", ""),
            Streaming::No => host.remove_attribute("data-streaming"),
        };
    }

    /// Shows the blocks of a text, where it is still this one or began this one.
    pub fn show(&self, of: &str, blocks: Vec<Node>) {
        let mut inner = self.0.borrow_mut();
        if !inner.text.starts_with(of) {
            return;
        }
        let same = match &inner.shown {
            Shown::Blocks(old) => old.iter().zip(&blocks).take_while(|(old, new)| old == new).count(),
            Shown::Nothing | Shown::Plain(_) => {
                inner.host.replace_children_with_node_0();
                let _ = inner.host.class_list().remove_1("plain");
                0
            }
        };
        while inner.host.child_element_count() as usize > same {
            match inner.host.last_element_child() {
                Some(last) => last.remove(),
                None => break,
            }
        }
        for block in blocks.iter().skip(same) {
            let _ = inner.host.append_child(&markdown::block(block));
        }
        inner.shown = Shown::Blocks(blocks);
    }
}

/// Whether a text is still growing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Streaming {
    Yes,
    No,
}
