//! Replies without tool calls.

use super::*;

pub fn replies() -> Vec<Row> {
    let reasoning = || Step::Reply(Reply { reasoning: "hm".into(), ..Reply::default() });
    vec![
        row("a report at once", strict(), report(), "", 1, OK1, (0, 0)),
        row("a tool turn, then a report", strict(), script([turn(), report()]), "", 2, OK2, (0, 0)),
        row(
            "no tools: text only",
            strict(),
            then_report(vec![text("I am done")]),
            "1.1 text_only no_tools",
            2,
            OK1,
            (1, 0),
        ),
        row("empty", strict(), then_report(vec![text("")]), "1.1 empty_response no_tools", 2, OK1, (1, 0)),
        row(
            "white space only",
            strict(),
            then_report(vec![text(" \n\t")]),
            "1.1 empty_response no_tools",
            2,
            OK1,
            (1, 0),
        ),
        row("reasoning only", strict(), then_report(vec![reasoning()]), "1.1 reasoning_only no_tools", 2, OK1, (1, 0)),
        row(
            "text cut by its length",
            strict(),
            then_report(vec![cut_reply(text("half"))]),
            "1.1 truncated_output text_only no_tools",
            2,
            OK1,
            (1, 0),
        ),
        row(
            "calls cut by their length",
            strict(),
            then_report(vec![cut_reply(call("search", "{\"q\": \"ha"))]),
            "1.1 truncated_output",
            2,
            OK1,
            (1, 0),
        ),
        row(
            "a report cut by its length",
            strict(),
            then_report(vec![cut_reply(call("final_report", "{\"format\": \"te"))]),
            "1.1 truncated_output",
            2,
            OK1,
            (1, 0),
        ),
        row(
            "text twice: retries exhausted on turn 1",
            strict(),
            vec![text("a"), text("b")],
            "1.1 text_only no_tools; 1.2 text_only no_tools",
            2,
            SPENT1,
            (2, 1),
        ),
        row(
            "exhausted on turn 2, turn 1 done",
            strict(),
            script([turn(), vec![text("a"), text("")]]),
            "2.1 text_only no_tools; 2.2 empty_response no_tools",
            3,
            SPENT2,
            (2, 1),
        ),
        row(
            "one attempt only: the first failure ends the run",
            with(|c| c.max_attempts = 1),
            vec![text("a")],
            "1.1 text_only no_tools",
            1,
            SPENT1,
            (1, 1),
        ),
    ]
}
