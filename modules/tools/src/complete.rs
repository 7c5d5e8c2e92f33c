//! All that the tools' worker can do: every tool, documents, records, figures, the demo model, highlighted code.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use js_sys::Uint8Array;
use serde_json::Value;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::Blob;

use turnwise_content::markdown::highlight::{self, Highlighter};
use turnwise_docs_index::site::Site;
use turnwise_docs_index::{FetchedPage, SiteQuery};
use turnwise_engine::EpochMillis;
use turnwise_files::document::{Container, Document, HEAD, LATER, MAX_DOCUMENT_BYTES, PackedFile, container};
use turnwise_files::encoding::{DecodedText, Recognized, recognize};
use turnwise_files::{Engine, FileInfo, Files, FoundFile, MAX_TEXT_BYTES, decode, size_text};
use turnwise_protocol::record;
use turnwise_protocol::tool_worker::{ChangedBlocks, DocumentTask, FileChange, GrowingPart, WorkerAnswer, WorkerCall};
use turnwise_tools::change::{Previous, unified};
use turnwise_tools::{FileIndex, read, run};
use turnwise_view::replay::Viewer;
use turnwise_worker::growing::Growing;
use turnwise_worker::serve::{Abilities, BlobFiles, bytes_of, gone, part_of};

use crate::{engines, later, parts};

/// What the worker keeps between calls, apart from the files.
#[derive(Default)]
pub struct Complete {
    index: FileIndex,
    documents: Documents,
    growing: Growing<Highlighter>,
    /// The record that is open in the viewer.
    viewer: Option<Viewer>,
}

impl Abilities for Complete {
    async fn render(&mut self, markdown: &str, growing: Option<GrowingPart>) -> Result<ChangedBlocks, String> {
        let whole = growing.is_none_or(|part| part.from == 0);
        let plain = self.rendered(markdown, growing).await?;
        // The first code of a language. Without what highlights it, it stays plain.
        if !highlight::missed() || later::load_grammars().await.is_err() {
            return Ok(plain);
        }
        if whole {
            self.rendered(markdown, growing).await
        } else {
            Ok(ChangedBlocks { lost: true, ..Default::default() })
        }
    }

    async fn document(&self, task: DocumentTask, text: &str) -> Result<String, String> {
        Ok(match task {
            DocumentTask::Figure | DocumentTask::Separated => {
                later::figure(matches!(task, DocumentTask::Separated), text).await?
            }
            DocumentTask::Export(format) => later::export(format, text).await?,
            task => later::document(task, text).await?,
        })
    }

    async fn docs(&self, site: &mut Option<Site>, ask: SiteQuery, texts: Vec<String>) -> Result<String, String> {
        Ok(later::docs(site, ask, texts).await?)
    }

    async fn page(&self, got: &FetchedPage, text: &str) -> Result<String, String> {
        Ok(later::page(got, text).await?)
    }

    async fn run(
        &mut self,
        name: &str,
        args: &Value,
        files: &mut BlobFiles,
        at: EpochMillis,
    ) -> Result<String, String> {
        self.documents.began.set(clock());
        let mut files = WithDocuments { files, documents: &self.documents };
        run(name, args, &mut files, &mut self.index, at).await
    }

    async fn diff(&self, files: &BlobFiles, writes: &[(String, Vec<u8>)]) -> (Option<String>, usize) {
        let (mut diffs, mut omitted) = (Vec::new(), 0);
        for (path, content) in writes {
            let before = match files.list().get(path) {
                Some(info) if info.size > MAX_TEXT_BYTES => Err("is too large to be shown"),
                Some(_) => match files.read(path).await {
                    Ok(bytes) => decode(&Texts(files), path, bytes).await.map(Some).map_err(|_| "is not text"),
                    Err(_) => Err("cannot be read"),
                },
                None => Ok(None),
            };
            let label = before.as_ref().ok().and_then(|text| text.as_ref()).map(|text| text.encoding.name.clone());
            let after = match recognize(content) {
                Recognized::Text(text) => text.shown(),
                // It was written in the encoding of the file before.
                Recognized::Old { .. } | Recognized::Binary => match parts::decode(content, label.as_deref()).await {
                    Ok(text) => text.shown(),
                    Err(why) => why,
                },
            };
            let text = before.map(|text| text.map(DecodedText::shown));
            let before = match &text {
                Ok(Some(text)) => Previous::Text(text),
                Ok(None) => Previous::Nothing,
                Err(why) => Previous::Unknown(why),
            };
            let change = unified(path, before, &after);
            omitted += change.omitted;
            diffs.push(change.diff);
        }
        ((!diffs.is_empty()).then(|| diffs.join("\n")), omitted)
    }

