//! Ranked search over the workspace, its index and its snippets.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use crate::support::work::Work;
use turnwise_files::{FileInfo, Files};
use turnwise_tools::rank::Ranks;
use turnwise_tools::search::{FileIndex, search_files};
use turnwise_tools::terms::{names, terms};

#[derive(Default)]
struct Memory {
    infos: BTreeMap<String, FileInfo>,
    contents: BTreeMap<String, Vec<u8>>,
    reads: RefCell<usize>,
    version: u64,
}

impl Memory {
    fn with(files: &[(&str, &str)]) -> Self {
        let mut memory = Memory::default();
        files.iter().for_each(|(path, content)| memory.put(path, content));
        memory
    }

    fn put(&mut self, path: &str, content: &str) {
        self.version += 1;
        self.infos.insert(path.into(), FileInfo { version: self.version, size: content.len() as u64 });
        self.contents.insert(path.into(), content.into());
    }
}

impl Files for Memory {
    fn list(&self) -> &BTreeMap<String, FileInfo> {
        &self.infos
    }

    async fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        *self.reads.borrow_mut() += 1;
        Ok(self.contents[path].clone())
    }

    fn write(&mut self, _: String, _: Vec<u8>) {}
}

fn search_with(files: &Memory, index: &mut FileIndex, query: &str, limit: Option<usize>) -> String {
    let found = pin!(search_files(files, index, query, limit)).poll(&mut Context::from_waker(Waker::noop()));
    let Poll::Ready(found) = found else { panic!("a search waited for nothing") };
    found.unwrap_or_else(|error| error)
}

fn search(files: &[(&str, &str)], query: &str) -> String {
    search_with(&Memory::with(files), &mut FileIndex::default(), query, None)
}

/// The paths and lines of the hits, in order.
fn hits(found: &str) -> Vec<&str> {
    found.lines().filter_map(|line| line.split_once("  ")).map(|(at, _)| at).collect()
}

#[test]
fn a_hit_is_path_line_score_and_snippet() {
    let found = search(&[("docs/a.md", "# Cats\n\nA cat sleeps.\nIt eats \"fish\" daily.\n")], "fish");
    let (at, rest) = found.split_once("  ").unwrap();
    let (score, snippet) = rest.split_once("  ").unwrap();
    assert_eq!(at, "docs/a.md:4");
    assert!(score.parse::<f32>().unwrap() > 0.0, "{score}");
    assert_eq!(snippet, "\"It eats 'fish' daily.\"");
}

#[test]
fn the_better_match_comes_first() {
    let filler = "Other words stand here, of no use to anyone who looks for something.\n";
    let files = [
        ("a.md", &*format!("{filler}The timeout is mentioned once.\n{filler}{filler}")),
        ("b.md", "Retry timeout: the retry timeout is 30 seconds.\n"),
        ("c.md", &*filler.repeat(4)),
    ];
    assert_eq!(hits(&search(&files, "retry timeout")), ["b.md:1", "a.md:2"]);
}

#[test]
fn rare_words_weigh_more_than_common_ones() {
    let mut files: Vec<(String, String)> =
        (0..20).map(|n| (format!("f{n:02}.md"), "The server has a configuration file.".to_owned())).collect();
    files.push(("z.md".into(), "The zeppelin has a gondola.".into()));
    let files: Vec<(&str, &str)> = files.iter().map(|(p, c)| (p.as_str(), c.as_str())).collect();
    assert_eq!(hits(&search(&files, "server zeppelin"))[0], "z.md:1");
}

#[test]
fn filler_words_of_other_languages_do_not_carry_a_match() {
    // The first has the question's filler words, the second what is asked.
    let cases = [
        ("wie kann ich mein passwort ändern", "Ich frage mich, wie ich mein Boot lackieren kann", "Passwort ändern"),
        ("pourquoi je ne peux pas voir mon image", "Je ne peux pas dire pourquoi mon chat dort", "Voir une image"),
        ("cómo puedo cambiar mi contraseña", "No sé cómo puedo lavar a mi gato", "Cambiar la contraseña"),
        ("perché posso aprire questo file", "Voglio sapere perché posso amare questo gatto", "Aprire un file"),
        ("como posso mudar minha senha", "Não sei como posso pintar minha casa", "Mudar a senha"),
        ("как мне изменить мой пароль", "Как мне покрасить мой дом", "Изменить пароль"),
    ];
    for (question, story, answer) in cases {
        let mut ranks = Ranks::default();
        for section in 0..100_u32 {
            ranks.add(section, [&terms("page"), &[], &terms("several words that are the same everywhere")]);
        }
        ranks.add(100, [&terms("page"), &[], &terms(story)]);
        ranks.add(101, [&terms("page"), &[], &terms(answer)]);
        assert_eq!(ranks.rank(&terms(question), &names(question)).sections[0].0, 101, "{question}");
    }
}

