//! Sends Markdown to the render worker: one text at a time while it streams, and always the latest one.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use wasm_bindgen_futures::spawn_local;

use turnwise::worker::RenderHost;
use turnwise_protocol::DocumentTask;

use crate::browser::dom;
use crate::text::prose::{Prose, Streaming, Taken};

/// Every kind of block and of text that an answer commonly has.
const REHEARSAL: &str = "## Title\n\nA **bold**, an *italic* and a `code` word.\n\n- An item\n\n1. Another\n\n> A quotation\n\n\
    ```rust\nlet one = \"1\"; // one\n```\n\n| Name | Number |\n|---|---:|\n| One | 1 |\n";

#[derive(Clone, Debug)]
pub struct Renderer(Rc<RendererState>);

#[derive(Debug)]
struct RendererState {
    host: RenderHost,
    /// The first text was drawn, or is being drawn where nobody sees it.
    warm: Cell<bool>,
    /// A streaming text is being rendered.
    busy: Cell<bool>,
    /// The streaming text that grew in the meantime.
    next: RefCell<Option<Prose>>,
}

impl Renderer {
    pub fn new(worker_url: String) -> Self {
        Renderer(Rc::new(RendererState {
            host: RenderHost::new(worker_url),
            warm: Cell::default(),
            busy: Cell::default(),
            next: RefCell::default(),
        }))
    }

    /// Draws a text where nobody sees it, before there is one: the worker starts, the browser loads the fonts of an answer and
    /// compiles the code that builds it. With the first text of a run, that would be two long tasks on a slow processor.
    pub fn warm(&self) {
        if self.0.warm.replace(true) {
            return;
        }
        let renderer = self.clone();
        spawn_local(async move {
            let prose = Prose::new("prose unseen");
            prose.mark(&Streaming::Yes);
            prose.append(REHEARSAL);
            let host = prose.host();
            let _ = host.set_attribute("aria-hidden", "true");
            let _ = dom::document().body().map(|body| body.append_child(&host));
            renderer.show(&prose).await;
            prose.built().await;
            host.remove();
        });
    }

    /// Renders a complete text. If the worker cannot, the text stays plain.
    pub fn render(&self, prose: &Prose) {
        let (renderer, prose) = (self.clone(), prose.clone());
        spawn_local(async move { renderer.show(&prose).await });
    }

    /// Returns the JSON of the table or chart in a text; `None`: the worker could not look.
    pub async fn figure(&self, task: DocumentTask, text: String) -> Option<String> {
        self.0.host.figure(task, text).await.ok()
    }

    /// Renders a text that is still growing, as often as the worker and the page can keep up: what the page could not build in
    /// time would be rendered for nothing, and take the processor from it.
    pub fn render_soon(&self, prose: &Prose) {
        if self.0.busy.replace(true) {
            self.0.next.replace(Some(prose.clone()));
            return;
        }
        let (renderer, mut prose) = (self.clone(), prose.clone());
        spawn_local(async move {
            loop {
                renderer.show(&prose).await;
                prose.built().await;
                match renderer.0.next.take() {
                    Some(next) => prose = next,
                    None => break,
                }
            }
            renderer.0.busy.set(false);
        });
    }

    async fn show(&self, prose: &Prose) {
        if !prose.is_large() {
            let Some(Taken { number, text }) = prose.take() else { return };
            self.0.warm.set(true);
            let blocks = self.0.host.render_changes(number, &text).await;
            // A text that cannot be rendered, or whose nodes cannot be read, is shown as it is.
            let read = blocks.ok().and_then(|blocks| Some((blocks.same, blocks.nodes.read().ok()?)));
            let Some((same, nodes)) = read else { return prose.show_plain() };
            if prose.show(number, same, nodes) {
                return;
            }
        }
        let (renderer, drawn) = (self.clone(), prose.clone());
        prose.show_written(move || renderer.render(&drawn));
    }
}