    async fn guess(&self, bytes: &[u8]) -> Option<(String, String)> {
        let decoded = parts::decode(bytes, None).await.ok()?;
        Some((decoded.text, decoded.encoding.name))
    }

    async fn answer(&mut self, call: WorkerCall, blobs: Vec<Blob>) -> Result<WorkerAnswer, String> {
        match call {
            WorkerCall::View(ask) => Ok(WorkerAnswer::Document(self.view(&ask, blobs).await?)),
            WorkerCall::Demo(request) => Ok(WorkerAnswer::Demo(later::script(&request).await?)),
            WorkerCall::Text { path } => Ok(WorkerAnswer::Document(self.text(path, blobs).await?)),
            _ => Err("the worker does not know this request".to_owned()),
        }
    }
}

impl Complete {
    async fn rendered(&mut self, markdown: &str, growing: Option<GrowingPart>) -> Result<ChangedBlocks, String> {
        Ok(match growing {
            Some(part) => later::grow(&mut self.growing, part, markdown).await?,
            None => later::render(markdown).await?,
        })
    }

    async fn view(&mut self, ask: &record::RecordQuery, blobs: Vec<Blob>) -> Result<String, String> {
        let text = match blobs.into_iter().next() {
            Some(blob) => JsFuture::from(blob.text()).await.map_err(|_| "the file could not be read")?.as_string(),
            None => None,
        };
        Ok(later::view(&mut self.viewer, ask, text.as_deref()).await?)
    }

    /// The text of one file that is in no workspace.
    async fn text(&self, path: String, blobs: Vec<Blob>) -> Result<String, String> {
        let documents = Documents::default();
        documents.began.set(clock());
        let mut files = BlobFiles::default();
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a size is a whole number far below 2^53
        let size = blobs.first().map(|blob| blob.size() as u64);
        files.apply(vec![FileChange { path: path.clone(), version: 1, size }], blobs);
        read::shown_text(&WithDocuments { files: &mut files, documents: &documents }, &path).await
    }
}

/// The files of a call as texts in any encoding, without documents.
struct Texts<'a>(&'a BlobFiles);

impl Files for Texts<'_> {
    fn list(&self) -> &BTreeMap<String, FileInfo> {
        self.0.list()
    }

    async fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        self.0.read(path).await
    }

    async fn decode(&self, bytes: &[u8], label: Option<&str>) -> Result<DecodedText, String> {
        parts::decode(bytes, label).await
    }

    fn write(&mut self, _: String, _: Vec<u8>) {}
}

/// What was found about files that may be documents. A file is converted once for each version.
#[derive(Default)]
struct Documents {
    known: RefCell<BTreeMap<String, (u64, KnownDocument)>>,
    /// The containers of files, told by their first bytes.
    containers: RefCell<BTreeMap<String, (u64, Option<Container>)>>,
    /// What was unpacked.
    unpacked: RefCell<BTreeMap<String, (u64, LocatedFile)>>,
    /// When the call began, by the page's clock for durations.
    began: Cell<f64>,
}

/// `None`: the file is not a document. The error says why a document has no text.
type KnownDocument = Result<Option<Rc<Document>>, String>;

/// A file of the list, or one inside of another, unpacked but not read.
#[derive(Clone)]
struct LocatedFile {
    blob: Blob,
    version: u64,
    /// How it was packed, for users.
    packed: Option<String>,
    /// Whether the blob is what was packed by gzip, under the path of the packed file.
    unzipped: bool,
}

