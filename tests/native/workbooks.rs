//! Workbooks: what they have besides values appears or is named, in the text and in the tables.

use std::io::{Cursor, Write};

use serde_json::json;
use turnwise_convert::{Sheet, convert, sheets};
use turnwise_files::document::{Container, Document, container};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

fn package(parts: &[(&str, &str)]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in parts {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(content.as_bytes()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

const OFFICE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const MAIN: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";

fn rels(targets: &[(&str, &str)]) -> String {
    let list: String = (1..)
        .zip(targets)
        .map(|(n, (kind, target))| {
            let mode = if target.contains("://") { r#" TargetMode="External""# } else { "" };
            format!(r#"<Relationship Id="rId{n}" Type="{OFFICE}/{kind}" Target="{target}"{mode}/>"#)
        })
        .collect();
    format!(
        r#"<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{list}</Relationships>"#
    )
}

/// A workbook of sheets, each with its attributes in the list of sheets and its XML, and of more parts. `about`: what follows the list.
fn xlsx(list: &[(&str, &str, &str)], about: &str, more: &[(&str, String)]) -> Vec<u8> {
    let entries: String = (1..)
        .zip(list)
        .map(|(n, (name, state, _))| format!(r#"<sheet name="{name}" sheetId="{n}" {state} r:id="rId{n}"/>"#))
        .collect();
    let paths: Vec<String> = (1..=list.len()).map(|n| format!("worksheets/sheet{n}.xml")).collect();
    let targets: Vec<(&str, &str)> = paths.iter().map(|path| ("worksheet", path.as_str())).collect();
    let mut parts = vec![
        ("_rels/.rels".to_owned(), rels(&[("officeDocument", "xl/workbook.xml")])),
        (
            "xl/workbook.xml".to_owned(),
            format!(r#"<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets>{entries}</sheets>{about}</workbook>"#),
        ),
        ("xl/_rels/workbook.xml.rels".to_owned(), rels(&targets)),
    ];
    for (path, (.., xml)) in paths.iter().zip(list) {
        parts
            .push((format!("xl/{path}"), format!(r#"<worksheet xmlns="{MAIN}" xmlns:r="{OFFICE}">{xml}</worksheet>"#)));
    }
    parts.extend(more.iter().map(|(path, xml)| ((*path).to_owned(), xml.clone())));
    let parts: Vec<(&str, &str)> = parts.iter().map(|(path, xml)| (path.as_str(), xml.as_str())).collect();
    package(&parts)
}

fn text(at: &str, text: &str) -> String {
    format!(r#"<c r="{at}" t="inlineStr"><is><t>{text}</t></is></c>"#)
}

fn read(bytes: &[u8]) -> Document {
    convert(bytes, "book").unwrap()
}

fn tables(bytes: &[u8]) -> Vec<Sheet> {
    sheets(bytes, "book").unwrap()
}

#[track_caller]
fn has(document: &Document, parts: &[&str]) {
    let all = format!("{}; {}\n{}", document.kind, document.notes.join("; "), document.text);
    for part in parts {
        assert!(all.contains(part), "`{part}` is missing in\n{all}");
    }
}

#[test]
fn formulas_without_a_value_are_shown_and_named() {
    let rows = format!(
        r#"<sheetData><row r="1">{}{}</row><row r="2"><c r="A2"><v>2</v></c><c r="B2"><f t="shared" ref="B2:B3" si="0">A2*2</f></c></row>
        <row r="3"><c r="A3"><v>3</v></c><c r="B3"><f t="shared" si="0"/><v/></c></row>
        <row r="4"><c r="B4"><f>SUM(B2:B3)</f><v>10</v></c><c r="C4" t="str"><f>IF(A2,"","x")</f><v></v></c></row></sheetData>"#,
        text("A1", "Item"),
        text("B1", "Gross"),
    );
    let book = xlsx(&[("Budget", "", &rows)], "", &[]);
    let document = read(&book);
    has(&document, &["2 formulas have no calculated value", "| 2 | 2 | =A2*2 |", "| 3 | 3 | =A3*2 |", "| 4 | | 10 |"]);
    let [table] = tables(&book).try_into().unwrap();
    assert_eq!(table.rows[1][1], json!(null));
    assert_eq!(table.notes, ["2 formulas without a calculated value are null, such as B2 =A2*2"]);
}

#[test]
fn zeros_that_stand_for_results_are_named() {
    let rows = r#"<sheetData><row r="1"><c r="A1"><v>1</v></c><c r="B1"><f>A1+1</f><v>0</v></c></row></sheetData>"#;
    let said = "a formula has the value 0 and the workbook asks to be calculated when it is opened";
    let asks = xlsx(&[("S", "", rows)], r#"<calcPr fullCalcOnLoad="1"/>"#, &[]);
    has(&read(&asks), &[said]);
    assert!(tables(&asks)[0].notes[0].starts_with(said));
    assert_eq!(read(&xlsx(&[("S", "", rows)], "", &[])).notes, Vec::<String>::new());
}

#[test]
fn what_is_hidden_and_merged_is_said() {
    let rows = format!(
        r#"<cols><col min="1" max="1" width="9"/><col min="3" max="4" hidden="1"/></cols><sheetData><row r="1">{}{}{}</row>
        <row r="2" hidden="1">{}</row><row hidden="true" r="3">{}</row></sheetData><mergeCells count="1"><mergeCell ref="A1:B1"/></mergeCells>"#,
        text("A1", "price"),
        text("C1", "margin"),
        text("D1", "cost"),
        text("A2", "secret"),
        text("A3", "more"),
    );
    let other = format!("<sheetData><row r=\"1\">{}</row></sheetData>", text("A1", "internal"));
    let book = xlsx(
        &[("Shown", "", &rows), ("Own", r#"state="hidden""#, &other), ("Deep", r#"state="veryHidden""#, &other)],
        "",
        &[],
    );
    let document = read(&book);
    has(
        &document,
        &[
            "hidden sheets: Own, Deep",
            "[sheet Shown, A1:D3; rows 2-3 and columns C-D are hidden; merged: A1:B1]",
            "[sheet Own, A1:A1; the sheet is hidden]",
            "secret",
        ],
    );
    assert!(document.line_of("sheet Own").is_some());
    let tables = tables(&book);
    assert_eq!(tables[1].notes, ["sheet Own is hidden"]);
    assert!(
        tables[0].notes[0].contains("rows 2-3 and columns C-D are hidden, and in the table"),
        "{:?}",
        tables[0].notes
    );
}

#[test]
fn comments_links_lists_headers_charts_and_pictures_are_lines_below_the_sheet() {
    let rows = format!(
        r#"<sheetData><row r="1">{}</row></sheetData>
        <hyperlinks><hyperlink ref="A1" r:id="rId4"/><hyperlink ref="B2" location="Other!A1"/></hyperlinks>
        <dataValidations><dataValidation type="list" sqref="C2:C9" promptTitle="State" prompt="Choose one"><formula1>"open, closed"</formula1></dataValidation>
        <dataValidation type="whole" sqref="D2"><formula1>1</formula1><formula2>9</formula2></dataValidation></dataValidations>
        <headerFooter><oddHeader>&amp;C&amp;"Arial,Bold"Draft &amp;D</oddHeader></headerFooter><drawing r:id="rId2"/>
        <extLst><ext><x14:dataValidations xmlns:x14="x"><x14:dataValidation type="list"><x14:formula1><xm:f xmlns:xm="x">Lists!$A$1:$A$3</xm:f></x14:formula1><xm:sqref>E2</xm:sqref></x14:dataValidation></x14:dataValidations></ext></extLst>"#,
        text("A1", "Item"),
    );
    let drawing = r#"<xdr:wsDr xmlns:xdr="x" xmlns:a="a"><xdr:twoCellAnchor><xdr:from><xdr:col>4</xdr:col><xdr:row>1</xdr:row></xdr:from>
        <xdr:graphicFrame><xdr:nvGraphicFramePr><xdr:cNvPr id="2" name="Chart 1"/></xdr:nvGraphicFramePr><c:chart xmlns:c="c" r:id="rId1"/></xdr:graphicFrame></xdr:twoCellAnchor>
        <xdr:twoCellAnchor><xdr:from><xdr:col>0</xdr:col><xdr:row>9</xdr:row></xdr:from><xdr:pic><xdr:nvPicPr><xdr:cNvPr id="3" name="Picture 2" descr="The hall in Halden"/></xdr:nvPicPr></xdr:pic></xdr:twoCellAnchor>
        <xdr:oneCellAnchor><xdr:from><xdr:col>1</xdr:col><xdr:row>2</xdr:row></xdr:from><xdr:sp><xdr:nvSpPr><xdr:cNvPr id="4" name="Box"/></xdr:nvSpPr><xdr:txBody><a:p><a:r><a:t>Mind the </a:t></a:r><a:r><a:t>gap</a:t></a:r></a:p></xdr:txBody></xdr:sp></xdr:oneCellAnchor></xdr:wsDr>"#;
    let chart = r#"<c:chartSpace xmlns:c="c" xmlns:a="a"><c:chart><c:title><c:tx><c:rich><a:p><a:r><a:t>Turnover</a:t></a:r></a:p></c:rich></c:tx></c:title><c:plotArea>
        <c:barChart><c:ser><c:tx><c:strRef><c:f>S!$B$1</c:f><c:strCache><c:pt><c:v>North</c:v></c:pt></c:strCache></c:strRef></c:tx><c:cat><c:strRef><c:f>S!$A$2:$A$3</c:f></c:strRef></c:cat>
        <c:val><c:numRef><c:f>S!$B$2:$B$3</c:f><c:numCache><c:pt><c:v>1</c:v></c:pt></c:numCache></c:numRef></c:val></c:ser></c:barChart></c:plotArea></c:chart></c:chartSpace>"#;
    let comments = r#"<comments xmlns="m"><authors><author>Ada</author></authors><commentList><comment ref="B2" authorId="0"><text><r><t>Ada:</t></r><r><t xml:space="preserve"> why &lt;so&gt;?</t></r></text></comment></commentList></comments>"#;
    let pivot = r#"<pivotTableDefinition name="Pivot1"><location ref="G1:H9"/></pivotTableDefinition>"#;
    let more = [
        (
            "xl/worksheets/_rels/sheet1.xml.rels",
            rels(&[
                ("comments", "../comments1.xml"),
                ("drawing", "../drawings/drawing1.xml"),
                ("pivotTable", "/xl/pivotTables/p1.xml"),
                ("hyperlink", "https://example.org/a?b=1&amp;c=2"),
            ]),
        ),
        ("xl/comments1.xml", comments.to_owned()),
        ("xl/drawings/drawing1.xml", drawing.to_owned()),
        ("xl/drawings/_rels/drawing1.xml.rels", rels(&[("chart", "../charts/chart1.xml")])),
        ("xl/charts/chart1.xml", chart.to_owned()),
        ("xl/pivotTables/p1.xml", pivot.to_owned()),
        ("xl/vbaProject.bin", String::new()),
    ];
    let about = r#"<definedNames><definedName name="Rate">S!$B$1</definedName><definedName name="_xlnm.Print_Area">S!$A$1</definedName></definedNames>"#;
    let book = xlsx(&[("S", "", &rows)], about, &more);
    let document = read(&book);
    has(
        &document,
        &[
            "[comment B2, Ada: why <so>?]",
            "[link A1: https://example.org/a?b=1&c=2]",
            "[link B2: #Other!A1]",
            "[list C2:C9: open, closed]",
            "[hint C2:C9: State: Choose one]",
            "[list E2: the cells Lists!$A$1:$A$3]",
            "[header Draft (date)]",
            "[chart at E2: bar \"Turnover\": North = S!$B$2:$B$3 by S!$A$2:$A$3]",
            "[picture at A10: The hall in Halden]",
            "[text box at B3: Mind the gap]",
            "[pivot table Pivot1, G1:H9]",
            "it has macros, which are not read",
            "names: Rate = S!$B$1",
        ],
    );
    assert!(!document.text.contains("Print_Area"));
    let line = document.text.lines().position(|line| line.starts_with("[comment")).unwrap() + 1;
    assert_eq!(document.place(line).as_deref(), Some("sheet S"), "such a line is no row");
    assert_eq!(
        tables(&book)[0].notes,
        [
            "it has 1 chart, 1 comment, 1 header, 1 hint, 2 links, 2 lists, 1 picture, 1 pivot table, 1 text box: read_file shows them"
        ]
    );
}

#[test]
fn threads_of_comments_replace_the_text_for_older_programs() {
    let rows = format!("<sheetData><row r=\"1\">{}</row></sheetData>", text("A1", "Item"));
    let old = r#"<comments><authors><author>tc={1}</author></authors><commentList><comment ref="A1" authorId="0"><text><t>[Threaded comment] Your version of Excel allows you to read this</t></text></comment></commentList></comments>"#;
    let threads = r#"<ThreadedComments><threadedComment ref="A1" personId="{P1}" id="{1}"><text>Is this right?</text></threadedComment><threadedComment ref="A1" personId="{P2}" parentId="{1}"><text>Yes.</text></threadedComment></ThreadedComments>"#;
    let persons =
        r#"<personList><person displayName="Ada" id="{P1}"/><person displayName="Bo" id="{P2}"/></personList>"#;
    let more = [
        (
            "xl/worksheets/_rels/sheet1.xml.rels",
            rels(&[("comments", "../comments1.xml"), ("threadedComment", "../threadedComments/t1.xml")]),
        ),
        ("xl/comments1.xml", old.to_owned()),
        ("xl/threadedComments/t1.xml", threads.to_owned()),
        ("xl/persons/person.xml", persons.to_owned()),
    ];
    let document = read(&xlsx(&[("S", "", &rows)], "", &more));
    has(&document, &["[comment A1, Ada: Is this right?]", "[comment A1, Bo: Yes.]"]);
    assert!(!document.text.contains("Your version"));
}

fn ods(content: &str) -> Vec<u8> {
    let content = format!(
        r#"<office:document-content xmlns:office="o" xmlns:table="t" xmlns:text="x" xmlns:dc="d" xmlns:style="s" xmlns:xlink="l" xmlns:draw="w">{content}</office:document-content>"#
    );
    let manifest = r#"<manifest:manifest xmlns:manifest="m"/>"#;
    package(&[
        ("mimetype", "application/vnd.oasis.opendocument.spreadsheet"),
        ("META-INF/manifest.xml", manifest),
        ("content.xml", &content),
    ])
}

const ODS: &str = r#"<office:automatic-styles><style:style style:name="ta1" style:family="table"><style:table-properties table:display="false"/></style:style></office:automatic-styles>
<office:body><office:spreadsheet><table:content-validations><table:content-validation table:name="v" table:condition="of:cell-content-is-in-list(&quot;open&quot;;&quot;closed&quot;)"/></table:content-validations>
<table:table table:name="Vis"><table:table-column/><table:table-column table:visibility="collapse"/>
<table:table-row><table:table-cell office:value-type="string"><office:annotation><dc:creator>Cy</dc:creator><dc:date>2026-01-01</dc:date><text:p>a remark</text:p></office:annotation><text:p>Article</text:p></table:table-cell><table:table-cell office:value-type="time" office:time-value="PT13H45M00S"><text:p>13:45</text:p></table:table-cell></table:table-row>
<table:table-row table:number-rows-repeated="2" table:visibility="collapse"><table:table-cell table:number-columns-repeated="2"/></table:table-row>
<table:table-row><table:table-cell table:formula="of:=SUM([.B1:.B2])"/><table:table-cell office:value-type="time" office:time-value="PT288H00M01.5S"/><table:table-cell office:value-type="percentage" office:value="0.17"><text:p>17 %</text:p></table:table-cell><table:table-cell office:value-type="currency" office:value="12.5" table:content-validation-name="v"><text:p>12,50 €</text:p></table:table-cell></table:table-row>
<table:table-row><table:table-cell office:value-type="string"><text:p><text:a xlink:href="https://example.org/x">go</text:a></text:p></table:table-cell><table:table-cell><draw:frame draw:name="Photo"><draw:image xlink:href="Pictures/1.png"/></draw:frame></table:table-cell></table:table-row>
</table:table><table:table table:name="Gone" table:style-name="ta1"><table:table-row><table:table-cell office:value-type="string"><text:p>inner</text:p></table:table-cell></table:table-row></table:table></office:spreadsheet></office:body>"#;

#[test]
fn an_opendocument_workbook_is_read_with_its_remarks() {
    let book = ods(ODS);
    let document = read(&book);
    has(
        &document,
        &[
            "| 1 | Article | 13:45:00 |",
            "| 4 | =SUM([.B1:.B2]) | 288:00:01.500 | 0.17 | 12.5 |",
            "[comment A1, Cy: a remark]",
            "[list D4 and others: open, closed]",
            "[link A5: https://example.org/x]",
            "[picture at B5: Photo]",
            "rows 2-3 and columns B are hidden",
            "a formula has no calculated value",
            "hidden sheets: Gone",
        ],
    );
    assert_eq!(tables(&book)[0].rows[0], [json!("Article"), json!("13:45:00"), json!(null), json!(null)]);
    let flat = format!(
        r#"<?xml version="1.0"?><office:document xmlns:office="o" xmlns:table="t" xmlns:text="x" xmlns:dc="d" xmlns:style="s" xmlns:xlink="l" xmlns:draw="w" office:mimetype="application/vnd.oasis.opendocument.spreadsheet">{ODS}</office:document>"#
    );
    assert_eq!(container(flat.as_bytes()), Some(Container::Package));
    assert_eq!(read(flat.as_bytes()).text, document.text);
    // Some programs write blanks between the cells.
    let spaced =
        ODS.replace("<table:table-cell", "\n  <table:table-cell").replace("</table:table-row>", "\n</table:table-row>");
    assert_eq!(read(&ods(&spaced)).text, document.text);
}

#[test]
fn names_of_parts_may_have_backslashes() {
    let rows = format!("<sheetData><row r=\"1\">{}</row></sheetData>", text("A1", "Item"));
    let book = xlsx(&[("S", "", &rows)], "", &[]);
    let mut archive = zip::ZipArchive::new(Cursor::new(book)).unwrap();
    let mut copy = ZipWriter::new(Cursor::new(Vec::new()));
    for index in 0..archive.len() {
        let file = archive.by_index_raw(index).unwrap();
        let name = file.name().replace('/', "\\");
        copy.raw_copy_file_rename(file, name).unwrap();
    }
    let book = copy.finish().unwrap().into_inner();
    has(&read(&book), &["| 1 | Item |"]);
    assert_eq!(tables(&book)[0].rows, [[json!("Item")]]);
}

const EXCEL_2003: &str = r#"<?xml version="1.0"?><?mso-application progid="Excel.Sheet"?>
<Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet" xmlns:x="urn:schemas-microsoft-com:office:excel" xmlns:ss="urn:schemas-microsoft-com:office:spreadsheet">
<Worksheet ss:Name="Orders"><Table><Column/><Column ss:Hidden="1"/>
<Row><Cell ss:MergeAcross="1"><Data ss:Type="String">Title &amp; more</Data></Cell><Cell><Data ss:Type="String">C</Data></Cell></Row>
<Row ss:Index="4" ss:Hidden="1"><Cell><Data ss:Type="Number">12.5</Data><Comment ss:Author="Ada"><ss:Data><B>Ada:</B> check</ss:Data></Comment></Cell><Cell ss:Index="3" ss:HRef="https://example.org"><Data ss:Type="DateTime">2026-03-31T00:00:00.000</Data></Cell><Cell ss:Formula="=RC[-3]*2"/></Row>
<Row><Cell><Data ss:Type="Boolean">1</Data></Cell><Cell><Data ss:Type="Error">#DIV/0!</Data></Cell></Row></Table></Worksheet>
<Worksheet ss:Name="Own"><Table><Row><Cell><Data ss:Type="String">x</Data></Cell></Row></Table><WorksheetOptions xmlns="urn:schemas-microsoft-com:office:excel"><Visible>SheetHidden</Visible></WorksheetOptions></Worksheet></Workbook>"#;

#[test]
fn a_workbook_of_excel_2003_in_xml_is_a_workbook() {
    assert_eq!(container(EXCEL_2003.as_bytes()), Some(Container::Package));
    let wide: Vec<u8> = format!("\u{feff}{EXCEL_2003}").encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(container(&wide[..1_024]), Some(Container::Package));
    let document = read(EXCEL_2003.as_bytes());
    has(
        &document,
        &[
            "workbook of Excel 2003 in XML, 2 sheets",
            "| 1 | Title & more | | C |",
            "| 4 | 12.5 | | 2026-03-31 | =RC[-3]*2 |",
            "| 5 | true | #DIV/0! |",
            "rows 4 and columns B are hidden",
            "merged: A1:B1",
            "[comment A4, Ada: check]",
            "[link C4: https://example.org]",
            "hidden sheets: Own",
        ],
    );
    assert_eq!(read(&wide).text, document.text);
    let table = &tables(EXCEL_2003.as_bytes())[0];
    assert_eq!(table.rows[1], [json!(12.5), json!(null), json!("2026-03-31"), json!(null)]);
    assert!(
        table.notes.iter().any(|note| note == "1 cell with an error is null, such as B5 #DIV/0!"),
        "{:?}",
        table.notes
    );
}

#[test]
fn tables_of_a_page_are_sheets_of_texts() {
    let page = "<html><head><meta charset=windows-1252><style>td{}</style></head><body><table border=1><caption>Stock</caption>\
        <tr><th>Article<th>Price</tr><tr><td rowspan=2>St\u{fc}hle &amp; B&auml;nke<td>1.234,50&nbsp;&euro;<tr><td>a<br>b</table>\
        <table><tr><td>x</td><td><table><tr><td>inner</td></tr></table></td></tr></table></body></html>";
    let bytes: Vec<u8> = page.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect();
    assert_eq!(container(&bytes), None, "a page is read as it is");
    let found = tables(&bytes);
    assert!(found.iter().all(|table| table.texts));
    assert_eq!(found[0].name, "Stock");
    assert_eq!(
        found[0].rows,
        [
            [json!("Article"), json!("Price")],
            [json!("Stühle & Bänke"), json!("1.234,50 €")],
            [json!(null), json!("a\nb")]
        ]
    );
    assert_eq!(found[1].rows, [[json!("inner")]]);
    assert_eq!(found[2].rows, [[json!("x")]]);
    assert!(sheets(b"<html><p>Sign in</p></html>", "a.xls").unwrap_err().contains("without a table"));
}

/// A workbook of one sheet in the format of Excel 97. `records`: those of the sheet.
fn xls(records: &[(u16, Vec<u8>)]) -> Vec<u8> {
    let record = |kind: u16, data: &[u8]| {
        let length = u16::try_from(data.len()).unwrap();
        [kind.to_le_bytes().as_slice(), length.to_le_bytes().as_slice(), data].concat()
    };
    let begin = |kind: u16| {
        let mut data = vec![0; 16];
        data[..2].copy_from_slice(&0x600_u16.to_le_bytes());
        data[2..4].copy_from_slice(&kind.to_le_bytes());
        record(0x809, &data)
    };
    let sheet_name = [[0_u8; 4].as_slice(), &[1, 0, 3, 0], b"Old"].concat();
    let mut globals = begin(5);
    let start = globals.len() + 4 + sheet_name.len() + 4;
    let mut named = sheet_name;
    named[..4].copy_from_slice(&u32::try_from(start).unwrap().to_le_bytes());
    globals.extend(record(0x85, &named));
    globals.extend(record(0x0a, &[]));
    globals.extend(begin(0x10));
    for (kind, data) in records {
        globals.extend(record(*kind, data));
    }
    globals.extend(record(0x0a, &[]));
    let mut file = cfb::CompoundFile::create_with_version(cfb::Version::V3, Cursor::new(Vec::new())).unwrap();
    file.create_stream("/Workbook").unwrap().write_all(&globals).unwrap();
    file.flush().unwrap();
    file.into_inner().into_inner()
}

#[test]
fn an_old_workbook_tells_comments_links_lists_and_what_is_hidden() {
    let numbers = |list: &[u16]| list.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>();
    let value = [numbers(&[0, 0, 0]), 7.0_f64.to_le_bytes().to_vec()].concat();
    let formula =
        [numbers(&[1, 0, 0]), vec![3, 0, 0, 0, 0, 0, 0xff, 0xff], numbers(&[3]), vec![0; 4], vec![3, 0, 0x1e, 2, 0]]
            .concat();
    let list = [vec![3, 0, 0, 0], [[1, 0, 0, 0]; 4].concat(), numbers(&[0]), Vec::new()].concat();
    let list = [
        list[..20].to_vec(),
        numbers(&[14, 0]),
        vec![0x17, 11, 0],
        b"open\0closed".to_vec(),
        numbers(&[0, 0, 1, 1, 8, 2, 2]),
    ]
    .concat();
    let book = xls(&[
        (0x208, [numbers(&[1, 0, 1, 0, 0, 0]), vec![0x20, 0, 0, 0]].concat()),
        (0x7d, numbers(&[2, 3, 0, 0, 1, 0])),
        (0x14, [numbers(&[9]), vec![0], b"&CTop  se".to_vec()].concat()),
        (0x203, value),
        (0x06, formula),
        (0xe5, numbers(&[1, 4, 4, 0, 2])),
        (0x5d, numbers(&[0x15, 0x12, 0x19, 7])),
        (0x1b6, numbers(&[0, 0, 0, 0, 0, 6, 0, 0, 0])),
        (0x3c, [vec![0], b"remark".to_vec()].concat()),
        (0x1c, [numbers(&[3, 1, 0, 7, 2]), vec![0], b"Cy".to_vec()].concat()),
        (0x1be, list),
    ]);
    let document = read(&book);
    has(
        &document,
        &[
            "[comment B4, Cy: remark]",
            "[header Top se]",
            "rows 2 and columns C-D are hidden",
            "merged: A5:C5",
            "[list C2:C9: open, closed]",
            "| 1 | 7 |",
        ],
    );
    has(&document, &["=", "a formula has no calculated value"]);
}
