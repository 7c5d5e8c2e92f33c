//! Texts in any encoding: read, searched, compared, edited and replaced, with a word about what was guessed.

use std::fmt::Write as _;

use serde_json::json;
use turnwise_files::encoding::{EncodingOrigin, Recognized, recognize};

use crate::support::memory::{Memory, call};

fn read(bytes: &[u8]) -> String {
    let mut files = Memory::with(&[("a.txt", bytes)]);
    call(&mut files, "read_file", json!({ "path": "a.txt" })).unwrap_or_else(|error| error)
}

fn encoded(text: &str, label: &str) -> Vec<u8> {
    turnwise_encoding::encode(text, label).unwrap()
}

fn utf16(text: &str, little: bool) -> Vec<u8> {
    text.encode_utf16().flat_map(|unit| if little { unit.to_le_bytes() } else { unit.to_be_bytes() }).collect()
}

#[test]
fn a_text_in_an_old_encoding_is_read_and_the_guess_is_said() {
    let rows = [
        ("windows-1252", "Die Stühle kosten 412 Euro.\nZeile zwei: Größe, Maß, façade, señor.\n"),
        ("windows-1250", "Příliš žluťoučký kůň úpěl ďábelské ódy. Zażółć gęślą jaźń, proszę Państwa.\n"),
        ("windows-1251", "Товар;Цена\nСтолы и стулья для конференц-зала;400\n"),
        ("KOI8-U", "Товар и цена. Столы и стулья для конференц-зала стоят 400 рублей.\n"),
        ("IBM866", "Товар и цена. Столы и стулья для конференц-зала стоят 400 рублей.\n"),
        ("windows-1253", "Η καρέκλα κοστίζει τετρακόσια ευρώ και το τραπέζι χίλια.\n"),
        ("windows-1255", "הכיסאות עולים ארבע מאות ושנים עשר יורו והשולחן אלף.\n"),
        ("windows-1256", "الكراسي تكلف أربعمائة واثني عشر يورو والطاولة ألف.\n"),
        ("windows-1254", "Sandalyeler dört yüz on iki avro tutuyor, şimdi ığdır ve İstanbul için değişti.\n"),
        ("Shift_JIS", "品名,価格\n机,400\n会議室の椅子,120\n"),
        ("EUC-JP", "品名,価格\n机,400\n会議室の椅子は十二脚あります。\n"),
        ("ISO-2022-JP", "品名と価格を書いた手紙です。\n"),
        ("GBK", "名称,价格\n桌子,400\n会议室的椅子一共有十二把。\n"),
        ("Big5", "名稱,價格\n桌子,400\n會議室的椅子一共有十二把。\n"),
        ("EUC-KR", "품명,가격\n책상,400\n회의실 의자는 모두 열두 개입니다.\n"),
    ];
    for (label, text) in rows {
        let bytes = encoded(text, label);
        let shown = read(&bytes);
        let (head, rest) = shown.split_once('\n').unwrap_or_default();
        assert_eq!(rest, text, "{label}: {head}");
        let name = label.replace("windows", "Windows");
        assert!(head.starts_with(&format!("[a.txt: text in {name}, ")), "{label}: {head}");
        let mut files = Memory::with(&[("a.txt", &bytes)]);
        let word = text.split(|c: char| !c.is_alphanumeric()).find(|word| !word.is_empty()).unwrap();
        let found = call(&mut files, "search_files", json!({ "query": word })).unwrap();
        assert!(found.starts_with("a.txt:1  "), "{label}: {found}");
    }
}

#[test]
fn utf16_and_utf32_are_read_with_and_without_a_mark() {
    let text = "The chairs cost 412 euros.\r\nLine two: Stühle\r\n";
    let lf = text.replace("\r\n", "\n");
    let rows = [
        ([b"\xff\xfe", utf16(text, true).as_slice()].concat(), "in UTF-16LE"),
        ([b"\xfe\xff", utf16(text, false).as_slice()].concat(), "in UTF-16BE"),
        (utf16(text, true), "in UTF-16LE, guessed from its bytes"),
        (utf16(&text.replace("Line two", "Строка два, 你好"), true), "in UTF-16LE, guessed from its bytes"),
        (utf16(text, false), "in UTF-16BE, guessed from its bytes"),
        (
            [b"\xff\xfe\0\0".to_vec(), text.chars().flat_map(|c| u32::from(c).to_le_bytes()).collect()].concat(),
            "in UTF-32LE",
        ),
    ];
    for (bytes, note) in rows {
        let shown = read(&bytes).replace("Строка два, 你好", "Line two");
        assert_eq!(shown, format!("[a.txt: text {note}; 2 lines of text]\n{lf}"));
    }
    let russian = utf16("Первая строка\nи вторая строка без всякой латиницы\n", true);
    assert!(read(&russian).ends_with("и вторая строка без всякой латиницы\n"), "{}", read(&russian));
    assert_eq!(read(b"\xef\xbb\xbfplain\n"), "plain\n", "UTF-8 with a mark has nothing to say");
    // An odd number of bytes: the last is no character.
    assert!(
        read(&[b"\xff\xfe", utf16("The chairs cost 412 euros.\n", true).as_slice(), b"\x41"].concat())
            .contains("1 place is no character of UTF-16LE")
    );
}

