//! What the app leaves out of a folder on the user's disk. Tools cannot see it, so they cannot change it either: a question about
//! such a change would show it as a new file.

use std::collections::BTreeSet;

use turnwise_engine::hidden::is_hidden;

/// Names of folders and files that hold no documents of the user, in any folder.
pub const LEFT_OUT: &[&str] = &[
    ".git",
    ".hg",
    ".svn",
    ".bzr",
    ".jj",
    "_darcs", // of version control, some of it is run as a program
    "node_modules",
    ".DS_Store",
    ".venv",
    "__pycache__",
];

/// Returns whether a part of a path is one of these names, in any spelling that a disk may take for it.
#[must_use]
pub fn is_left_out(part: &str) -> bool {
    let part = fold(part);
    LEFT_OUT.iter().any(|name| fold(name) == part)
}

/// The paths that the app left out of one folder.
#[derive(Clone, Debug, Default)]
pub struct LeftOut {
    /// Files that could not be read or did not fit, and folders that could not be read.
    paths: BTreeSet<String>,
    /// The folder has more files than were listed.
    more: bool,
}

impl LeftOut {
    /// `paths`: relative to the folder.
    #[must_use]
    pub fn new(paths: impl IntoIterator<Item = String>, more: bool) -> Self {
        LeftOut { paths: paths.into_iter().map(|path| folded(&path)).collect(), more }
    }

    /// The reason why a file cannot be written: it was left out, or it is below a folder that was. `listed`: it is one of the files
    /// that tools see. `path`: relative to the folder and normalized.
    #[must_use]
    pub fn refuses(&self, path: &str, listed: bool) -> Option<String> {
        if let Some(part) = path.split('/').find(|part| is_left_out(part)) {
            return Some(format!(
                "`{part}` is left out of a folder that the user opens, so tools can neither read nor change it"
            ));
        }
        let whole = folded(path);
        let mut above = whole.match_indices('/').filter_map(|(at, _)| whole.get(..at)).chain([whole.as_str()]);
        if above.any(|path| self.paths.contains(path)) {
            return Some(
                "it was left out when the user opened the folder, so tools can neither read nor change it".to_owned(),
            );
        }
        // Windows has such a name for each file and folder with a longer one.
        let short = path.split('/').find(|part| !listed && is_short_name(part))?;
        Some(format!("`{short}` may be the short name of another file or folder; choose another name"))
    }

    /// The reason why a file that is on the disk and is not listed cannot be written. `None`: it is new.
    #[must_use]
    pub fn refuses_unlisted(&self) -> Option<String> {
        self.more.then(|| {
            "there is such a file, but the folder has more files than tools see, and this one was left out".to_owned()
        })
    }
}

fn folded(path: &str) -> String {
    path.split('/').map(fold).collect::<Vec<_>>().join("/")
}

/// The form that is the same for all spellings of a name that some disk takes for the same name: capital letters, characters that
/// cannot be seen, dots and spaces at the end, and what follows a colon do not count.
fn fold(part: &str) -> String {
    let name = match part.split_once(':') {
        Some((name, _)) => name,
        None => part,
    };
    let seen: String = name.chars().filter(|character| !is_hidden(*character)).collect();
    seen.trim_end_matches(['.', ' ']).to_uppercase().to_lowercase()
}

/// `GIT~1`, `PROGRA~1.TXT`
fn is_short_name(part: &str) -> bool {
    let (name, ending) = part.split_once('.').unwrap_or((part, ""));
    let numbered = name.rsplit_once('~').is_some_and(|(head, number)| {
        !head.is_empty() && !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    });
    numbered && name.len() <= 8 && ending.len() <= 3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_control_and_what_holds_no_documents_is_refused_in_any_spelling() {
        let nothing = LeftOut::default();
        for path in [
            ".git/config",
            ".git",
            "sub/.git/hooks/pre-commit",
            ".GIT/config",
            ".Git./config",
            ".git /config",
            ".git...",
            ".g\u{200c}it/config",
            ".git::$INDEX_ALLOCATION/config",
            ".hg/hgrc",
            "a/.svn/x",
            ".jj/x",
            "node_modules/x.js",
            "NODE_MODULE\u{17f}/x.js",
            ".ds_store",
            "GIT~1/config",
            "a/NODE_M~1/x.js",
            "_DARCS/prefs",
            ".venv/bin/activate",
            "x/__pycache__/a.pyc",
        ] {
            assert!(nothing.refuses(path, false).is_some(), "{path}");
        }
        for path in [
            ".gitignore",
            ".github/workflows/a.yml",
            "git/config",
            "a.git",
            "node_modules.md",
            "notes~1 old.md",
            "draft~a.md",
            "a.b/c",
        ] {
            assert_eq!(nothing.refuses(path, false), None, "{path}");
        }
        assert_eq!(nothing.refuses("notes~1.md", true), None, "the reader found it under this name");
    }

    #[test]
    fn what_the_reader_left_out_is_refused_with_all_below_it() {
        let left_out = LeftOut::new(["big.bin".to_owned(), "Locked".to_owned(), "a/b.txt".to_owned()], false);
        for path in ["big.bin", "BIG.bin", "big.bin.", "locked/new.md", "Locked/a/b.md", "a/b.txt"] {
            assert!(left_out.refuses(path, false).is_some(), "{path}");
        }
        for path in ["big.bin2", "a/c.txt", "b/big.bin", "a"] {
            assert_eq!(left_out.refuses(path, false), None, "{path}");
        }
        assert_eq!(left_out.refuses_unlisted(), None);
        assert!(LeftOut::new([], true).refuses_unlisted().is_some());
    }
}
