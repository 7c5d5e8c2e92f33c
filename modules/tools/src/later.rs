//! What few runs need: its code loads on first use. A build without the feature `split` has it in the worker's module.
//!
//! `.ci/build` splits the linked module at these functions: each group, and what only it uses, becomes a module of its own.

use turnwise_content::markdown::highlight::{self, Highlighter};
use turnwise_content::markdown::parse_with;
use turnwise_demo_model::{DemoRequest, Scripted};
use turnwise_docs_index::site::Site;
use turnwise_docs_index::{FetchedPage, SiteQuery, web};
use turnwise_protocol::record::RecordQuery;
use turnwise_protocol::tool_worker::{ChangedBlocks, DocumentTask, GrowingPart};
use turnwise_record::trajectory::ExportFormat;
use turnwise_view::replay::Viewer;
use turnwise_worker::documents;
use turnwise_worker::growing::Growing;

/// A message for users. Also if the code did not arrive.
#[derive(Debug)]
pub struct Failure(pub String);

impl From<String> for Failure {
    fn from(why: String) -> Self {
        Failure(why)
    }
}

impl From<Failure> for String {
    fn from(Failure(why): Failure) -> Self {
        why
    }
}

#[cfg(feature = "split")]
impl From<wasm_split_helpers::SplitLoaderError> for Failure {
    fn from(_: wasm_split_helpers::SplitLoaderError) -> Self {
        Failure("a part of the tools could not be loaded".to_owned())
    }
}

/// Declares functions that load on first use: their group, and what they return.
macro_rules! later {
    ($($(#[$doc:meta])* $group:ident: $name:ident($($argument:ident: $type:ty),*) -> $answer:ty => $run:expr;)*) => {
        $(
            $(#[$doc])*
            #[cfg(feature = "split")]
            #[allow(unsafe_code)] // the expansion declares what the other module exports
            #[wasm_split_helpers::wasm_split($group, fallible)]
            pub fn $name($($argument: $type),*) -> Result<$answer, Failure> {
                $run
            }

            $(#[$doc])*
            #[cfg(not(feature = "split"))]
            pub async fn $name($($argument: $type),*) -> Result<$answer, Failure> {
                $run
            }
        )*
    };
}

later! {
    markdown: render(text: &str) -> ChangedBlocks => Ok(ChangedBlocks {
        nodes: parse_with(text, &mut Highlighter::default()).as_slice().into(),
        ..ChangedBlocks::default()
    });
    markdown: grow(growing: &mut Growing<Highlighter>, part: GrowingPart, text: &str) -> ChangedBlocks
        => Ok(growing.changes(part, text));
    markdown: figure(separated: bool, text: &str) -> String => Ok(documents::figure(separated, text));
    highlighting: load_grammars() -> () => {
        highlight::load();
        Ok(())
    };
    records: document(task: DocumentTask, text: &str) -> String => Ok(documents::answer(task, text)?);
    records: view(viewer: &mut Option<Viewer>, ask: &RecordQuery, text: Option<&str>) -> String
        => Ok(answer(viewer, ask, text)?);
    exports: export(format: ExportFormat, text: &str) -> String => Ok(documents::exported(format, text)?);
    demo: script(request: &DemoRequest) -> Scripted => Ok(turnwise_demo_model::script(request));
    docs: docs(site: &mut Option<Site>, ask: SiteQuery, texts: Vec<String>) -> String
        => Ok(turnwise_docs_index::answer::answer(site, ask, texts)?);
    docs: page(got: &FetchedPage, text: &str) -> String
        => Ok(serde_json::to_string(&web::read(got, text)).map_err(|error| error.to_string())?);
}

/// Opens a record, or answers a question about the one that is open. `text`: the record to open.
fn answer(open: &mut Option<Viewer>, ask: &RecordQuery, text: Option<&str>) -> Result<String, String> {
    match (ask, open) {
        (RecordQuery::Open, open) => {
            let opened = Viewer::open(text.ok_or("the request came without a record")?);
            let opened = opened.map(|(viewer, opened)| {
                *open = Some(viewer);
                opened
            });
            Ok(serde_json::to_string(&opened).unwrap_or_default())
        }
        (RecordQuery::Compare { before, after }, _) => Ok(Viewer::compare(before, after)),
        (ask, Some(viewer)) => viewer.answer(ask),
        (_, None) => Err("no record is open".to_owned()),
    }
}