#[test]
fn nul_bytes_in_a_log_are_shown_at_their_place() {
    let hole = [&[0; 4096], b"2026-01-03 error code 412\n".as_slice()].concat();
    assert_eq!(
        read(&hole),
        "[a.txt: text in UTF-8; 4096 NUL bytes, shown as ␀; 1 lines of text]\n␀×4096".to_owned()
            + "2026-01-03 error code 412\n"
    );
    assert_eq!(read(b"A=1\0B=2\0"), "[a.txt: text in UTF-8; 2 NUL bytes, shown as ␀; 1 lines of text]\nA=1␀B=2␀\n");
    assert!(read(b"start\n\0\0Gr\xfc\xdfe aus K\xf6ln, error 412\n").contains("Grüße aus Köln, error 412"));
    let mut files = Memory::with(&[("app.log", &hole), ("b.log", b"one\0two\n")]);
    let found = call(&mut files, "search_files", json!({ "query": "error code" })).unwrap();
    assert!(found.starts_with("app.log:1  "), "{found}");
    call(&mut files, "edit_file", json!({ "path": "b.log", "old": "one␀two", "new": "one␀2" })).unwrap();
    assert_eq!(files.contents["b.log"], b"one\x002\n");
}

#[test]
fn binary_files_stay_binary() {
    let mut noise = Vec::new();
    let mut state = 7_u32;
    for _ in 0..4_000 {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        noise.push((state >> 24) as u8);
    }
    let numbers: Vec<u8> = (0..2_000_u16).flat_map(u16::to_le_bytes).collect();
    let rows: [&[u8]; 7] = [
        b"\x7fELF\x02\x01\x01\0\0\0\0\0",
        b"\0asm\x01\0\0\0\x01\x07\x01",
        b"SQLite format 3\0\x10\0\x01\x01\0@  \0\0\0\x02",
        &noise,
        &numbers,
        b"\xca\xfe\xba\xbe\0\0\0\x34\0\x1d\x0a\0\x06\0\x0f\x09",
        b"\0\x01",
    ];
    for bytes in rows {
        assert_eq!(recognize(bytes), Recognized::Binary, "{:?}", &bytes[..8.min(bytes.len())]);
        assert!(read(bytes).contains("is a binary file"), "{}", read(bytes));
    }
}

#[test]
fn a_broken_character_does_not_make_another_encoding_of_utf8() {
    let mut log: Vec<u8> = "Größe und Maß der Stühle: ✓ ✓ ✓\n".repeat(3).into_bytes();
    log.extend(b"broken \xe2\x82 here\n");
    let shown = read(&log);
    assert!(
        shown.starts_with("[a.txt: text in UTF-8; 1 place is no character of UTF-8 and is shown as U+FFFD; 4 lines"),
        "{shown}"
    );
    assert!(shown.contains("broken \u{fffd} here"));
    let mut files = Memory::with(&[("a.txt", &log)]);
    call(&mut files, "edit_file", json!({ "path": "a.txt", "old": " here", "new": " there" })).unwrap();
    let expected = [&log[..log.len() - 6], b" there\n"].concat();
    assert_eq!(files.contents["a.txt"], expected, "the broken bytes are as they were");
}

