//! What deadlines count: the time in which the thread could work.

use turnwise::worker::awake::{AwakeTime, BEAT_MS, HIDDEN_LATE_MS, LATE_MS};

/// Reads at these times of the clock, with a beat after each reading that comes when it is due or later.
fn awake(readings: &[f64], late: f64) -> f64 {
    let mut time = AwakeTime::default();
    let mut due = 0.0;
    time.beats_at(Some(due));
    let mut last = 0.0;
    for clock in readings {
        last = time.read(*clock, late);
        if *clock >= due {
            due = clock + BEAT_MS;
            time.beats_at(Some(due));
        }
    }
    last
}

#[test]
fn time_counts_while_beats_come() {
    let beats: Vec<f64> = (0..=20).map(|n| f64::from(n) * BEAT_MS).collect();
    assert_eq!(awake(&beats, LATE_MS), 10_000.0);
    // A thread that is busy for a moment is awake.
    assert_eq!(awake(&[0.0, 500.0, 1_900.0, 2_400.0], LATE_MS), 2_400.0);
}

#[test]
fn sleep_does_not_count_however_it_is_noticed() {
    let hour = 3_600_000.0;
    // By the beat, which comes late; it counts at most until it was due.
    assert_eq!(awake(&[0.0, 500.0, hour], LATE_MS), 1_000.0);
    // By whatever happens first: the rest counts, the beat that comes then adds nothing.
    assert_eq!(awake(&[0.0, 500.0, hour, hour + 20.0, hour + 520.0], LATE_MS), 1_520.0);
    // Twice.
    assert_eq!(awake(&[0.0, hour, hour + 500.0, 2.0 * hour], LATE_MS), 1_500.0);
}

#[test]
fn a_hidden_page_whose_timers_fire_once_a_minute_is_awake() {
    let minutes: Vec<f64> = (0..=5).map(|n| f64::from(n) * 60_000.0).collect();
    assert_eq!(awake(&minutes, HIDDEN_LATE_MS), 300_000.0);
    assert_eq!(awake(&[0.0, 600_000.0], HIDDEN_LATE_MS), 500.0);
}

#[test]
fn nothing_is_known_without_beats() {
    let mut time = AwakeTime::default();
    assert_eq!((time.read(5.0, LATE_MS), time.read(90_000.0, LATE_MS)), (5.0, 90_000.0));
    time.beats_at(Some(90_500.0));
    assert_eq!(time.read(190_500.0, LATE_MS), 90_500.0);
    time.beats_at(None);
    assert_eq!(time.read(200_500.0, LATE_MS), 100_500.0, "it never goes back");
}
