//! Pictures for the task: dropped on the task box, pasted or picked; scaled to fit, shown as thumbnails, removable.

use std::sync::Arc;

use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{Blob, CanvasRenderingContext2d, File, HtmlCanvasElement, ImageBitmap};

use turnwise_content::format::thousands;
use turnwise_engine::Image;
use turnwise_files::base64::base64;
use turnwise_view::models;
use turnwise_view::picture::{self, BYTES, MOST, PictureView, is_long, is_picture};

use crate::browser::dom;
use crate::components::icon::{Icon, icon};
use crate::components::reactive::reactive;
use crate::components::toast::Undo;
use crate::composer::store::TaskPicture;
use crate::state::App;

/// Adds those of the files that are pictures.
pub fn take(app: App, files: Vec<File>) {
    spawn_local(async move {
        for file in files {
            if app.composer().pictures.with_untracked(Vec::len) >= MOST {
                return app.complain(format!("A task can have at most {MOST} pictures. The others were left out."));
            }
            match read(&file).await {
                Some(image) => add(app, PictureView { image: Arc::new(image), alt: file.name() }),
                None => app.complain(format!("{} could not be read as a picture.", file.name())),
            }
        }
    });
}

fn add(app: App, view: PictureView) {
    app.composer().pictures.update(|pictures| {
        let id = pictures.iter().map(|picture| picture.id).max().map_or(1, |id| id + 1);
        pictures.push(TaskPicture { id, view });
    });
}

impl App {
    /// Takes the pictures out of the task box.
    pub fn take_pictures(&self) -> Vec<PictureView> {
        let taken = self.composer().pictures.get_untracked();
        if !taken.is_empty() {
            self.composer().pictures.set(Vec::new());
        }
        taken.into_iter().map(|picture| picture.view).collect()
    }

    /// Puts back the pictures of a task that was not sent.
    pub fn put_back_pictures(&self, pictures: Vec<PictureView>) {
        pictures.into_iter().for_each(|view| add(*self, view));
    }
}

/// Takes the pictures from pasted content. A long text becomes a file; other text is left to the browser.
pub fn pasted(app: App, event: &web_sys::ClipboardEvent) {
    let Some(data) = event.clipboard_data() else { return };
    let files: Vec<File> = data.files().map(|list| files(&list)).unwrap_or_default();
    let pictures: Vec<File> = files.into_iter().filter(|file| is_picture(&file.type_())).collect();
    if !pictures.is_empty() {
        event.prevent_default();
        return take(app, pictures);
    }
    let text = data.get_data("text/plain").unwrap_or_default();
    if is_long(&text) && app.attach_text(text) {
        event.prevent_default();
    }
}

impl App {
    /// Adds a pasted text to the files, and its name to the task. Returns `false` if it could not be added.
    fn attach_text(&self, text: String) -> bool {
        let files = untrack(|| self.files());
        let names = (1..).map(|n: u32| format!("pasted-{n}.txt"));
        let name = names.into_iter().find(|name| files.iter().all(|file| file.path != *name));
        let Some((path, blob)) = name.zip(dom::text_blob(&text, "text/plain")) else { return false };
        self.add_files(vec![(path.clone(), blob)]);
        let before = self.composer().draft.get_untracked();
        let space = if before.is_empty() || before.ends_with(char::is_whitespace) { "" } else { " " };
        self.composer().draft.set(format!("{before}{space}{path} "));
        let count = thousands(text.chars().count() as u64);
        let undo = Undo::Pasted { path: path.clone(), text };
        self.tell_with_undo(format!("The pasted text ({count} characters) is the file {path}."), Some(undo));
        true
    }

    /// Puts a pasted text back into the task, in place of its file.
    pub fn put_back_text(&self, path: &str, text: &str) {
        self.drop_file(path);
        self.composer().draft.update(|draft| match draft.contains(path) {
            true => *draft = draft.replacen(path, text, 1),
            false => draft.push_str(text),
        });
        dom::focus(dom::TASK);
    }
}

pub fn files(list: &web_sys::FileList) -> Vec<File> {
    (0..list.length()).filter_map(|place| list.get(place)).collect()
}

