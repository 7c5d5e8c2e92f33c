//! Notes on the turns of a run that has ended: below each turn, with the form to write one.

use std::sync::Arc;

use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen_futures::spawn_local;

use turnwise_engine::{EpochMillis, time};
use turnwise_protocol::app::{Noted, Order};
use turnwise_record::trajectory::{Note, NoteChange};
use turnwise_view::note::{date, of_turn};

use crate::browser::dom;
use crate::browser::focus;
use crate::client::slots::{RunPage, TurnSlot, put};
use crate::components::button::{Look, button};
use crate::components::icon::{Icon, icon};
use crate::components::reactive::reactive;
use crate::components::toast::Undo;
use crate::state::{App, Backing, OpenRecord};

/// What is written in the form of a turn: a new note, or a change of one.
type Writing = Option<Option<Note>>;

/// One turn, for what is done with its notes.
#[derive(Clone, Copy)]
struct NotedTurn {
    app: App,
    /// The index of its run in the thread.
    page: usize,
    turn: u32,
    writing: RwSignal<Writing>,
}

/// Draws the notes on a turn, and the button that adds one.
pub fn notes(app: App, page: &RunPage, slot: &TurnSlot) -> (impl IntoView + use<>, impl IntoView + use<>) {
    let all = page.notes.clone();
    let turn = slot.view.with_untracked(|view| view.number);
    let of = NotedTurn { app, page: page.place, turn, writing: RwSignal::new(None) };
    let list = move || {
        let written = of.writing.get().flatten();
        let others = |note: &&Note| Some(*note) != written.as_ref();
        all.with(|all| of_turn(all, turn).filter(others).map(|note| shown(of, note)).collect_view())
    };
    let form = move || of.writing.get().map(|before| form(of, before));
    (
        html::div().class("notes").child((reactive(list), reactive(form))),
        html::button()
            .r#type("button")
            .id(of.button())
            .class("btn bare add-note")
            .attr("aria-label", format!("Add note: turn {turn}"))
            .on(ev::click, move |_| of.writing.set(Some(None)))
            .child((icon(Icon::Note), "Add note")),
    )
}

fn shown(of: NotedTurn, note: &Note) -> impl IntoView + use<> {
    let act = |text: &'static str, name: Icon| {
        let label = format!("{text} note: turn {}", of.turn);
        button(Look::Bare).attr("aria-label", label).attr("title", text).child(icon(name))
    };
    let (changed, removed) = (note.clone(), note.clone());
    html::div().class("turn-note").attr("role", "note").child((
        html::div().class("over").child((
            html::span().child(format!("Note, {}", date(&note.at, dom::clock_offset()))),
            act("Edit", Icon::Edit).on(ev::click, move |_| of.writing.set(Some(Some(changed.clone())))),
            act("Delete", Icon::Trash).on(ev::click, move |_| of.delete(removed.clone())),
        )),
        html::p().class("text").attr("dir", "auto").child(note.text.clone()),
    ))
}

fn form(of: NotedTurn, before: Option<Note>) -> impl IntoView {
    let field = NodeRef::<html::Textarea>::new();
    Effect::new(move || {
        if let Some(field) = field.get() {
            let _ = field.focus();
        }
    });
    let text = before.as_ref().map(|note| note.text.clone()).unwrap_or_default();
    let save = move || {
        let text = field.get_untracked().map(|field| field.value()).unwrap_or_default();
        of.save(before.clone(), text);
    };
    let saved = save.clone();
    html::div().class("note-form").child((
        html::textarea()
            .node_ref(field)
            .attr("rows", "3")
            .attr("maxlength", "10000")
            .attr("dir", "auto")
            .attr("aria-label", format!("Note on turn {}", of.turn))
            .prop("value", text)
            .on(ev::keydown, move |event| match event.key().as_str() {
                "Escape" => {
                    event.prevent_default();
                    of.close();
                }
                "Enter" if event.ctrl_key() || event.meta_key() => saved(),
                _ => {}
            }),
        html::div().class("acts").child((
            button(Look::PrimarySmall).on(ev::click, move |_| save()).child("Save note"),
            button(Look::BareSmall).on(ev::click, move |_| of.close()).child("Cancel"),
        )),
    ))
}