/// The documents that a worker keeps have at most so much text, in bytes; then it forgets them and converts them again.
const MAX_KEPT_TEXT: usize = 96 << 20;
/// So many bytes of unpacked files does a worker keep.
const MAX_KEPT_UNPACKED: f64 = (256 << 20) as f64;
/// Archives in archives are opened so deep.
const MAX_NESTING: usize = 4;
/// A call that has run for so long converts no more documents, so that what it has converted is not lost to its deadline.
const ENOUGH_MS: f64 = 12_000.0;
/// All documents of a call are read within this time; what has not been read of a PDF then is left out. A call has 30 seconds by default.
const MAX_MS: f64 = 20_000.0;

/// The files of a call, with the documents among them as text, and the files inside of archives and mails.
struct WithDocuments<'a> {
    files: &'a mut BlobFiles,
    documents: &'a Documents,
}

impl WithDocuments<'_> {
    /// The file at a path: one of the list, or one inside of another. `None`: there is none.
    async fn locate(&self, path: &str) -> Result<Option<LocatedFile>, String> {
        let mut ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
        let Some(end) = ends.find(|end| path.get(..*end).is_some_and(|path| self.list().contains_key(path))) else {
            return Ok(None);
        };
        let mut at = path.get(..end).unwrap_or_default();
        let version = self.list().get(at).map_or(0, |info| info.version);
        if let Some(known) = self.kept(path, version) {
            return self.unzipped(path, known).await.map(Some);
        }
        let mut file = LocatedFile { blob: self.files.blob(at)?.clone(), version, packed: None, unzipped: false };
        for _ in 0..=MAX_NESTING {
            file = self.unzipped(at, file).await?;
            if at == path {
                return Ok(Some(file));
            }
            let rest = path.get(at.len() + 1..).unwrap_or_default();
            let Some(document) = self.inside(at, &file).await? else { return Ok(None) };
            let inside = &document.files;
            let fits = |one: &&PackedFile| {
                rest.strip_prefix(&one.path).is_some_and(|more| more.is_empty() || more.starts_with('/'))
            };
            let Some(found) = inside.iter().find(fits) else { return Err(not_inside(at, rest, inside)) };
            let outer = at;
            at = path.get(..at.len() + 1 + found.path.len()).unwrap_or(path);
            file = self.member(outer, &file, &found.path, at).await?;
        }
        Err(format!("{path} is nested too deep: archives are opened {MAX_NESTING} deep"))
    }

    /// The file itself, or what it is packed of by gzip.
    async fn unzipped(&self, path: &str, file: LocatedFile) -> Result<LocatedFile, String> {
        if self.container(path, &file).await? != Some(Container::Gzip) {
            return Ok(file);
        }
        if let Some(known) = self.kept(&format!("{path}/"), file.version) {
            return Ok(known);
        }
        let Some(blob) = parts::gunzip(&file.blob).await.map_err(|why| format!("{path} is packed by gzip: {why}"))?
        else {
            return Ok(file);
        };
        let from = size_text(file.blob.size() as u64);
        let packed = match &file.packed {
            Some(packed) => format!("{packed}, unpacked from gzip"),
            None => format!("unpacked from {from} of gzip"),
        };
        let unpacked = LocatedFile { blob, packed: Some(packed), unzipped: true, ..file };
        self.keep(format!("{path}/"), &unpacked);
        Ok(unpacked)
    }

    /// A file inside of another.
    async fn member(&self, outer: &str, file: &LocatedFile, inner: &str, path: &str) -> Result<LocatedFile, String> {
        if let Some(known) = self.kept(path, file.version) {
            return Ok(known);
        }
        let blob = match self.container(outer, file).await? {
            Some(Container::Mail) => {
                let bytes = Uint8Array::from(bytes_of(&file.blob, outer).await?.as_slice());
                parts::attachment(&bytes, inner).await
            }
            _ => parts::member(&file.blob, inner).await,
        };
        let blob = blob.map_err(|why| format!("{inner} in {outer} has no content that can be read: {why}"))?;
        let found =
            LocatedFile { blob, version: file.version, packed: Some(format!("inside {outer}")), unzipped: false };
        self.keep(path.to_owned(), &found);
        Ok(found)
    }

    fn kept(&self, path: &str, version: u64) -> Option<LocatedFile> {
        let unpacked = self.documents.unpacked.borrow();
        unpacked.get(path).filter(|(known, _)| *known == version).map(|(_, file)| file.clone())
    }

    fn keep(&self, path: String, file: &LocatedFile) {
        let mut unpacked = self.documents.unpacked.borrow_mut();
        if unpacked.values().map(|(_, file)| file.blob.size()).sum::<f64>() + file.blob.size() > MAX_KEPT_UNPACKED {
            unpacked.clear();
        }
        unpacked.insert(path, (file.version, file.clone()));
    }

    /// The container of a file, by its first bytes.
    async fn container(&self, path: &str, file: &LocatedFile) -> Result<Option<Container>, String> {
        // The same path has another container once gzip is unpacked.
        let key = if file.unzipped { format!("{path}/") } else { path.to_owned() };
        if let Some((version, known)) = self.documents.containers.borrow().get(&key)
            && *version == file.version
        {
            return Ok(*known);
        }
        let head = bytes_of(&part_of(&file.blob, path, 0, HEAD as u64)?, path).await?;
        let found = container(&head);
        self.documents.containers.borrow_mut().insert(key, (file.version, found));
        Ok(found)
    }

    /// A file that has others inside, as the document that lists them; `None`: it has none.
    async fn inside(&self, path: &str, file: &LocatedFile) -> Result<Option<Rc<Document>>, String> {
        if let Some((version, Ok(Some(document)))) = self.documents.known.borrow().get(path)
            && *version == file.version
            && !document.files.is_empty()
        {
            return Ok(Some(document.clone()));
        }
        let listing = match self.container(path, file).await? {
            Some(Container::Package | Container::Tar | Container::Gzip) => match parts::archive(&file.blob).await {
                Ok(archive) => Some(Rc::new(listed(path, archive))),
                // An office file of old is no archive.
                Err(_) => None,
            },
            Some(Container::Mail) => {
                let document = self.convert(path, file).await;
                if let Ok(Some(_)) = &document {
                    self.documents.known.borrow_mut().insert(path.to_owned(), (file.version, document.clone()));
                }
                document?
            }
            Some(Container::Pdf) | None => None,
        };
        Ok(listing.filter(|document| !document.files.is_empty()))
    }

    /// Reads and converts a file.
    async fn convert(&self, path: &str, file: &LocatedFile) -> KnownDocument {
        let Some(container) = self.container(path, file).await? else { return Ok(None) };
        if matches!(container, Container::Tar | Container::Gzip)
            || (container == Container::Package && starts_with(&file.blob, path, b"PK").await?)
        {
            let archive = parts::archive(&file.blob).await;
            match archive {
                Ok(archive) if !archive.document && !archive.files.is_empty() && !named_document(path) => {
                    return Ok(Some(Rc::new(listed(path, archive))));
                }
                // The reader of documents says what is wrong.
                Ok(_) => {}
                Err(why) if container != Container::Package => return Err(why),
                Err(_) => {}
            }
        }
        if file.blob.size() > MAX_DOCUMENT_BYTES as f64 {
            return Err("it is too large to be read as a document".to_owned());
        }
        let bytes = JsFuture::from(file.blob.array_buffer()).await.map_err(|_| gone(path))?;
        let before = clock() - self.documents.began.get();
        let bytes = Uint8Array::new(&bytes);
        let (document, late) = parts::document(container, &bytes, path, MAX_MS - before).await?;
        // The next call begins with it, so it has the whole time then.
        if late && before > 1_000.0 {
            return Err(LATER.to_owned());
        }
        Ok(Some(Rc::new(document)))
    }
}

