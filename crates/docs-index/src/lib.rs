//! Reads documentation sites that were not prepared for it: finds the texts they ship, reads them, and searches them by
//! section.
//!
//! PURE. The page itself only contains this file: the requests to the worker and its answers. In the worker (feature
//! `docs`), `find` decides which addresses to fetch until it knows where the texts are, one module per format reads
//! them (`mdbook`, `mkdocs`, `sphinx`, `rustdoc`, `pdoc`, `llms`, `sitemap`, `html` with `head`), `charset` says how their
//! bytes are decoded, `nearness` which pages are read first, `moved` where the pages of a list are in this copy of the site, `index` ranks their sections, `tools`
//! contains the three tools and their texts, and `site` ties everything together. What is no page of the site is told by
//! `root` (neighbours), `listings`, `refresh` (pages that lead elsewhere) and `copies` (pages in place of missing ones);
//! `routes` converts addresses of pages that a browser makes of files. `web` reads any single page, of no site. Nothing here fetches: addresses go
//! out, texts come in.
//!
//! Invariants: every requested address has the page's origin; pages, bytes, rounds and depth are bounded; no text of a
//! site causes a panic; a section's address was given by the site itself, is derived as its generator derives it, or is its page's address.

use serde::{Deserialize, Serialize};

pub mod answer;
pub mod charset;
pub mod copies;
pub mod detect;
pub mod find;
pub mod head;
pub mod html;
pub mod index;
pub mod listings;
pub mod llms;
mod marks;
pub mod mdbook;
pub mod mkdocs;
pub mod moved;
pub mod nearness;
pub mod pdoc;
pub mod refresh;
pub mod root;
pub mod routes;
pub mod rustdoc;
pub mod site;
pub mod sitemap;
pub mod sphinx;
pub mod tools;
pub mod url;
pub mod web;

/// Questions about a site. One worker holds one site.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SiteQuery {
    /// Start from a page of the site; answered with a [`SiteStep`].
    Open {
        /// Its address.
        page: String,
        /// Its HTML, if available; otherwise it is fetched first.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        html: Option<String>,
        /// The address of an `llms.txt`, a search index or a site map to read instead of looking for one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        source: Option<String>,
    },
    /// Fetched addresses, with bodies as blobs alongside the text, in order; answered with a [`SiteStep`].
    Take(Vec<FetchedPage>),
    /// The best sections; answered with [`SearchResult`].
    Search { query: String, limit: usize },
    /// A call of one of the tools; answered with [`ToolReply`].
    Call { name: String, arguments: serde_json::Value },
    /// The tools for a site; answered with their `ToolSpec`s.
    Tools,
    /// Everything that was read, to be stored; answered with a text.
    Save,
    /// A stored site, as a blob alongside the text, for a site that was just opened; answered with a [`SiteStep`], or with
    /// `null` if it has another version.
    Load { version: String },
}

/// One fetched address.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FetchedPage {
    /// The requested URL.
    pub url: String,
    /// The address after redirects, if it differs.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub at: String,
    /// 0 if there was no response.
    pub status: u16,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub content_type: String,
    /// `ETag`, or else `Last-Modified`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stamp: String,
    /// The header `X-Robots-Tag`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub robots: String,
    /// The encoding in which the body was read although it declares none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub guessed: String,
    /// Whether a blob came with it.
    #[serde(default)]
    pub body: bool,
}

/// The progress of reading.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename = "DocsStage"))]
#[serde(rename_all = "snake_case")]
pub enum SiteStage {
    /// The location of the texts is not known yet.
    #[default]
    Finding,
    Loading,
    Indexing,
    /// The site can be searched.
    Ready,
}

/// The next step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SiteStep {
    /// Addresses to fetch, in this order; each response goes to [`SiteQuery::Take`] when it arrives.
    pub fetch: Vec<String>,
    pub stage: SiteStage,
    /// The source being read: an address, or the name of a kind of site.
    pub source: String,
    /// Number of pages read, out of `total`.
    pub done: usize,
    pub total: usize,
    /// Set once the stage is [`SiteStage::Ready`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub info: Option<Info>,
    /// Root and version of the site, once they are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<(String, String)>,
    /// Why there is nothing to search, for users. No further steps follow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// The generator of a site.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename = "DocsKind"))]
