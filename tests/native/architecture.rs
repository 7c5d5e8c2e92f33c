//! The source tree matches the structure that `ARCHITECTURE.md` describes. Cargo keeps the arrows between crates.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use crate::support::sources::{Source, files, module, rust_sources, text, used_modules};

/// The crates that only run in a browser, and what they are made of.
const WEB: &[&str] = &["wasm-bindgen", "js-sys", "web-sys", "gloo", "leptos", "indexed_db_futures"];

/// The tables under "Map and arrows": what each crate and each folder of `src` may use.
fn map() -> BTreeMap<String, BTreeSet<String>> {
    let table = text("ARCHITECTURE.md");
    let rows = table.lines().skip_while(|line| *line != "## Map and arrows").skip(1);
    let rows = rows.take_while(|line| !line.starts_with("## ")).filter(|line| line.starts_with("| `"));
    rows.map(|line| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let used = cells[1].split(", ").filter(|name| *name != "-").map(str::to_owned).collect();
        (cells[0].trim_matches('`').to_owned(), used)
    })
    .collect()
}

fn folders(of: &str) -> BTreeSet<String> {
    let folders = std::fs::read_dir(of).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir());
    folders.map(|path| path.to_str().unwrap().to_owned()).collect()
}

/// The crates of this workspace that a manifest names as dependencies, not those for tests.
fn crates_used(manifest: &str) -> BTreeSet<String> {
    let text = text(manifest);
    let lines = text.lines().take_while(|line| *line != "[dev-dependencies]");
    lines
        .filter_map(|line| line.strip_prefix("turnwise-")?.strip_suffix(".workspace = true"))
        .map(str::to_owned)
        .collect()
}

#[test]
fn the_map_names_every_crate_and_every_folder_of_src_and_what_they_use() {
    let map = map();
    let listed: BTreeSet<String> = map.keys().cloned().collect();
    let there: BTreeSet<String> = folders("crates").into_iter().chain(folders("src")).collect();
    assert_eq!(listed, there);
    for (path, used) in &map {
        if path.starts_with("crates/") {
            assert_eq!(*used, crates_used(&format!("{path}/Cargo.toml")), "{path}");
        }
    }
    for path in folders("modules") {
        assert!(text("ARCHITECTURE.md").contains(&format!("`{path}`")), "{path}");
    }
}

