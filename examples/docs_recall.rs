//! How well the docs agent finds what visitors ask: reads a built site from a folder, as a static server below `/docs/` would
//! serve it, and searches for each question of `tests/sites/visitors`. A quick native look while the search is changed;
//! `make test-sites` measures the same in a browser.
//!
//! ```sh
//! cargo run --release --example docs_recall -- tuned target/test-sites/mdbook/site
//! ```
//!
//! `-v` lists what was missed. A site that a browser renders (`client`) is read from its first page as rendered, if the folder
//! in the variable RENDERED has it as `<kind>.html`.
#![allow(clippy::print_stdout, clippy::expect_used, clippy::indexing_slicing)]

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::Value;
use turnwise_docs_index::site::Site;
use turnwise_docs_index::{FetchedPage, Match, SiteStage, SiteStep};

const BASE: &str = "http://docs.test/docs/";

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let verbose = arguments.iter().any(|argument| argument == "-v");
    let mut arguments = arguments.iter().filter(|argument| *argument != "-v");
    let set = arguments.next().expect("tuned or held");
    let mut all = Counts::default();
    for folder in arguments {
        all.add(&measure(set, Path::new(folder), verbose));
    }
    println!("{}", all.line("all"));
}

#[derive(Default)]
struct Counts {
    /// Questions that the site answers, and how many were found by keywords and by sentence; of those with two pages, both.
    answered: [usize; 3],
    both: [usize; 3],
    /// Answered questions that were called weak, by keywords and by sentence.
    doubted: [usize; 2],
    /// Questions without an answer, and how many were called weak, by keywords and by sentence.
    absent: [usize; 3],
}

impl Counts {
    fn add(&mut self, other: &Counts) {
        let sum = |to: &mut [usize], from: &[usize]| to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
        sum(&mut self.answered, &other.answered);
        sum(&mut self.both, &other.both);
        sum(&mut self.doubted, &other.doubted);
        sum(&mut self.absent, &other.absent);
    }

    fn line(&self, name: &str) -> String {
        let [n, keywords, sentence] = self.answered;
        let [two, two_keywords, two_sentence] = self.both;
        let [none, none_keywords, none_sentence] = self.absent;
        format!(
            "{name:12} section in three: {keywords}/{n} keywords, {sentence}/{n} sentence; both of two: {two_keywords}/{two}, \
             {two_sentence}/{two}; not there and told: {none_keywords}/{none}, {none_sentence}/{none}; doubted: {}, {}",
            self.doubted[0], self.doubted[1]
        )
    }
}

fn measure(set: &str, folder: &Path, verbose: bool) -> Counts {
    let kind =
        folder.parent().and_then(Path::file_name).and_then(|name| name.to_str()).expect("…/<kind>/site").to_owned();
    let path = format!("{}/tests/sites/visitors/{set}/{kind}.json", env!("CARGO_MANIFEST_DIR"));
    let Ok(text) = std::fs::read_to_string(&path) else {
        println!("{kind:12} no questions at {path}");
        return Counts::default();
    };
    let questions: Vec<Value> = serde_json::from_str(&text).expect("questions");
    let began = Instant::now();
    let site = read(folder, &front(&kind), fallback(&kind));
    let took = began.elapsed().as_millis();
    let info = site.info();
    println!(
        "{kind:12} {:?}, {} pages, {} sections, complete {}, {took} ms, {}",
        info.kind, info.pages, info.sections, info.complete, info.root
    );
    let mut counts = Counts::default();
    for question in &questions {
        for (way, name) in ["keywords", "sentence"].iter().enumerate() {
            let asked = question[*name].as_str().expect("text");
            let found = site.search(asked, 3);
            let weak = found.fit != Match::Strong;
            let found = found.hits;
            let places: Vec<(String, String)> = found.iter().map(|hit| place(&hit.url)).collect();
            let is_found =
                |target: &Value| places.contains(&place(&format!("{BASE}{}", target.as_str().expect("an address"))));
            if question["absent"] == true {
                counts.absent[0] += usize::from(way == 0);
                counts.absent[way + 1] += usize::from(weak);
                if verbose && !weak {
                    println!("  not told ({name}): {asked}");
                }
                continue;
            }
            counts.doubted[way] += usize::from(weak);
            if verbose && weak {
                println!("  doubted ({name}): {asked}");
            }
            if let Some(both) = question["both"].as_array() {
                counts.both[0] += usize::from(way == 0);
                counts.both[way + 1] += usize::from(both.iter().all(is_found));
                continue;
            }
            let right = is_found(&question["url"]) || question["also"].as_array().into_iter().flatten().any(is_found);
            counts.answered[0] += usize::from(way == 0);
            counts.answered[way + 1] += usize::from(right);
            if verbose && !right {
                println!(
                    "  missed ({name}): {asked}\n     wanted {}, got {}",
                    question["url"],
                    found.iter().map(|hit| hit.url.trim_start_matches(BASE)).collect::<Vec<_>>().join("  ")
                );
            }
        }
    }
    println!("{}", counts.line(&kind));
    counts
}

