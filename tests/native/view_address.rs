//! The fragment of the app's address: what is open, and how it is looked at.

use turnwise_view::address::{Address, RunAddress};

fn run(view: RunAddress) -> Address {
    Address::Run { session: "run_20261121_220000_abcdef".to_owned(), view }
}

#[test]
fn each_address_is_read_as_it_was_written() {
    let compare = |run_id: &str, own| RunAddress::Compare { run_id: run_id.to_owned(), own };
    let all = [
        (run(RunAddress::Transcript), "#/run/run_20261121_220000_abcdef"),
        (run(RunAddress::Replay { step: 0 }), "#/run/run_20261121_220000_abcdef/replay"),
        (run(RunAddress::Replay { step: 12 }), "#/run/run_20261121_220000_abcdef/replay/12"),
        (run(compare("run_b", None)), "#/run/run_20261121_220000_abcdef/compare/run_b"),
        (run(compare("run_b", Some(0))), "#/run/run_20261121_220000_abcdef/compare/run_b/0"),
        // An id of a record from elsewhere.
        (run(compare("a/b #50% \u{e9}", None)), "#/run/run_20261121_220000_abcdef/compare/a%2Fb%20%2350%25%20%C3%A9"),
        (Address::Plan("plan:1".to_owned()), "#/plan/plan:1"),
        (Address::Page("insight".to_owned()), "#/insight"),
    ];
    for (address, text) in all {
        assert_eq!((address.to_string().as_str(), Address::parse(text).as_ref()), (text, Some(&address)));
    }
}

#[test]
fn what_is_not_known_opens_the_run_or_nothing() {
    for text in ["", "#", "#/", "#/run/", "#/plan/", "#run/x", "/run/x"] {
        assert_eq!(Address::parse(text), None, "{text}");
    }
    for text in ["x/other/view", "x/compare", "x/compare/", "x/"] {
        let opened = Address::Run { session: "x".to_owned(), view: RunAddress::Transcript };
        assert_eq!(Address::parse(&format!("#/run/{text}")), Some(opened), "{text}");
    }
    let first = Address::Run { session: "x".to_owned(), view: RunAddress::Replay { step: 0 } };
    assert_eq!(Address::parse("#/run/x/replay/soon"), Some(first));
    // A damaged escape is a text like any other.
    assert_eq!(Address::parse("#/plan/%zz%2"), Some(Address::Plan("%zz%2".to_owned())));
}

#[test]
fn a_step_of_a_replay_is_no_place_of_its_own() {
    let step = |step| run(RunAddress::Replay { step });
    assert!(step(1).is_same_place(&step(7)));
    assert!(!step(1).is_same_place(&run(RunAddress::Transcript)));
    let other = Address::Run { session: "x".to_owned(), view: RunAddress::Replay { step: 1 } };
    assert!(!step(1).is_same_place(&other));
}
