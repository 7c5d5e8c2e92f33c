//! A run on the screen as signals: its page, and the parts of its transcript: turns, their calls, the lanes of sub-agents. A
//! refresh touches only what changed.
//!
//! Invariants: a turn is created when it is first shown (or happens), so that thousands of them open instantly; the
//! turns of a sub-agent are created when its lane is opened and dropped when it is closed, so that many sub-agents cost
//! no more than their lines.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use leptos::prelude::*;
use send_wrapper::SendWrapper;

use turnwise_engine::{AnswerSource, Ending, Outcome};
use turnwise_protocol::Snapshot;
use turnwise_record::trajectory::Note;
use turnwise_view::branch::{FormPart, can_change};
use turnwise_view::ending::arrived;
use turnwise_view::log::Log;
use turnwise_view::{
    Activity, CallView, HeadView, LaneView, PanelPhase, PanelView, RunSource, SegmentView, TurnView, WorkView, segments,
};

use crate::client::app_worker::RunClient;
use crate::text::prose::{Prose, Streaming};
use crate::text::render::Renderer;
use crate::viewer::stepped::Stepped;

/// A value of the page's single thread, in a shared handle that is not disposed of while it is held.
#[derive(Debug)]
pub struct Local<T>(Arc<SendWrapper<T>>);

/// One run on the screen.
#[derive(Clone, Debug)]
pub struct RunPage {
    pub place: usize,
    pub head: HeadView,
    pub behind: Behind,
    pub transcript: Transcript,
    pub panel: ArcRwSignal<PanelView>,
    /// The text of a reply streams in.
    pub writes: ArcRwSignal<bool>,
    pub end: ArcRwSignal<EndDrawn>,
    pub log: ArcRwSignal<Log>,
    pub notes: ArcRwSignal<Vec<Note>>,
    /// What it did before its answer, once it has one.
    pub work: ArcRwSignal<Option<WorkView>>,
    /// The turns are folded, as long as the page is open.
    pub folded: ArcRwSignal<bool>,
}

/// How much of a run's end is drawn. It changes too much of the page for one frame: each step is drawn in a frame of its own (live.rs).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EndDrawn {
    Nothing,
    /// The last turn, as it was recorded.
    Turn,
    /// Below the turns, how the run ended.
    Ending,
    /// The panel's figures, and the task box.
    Panel,
    /// The panel's actions.
    PanelActions,
    /// How the run ended, in the panel.
    PanelEnding,
    /// The list, the log and the notes.
    List,
    /// The actions below the answer.
    AnswerActions,
    /// The rest of what is there only once a run is over.
    Whole,
}

impl EndDrawn {
    /// Of a run that is drawn in one frame.
    pub fn of(panel: &PanelView) -> Self {
        if panel.phase == PanelPhase::Ended { EndDrawn::Whole } else { EndDrawn::Nothing }
    }

    /// Returns what is drawn next of a run that has ended.
    pub fn next(self) -> Self {
        match self {
            EndDrawn::Nothing => EndDrawn::Turn,
            EndDrawn::Turn => EndDrawn::Ending,
            EndDrawn::Ending => EndDrawn::Panel,
            EndDrawn::Panel => EndDrawn::PanelActions,
            EndDrawn::PanelActions => EndDrawn::PanelEnding,
            EndDrawn::PanelEnding => EndDrawn::List,
            EndDrawn::List => EndDrawn::AnswerActions,
            EndDrawn::AnswerActions | EndDrawn::Whole => EndDrawn::Whole,
        }
    }
}

/// The source of a page, for its parts that are created later.
#[derive(Clone, Debug)]
pub enum Behind {
    Handle(Local<RunClient>),
    /// A record from a file.
    Document(Arc<Snapshot>),
    /// A document up to one of its steps.
    Stepped(Local<RefCell<Stepped>>),
}

/// The turns of a run, and how its segments ended.
#[derive(Clone, Debug)]
pub struct Transcript {
    /// The number of turns.
    pub length: ArcRwSignal<usize>,
    made: Local<RefCell<BTreeMap<usize, TurnSlot>>>,
    pub segments: ArcRwSignal<Vec<SegmentView>>,
    pub whose: TurnsOwner,
}

/// The owner of the turns. Sub-agents have no sub-agents of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnsOwner {
    Run,
    /// With its index among the tasks.
    Subagent(u32),
}

