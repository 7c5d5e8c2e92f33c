//! A turn's text on the screen: plain while it streams, then blocks made from Markdown nodes.
//!
//! Owns its element for as long as the turn lives, so that switching runs neither renders again nor loses anything, and
//! a delta costs its own length: it is appended to one text node.

use std::cell::RefCell;
use std::sync::Arc;

use send_wrapper::SendWrapper;
use web_sys::{Element, Text};

use super::dom;

/// A handle on one text; clones share it. Only ever touched on the page's one thread.
#[derive(Clone)]
pub struct Prose(Arc<SendWrapper<RefCell<Inner>>>);

struct Inner {
    host: Element,
    /// The node that grows, while the text is plain.
    plain: Option<Text>,
    text: String,
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
        Prose(Arc::new(SendWrapper::new(RefCell::new(Inner { host, plain: None, text: String::new() }))))
    }

    /// The element, to be put somewhere.
    pub fn host(&self) -> Element {
        self.0.borrow().host.clone()
    }

    pub fn is_empty(&self) -> bool {
        self.0.borrow().text.is_empty()
    }

    /// Adds what was streamed.
    pub fn append(&self, delta: &str) {
        let mut inner = self.0.borrow_mut();
        inner.text.push_str(delta);
        match &inner.plain {
            Some(node) => {
                let _ = node.append_data(delta);
            }
            None => {
                let node = dom::document().create_text_node(&inner.text);
                let _ = inner.host.class_list().add_1("plain");
                inner.host.replace_children_with_node_1(&node);
                inner.plain = Some(node);
            }
        }
    }

    /// Makes the whole text this, plain; nothing where it is already.
    pub fn set(&self, text: &str) {
        if self.0.borrow().text == text {
            return;
        }
        self.clear();
        if !text.is_empty() {
            self.append(text);
        }
    }

    /// Drops everything: the attempt it came from is void.
    pub fn clear(&self) {
        let mut inner = self.0.borrow_mut();
        inner.text.clear();
        inner.plain = None;
        inner.host.replace_children_with_node_0();
    }
}
