//! A page of the web as text for a model: Markdown with its links, or the text as it is, with what has to be said about it.

use dom_query::Document;
use serde::Serialize;

use super::{FetchedPage, html, marks, url};

/// Frames that are named, at most.
const MAX_FRAMES: usize = 20;
/// A page with less text than this is looked at for why.
const FEW_CHARS: usize = 200;

/// What was read of an address.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct WebText {
    pub title: String,
    /// Markdown of an HTML page, otherwise the text as it is.
    pub text: String,
    /// What has to be said about it, one sentence each.
    pub notes: Vec<String>,
}

/// Whether a response is an HTML page. A server that declares nothing, or declares plain text, is not believed where the text begins as
/// HTML does: many servers do so for pages.
#[must_use]
pub fn is_html(content_type: &str, text: &str) -> bool {
    let kind = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match kind.as_str() {
        "text/html" | "application/xhtml+xml" => true,
        "" | "text/plain" | "application/octet-stream" | "application/xml" | "text/xml" => begins_as_html(text),
        _ => false,
    }
}

fn begins_as_html(text: &str) -> bool {
    let mut rest = text.trim_start_matches('\u{feff}').trim_start();
    for (open, close) in [("<?xml", "?>"), ("<!--", "-->")] {
        while let Some(after) = rest.strip_prefix(open) {
            rest = after.split_once(close).map_or("", |(_, rest)| rest.trim_start());
        }
    }
    let start = rest.get(..rest.floor_char_boundary(15)).unwrap_or_default().to_ascii_lowercase();
    start.starts_with("<!doctype html") || start.starts_with("<html") || start.starts_with("<head")
}

/// Reads the text of a response.
#[must_use]
pub fn read(got: &FetchedPage, text: &str) -> WebText {
    let mut notes = Vec::new();
    if !got.guessed.is_empty() {
        notes.push(format!("It does not declare its encoding; it was read as {}.", got.guessed));
    }
    if !is_html(&got.content_type, text) {
        return WebText { title: String::new(), text: text.to_owned(), notes };
    }
    let page = html::web_page(&got.url, text);
    if text.len() > html::MAX_PAGE_BYTES {
        notes.push(format!("Only its first {} MB were read.", html::MAX_PAGE_BYTES >> 20));
    }
    let mut markdown = page.markdown.join("\n\n");
    let few = marks::squeeze(&markdown).chars().count() < FEW_CHARS;
    // A large page has text, and is parsed once.
    if few || text.contains("<frame") || text.contains("<iframe") || text.contains("password") {
        let beside = Beside::read(
            &Document::from(text.get(..text.floor_char_boundary(html::MAX_PAGE_BYTES)).unwrap_or_default()),
            &page.head.base,
        );
        if !beside.frames.is_empty() {
            let frames = beside.frames.join("\n- ");
            markdown = format!(
                "{markdown}\n\nThe page shows other pages in frames, which are not part of this text:\n\n- {frames}"
            );
        }
        if beside.password && few {
            notes.push(
                "The page asks to sign in. Nothing is signed in here, so what is behind it cannot be read.".to_owned(),
            );
        }
        if few && !beside.noscript.is_empty() {
            markdown = format!("{markdown}\n\nFor browsers without scripts the page says: {}", beside.noscript);
        }
        if few && beside.scripts && !beside.password && beside.frames.is_empty() {
            notes.push("The page makes most of its text by scripts, which are not run here.".to_owned());
        }
    }
    WebText { title: page.text.title, text: markdown.trim().to_owned(), notes }
}

/// What is beside the text of a page.
struct Beside {
    frames: Vec<String>,
    noscript: String,
    password: bool,
    scripts: bool,
}

impl Beside {
    fn read(document: &Document, base: &str) -> Self {
        let frames = document.select("iframe[src], frame[src]");
        let frames = frames.nodes().iter().filter_map(|frame| url::join_whole(base, frame.attr("src")?.trim()));
        let frames = frames.filter(|address| address.starts_with("http")).take(MAX_FRAMES).collect();
        // The parser keeps what is inside as text.
        let noscript =
            document.select("noscript").nodes().iter().map(|node| html::plain(&node.text())).collect::<Vec<_>>();
        Beside {
            frames,
            noscript: marks::cut(&marks::squeeze(&noscript.join(" ")), 4_000).to_owned(),
            password: !document.select("input[type=password]").is_empty(),
            scripts: !document.select("script").is_empty(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(content_type: &str, text: &str) -> WebText {
        let got = FetchedPage {
            url: "https://a.example/dir/page".into(),
            content_type: content_type.into(),
            ..FetchedPage::default()
        };
        read(&got, text)
    }

    #[test]
    fn html_is_told_by_its_type_or_by_how_it_begins() {
        for (kind, text, expected) in [
            ("text/html; charset=utf-8", "hello", true),
            ("", "\u{feff}  <!DOCTYPE html><p>a", true),
            ("text/plain", "<!-- a --><html>", true),
            ("application/xml", "<?xml version=\"1.0\"?><html xmlns=\"x\">", true),
            ("text/plain", "a text about <html>", false),
            ("application/rss+xml", "<?xml version=\"1.0\"?><rss>", false),
            ("application/json", "<html>", false),
            ("", "<h", false),
        ] {
            assert_eq!(is_html(kind, text), expected, "{kind} {text}");
        }
    }

    #[test]
    fn links_are_whole_and_frames_are_named() {
        let page = of(
            "text/html",
            "<title>T</title><h1>Head</h1><p>See <a href=\"../b?c=(1)#d\">that</a>.<iframe src=\"/f\"></iframe>",
        );
        assert!(page.text.contains("[that](https://a.example/b?c=%281%29#d)"), "{}", page.text);
        assert!(page.text.contains("- https://a.example/f"), "{}", page.text);
        assert_eq!(page.title, "Head");
    }

    #[test]
    fn a_page_without_text_says_why() {
        let page = of(
            "text/html",
            "<div id=app></div><noscript>Please <b>enable</b> scripts</noscript><script src=a.js></script>",
        );
        assert!(page.text.contains("Please enable scripts"), "{page:?}");
        assert!(page.notes.iter().any(|note| note.contains("by scripts")), "{page:?}");
        let page = of("text/html", "<h1>Welcome</h1><form><input type=password></form>");
        assert!(page.notes.iter().any(|note| note.contains("sign in")), "{page:?}");
    }

    #[test]
    fn other_texts_stay_as_they_are() {
        let text = "{\"a\": \"<b>\"}\n";
        assert_eq!(of("application/json", text).text, text);
    }
}
