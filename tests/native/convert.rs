//! Documents as text with places: small ones built here, and hostile ones. Real files are in `tests/files`.

use std::io::{Cursor, Write};

use serde_json::json;
use turnwise_convert::{convert, sheets};
use turnwise_files::document::{Container, Document, container};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

fn package(parts: &[(&str, &str)]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in parts {
        zip.start_file(*name, SimpleFileOptions::default().compression_method(CompressionMethod::Deflated)).unwrap();
        zip.write_all(content.as_bytes()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

const OFFICE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

fn rels(kind: &str, target: &str) -> String {
    format!(
        r#"<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="{OFFICE}/{kind}" Target="{target}"/></Relationships>"#
    )
}

fn docx(body: &str) -> Vec<u8> {
    let document = format!(
        r#"<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>{body}</w:body></w:document>"#
    );
    let styles = r#"<w:styles xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:style w:type="paragraph" w:styleId="Heading1"><w:name w:val="heading 1"/><w:pPr><w:outlineLvl w:val="0"/></w:pPr></w:style></w:styles>"#;
    package(&[
        ("_rels/.rels", &rels("officeDocument", "word/document.xml")),
        ("word/document.xml", &document),
        ("word/_rels/document.xml.rels", &rels("styles", "styles.xml")),
        ("word/styles.xml", styles),
    ])
}

fn paragraph(text: &str) -> String {
    format!("<w:p><w:r><w:t>{text}</w:t></w:r></w:p>")
}

fn heading(text: &str) -> String {
    format!(r#"<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"#)
}

fn pptx(slides: &[&str]) -> Vec<u8> {
    const P: &str = "http://schemas.openxmlformats.org/presentationml/2006/main";
    const A: &str = "http://schemas.openxmlformats.org/drawingml/2006/main";
    let ids: String = (1..=slides.len()).map(|n| format!(r#"<p:sldId id="{}" r:id="rId{n}"/>"#, 255 + n)).collect();
    let presentation =
        format!(r#"<p:presentation xmlns:p="{P}" xmlns:r="{OFFICE}"><p:sldIdLst>{ids}</p:sldIdLst></p:presentation>"#);
    let targets: String = (1..=slides.len())
        .map(|n| format!(r#"<Relationship Id="rId{n}" Type="{OFFICE}/slide" Target="slides/slide{n}.xml"/>"#))
        .collect();
    let targets = format!(
        r#"<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{targets}</Relationships>"#
    );
    let mut parts = vec![
        ("_rels/.rels".to_owned(), rels("officeDocument", "ppt/presentation.xml")),
        ("ppt/presentation.xml".to_owned(), presentation),
        ("ppt/_rels/presentation.xml.rels".to_owned(), targets),
    ];
    for (n, text) in (1..).zip(slides) {
        let shape = if text.is_empty() {
            String::new()
        } else {
            format!(
                "<p:sp><p:nvSpPr><p:cNvPr id=\"2\" name=\"t\"/><p:cNvSpPr/><p:nvPr/></p:nvSpPr><p:spPr/><p:txBody><a:bodyPr/><a:p><a:r><a:t>{text}</a:t></a:r></a:p></p:txBody></p:sp>"
            )
        };
        let slide = format!(
            r#"<p:sld xmlns:p="{P}" xmlns:a="{A}"><p:cSld><p:spTree><p:nvGrpSpPr/><p:grpSpPr><a:xfrm/></p:grpSpPr>{shape}</p:spTree></p:cSld></p:sld>"#
        );
        parts.push((format!("ppt/slides/slide{n}.xml"), slide));
    }
    let parts: Vec<(&str, &str)> = parts.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    package(&parts)
}

fn xlsx(sheets: &[(&str, &str)]) -> Vec<u8> {
    xlsx_with(sheets, &[])
}

fn xlsx_with(sheets: &[(&str, &str)], more: &[(&str, &str)]) -> Vec<u8> {
    const MAIN: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
    let (mut list, mut targets) = (String::new(), String::new());
    let mut parts = vec![("_rels/.rels".to_owned(), rels("officeDocument", "xl/workbook.xml"))];
    for (n, (name, rows)) in (1..).zip(sheets) {
        list.push_str(&format!(r#"<sheet name="{name}" sheetId="{n}" r:id="rId{n}"/>"#));
        targets.push_str(&format!(
            r#"<Relationship Id="rId{n}" Type="{OFFICE}/worksheet" Target="worksheets/sheet{n}.xml"/>"#
        ));
        let sheet = format!(r#"<worksheet xmlns="{MAIN}"><sheetData>{rows}</sheetData></worksheet>"#);
        parts.push((format!("xl/worksheets/sheet{n}.xml"), sheet));
    }
    parts.push((
        "xl/workbook.xml".to_owned(),
        format!(r#"<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets>{list}</sheets></workbook>"#),
    ));
    parts.push((
        "xl/_rels/workbook.xml.rels".to_owned(),
        format!(
            r#"<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{targets}</Relationships>"#
        ),
    ));
    let mut parts: Vec<(&str, &str)> = parts.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    parts.extend(more);
    package(&parts)
}

fn cell(at: &str, text: &str) -> String {
    format!(r#"<c r="{at}" t="inlineStr"><is><t>{text}</t></is></c>"#)
}

fn number(at: &str, value: &str) -> String {
    format!(r#"<c r="{at}"><v>{value}</v></c>"#)
}

fn read(bytes: &[u8]) -> Document {
    convert(bytes, "file").unwrap()
}

/// The place of the line with that text.
fn place_of(document: &Document, text: &str) -> Option<String> {
    let line =
        document.text.lines().position(|line| line.contains(text)).unwrap_or_else(|| panic!("{text} is missing"));
    document.place(line + 1)
}

#[test]
fn headings_and_tables_of_a_word_document_survive_and_headings_are_places() {
    let row = |one: &str, other: &str| {
        format!("<w:tr><w:tc>{}</w:tc><w:tc>{}</w:tc></w:tr>", paragraph(one), paragraph(other))
    };
    let body = [
        paragraph("Before."),
        heading("Results"),
        paragraph("Sales grew by 12 %."),
        format!("<w:tbl>{}{}</w:tbl>", row("Region", "Sum"), row("North|South", "7")),
    ];
    let document = read(&docx(&body.concat()));
    assert_eq!(document.kind, "Word document");
    assert_eq!(
        document.text,
        "Before.\n\n# Results\n\nSales grew by 12 %.\n\n| Region | Sum |\n| --- | --- |\n| North\\|South | 7 |"
    );
    assert_eq!(place_of(&document, "Before."), None);
    assert_eq!(place_of(&document, "12 %").as_deref(), Some("section \"Results\""));
    assert_eq!(document.line_of("section results"), Some(3));
}

#[test]
fn each_slide_is_a_place_even_without_text() {
    let document = read(&pptx(&["Welcome", "", "The budget"]));
    assert_eq!(place_of(&document, "Welcome").as_deref(), Some("slide 1"));
    assert_eq!(place_of(&document, "The budget").as_deref(), Some("slide 3"));
    assert_eq!(document.text.matches("[slide ").count(), 3);
    assert!(!document.text.contains('\u{f7a51}'), "the marks are not in the text");
    assert_eq!(document.line_of("slide 2"), Some(4));
}

#[test]
fn a_row_of_a_sheet_is_cited_by_its_cells() {
    let rows = format!(
        "<row r=\"2\">{}{}</row><row r=\"3\">{}{}</row><row r=\"7\">{}</row>",
        cell("B2", "Item"),
        cell("C2", "Price"),
        cell("B3", "Lamp"),
        number("C3", "12.5"),
        cell("B7", "Total"),
    );
    let book = xlsx(&[("Q1", &rows), ("Empty", "")]);
    let document = read(&book);
    assert_eq!(document.kind, "workbook, 2 sheets");
    assert_eq!(
        document.text,
        "[sheet Q1, B2:C7]\n| row | B | C |\n| --- | --- | --- |\n| 2 | Item | Price |\n| 3 | Lamp | 12.5 |\n| 7 | Total |"
    );
    assert_eq!(place_of(&document, "Lamp").as_deref(), Some("sheet Q1, B3:C3"));
    assert_eq!(place_of(&document, "Total").as_deref(), Some("sheet Q1, B7:C7"));
    assert_eq!(document.notes, ["sheets without a value: Empty"]);
    let tables = serde_json::to_value(sheets(&book, "book.xlsx").unwrap()).unwrap();
    assert_eq!(tables[0], json!({ "name": "Q1", "rows": [["Item", "Price"], ["Lamp", 12.5], ["Total", null]] }));
}

#[test]
fn two_cells_in_opposite_corners_do_not_become_the_whole_sheet() {
    let rows =
        format!("<row r=\"1\">{}</row><row r=\"1048576\">{}</row>", cell("A1", "first"), cell("XFD1048576", "last"));
    let book = xlsx(&[("Far", &rows)]);
    let document = read(&book);
    assert!(document.text.len() < 10_000, "{}", document.text.len());
    assert!(document.text.starts_with("[sheet Far, A1:XFD1048576]"), "{}", &document.text[..60]);
    assert_eq!(document.notes, ["sheet Far: columns after IV are not shown"]);
    assert_eq!(sheets(&book, "far.xlsx").unwrap()[0].rows.len(), 2);
}

#[test]
fn what_a_table_lacks_of_its_sheet_is_said() {
    let rows = format!("<row r=\"1\">{}</row><row r=\"2\">{}</row>", cell("A1", "n"), number("A2", "1"));
    let damaged = format!(
        "{rows}<row r=\"3\">{}</row><row r=\"4\">{}</row>",
        r#"<c r="A3" t="odd"><v>1</v></c>"#,
        number("A4", "2")
    );
    // Each row has few values, but the rows span all columns.
    let far: String =
        (1..2_000).map(|row| format!("<row r=\"{row}\">{}</row>", number(&format!("A{row}"), "1"))).collect();
    let far = format!("{far}<row r=\"2000\">{}</row>", number("XFD2000", "2"));
    let tables = sheets(&xlsx(&[("Whole", &rows), ("Damaged", &damaged), ("Far", &far)]), "book.xlsx").unwrap();
    let [whole, damaged, far] = tables.as_slice() else { panic!("{}", tables.len()) };
    assert_eq!((whole.notes.as_slice(), &whole.fault), ([].as_slice(), &None));
    assert_eq!(damaged.rows, whole.rows);
    let note = &damaged.notes[0];
    assert!(note.starts_with("sheet Damaged is damaged and was not read to its end ("), "{note}");
    let fault = "sheet Far has values in 2000 rows and up to 16384 columns apart, which is too much for a table";
    assert_eq!((far.rows.len(), far.fault.as_deref()), (0, Some(fault)));
}

#[test]
fn a_text_that_is_in_many_cells_is_read_only_to_the_limit() {
    let text = "x".repeat(1 << 20);
    let shared = format!(
        r#"<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><si><t>{text}</t></si></sst>"#
    );
    let rows: String =
        (1..=1_000).map(|row| format!(r#"<row r="{row}"><c r="A{row}" t="s"><v>0</v></c></row>"#)).collect();
    let book = xlsx_with(&[("Same", &rows)], &[("xl/sharedStrings.xml", &shared)]);
    let document = read(&book);
    let note = "only its first cells were read: it has more than 4000000, or more than 134.3 MB of text";
    assert_eq!(document.notes, [note]);
    assert!(document.text.lines().count() < 200);
    let error = sheets(&book, "book.xlsx").unwrap_err();
    assert_eq!(error, "the workbook has more than 4000000 cells or 134.3 MB of text, too much for tables");
}

#[test]
fn a_number_with_a_space_before_it_is_read() {
    let rows = format!("<row r=\"1\">{}{}</row>", cell("A1", "mag"), number("B1", " 40"));
    let document = read(&xlsx(&[("quakes", &rows)]));
    assert!(document.text.ends_with("| 1 | mag | 40 |"), "{}", document.text);
    assert_eq!(document.notes, Vec::<String>::new());
}

#[test]
fn a_presentation_of_empty_slides_has_no_text() {
    let error = convert(&pptx(&["", ""]), "talk.pptx").unwrap_err();
    assert_eq!(error, "it is a PowerPoint presentation without text");
}

#[test]
fn hostile_and_broken_documents_get_a_sentence() {
    let deep = |levels: usize| {
        docx(&format!(
            "{}{}{}",
            "<w:tbl><w:tr><w:tc>".repeat(levels),
            paragraph("deep"),
            "</w:tc></w:tr></w:tbl>".repeat(levels)
        ))
    };
    // Its list of files says that the one file has 4 GB.
    let mut bomb = package(&[("word/document.xml", "a")]);
    let list = bomb.windows(4).position(|bytes| bytes == b"PK\x01\x02").unwrap();
    bomb[list + 24..list + 28].copy_from_slice(&[0, 0, 0, 0xee]);
    let entities = format!(
        r#"<!DOCTYPE x [<!ENTITY a "{0}">{1}]><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>&a9;</w:t></w:r></w:p></w:body></w:document>"#,
        "lol".repeat(100),
        (1..10).map(|n| format!("<!ENTITY a{n} \"{}\">", format!("&a{};", n - 1).repeat(10))).collect::<String>(),
    );
    let xml_bomb =
        package(&[("_rels/.rels", &rels("officeDocument", "word/document.xml")), ("word/document.xml", &entities)]);
    let mut encrypted = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".to_vec();
    encrypted.extend([0; 600]);
    encrypted.extend("EncryptedPackage".encode_utf16().flat_map(u16::to_le_bytes));
    let whole = docx(&paragraph("text"));
    let cases: &[(&str, &[u8], &str)] = &[
        ("empty", b"", "it is empty"),
        ("cut off", &whole[..whole.len() / 2], "it is damaged: its end is missing"),
        ("zip bomb", &bomb, "it would unpack to 3993.0 MB, and at most 536.9 MB are read"),
        ("deep nesting", &deep(20_000), "it is larger inside than a document may be"),
        ("encrypted", &encrypted, "it is protected by a password"),
        ("old office file of another kind", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 and nothing", "its format is not known"),
        ("another archive", &package(&[("readme.txt", "hi")]), "named .docx, but it is a ZIP archive"),
        ("without text", &docx(""), "it is a Word document without text"),
        ("workbook without values", &xlsx(&[("A", "")]), "it is a workbook without a value in any cell"),
    ];
    assert_eq!(read(&xml_bomb).text, "&a9;", "entities are not expanded");
    for (what, bytes, said) in cases {
        let error = convert(bytes, "file.docx").map(|document| document.text.len()).unwrap_err();
        assert!(error.contains(said), "{what}: {error}");
    }
}

#[test]
fn an_archive_lists_its_files() {
    let document = convert(&package(&[("a/one.txt", "hi"), ("two.csv", "a,b\n")]), "all.zip").unwrap();
    assert_eq!(document.kind, "ZIP archive, 2 files");
    assert_eq!(document.text, "- a/one.txt  2 B\n- two.csv  4 B");
}

#[test]
fn bytes_tell_the_container_and_names_do_not() {
    assert_eq!(container(b"%PDF-1.7\n"), Some(Container::Pdf));
    assert_eq!(container(b"\n\n%PDF-1.4"), Some(Container::Pdf));
    assert_eq!(container(b"A text that mentions %PDF-1.4 is no PDF"), None);
    assert_eq!(container(b"PK\x03\x04rest"), Some(Container::Package));
    assert_eq!(container(b"{\\rtf1 x}"), Some(Container::Package));
    assert_eq!(container(b"a,b\n1,2\n"), None);
    assert_eq!(container(b""), None);
}
