//! Files that calls write: what they replace is looked at when the call has run, and compared when they are written. What a person was
//! shown is written byte for byte, or nothing is.

use web_sys::Blob;

use super::disk::{self, DiskFolder};
use super::workspace::Workspace;
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
    place: Place,
}

/// Where a file is, and what it replaces there.
#[derive(Debug)]
enum Place {
    /// In the workspace, which knows when the file changed.
    Workspace,
    /// In a folder on the user's disk that is not open.
    Closed,
    /// In a folder on the user's disk. `None`: there is no such file.
    Disk(DiskFolder, Option<String>),
}

/// The files of a run, as far as calls write to them.
pub(super) struct Target {
    pub(super) workspace: Workspace,
    /// The folders on the user's disk in the run's rules, also those that are not open.
    pub(super) folders: Vec<String>,
}

impl Target {
    /// Looks at what these files would replace. `None`: something else was on the disk than the workspace had. Now it has that, so
    /// the call has to be run once more.
    ///
    /// # Errors
    /// The reason why one of them cannot be written, for the model.
    pub(super) async fn look(&self, files: Vec<(String, Blob)>) -> Result<Option<Vec<Write>>, String> {
        let mut writes = Vec::new();
        let mut same = true;
        for (path, content) in files {
            let place = match self.workspace.folder_of(&path) {
                Some((folder, below)) => match self.found(folder, &path, below).await? {
                    Some(place) => place,
                    None => {
                        same = false;
                        continue;
                    }
                },
                None if self.is_on_disk(&path) => Place::Closed,
                None => Place::Workspace,
            };
            writes.push(Write { path, content, place });
        }
        Ok(same.then_some(writes))
    }

    /// Whether these files would still replace what they replaced when they were looked at. `seen`: the version of the workspace then.
    /// If the disk has something else now, the workspace has that, too: what it had can no longer be read.
    pub(super) async fn is_current(&self, writes: &[Write], seen: u64) -> bool {
        for write in writes {
            let same = match &write.place {
                _ if self.is_on_disk(&write.path) == matches!(write.place, Place::Workspace) => false,
                Place::Workspace => !self.workspace.has_changed(&write.path, seen),
                Place::Closed => self.workspace.folder_of(&write.path).is_none(),
                Place::Disk(folder, before) => match self.workspace.folder_of(&write.path) {
                    // Closed: writing says so.
                    None => true,
                    Some((now, below)) => {
                        let Ok(file) = now.find(below).await else { return false };
                        let there = match &file {
                            Some(file) => Some(disk::digest(file).await),
                            None => None,
                        };
                        let same = now.is(folder).await && there == before.clone().map(Some);
                        match file {
                            _ if same => {}
                            Some(file) => drop(self.workspace.put(&write.path, file.into())),
                            None => self.workspace.remove(&write.path),
                        }
                        same
                    }
                },
            };
            if !same {
                return false;
            }
        }
        true
    }

    /// Writes these files, to the workspace and to the disk. Returns `false` if one of them would replace something else than when it was
    /// looked at; it is not written then. `permitted`: whether the call may write to folders on the user's disk.
    ///
    /// # Errors
    /// The reason why one of them could not be written, for the model. The files before it are written.
    pub(super) async fn write(&self, writes: Vec<Write>, permitted: bool) -> Result<bool, String> {
        for Write { path, content, place } in writes {
            if !matches!(place, Place::Workspace) {
                // The page was reloaded, or the user closed the folder.
                let Some((folder, below)) = self.workspace.folder_of(&path) else {
                    let name = path.split('/').next().unwrap_or_default();
                    return Err(format!(
                        "{path} was not written: the user's folder {name} is not open any more. Only the user can open it again"
                    ));
                };
                if !permitted {
                    return Err(format!("{path} was not written: this run has no permission to write to that folder"));
                }
                let Place::Disk(_, before) = place else { return Ok(false) };
                let written = folder.write(below, &content, before.as_deref()).await;
                if !written.map_err(|why| format!("{path} could not be written to the user's disk: {why}"))? {
                    return Ok(false);
                }
            }
            // The tool normalised the path before it wrote.
            let _ = self.workspace.put(&path, content);
        }
        Ok(true)
    }

    /// What is on the disk where a call writes. `None`: the workspace had something else, and has it now.
    async fn found(&self, folder: DiskFolder, path: &str, below: &str) -> Result<Option<Place>, String> {
        let known = self.workspace.get(path);
        if let Some(why) = folder.left_out.refuses(below, known.is_some()) {
            return Err(format!("{path} was not written: {why}"));
        }
        let there = folder.find(below).await.map_err(|why| format!("{path} was not written: {why}"))?;
        match (there, known) {
            (None, None) => Ok(Some(Place::Disk(folder, None))),
            (None, Some(_)) => {
                self.workspace.remove(path);
                Ok(None)
            }
            (Some(file), known) => {
                if known.is_none()
                    && let Some(why) = folder.left_out.refuses_unlisted()
                {
                    return Err(format!("{path} was not written: {why}"));
                }
                let there = disk::digest(&file).await;
                let before = match &known {
                    Some(known) => disk::digest(known).await,
                    None => None,
                };
                if there.is_some() && there == before {
                    return Ok(Some(Place::Disk(folder, there)));
                }
                let _ = self.workspace.put(path, file.into());
                Ok(None)
            }
        }
    }

    /// Whether a path is below a folder on the user's disk, open or not.
    pub(super) fn is_on_disk(&self, path: &str) -> bool {
        let listed = |name: &str| self.folders.iter().any(|folder| folder == name);
        self.workspace.folder_of(path).is_some() || path.split_once('/').is_some_and(|(name, _)| listed(name))
    }
}
