//! Versions of an answer: runs that came from one another by regenerating, by a branch or by another prompt.

use super::rail::{RailView, moment};
use turnwise_content::format::{one_line, sentence_case};

/// The number of characters of a title in the choice of runs.
const TITLE: usize = 60;

/// A run, and the one that it is another version of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    pub run_id: String,
    /// `None`: it began by itself.
    pub of: Option<String>,
    /// What is different: `regenerated from turn 3`, `prompt changed`
    pub change: String,
}

impl Version {
    #[must_use]
    pub fn new(run_id: String, of: Option<String>, change: Option<String>) -> Self {
        Version { run_id, of, change: change.unwrap_or_else(|| "original".to_owned()) }
    }
}

/// A run of the list, open or stored.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedRun {
    pub version: Version,
    /// The line of the list that it is in.
    pub line: String,
    /// Its own task and its ending.
    pub rail: RailView,
    pub model: String,
    /// When it began here, in milliseconds since 1970.
    pub began_ms: u64,
}

/// Runs to choose from, below a heading: their ids, each with what tells it from the others.
pub type VersionChoice = (&'static str, Vec<(String, String)>);

/// Returns the versions among these runs to which a run belongs: the original, and then the others in their order. An original
/// that no longer exists is not among them.
#[must_use]
pub fn versions(runs: &[ListedRun], run_id: &str) -> Vec<Version> {
    let before = before(runs);
    let wanted = root(&before, run_id);
    let family = family(runs.iter().filter(|run| root(&before, &run.version.run_id) == wanted));
    family.into_iter().map(|run| run.version.clone()).collect()
}

/// The runs that come from another one, each with that one.
fn before(runs: &[ListedRun]) -> Vec<(&str, &str)> {
    runs.iter().filter_map(|run| Some((run.version.run_id.as_str(), run.version.of.as_deref()?))).collect()
}

/// Puts the original first: it may have been opened after the others.
fn family<'a>(runs: impl Iterator<Item = &'a ListedRun>) -> Vec<&'a ListedRun> {
    let mut family: Vec<&ListedRun> = runs.collect();
    if let Some(original) = family.iter().position(|run| run.version.of.is_none()) {
        let original = family.remove(original);
        family.insert(0, original);
    }
    family
}

/// Follows a run to the one that it comes from in the end.
fn root<'a>(before: &[(&'a str, &'a str)], run_id: &'a str) -> &'a str {
    let mut root = run_id;
    // Records are data from outside: they may be in a circle.
    for _ in 0..before.len() {
        match before.iter().find(|(run_id, _)| *run_id == root) {
            Some((_, of)) => root = of,
            None => break,
        }
    }
    root
}

/// Returns the lines of the list that are versions of one another, each with what tells it from the others:
/// `version 2 of 3, regenerated from turn 2`.
#[must_use]
pub fn labels(runs: &[ListedRun]) -> Vec<(String, String)> {
    families(runs).into_iter().flatten().collect()
}

/// Returns what a list with folded versions shows: the places of its lines, each with those of the later lines of its family.
/// `families`: that of each line, if it has other versions.
#[must_use]
pub fn folded(families: &[Option<usize>]) -> Vec<(usize, Vec<usize>)> {
    let mut groups: Vec<(usize, Vec<usize>)> = Vec::new();
    for (place, family) in families.iter().enumerate() {
        let is_same = |first: usize| family.is_some() && families.get(first) == Some(family);
        match groups.iter_mut().find(|(first, _)| is_same(*first)) {
            Some((_, others)) => others.push(place),
            None => groups.push((place, Vec::new())),
        }
    }
    groups
}

/// The same in families: the lines that are versions of one another, the original first.
#[must_use]
pub fn families(runs: &[ListedRun]) -> Vec<Vec<(String, String)>> {
    let before = before(runs);
    let roots: Vec<&str> = runs.iter().map(|run| root(&before, &run.version.run_id)).collect();
    let mut labels: Vec<Vec<(String, String)>> = Vec::new();
    let mut named: Vec<&str> = Vec::new();
    for (run, wanted) in runs.iter().zip(&roots) {
        if run.version.of.is_none() || named.contains(wanted) {
            continue;
        }
        named.push(wanted);
        let of_root = runs.iter().zip(&roots).filter(|(_, root)| *root == wanted).map(|(run, _)| run);
        let all = family(of_root);
        if all.len() > 1 {
            let each = all.iter().enumerate();
            labels.push(each.map(|(place, run)| (run.line.clone(), label(place, all.len(), &run.version))).collect());
        }
    }
    labels
}

fn label(place: usize, of: usize, version: &Version) -> String {
    format!("version {} of {of}, {}", place + 1, version.change)
}

/// Returns the runs that a run can be compared with, the likely ones first. `runs`: all of them, oldest first.
#[must_use]
pub fn choices(runs: &[ListedRun], run_id: &str, now_ms: u64, offset_ms: i64) -> Vec<VersionChoice> {
    let all = versions(runs, run_id);
    let own = runs.iter().find(|run| run.version.run_id == run_id);
    let is_version = |run: &ListedRun| all.iter().position(|version| version.run_id == run.version.run_id);
    let is_same_task = |run: &ListedRun| own.is_some_and(|own| own.rail.title == run.rail.title);
    let facts = |run: &ListedRun| format!("{} · {}", run.rail.words, moment(run.began_ms, now_ms, offset_ms));
    let mut likely: VersionChoice = ("Versions of this run", Vec::new());
    for (place, version) in all.iter().enumerate().filter(|(_, version)| version.run_id != run_id) {
        let run = runs.iter().find(|run| run.version.run_id == version.run_id);
        let text = |run| sentence_case(&format!("{} · {}", label(place, all.len(), version), facts(run)));
        likely.1.extend(run.map(|run| (version.run_id.clone(), text(run))));
    }
    let (mut same, mut rest): (VersionChoice, VersionChoice) =
        (("The same task", Vec::new()), ("Other runs", Vec::new()));
    for run in runs.iter().rev().filter(|run| run.version.run_id != run_id && is_version(run).is_none()) {
        let id = run.version.run_id.clone();
        if is_same_task(run) {
            let change = run.version.of.as_ref().map(|_| format!("{} · ", run.version.change)).unwrap_or_default();
            same.1.push((id, sentence_case(&format!("{change}{} · {}", facts(run), run.model))));
        } else {
            rest.1.push((id, format!("{} · {}", one_line(&run.rail.title, TITLE), facts(run))));
        }
    }
    [likely, same, rest].into_iter().filter(|(_, runs)| !runs.is_empty()).collect()
}
