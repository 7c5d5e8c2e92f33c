//! The source tree matches the structure that `ARCHITECTURE.md` describes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::support::sources::{Source, crate_names, files, module, rust_sources, text, used_modules, web_crates};

/// A row of the folder table.
struct Folder {
    kind: String,
    may_use: BTreeSet<String>,
}

/// The table under "Map and arrows", keyed by folder.
fn folders() -> BTreeMap<String, Folder> {
    let table = text("ARCHITECTURE.md");
    let rows = table.lines().skip_while(|line| *line != "## Map and arrows").skip(1);
    let rows = rows.take_while(|line| !line.starts_with("## ")).filter(|line| line.starts_with("| `"));
    rows.map(|line| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let may_use = cells[2].split(", ").filter(|name| *name != "-").map(str::to_owned).collect();
        (cells[0].trim_matches('`').to_owned(), Folder { kind: cells[1].to_owned(), may_use })
    })
    .collect()
}

/// Pure files in mixed folders.
const PURE_FILES: &[&str] = &["src/worker/protocol.rs", "src/worker/pool.rs", "src/worker/documents.rs"];

fn is_pure(source: &Source, folders: &BTreeMap<String, Folder>) -> bool {
    let kind = folders.get(source.folder()).map(|folder| folder.kind.as_str());
    kind == Some("pure") || PURE_FILES.contains(&source.path.as_str())
}

#[test]
fn the_table_names_every_folder_of_src_and_no_other() {
    let listed: BTreeSet<String> = folders().into_keys().collect();
    let there: BTreeSet<String> =
        rust_sources("src").iter().map(|source| source.folder().to_owned()).filter(|name| !name.is_empty()).collect();
    assert_eq!(listed, there);
}

#[test]
fn the_table_has_no_cycle_and_pure_folders_use_pure_ones_only() {
    let folders = folders();
    let mut done: BTreeSet<&String> = BTreeSet::new();
    while done.len() < folders.len() {
        let ready: Vec<&String> = folders
            .iter()
            .filter(|(name, folder)| !done.contains(name) && folder.may_use.iter().all(|used| done.contains(used)))
            .map(|(name, _)| name)
            .collect();
        assert!(
            !ready.is_empty(),
            "a cycle among {:?}",
            folders.keys().filter(|n| !done.contains(n)).collect::<Vec<_>>()
        );
        done.extend(ready);
    }
    for (name, folder) in folders.iter().filter(|(_, folder)| folder.kind == "pure") {
        for used in &folder.may_use {
            assert_eq!(folders[used].kind, "pure", "{name} is pure and may not use {used}");
        }
    }
}

/// Checks the table itself, so that it cannot be weakened unnoticed.
#[test]
fn the_engine_uses_nothing_and_the_other_pure_folders_little_more_than_it() {
    for (name, folder) in folders().iter().filter(|(_, folder)| folder.kind == "pure") {
        let most: &[&str] = match name.as_str() {
            "engine" | "content" => &[],
            // It also renders documents and plans from disk, and model facts.
            "view" => &["content", "engine", "files", "llm", "plan", "protocol", "trajectory"],
            "signin" => &["content", "files"], // a response in one line, bytes as base64
            "convert" => &["tools"],           // the documents that tools read
            "plan" => &["engine", "trajectory"], // a plan's record contains the records of its steps' runs
            "docs" => &["engine", "tools"],    // it splits text into words as the file search does
            // It only serializes the data of other folders.
            "protocol" => &["docs", "engine", "plan", "tools", "trajectory"],
            _ => &["engine"],
        };
        assert_eq!(folder.may_use.iter().map(String::as_str).collect::<Vec<_>>(), most, "{name}");
    }
}

#[test]
fn sources_use_the_folders_that_the_table_allows() {
    let folders = folders();
    let mut wrong = Vec::new();
    for source in rust_sources("src").iter().filter(|source| !source.folder().is_empty()) {
        let allowed = &folders[source.folder()].may_use;
        for used in crate_names(source) {
            if folders.contains_key(&used) && used != source.folder() && !allowed.contains(&used) {
                wrong.push(format!("{}: {} may not use {used}", source.path, source.folder()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn pure_sources_name_no_web_crate() {
    let (folders, web) = (folders(), web_crates());
    assert!(web.contains("web_sys") && web.contains("gloo_net"), "{web:?}");
    let mut wrong = Vec::new();
    for source in rust_sources("src").iter().filter(|source| is_pure(source, &folders)) {
        for name in source.words().filter(|word| web.contains(*word)) {
            wrong.push(format!("{}: {name}", source.path));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_files_that_are_named_as_pure_are_there() {
    for path in PURE_FILES {
        assert!(Path::new(path).is_file(), "{path}");
        assert!(text("ARCHITECTURE.md").contains(&format!("`{}`", path.rsplit('/').next().unwrap())), "{path}");
    }
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
    assert!(sections.contains("semantics.md#tool-calls"), "{sections:?}");
    let mut cited = 0;
    for source in rust_sources("src").iter().chain(&rust_sources("tests")) {
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
        rust_sources("src").into_iter().filter(|source| !source.text.starts_with("//!")).map(|s| s.path).collect();
    assert!(silent.is_empty(), "no //! at the top: {silent:?}");
}

#[test]
fn paths_are_found_however_they_are_written() {
    let of = |path: &str, text: &str| {
        let source = Source { path: path.to_owned(), text: text.to_owned() };
        crate_names(&source).into_iter().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(of("src/llm/a.rs", "use crate::engine::Slug;"), "engine");
    assert_eq!(of("src/llm/a.rs", "use crate::{engine, view::{meter, turn}};"), "engine view");
    assert_eq!(of("src/llm/a.rs", "fn f() { crate :: plan::go() }"), "plan");
    assert_eq!(of("src/llm/a.rs", "use super::b; use super::super::tools;"), "tools");
    assert_eq!(of("src/llm/mod.rs", "use super::{tools::now, view};"), "tools view");
    assert_eq!(of("src/llm/demo/mod.rs", "use super::error_body;"), "");
    assert_eq!(of("src/bin/app.rs", "turnwise::ui::mount();"), "ui");
    assert_eq!(
        of("src/llm/a.rs", "// crate::view\n/* crate::ui */ let s = \"crate::shell\"; let c = '\"'; crate::plan::x"),
        "plan"
    );
    assert_eq!(of("src/llm/a.rs", "let s = r#\"crate::ui \" \"#; fn f<'a>(x: &'a str) { crate::view::y }"), "view");
}

/// Files that import each other in a circle have to be read all at once.
#[test]
fn no_files_import_each_other_in_circles() {
    let sources: Vec<Source> = rust_sources("src").into_iter().filter(|source| !source.folder().is_empty()).collect();
    let modules: BTreeSet<String> = sources.iter().map(module).collect();
    let mut uses: BTreeMap<String, BTreeSet<String>> =
        sources.iter().map(|source| (module(source), used_modules(source, &modules))).collect();
    assert!(uses["engine::turn"].contains("engine::run"), "{:?}", uses["engine::turn"]);
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
    assert!(uses.is_empty(), "circles among {:?}", uses.keys().collect::<Vec<_>>());
}

#[test]
fn the_loop_of_a_run_fits_one_screen_and_no_engine_file_imports_by_wildcard() {
    let lines = text("src/engine/turn.rs").lines().count();
    assert!(lines <= 100, "src/engine/turn.rs has {lines} lines");
    for source in rust_sources("src/engine") {
        let wildcard = source.text.lines().any(|line| line.starts_with("use ") && line.ends_with("::*;"));
        assert!(!wildcard, "{}", source.path);
    }
}