/// One turn on the screen: its view, and its texts, which grow by themselves.
#[derive(Clone, Debug)]
pub struct TurnSlot {
    pub index: usize,
    /// Without its calls, which are updated one by one.
    pub view: ArcRwSignal<TurnView>,
    pub calls: ArcRwSignal<Vec<CallSlot>>,
    pub text: Prose,
    pub thoughts: Prose,
    /// Something was streamed since the attempt began.
    pub streaming: ArcRwSignal<bool>,
}

/// One call on the screen: it stays open while others end.
#[derive(Clone, Debug)]
pub struct CallSlot {
    pub place: usize,
    pub id: String,
    pub view: ArcRwSignal<CallView>,
    pub lanes: ArcRwSignal<Vec<LaneSlot>>,
}

/// One sub-agent on the screen.
#[derive(Clone, Debug)]
pub struct LaneSlot {
    pub call: String,
    pub task_id: u32,
    pub view: ArcRwSignal<LaneView>,
    pub opened: ArcRwSignal<bool>,
    /// Set while the lane is open, once the sub-agent has begun.
    pub inside: ArcRwSignal<Option<Inside>>,
}

#[derive(Clone, Debug)]
pub struct Inside {
    /// Its whole task, if the line shows only a part of it.
    pub task: Option<String>,
    pub transcript: Transcript,
}

impl<T> Local<T> {
    pub fn new(value: T) -> Self {
        Local(Arc::new(SendWrapper::new(value)))
    }
}

impl<T> Clone for Local<T> {
    fn clone(&self) -> Self {
        Local(Arc::clone(&self.0))
    }
}

impl<T> std::ops::Deref for Local<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl RunPage {
    /// Makes a page of the run in a handle; `None`: nothing was reported of it yet.
    pub fn from_handle(handle: &RunClient, place: usize) -> Option<Self> {
        handle.look(|source| RunPage::new(place, source, Behind::Handle(Local::new(handle.clone()))))
    }

    /// Returns the id of its run; `None`: it is a step of a replay, or nothing was reported of it yet.
    pub fn run_id(&self) -> Option<String> {
        match &self.behind {
            Behind::Handle(handle) => handle.start().map(|start| start.run_id),
            Behind::Document(whole) => Some(whole.start.run_id.clone()),
            Behind::Stepped(_) => None,
        }
    }

    /// Whether it makes sense to wrap up; tracks that. Not while text streams, which may be the answer.
    pub fn can_wrap_up(&self) -> bool {
        self.panel.with(|panel| panel.can_wrap_up && !panel.elsewhere) && !self.writes.get()
    }

    /// Returns what had arrived of the last reply, if it was cut off.
    pub fn arrived(&self) -> Option<String> {
        self.behind.with(|source| arrived(source.turns).map(ToOwned::to_owned)).flatten()
    }

    /// Returns whether a part of a turn can be changed in a branch, now that the run has ended; tracks that.
    pub fn is_changeable(&self, turn: usize, wanted: &FormPart) -> bool {
        self.is_over() && self.behind.with_whole(|source| can_change(source, turn, wanted)).unwrap_or(false)
    }

    /// Whether its run has ended, and all of the page shows that.
    pub fn is_over(&self) -> bool {
        self.end.get() == EndDrawn::Whole
    }

    /// Returns the answer of its run, as Markdown; `None`: it has none.
    pub fn answer(&self) -> Option<String> {
        // The system's word on a run that was stopped is none.
        let is_answer =
            |ending: &&Ending| ending.outcome != Outcome::Cancelled || ending.answer_source != AnswerSource::System;
        let answer =
            self.behind.with(|source| source.segments.last().filter(is_answer).map(|ending| ending.output.clone()));
        answer.flatten().filter(|text| !text.is_empty())
    }

    /// Returns the handle of its run; `None`: the worker does not drive this run.
    pub fn handle(&self) -> Option<RunClient> {
        match &self.behind {
            Behind::Handle(handle) => Some(RunClient::clone(handle)),
            Behind::Document(_) | Behind::Stepped(_) => None,
        }
    }

    /// Makes a page of a run in its current state.
    pub fn new(place: usize, source: &RunSource<'_>, behind: Behind) -> Self {
        let mut log = Log::default();
        log.take(source);
        let panel = PanelView::from(source);
        // A step of a replay shows its turns.
        let work = if matches!(behind, Behind::Stepped(_)) { None } else { WorkView::from_source(source) };
        RunPage {
            place,
            head: HeadView::from(source),
            behind,
            transcript: Transcript::new(source, TurnsOwner::Run),
            end: ArcRwSignal::new(EndDrawn::of(&panel)),
            panel: ArcRwSignal::new(panel),
            writes: ArcRwSignal::new(false),
            log: ArcRwSignal::new(log),
            notes: ArcRwSignal::new(source.notes.to_vec()),
            // A note is shown next to its turn, so the turns of a run with notes are shown.
            folded: ArcRwSignal::new(work.is_some() && source.notes.is_empty()),
            work: ArcRwSignal::new(work),
        }
    }
}

