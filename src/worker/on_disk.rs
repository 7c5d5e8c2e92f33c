//! Writing to folders on the user's disk: what calls write there is compared with what the disk has, before and when it is written.

use std::future::Future;
use std::pin::Pin;

use web_sys::Blob;

use super::disk::{self, DiskFolder};
use super::workspace::Workspace;
use super::writes::{LookedAt, Write, WritePlace, WriteTarget};

/// A workspace of which a part may be in folders on the user's disk.
#[must_use]
pub fn workspace_with_folders() -> Workspace {
    Workspace::writing_to(on_disk)
}

fn on_disk(workspace: Workspace, folders: Vec<String>) -> Box<dyn WriteTarget> {
    Box::new(OnDisk { workspace, folders })
}

struct OnDisk {
    workspace: Workspace,
    /// The folders on the user's disk in the run's rules, also those that are not open.
    folders: Vec<String>,
}

impl WriteTarget for OnDisk {
    fn look(&self, files: Vec<(String, Blob)>) -> LookedAt<'_> {
        Box::pin(self.looked(files))
    }

    fn is_current<'a>(&'a self, writes: &'a [Write], seen: u64) -> Pin<Box<dyn Future<Output = bool> + 'a>> {
        Box::pin(self.still_current(writes, seen))
    }

    fn write(&self, writes: Vec<Write>, permitted: bool) -> Pin<Box<dyn Future<Output = Result<bool, String>> + '_>> {
        Box::pin(self.written(writes, permitted))
    }

    fn is_on_disk(&self, path: &str) -> bool {
        let listed = |name: &str| self.folders.iter().any(|folder| folder == name);
        self.workspace.folder_of(path).is_some() || path.split_once('/').is_some_and(|(name, _)| listed(name))
    }
}

impl OnDisk {
    async fn looked(&self, files: Vec<(String, Blob)>) -> Result<Option<Vec<Write>>, String> {
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
                None if self.is_on_disk(&path) => WritePlace::Closed,
                None => WritePlace::Workspace,
            };
            writes.push(Write { path, content, place });
        }
        Ok(same.then_some(writes))
    }

    async fn still_current(&self, writes: &[Write], seen: u64) -> bool {
        for write in writes {
            let same = match &write.place {
                _ if self.is_on_disk(&write.path) == matches!(write.place, WritePlace::Workspace) => false,
                WritePlace::Workspace => !self.workspace.has_changed(&write.path, seen),
                WritePlace::Closed => self.workspace.folder_of(&write.path).is_none(),
                WritePlace::Disk(folder, before) => match self.workspace.folder_of(&write.path) {
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

    async fn written(&self, writes: Vec<Write>, permitted: bool) -> Result<bool, String> {
        for Write { path, content, place } in writes {
            if !matches!(place, WritePlace::Workspace) {
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
                let WritePlace::Disk(_, before) = place else { return Ok(false) };
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
    async fn found(&self, folder: DiskFolder, path: &str, below: &str) -> Result<Option<WritePlace>, String> {
        let known = self.workspace.get(path);
        if let Some(why) = folder.left_out.refuses(below, known.is_some()) {
            return Err(format!("{path} was not written: {why}"));
        }
        let there = folder.find(below).await.map_err(|why| format!("{path} was not written: {why}"))?;
        match (there, known) {
            (None, None) => Ok(Some(WritePlace::Disk(folder, None))),
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
                    return Ok(Some(WritePlace::Disk(folder, there)));
                }
                let _ = self.workspace.put(path, file.into());
                Ok(None)
            }
        }
    }
}
