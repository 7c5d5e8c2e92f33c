//! Reasons why runs could not be stored or read, with messages that say what to do.

use indexed_db_futures::error::{DomException, Error, OpenDbError};
use wasm_bindgen::JsValue;

use crate::shell::js;

/// Errors of storing and reading runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreError {
    /// There is no IndexedDB here, or the page may not use it.
    Unavailable(String),
    /// Another tab keeps an older version of the database open.
    Blocked,
    /// The database was written by a newer version.
    Newer,
    /// The database was closed: by a newer version in another tab, or because the site's data was cleared.
    Closed,
    /// No space is left.
    Full,
    /// Writes are not refused, but they do not complete either.
    Slow,
    /// Anything else, with the browser's message.
    Failed(String),
}

impl std::fmt::Display for StoreError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            StoreError::Unavailable(why) => write!(
                f,
                "This browser does not let the page store runs ({why}). They stay here until you close the \
                 page: download what you want to keep."
            ),
            StoreError::Blocked => f.write_str(
                "Another tab with an older Turnwise keeps the stored runs locked. Close or reload it; until \
                 then runs stay in this page only.",
            ),
            StoreError::Newer => f.write_str(
                "The stored runs are from a newer Turnwise. Reload the page to get it; until then runs stay \
                 in this page only.",
            ),
            StoreError::Closed => f.write_str(
                "The stored runs were closed, by a newer Turnwise in another tab or by clearing this site's \
                 data. Runs stay in this page only: download them, then reload.",
            ),
            StoreError::Full => f.write_str(
                "There is no space left for stored runs. The run goes on in this page: download it, or delete \
                 old runs.",
            ),
            StoreError::Slow => f.write_str(
                "Storing this run takes unusually long. It goes on in this page, and its last steps are lost \
                 if you close it now: download it to be safe.",
            ),
            StoreError::Failed(why) => write!(
                f,
                "The run could not be stored ({why}). It goes on in this page, and Turnwise tries to store it again \
                 at the next step: download it to be safe."
            ),
        }
    }
}

impl StoreError {
    /// What was asked for was deleted.
    #[must_use]
    pub fn no_longer_stored() -> Self {
        StoreError::Failed("it is no longer stored".to_owned())
    }

    /// Returns the same as a sentence about what the user added for later visits: `files`, `skills`.
    #[must_use]
    pub fn of_kept(&self, what: &str) -> String {
        let why = match self {
            StoreError::Full => "no space is left for them",
            StoreError::Failed(why) => why,
            _ => "this browser does not let the page store them",
        };
        let why = why.trim_end_matches('.');
        format!("Your {what} are in this page only, and lost when you reload it: {why}. Runs can use them until then.")
    }
}

impl From<Error> for StoreError {
    fn from(error: Error) -> Self {
        match &error {
            Error::DomException(exception) => of_exception(exception),
            other => StoreError::Failed(other.to_string()),
        }
    }
}

impl From<OpenDbError> for StoreError {
    fn from(error: OpenDbError) -> Self {
        match error {
            OpenDbError::Base(Error::DomException(exception)) => match of_exception(&exception) {
                StoreError::Failed(why) => StoreError::Unavailable(why),
                other => other,
            },
            other => StoreError::Unavailable(other.to_string()),
        }
    }
}

impl From<JsValue> for StoreError {
    fn from(thrown: JsValue) -> Self {
        StoreError::Failed(js::error_text(&thrown))
    }
}

fn of_exception(exception: &DomException) -> StoreError {
    let exception = web_sys::DomException::from(exception.clone());
    match exception.name().as_str() {
        "QuotaExceededError" => StoreError::Full,
        "VersionError" => StoreError::Newer,
        // The connection is gone.
        "InvalidStateError" => StoreError::Closed,
        name => StoreError::Failed(match exception.message().as_str() {
            "" => name.to_owned(),
            message => format!("{name}: {message}"),
        }),
    }
}
