//! How well the docs agent finds what visitors ask: reads built sites from folders, as a static server below `/docs/` would
//! serve them, and searches for each question of `tests/sites/visitors`, both halves. A quick native look while the search is
//! changed; `make test-sites` measures the same in a browser.
//!
//! ```sh
//! cargo run --profile quick -p turnwise-docs-index --example recall -- target/test-sites/*/site
//! ```
//!
//! `-v` lists what was missed of the tuned half, with the place of the right section; what is missed of the held half is never
//! printed. `--texts FOLDER` writes what was read of each site there, and reads it from there the next time: then the whole
//! measurement takes a second or two. A site that a browser renders (`client`) is read from its first page as rendered, if the
//! folder in the variable RENDERED has it as `<kind>.html`.
#![allow(clippy::print_stdout, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::{Value, json};
use turnwise_docs_index::index::{PageText, SiteIndex};
use turnwise_docs_index::routes::Routes;
use turnwise_docs_index::site::Site;
use turnwise_docs_index::{FetchedPage, Match, SiteStage, SiteStep};

const BASE: &str = "http://docs.test/docs/";
/// The halves of the questions: the first may be tuned on.
const HALVES: [&str; 2] = ["tuned", "held"];
const WAYS: [&str; 2] = ["keywords", "sentence"];
/// How far down the right section is looked for.
const DEPTH: usize = 50;

fn main() {
    let mut folders = Vec::new();
    let (mut verbose, mut texts) = (false, None);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "-v" => verbose = true,
            "--texts" => texts = Some(PathBuf::from(arguments.next().expect("--texts takes a folder"))),
            folder => folders.push(PathBuf::from(folder)),
        }
    }
    let mut all = [PassageCounts::default(), PassageCounts::default()];
    for folder in &folders {
        let kind = folder.parent().and_then(Path::file_name).and_then(|name| name.to_str()).expect("…/<kind>/site");
        let sections = Sections::of(kind, folder, texts.as_deref());
        for (half, all) in HALVES.iter().zip(&mut all) {
            let path = format!("{}/../../tests/sites/visitors/{half}/{kind}.json", env!("CARGO_MANIFEST_DIR"));
            let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
            let questions: Vec<Value> = serde_json::from_str(&text).expect("questions");
            let counts = measure(&sections, &questions, verbose && *half == "tuned");
            println!("{}", counts.line(kind, half));
            all.add(&counts);
        }
    }
    HALVES.iter().zip(&all).for_each(|(half, counts)| println!("{}", counts.line("all", half)));
}

/// By keywords and by sentence.
#[derive(Default)]
struct PassageCounts {
    /// Questions that the site answers, how many were found among the first three, and the sum of 1 / place.
    answered: usize,
    found: [usize; 2],
    places: [f64; 2],
    /// Of those with two pages: both found.
    pairs: usize,
    both: [usize; 2],
    /// Answered questions that were called weak.
    doubted: [usize; 2],
    /// Questions without an answer, and how many were called weak.
    absent: usize,
    told: [usize; 2],
    /// Time of all searches, in microseconds.
    micros: u128,
}

impl PassageCounts {
    fn add(&mut self, other: &PassageCounts) {
        self.answered += other.answered;
        self.pairs += other.pairs;
        self.absent += other.absent;
        self.micros += other.micros;
        for way in 0..WAYS.len() {
            self.found[way] += other.found[way];
            self.places[way] += other.places[way];
            self.both[way] += other.both[way];
            self.doubted[way] += other.doubted[way];
            self.told[way] += other.told[way];
        }
    }

    fn line(&self, name: &str, half: &str) -> String {
        let share = |count: usize| 100.0 * count as f64 / self.answered.max(1) as f64;
        let place = |way: usize| self.places[way] / self.answered.max(1) as f64;
        format!(
            "{name:10} {half:5} in three: keywords {:3}/{:3} {:4.1} % ({:.3}), sentence {:3}/{:3} {:4.1} % ({:.3}); both {},{}/{}; \
             told {},{}/{}; doubted {},{}; {} ms",
            self.found[0],
            self.answered,
            share(self.found[0]),
            place(0),
            self.found[1],
            self.answered,
            share(self.found[1]),
            place(1),
            self.both[0],
            self.both[1],
            self.pairs,
            self.told[0],
            self.told[1],
            self.absent,
            self.doubted[0],
            self.doubted[1],
            self.micros / 1000
        )
    }
}

