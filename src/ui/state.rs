//! What the page is about, as signals: the threads, which one is open, what the user set.
//!
//! A thread is a session: one task and its follow-ups, each a run of its own, shown below each other. Only handles are
//! kept here; what a run looks like comes from `view`.

use leptos::prelude::*;

use crate::view::settings::Settings;
use crate::view::{HeadView, PanelView, RailView, SegmentView, Source, TurnView, ViewModel};

use super::prose::Prose;
use super::theme::Theme;

/// Every signal of the page; a cheap copy.
#[derive(Clone, Copy, Debug)]
pub struct App {
    pub threads: RwSignal<Vec<Thread>>,
    /// The open thread; none: the start page.
    pub current: RwSignal<Option<u32>>,
    pub settings: RwSignal<Settings>,
    pub key: RwSignal<String>,
    pub theme: RwSignal<Theme>,
    pub dialog: RwSignal<Option<Dialog>>,
    pub rail_open: RwSignal<bool>,
    pub panel_open: RwSignal<bool>,
    pub draft: RwSignal<String>,
    /// Renewed several times a second while a run is open.
    pub now: RwSignal<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialog {
    Settings,
    Files,
}

/// One task and its follow-ups.
#[derive(Clone, Debug)]
pub struct Thread {
    pub id: u32,
    pub pages: ArcRwSignal<Vec<Page>>,
    pub rail: ArcRwSignal<RailView>,
}

/// One run on the screen.
#[derive(Clone, Debug)]
pub struct Page {
    pub place: usize,
    pub head: HeadView,
    pub turns: ArcRwSignal<Vec<TurnSlot>>,
    pub segments: ArcRwSignal<Vec<SegmentView>>,
    pub panel: ArcRwSignal<PanelView>,
}

/// One turn on the screen: its view, and its texts that grow by themselves.
#[derive(Clone, Debug)]
pub struct TurnSlot {
    pub index: usize,
    pub view: ArcRwSignal<TurnView>,
    pub text: Prose,
    pub thoughts: Prose,
    /// Something was streamed since the attempt began.
    pub streaming: ArcRwSignal<bool>,
}

impl App {
    pub fn new() -> Self {
        App {
            threads: RwSignal::new(Vec::new()),
            current: RwSignal::new(None),
            settings: RwSignal::new(Settings::default()),
            key: RwSignal::new(String::new()),
            theme: RwSignal::new(Theme::Auto),
            dialog: RwSignal::new(None),
            rail_open: RwSignal::new(false),
            panel_open: RwSignal::new(false),
            draft: RwSignal::new(String::new()),
            now: RwSignal::new(super::dom::now()),
        }
    }

    /// The open thread.
    pub fn thread(&self) -> Option<Thread> {
        let id = self.current.get()?;
        self.threads.with(|threads| threads.iter().find(|thread| thread.id == id).cloned())
    }

    /// The last run of the open thread.
    pub fn page(&self) -> Option<Page> {
        self.thread().and_then(|thread| thread.pages.with(|pages| pages.last().cloned()))
    }

    /// What screen readers are told when it changes.
    pub fn announcement(&self) -> String {
        self.page().map(|page| page.panel.with(|panel| panel.announcement.clone())).unwrap_or_default()
    }
}

impl Page {
    /// A run as it stands.
    pub fn new(place: usize, source: &Source<'_>) -> Self {
        let view = ViewModel::from(source);
        Page {
            place,
            head: view.head,
            turns: ArcRwSignal::new(view.turns.into_iter().map(TurnSlot::new).collect()),
            segments: ArcRwSignal::new(view.segments),
            panel: ArcRwSignal::new(view.panel),
        }
    }
}

impl TurnSlot {
    pub fn new(view: TurnView) -> Self {
        let slot = TurnSlot {
            index: view.index,
            text: Prose::new("prose"),
            thoughts: Prose::new("text"),
            streaming: ArcRwSignal::new(false),
            view: ArcRwSignal::new(view),
        };
        slot.settle();
        slot
    }

    /// Shows what the record says, where a reply is whole.
    pub fn settle(&self) {
        let (content, reasoning) = self.view.with_untracked(|view| (view.content.clone(), view.reasoning.clone()));
        self.text.set(&content);
        self.thoughts.set(&reasoning);
        self.streaming.set(false);
    }
}
