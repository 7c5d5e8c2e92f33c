//! What other readers of documents lose: symbols, form fields, comments, headers, hidden text. Each kind is from reports about such readers.

use std::io::{Cursor, Write};

use turnwise_convert::convert;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

const W: &str = "http://schemas.openxmlformats.org/wordprocessingml/2006/main";
const R: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

fn package(parts: &[(&str, String)]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in parts {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(content.as_bytes()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn rels(of: &[(&str, &str)]) -> String {
    let one =
        |(kind, target): &(&str, &str)| format!(r#"<Relationship Id="{kind}" Type="{R}/{kind}" Target="{target}"/>"#);
    let all: String = of.iter().map(one).collect();
    format!(
        r#"<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{all}</Relationships>"#
    )
}

/// A Word document with further parts: `(kind of relation, file, content)`.
fn docx(body: &str, more: &[(&str, &str, String)]) -> Vec<u8> {
    let document = format!(
        r#"<w:document xmlns:w="{W}" xmlns:r="{R}" xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" xmlns:v="urn:schemas-microsoft-com:vml" xmlns:o="urn:schemas-microsoft-com:office:office" xmlns:w14="http://schemas.microsoft.com/office/word/2010/wordml" xmlns:new="urn:new"><w:body>{body}</w:body></w:document>"#
    );
    let related: Vec<(&str, &str)> = more.iter().map(|(kind, file, _)| (*kind, *file)).collect();
    let names: Vec<String> = more.iter().map(|(_, file, _)| format!("word/{file}")).collect();
    let mut parts = vec![
        ("_rels/.rels", rels(&[("officeDocument", "word/document.xml")])),
        ("word/document.xml", document),
        ("word/_rels/document.xml.rels", rels(&related)),
    ];
    parts.extend(names.iter().zip(more).map(|(name, (_, _, content))| (name.as_str(), content.clone())));
    package(&parts)
}

fn part(root: &str, content: &str) -> String {
    format!(r#"<w:{root} xmlns:w="{W}" xmlns:r="{R}">{content}</w:{root}>"#)
}

fn p(runs: &str) -> String {
    format!("<w:p>{runs}</w:p>")
}

fn r(content: &str) -> String {
    format!("<w:r>{content}</w:r>")
}

fn t(text: &str) -> String {
    r(&format!(r#"<w:t xml:space="preserve">{text}</w:t>"#))
}

fn text(bytes: &[u8]) -> String {
    convert(bytes, "file").unwrap().text
}

fn body(body: &str) -> String {
    text(&docx(body, &[]))
}

#[test]
fn symbols_of_fonts_are_their_characters() {
    let sym = |font: &str, code: &str| r(&format!(r#"<w:sym w:font="{font}" w:char="{code}"/>"#));
    let written = |font: &str, text: &str| {
        r(&format!(r#"<w:rPr><w:rFonts w:ascii="{font}" w:hAnsi="{font}"/></w:rPr><w:t>{text}</w:t>"#))
    };
    let dose = format!("{}{}{}{}{}", t("5 "), sym("Symbol", "F06D"), t("g at 20 "), sym("Symbol", "F0B0"), t("C"));
    assert_eq!(body(&p(&dose)), "5 µg at 20 °C");
    let cases = [
        (sym("Wingdings", "F0FE"), "☑"),
        (sym("Wingdings", "00A8"), "☐"),
        (sym("Wingdings 2", "F052"), "☑"),
        (sym("MS Gothic", "2612"), "☒"),
        // Not as a symbol, but as letters of the font: below its codes, or as plain letters.
        (written("Symbol", "\u{f0b3}"), "≥"),
        (written("Symbol", "a"), "α"),
        (written("Wingdings", "à"), "→"),
        // A font that is not known: the code, not a guess.
        (sym("Company Icons", "F041"), "[symbol F041 of Company Icons]"),
        (t("\u{e012}"), "[symbol E012]"),
        // A field may hold a symbol too.
        (
            format!(
                "{}{}{}",
                r(r#"<w:fldChar w:fldCharType="begin"/>"#),
                r(r#"<w:instrText>SYMBOL 177 \f "Symbol" \s 12</w:instrText>"#),
                r(r#"<w:fldChar w:fldCharType="end"/>"#)
            ),
            "±",
        ),
    ];
    for (run, shown) in cases {
        assert_eq!(body(&p(&run)), shown, "{run}");
    }
}

#[test]
fn hyphens_tabs_raised_digits_and_struck_text_keep_their_meaning() {
    let hyphen = r("<w:t>4711</w:t><w:noBreakHyphen/><w:t>12</w:t><w:softHyphen/><w:t>b</w:t>");
    assert_eq!(body(&p(&hyphen)), "4711-12b");
    assert_eq!(body(&p(&r("<w:t>Lamp</w:t><w:tab/><w:t>2</w:t><w:ptab/><w:t>25</w:t>"))), "Lamp\t2\t25");
    let raised = |text: &str| r(&format!(r#"<w:rPr><w:vertAlign w:val="superscript"/></w:rPr><w:t>{text}</w:t>"#));
    assert_eq!(body(&p(&format!("{}{}{}{}", t("10"), raised("-6"), t(" m"), raised("2")))), "10⁻⁶ m²");
    assert_eq!(body(&p(&format!("{}{}", t("1"), raised("st")))), "1st");
    let struck = r("<w:rPr><w:strike/></w:rPr><w:t>100</w:t>");
    assert_eq!(body(&p(&format!("{}{struck}{}", t("It costs "), t(" 250.")))), "It costs ~~100~~ 250.");
    let ruby =
        r("<w:ruby><w:rt><w:r><w:t>とう</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>東</w:t></w:r></w:rubyBase></w:ruby>");
    assert_eq!(body(&p(&format!("{ruby}{}", t("の")))), "東(とう)の");
}

#[test]
fn form_fields_show_their_state() {
    let field = |data: &str, code: &str, result: &str| {
        let result = if result.is_empty() {
            String::new()
        } else {
            format!(r#"{}{result}"#, r(r#"<w:fldChar w:fldCharType="separate"/>"#))
        };
        format!(
            "{}{}{result}{}",
            r(&format!(r#"<w:fldChar w:fldCharType="begin"><w:ffData>{data}</w:ffData></w:fldChar>"#)),
            r(&format!("<w:instrText> {code} </w:instrText>")),
            r(r#"<w:fldChar w:fldCharType="end"/>"#)
        )
    };
    let list = r#"<w:ddList><w:result w:val="1"/><w:listEntry w:val="Red"/><w:listEntry w:val="Green"/></w:ddList>"#;
    let control = |properties: &str, content: &str| {
        format!("<w:sdt><w:sdtPr>{properties}</w:sdtPr><w:sdtContent>{content}</w:sdtContent></w:sdt>")
    };
    let cases = [
        (field("<w:checkBox><w:default w:val=\"0\"/><w:checked/></w:checkBox>", "FORMCHECKBOX", ""), "☒"),
        (field("<w:checkBox><w:default w:val=\"1\"/><w:checked w:val=\"0\"/></w:checkBox>", "FORMCHECKBOX", ""), "☐"),
        (field("<w:checkBox><w:default w:val=\"1\"/></w:checkBox>", "FORMCHECKBOX", ""), "☒"),
        (field("<w:textInput/>", "FORMTEXT", &t("\u{2002}\u{2002}")), "[empty field]"),
        (field("<w:textInput/>", "FORMTEXT", &t("Ada")), "Ada"),
        (field(list, "FORMDROPDOWN", ""), "Green [choices: Red, Green]"),
        (control("<w:showingPlcHdr/>", &t("Choose an item.")), "[empty field: Choose an item.]"),
        (
            control(
                r#"<w14:checkbox><w14:checked w14:val="1"/></w14:checkbox>"#,
                &r(r#"<w:sym w:font="Odd" w:char="F052"/>"#),
            ),
            "☒",
        ),
        (format!(r#"<w:fldSimple w:instr="PAGE"/>{}"#, t(" of 3")), "[field PAGE] of 3"),
    ];
    for (runs, shown) in cases {
        let all = body(&p(&format!("{}{runs}", t("Is: "))));
        assert!(all.contains(shown) && (shown != "Ada" || !all.contains("empty")), "{shown}: {all}");
    }
    // The whole cell is a control: the row keeps its columns.
    let cell = |content: &str| format!("<w:tc>{content}</w:tc>");
    let row = format!("<w:tr>{}{}{}</w:tr>", cell(&p(&t("a"))), control("", &cell(&p(&t("b")))), cell(&p(&t("c"))));
    assert!(body(&format!("<w:tbl>{row}</w:tbl>")).starts_with("| a | b | c |"));
    // A list whose sign is a box.
    let numbering = part(
        "numbering",
        r#"<w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/><w:lvlText w:val="&#xF0FE;"/><w:rPr><w:rFonts w:ascii="Wingdings"/></w:rPr></w:lvl></w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>"#,
    );
    let item = format!(
        "<w:p><w:pPr><w:numPr><w:ilvl w:val=\"0\"/><w:numId w:val=\"1\"/></w:numPr></w:pPr>{}</w:p>",
        t("Smoker")
    );
    assert_eq!(text(&docx(&item, &[("numbering", "numbering.xml", numbering)])), "- ☑ Smoker");
}

#[test]
fn comments_stand_at_their_place_and_headers_around_their_section() {
    let comments = part(
        "comments",
        &format!(
            r#"<w:comment w:id="7" w:author="Ada" w:date="2026-03-01T10:00:00Z">{}{}</w:comment><w:comment w:id="8" w:author="Bob">{}</w:comment>"#,
            p(&t("Without freight.")),
            p(&t("Ask them.")),
            p(&t("Loose."))
        ),
    );
    let header = part("hdr", &p(&t("Contract 4711")));
    let footer = part("ftr", &p(r#"<w:fldSimple w:instr="PAGE"><w:r><w:t>3</w:t></w:r></w:fldSimple>"#));
    let section = r#"<w:sectPr><w:headerReference w:type="default" r:id="header"/><w:headerReference w:type="first" r:id="header"/><w:footerReference w:type="default" r:id="footer"/></w:sectPr>"#;
    let first = format!("<w:p><w:pPr>{section}</w:pPr>{}</w:p>", t("End of the first."));
    let reference = r(r#"<w:commentReference w:id="7"/>"#);
    let all = format!("{}{first}{}{section}", p(&format!("{}{reference}{}", t("412 euros"), t("!"))), p(&t("Second.")));
    let document = docx(
        &all,
        &[("comments", "comments.xml", comments), ("header", "header1.xml", header), ("footer", "footer1.xml", footer)],
    );
    let expected = "[header: Contract 4711]\n\n412 euros [comment by Ada, 2026-03-01: Without freight. Ask them.]!\n\n\
                    End of the first.\n\nSecond.\n\n[comment by Bob: Loose.]";
    assert_eq!(text(&document), expected);
}

#[test]
fn what_is_not_in_the_text_is_counted() {
    let hidden = r("<w:rPr><w:vanish/></w:rPr><w:t>secret</w:t>");
    assert_eq!(body(&p(&format!("{}{hidden}{}", t("a "), t(" b")))), "a [hidden: secret] b");
    let pict = r#"<w:pict><v:shape><v:imagedata r:id="x"/></v:shape></w:pict>"#;
    let object =
        r#"<w:object><v:shape><v:imagedata r:id="x"/></v:shape><o:OLEObject ProgID="Excel.Sheet.12"/></w:object>"#;
    let art = r#"<w:pict><v:shape><v:textpath string="DRAFT"/></v:shape></w:pict>"#;
    let deleted = "<w:del><w:r><w:delText>gone</w:delText></w:r></w:del>";
    let odd = "<new:thing/><new:wrap><w:r><w:t> kept</w:t></w:r></new:wrap>";
    let choice = r#"<mc:AlternateContent><mc:Choice Requires="new"><w:t>one</w:t></mc:Choice><mc:Fallback><w:t> other</w:t></mc:Fallback></mc:AlternateContent>"#;
    let runs = format!("{}{}{}{}{deleted}{odd}{}", r(pict), r(pict), r(object), r(art), r(choice));
    let document = convert(&docx(&p(&runs), &[]), "file").unwrap();
    assert_eq!(document.text, "[embedded object Excel.Sheet.12]DRAFT kept other");
    assert_eq!(
        document.notes,
        [
            "not in the text: 1 deletion of tracked changes, 1 element thing, 1 embedded object, 2 pictures without a description"
        ]
    );
}

#[test]
fn inserted_files_are_read() {
    let chunk = r#"<w:altChunk r:id="aFChunk"/>"#;
    let html = "<html><head><title>no</title></head><body><p>One &amp; two</p><table><tr><td>a</td><td>b</td></tr></table></body></html>";
    let mail = "MIME-Version: 1.0\r\nContent-Type: multipart/related; boundary=x\r\n\r\n--x\r\nContent-Type: text/html\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n<p>M=C3=BChle =\r\n7</p>\r\n--x--";
    let inner = r"{\rtf1 Rich\par}";
    for (content, expected) in [
        (html, "One & two\na | b |"),
        (mail, "Mühle 7"),
        (inner, "[inserted document, read without its comments, headers and symbols:]\nRich"),
    ] {
        for around in [chunk.to_owned(), p(chunk)] {
            let document =
                docx(&format!("{}{around}", p(&t("Before"))), &[("aFChunk", "chunk.dat", content.to_owned())]);
            assert_eq!(text(&document), format!("Before\n\n{expected}"));
        }
    }
}

#[test]
fn other_prefixes_strict_namespaces_and_encodings_are_read_alike() {
    let document = |declaration: &str, space: &str| {
        format!(
            r#"{declaration}<ns0:document xmlns:ns0="{space}"><ns0:body><ns0:p><ns0:r><ns0:t>5 </ns0:t><ns0:sym ns0:font="Symbol" ns0:char="F06D"/><ns0:t>g</ns0:t></ns0:r></ns0:p></ns0:body></ns0:document>"#
        )
    };
    let of = |content: String| {
        package(&[("_rels/.rels", rels(&[("officeDocument", "word/document.xml")])), ("word/document.xml", content)])
    };
    assert_eq!(text(&of(document("", W))), "5 µg");
    assert_eq!(text(&of(document("", "http://purl.oclc.org/ooxml/wordprocessingml/main"))), "5 µg");
    // It says UTF-16 and is not.
    assert_eq!(text(&of(document(r#"<?xml version="1.0" encoding="UTF-16"?>"#, W))), "5 µg");
}

const SPACES: &str = r#"xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0" xmlns:form="urn:oasis:names:tc:opendocument:xmlns:form:1.0" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:presentation="urn:oasis:names:tc:opendocument:xmlns:presentation:1.0" xmlns:chart="urn:oasis:names:tc:opendocument:xmlns:chart:1.0""#;

fn odf(kind: &str, styles: &str, body: &str, more: &[(&str, String)]) -> Vec<u8> {
    let content = format!(
        r"<office:document-content {SPACES}><office:automatic-styles>{styles}</office:automatic-styles><office:body><office:{kind}>{body}</office:{kind}></office:body></office:document-content>"
    );
    let mut parts = vec![("mimetype", format!("application/vnd.oasis.opendocument.{kind}")), ("content.xml", content)];
    parts.extend(more.iter().cloned());
    package(&parts)
}

#[test]
fn comments_shapes_controls_and_headers_of_an_open_document_are_read() {
    let comment = "<office:annotation><dc:creator>Rev</dc:creator><dc:date>2026-03-01T10:00:00</dc:date><text:p>check this</text:p></office:annotation>";
    let styles = r#"<style:style style:name="H" style:family="text"><style:text-properties text:display="none"/></style:style><style:style style:name="W" style:family="text"><style:text-properties style:font-name="Wingdings"/></style:style>"#;
    let forms = r#"<office:forms><form:form><form:checkbox form:id="c1" form:current-state="checked" form:label="Smoker"/></form:form></office:forms>"#;
    let text_of = |body: &str| text(&odf("text", styles, body, &[]));
    assert_eq!(
        text_of(&format!("<text:p>The price{comment}.</text:p>")),
        "The price [comment by Rev, 2026-03-01: check this] ."
    );
    assert_eq!(
        text_of(
            r#"<text:p>a <text:span text:style-name="H">b</text:span><text:span text:style-name="W">ü</text:span></text:p>"#
        ),
        "a [hidden: b]✓"
    );
    // Shapes before the first paragraph belong to the page.
    let shape = "<draw:custom-shape><text:p>Warning</text:p></draw:custom-shape><draw:frame><draw:text-box><text:p>Box</text:p></draw:text-box></draw:frame>";
    assert_eq!(
        text_of(&format!("{shape}<text:p>x<draw:g>{shape}</draw:g></text:p>")),
        "Warning\n\nBox\n\nx\n\nWarning\n\nBox"
    );
    assert_eq!(text_of(&format!(r#"{forms}<text:p><draw:control draw:control="c1"/></text:p>"#)), "☒ Smoker");
    assert_eq!(
        text_of(
            "<text:p><text:ruby><text:ruby-base>東</text:ruby-base><text:ruby-text>とう</text:ruby-text></text:ruby></text:p>"
        ),
        "東(とう)"
    );
    assert_eq!(
        text_of(
            "<text:user-index><text:user-index-source/><text:index-body><text:p>Entry</text:p></text:index-body></text:user-index>"
        ),
        "Entry"
    );
    let masters = format!(
        r#"<office:document-styles {SPACES}><office:master-styles><style:master-page style:name="Standard"><style:header><text:p>Letter 4711</text:p></style:header><style:footer><text:p>1</text:p></style:footer></style:master-page><style:master-page style:name="Unused"><style:header><text:p>no</text:p></style:header></style:master-page></office:master-styles></office:document-styles>"#
    );
    let document = odf("text", "", "<text:p>Dear Ada</text:p>", &[("styles.xml", masters)]);
    assert_eq!(text(&document), "[header: Letter 4711]\n\nDear Ada\n\n1".replace("\n\n1", "\n\n[footer: 1]"));
    let chart = format!(
        "<office:document-content {SPACES}><office:body><office:chart><chart:chart><table:table><table:table-row><table:table-cell><text:p>Halden</text:p></table:table-cell><table:table-cell><text:p>412</text:p></table:table-cell></table:table-row></table:table></chart:chart></office:chart></office:body></office:document-content>"
    );
    let object = r#"<text:p><draw:frame><draw:object xlink:href="./Object 1"/></draw:frame></text:p>"#;
    let document = text(&odf("text", "", object, &[("Object 1/content.xml", chart)]));
    assert!(document.contains("[chart:]") && document.contains("| Halden | 412 |"), "{document}");
}

#[test]
fn slides_say_what_is_hidden_commented_or_on_their_master() {
    const P: &str = "http://schemas.openxmlformats.org/presentationml/2006/main";
    const A: &str = "http://schemas.openxmlformats.org/drawingml/2006/main";
    let spaces = format!(r#"xmlns:p="{P}" xmlns:a="{A}" xmlns:r="{R}""#);
    let sp = |place: &str, run: &str| {
        format!(
            "<p:sp><p:nvSpPr><p:cNvPr id=\"2\" name=\"s\"/><p:cNvSpPr/><p:nvPr>{place}</p:nvPr></p:nvSpPr><p:txBody><a:bodyPr/><a:p>{run}</a:p></p:txBody></p:sp>"
        )
    };
    let tree = |shapes: &str| format!("<p:cSld><p:spTree><p:nvGrpSpPr/><p:grpSpPr/>{shapes}</p:spTree></p:cSld>");
    let film = r#"<p:pic><p:nvPicPr><p:cNvPr id="3" name="talk.mp4"/><p:nvPr><a:videoFile r:link="v"/></p:nvPr></p:nvPicPr></p:pic>"#;
    let symbol = r#"<a:r><a:rPr><a:sym typeface="Wingdings"/></a:rPr><a:t>&#xF0E0;</a:t></a:r><a:r><a:t> 10</a:t></a:r><a:r><a:rPr baseline="30000"/><a:t>6</a:t></a:r>"#;
    let slide = format!(
        r#"<p:sld {spaces} show="0">{}</p:sld>"#,
        tree(&format!("{}{film}{}", sp("", symbol), sp(r#"<p:ph type="ftr"/>"#, "<a:r><a:t>Confidential</a:t></a:r>")))
    );
    let layout = format!(r"<p:sldLayout {spaces}>{}</p:sldLayout>", tree(&sp("", "<a:r><a:t>Example Ltd</a:t></a:r>")));
    let comments = format!(
        r#"<p:cmLst {spaces}><p:cm authorId="0" dt="2026-03-01T10:00:00"><p:text>Too long</p:text></p:cm></p:cmLst>"#
    );
    let authors = format!(r#"<p:cmAuthorLst {spaces}><p:cmAuthor id="0" name="Ada"/></p:cmAuthorLst>"#);
    let presentation = format!(
        r#"<p:presentation {spaces}><p:sldIdLst><p:sldId id="256" r:id="slide"/></p:sldIdLst></p:presentation>"#
    );
    let document = package(&[
        ("_rels/.rels", rels(&[("officeDocument", "ppt/presentation.xml")])),
        ("ppt/presentation.xml", presentation),
        (
            "ppt/_rels/presentation.xml.rels",
            rels(&[("slide", "slides/slide1.xml"), ("commentAuthors", "commentAuthors.xml")]),
        ),
        ("ppt/commentAuthors.xml", authors),
        ("ppt/slides/slide1.xml", slide),
        (
            "ppt/slides/_rels/slide1.xml.rels",
            rels(&[("slideLayout", "../slideLayouts/l.xml"), ("comments", "../comments/c.xml")]),
        ),
        ("ppt/slideLayouts/l.xml", layout),
        ("ppt/comments/c.xml", comments),
    ]);
    let lines = [
        "[slide 1]",
        "[this slide is hidden]",
        "→ 10⁶",
        "[film: talk.mp4]",
        "[footer: Confidential]",
        "[on the master of the slides: Example Ltd]",
        "[comment by Ada, 2026-03-01: Too long]",
    ];
    let shown = text(&document);
    assert_eq!(shown.lines().filter(|line| !line.is_empty()).collect::<Vec<_>>(), lines, "{shown}");
}

#[test]
fn rich_text_keeps_headers_comments_symbols_and_form_fields() {
    let fonts = r"{\fonttbl{\f0\fswiss Arial;}{\f1\froman\fcharset2 Symbol;}{\f2\fnil\fcharset2 Wingdings;}}";
    let of = |body: &str| text(format!(r"{{\rtf1\ansi\ansicpg1252{fonts}{body}}}").as_bytes());
    assert_eq!(of(r"5 {\f1 m}g at 20 {\f1\'b0}C {\f2\'fe} {\f2\u-3842?}.\par"), "5 µg at 20 °C ☑ ☑.");
    assert_eq!(of(r"{\header\pard Contract 4711\par}Dear Ada\par"), "[header:] Contract 4711\n\nDear Ada");
    let comment = r"{\*\atnid A}{\*\atnauthor Ada}\chatn{\*\annotation{\*\atnref 1}\pard\plain without freight\par}";
    assert_eq!(of(&format!(r"412 euros{comment}.\par")), "412 euros [comment by Ada: without freight].");
    assert_eq!(of(r"a {\v secret} b\par"), "a [hidden: secret] b");
    assert_eq!(of(r"a \v secret\v0 b\par c\par"), "a [hidden: secret]b\n\nc");
    assert_eq!(of(r"It costs {\deleted 100 }250.\par"), "It costs 250.");
    assert_eq!(of(r"10{\super -6} m{\super 2}, 1{\super st}\par"), "10⁻⁶ m², 1st");
    let box_of = |state: &str| {
        format!(r"{{\field{{\*\fldinst FORMCHECKBOX {{\*\formfield{{\fftype1{state}}}}}}}{{\fldrslt }}}}")
    };
    assert_eq!(
        of(&format!(r"{} Smoker {} Pregnant\par", box_of(r"\ffres1"), box_of(r"\ffres25\ffdefres0"))),
        "☒ Smoker ☐ Pregnant"
    );
    let document = convert(
        format!(r"{{\rtf1{fonts}x{{\object\objemb{{\*\objclass Excel.Sheet.8}}{{\*\objdata 00}}{{\result y}}}}{{\deleted z}}\par}}").as_bytes(),
        "file",
    )
    .unwrap();
    assert_eq!(document.text, "xy");
    assert_eq!(document.notes, ["not in the text: 1 deletion of tracked changes, 1 embedded object Excel.Sheet.8"]);
}