#[serde(rename_all = "lowercase")]
pub enum SiteKind {
    MdBook,
    MkDocs,
    Sphinx,
    Rustdoc,
    VitePress,
    Docusaurus,
    Starlight,
    VuePress,
    Antora,
    Doxygen,
    Javadoc,
    JsDoc,
    TypeDoc,
    Pdoc,
    Docsify,
    #[default]
    #[serde(rename = "pages")]
    Unknown,
}

/// Information about a site.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename = "DocsInfo"))]
pub struct Info {
    pub kind: SiteKind,
    pub title: String,
    /// Its address, ending with `/`.
    pub root: String,
    /// Number of pages that are known.
    pub pages: usize,
    /// Number of pages whose text was read, those nearest to the open page first; the others are known by their titles.
    #[serde(default)]
    pub read: usize,
    pub sections: usize,
    /// Changes when the site's texts change, as far as that can be detected from outside.
    pub version: String,
    /// Whether it was cached by an earlier visit.
    pub cached: bool,
    /// Whether all its pages within the limits were read.
    pub complete: bool,
    /// Whether only the open page could be read, as the browser shows it: without its scripts, the site gives no text.
    #[serde(default)]
    pub shell: bool,
}

/// A section that was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename = "DocsHit"))]
pub struct SectionHit {
    /// The section's own address, if the site has one for it.
    pub url: String,
    /// Title of its page.
    pub page: String,
    /// Its headings from the page down, joined by ` › `; empty for the page's beginning.
    pub section: String,
    pub snippet: String,
    pub score: f32,
}

/// What a search found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename = "DocsFound"))]
pub struct SearchResult {
    /// The best sections, best first.
    pub hits: Vec<SectionHit>,
    /// The words of the query that occur nowhere in what was read of the site, as they were written.
    pub missing: Vec<String>,
    /// How well the best section fits the query.
    #[serde(rename = "match")]
    pub fit: Match,
}

/// How well the best section fits a query. A guess by its words: a weak match may be the answer in other words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename = "DocsMatch"))]
#[serde(rename_all = "lowercase")]
pub enum Match {
    /// A section is about it.
    Strong,
    /// Its words occur, but no section is about them together: the documentation may not answer this.
    Weak,
    /// No section has any of its words.
    #[default]
    None,
}

/// A section that `search_docs` found or `read_page` read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename = "DocsSection"))]
pub struct SectionAddress {
    /// The section's own address, if the site has one for it.
    pub url: String,
    /// Title of its page.
    pub page: String,
    /// Its headings from the page down, joined by ` › `; empty for the page's beginning.
    pub section: String,
}

/// The `structured_content` of a result of `search_docs`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename = "SearchDocsContent"))]
pub struct SearchContent {
    /// Best first.
    pub hits: Vec<SectionAddress>,
    /// The words of the query that occur nowhere in what was read of the site, as they were written.
    pub missing: Vec<String>,
    /// How well the best section fits the query.
    #[serde(rename = "match")]
    pub fit: Match,
}

/// The `structured_content` of a result of `read_page`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "types", derive(ts_rs::TS), ts(rename = "ReadPageContent"))]
pub struct PageContent {
    pub url: String,
    /// Its title.
    pub page: String,
    /// The sections in the result, in order.
    pub sections: Vec<SectionAddress>,
    /// SHA-256 of the whole page as Markdown, in hexadecimal: two results with the same one read the same text.
    pub sha256: String,
}

/// The result of a tool call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolText {
    pub text: String,
    /// The same as data: [`SearchContent`] or [`PageContent`].
    #[serde(default, rename = "structuredContent", skip_serializing_if = "Option::is_none")]
    pub structured_content: Option<serde_json::Value>,
}

/// The answer to a tool call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolReply {
    /// The result.
    Result(ToolText),
    /// The call was invalid; a message for the model.
    Wrong(String),
    /// Repeat the call once these pages were fetched and taken.
    Fetch(Vec<String>),
}
