//! How often the right section is among the first three, for a built site and a list of questions. Not a test by itself:
//! it needs a site. `SITE=folder QUESTIONS=file.json cargo nextest run --features worker --test docs_sites_recall
//! --run-ignored all --no-capture`; the file is `[{"question": …, "url": …}]`, addresses relative to the folder.
#![cfg(all(not(target_arch = "wasm32"), feature = "worker"))]
#![allow(clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::unwrap_used)]

use std::path::{Path, PathBuf};

use turnwise::docs::site::Site;
use turnwise::docs::{Got, Stage};

/// Where the folder is served.
const ORIGIN: &str = "http://site.test";

fn file_of(folder: &Path, base: &str, url: &str) -> Option<PathBuf> {
    let path = url.strip_prefix(ORIGIN)?.strip_prefix(base)?;
    let at = folder.join(path.trim_start_matches('/'));
    let tries =
        [at.join("index.html"), at.with_extension(at.extension().map_or("html".into(), |e| e.to_owned())), at.clone()];
    let html = PathBuf::from(format!("{}.html", at.display()));
    tries.into_iter().chain([html]).find(|file| file.is_file())
}

fn fetched(folder: &Path, base: &str, url: &str) -> (Got, Option<String>) {
    let text = file_of(folder, base, url).and_then(|file| std::fs::read(file).ok());
    let text = text.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let status = if text.is_some() { 200 } else { 404 };
    (Got { url: url.to_owned(), status, body: text.is_some(), ..Got::default() }, text)
}

#[test]
#[ignore = "needs SITE and QUESTIONS"]
fn recall() {
    let folder = PathBuf::from(std::env::var("SITE").expect("SITE: the folder of a built site"));
    let base = std::env::var("BASE").unwrap_or_else(|_| "/".to_owned());
    let first = std::env::var("PAGE").unwrap_or_else(|_| "index.html".to_owned());
    let page = format!("{ORIGIN}{base}{first}");
    let (_, html) = fetched(&folder, &base, &page);
    let html = html.expect("the site's first page");
    let begin = std::time::Instant::now();
    let (mut site, mut step) = Site::open(&page, Some(&html), None);
    let mut ready = None;
    let mut queue = std::mem::take(&mut step.fetch);
    let mut asked = 0;
    while !queue.is_empty() {
        let url = queue.remove(0);
        asked += 1;
        let (got, text) = fetched(&folder, &base, &url);
        if std::env::var("TRACE").is_ok() {
            println!("  {} {url}", got.status);
        }
        step = site.take(&got, text.as_deref());
        queue.extend(std::mem::take(&mut step.fetch));
        if ready.is_none() && step.stage == Stage::Ready {
            ready = Some((begin.elapsed(), asked));
        }
    }
    println!("{:?}", site.info());
    println!("ready {ready:?}, whole after {:?} and {asked} requests; error {:?}", begin.elapsed(), step.error);
    if let Ok(query) = std::env::var("QUERY") {
        for hit in site.search(&query, 6) {
            println!("{:6.2} {} | {} | {}\n       {}", hit.score, hit.url, hit.page, hit.section, hit.snippet);
        }
    }
    let Ok(questions) = std::env::var("QUESTIONS") else { return };
    let questions: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(questions).unwrap()).unwrap();
    let (mut found, mut on_page, mut all) = (0, 0, 0);
    for question in questions.as_array().expect("an array of questions") {
        let (text, url) = (question["question"].as_str().unwrap(), question["url"].as_str().unwrap());
        let wanted = normal(&turnwise::docs::url::join(&format!("{ORIGIN}{base}"), url).unwrap());
        let hits = site.search(text, 3);
        let hit = hits.iter().any(|hit| normal(&hit.url) == wanted);
        let page = |url: &str| url.split('#').next().unwrap_or_default().to_owned();
        on_page += usize::from(hits.iter().any(|hit| page(&normal(&hit.url)) == page(&wanted)));
        found += usize::from(hit);
        all += 1;
        if !hit {
            let got: Vec<String> = hits.iter().map(|hit| format!("{} ({:.1})", hit.url, hit.score)).collect();
            println!("MISSED {text}\n  wanted {wanted}\n  got    {}", got.join("\n         "));
        }
    }
    println!("recall@3 {found}/{all}, right page {on_page}/{all}");
}

/// One way to write an address.
fn normal(url: &str) -> String {
    let (page, fragment) = url.split_once('#').unwrap_or((url, ""));
    let page = turnwise::docs::url::key(page);
    if fragment.is_empty() { page } else { format!("{page}#{fragment}") }
}