/// Draws the thumbnails, and a note if the model does not accept pictures.
pub fn tray(app: App) -> impl IntoView {
    let some = Memo::new(move |_| app.composer().pictures.with(|pictures| !pictures.is_empty()));
    let note = Memo::new(move |_| {
        app.settings.with(|settings| models::picture_note(settings.known(), settings.provider_card().is_none()))
    });
    let each = move || {
        For(ForProps::builder()
            .each(move || app.composer().pictures.get())
            .key(|picture| picture.id)
            .children(move |picture| thumbnail(app, &picture))
            .build())
    };
    reactive(move || {
        some.get().then(|| {
            (
                html::ul().class("tray").attr("aria-label", "Pictures for the task").child(each()),
                reactive(move || {
                    note.get().map(|note| html::p().class("picture-note").attr("role", "status").child(note))
                }),
            )
        })
    })
}

/// Draws a picture as it is, a PDF by its name.
pub fn shown(view: &PictureView) -> AnyView {
    let alt = view.alt.clone();
    if view.image.is_pdf() {
        return html::span().class("fact").child(alt).into_any();
    }
    html::img().attr("src", view.src()).attr("title", alt.clone()).attr("alt", alt).attr("loading", "lazy").into_any()
}

fn thumbnail(app: App, picture: &TaskPicture) -> impl IntoView + use<> {
    let (id, alt) = (picture.id, picture.view.alt.clone());
    let remove = move |_| {
        app.composer().pictures.update(|pictures| pictures.retain(|picture| picture.id != id));
        dom::focus(dom::TASK);
    };
    html::li().child((
        shown(&picture.view),
        html::button()
            .r#type("button")
            .attr("aria-label", format!("Remove {alt}"))
            .on(ev::click, remove)
            .child(icon(Icon::Close)),
    ))
}

/// Has the user pick pictures for the task.
pub fn choose(app: App) {
    let Ok(input) = dom::element("input").dyn_into::<web_sys::HtmlInputElement>() else { return };
    input.set_type("file");
    input.set_multiple(true);
    input.set_accept(&Image::PICTURES.join(","));
    let picked = Closure::once_into_js(move |event: web_sys::Event| {
        let input = event.target().and_then(|target| target.dyn_into::<web_sys::HtmlInputElement>().ok());
        let list = input.and_then(|input| input.files()).map(|list| files(&list));
        take(app, list.unwrap_or_default());
        dom::focus(dom::TASK);
    });
    let _ = input.add_event_listener_with_callback("change", picked.unchecked_ref());
    input.click();
}

/// Reads a picture for sending: unchanged if it fits, otherwise redrawn.
async fn read(file: &File) -> Option<Image> {
    if !is_picture(&file.type_()) {
        return None;
    }
    let promise = dom::window().create_image_bitmap_with_blob(file).ok()?;
    let bitmap: ImageBitmap = JsFuture::from(promise).await.ok()?.dyn_into().ok()?;
    let (width, height) = picture::fit(bitmap.width(), bitmap.height());
    let image = if width == bitmap.width() && height == bitmap.height() && (file.size() as usize) <= BYTES {
        whole(file).await
    } else {
        drawn(&bitmap, width, height, &file.type_())
    };
    bitmap.close();
    image
}

async fn whole(file: &File) -> Option<Image> {
    let blob: &Blob = file;
    let buffer = JsFuture::from(blob.array_buffer()).await.ok()?;
    let bytes = js_sys::Uint8Array::new(&buffer).to_vec();
    Some(Image { media_type: file.type_(), data: base64(&bytes) })
}

/// Redraws a picture: in its own format if that is small enough, otherwise as a JPEG on white.
fn drawn(bitmap: &ImageBitmap, width: u32, height: u32, media_type: &str) -> Option<Image> {
    let canvas: HtmlCanvasElement = dom::element("canvas").dyn_into().ok()?;
    canvas.set_width(width);
    canvas.set_height(height);
    let context: CanvasRenderingContext2d = canvas.get_context("2d").ok()??.dyn_into().ok()?;
    let draw =
        || context.draw_image_with_image_bitmap_and_dw_and_dh(bitmap, 0.0, 0.0, width.into(), height.into()).ok();
    draw()?;
    let own = if media_type == "image/gif" { "image/png" } else { media_type };
    let image =
        Image::from_data_url(&canvas.to_data_url_with_type_and_encoder_options(own, &JsValue::from_f64(0.9)).ok()?)?;
    if image.data.len() / 4 * 3 <= BYTES {
        return Some(image);
    }
    context.set_fill_style_str("#fff");
    context.fill_rect(0.0, 0.0, width.into(), height.into());
    draw()?;
    Image::from_data_url(
        &canvas.to_data_url_with_type_and_encoder_options("image/jpeg", &JsValue::from_f64(0.85)).ok()?,
    )
}
