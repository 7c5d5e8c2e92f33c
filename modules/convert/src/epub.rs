//! A copy of an e-book in which readings of ruby are in parentheses. Chapters that are protected, damaged or missing are told.

use super::lost::Lost;
use super::parts::{Package, resolved};

/// The changed copy, and what is not in it. `None` if nothing had to be changed, or if the package cannot be read or written: the original
/// is read then.
///
/// # Errors
/// A sentence for a book whose chapters are encrypted.
pub fn prepared(bytes: &[u8]) -> Result<(Option<Vec<u8>>, Lost), String> {
    let mut lost = Lost::default();
    let mut changed_any = false;
    let Some(mut package) = Package::open(bytes) else { return Ok((None, lost)) };
    let Some(container) = package.part("META-INF/container.xml") else { return Ok((None, lost)) };
    let named = |one: &super::xml::Element, end: &str| one.name.rsplit(':').next() == Some(end);
    let all = |root: &super::xml::Element| {
        let mut found = Vec::new();
        super::odf::descend(root, &mut found);
        found.into_iter().cloned().collect::<Vec<_>>()
    };
    let index = all(&container.root).into_iter().find(|one| named(one, "rootfile"));
    let Some(index) = index.and_then(|one| one.attr("full-path").map(str::to_owned)) else { return Ok((None, lost)) };
    let Some(book) = package.part(&index) else { return Ok((None, lost)) };
    let folder = index.rsplit_once('/').map_or("", |(folder, _)| folder);
    let parts = all(&book.root);
    let encrypted: Vec<String> = package
        .part("META-INF/encryption.xml")
        .map(|part| all(&part.root))
        .unwrap_or_default()
        .iter()
        .filter(|one| named(one, "CipherReference"))
        .filter_map(|one| one.attr("URI").map(|name| resolved("", name)))
        .collect();
    for reference in parts.iter().filter(|one| named(one, "itemref")) {
        let item = parts.iter().find(|one| named(one, "item") && one.attr("id") == reference.attr("idref"));
        let Some(item) = item else {
            lost.one("missing chapter(s)");
            continue;
        };
        let name = percent_decoded(&resolved(folder, item.attr("href").unwrap_or_default()));
        if encrypted.contains(&name) {
            return Err("its chapters are encrypted by the copy protection of a shop (DRM)".to_owned());
        }
        let Some(chapter) = package.bytes(&name) else {
            lost.one("missing chapter(s)");
            continue;
        };
        let text = String::from_utf8_lossy(&chapter);
        if !text.contains("<body") && !text.contains(":body") {
            lost.one("chapter(s) without a text");
        } else if let Some(changed) = with_readings(&text) {
            package.change_bytes(&name, changed.into_bytes());
            changed_any = true;
        }
    }
    Ok((if changed_any { package.copy() } else { None }, lost))
}

/// `None` if the chapter has no ruby, or has parentheses for readers that do not know it.
fn with_readings(chapter: &str) -> Option<String> {
    if !chapter.contains("<rt") || chapter.contains("<rp") || chapter.contains('\u{fffd}') {
        return None;
    }
    let mut out = String::with_capacity(chapter.len() + 100);
    for (at, part) in chapter.split("<rt").enumerate() {
        match part.split_once('>') {
            // Other elements begin like it: rtc.
            Some((tag, rest)) if at > 0 && (tag.is_empty() || tag.starts_with(char::is_whitespace)) => {
                out.push_str(&format!("<rt{tag}>({rest}"));
            }
            _ if at > 0 => out.push_str(&format!("<rt{part}")),
            _ => out.push_str(part),
        }
    }
    Some(out.replace("</rt>", ")</rt>"))
}

fn percent_decoded(name: &str) -> String {
    let mut out = Vec::new();
    let mut rest = name.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = after
            .get(..2)
            .and_then(|hex| std::str::from_utf8(hex).ok())
            .and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match code.filter(|_| *first == b'%') {
            Some(code) => {
                out.push(code);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                out.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}
