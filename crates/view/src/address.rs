//! What the fragment of the page's address names: a run and how it is looked at, a plan, or the page of a feature.
//!
//! PURE: the app reads and writes the address, this determines its form.

use std::fmt::{self, Write as _};

/// What is open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// `#/run/SESSION`, and below it the view.
    Run { session: String, view: RunAddress },
    /// `#/plan/KEY`
    Plan(String),
    /// `#/NAME`, the page of a feature.
    Page(String),
}

/// How a run is looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum RunAddress {
    #[default]
    Transcript,
    /// `/replay/STEP`; without a step: at the first.
    Replay { step: usize },
    /// `/compare/RUN`, and the index of the own run among those of the session if it is not the last: `/compare/RUN/0`.
    Compare { run_id: String, own: Option<usize> },
}

impl Address {
    /// Reads a fragment, with its `#`. `None`: it names nothing. A view that is not known is that of the transcript, so that an address
    /// of another version still opens its run.
    #[must_use]
    pub fn parse(fragment: &str) -> Option<Self> {
        let mut parts = fragment.strip_prefix("#/")?.split('/').map(decoded);
        let kind = parts.next().filter(|kind| !kind.is_empty())?;
        let rest: Vec<String> = parts.collect();
        let id = rest.first().filter(|id| !id.is_empty()).cloned();
        match (kind.as_str(), id) {
            ("run", Some(session)) => {
                Some(Address::Run { session, view: RunAddress::of(rest.get(1..).unwrap_or_default()) })
            }
            ("plan", Some(key)) => Some(Address::Plan(key)),
            ("run" | "plan", None) => None,
            _ => Some(Address::Page(kind)),
        }
    }

    /// The session of the run, or the key of the plan.
    #[must_use]
    pub fn session(&self) -> Option<&str> {
        match self {
            Address::Run { session, .. } => Some(session),
            Address::Plan(key) => Some(key),
            Address::Page(_) => None,
        }
    }

    /// Returns whether this is the same place but for the step of a replay. Going from one to the other is not a step of the history.
    #[must_use]
    pub fn is_same_place(&self, other: &Address) -> bool {
        let place = |address: &Address| match address.clone() {
            Address::Run { session, view: RunAddress::Replay { .. } } => {
                Address::Run { session, view: RunAddress::Replay { step: 0 } }
            }
            address => address,
        };
        place(self) == place(other)
    }
}

impl RunAddress {
    fn of(parts: &[String]) -> Self {
        let part = |at: usize| parts.get(at).filter(|part| !part.is_empty());
        match (part(0).map(String::as_str), part(1)) {
            (Some("replay"), step) => RunAddress::Replay { step: step.and_then(|step| step.parse().ok()).unwrap_or(0) },
            (Some("compare"), Some(run_id)) => {
                RunAddress::Compare { run_id: run_id.clone(), own: part(2).and_then(|own| own.parse().ok()) }
            }
            _ => RunAddress::Transcript,
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Run { session, view } => {
                write!(f, "#/run/{}", encoded(session))?;
                match view {
                    RunAddress::Transcript => Ok(()),
                    RunAddress::Replay { step: 0 } => f.write_str("/replay"),
                    RunAddress::Replay { step } => write!(f, "/replay/{step}"),
                    RunAddress::Compare { run_id, own } => {
                        write!(f, "/compare/{}", encoded(run_id))?;
                        own.map_or(Ok(()), |own| write!(f, "/{own}"))
                    }
                }
            }
            Address::Plan(key) => write!(f, "#/plan/{}", encoded(key)),
            Address::Page(name) => write!(f, "#/{}", encoded(name)),
        }
    }
}

/// Ids of records are data from outside, and may contain anything.
fn encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' | b':' => {
                encoded.push(char::from(byte));
            }
            _ => drop(write!(encoded, "%{byte:02X}")),
        }
    }
    encoded
}

fn decoded(text: &str) -> String {
    let hex = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let (bytes, mut decoded) = (text.as_bytes(), Vec::with_capacity(text.len()));
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let escaped = || Some(hex(*bytes.get(at + 1)?)? * 16 + hex(*bytes.get(at + 2)?)?);
        match Some(*byte).filter(|byte| *byte == b'%').and_then(|_| escaped()) {
            Some(escaped) => {
                decoded.push(escaped);
                at += 3;
            }
            None => {
                decoded.push(*byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}