#[test]
fn what_a_text_declares_counts_if_it_fits() {
    let rows: [(&str, &str, &str); 8] = [
        ("a.xml", "<?xml version=\"1.0\" encoding=\"ISO-8859-2\"?>\n<a>Łódź</a>\n", "iso-8859-2"),
        ("a.html", "<!doctype html><meta charset=windows-1251><p>Товар</p>\n", "windows-1251"),
        (
            "b.html",
            "<html><head><meta http-equiv=\"Content-Type\" content=\"text/html; charset=koi8-r\"></head>Товар\n",
            "koi8-r",
        ),
        ("a.css", "@charset \"iso-8859-15\";\na::before { content: '€'; }\n", "iso-8859-15"),
        ("a.py", "#!/usr/bin/env python\n# -*- coding: cp1250 -*-\nx = 'Łódź'\n", "windows-1250"),
        ("a.txt", "# vim: set fileencoding=gbk :\n名称\n", "gbk"),
        ("a.tex", "\\documentclass{article}\n\\usepackage[latin2]{inputenc}\nŁódź\n", "iso-8859-2"),
        (
            "a.po",
            "msgid \"\"\nmsgstr \"\"\n\"Content-Type: text/plain; charset=iso-8859-2\\n\"\nmsgstr \"Łódź\"\n",
            "iso-8859-2",
        ),
    ];
    for (path, text, label) in rows {
        let mut files = Memory::with(&[(path, &encoded(text, label))]);
        let shown = call(&mut files, "read_file", json!({ "path": path })).unwrap();
        let (head, rest) = shown.split_once('\n').unwrap();
        assert_eq!(rest, text, "{path}: {head}");
        assert!(head.contains(", as it declares;"), "{path}: {head}");
    }
    // It declares what it is not.
    let wrong =
        encoded("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<a>Größe und Maß, Stühle für Köln</a>\n", "windows-1252");
    assert!(read(&wrong).contains("Größe und Maß"), "{}", read(&wrong));
    let Recognized::Old { declared } = recognize(b"A text about charset=koi8-r: caf\xe9\n") else { panic!() };
    assert_eq!(declared, None, "a text about encodings declares none");
}

#[test]
fn an_edit_keeps_the_encoding_the_mark_and_the_line_ends() {
    let text = "Erste Zeile: Größe\r\nZweite Zeile: Stühle 12 €\r\n";
    let new = "Erste Zeile: Größe\r\nZweite Zeile: Tische für 13 €\r\n";
    let with = |mark: &[u8], bytes: Vec<u8>| [mark, &bytes].concat();
    let rows = [
        (encoded(text, "windows-1252"), encoded(new, "windows-1252"), "Windows-1252"),
        (with(b"\xff\xfe", utf16(text, true)), with(b"\xff\xfe", utf16(new, true)), "UTF-16LE"),
        (with(b"\xfe\xff", utf16(text, false)), with(b"\xfe\xff", utf16(new, false)), "UTF-16BE"),
        (utf16(text, true), utf16(new, true), "UTF-16LE"),
        (with(b"\xef\xbb\xbf", text.into()), with(b"\xef\xbb\xbf", new.into()), ""),
    ];
    for (before, after, name) in rows {
        let mut files = Memory::with(&[("a.txt", &before)]);
        let said =
            call(&mut files, "edit_file", json!({ "path": "a.txt", "old": "Stühle 12", "new": "Tische für 13" }))
                .unwrap();
        assert_eq!(files.contents["a.txt"], after, "{name}");
        assert!(name.is_empty() || said.ends_with(&format!(", in {name} as before")), "{said}");
    }
    // Both bytes of a character whose second byte is a backslash, and a character that has two encodings.
    let sjis = b"\x95\x5c\x81\x41\xfa\x54 \x8a\xb7\n";
    let mut files = Memory::with(&[("a.txt", sjis)]);
    call(&mut files, "edit_file", json!({ "path": "a.txt", "old": "換", "new": "机" })).unwrap();
    assert_eq!(files.contents["a.txt"], b"\x95\x5c\x81\x41\xfa\x54 \x8a\xf7\n");
}

#[test]
fn a_character_that_the_encoding_lacks_changes_nothing_and_is_named() {
    let before = encoded("Die Stühle kosten 12 Euro, die Tische dreißig.\n", "windows-1252");
    let mut files = Memory::with(&[("a.txt", &before)]);
    let error =
        call(&mut files, "edit_file", json!({ "path": "a.txt", "old": "12 Euro", "new": "12 → 13" })).unwrap_err();
    let expected = "a.txt: nothing was changed: the file is in Windows-1252, which has no character → (U+2192); use characters of \
                    Windows-1252, or write_file with the whole text, which then becomes UTF-8";
    assert_eq!(error, expected);
    assert_eq!(files.contents["a.txt"], before);
    // write_file keeps the encoding where it can, and says so where it cannot.
    let said = call(&mut files, "write_file", json!({ "path": "a.txt", "content": "Größe\n" })).unwrap();
    assert_eq!(said, "Replaced a.txt: 1 lines, 6 B, in Windows-1252 as before");
    assert_eq!(files.contents["a.txt"], b"Gr\xf6\xdfe\n");
    let mut files = Memory::with(&[("a.txt", &before)]);
    let said = call(&mut files, "write_file", json!({ "path": "a.txt", "content": "12 → 13\n" })).unwrap();
    assert_eq!(said, "Replaced a.txt: 1 lines, 10 B; it was in Windows-1252 and is in UTF-8 now");
    assert_eq!(files.text("a.txt"), "12 → 13\n");
}

