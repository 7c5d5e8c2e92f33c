//! The kind that a file is shown as, by its first bytes and its name.

use turnwise_content::markdown::{Node, is_rtl};
use turnwise_files::kind::FileKind;

fn words(name: &str, head: &[u8]) -> &'static str {
    FileKind::detect(name, head).label()
}

#[test]
fn bytes_say_more_than_names() {
    let rows: &[(&str, &[u8], &str)] = &[
        ("a.txt", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "PNG picture"),
        ("a", b"\xff\xd8\xff\xe0\0\x10JFIF", "JPEG picture"),
        ("a.bin", b"RIFF\x24\0\0\0WEBPVP8 ", "WebP picture"),
        ("a.pdf", b"%PDF-1.7\n%\xe2\xe3\xcf\xd3", "PDF document"),
        ("a.pdf", b"no PDF at all\n", "Text"),
        ("a.docx", b"PK\x03\x04\x14\0\x06\0", "Word document"),
        ("a.zip", b"PK\x03\x04\x14\0\0\0", "ZIP archive"),
        ("a.mp4", b"\0\0\0\x20ftypisom", "Video file"),
        ("a.avif", b"\0\0\0\x20ftypavif", "AVIF picture"),
        ("a.dat", b"\x00\x01\x02", "Binary file"),
        ("a.dat", b"\x01\x02\x03\x04 and a few letters", "Binary file"),
    ];
    for (name, head, expected) in rows {
        assert_eq!(words(name, head), *expected, "{name} {head:?}");
    }
}

#[test]
fn texts_of_any_encoding_are_texts() {
    for head in [
        "Grüße\n".as_bytes(),
        b"",
        b"a,b\r\n1,2\r\n",
        b"\xef\xbb\xbfwith a mark",
        b"Gr\xfc\xdfe in Latin-1\n",
        b"\x1b[1mbold\x1b[0m\n",
    ] {
        assert_eq!(FileKind::detect("notes.txt", head), FileKind::Text, "{head:?}");
    }
}

#[test]
fn an_svg_is_a_picture_wherever_its_root_begins() {
    assert_eq!(words("a.svg", b"<?xml version=\"1.0\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\"/>"), "SVG picture");
    assert_eq!(words("chart", b"\n  <svg width=\"1\"/>"), "SVG picture");
    assert_eq!(words("a.svg", b"not one"), "Text");
    assert_eq!(words("a.html", b"<!doctype html><svg/>"), "Text");
}

#[test]
fn the_first_letter_decides_the_direction() {
    let rows =
        [("שלום", true), ("12. سلام", true), ("Hello שלום", false), ("123 !?", false), ("", false), ("日本語", false)];
    for (text, rtl) in rows {
        assert_eq!(is_rtl(&[Node::Text(text.to_owned())]), rtl, "{text}");
    }
}
