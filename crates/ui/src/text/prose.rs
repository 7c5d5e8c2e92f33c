//! A turn's text on the screen: blocks made from Markdown nodes, or plain text until there are any.
//!
//! Owns its element for as long as the turn lives, so that switching runs neither renders again nor loses anything. The
//! worker answers the blocks that changed, and only those are rebuilt. Many at once are built in several frames, so that the
//! page stays responsive. Until the first blocks are there, the text is shown plain, in text nodes that grow; a text that
//! streams waits a moment for them, because drawing it twice takes long just when the turn appears. A very large text stays plain.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::sync::Arc;

use futures_channel::oneshot;
use leptos::html;
use leptos::prelude::*;
use send_wrapper::SendWrapper;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{Element, Text};

use turnwise_content::format;
use turnwise_content::markdown::{Node, has_formula, parts, weight};
use turnwise_protocol::tool_worker::GrowingPart;

use crate::browser::dom;
use crate::text::markdown;
use crate::text::pieces;

/// The attribute of a text that still grows; `www/app/boot.js` knows it too.
const STREAMING: &str = "data-streaming";
/// The attribute of the block that such a text grows in.
const CARET: &str = "data-caret";

/// The class of a text that is shown as it was written.
const WRITTEN: &str = "written";

/// How long blocks are built at a stretch at most, in milliseconds. It follows from how long the page was drawn.
const STRETCH: f64 = 1.5;
/// How long drawing the page should take, in milliseconds. It takes several times as long as building what is new in it.
const DRAWING: f64 = 10.0;

/// Number of blocks in an element of their own. The browser leaves out those that are not seen (transcript.css), which takes
/// some time for each in every frame: too much with an element for each block.
const PART: usize = 8;

/// Once so much of a growing text is shown plain, in bytes, the rest waits for the text's blocks, or for its end: with each delta,
/// the browser lays out all of it again.
const PLAIN: usize = 600;

/// Larger texts, in bytes, are shown as they were written, unless the user wants them drawn: drawing takes longer than a page may
/// be kept busy.
const LARGE: usize = 256 << 10;
/// So are texts of more elements.
const MANY: usize = 20_000;

/// How long a growing text waits for its first blocks before it is shown plain, in milliseconds.
const PATIENCE: f64 = 250.0;

/// A handle to one text; clones share it. Only used on the page's single thread.
#[derive(Clone)]
pub struct Prose(Arc<SendWrapper<RefCell<ProseState>>>);

struct ProseState {
    host: Element,
    /// Numbers the text among all of the page. A text that is dropped takes its number with it.
    number: u32,
    text: String,
    /// When the text began, on the page's clock.
    begun: f64,
    shown: ShownPart,
    /// Number of blocks that are shown.
    built: usize,
    /// Number of those that stay; the others are replaced by the next block that is built.
    kept: usize,
    /// What follows those that stay, still to be built.
    waiting: VecDeque<WaitingBlock>,
    /// They will be built after the next frame.
    scheduled: bool,
    /// Dropped once all blocks are built.
    waiter: Option<oneshot::Sender<()>>,
    /// How long to build at a stretch, in milliseconds.
    stretch: f64,
    /// How long the last blocks were laid out, in milliseconds.
    laid_out: f64,
    /// Number of bytes of the text that were taken for rendering.
    taken: usize,
    /// They were taken as the complete text.
    complete: bool,
    /// Number of those that were rendered.
    rendered: usize,
    /// Numbers of elements of the blocks, and their sum.
    weights: Vec<usize>,
    weight: usize,
    /// Numbers of elements of the parts of the last block.
    parts: Vec<usize>,
    /// It is shown as it was written.
    written: bool,
    /// The user wants it drawn however large it is.
    wanted: bool,
}

/// What is new of a text, to be rendered.
#[derive(Debug)]
pub struct Taken {
    pub part: GrowingPart,
    pub text: String,
}

