//! Notes on turns. People write them: they are the only part of a record that is not derived from its events.

use serde::{Deserialize, Serialize};

use super::Secrets;

/// Most characters of a note.
pub const MAX_NOTE: usize = 10_000;
/// Most notes of a run.
pub const MAX_NOTES: usize = 1_000;

/// A note that somebody added to a turn. Replay ignores it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "types",
    derive(schemars::JsonSchema, ts_rs::TS),
    schemars(rename = "TrajectoryNote"),
    ts(rename = "TrajectoryNote")
)]
pub struct Note {
    /// The turn's number, as in `turns`.
    pub turn: u32,
    /// Plain text.
    #[cfg_attr(feature = "types", schemars(length(max = 10_000)))]
    pub text: String,
    /// When it was written or last changed, RFC 3339.
    #[cfg_attr(feature = "types", schemars(regex(pattern = turnwise_engine::time::RFC3339)))]
    pub at: String,
}

/// A change of one note: without `before` it is added, without `after` removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoteChange {
    pub before: Option<Note>,
    pub after: Option<Note>,
}

impl NoteChange {
    /// Removes secrets and outer white space from the new text.
    pub fn clean(&mut self, secrets: &Secrets) {
        if let Some(note) = &mut self.after {
            note.text = secrets.scrub(note.text.trim()).into_owned();
        }
    }

    /// Applies the change, which may have been made by another tab already. Notes are in the order of turns, then of time.
    ///
    /// # Errors
    /// A message for users: the text is empty or too long, or the run has too many notes.
    pub fn apply(&self, notes: &mut Vec<Note>) -> Result<(), String> {
        let others = notes.iter().filter(|note| Some(*note) != self.before.as_ref()).count();
        if let Some(note) = &self.after {
            if note.text.trim().is_empty() {
                return Err("The note is empty.".to_owned());
            }
            if note.text.chars().count() > MAX_NOTE {
                return Err("The note is longer than 10,000 characters.".to_owned());
            }
            if others >= MAX_NOTES {
                return Err("A run has at most 1,000 notes.".to_owned());
            }
        }
        notes.retain(|note| Some(note) != self.before.as_ref() && Some(note) != self.after.as_ref());
        notes.extend(self.after.clone());
        notes.sort_by(|a, b| (a.turn, &a.at).cmp(&(b.turn, &b.at)));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(turn: u32, text: &str, minute: u32) -> Note {
        Note { turn, text: text.to_owned(), at: format!("2026-11-26T10:{minute:02}:00.000Z") }
    }

    fn change(notes: &mut Vec<Note>, before: Option<&Note>, after: Option<&Note>) -> Result<(), String> {
        NoteChange { before: before.cloned(), after: after.cloned() }.apply(notes)
    }

    #[test]
    fn notes_are_added_changed_removed_and_brought_back() {
        let (late, early, other) = (note(3, "late", 1), note(1, "early", 2), note(1, "changed", 3));
        let mut notes = Vec::new();
        change(&mut notes, None, Some(&late)).unwrap();
        change(&mut notes, None, Some(&early)).unwrap();
        assert_eq!(notes, [early.clone(), late.clone()]);
        change(&mut notes, Some(&early), Some(&other)).unwrap();
        assert_eq!(notes, [other.clone(), late.clone()]);
        change(&mut notes, Some(&late), None).unwrap();
        assert_eq!(notes, std::slice::from_ref(&other));
        // A second tab may have done the same.
        change(&mut notes, Some(&late), None).unwrap();
        change(&mut notes, None, Some(&late)).unwrap();
        change(&mut notes, None, Some(&late)).unwrap();
        assert_eq!(notes, [other, late]);
    }

    #[test]
    fn a_note_has_limits_and_no_secrets() {
        let mut notes = Vec::new();
        assert!(change(&mut notes, None, Some(&note(1, " \n", 0))).unwrap_err().contains("empty"));
        assert!(change(&mut notes, None, Some(&note(1, &"ä".repeat(MAX_NOTE + 1), 0))).unwrap_err().contains("10,000"));
        change(&mut notes, None, Some(&note(1, &"ä".repeat(MAX_NOTE), 0))).unwrap();
        let full = notes.first().cloned();
        notes.extend((1..MAX_NOTES).map(|turn| note(u32::try_from(turn).unwrap(), "x", 1)));
        assert!(change(&mut notes, None, Some(&note(1, "one more", 0))).unwrap_err().contains("1,000"));
        change(&mut notes, full.as_ref(), Some(&note(1, "another", 0))).unwrap();

        let text = "  It sent my-own-secret and Authorization: Bearer abcdef123456.\n";
        let mut added = NoteChange { before: None, after: Some(note(1, text, 0)) };
        added.clean(&Secrets::new(["my-own-secret".to_owned()]));
        let clean = added.after.unwrap().text;
        assert!(clean.starts_with("It sent [redacted] and ") && !clean.contains("abcdef"), "{clean}");
    }
}
