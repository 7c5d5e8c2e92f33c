//! Markdown that streams: what a page keeps and what it is answered make the text, and ten times the text is ten times the work.

use proptest::prelude::*;
use turnwise_content::markdown::growing::{Changes, GrowingText};
use turnwise_content::markdown::highlight::{self, Highlight, Highlighter, Plain};
use turnwise_content::markdown::{Node, parse, parse_highlighted, parts};
use turnwise_protocol::tool_worker::GrowingPart;
use turnwise_worker::growing::Growing;

/// The blocks of a page, changed as it changes them.
#[derive(Default)]
struct Page(Vec<Node>);

impl Page {
    fn take(&mut self, Changes { same, keep, nodes }: Changes) {
        assert!(same + usize::from(keep > 0) <= self.0.len(), "{same} of {}", self.0.len());
        let mut nodes = nodes.into_iter();
        self.0.truncate(same + usize::from(keep > 0));
        if keep > 0 {
            let (last, more) = (self.0.last_mut().unwrap(), nodes.next().unwrap());
            assert!(
                parts::is_divided(last) && parts::continues(last, &more) && parts::count(last) >= keep,
                "{last:?} {more:?}"
            );
            parts::truncate(last, keep);
            let count = keep + parts::count(&more);
            parts::append(last, more);
            assert_eq!(parts::count(last), count, "{keep} {last:?}");
        }
        self.0.extend(nodes);
    }

    fn blocks(&self) -> Vec<Node> {
        self.0.iter().map(parts::joined).collect()
    }
}

/// Streams a text in deltas of this many letters, and returns the largest number of letters after which the page was not that of the
/// text so far.
fn stream<H: Highlight>(text: &str, delta: usize) -> (GrowingText<H>, Page, Vec<usize>) {
    let (mut growing, mut page, mut wrong) = (GrowingText::<H>::default(), Page::default(), Vec::new());
    let letters: Vec<char> = text.chars().collect();
    let mut so_far = String::new();
    for part in letters.chunks(delta) {
        let part: String = part.iter().collect();
        so_far.push_str(&part);
        page.take(growing.grow(&part, false));
        if page.blocks() != parse(&so_far) {
            wrong.push(so_far.len());
        }
    }
    page.take(growing.grow("", true));
    (growing, page, wrong)
}

const SECTION: &str = "## A title\n\nSome **bold** words, `code` and *more* of it.\nA second line with $x^2$ and https://a.example/b.\n\n\
    - one\n- two\n  - inner\n  - inner two\n- three\n\n1. first\n\n2. second\n\n   with a paragraph\n3. third\n\n> a quote\n> goes on\n\n\
    ```rust\nfn a() {\n\n    let b = \"$1\"; // c\n}\n```\nDirectly after.\n\n| a | b |\n|---|---:|\n| 1 | **2** |\n| 3 | 4 |\n\n\
    汉字也可以。漢字もあります。\n\n    indented code\n\n$$\nx = 1\n\\text{and more}\n$$\n\nTitle\n=====\n\n---\n\n<div>\nraw\n</div>\n\n\
    - [ ] open\n- [x] done\n* another list\n* of stars\n\n[label]: https://b.example\n'A title'\nSee [label] and [it][label].\n\n";

#[test]
fn a_text_of_all_kinds_of_blocks_is_right_after_every_delta() {
    for delta in [1, 2, 3, 7, 40] {
        let (_, page, wrong) = stream::<Plain>(&SECTION.repeat(2), delta);
        assert_eq!(wrong, Vec::<usize>::new(), "{delta}");
        assert_eq!(page.blocks(), parse(&SECTION.repeat(2)));
    }
}

/// One block without an end, as long as wanted, of each kind.
fn endless(kind: &str, length: usize) -> String {
    let sentence =
        |n: usize| format!("The service reads *every* order of day {n}, and `adds` up what **each** customer pays. ");
    let (start, part): (&str, Box<dyn Fn(usize) -> String>) = match kind {
        "paragraph" => ("", Box::new(sentence)),
        "lines" => ("", Box::new(move |n| format!("{}\n", sentence(n)))),
        "cjk" => {
            ("", Box::new(|_| "这项服务读取当天的每一份订单，把每位顾客应付的金额相加，然后为每位顾客写一行。".into()))
        }
        "code" => ("```rust\n", Box::new(|n| format!("    let row{n} = \"{n}\"; // {n}\n"))),
        "plain code" => ("```\n", Box::new(|n| format!("line {n} of it\n"))),
        "table" => ("| a | b | c |\n|---|---:|---|\n", Box::new(|n| format!("| {n} | *it* | `c` |\n"))),
        "list" => ("", Box::new(move |n| format!("- {}\n", sentence(n)))),
        "numbers" => ("", Box::new(move |n| format!("{n}. {}\n", sentence(n)))),
        "loose list" => ("", Box::new(move |n| format!("- {}\n{}", sentence(n), if n > 40 { "\n" } else { "" }))),
        "nested list" => ("- one\n", Box::new(move |n| format!("  - {}\n", sentence(n)))),
        "quote" => ("", Box::new(move |n| format!("> {}\n", sentence(n)))),
        "addresses" => ("", Box::new(|n| format!("[label {n}]: https://a.example/{n}\n"))),
        "sections" => ("", Box::new(|_| SECTION.into())),
        "footnotes" => ("", Box::new(|n| format!("A fact[^{n}].\n\n[^{n}]: Note {n}\n\n"))),
        "late footnotes" => (
            "A fact[^1].\n\n",
            Box::new(move |n| format!("{}\n\n{}", sentence(n), if n == 50 { "[^1]: Note\n\n" } else { "" })),
        ),
        "stars" => ("", Box::new(|_| "*a ".into())),
        "word" => ("", Box::new(|_| "word".into())),
        "html" => ("<div>\n", Box::new(|n| format!("line {n}\n"))),
        other => panic!("{other}"),
    };
    let mut text = start.to_owned();
    for n in 1.. {
        if text.len() >= length {
            break;
        }
        text.push_str(&part(n));
    }
    text
}

