//! Chrome's built-in model: whether it is available, and what to do if it is not.

/// The availability that the browser reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuiltIn {
    /// The browser has not answered yet.
    Unknown,
    /// The browser has no built-in model.
    Unsupported,
    /// The browser has one, but it cannot run on this computer.
    Unavailable,
    Downloadable,
    /// With the percentage done, if known.
    Downloading(Option<u8>),
    Available,
}

impl BuiltIn {
    /// Returns the state as a sentence.
    #[must_use]
    pub fn message(self) -> String {
        match self {
            BuiltIn::Unknown => "Asking the browser.".to_owned(),
            BuiltIn::Unsupported => "This browser has no built-in model.".to_owned(),
            BuiltIn::Unavailable => {
                "The browser knows the model, but it cannot run on this computer as it is.".to_owned()
            }
            BuiltIn::Downloadable => {
                "The model can run here. It needs a one-time download of several gigabytes.".to_owned()
            }
            BuiltIn::Downloading(Some(percent)) => format!("Downloading, {percent} % done."),
            BuiltIn::Downloading(None) => "Downloading. The download continues if you close this page.".to_owned(),
            BuiltIn::Available => "Ready.".to_owned(),
        }
    }

    /// Returns what the user can do, if anything.
    #[must_use]
    pub fn advice(self) -> &'static [&'static str] {
        match self {
            BuiltIn::Unsupported => &[
                "Use Chrome 138 or later on a computer (not on a phone), over https or on localhost.",
                "In such a Chrome, open chrome://flags, enable “Prompt API for Gemini Nano”, and restart it.",
            ],
            BuiltIn::Unavailable => &[
                "It needs 22 GB of free disk space where Chrome keeps its profile, and a graphics card with more than \
                 4 GB, or 16 GB of memory and 4 processor cores.",
                "The page chrome://on-device-internals says what is missing.",
            ],
            BuiltIn::Unknown | BuiltIn::Downloadable | BuiltIn::Downloading(_) | BuiltIn::Available => &[],
        }
    }

    /// Returns the state that selects the colour.
    #[must_use]
    pub fn state(self) -> &'static str {
        match self {
            BuiltIn::Available => "ok",
            BuiltIn::Unsupported | BuiltIn::Unavailable => "failed",
            BuiltIn::Unknown | BuiltIn::Downloadable | BuiltIn::Downloading(_) => "",
        }
    }
}
