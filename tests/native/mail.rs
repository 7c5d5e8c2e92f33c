//! Mails, folders of mails, web archives and Outlook messages as text; what is attached to them.

use std::io::{Cursor, Write};

use turnwise_convert::{attachment, convert};
use turnwise_files::document::{Container, container};

fn text(bytes: &[u8]) -> String {
    assert_eq!(container(&bytes[..bytes.len().min(1024)]), Some(Container::Mail));
    let document = convert(bytes, "a.eml").unwrap();
    format!("[{}; {}]\n{}", document.kind, document.notes.join("; "), document.text)
}

#[test]
fn a_body_is_decoded_whatever_it_is_packed_in() {
    let head = "From: Ada <ada@example.org>\r\nTo: bo@example.org\r\nSubject: =?utf-8?B?QW5nZWJvdCBmw7xyIFN0w7xobGU=?=\r\nMIME-Version: 1.0\r\n";
    let rows = [
        (
            "Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\nVGhlIGNoYWlycyBjb3N0IDQxMiBldXJvcy4K\r\n",
            "The chairs cost 412 euros.",
        ),
        (
            "Content-Type: text/plain; charset=iso-8859-1\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nSt=FChle kosten 412 =\r\nEuro.\r\n",
            "Stühle kosten 412 Euro.",
        ),
        ("Content-Type: text/plain; charset=koi8-r\r\nContent-Transfer-Encoding: 8bit\r\n\r\n\u{1}", "Товар"),
        (
            "Content-Type: text/plain; charset=\"gb2312\"\r\nContent-Transfer-Encoding: base64\r\n\r\nw/uzxg==\r\n",
            "名称",
        ),
        (
            "Content-Type: text/html; charset=utf-8\r\n\r\n<html><head><style>p{}</style></head><body><p>St&uuml;hle <b>kosten</b> 412&nbsp;&euro;</p></body></html>\r\n",
            "Stühle kosten 412 €",
        ),
    ];
    for (part, expected) in rows {
        let mut bytes = format!("{head}{part}").into_bytes();
        if bytes.last() == Some(&1) {
            bytes.pop();
            bytes.extend(turnwise_encoding::encode("Товар\r\n", "koi8-r").unwrap());
        }
        let shown = text(&bytes);
        assert!(shown.contains("# Angebot für Stühle") && shown.contains("From: Ada <ada@example.org>"), "{shown}");
        assert!(shown.contains(expected), "{expected}: {shown}");
    }
}

const MIXED: &str = "Return-Path: <ada@example.org>\nFrom: =?iso-8859-1?Q?J=FCrgen?= <j@example.org>\nTo: bo@example.org\nDate: Fri, 27 Nov 2026 10:00:00 +0100\n\
Subject: Report\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"out\"\n\nThis is a multi-part message.\n\
--out\nContent-Type: multipart/alternative; boundary=in\n\n--in\nContent-Type: text/plain\n\nThe plain text of the report.\n\
--in\nContent-Type: text/html\n\n<p>The <b>HTML</b> text of the report.</p>\n--in--\n\
--out\nContent-Type: text/csv; name=sales.csv\nContent-Disposition: attachment; filename=sales.csv\n\nregion,amount\nnorth,412\n\
--out\nContent-Type: application/pdf\nContent-Disposition: attachment; filename*=utf-8''Stu%CC%88hle%20%C3%BCber.pdf\nContent-Transfer-Encoding: base64\n\nJVBERi0xLjcK\n\
--out\nContent-Type: message/rfc822\n\nFrom: carl@example.org\nSubject: Forwarded\nMIME-Version: 1.0\n\nThe forwarded text.\n--out--\n";

#[test]
fn what_is_attached_is_named_and_can_be_read() {
    let shown = text(MIXED.as_bytes());
    assert!(
        shown.starts_with("[mail; what is attached can be read by its path below that of this file]\n# Report\n"),
        "{shown}"
    );
    assert!(
        shown.contains("From: Jürgen <j@example.org>\nTo: bo@example.org\nDate: 2026-11-27T10:00:00+01:00\n"),
        "{shown}"
    );
    assert!(
        shown.contains("The plain text of the report.") && !shown.contains("HTML"),
        "one of the two forms: {shown}"
    );
    assert!(
        shown.contains("- sales.csv  23 B  text/csv\n") && shown.contains("über.pdf  9 B  application/pdf\n"),
        "{shown}"
    );
    let files = convert(MIXED.as_bytes(), "a.eml").unwrap().files;
    let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!((paths[0], paths[2]), ("sales.csv", "Forwarded.eml"));
    assert_eq!(attachment(MIXED.as_bytes(), "sales.csv").unwrap(), b"region,amount\nnorth,412");
    let forwarded = attachment(MIXED.as_bytes(), "Forwarded.eml").unwrap();
    assert!(text(&forwarded).contains("The forwarded text."));
    assert_eq!(attachment(MIXED.as_bytes(), "../etc/passwd").unwrap_err(), "it is not attached to this mail");
}