#[test]
fn path_and_title_count_more_than_text() {
    let files = [
        ("guide/usage.md", "# Usage\n\nSee installation for more. Then run it and enjoy.\n"),
        ("guide/installation.md", "# Getting it\n\nDownload the archive and unpack it somewhere.\n"),
        ("guide/x.md", "# Installation\n\nDownload the archive and unpack it somewhere.\n"),
    ];
    let found = search(&files, "installation");
    assert_eq!(hits(&found).len(), 3);
    assert_eq!(hits(&found)[2], "guide/usage.md:3", "{found}");
}

#[test]
fn a_section_is_found_by_its_own_line_number() {
    let mut text = String::new();
    (1..=40).for_each(|n| text.push_str(&format!("## Part {n}\n\nSome words about part number {n}.\n\n")));
    let text = text.replace("about part number 31.", "about the walrus.");
    assert_eq!(hits(&search(&[("long.md", &text)], "walrus")), ["long.md:123"]);
}

#[test]
fn words_match_over_case_plural_and_code_style() {
    let cases = [
        ("The Retries are bounded.", "retry"),
        ("One retry is allowed.", "RETRIES"),
        ("call maxAttempts() here", "attempts"),
        ("set max_attempts here", "max attempts"),
        ("Die Größe zählt.", "GRÖSSE größe"),
        ("検索エンジンを使う", "検索"),
        ("The classes and the bus", "class"),
    ];
    for (text, query) in cases {
        assert_eq!(hits(&search(&[("a.txt", text)], query)), ["a.txt:1"], "{query} in {text}");
    }
}

#[test]
fn html_is_searched_as_text_at_the_lines_of_the_file() {
    let page = "<!doctype html>\n<html><head><title>All about\n hats</title>\n<style>.cats { color: red }</style>\n\
        <script>\nlet dogs = '<p>dogs</p>';\n</script></head>\n<body>\n<!-- birds -->\n<p class=\"fish\">Caps &amp; \
        bonnets\nare <b>not</b> sold</p>\n5 < 6\n</body></html>";
    let found = search(&[("a.html", page)], "bonnets");
    assert_eq!(found.split("  ").next(), Some("a.html:10"));
    assert!(found.ends_with("\"Caps & bonnets\""), "{found}");
    for hidden in ["cats", "dogs", "birds", "fish", "color", "class"] {
        assert!(search(&[("a.html", page)], hidden).starts_with("No match"), "{hidden}");
    }
    assert_eq!(hits(&search(&[("a.html", page)], "hats")).len(), 1, "the title is found");
}

#[test]
fn long_lines_are_cut_around_the_match() {
    let line = format!("{} needle {}", "hay ".repeat(500), "straw ".repeat(500));
    let found = search(&[("a.txt", &line)], "needle");
    assert!(found.contains("needle"), "{found}");
    assert!(found.contains("\"…") && found.ends_with("…\""), "{found}");
    assert!(found.chars().count() < 260, "{}", found.len());
}

#[test]
fn one_file_does_not_fill_the_hits_and_the_limit_holds() {
    let many = "The word walrus stands here.\n\n".repeat(60) + &"x\n".repeat(100);
    let many = many.replace("\n\n", &format!("{}\n\n", " and more words follow it here".repeat(12)));
    let files = Memory::with(&[("many.md", &many), ("one.md", "A walrus."), ("two.md", "Another walrus.")]);
    let found = search_with(&files, &mut FileIndex::default(), "walrus", None);
    assert_eq!(hits(&found).len(), 4, "{found}");
    assert_eq!(hits(&found).iter().filter(|hit| hit.starts_with("many.md")).count(), 2);
    assert_eq!(hits(&search_with(&files, &mut FileIndex::default(), "walrus", Some(1))).len(), 1);
}

