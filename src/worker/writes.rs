//! Files that calls write: what they replace is looked at when the call has run, and compared when they are written. What a person was
//! shown is written byte for byte, or nothing is.

use std::future::Future;
use std::pin::Pin;

use web_sys::Blob;

use super::disk::DiskFolder;
use turnwise_engine::ToolOutcome;

/// What a call of a built-in tool would do. Nothing of it has happened.
#[derive(Debug)]
pub struct Prepared {
    /// What it answers once it is done.
    pub(super) outcome: ToolOutcome,
    /// Its changes to files, as a unified diff.
    pub(super) diff: Option<String>,
    /// The number of lines that the diff leaves out.
    pub(super) omitted: usize,
    pub(super) writes: Vec<Write>,
    /// The version of the workspace that the call saw.
    pub(super) seen: u64,
}

impl Prepared {
    /// The arguments, if they had to be repaired.
    #[must_use]
    pub fn repaired_args(&self) -> Option<&serde_json::Value> {
        match &self.outcome {
            ToolOutcome::Executed { repaired_args, .. } => repaired_args.as_ref(),
            _ => None,
        }
    }

    /// Its changes to files, and the number of lines that are left out.
    #[must_use]
    pub fn diff(&self) -> Option<(&str, usize)> {
        self.diff.as_deref().map(|diff| (diff, self.omitted))
    }
}

/// A file that a call writes.
#[derive(Debug)]
pub(super) struct Write {
    pub(super) path: String,
    pub(super) content: Blob,
    pub(super) place: WritePlace,
}

/// Where a file is, and what it replaces there.
#[derive(Debug)]
pub(super) enum WritePlace {
    /// In the workspace, which knows when the file changed.
    Workspace,
    /// In a folder on the user's disk that is not open.
    Closed,
    /// In a folder on the user's disk. `None`: there is no such file.
    Disk(DiskFolder, Option<String>),
}

pub(super) type LookedAt<'a> = Pin<Box<dyn Future<Output = Result<Option<Vec<Write>>, String>> + 'a>>;

/// The files of a run, as far as calls write to them. What runs agents in a page has a workspace in memory alone; only the app links
/// the code for folders on the user's disk (`on_disk`).
pub(super) trait WriteTarget {
    /// Looks at what these files would replace. `None`: something else was on the disk than the workspace had. Now it has that, so
    /// the call has to be run once more.
    ///
    /// # Errors
    /// The reason why one of them cannot be written, for the model.
    fn look(&self, files: Vec<(String, Blob)>) -> LookedAt<'_>;

    /// Whether these files would still replace what they replaced when they were looked at. `seen`: the version of the workspace then.
    /// If the disk has something else now, the workspace has that, too: what it had can no longer be read.
    fn is_current<'a>(&'a self, writes: &'a [Write], seen: u64) -> Pin<Box<dyn Future<Output = bool> + 'a>>;

    /// Writes these files, to the workspace and to the disk. Returns `false` if one of them would replace something else than when it was
    /// looked at; it is not written then. `permitted`: whether the call may write to folders on the user's disk.
    ///
    /// # Errors
    /// The reason why one of them could not be written, for the model. The files before it are written.
    fn write(&self, writes: Vec<Write>, permitted: bool) -> Pin<Box<dyn Future<Output = Result<bool, String>> + '_>>;

    /// Whether a path is below a folder on the user's disk, open or not.
    fn is_on_disk(&self, path: &str) -> bool;
}
