//! Pictures and PDFs attached to a task: which ones are accepted, how they are scaled, and their text alternatives.

use std::sync::Arc;

use turnwise_engine::Image;

/// Characters of a pasted text above which it becomes a file: it would hide the task.
const LONG: usize = 4_000;

/// Whether a pasted text becomes a file.
#[must_use]
pub fn is_long(text: &str) -> bool {
    text.chars().nth(LONG).is_some()
}

/// The maximum number of pictures per task.
pub const MOST: usize = 8;
/// The maximum length of the long side, in pixels: providers scale larger pictures down anyway.
pub const LONG_SIDE: u32 = 1_568;
/// The maximum size of one picture, in bytes; larger ones are re-encoded.
pub const BYTES: usize = 1_500_000;

/// One picture or PDF, with its text alternative.
#[derive(Clone, Debug, PartialEq)]
pub struct PictureView {
    pub image: Arc<Image>,
    /// The file's name, if it is known.
    pub alt: String,
}

/// Returns whether a file is a picture that models accept.
#[must_use]
pub fn is_picture(media_type: &str) -> bool {
    Image::PICTURES.contains(&media_type)
}

/// Returns the size in which a picture is sent: unchanged, or scaled so that its long side fits.
#[must_use]
pub fn fit(width: u32, height: u32) -> (u32, u32) {
    let long = width.max(height);
    if long <= LONG_SIDE {
        return (width, height);
    }
    let scaled = |side: u32| {
        let (side, long) = (u64::from(side), u64::from(long));
        u32::try_from((side * u64::from(LONG_SIDE) + long / 2) / long).unwrap_or(LONG_SIDE).max(1)
    };
    (scaled(width), scaled(height))
}

impl PictureView {
    /// Returns the pictures of a record, which does not store names.
    #[must_use]
    pub fn list(images: &[Image]) -> Vec<Self> {
        let alt = |place: usize, pdf: bool| match images.len() {
            1 => format!("The task's {}", if pdf { "PDF" } else { "picture" }),
            all => format!("{} {place} of {all}", if pdf { "PDF" } else { "Picture" }),
        };
        let view = |(index, image): (usize, &Image)| PictureView {
            image: Arc::new(image.clone()),
            alt: alt(index + 1, image.is_pdf()),
        };
        images.iter().enumerate().map(view).collect()
    }

    /// Returns its URL, which contains the picture.
    #[must_use]
    pub fn src(&self) -> String {
        self.image.data_url()
    }
}