#[test]
fn the_index_follows_changes_and_reads_only_those() {
    let mut files = Memory::with(&[("a.md", "alpha"), ("b.md", "beta"), ("c.md", "gamma")]);
    let mut index = FileIndex::default();
    assert_eq!(hits(&search_with(&files, &mut index, "beta", None)), ["b.md:1"]);
    *files.reads.borrow_mut() = 0;
    assert!(search_with(&files, &mut index, "delta", None).starts_with("No match"));
    assert_eq!(*files.reads.borrow(), 0, "nothing changed, nothing is read");

    files.put("b.md", "delta");
    assert_eq!(hits(&search_with(&files, &mut index, "delta", None)), ["b.md:1"]);
    assert_eq!(*files.reads.borrow(), 2, "the changed file, and the hit for its snippet");
    assert!(search_with(&files, &mut index, "beta", None).starts_with("No match"));

    files.infos.remove("b.md");
    assert!(search_with(&files, &mut index, "delta", None).starts_with("No match for \"delta\" in 2 files."));
}

#[test]
fn a_file_that_changes_often_is_found_as_it_is_now() {
    let mut files = Memory::with(&[("a.md", "alpha walrus")]);
    let mut index = FileIndex::default();
    for n in 0..2_500 {
        files.put("b.md", &format!("walrus number{n}"));
        search_with(&files, &mut index, "walrus", None);
    }
    assert_eq!(hits(&search_with(&files, &mut index, "number2499", None)), ["b.md:1"]);
    assert_eq!(hits(&search_with(&files, &mut index, "walrus", None)).len(), 2);
}

#[test]
fn other_forms_of_a_word_and_typos_are_found() {
    let files = [("a.md", "How the server is configured."), ("b.md", "Something else entirely.")];
    for query in ["configuration", "sever"] {
        assert_eq!(hits(&search(&files, query)), ["a.md:1"], "{query}");
    }
}

#[test]
fn a_word_of_a_deleted_file_counts_as_unknown() {
    let mut files = Memory::with(&[("a.md", "How the server is configured."), ("b.md", "These rules are sever.")]);
    let mut index = FileIndex::default();
    assert_eq!(hits(&search_with(&files, &mut index, "sever", None)), ["b.md:1"]);
    files.infos.remove("b.md");
    assert_eq!(hits(&search_with(&files, &mut index, "sever", None)), ["a.md:1"], "taken for a typo");
}

#[test]
fn what_is_not_text_is_named_and_kept_results_are_not_searched() {
    let mut files =
        Memory::with(&[("a.md", "walrus"), ("results/call_1.txt", "walrus"), ("big.txt", &"walrus ".repeat(700_000))]);
    files.put("b.bin", "\0\u{1}\u{2}");
    let found = search_with(&files, &mut FileIndex::default(), "walrus", None);
    assert_eq!(hits(&found), ["big.txt:1", "a.md:1"]);
    assert!(found.contains("[big.txt (4.9 MB) was searched line by line: 1 line has 1 of 1 words]"), "{found}");
    assert!(found.ends_with("[1 file is not text and was not searched: b.bin]"), "{found}");
}

#[test]
fn a_query_without_words_is_an_error_and_no_files_is_an_answer() {
    assert_eq!(search(&[("a.md", "x")], "?!"), "the query has no words");
    assert!(search(&[], "x").starts_with("No match for \"x\" in 0 files."));
}

/// A separate end-to-end test covers the page with 100 or more real files; this one checks the order of magnitude.
#[test]
fn a_thousand_files_are_indexed_and_searched_in_reasonable_time() {
    let mut files = Memory::default();
    for n in 0..1_000 {
        let body = format!(
            "# File {n}\n\n{}\nThe secret of file {n} is number{n}.\n",
            "Words fill the page here. ".repeat(80)
        );
        files.put(&format!("d/{n:04}.md"), &body);
    }
    let mut index = FileIndex::default();
    let started = Work::begin();
    assert_eq!(hits(&search_with(&files, &mut index, "number777", None)), ["d/0777.md:4"]);
    let first = started.done();
    let started = Work::begin();
    assert_eq!(hits(&search_with(&files, &mut index, "number778 secret", None))[0], "d/0778.md:4");
    let second = started.done();
    assert!(first.as_secs() < 30 && second.as_secs() < 5, "{first:?} {second:?}");
}
