//! The history by itself: its size, by which the context window is estimated, and the hash of each request.

use crate::support::*;
use turnwise_engine::history::{History, request_hash};
use turnwise_engine::*;

fn result(content: &str, images: Vec<Image>) -> Message {
    let call_id = CallId("a".into());
    Message::Tool(ToolMessage { call_id, name: "search".into(), content: content.into(), images, is_error: false })
}

fn image(media_type: &str, bytes: usize) -> Image {
    Image { data: "A".repeat(bytes), media_type: media_type.into() }
}

/// The size after any change is the one that the same messages have from the start.
fn checked(history: &History) -> u64 {
    let shown = history.shown().into_iter().map(|message| message.into_owned()).collect();
    let anew = History::new(&config(Preset::Research), shown);
    assert_eq!(history.bytes(), anew.bytes());
    history.bytes()
}

#[test]
fn its_size_is_that_of_its_messages() {
    let config = config(Preset::Research);
    let mut history = History::new(&config, vec![Message::user("12345")]);
    assert_eq!(checked(&history), 5);
    history.set_system("123".into());
    assert_eq!(checked(&history), 8);
    history.set_system("1".into());
    assert_eq!(checked(&history), 6);
    let call = ToolCall::new(CallId("a".into()), "search".into(), "{}".into());
    history.push(Message::Assistant(AssistantMessage {
        content: "12".into(),
        tool_calls: vec![call],
        ..AssistantMessage::default()
    }));
    assert_eq!(checked(&history), 6 + 2 + 6 + 2);
    history.push(result("1234567890", vec![]));
    history.extend_last(" more");
    assert_eq!(checked(&history), 16 + 15);
    history.send(&config.providers[0], &[], ToolChoice::Auto);
    history.extend_last(" and more: it was sent");
    assert_eq!(checked(&history), 31);
}

#[test]
fn a_picture_weighs_what_it_costs_and_not_its_bytes() {
    let config = config(Preset::Research);
    let bytes = |image| History::new(&config, vec![result("", vec![image])]).bytes();
    assert_eq!([8, 1_000_000].map(|size| bytes(image("image/png", size))), [6_000; 2]);
    assert_eq!([8, 48_000, 80_000].map(|size| bytes(image("application/pdf", size))), [6_000, 6_000, 10_000]);
}

#[test]
fn results_are_shortened_and_never_made_longer() {
    let config = config(Preset::Research);
    let texts = |history: &History| {
        let shown = history.shown();
        let results = shown.iter().filter_map(|message| match message.as_ref() {
            Message::Tool(tool) => Some((tool.content.clone(), tool.images.len())),
            _ => None,
        });
        results.collect::<Vec<_>>()
    };
    let mut history =
        History::new(&config, vec![result("a long result", vec![image("image/png", 8)]), result("hi!", vec![])]);
    history.send(&config.providers[0], &[], ToolChoice::Auto);
    let before = history.send(&config.providers[0], &[], ToolChoice::Auto).base;
    history.shorten(&config, usize::MAX, |_| Some("cut".into()));
    assert_eq!(texts(&history), [("cut".to_owned(), 0), ("hi!".to_owned(), 0)]);
    assert_eq!(checked(&history), 6);
    // What was sent is outdated: all of it is sent again, as a new base.
    let after = history.send(&config.providers[0], &[], ToolChoice::Auto);
    assert_eq!((after.base.0, after.append.len()), (before.0 + 1, 2));
    history.shorten(&config, usize::MAX, |_| Some("too long".into()));
    let unchanged = history.send(&config.providers[0], &[], ToolChoice::Auto);
    assert_eq!((unchanged.base, unchanged.append.len()), (after.base, 0));
}

#[test]
fn a_request_has_the_same_hash_however_it_was_put_together() {
    let config = config(Preset::Research);
    let messages = [Message::system("s"), Message::user("u"), result("r", vec![])];
    let tail = [Message::user("the end")];
    let mut history = History::new(&config, Vec::new());
    for message in messages.clone() {
        history.push(message);
        history.send(&config.providers[0], &[], ToolChoice::Auto);
    }
    let sent = history.send(&config.providers[0], &tail, ToolChoice::None).request_hash;
    assert_eq!(sent, request_hash(&config, &messages, &config.providers[0], &tail, ToolChoice::None));
    let others = [
        request_hash(&config, &messages[..2], &config.providers[0], &tail, ToolChoice::None),
        request_hash(&config, &messages, &config.providers[0], &[], ToolChoice::None),
        request_hash(&config, &messages, &config.providers[0], &tail, ToolChoice::Auto),
    ];
    assert!(sent.len() == 64 && others.iter().all(|other| other.len() == 64 && *other != sent));
}
