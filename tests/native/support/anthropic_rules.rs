//! The rules that Anthropic's Messages API enforces with a 400, according to its documentation and error messages.

use serde_json::Value;

/// Checks a request. `has_notice`: the last block is for this request only, and carries no mark.
pub fn check(body: &Value, has_notice: bool) -> Result<(), String> {
    rules(body)?;
    marks(body, body["messages"].as_array().ok_or("no messages")?, has_notice)
}

/// The rules about anything but the marks.
pub fn rules(body: &Value) -> Result<(), String> {
    let messages = body["messages"].as_array().ok_or("no messages")?;
    let mut waiting: Vec<&str> = Vec::new();
    let (mut tool_blocks, mut thoughts, mut seen) = (false, false, Vec::new());
    for (at, message) in messages.iter().enumerate() {
        let role = if at % 2 == 0 { "user" } else { "assistant" };
        rule(message["role"] == role, "roles alternate and the first is the user's")?;
        let blocks = message["content"].as_array().ok_or("content is a list")?;
        rule(!blocks.is_empty(), "no message is empty")?;
        let mut answered = Vec::new();
        for block in blocks {
            match block["type"].as_str().ok_or("a block has a type")? {
                "text" => {
                    let text = block["text"].as_str().ok_or("a text")?;
                    rule(!text.trim().is_empty(), "no text is blank")?;
                }
                "image" | "document" if role == "user" => {}
                "tool_result" if role == "user" => {
                    tool_blocks = true;
                    rule(block.get("content").is_none_or(|content| content != ""), "no result is an empty text")?;
                    answered.push(block["tool_use_id"].as_str().ok_or("an id")?);
                }
                "tool_use" if role == "assistant" => {
                    tool_blocks = true;
                    let (id, name) = (block["id"].as_str().ok_or("an id")?, block["name"].as_str().ok_or("a name")?);
                    rule(fits(id) && fits(name), "ids and names are of few characters")?;
                    rule(!seen.contains(&id), "ids are unique")?;
                    rule(block["input"].is_object(), "the input is an object")?;
                    seen.push(id);
                    waiting.push(id);
                }
                "thinking" if role == "assistant" => {
                    thoughts = true;
                    rule(block["thinking"].is_string() && block["signature"].is_string(), "thoughts are whole")?;
                    rule(block.get("cache_control").is_none(), "no mark on a thought")?;
                }
                other => return Err(format!("{other} in a message of the {role}'s")),
            }
        }
        let first_other = blocks.iter().position(|block| block["type"] != "tool_result").unwrap_or(blocks.len());
        if role == "user" {
            rule(answered == waiting, "the results are those of the calls before, all of them")?;
            rule(first_other >= answered.len(), "results come before anything else")?;
            waiting.clear();
        } else {
            rule(blocks[blocks.len() - 1]["type"] != "thinking", "no message ends with a thought")?;
        }
    }
    rule(waiting.is_empty(), "every call is answered")?;
    rule(!tool_blocks || body["tools"].as_array().is_some_and(|tools| !tools.is_empty()), "tool blocks need tools")?;
    rule(body.get("tool_choice").is_none() || body.get("tools").is_some(), "a choice needs tools")?;
    rule(!thoughts || body["tool_choice"]["type"] != "tool", "who thinks is not forced")?;
    let last = messages.last().ok_or("no messages")?;
    let blocks = last["content"].as_array().ok_or("content is a list")?;
    if last["role"] == "assistant" {
        let text = blocks[blocks.len() - 1]["text"].as_str().unwrap_or_default();
        rule(text.trim_end() == text, "the last text does not end with white space")?;
    }
    Ok(())
}

/// Checks the marks: one breakpoint on the system text, one on the last frozen block, one before the last reply.
fn marks(body: &Value, messages: &[Value], has_notice: bool) -> Result<(), String> {
    let all: Vec<&Value> = messages.iter().flat_map(|message| message["content"].as_array().unwrap()).collect();
    let marked: Vec<usize> = (0..all.len()).filter(|at| all[*at].get("cache_control").is_some()).collect();
    let frozen = all.len() - usize::from(has_notice);
    rule(marked.last() == Some(&(frozen - 1)), "a mark is on the last frozen block")?;
    rule(marked.len() <= 2, "at most two marks in messages")?;
    rule(
        body.get("system").is_none_or(|system| system[0]["cache_control"]["type"] == "ephemeral"),
        "the system text is marked",
    )
}

fn fits(id: &str) -> bool {
    !id.is_empty() && id.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
}

fn rule(kept: bool, rule: &str) -> Result<(), String> {
    if kept { Ok(()) } else { Err(format!("against the rule: {rule}")) }
}