const KINDS: [&str; 18] = [
    "paragraph",
    "lines",
    "cjk",
    "code",
    "plain code",
    "table",
    "list",
    "numbers",
    "loose list",
    "nested list",
    "quote",
    "addresses",
    "sections",
    "footnotes",
    "late footnotes",
    "stars",
    "word",
    "html",
];

#[test]
fn ten_times_the_text_is_ten_times_the_work() {
    for kind in KINDS {
        // What is parsed, and what is answered, in bytes.
        let work = |length| {
            let text = endless(kind, length);
            let (mut growing, mut page, mut answered) = (GrowingText::<Plain>::default(), Page::default(), 0);
            let letters: Vec<char> = text.chars().collect();
            for part in letters.chunks(200) {
                let changes = growing.grow(&part.iter().collect::<String>(), false);
                answered += serde_json::to_string(&changes.nodes).unwrap().len();
                page.take(changes);
            }
            page.take(growing.grow("", true));
            assert_eq!(page.blocks(), parse(&text), "{kind}");
            [growing.work(), answered]
        };
        let (short, long) = (work(20_000), work(200_000));
        println!("{kind}: {short:?} {long:?}");
        for (short, long) in short.into_iter().zip(long) {
            assert!(long <= 13 * short, "{kind}: {short} bytes, and {long} for ten times the text");
        }
    }
}

#[test]
fn a_long_block_is_right_while_it_grows() {
    for kind in ["paragraph", "lines", "cjk", "code", "plain code", "table", "list", "numbers", "addresses", "sections"]
    {
        let text = endless(kind, 20_000);
        let (_, page, wrong) = stream::<Plain>(&text, 97);
        assert_eq!(wrong, Vec::<usize>::new(), "{kind}");
        assert_eq!(page.blocks(), parse(&text), "{kind}");
    }
}

#[test]
fn code_that_streams_has_the_colours_of_the_whole() {
    highlight::load();
    for text in
        [endless("code", 3_000), endless("code", 60_000), SECTION.repeat(3), "```\n```\n\n```js\n```\n".to_owned()]
    {
        let (_, page, _) = stream::<Highlighter>(&text, 61);
        assert_eq!(page.blocks(), parse_highlighted(&text));
        let mut whole = parse_highlighted(&text);
        whole.iter_mut().for_each(parts::divide);
        assert_eq!(whole.iter().map(parts::joined).collect::<Vec<_>>(), parse_highlighted(&text));
    }
}

#[test]
fn a_worker_that_lost_a_text_asks_for_its_beginning() {
    let mut growing = Growing::<Plain>::default();
    let part = |text, from, last| GrowingPart { text, from, last };
    assert!(!growing.changes(part(1, 0, false), "one\n\n").lost);
    assert!(!growing.changes(part(2, 0, false), "other").lost);
    let more = growing.changes(part(1, 5, false), "two");
    assert_eq!((more.same, more.lost), (1, false));
    assert!(growing.changes(part(1, 5, false), "two").lost, "it is longer");
    assert!(growing.changes(part(3, 5, false), "two").lost, "it never began");
    assert!(!growing.changes(part(2, 5, true), "").lost);
    assert!(growing.changes(part(2, 5, false), "more").lost, "it was complete");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// What a page keeps and what it is answered make the whole text, however it arrives.
    #[test]
    fn the_changes_of_a_text_make_the_text(
        parts in prop::collection::vec("[a-c*_`$|\\-\\[\\]^:># 1.\n]{0,20}(\n\n)?", 1..20),
        start in prop::sample::select(vec![String::new(), endless("list", 1_500), endless("numbers", 1_500), endless("table", 1_500), endless("code", 3_000), endless("paragraph", 14_000)]),
    ) {
        let (mut growing, mut page, mut text) = (GrowingText::<Plain>::default(), Page::default(), String::new());
        for part in std::iter::once(start).chain(parts) {
            text.push_str(&part);
            page.take(growing.grow(&part, false));
        }
        page.take(growing.grow("", true));
        prop_assert_eq!(page.blocks(), parse(&text));
    }

    /// Blocks of every kind in any order are right all the time.
    #[test]
    fn ordinary_blocks_are_right_all_the_time(
        blocks in prop::collection::vec(prop::sample::select(SECTION.split_inclusive("\n\n").filter(|block| !block.contains("label")).collect::<Vec<_>>()), 1..30),
        delta in 1_usize..60,
    ) {
        let text = blocks.concat();
        let (_, page, wrong) = stream::<Plain>(&text, delta);
        prop_assert_eq!(wrong, Vec::<usize>::new());
        prop_assert_eq!(page.blocks(), parse(&text));
    }
}