/// What is to be built next.
enum WaitingBlock {
    Whole(Node),
    /// The parts of the last block after its first ones, in place of its others.
    More {
        keep: usize,
        node: Node,
    },
}

enum ShownPart {
    Nothing,
    /// The text node that grows, with this number of bytes; this number of bytes of the whole text is shown.
    Plain {
        last: Text,
        filled: usize,
        shown: usize,
    },
    /// Elements of the class `part`, with one child for each of at most [`PART`] blocks.
    Blocks,
}

/// Appends a piece of a text, which is still empty.
fn piece(host: &Element) -> Text {
    let (piece, text) = (dom::element("span"), dom::document().create_text_node(""));
    piece.set_class_name(pieces::CLASS);
    let _ = piece.append_child(&text);
    let _ = host.append_child(&piece);
    text
}

/// Returns a number that no text had before.
fn next_number() -> u32 {
    thread_local!(static NUMBERS: Cell<u32> = const { Cell::new(0) });
    NUMBERS.with(|numbers| numbers.replace(numbers.get().wrapping_add(1)))
}

impl std::fmt::Debug for Prose {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Prose")
    }
}

impl Prose {
    /// Creates an empty text in an element of this class.
    pub fn new(class: &'static str) -> Self {
        let host = dom::element("div");
        host.set_class_name(class);
        let inner = ProseState {
            host,
            number: next_number(),
            text: String::new(),
            begun: 0.0,
            shown: ShownPart::Nothing,
            built: 0,
            kept: 0,
            waiting: VecDeque::new(),
            scheduled: false,
            waiter: None,
            stretch: STRETCH,
            laid_out: 0.0,
            taken: 0,
            complete: false,
            rendered: 0,
            weights: Vec::new(),
            weight: 0,
            parts: Vec::new(),
            written: false,
            wanted: false,
        };
        Prose(Arc::new(SendWrapper::new(RefCell::new(inner))))
    }

    /// Returns the element, to be inserted somewhere.
    pub fn host(&self) -> Element {
        self.0.borrow().host.clone()
    }

    /// Returns the element as a child of a component.
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

    /// Returns what was added to the text, for rendering; `None`: nothing was, or only a complete text would be rendered differently.
    pub fn take(&self) -> Option<Taken> {
        let mut inner = self.0.borrow_mut();
        let (length, last) = (inner.text.len(), !inner.host.has_attribute(STREAMING));
        if inner.taken == length && (length == 0 || inner.complete || !last) {
            return None;
        }
        // The worker keeps no complete text.
        let from = if inner.complete { 0 } else { inner.taken };
        (inner.taken, inner.complete) = (length, last);
        let text = inner.text.get(from..).unwrap_or_default().to_owned();
        Some(Taken { part: GrowingPart { text: inner.number, from, last }, text })
    }

    /// Has the whole text taken again.
    pub fn take_again(&self) {
        let mut inner = self.0.borrow_mut();
        (inner.taken, inner.complete) = (0, false);
    }

    /// Appends streamed text. Rendered blocks wait for the next [`Prose::show`].
    pub fn append(&self, delta: &str) {
        if delta.is_empty() {
            return;
        }
        let mut inner = self.0.borrow_mut();
        let now = dom::uptime();
        if inner.text.is_empty() {
            inner.begun = now;
        }
        inner.text.push_str(delta);
        let is_held_back = match inner.shown {
            ShownPart::Nothing => now - inner.begun < PATIENCE,
            ShownPart::Plain { .. } if inner.is_large() => false,
            ShownPart::Plain { shown, .. } => shown >= PLAIN,
            ShownPart::Blocks => return,
        };
        if !(is_held_back && inner.host.has_attribute(STREAMING)) {
            inner.grow();
        }
    }

    /// Shows the whole text plain, if it has no blocks.
    pub fn show_plain(&self) {
        let mut inner = self.0.borrow_mut();
        inner.rendered = inner.taken;
        inner.grow();
    }