/// Where visitors begin, if not at the root.
fn front(kind: &str) -> String {
    let page = match kind {
        "rustdoc" => "tokio/index.html",
        "docusaurus" => "api/Client/",
        "starlight" => "commands/npm/",
        "pdoc" => "boltons.html",
        "antora" => "git/2.39/git.html",
        _ => "",
    };
    format!("{BASE}{page}")
}

fn place(address: &str) -> (String, String) {
    // docsify's routes are fragments.
    let (page, anchor) = match address.split_once("#/") {
        Some((_, route)) => route.split_once("?id=").unwrap_or((route, "")),
        None => address.split_once('#').unwrap_or((address, "")),
    };
    let page = page.trim_start_matches(BASE).trim_end_matches(".html").trim_end_matches("index").trim_end_matches('/');
    (page.to_owned(), anchor.to_owned())
}

/// The file that a server answers where a kind's site has none, as in `kinds.mjs`.
fn fallback(kind: &str) -> Option<&'static str> {
    (kind == "client").then_some("index.html")
}

fn read(folder: &Path, front: &str, fallback: Option<&str>) -> Site {
    let text = |path: &Path| std::fs::read(path).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let rendered = std::env::var("RENDERED").ok().and_then(|all| {
        let kind = folder.parent()?.file_name()?.to_str()?.to_owned();
        text(&Path::new(&all).join(format!("{kind}.html")))
    });
    let html = rendered.or_else(|| file(folder, front).and_then(|path| text(&path)));
    let (mut site, step) = Site::open(front, html.as_deref(), None);
    let mut queue: VecDeque<String> = step.fetch.clone().into();
    let mut last: SiteStep = step;
    let mut requests = 0;
    while let Some(url) = queue.pop_front() {
        requests += 1;
        let path = file(folder, &url).or_else(|| Some(folder.join(fallback?)));
        let text = path.as_ref().and_then(|path| text(path));
        let status = if text.is_some() { 200 } else { 404 };
        let at = if path.is_some_and(|path| path.is_dir()) { format!("{url}/") } else { url.clone() };
        last = site
            .take(&FetchedPage { url, at, status, body: text.is_some(), ..FetchedPage::default() }, text.as_deref());
        queue.extend(last.fetch.iter().cloned());
    }
    if last.stage != SiteStage::Ready {
        println!("not ready: {:?}", last.error);
    }
    println!("{requests} requests, from {}", last.source);
    site
}

fn file(folder: &Path, url: &str) -> Option<PathBuf> {
    let path = url.strip_prefix(BASE)?.split(['#', '?']).next()?;
    let path = folder.join(path);
    let path = if path.is_dir() { path.join("index.html") } else { path };
    path.is_file().then_some(path)
}
