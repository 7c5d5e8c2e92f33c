//! Server-sent events, framed from bytes in any chunking.

use turnwise_llm::sse::SseParser;

#[test]
fn events_are_framed_as_the_standard_says() {
    let cases: [(&str, &[&str]); 12] = [
        ("data: a\n\n", &["a"]),
        ("data:a\r\rdata:  b\r\r", &["a", " b"]),
        ("data: a\r\n\r\ndata: b\r\n\r\n", &["a", "b"]),
        ("data: a\ndata: b\ndata\n\n", &["a\nb\n"]),
        (":c\nevent: x\nid: 1\nretry: 2\ndata: a\nunknown\n\n", &["a"]),
        ("\u{feff}data: a\n\n", &["a"]),
        ("\u{feff}\u{feff}data: a\n\n", &[]),
        ("data: a", &["a"]),
        ("\n\n\n", &[]),
        ("data: é😀\n\n", &["é😀"]),
        (" data: a\n\nDATA: b\n\n", &[]),
        ("data: a\n\rdata: b\r\n\n", &["a", "b"]),
    ];
    for (stream, expected) in cases {
        for size in 1..=stream.len() {
            let (mut parser, mut events) = (SseParser::default(), Vec::new());
            let mut keep = |data: &[u8]| events.push(String::from_utf8(data.to_vec()).unwrap());
            for part in stream.as_bytes().chunks(size) {
                parser.push(part, &mut keep);
                parser.push(&[], &mut keep);
            }
            parser.finish(&mut keep);
            assert_eq!(events, expected, "{stream:?} by {size}");
        }
    }
}