    /// Whether the text is too large to be drawn.
    pub fn is_large(&self) -> bool {
        self.0.borrow().is_large()
    }

    /// Shows the whole text as it was written, with a button that draws it all the same.
    pub fn show_written(&self, draw: impl FnOnce() + 'static) {
        let mut inner = self.0.borrow_mut();
        if !inner.written {
            inner.start_over();
            inner.written = true;
            let note = dom::element("p");
            note.set_class_name("fact");
            note.set_text_content(Some("This text is very long, so it is shown as it was written. "));
            let button = dom::element("button");
            let _ = button.set_attribute("type", "button");
            button.set_class_name("link");
            button.set_text_content(Some("Draw it all the same"));
            let prose = self.clone();
            let wanted = Closure::once_into_js(move || {
                prose.0.borrow_mut().want();
                draw();
            });
            let _ = button.add_event_listener_with_callback("click", wanted.unchecked_ref());
            let _ = note.append_child(&button);
            let _ = inner.host.append_child(&note);
            let _ = inner.host.class_list().add_1(WRITTEN);
        }
        inner.grow();
    }

    /// Whether all of the text is on the page, as it will be.
    pub fn is_whole(&self) -> bool {
        let inner = self.0.borrow();
        inner.is_large() || (inner.rendered == inner.text.len() && !inner.scheduled && inner.waiting.is_empty())
    }

    /// Replaces the whole text. What is shown stays if the text only grows: the end of a reply may come with its record.
    pub fn set(&self, text: &str) {
        let rest = text.strip_prefix(self.0.borrow().text.as_str());
        match rest {
            Some(rest) => self.append(rest),
            None => {
                self.clear();
                self.append(text);
            }
        }
    }

    /// Drops everything: the attempt it came from is void.
    pub fn clear(&self) {
        let mut inner = self.0.borrow_mut();
        inner.text.clear();
        inner.wanted = false;
        inner.start_over();
    }

    /// Marks whether more text is coming.
    pub fn mark(&self, streaming: &Streaming) {
        let mut inner = self.0.borrow_mut();
        match streaming {
            Streaming::Yes if !inner.host.has_attribute(STREAMING) => {
                let _ = inner.host.set_attribute(STREAMING, "");
                inner.point(true);
                inner.stretch = STRETCH / 4.0;
            }
            Streaming::Yes => {}
            Streaming::No if inner.host.has_attribute(STREAMING) => {
                let _ = inner.host.remove_attribute(STREAMING);
                inner.point(false);
                inner.grow();
                crate::browser::scripts::cite(&inner.host);
                crate::browser::scripts::drawings(&inner.host);
            }
            Streaming::No => {}
        }
    }

    /// Shows the blocks that follow the first `same`, which stay, if the text with this number was not dropped. With `keep`, the next
    /// one stays with so many of its parts, and the first node has its others. Returns false if it has too many elements to be drawn.
    pub fn show(&self, number: u32, same: usize, keep: usize, nodes: Vec<Node>) -> bool {
        let mut inner = self.0.borrow_mut();
        if inner.number != number {
            return true;
        }
        inner.weigh(same, keep, &nodes);
        if inner.is_large() {
            return false;
        }
        inner.rendered = inner.taken;
        inner.wait(same, keep, nodes);
        // The worker may answer several times in a frame: a text that grows is built once in each.
        if inner.scheduled || inner.host.has_attribute(STREAMING) {
            self.build_later(&mut inner);
        } else {
            drop(inner);
            self.build();
        }
        true
    }

    /// Resolves once the blocks that were shown last are built.
    pub async fn built(&self) {
        let (waiter, built) = oneshot::channel();
        {
            let mut inner = self.0.borrow_mut();
            if !inner.scheduled {
                return;
            }
            inner.waiter = Some(waiter);
        }
        // The sender is dropped, not used.
        let _ = built.await;
    }

