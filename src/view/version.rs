//! Versions of an answer: runs that came from one another by regenerating, by a branch or by another prompt.

/// A run, and the one that it is another version of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    pub run_id: String,
    /// `None`: it began by itself.
    pub of: Option<String>,
    /// What is different: `regenerated`, `prompt changed`
    pub change: String,
}

/// Returns the versions among these runs to which a run belongs: the original, and then the others in their order. An original
/// that no longer exists is not among them.
#[must_use]
pub fn versions(mut runs: Vec<Version>, run_id: &str) -> Vec<Version> {
    let before: Vec<(String, String)> =
        runs.iter().filter_map(|run| Some((run.run_id.clone(), run.of.clone()?))).collect();
    let root = |run_id: &str| {
        let mut root = run_id.to_owned();
        // Records are data from outside: they may be in a circle.
        for _ in 0..before.len() {
            match before.iter().find(|(run_id, _)| *run_id == root) {
                Some((_, of)) => root.clone_from(of),
                None => break,
            }
        }
        root
    };
    let wanted = root(run_id);
    runs.retain(|run| root(&run.run_id) == wanted);
    // It may have been opened after the others.
    if let Some(original) = runs.iter().position(|run| run.of.is_none()) {
        let original = runs.remove(original);
        runs.insert(0, original);
    }
    runs
}