async fn starts_with(blob: &Blob, path: &str, magic: &[u8]) -> Result<bool, String> {
    Ok(bytes_of(&part_of(blob, path, 0, magic.len() as u64)?, path).await? == magic)
}

/// Whether a ZIP archive has the name of a document, which it then lacks.
fn named_document(path: &str) -> bool {
    let path = path.to_lowercase();
    [".docx", ".xlsx", ".pptx", ".odt", ".ods", ".odp", ".epub"].iter().any(|end| path.ends_with(end))
}

/// An archive as a document: its list.
fn listed(path: &str, archive: parts::Archive) -> Document {
    let lines: Vec<String> =
        archive.files.iter().map(|file| format!("- {}  {}", file.path, size_text(file.size))).collect();
    let mut notes = archive.notes;
    if let Some(first) = archive.files.first() {
        notes.push(format!("each can be read by its path, such as {path}/{}", first.path));
    }
    let count = archive.files.len();
    Document {
        kind: format!("{}, {count} {}", archive.kind, if count == 1 { "file" } else { "files" }),
        text: lines.join("\n"),
        places: Vec::new(),
        notes,
        files: archive.files,
    }
}

/// The message for a file that is not in an archive.
fn not_inside(archive: &str, path: &str, files: &[PackedFile]) -> String {
    let name = path.rsplit('/').next().unwrap_or(path).to_lowercase();
    let near: Vec<String> = files
        .iter()
        .filter(|file| file.path.to_lowercase().ends_with(&name))
        .take(5)
        .map(|file| format!("{archive}/{}", file.path))
        .collect();
    match near.as_slice() {
        [] => format!("there is no file {path} in {archive}; read_file of {archive} lists its {} files", files.len()),
        near => format!("there is no file {path} in {archive}; did you mean {}?", near.join(", ")),
    }
}

