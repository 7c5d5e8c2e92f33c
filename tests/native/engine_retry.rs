//! Waits between attempts, and the run's only source of randomness.

use turnwise_engine::retry::{RetryDecision, Rng, decide};
use turnwise_engine::*;

fn after(retry_after_ms: Option<u64>, attempt: u32) -> RetryDecision {
    let error = ModelError {
        slug: Slug::RateLimited,
        message: "slow down".into(),
        status: Some(429),
        retry_after_ms,
        retry: Retry::Yes,
    };
    decide(&RetryConfig::default(), &error, attempt, &mut Rng::new(7))
}

#[test]
fn the_random_numbers_are_those_of_splitmix64() {
    // The published sequence for this seed: a run recorded today must replay identically tomorrow.
    let mut rng = Rng::new(1_234_567);
    let drawn: Vec<u64> = (0..5).map(|_| rng.up_to(u64::MAX)).collect();
    assert_eq!(
        drawn,
        [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
            4_593_380_528_125_082_431,
            16_408_922_859_458_223_821
        ]
    );
}

#[test]
fn a_wait_up_to_the_cap_is_waited_and_a_longer_one_is_not() {
    assert_eq!(after(Some(59_999), 1), RetryDecision::Wait { ms: 59_999 });
    assert_eq!(after(Some(60_000), 1), RetryDecision::Wait { ms: 60_000 });
    assert_eq!(after(Some(60_001), 1), RetryDecision::GiveUp);
}

#[test]
fn a_rate_limit_without_a_readable_wait_waits_five_seconds_and_more() {
    let waits = |config: &RetryConfig, attempt| -> Vec<u64> {
        let wait = |seed| {
            let error = ModelError {
                slug: Slug::RateLimited,
                message: String::new(),
                status: Some(429),
                retry_after_ms: None,
                retry: Retry::Yes,
            };
            match decide(config, &error, attempt, &mut Rng::new(seed)) {
                RetryDecision::Wait { ms } => ms,
                RetryDecision::GiveUp => panic!("it may be tried again"),
            }
        };
        (0..200).map(wait).collect()
    };
    let standard = RetryConfig::default();
    for (attempt, least, most) in [(1, 5_000, 6_250), (2, 10_000, 12_500), (4, 40_000, 50_000), (5, 60_000, 60_000)] {
        let waits = waits(&standard, attempt);
        assert!(waits.iter().all(|ms| (least..=most).contains(ms)), "attempt {attempt}: {waits:?}");
        assert!(least == most || waits.iter().any(|ms| *ms > least + (most - least) / 2), "it has jitter");
    }
    // The base of ordinary waits does not shorten a rate-limit wait; its own setting does, and so does the cap on waits.
    assert!(waits(&RetryConfig { base_ms: 1, cap_ms: 2, ..standard }, 1).iter().all(|ms| *ms >= 5_000));
    assert!(waits(&RetryConfig { rate_limit_ms: 4, ..standard }, 1).iter().all(|ms| (4..=5).contains(ms)));
    assert!(waits(&RetryConfig { retry_after_cap_ms: 900, ..standard }, 1).iter().all(|ms| *ms == 900));
}

#[test]
fn backoff_doubles_up_to_its_cap_with_full_jitter() {
    for (attempt, most) in [(1, 500), (2, 1_000), (3, 2_000), (5, 8_000), (6, 8_000), (60, 8_000)] {
        let waits: Vec<u64> = (0..200)
            .map(|seed| {
                let error = ModelError {
                    slug: Slug::NetworkError,
                    message: String::new(),
                    status: None,
                    retry_after_ms: None,
                    retry: Retry::Yes,
                };
                match decide(&RetryConfig::default(), &error, attempt, &mut Rng::new(seed)) {
                    RetryDecision::Wait { ms } => ms,
                    RetryDecision::GiveUp => panic!("it may be tried again"),
                }
            })
            .collect();
        let (least, longest) = (waits.iter().min().unwrap(), waits.iter().max().unwrap());
        assert!(*longest <= most && *longest > most * 9 / 10 && *least < most / 10, "{attempt}: {least} to {longest}");
    }
}