fn measure(sections: &Sections, questions: &[Value], verbose: bool) -> PassageCounts {
    let mut counts = PassageCounts::default();
    for question in questions {
        let targets = |name: &str| -> Vec<(String, String)> {
            let one = question[name].as_str().into_iter();
            let many = question[name].as_array().into_iter().flatten().filter_map(Value::as_str);
            one.chain(many).map(|target| place(&format!("{BASE}{target}"))).collect()
        };
        let (absent, pair) = (question["absent"] == true, targets("both"));
        counts.absent += usize::from(absent);
        counts.pairs += usize::from(!pair.is_empty());
        counts.answered += usize::from(!absent && pair.is_empty());
        for (way, name) in WAYS.iter().enumerate() {
            let asked = question[*name].as_str().expect("text");
            let began = Instant::now();
            let (hits, fit) = sections.search(asked, 3);
            counts.micros += began.elapsed().as_micros();
            let weak = fit != Match::Strong;
            if absent {
                counts.told[way] += usize::from(weak);
                if verbose && !weak {
                    println!("  not told ({name}): {asked}");
                }
                continue;
            }
            counts.doubted[way] += usize::from(weak);
            if verbose && weak {
                println!("  doubted ({name}): {asked}");
            }
            let places: Vec<(String, String)> = hits.iter().map(|url| place(url)).collect();
            if !pair.is_empty() {
                counts.both[way] += usize::from(pair.iter().all(|target| places.contains(target)));
                continue;
            }
            let right = [targets("url"), targets("also")].concat();
            let deep = sections.search(asked, DEPTH).0;
            let at = deep.iter().position(|url| right.contains(&place(url)));
            counts.places[way] += at.map_or(0.0, |at| 1.0 / (at + 1) as f64);
            let is_found = places.iter().any(|place| right.contains(place));
            counts.found[way] += usize::from(is_found);
            if verbose && !is_found {
                let got: Vec<&str> = hits.iter().map(|url| url.trim_start_matches(BASE)).collect();
                let at = at.map_or("not in 50".to_owned(), |at| format!("place {}", at + 1));
                println!("  missed ({name}): {asked}\n     wanted {} ({at}), got {}", question["url"], got.join("  "));
            }
        }
    }
    counts
}

/// What is searched of a site.
struct Sections {
    index: SiteIndex,
    routes: Routes,
}

impl Sections {
    fn of(kind: &str, folder: &Path, texts: Option<&Path>) -> Self {
        let file = texts.map(|texts| texts.join(format!("{kind}.json")));
        let front = front(kind);
        if let Some(saved) = file.as_ref().and_then(|file| std::fs::read(file).ok()) {
            let (root, home, routes, pages): (String, String, Routes, Vec<(PageText, bool)>) =
                serde_json::from_slice(&saved).expect("what --texts wrote");
            let mut index = SiteIndex::new(&root, &home);
            pages.into_iter().for_each(|(page, whole)| index.add(page, whole));
            return Sections { index, routes };
        }
        let began = Instant::now();
        let site = read(folder, &front, fallback(kind));
        let (info, took) = (site.info(), began.elapsed().as_millis());
        println!(
            "{kind:10} {:?}, {} pages, {} sections, complete {}, {took} ms",
            info.kind, info.pages, info.sections, info.complete
        );
        let home = site.routes().file(&front);
        let pages: Vec<(PageText, bool)> = site.index().texts().collect();
        if let Some(file) = file {
            std::fs::write(file, json!((&info.root, &home, site.routes(), &pages)).to_string())
                .expect("the folder of --texts");
        }
        let mut index = SiteIndex::new(&info.root, &home);
        pages.into_iter().for_each(|(page, whole)| index.add(page, whole));
        Sections { index, routes: site.routes().clone() }
    }

    /// The addresses of the best sections, and how well the best one fits.
    fn search(&self, asked: &str, limit: usize) -> (Vec<String>, Match) {
        let found = self.index.search(asked, limit);
        (found.hits.iter().map(|hit| self.routes.shown(&hit.url)).collect(), found.fit)
    }
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
    while let Some(url) = queue.pop_front() {
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
    site
}

fn file(folder: &Path, url: &str) -> Option<PathBuf> {
    let path = url.strip_prefix(BASE)?.split(['#', '?']).next()?;
    let path = folder.join(path);
    let path = if path.is_dir() { path.join("index.html") } else { path };
    path.is_file().then_some(path)
}