    fn build_later(&self, inner: &mut ProseState) {
        if !std::mem::replace(&mut inner.scheduled, true) {
            let prose = self.clone();
            dom::after_frame(move |drawing| {
                {
                    let ProseState { stretch, laid_out, .. } = &mut *prose.0.borrow_mut();
                    *stretch *= (DRAWING / (drawing + *laid_out)).clamp(0.5, 1.2);
                    *stretch = stretch.clamp(STRETCH / 8.0, STRETCH);
                }
                prose.build();
                prose.0.borrow_mut().lay_out();
            });
        }
    }

    /// Builds the blocks that wait, the rest of them in the next frames.
    fn build(&self) {
        let mut inner = self.0.borrow_mut();
        inner.scheduled = false;
        if inner.waiting.is_empty() && inner.kept == inner.built {
            inner.waiter = None;
            return;
        }
        if !matches!(inner.shown, ShownPart::Blocks) {
            inner.host.replace_children_with_node_0();
            let _ = inner.host.class_list().remove_1("plain");
            inner.shown = ShownPart::Blocks;
        }
        let goes_on = matches!(inner.waiting.front(), Some(WaitingBlock::More { .. }));
        for _ in inner.kept + usize::from(goes_on)..inner.built {
            inner.remove_last();
        }
        let (begun, grows) = (dom::uptime(), inner.host.has_attribute(STREAMING));
        while let Some(next) = inner.waiting.pop_front() {
            let node = match next {
                WaitingBlock::Whole(node) => {
                    inner.push(&markdown::block(&node));
                    node
                }
                WaitingBlock::More { keep, node } => {
                    inner.extend(keep, &node);
                    node
                }
            };
            // Looking through all of a text that grows takes longer each time.
            if grows && has_formula(std::slice::from_ref(&node)) {
                inner.last_block().iter().for_each(crate::browser::scripts::drawings);
            }
            if dom::uptime() - begun >= inner.stretch && !inner.waiting.is_empty() {
                return self.build_later(&mut inner);
            }
        }
        inner.waiter = None;
        // Not of a text that still grows: its end may change.
        if !inner.host.has_attribute(STREAMING) {
            crate::browser::scripts::cite(&inner.host);
        }
        crate::browser::scripts::drawings(&inner.host);
    }
}

impl ProseState {
    fn is_large(&self) -> bool {
        !self.wanted && (self.written || self.text.len() > LARGE || self.weight > MANY)
    }

    /// Notes how many elements the blocks have.
    fn weigh(&mut self, same: usize, keep: usize, nodes: &[Node]) {
        let stay = same + usize::from(keep > 0);
        let ended = stay < self.weights.len();
        self.weight -= self.weights.drain(stay.min(self.weights.len())..).sum::<usize>();
        for (at, node) in nodes.iter().enumerate() {
            let weight = weight(std::slice::from_ref(node));
            self.weight += weight;
            match self.weights.last_mut().filter(|_| at == 0 && keep > 0) {
                Some(last) => {
                    // Of a block that had others after it, the parts are not known: it counts as if all stayed.
                    if ended {
                        self.parts.clear();
                    }
                    let less = self.parts.drain(keep.min(self.parts.len())..).sum::<usize>();
                    self.parts.resize(keep, 0);
                    self.weight -= less;
                    *last = *last + weight - less;
                }
                None => {
                    self.parts.clear();
                    self.weights.push(weight);
                }
            }
            self.parts.extend(parts::weights(node));
        }
    }