#[test]
fn folders_of_src_use_the_folders_that_the_map_allows() {
    let map = map();
    let sources = rust_sources("src");
    let modules: BTreeSet<String> = sources.iter().map(module).collect();
    let mut wrong = Vec::new();
    for source in &sources {
        let own = module(source);
        let Some(own) = own.split("::").next().filter(|own| !own.is_empty()) else { continue };
        for used in used_modules(source, &modules) {
            let used = used.split("::").next().unwrap_or_default();
            if used != own && !map[&format!("src/{own}")].contains(used) {
                wrong.push(format!("{}: {own} may not use {used}", source.path));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Pure: every crate but those that run in a browser.
#[test]
fn no_pure_crate_has_a_web_crate_below_it() {
    for path in folders("crates").iter().filter(|path| !["crates/ui", "crates/worker"].contains(&path.as_str())) {
        let name = path.replace("crates/", "turnwise-");
        let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
        let tree = Command::new(cargo)
            .args(["tree", "--locked", "--package", &name, "--edges", "normal", "--prefix", "none"])
            .args(["--target", "wasm32-unknown-unknown", "--format", "{p}"])
            .output()
            .unwrap();
        let tree = String::from_utf8(tree.stdout).unwrap();
        assert!(tree.starts_with(&name), "{name}: {tree}");
        let web: Vec<&str> = tree.lines().filter(|line| WEB.iter().any(|web| line.starts_with(web))).collect();
        assert!(web.is_empty(), "{name}: {web:?}");
    }
}

fn all_sources() -> Vec<Source> {
    ["src", "crates", "modules"].into_iter().flat_map(rust_sources).collect()
}

/// Comments cite a rule as `page.md#section`, a page and a section of `docs`.
#[test]
fn every_rule_that_a_comment_cites_is_a_section_of_the_docs() {
    let slug = |heading: &str| -> String {
        let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        kept.collect::<String>().trim().to_lowercase().replace(' ', "-")
    };
    let sections: BTreeSet<String> = files("docs", ".md")
        .iter()
        .flat_map(|path| {
            let page = path.trim_start_matches("docs/").to_owned();
            let text = text(path);
            let headings: Vec<String> =
                text.lines().filter(|line| line.starts_with('#')).map(|l| slug(l.trim_start_matches('#'))).collect();
            headings.into_iter().map(move |heading| format!("{page}#{heading}"))
        })
        .collect();
    assert!(sections.contains("tool-calls.md#tool-calls"), "{sections:?}");
    let mut cited = 0;
    for source in all_sources().iter().chain(&rust_sources("tests")) {
        for (page, rest) in source.text.split(".md#").zip(source.text.split(".md#").skip(1)) {
            let is_name = |c: char| c.is_ascii_lowercase() || c == '-';
            let page = &page[page.rfind(|c| !is_name(c)).map_or(0, |at| at + 1)..];
            let section = &rest[..rest.find(|c: char| !is_name(c) && !c.is_ascii_digit()).unwrap_or(rest.len())];
            if Path::new(&format!("docs/{page}.md")).is_file() && !source.path.contains("native/docs") {
                assert!(sections.contains(&format!("{page}.md#{section}")), "{}: {page}.md#{section}", source.path);
                cited += 1;
            }
        }
        let old = concat!("SEMANTICS", " ");
        assert!(!source.text.contains(old), "{}: cites a rule by its number", source.path);
    }
    assert!(cited > 50, "{cited}");
}

#[test]
fn every_module_says_what_it_owns() {
    let silent: Vec<String> =
        all_sources().into_iter().filter(|source| !source.text.starts_with("//!")).map(|s| s.path).collect();
    assert!(silent.is_empty(), "no //! at the top: {silent:?}");
}

/// Files that import each other in a circle have to be read all at once.
#[test]
fn no_files_import_each_other_in_circles() {
    let roots = folders("crates").into_iter().chain(folders("modules")).map(|path| format!("{path}/src"));
    for root in roots.chain(["src".to_owned()]) {
        let sources: Vec<Source> = rust_sources(&root).into_iter().filter(|one| !module(one).is_empty()).collect();
        let modules: BTreeSet<String> = sources.iter().map(module).collect();
        let mut uses: BTreeMap<String, BTreeSet<String>> =
            sources.iter().map(|source| (module(source), used_modules(source, &modules))).collect();
        assert!(root != "crates/engine/src" || uses["turn"].contains("run"), "{:?}", uses["turn"]);
        // What is not part of a circle goes away: first what uses nothing that is left, then what is used by nothing.
        loop {
            let before = uses.len();
            let left: BTreeSet<String> = uses.keys().cloned().collect();
            uses.retain(|_, used| used.iter().any(|name| left.contains(name)));
            let used: BTreeSet<String> = uses.values().flatten().cloned().collect();
            uses.retain(|name, _| used.contains(name));
            if uses.len() == before {
                break;
            }
        }
        assert!(uses.is_empty(), "{root}: circles among {:?}", uses.keys().collect::<Vec<_>>());
    }
}

#[test]
fn the_loop_of_a_run_fits_one_screen_and_no_engine_file_imports_by_wildcard() {
    let lines = text("crates/engine/src/turn.rs").lines().count();
    assert!(lines <= 100, "crates/engine/src/turn.rs has {lines} lines");
    for source in rust_sources("crates/engine/src") {
        let wildcard = source.text.lines().any(|line| line.starts_with("use ") && line.ends_with("::*;"));
        assert!(!wildcard, "{}", source.path);
    }
}
