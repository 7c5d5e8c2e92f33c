//! Notes on turns, for people.

use turnwise_engine::EpochMillis;
use turnwise_engine::time::{self, DateTime};
use turnwise_record::trajectory::Note;

use super::source::RunSource;

/// Returns the notes on the turn with this number.
pub fn of_turn(notes: &[Note], turn: u32) -> impl Iterator<Item = &Note> {
    notes.iter().filter(move |note| note.turn == turn)
}

/// Returns the notes on the turn at this index of a run.
pub fn at<'a>(source: &RunSource<'a>, index: usize) -> impl Iterator<Item = &'a Note> + use<'a> {
    let turn = source.turns.get(index).map(|turn| turn.turn);
    let notes = source.notes;
    turn.into_iter().flat_map(move |turn| of_turn(notes, turn))
}

/// `Nov 26, 2026, 10:05`. `offset_ms`: what has to be added to UTC for the user's clock. A record may hold any text as a time.
#[must_use]
pub fn date(at: &str, offset_ms: i64) -> String {
    let Some(EpochMillis(ms)) = time::parse(at) else { return at.chars().take(40).collect() };
    let date = DateTime::from(EpochMillis(ms.saturating_add_signed(offset_ms)));
    format!("{} {}, {}, {:02}:{:02}", date.month_name(), date.day, date.year, date.hour, date.minute)
}

#[cfg(test)]
mod tests {
    use super::date;

    #[test]
    fn a_date_is_that_of_the_users_clock() {
        assert_eq!(date("2026-11-26T10:05:59.999Z", 0), "Nov 26, 2026, 10:05");
        assert_eq!(date("2026-12-31T23:30:00.000Z", 3_600_000), "Jan 1, 2027, 00:30");
        assert_eq!(date("yesterday", 0), "yesterday");
    }
}
