//! ZIP archives without compression: their headers and checksums.

use turnwise_files::zip::{Crc32, TooMuch, ZipEntry, frame};

fn crc(of: &[u8]) -> u32 {
    let mut crc = Crc32::new();
    of.chunks(3).for_each(|piece| crc.update(piece));
    crc.finish()
}

#[test]
fn the_checksum_is_the_one_everybody_knows() {
    assert_eq!(crc(b""), 0);
    assert_eq!(crc(b"123456789"), 0xcbf4_3926);
    assert_eq!(crc(b"The quick brown fox jumps over the lazy dog"), 0x414f_a339);
}

#[test]
fn offsets_and_sizes_are_those_of_the_whole() {
    let contents: [&[u8]; 3] = [b"one", b"", "zwei \u{e4}".as_bytes()];
    let paths = ["a.txt", "empty", "notes/\u{fc}ber.md"];
    let entries: Vec<ZipEntry> = paths
        .iter()
        .zip(contents)
        .map(|(path, content)| ZipEntry { path: (*path).into(), size: content.len() as u32, crc: crc(content) })
        .collect();
    let (heads, tail) = frame(&entries).unwrap();
    let mut whole: Vec<u8> =
        heads.iter().zip(contents).flat_map(|(head, content)| [head.as_slice(), content].concat()).collect();
    let directory = whole.len();
    whole.extend(&tail);
    let number = |at: usize, length: usize| (0..length).fold(0, |n, i| n | usize::from(whole[at + i]) << (8 * i));
    let end = whole.len() - 22;
    assert_eq!((number(end, 4), number(end + 10, 2)), (0x0605_4b50, 3));
    assert_eq!((number(end + 12, 4), number(end + 16, 4)), (end - directory, directory));
    let mut at = directory;
    for (path, content) in paths.iter().zip(contents) {
        assert_eq!(number(at, 4), 0x0201_4b50);
        let local = number(at + 42, 4);
        assert_eq!(number(local, 4), 0x0403_4b50);
        let start = local + 30 + number(local + 26, 2);
        assert_eq!(&whole[local + 30..start], path.as_bytes());
        assert_eq!(&whole[start..start + number(at + 24, 4)], content);
        assert_eq!(number(at + 16, 4), crc(content) as usize);
        at += 46 + number(at + 28, 2);
    }
    assert_eq!(at, end);
}

#[test]
fn what_does_not_fit_is_refused() {
    let large = ZipEntry { path: "a".into(), size: u32::MAX - 10, crc: 0 };
    assert_eq!(frame(&[large]), Err(TooMuch));
    let many = vec![ZipEntry { path: "a".into(), size: 0, crc: 0 }; 70_000];
    assert_eq!(frame(&many), Err(TooMuch));
    assert!(frame(&[]).is_ok());
}
