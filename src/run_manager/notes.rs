//! Notes on runs: of an open run they are stored with it, of a record from a file they are written into its text.

use super::state::{RunManager, Storage};
use crate::store::{RunWriter, TabMessage};
use turnwise_protocol::app::{HandleId, Noted, With};
use turnwise_record::trajectory::export::native;
use turnwise_record::trajectory::{NoteChange, Secrets, Trajectory};

impl RunManager {
    /// Changes a note on the run in a handle, or on a record.
    ///
    /// # Errors
    /// A message for users that says why nothing was changed.
    pub(super) async fn note(
        &self,
        handle: Option<HandleId>,
        record: Option<String>,
        with: &With,
        mut change: NoteChange,
    ) -> Result<Noted, String> {
        change.clean(&Secrets::new(with.keys.iter().map(|(_, key)| key.clone())));
        let Some(id) = handle else {
            let text = record.ok_or("The run no longer exists.")?;
            let mut document = Trajectory::parse(&text).map_err(|error| error.to_string())?;
            change.apply(&mut document.notes)?;
            return Ok(Noted { record: Some(native(&document)), notes: document.notes });
        };
        let handle = self.handle(id).ok_or("The run no longer exists.")?;
        let mut notes = handle.notes();
        change.apply(&mut notes)?;
        let key = handle.keeper.as_ref().map(RunWriter::key).filter(|key| !key.is_empty());
        if let Some((key, Storage { database, tabs })) = key.zip(self.storage()) {
            match database.note(&key, &change).await {
                Ok(stored) => notes = stored,
                // It is shown and downloaded with the run all the same.
                Err(error) => self.notify(error.to_string(), true),
            }
            tabs.tell(&TabMessage::Noted { key });
        }
        handle.set_notes(notes.clone());
        handle.tell();
        Ok(Noted { notes, record: None })
    }

    /// Reads the notes on a run again, which another tab changed.
    pub(super) async fn read_notes(&self, key: &str) {
        let has_key = |keeper: &RunWriter| keeper.key() == key;
        let handles = self.handles().into_iter().filter(|handle| handle.keeper.as_ref().is_some_and(has_key));
        let (handles, Some(Storage { database, .. })) = (handles.collect::<Vec<_>>(), self.storage()) else { return };
        if handles.is_empty() {
            return;
        }
        if let Ok(notes) = database.notes(key).await {
            for handle in handles {
                handle.set_notes(notes.clone());
                handle.tell();
            }
        }
    }
}