#[test]
fn a_diff_compares_characters_not_bytes() {
    let text = "Die Stühle kosten 12 Euro, die Tische dreißig.\n";
    let mut files = Memory::with(&[("old.txt", &encoded(text, "windows-1252")), ("new.txt", text.as_bytes())]);
    files.put("third.txt", "Die Stühle kosten 13 Euro, die Tische dreißig.\n".as_bytes());
    let same = call(&mut files, "diff_files", json!({ "a": "old.txt", "b": "new.txt" })).unwrap();
    assert_eq!(
        same,
        "old.txt and new.txt are equal as texts: old.txt is in Windows-1252, guessed from its bytes, new.txt is in UTF-8."
    );
    let diff = call(&mut files, "diff_files", json!({ "a": "old.txt", "b": "third.txt" })).unwrap();
    assert!(diff.starts_with("[old.txt: text in Windows-1252, guessed from its bytes]\n--- old.txt\n"), "{diff}");
    assert!(diff.contains("-Die Stühle kosten 12 Euro"), "{diff}");
}

#[test]
fn a_large_text_has_a_head_a_tail_and_any_line() {
    let mut log = String::new();
    let line = "INFO worker handled a request for an item of the list, and all went well as it should\n";
    let mut number = 0;
    while log.len() < 70 << 20 {
        number += 1;
        let _ = write!(log, "{number} {line}");
    }
    log.push_str("the last line: ERROR zirconium failure 412 grün");
    let total = number + 1;
    let mut files = Memory::with(&[("app.log", log.as_bytes())]);
    let mut part = |args| call(&mut files, "read_file", args).unwrap();
    let head = part(json!({ "path": "app.log", "limit": 2 }));
    assert!(head.starts_with(&format!("[app.log: text, 73.5 MB; {total} lines of text]\n1 INFO")), "{head}");
    assert!(head.ends_with(&format!("[lines 1-2 of {total}; continue with offset 3]")), "{head}");
    let tail = part(json!({ "path": "app.log", "offset": -2 }));
    assert!(tail.contains(&format!("\n{number} INFO")), "{tail}");
    assert!(
        tail.ends_with(&format!(
            "the last line: ERROR zirconium failure 412 grün\n[lines {number}-{total} of {total}]"
        )),
        "{tail}"
    );
    let middle = part(json!({ "path": "app.log", "offset": 500_000, "limit": 1 }));
    assert!(middle.contains("\n500000 INFO"), "{middle}");
    let found = call(&mut files, "search_files", json!({ "query": "zirconium error" })).unwrap();
    assert!(
        found.starts_with(&format!("app.log:{total}  1.00  \"the last line: ERROR zirconium failure 412 grün\"\n")),
        "{found}"
    );
    assert!(found.ends_with("[app.log (73.5 MB) was searched line by line: 1 line has 2 of 2 words]"), "{found}");
    let none = call(&mut files, "search_files", json!({ "query": "beryllium" })).unwrap();
    assert!(none.starts_with("No match for \"beryllium\" in 1 files."), "{none}");
}

#[test]
fn a_small_text_has_a_tail_too() {
    let mut files = Memory::with(&[("a.txt", b"one\ntwo\nthree\n")]);
    let mut tail = |offset: i64| call(&mut files, "read_file", json!({ "path": "a.txt", "offset": offset })).unwrap();
    assert_eq!(tail(-1), "three\n[lines 3-3 of 3]");
    assert_eq!(tail(-9), "one\ntwo\nthree\n");
}

#[test]
fn a_guess_is_a_guess() {
    let decoded = turnwise_encoding::decode(b"Gr\xfc\xdfe aus K\xf6ln", Some("no such label"));
    assert_eq!((decoded.text.as_str(), decoded.encoding.origin), ("Grüße aus Köln", EncodingOrigin::Guessed));
}