impl Files for WithDocuments<'_> {
    fn list(&self) -> &BTreeMap<String, FileInfo> {
        self.files.list()
    }

    async fn find(&self, path: &str) -> Result<Option<FoundFile>, String> {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a size is a whole number far below 2^53
        let found = |file: LocatedFile| FoundFile {
            info: FileInfo { version: file.version, size: file.blob.size() as u64 },
            packed: file.packed,
        };
        Ok(self.locate(path).await?.map(found))
    }

    async fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        match self.locate(path).await? {
            Some(file) => bytes_of(&file.blob, path).await,
            None => self.files.read(path).await,
        }
    }

    async fn read_part(&self, path: &str, from: u64, to: u64) -> Result<Vec<u8>, String> {
        match self.locate(path).await? {
            Some(file) => bytes_of(&part_of(&file.blob, path, from, to)?, path).await,
            None => self.files.read_part(path, from, to).await,
        }
    }

    async fn decode(&self, bytes: &[u8], label: Option<&str>) -> Result<DecodedText, String> {
        parts::decode(bytes, label).await
    }

    async fn encode(&self, text: &str, encoding: &str) -> Result<Result<Vec<u8>, char>, String> {
        parts::encode(text, encoding).await
    }

    fn write(&mut self, path: String, content: Vec<u8>) {
        self.files.write(path, content);
    }

    async fn document(&self, path: &str) -> Result<Option<Rc<Document>>, String> {
        let Some(file) = self.locate(path).await? else { return Ok(None) };
        if let Some((version, known)) = self.documents.known.borrow().get(path)
            && *version == file.version
        {
            return known.clone();
        }
        if clock() - self.documents.began.get() > ENOUGH_MS {
            return Err(LATER.to_owned());
        }
        let document = self.convert(path, &file).await;
        if document.as_ref().is_err_and(|reason| reason == LATER) {
            return document;
        }
        let mut known = self.documents.known.borrow_mut();
        let text = |(_, known): &(u64, KnownDocument)| {
            known.as_ref().ok().and_then(|d| d.as_ref()).map_or(0, |d| d.text.len())
        };
        if known.values().map(text).sum::<usize>() > MAX_KEPT_TEXT {
            known.clear();
        }
        known.insert(path.to_owned(), (file.version, document.clone()));
        document
    }

    async fn ask(&self, engine: Engine, request: &str, paths: &[&str]) -> Result<String, String> {
        let mut blobs = Vec::new();
        for path in paths {
            blobs.push(self.locate(path).await?.map_or_else(|| self.files.blob(path).cloned(), |file| Ok(file.blob))?);
        }
        engines::ask(engine, request, &blobs).await
    }
}

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = performance, js_name = now)]
    fn clock() -> f64;
}

impl std::fmt::Debug for Complete {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Complete")
    }
}