    /// Notes what is to be built.
    fn wait(&mut self, same: usize, keep: usize, nodes: Vec<Node>) {
        let mut nodes = nodes.into_iter().peekable();
        let stays = same.min(self.kept);
        let more = nodes.next_if(|_| keep > 0);
        self.waiting.truncate(same.saturating_sub(self.kept) + usize::from(more.is_some() && same >= self.kept));
        if same < self.kept {
            self.waiting.clear();
        }
        if let Some(more) = more {
            match self.waiting.back_mut().filter(|_| same >= self.kept) {
                None => self.waiting.push_back(WaitingBlock::More { keep, node: more }),
                Some(WaitingBlock::Whole(node)) => {
                    parts::truncate(node, keep);
                    parts::append(node, more);
                }
                Some(WaitingBlock::More { keep: known, node }) if *known <= keep => {
                    parts::truncate(node, keep - *known);
                    parts::append(node, more);
                }
                Some(waiting) => *waiting = WaitingBlock::More { keep, node: more },
            }
        }
        self.kept = stays;
        self.waiting.extend(nodes.map(WaitingBlock::Whole));
    }

    /// Drops what is shown; the text is taken for rendering again.
    fn start_over(&mut self) {
        self.number = next_number();
        self.shown = ShownPart::Nothing;
        (self.built, self.kept, self.taken, self.complete) = (0, 0, 0, false);
        self.waiting.clear();
        self.weights.clear();
        self.weight = 0;
        self.written = false;
        self.host.replace_children_with_node_0();
        let _ = self.host.class_list().remove_2(WRITTEN, "plain");
    }

    /// From now on, the text is drawn however large it is; until then, it is shown plain.
    fn want(&mut self) {
        self.wanted = true;
        self.start_over();
        self.grow();
    }

    /// Shows the rest of the text plain, in pieces, unless it has blocks.
    fn grow(&mut self) {
        if matches!(self.shown, ShownPart::Nothing) && !self.text.is_empty() {
            if !self.written {
                let _ = self.host.class_list().add_1("plain");
            }
            self.shown = ShownPart::Plain { last: piece(&self.host), filled: 0, shown: 0 };
        }
        let ShownPart::Plain { last, filled, shown } = &mut self.shown else { return };
        let rest = self.text.get(*shown..).unwrap_or_default();
        let (more, after) = rest.split_at(rest.floor_char_boundary(pieces::PIECE.saturating_sub(*filled)));
        let _ = last.append_data(more);
        *filled += more.len();
        for more in format::pieces(after, pieces::PIECE) {
            *last = piece(&self.host);
            *filled = more.len();
            let _ = last.append_data(more);
        }
        *shown = self.text.len();
    }

    /// Lays out what was built, in the task that built it: together with painting, it would be a long task on a slow processor.
    fn lay_out(&mut self) {
        let begun = dom::uptime();
        let _ = self.host.client_height();
        self.laid_out = dom::uptime() - begun;
    }

    fn last_block(&self) -> Option<Element> {
        self.host.last_element_child()?.last_element_child()
    }

    /// Replaces the further parts of the last block, which stays.
    fn extend(&mut self, keep: usize, more: &Node) {
        self.last_block().iter().for_each(|block| markdown::extend(block, keep, more));
        self.built = self.kept + 1;
        self.kept = self.built;
    }

    fn push(&mut self, block: &web_sys::Node) {
        let grows = self.host.has_attribute(STREAMING);
        if grows {
            self.point(false);
        }
        let last = self.host.last_element_child().filter(|_| !self.built.is_multiple_of(PART));
        let part = last.unwrap_or_else(|| {
            let part = dom::element("div");
            part.set_class_name("part");
            let _ = self.host.append_child(&part);
            part
        });
        let _ = part.append_child(block);
        if grows {
            self.point(true);
        }
        self.built += 1;
        self.kept = self.built;
    }

    /// Marks the last block as the one that the text grows in, or not.
    fn point(&self, grows: bool) {
        if let Some(block) = self.last_block() {
            let _ = block.toggle_attribute_with_force(CARET, grows);
        }
    }

    fn remove_last(&mut self) {
        self.built -= 1;
        let Some(part) = self.host.last_element_child() else { return };
        part.last_element_child().iter().for_each(Element::remove);
        if self.built.is_multiple_of(PART) {
            part.remove();
        }
    }
}

/// Whether a text is still growing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Streaming {
    Yes,
    No,
}
