//! `read_file` and `search_files` over documents: places in the answers, and sentences for documents without text.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use turnwise_files::document::{Document, DocumentPlace, LATER, Rows};
use turnwise_files::{FileInfo, Files};
use turnwise_tools::read::{read_file, shown_text};
use turnwise_tools::search::{FileIndex, search_files};

type Known = Result<Option<Rc<Document>>, String>;

/// Files whose documents are given, not converted.
#[derive(Default)]
struct Given {
    infos: BTreeMap<String, FileInfo>,
    documents: BTreeMap<String, Known>,
}

impl Given {
    fn with(mut self, path: &str, known: Known) -> Self {
        self.infos.insert(path.into(), FileInfo { version: 1, size: 500 });
        self.documents.insert(path.into(), known);
        self
    }
}

impl Files for Given {
    fn list(&self) -> &BTreeMap<String, FileInfo> {
        &self.infos
    }

    async fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        Err(format!("{path} is a document and must not be read as text"))
    }

    async fn document(&self, path: &str) -> Known {
        self.documents[path].clone()
    }

    fn write(&mut self, _: String, _: Vec<u8>) {}
}

fn now<T>(future: impl Future<Output = T>) -> T {
    let Poll::Ready(value) = pin!(future).poll(&mut Context::from_waker(Waker::noop())) else { panic!("it waits") };
    value
}

fn page(line: usize, number: usize) -> DocumentPlace {
    DocumentPlace { line, name: format!("page {number}"), rows: None }
}

fn report() -> Given {
    let text = "[page 1]\n# Annual report\n\nRevenue was 7 million.\n[page 2]\nThe turbine in Halden failed.\nIt was repaired.";
    let document = Document {
        kind: "PDF, 3 pages".into(),
        text: text.into(),
        places: vec![page(1, 1), page(5, 2)],
        notes: vec!["pages without text (empty, or pictures): 3".into()],
        files: Vec::new(),
    };
    Given::default().with("report.pdf", Ok(Some(Rc::new(document))))
}

fn book() -> Given {
    let rows = Rows { first: 2, from: "A".into(), to: "B".into() };
    let places = vec![
        DocumentPlace { line: 1, name: "sheet Q1".into(), rows: None },
        DocumentPlace { line: 4, name: "sheet Q1".into(), rows: Some(rows) },
    ];
    let text = "[sheet Q1, A2:B3]\n| row | A | B |\n| --- | --- | --- |\n| 2 | Item | Price |\n| 3 | Turbine | 900 |";
    let document =
        Document { kind: "workbook, 1 sheet".into(), text: text.into(), places, notes: Vec::new(), files: Vec::new() };
    Given::default().with("book.xlsx", Ok(Some(Rc::new(document))))
}

#[test]
fn a_hit_in_a_document_names_its_place() {
    let found = now(search_files(&report(), &mut FileIndex::default(), "turbine", None)).unwrap();
    assert!(found.starts_with("report.pdf:6, page 2  "), "{found}");
    let found = now(search_files(&book(), &mut FileIndex::default(), "turbine", None)).unwrap();
    assert!(found.starts_with("book.xlsx:5, sheet Q1, A3:B3  "), "{found}");
}

#[test]
fn reading_says_what_the_document_is_and_where_a_part_begins() {
    let all = now(read_file(&report(), "report.pdf", None, None, None)).unwrap();
    assert!(
        all.starts_with(
            "[report.pdf: PDF, 3 pages; 7 lines of text; pages without text (empty, or pictures): 3]\n[page 1]\n"
        ),
        "{all}"
    );
    let part = now(read_file(&report(), "report.pdf", None, Some(6), Some(1))).unwrap();
    assert_eq!(part, "[page 2, continued]\nThe turbine in Halden failed.\n[lines 6-6 of 7; continue with offset 7]");
    let page = now(read_file(&report(), "report.pdf", Some("[Page 2]"), None, None)).unwrap();
    assert_eq!(page, "[page 2]\nThe turbine in Halden failed.\nIt was repaired.\n[lines 5-7 of 7]");
}

#[test]
fn a_person_sees_all_of_a_document_whatever_its_text_says() {
    let lines: String = (3..2_000).map(|n| format!("\nline {n}")).collect();
    let text = format!("[page 1]\n[lines 1-2 of 9; continue with offset 3]{lines}");
    let whole = |text: String| {
        let document = Document {
            kind: "PDF, 1 page".into(),
            text,
            places: vec![page(1, 1)],
            notes: Vec::new(),
            files: Vec::new(),
        };
        now(shown_text(&Given::default().with("a.pdf", Ok(Some(Rc::new(document)))), "a.pdf")).unwrap()
    };
    assert_eq!(whole(text.clone()), format!("[a.pdf: PDF, 1 page; 1999 lines of text]\n{text}"));
    let cut = whole("é\n".repeat(500_000));
    assert!(cut.ends_with("é\n… (only the beginning is shown; download the file to see all of it)"), "{}", cut.len());
    assert!(cut.len() < 1_000_200);
}

#[test]
fn a_place_that_is_not_there_is_answered_with_those_that_are() {
    let error = now(read_file(&report(), "report.pdf", Some("page 9"), None, None)).unwrap_err();
    assert_eq!(error, "report.pdf has no place `page 9`; it has 2 places, from page 1 to page 2");
    let error = now(read_file(&book(), "book.xlsx", Some("Q2"), None, None)).unwrap_err();
    assert_eq!(error, "book.xlsx has no place `Q2`; its only one is sheet Q1");
}

#[test]
fn a_document_without_text_says_why() {
    let files = report().with("scan.pdf", Err("it holds no text: its page is a picture".into()));
    let error = now(read_file(&files, "scan.pdf", None, None, None)).unwrap_err();
    assert_eq!(error, "scan.pdf has no text that can be read: it holds no text: its page is a picture");
    let found = now(search_files(&files, &mut FileIndex::default(), "turbine", None)).unwrap();
    assert!(found.contains("report.pdf:6, page 2"), "{found}");
    assert!(found.ends_with("[scan.pdf was not searched: it holds no text: its page is a picture]"), "{found}");
}

#[test]
fn a_search_says_of_which_documents_it_saw_only_the_beginning() {
    let text = format!("The first turbine.\n{}The last generator.\n", "\n".repeat(12 << 20));
    let document =
        Document { kind: "Word document".into(), text, places: Vec::new(), notes: Vec::new(), files: Vec::new() };
    let files = report().with("long.docx", Ok(Some(Rc::new(document))));
    let found = now(search_files(&files, &mut FileIndex::default(), "first generator", None)).unwrap();
    assert!(found.starts_with("long.docx:1  ") && !found.contains("The last"), "{found}");
    assert!(found.ends_with("[of long.docx, only the first 12.6 MB of text were searched]"), "{found}");
}

#[test]
fn a_document_that_had_no_time_is_read_by_the_next_search() {
    let mut files = report().with("late.pdf", Err(LATER.into()));
    let mut index = FileIndex::default();
    let found = now(search_files(&files, &mut index, "turbine", None)).unwrap();
    assert!(
        found.ends_with("[1 documents are not read yet, for lack of time: search again to include them]"),
        "{found}"
    );
    let late = Document { text: "The late turbine.".into(), ..Document::default() };
    files = files.with("late.pdf", Ok(Some(Rc::new(late))));
    let found = now(search_files(&files, &mut index, "turbine", None)).unwrap();
    assert!(found.contains("late.pdf:1  "), "{found}");
    assert!(!found.contains("lack of time"), "{found}");
}
