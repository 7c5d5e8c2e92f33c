//! Keeps two workspaces in sync across a connection, one on each side: changes on one are sent to the other.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use web_sys::Blob;

use super::workspace::{Subscription, Workspace};
use turnwise_protocol::AgentFileChange;
use turnwise_tools::path::RESULTS;

/// This side's workspace, and what the other side knows about it.
pub struct WorkspaceSync {
    workspace: Workspace,
    /// The workspace version that the other side knows.
    sent_version: Cell<u64>,
    changes: RefCell<Option<Subscription>>,
    tell: Box<dyn Fn(Vec<AgentFileChange>, Vec<Blob>)>,
}

impl WorkspaceSync {
    /// `tell` sends changes to the other side, with a blob for each path that still exists, in the same order. Existing files
    /// are sent first. The full text of truncated tool results stays on its side.
    #[must_use]
    pub fn new(workspace: Workspace, tell: impl Fn(Vec<AgentFileChange>, Vec<Blob>) + 'static) -> Rc<Self> {
        let (sent_version, changes) = (Cell::default(), RefCell::default());
        let twin = Rc::new(WorkspaceSync { workspace, sent_version, changes, tell: Box::new(tell) });
        twin.say();
        twin.listen();
        twin
    }

    #[must_use]
    pub fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// Applies a change from the other side, which is not sent back.
    pub fn take(self: &Rc<Self>, changes: Vec<AgentFileChange>, blobs: impl IntoIterator<Item = Blob>) {
        drop(self.changes.take());
        let mut blobs = blobs.into_iter();
        for AgentFileChange { path, there } in changes {
            match there.then(|| blobs.next()).flatten() {
                // The other side has normalized the path.
                Some(blob) => drop(self.workspace.put(&path, blob)),
                None => self.workspace.remove(&path),
            }
        }
        self.sent_version.set(self.workspace.version());
        self.listen();
    }

    fn listen(self: &Rc<Self>) {
        let twin = Rc::downgrade(self);
        let listen = move || {
            if let Some(twin) = twin.upgrade() {
                twin.say();
            }
        };
        self.changes.replace(Some(self.workspace.subscribe(listen)));
    }

    fn say(&self) {
        let changed = self.workspace.changed_since(self.sent_version.replace(self.workspace.version()));
        let changed = changed.into_iter().filter(|(path, _)| !path.starts_with(RESULTS));
        let (changes, blobs): (Vec<AgentFileChange>, Vec<Option<Blob>>) =
            changed.map(|(path, blob)| (AgentFileChange { path, there: blob.is_some() }, blob)).unzip();
        if !changes.is_empty() {
            (self.tell)(changes, blobs.into_iter().flatten().collect());
        }
    }
}

impl std::fmt::Debug for WorkspaceSync {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WorkspaceSync").field("workspace", &self.workspace).finish_non_exhaustive()
    }
}