fn button_id(page: usize, turn: u32) -> String {
    format!("add-note-{page}-{turn}")
}

impl NotedTurn {
    /// The id of its button.
    fn button(self) -> String {
        button_id(self.page, self.turn)
    }

    fn close(self) {
        let _ = self.writing.try_set(None);
        // The field that had the focus is gone.
        request_animation_frame(move || dom::focus(&self.button()));
    }

    /// Saves the text; it stays in the form until it is stored.
    fn save(self, before: Option<Note>, text: String) {
        let Some(thread) = self.app.current.get_untracked() else { return };
        let note = Note { turn: self.turn, text, at: time::rfc3339(EpochMillis(dom::now())) };
        let change = NoteChange { before, after: Some(note) };
        spawn_local(async move {
            match self.app.change_note(thread, self.page, change).await {
                Ok(()) => self.close(),
                Err(why) => self.app.complain(why),
            }
        });
    }

    fn delete(self, note: Note) {
        let Some(thread) = self.app.current.get_untracked() else { return };
        let change = NoteChange { before: Some(note.clone()), after: None };
        spawn_local(async move {
            match self.app.change_note(thread, self.page, change).await {
                Ok(()) => {
                    let undo = Undo::Note { thread, page: self.page, note };
                    self.app.tell_with_undo(format!("Deleted the note on turn {}.", self.turn), Some(undo));
                    dom::focus(&self.button());
                }
                Err(why) => self.app.complain(why),
            }
        });
    }
}

impl App {
    /// Puts back a note that was deleted.
    pub fn put_back_note(self, thread: u32, page: usize, note: Note) {
        self.show_turns(page);
        focus::to(format!("#{}", button_id(page, note.turn)));
        spawn_local(async move {
            let change = NoteChange { before: None, after: Some(note) };
            if let Err(why) = self.change_note(thread, page, change).await {
                self.complain(why);
            }
        });
    }

    /// Has the worker change a note on a run, and shows the result. `page`: the index of the run in its thread.
    async fn change_note(self, thread: u32, page: usize, change: NoteChange) -> Result<(), String> {
        let gone = || "This run is no longer in the list.".to_owned();
        let line = self.line.get_value().ok_or_else(gone)?;
        loop {
            let open = self.thread_with(thread).ok_or_else(gone)?;
            self.find_again(&open)?;
            let page = open.page_at(page).ok_or_else(gone)?;
            let text = match &open.backing {
                Backing::Document(record) => Some(Arc::clone(&record.text)),
                Backing::Live { .. } | Backing::Plan { .. } => None,
            };
            let (handle, with) = (page.handle().map(|handle| handle.id()), line.with_no_files());
            let parts = text.iter().map(|text| text.as_ref().into()).collect();
            let change = Box::new(change.clone());
            let answer = line.ask(|id| Order::Note { id, handle, with, change }, parts).await?.unwrap_or_default();
            let Noted { notes, record } = serde_json::from_str(&answer).map_err(|error| error.to_string())?;
            if let (Some(before), Some(after)) = (&text, record)
                && !self.rewrite(thread, before, after)
            {
                // Another note was changed in the meantime.
                continue;
            }
            put(&page.notes, notes);
            return Ok(());
        }
    }

    /// Replaces the text of an open record; `false`: it is no longer what it was before.
    fn rewrite(self, thread: u32, before: &Arc<str>, after: String) -> bool {
        let rewritten = self.threads.try_update(|threads| {
            let open = threads.iter_mut().find(|open| open.id == thread);
            match open.map(|open| &mut open.backing) {
                Some(Backing::Document(OpenRecord { text, .. })) if Arc::ptr_eq(text, before) => {
                    *text = after.into();
                    true
                }
                _ => false,
            }
        });
        rewritten.unwrap_or(false)
    }
}
