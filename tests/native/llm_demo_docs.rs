//! The demo model with the real tools over the project's own documentation.

use crate::support::demo_world;

use std::collections::BTreeMap;
use std::future::Future;
use std::path::Path;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use serde_json::Value;
use turnwise_engine::EpochMillis;
use turnwise_files::{FileInfo, Files};
use turnwise_tools::search::FileIndex;
use turnwise_tools::{run, safe_set};

use demo_world::Game;

struct Memory<'a> {
    infos: BTreeMap<String, FileInfo>,
    files: &'a mut BTreeMap<String, String>,
}

impl Files for Memory<'_> {
    fn list(&self) -> &BTreeMap<String, FileInfo> {
        &self.infos
    }

    async fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        Ok(self.files[path].clone().into_bytes())
    }

    fn write(&mut self, path: String, content: Vec<u8>) {
        self.files.insert(path, String::from_utf8(content).unwrap());
    }
}

fn real_tool(name: &str, args: &Value, files: &mut BTreeMap<String, String>) -> Result<String, String> {
    let info =
        |(path, content): (&String, &String)| (path.clone(), FileInfo { version: 1, size: content.len() as u64 });
    let mut memory = Memory { infos: files.iter().map(info).collect(), files };
    let mut index = FileIndex::default();
    let answer = pin!(run(name, args, &mut memory, &mut index, EpochMillis(1_795_301_344_000)));
    match answer.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(answer) => answer,
        Poll::Pending => panic!("{name} waited for nothing"),
    }
}

fn docs() -> BTreeMap<String, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    let pages = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "md"));
    pages
        .map(|path| {
            let name = format!("docs/{}", path.file_name().unwrap().to_str().unwrap());
            (name, std::fs::read_to_string(path).unwrap())
        })
        .collect()
}

#[test]
fn questions_about_the_project_are_answered_from_its_documentation() {
    // The question, the file that must be quoted first, a word in the quote.
    let cases = [
        ("What happens when a run reaches its turn limit? Find it in the files and name the file.", "docs/", "limit"),
        ("When turns are short, what does it skip?", "docs/demo-model.md", "it skips what it can do without"),
        ("How does Ollama allow the origin of the page?", "docs/", "OLLAMA_ORIGINS"),
        ("How many characters does the demo model count as one token?", "docs/demo-model.md", "4 characters"),
    ];
    for (task, path, word) in cases {
        let played = Game { tools: safe_set(), run_tool: real_tool, ..Game::new(docs()) }.ask(task);
        let content = &played.reply.content;
        assert!(played.turns.len() >= 3, "{task}: {} tool turns", played.turns.len());
        assert!(content.split('`').nth(1).unwrap_or_default().starts_with(path), "{task}\n{content}");
        assert!(content.contains(word), "{task}\n{content}");
    }
}

#[test]
fn pages_of_a_site_that_were_read_as_markdown_are_quoted_without_their_headings() {
    let text = "# Limits\n\n## At the turn limit\n\nAt the turn limit a last request\nasks for a conclusion.\n\nMore in `<turnwise-agent>`.\n";
    let files = BTreeMap::from([("limits.html".to_owned(), text.to_owned())]);
    let played =
        Game { tools: safe_set(), run_tool: real_tool, ..Game::new(files) }.ask("What is asked for at the turn limit?");
    let content = &played.reply.content;
    let quote =
        "`limits.html`** under \"At the turn limit\":\n\n> At the turn limit a last request asks for a conclusion.";
    assert!(content.contains(quote), "{content}");
}

#[test]
fn pages_of_a_site_with_clean_addresses_are_quoted_by_their_names() {
    let text = "# Install\n\n## Linux\n\nOn Linux, unpack the archive and run the installer.\n";
    let files =
        BTreeMap::from([("install".to_owned(), text.to_owned()), ("index.html".to_owned(), "# Lamps\n".to_owned())]);
    let played =
        Game { tools: safe_set(), run_tool: real_tool, ..Game::new(files) }.ask("How do I install it on Linux?");
    let content = &played.reply.content;
    assert!(content.contains("`install`** under \"Linux\":\n\n> On Linux, unpack the archive"), "{content}");
}
