//! The input of a run: the task's text and images.

use turnwise_engine::Image;

/// A task: its text and images.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UserInput {
    pub text: String,
    pub images: Vec<Image>,
}

impl From<String> for UserInput {
    fn from(text: String) -> Self {
        UserInput { text, images: Vec::new() }
    }
}