#[test]
fn a_web_archive_is_a_page() {
    let page = "Date: Fri, 27 Nov 2026 10:00:00 +0000 (UTC)\nMIME-Version: 1.0\nContent-Type: multipart/related; boundary=\"b1\"\nSubject: Exported From Confluence\n\n\
--b1\nContent-Type: text/html; charset=UTF-8\nContent-Transfer-Encoding: quoted-printable\n\n<html><body><h1>Turbine handbook</h1><p>The turbine in Halden is st=\n\
arted with the green lever; st=C3=BChle are in room 4.</p><table><tr><th>Part</th><th>Price</th></tr><tr><td>Lever<br>green</td><td>412</td></tr></table>\
<ul><li>one</li><li>two <a href=3D\"https://example.org/x\">more</a></li></ul></body></html>\n\
--b1\nContent-Type: image/png\nContent-Location: file:///C:/images/pump.png\nContent-Transfer-Encoding: base64\n\niVBORw0KGgo=\n--b1--\n";
    let shown = text(page.as_bytes());
    assert!(shown.starts_with("[web archive (MHTML); "), "{shown}");
    assert!(
        shown.contains(
            "# Turbine handbook\n\nThe turbine in Halden is started with the green lever; stühle are in room 4."
        ),
        "{shown}"
    );
    assert!(shown.contains("| Part | Price |\n| --- | --- |\n| Lever green | 412 |"), "{shown}");
    assert!(shown.contains("- one\n- two more (https://example.org/x)"), "{shown}");
    assert!(shown.contains("- pump.png  8 B  image/png"), "{shown}");
}

#[test]
fn a_folder_of_mails_has_a_place_for_each() {
    let one = |number: usize| {
        format!(
            "From ada@example.org Fri Nov 27 10:00:0{number} 2026\nFrom: ada@example.org\nSubject: Number {number}\nMessage-ID: <{number}@x>\n\nText {number}.\n\n"
        )
    };
    let folder: String = (1..=3).map(one).collect();
    let document = convert(folder.as_bytes(), "a.mbox").unwrap();
    assert_eq!(document.kind, "mail folder, 3 messages");
    assert_eq!(
        document.places.iter().map(|place| place.name.as_str()).collect::<Vec<_>>(),
        ["message 1", "message 2", "message 3"]
    );
    assert!(document.text.contains("[message 2]\n# Number 2\n"), "{}", document.text);
}

#[test]
fn a_text_that_begins_like_a_mail_is_a_text() {
    for text in [
        "Title: My notes\nDate: 2026-11-27\n\nText",
        "Subject: x\nFrom: y\n\nz",
        "From here on: nothing\n",
        "note: a\nb: c\n",
        "Received: yes\n",
        "# MIME-Version: 1.0\n",
    ] {
        assert_eq!(container(text.as_bytes()), None, "{text}");
    }
}

#[test]
fn damaged_mails_end() {
    let cut = |at: usize| convert(&MIXED.as_bytes()[..at], "a.eml");
    for at in (40..MIXED.len()).step_by(37) {
        let _ = cut(at);
    }
    let nested: String =
        (0..400).map(|n| format!("Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n")).collect();
    let _ = convert(format!("MIME-Version: 1.0\n{nested}").as_bytes(), "a.eml");
    let soup = "<table><tr><td>".repeat(5_000) + "text" + &"<a href='".repeat(1_000);
    let _ = convert(format!("MIME-Version: 1.0\nContent-Type: text/html\n\n{soup}").as_bytes(), "a.eml");
}

#[test]
fn an_outlook_message_says_what_it_is() {
    let mut file = cfb::CompoundFile::create(Cursor::new(Vec::new())).unwrap();
    let utf16 = |text: &str| -> Vec<u8> { text.encode_utf16().flat_map(u16::to_le_bytes).collect() };
    file.create_storage("/__nameid_version1.0").unwrap();
    file.create_storage("/__attach_version1.0_#00000000").unwrap();
    for (path, content) in [
        ("/__properties_version1.0", vec![0; 32]),
        ("/__substg1.0_0037001F", utf16("Angebot für Stühle")),
        ("/__substg1.0_0C1A001F", utf16("Ada")),
        ("/__substg1.0_0E04001E", b"Bo".to_vec()),
        ("/__substg1.0_1000001F", utf16("Die Stühle kosten 412 Euro.\r\nGruß")),
        ("/__attach_version1.0_#00000000/__substg1.0_3707001F", utf16("Preise.xlsx")),
    ] {
        file.create_stream(path).unwrap().write_all(&content).unwrap();
    }
    file.flush().unwrap();
    let document = convert(&file.into_inner().into_inner(), "a.msg").unwrap();
    assert_eq!(document.kind, "Outlook message");
    assert_eq!(
        document.text,
        "# Angebot für Stühle\n\nFrom: Ada\nTo: Bo\n\nDie Stühle kosten 412 Euro.\nGruß\n\nAttached:\n- Preise.xlsx"
    );
    assert!(document.notes[0].starts_with("what is attached is named, not read"));
}
