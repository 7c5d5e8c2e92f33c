//! The view of the open run as a part of the page's address, and back.

use leptos::prelude::*;

use turnwise_view::address::RunAddress;

use crate::state::{App, Thread};
use crate::viewer::state::{Compared, LoadState, View};

impl App {
    /// Returns the address of the view of the open thread.
    pub fn run_address(&self, thread: &Thread) -> RunAddress {
        match self.view.get() {
            View::Transcript => RunAddress::Transcript,
            View::Replay => {
                let stage = self.replays().stage.get().filter(|stage| stage.load.get() == LoadState::Ready);
                let step = stage.map_or_else(|| self.replays().first.get_value(), |stage| stage.at.get());
                RunAddress::Replay { step }
            }
            View::Compare(Compared { own, other, place }) => {
                let run_id = self.thread_with(other).and_then(|thread| thread.page_at(place)?.run_id());
                let own = Some(own).filter(|own| own + 1 < thread.pages.with_untracked(Vec::len));
                run_id.map_or(RunAddress::Transcript, |run_id| RunAddress::Compare { run_id, own })
            }
        }
    }

    /// Shows the open run in the view of an address. What is not there any more is said, and the transcript is shown.
    pub async fn look_at(self, address: RunAddress) {
        let Some(thread) = self.thread_now() else { return };
        let last = thread.pages.with_untracked(Vec::len).saturating_sub(1);
        let shown = self.view.get_untracked();
        let done = match address {
            RunAddress::Transcript => false,
            RunAddress::Replay { step } if thread.can_be_viewed() => {
                let ready = self.replays().stage.get_untracked().filter(|stage| {
                    stage.is_of(&thread) && stage.load.with_untracked(|load| *load == LoadState::Ready)
                });
                match ready {
                    Some(stage) => {
                        stage.playing.set(false);
                        stage.go(self, step);
                    }
                    None => self.replays().first.set_value(step),
                }
                if shown != View::Replay {
                    self.look(View::Replay);
                }
                true
            }
            RunAddress::Replay { .. } => false,
            RunAddress::Compare { run_id, own } => self.compare_with(&run_id, own.unwrap_or(last).min(last)).await,
        };
        if !done && shown != View::Transcript && self.current.get_untracked() == Some(thread.id) {
            self.look(View::Transcript);
        }
    }
}