impl Behind {
    /// Passes the whole run to `look`, also at a step of its replay.
    pub fn with_whole<T>(&self, look: impl FnOnce(&RunSource<'_>) -> T) -> Option<T> {
        match self {
            Behind::Stepped(stepped) => Some(look(&stepped.borrow().whole())),
            Behind::Handle(_) | Behind::Document(_) => self.with(look),
        }
    }

    /// Passes the run in its current state to `look`.
    pub fn with<T>(&self, look: impl FnOnce(&RunSource<'_>) -> T) -> Option<T> {
        match self {
            Behind::Handle(handle) => handle.look(look),
            Behind::Document(document) => Some(look(&RunSource::from(document.as_ref()).recorded())),
            Behind::Stepped(stepped) => Some(look(&stepped.borrow().source())),
        }
    }
}

impl Transcript {
    pub fn new(source: &RunSource<'_>, whose: TurnsOwner) -> Self {
        Transcript {
            length: ArcRwSignal::new(source.turns.len()),
            made: Local::new(RefCell::default()),
            segments: ArcRwSignal::new(segments(source)),
            whose,
        }
    }

    /// Returns a turn, which is created if necessary.
    pub fn turn(&self, source: &RunSource<'_>, index: usize, renderer: &Renderer) -> Option<TurnSlot> {
        if let Some(slot) = self.made.borrow().get(&index) {
            return Some(slot.clone());
        }
        let (view, lanes) = self.view(source, index)?;
        let slot = TurnSlot::new(view, lanes);
        renderer.render(&slot.text);
        self.made.borrow_mut().insert(index, slot.clone());
        Some(slot)
    }

    /// Returns the last turn, if it was created.
    pub fn last(&self) -> Option<TurnSlot> {
        let last = self.length.get_untracked().checked_sub(1)?;
        self.made.borrow().get(&last).cloned()
    }

    /// Updates the turns that can have changed, and the endings.
    pub fn refresh(&self, source: &RunSource<'_>, renderer: &Renderer) {
        self.refresh_turns(source, renderer);
        put(&self.segments, segments(source));
    }

    /// Updates the turns that can have changed: the last known one and those after it.
    pub fn refresh_turns(&self, source: &RunSource<'_>, renderer: &Renderer) {
        let known = self.length.get_untracked();
        for index in known.saturating_sub(1)..source.turns.len() {
            let made = self.made.borrow().get(&index).cloned();
            match made {
                Some(slot) => self.renew(slot, source, renderer),
                None => drop(self.turn(source, index, renderer)),
            }
        }
        put(&self.length, source.turns.len());
    }

    /// Updates every created turn from `from` on. The transcript may have become shorter, too.
    pub fn rewind(&self, source: &RunSource<'_>, from: usize, renderer: &Renderer) {
        let length = source.turns.len();
        let changed: Vec<TurnSlot> = {
            let mut made = self.made.borrow_mut();
            made.retain(|index, _| *index < length);
            made.range(from..).map(|(_, slot)| slot.clone()).collect()
        };
        changed.into_iter().for_each(|slot| self.renew(slot, source, renderer));
        put(&self.length, length);
        put(&self.segments, segments(source));
    }

    fn renew(&self, slot: TurnSlot, source: &RunSource<'_>, renderer: &Renderer) {
        let Some((view, lanes)) = self.view(source, slot.index) else { return };
        let slot = slot.renew(view, lanes, renderer);
        slot.lanes().iter().for_each(|lane| lane.renew_inside(source, renderer));
    }

    fn view(&self, source: &RunSource<'_>, index: usize) -> Option<(TurnView, Vec<LaneView>)> {
        let view = TurnView::at(source, index)?;
        Some(match self.whose {
            TurnsOwner::Run => (view, LaneView::of_turn(source, index)),
            TurnsOwner::Subagent(task_id) => (view.of_subagent(task_id), Vec::new()),
        })
    }
}

impl TurnSlot {
    fn new(mut view: TurnView, lanes: Vec<LaneView>) -> Self {
        let calls = std::mem::take(&mut view.calls);
        let slot = TurnSlot {
            index: view.index,
            text: Prose::new("prose"),
            thoughts: Prose::new("text"),
            streaming: ArcRwSignal::new(false),
            view: ArcRwSignal::new(view),
            calls: ArcRwSignal::default(),
        };
        slot.renew_calls(calls, lanes);
        slot.settle();
        slot
    }

    fn renew(self, mut view: TurnView, lanes: Vec<LaneView>, renderer: &Renderer) -> Self {
        self.renew_calls(std::mem::take(&mut view.calls), lanes);
        let calling = matches!(view.live, Some(Activity::Calling { .. } | Activity::Waiting(_)));
        put(&self.view, view);
        if !calling {
            self.settle();
            renderer.render(&self.text);
        }
        self
    }

    fn renew_calls(&self, calls: Vec<CallView>, lanes: Vec<LaneView>) {
        let mut of_call: BTreeMap<String, Vec<LaneView>> = BTreeMap::new();
        for lane in lanes {
            of_call.entry(lane.call.clone()).or_default().push(lane);
        }
        let known = self.calls.get_untracked();
        let mut changed = known.len() != calls.len();
        let slots = calls.into_iter().enumerate().map(|(place, view)| {
            let lanes = of_call.remove(&view.id).unwrap_or_default();
            let slot = known.get(place).filter(|slot| slot.id == view.id).cloned().unwrap_or_else(|| {
                changed = true;
                let id = view.id.clone();
                CallSlot { place, id, view: ArcRwSignal::new(view.clone()), lanes: ArcRwSignal::default() }
            });
            put(&slot.view, view);
            slot.renew_lanes(lanes);
            slot
        });
        let slots = slots.collect();
        if changed {
            self.calls.set(slots);
        }
    }

    fn lanes(&self) -> Vec<LaneSlot> {
        self.calls.with_untracked(|calls| calls.iter().flat_map(|call| call.lanes.get_untracked()).collect())
    }

    /// Shows the texts of the record, once a reply is complete.
    fn settle(&self) {
        let (content, reasoning) = self.view.with_untracked(|view| (view.content.clone(), view.reasoning.clone()));
        self.text.mark(&Streaming::No);
        self.text.set(&content);
        self.thoughts.set(&reasoning);
        self.streaming.set(false);
    }
}

impl CallSlot {
    /// Updates the lanes. They are requested all at once, in an order that never changes.
    fn renew_lanes(&self, lanes: Vec<LaneView>) {
        let known = self.lanes.get_untracked();
        if known.len() != lanes.len() {
            self.lanes.set(lanes.into_iter().map(LaneSlot::new).collect());
            return;
        }
        for (slot, view) in known.iter().zip(lanes) {
            put(&slot.view, view);
        }
    }
}

impl LaneSlot {
    fn new(view: LaneView) -> Self {
        LaneSlot {
            call: view.call.clone(),
            task_id: view.task_id,
            view: ArcRwSignal::new(view),
            opened: ArcRwSignal::new(false),
            inside: ArcRwSignal::new(None),
        }
    }

    pub fn open(&self, behind: &Behind, renderer: &Renderer) {
        self.opened.set(true);
        behind.with(|source| self.renew_inside(source, renderer));
    }

    pub fn close(&self) {
        self.opened.set(false);
        self.inside.set(None);
    }

    fn renew_inside(&self, source: &RunSource<'_>, renderer: &Renderer) {
        if !self.opened.get_untracked() {
            return;
        }
        let Some(run) = source.child(&self.call, self.task_id) else { return };
        match self.inside.get_untracked() {
            Some(inside) if run.turns.len() < inside.transcript.length.get_untracked() => {
                inside.transcript.rewind(&run, 0, renderer);
            }
            Some(inside) => inside.transcript.refresh(&run, renderer),
            None => {
                let transcript = Transcript::new(&run, TurnsOwner::Subagent(self.task_id));
                // Created at once, because what draws them only knows the source of the parent run.
                (0..run.turns.len()).for_each(|index| drop(transcript.turn(&run, index, renderer)));
                let task = self.view.with_untracked(|view| view.whole(run.input));
                self.inside.set(Some(Inside { task, transcript }));
            }
        }
    }
}

/// Sets a signal, unless its value stays the same.
pub fn put<T: PartialEq + Send + Sync + 'static>(signal: &ArcRwSignal<T>, value: T) {
    if signal.with_untracked(|old| *old != value) {
        signal.set(value);
    }
}
