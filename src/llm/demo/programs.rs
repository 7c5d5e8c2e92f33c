//! Tasks that the demo model solves with a program: it looks at the files, writes JavaScript for `run_code`, and answers with what
//! the program found. The programs read whatever files they are given; nothing here knows their content.

use serde_json::json;

use super::chat::{Call, Chat};
use super::wire::Reply;
use crate::engine::own_tools;

const RUN: &str = own_tools::PROGRAM;
const READ: &str = "read_file";
const QUERY: &str = "query_table";

/// A task for a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Job {
    /// A report and a workbook: where do their numbers differ?
    Compare,
    /// Many notes: whose actions are open?
    Count,
    /// A data set: how do its values depend on each other?
    Explore,
}

impl Job {
    fn of(chat: &Chat<'_>) -> Option<Self> {
        let task = chat.task.to_lowercase();
        let has = |words: &[&str]| words.iter().all(|word| task.contains(word));
        match chat.offers(RUN) {
            true if has(&["pdf", "xlsx"]) => Some(Job::Compare),
            true if has(&["notes", "action"]) => Some(Job::Count),
            true if has(&["csv", "chart"]) => Some(Job::Explore),
            _ => None,
        }
    }
}

/// The next reply to a task for a program; `None`: the task is another one, or it is time to answer.
pub(super) fn next(chat: &Chat<'_>) -> Option<Reply> {
    let job = Job::of(chat)?;
    let calls = |text: &str, calls: Vec<(&str, serde_json::Value)>| {
        let offered = calls.into_iter().filter(|(name, _)| chat.offers(name));
        Reply::calls(text.to_owned(), offered.map(|(name, args)| (name.to_owned(), args)).collect())
    };
    if chat.is_unused("list_files") {
        let args = if job == Job::Count { json!({ "prefix": "notes/" }) } else { json!({}) };
        return calls("First I look at what is there.", vec![("list_files", args)]);
    }
    if !chat.has_called(READ) {
        let look = match job {
            Job::Compare => {
                let mut look = vec![(READ, json!({ "path": file(chat, ".pdf") }))];
                look.push((QUERY, json!({ "sql": by_quarter(chat) })));
                calls("I read the report, and add up the workbook by quarter.", look)
            }
            Job::Count => {
                let first = chat.listed().first().copied().unwrap_or_default();
                calls("I read one note to see how they are written.", vec![(READ, json!({ "path": first }))])
            }
            Job::Explore => {
                let path = file(chat, ".csv");
                calls("I look at the columns first.", vec![(READ, json!({ "path": path, "limit": 6 }))])
            }
        };
        if look.is_some() {
            return look;
        }
    }
    let text = match job {
        Job::Compare => "A program compares them: numbers are not for reading by eye.",
        Job::Count => "The form is clear: a program reads all of them.",
        Job::Explore => "A program computes this and draws it.",
    };
    let code = match job {
        Job::Compare => filled(COMPARE, &[("REPORT", &file(chat, ".pdf")), ("SQL", &by_quarter(chat))]),
        Job::Count => COUNT.to_owned(),
        Job::Explore => filled(EXPLORE, &[("DATA", &file(chat, ".csv"))]),
    };
    // A second program would be the same.
    if chat.has_called(RUN) { None } else { calls(text, vec![(RUN, json!({ "code": code }))]) }
}

/// What the program found; `None`: there was none.
pub(super) fn answer(chat: &Chat<'_>) -> Option<String> {
    let job = Job::of(chat)?;
    let call = chat.calls_of(RUN).last()?;
    if call.failed {
        return Some(format!("The program failed, so I have no answer:\n\n> {}", call.result.replace('\n', "\n> ")));
    }
    let printed = printed(call);
    let line = |name: &str| printed.iter().find_map(|line| line.strip_prefix(name)).map(str::trim);
    Some(match job {
        Job::Compare => {
            let report = file(chat, ".pdf");
            let place = place(chat).map_or_else(|| report.clone(), |page| format!("{report}, page {page}"));
            let differing: Vec<&str> = printed.iter().filter_map(|line| line.strip_prefix("differs: ")).collect();
            let same = line("agrees:").unwrap_or("none");
            let found = match differing.as_slice() {
                [] => format!("**The report and the workbook agree** in every quarter ({place})."),
                lines => {
                    format!("**They do not agree.**\n\n- {}\n\nThe report says so in {place}.", lines.join("\n- "))
                }
            };
            let more = line("note:").map(|note| format!(" {note}")).unwrap_or_default();
            let book = file(chat, ".xlsx");
            format!(
                "{found}{more}\n\nQuarters that agree: {same}. The sums come from the rows of `{book}`, the chart shows both."
            )
        }
        Job::Count => {
            let (read, most) = (line("read:").unwrap_or("no notes"), line("most:").unwrap_or("nobody"));
            format!(
                "**{most}.**\n\nI read {read}, each with a call of its own inside one program. The table has everybody; a click on the \
                 name of a column sorts it."
            )
        }
        Job::Explore => {
            let found: Vec<String> = printed.iter().map(|line| format!("- {line}")).collect();
            let file = file(chat, ".csv");
            format!(
                "**What the data says**, computed from every line of `{file}`:\n\n{}\n\nThe chart shows the months.",
                found.join("\n")
            )
        }
    })
}

/// The lines that the program printed, without its value.
fn printed<'a>(call: &Call<'a>) -> Vec<&'a str> {
    call.result.lines().take_while(|line| !line.starts_with("=> ")).filter(|line| !line.is_empty()).collect()
}

/// The page of the report on which its numbers are.
fn place<'a>(chat: &Chat<'a>) -> Option<&'a str> {
    let text = chat.calls_of(READ).next()?.result;
    let mut page = None;
    for line in text.lines() {
        page = line.strip_prefix("[page ").and_then(|rest| rest.strip_suffix(']')).or(page);
        if line.contains("Q1") && line.contains(',') {
            return page;
        }
    }
    None
}

/// The first file of the workspace with this ending, or the one that the task names.
fn file(chat: &Chat<'_>, ending: &str) -> String {
    let named = chat.task.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    let named = named.into_iter().find(|word| word.to_lowercase().ends_with(ending));
    let listed = chat.listed().into_iter().find(|path| path.to_lowercase().ends_with(ending));
    listed.or(named).unwrap_or_default().to_owned()
}

/// The sums of the workbook. A table is named after its file and its sheet.
fn by_quarter(chat: &Chat<'_>) -> String {
    let path = file(chat, ".xlsx");
    let name = path.rsplit('/').next().unwrap_or_default().trim_end_matches(".xlsx");
    format!("SELECT quarter, SUM(revenue) AS revenue FROM {name}_Orders GROUP BY quarter ORDER BY quarter")
}

fn filled(program: &str, values: &[(&str, &String)]) -> String {
    let put = |program: String, (name, value): &(&str, &String)| {
        program.replace(&format!("\"{name}\""), &json!(value).to_string())
    };
    values.iter().fold(program.to_owned(), put)
}

const COMPARE: &str = r#"const report = await tools.read_file({ path: "REPORT" });
const rows = await tools.query_table({ sql: "SQL" });

// "Q1 229,100" in the report, "| Q1 | 229100 |" in the answer of the query
const amounts = (text) => Object.fromEntries(
  [...text.matchAll(/\b(Q[1-4])\b[^\d\n]+([\d,.]+)/g)].map(([, quarter, amount]) => [quarter, Number(amount.replaceAll(",", ""))]),
);
const [printed, counted] = [amounts(report), amounts(rows)];
const quarters = Object.keys(counted).sort();

const differs = quarters.filter((quarter) => printed[quarter] !== counted[quarter]);
for (const quarter of differs) {
  const less = printed[quarter] - counted[quarter];
  console.log(`differs: ${quarter}: the report says ${printed[quarter]}, the rows add up to ${counted[quarter]} (${Math.abs(less)} ${less > 0 ? "less" : "more"})`);
}
console.log("agrees:", quarters.filter((quarter) => !differs.includes(quarter)).join(", "));
const best = (amounts) => quarters.reduce((one, other) => (amounts[other] > amounts[one] ? other : one));
if (best(printed) !== best(counted)) console.log(`note: With the workbook's numbers ${best(counted)} is the strongest quarter, not ${best(printed)}.`);

({
  chart: "bar",
  title: "Revenue by quarter, in the report and in the workbook",
  x: quarters,
  x_label: "Quarter",
  y_label: "Revenue in euros",
  series: [
    { name: "Report", y: quarters.map((quarter) => printed[quarter] ?? null) },
    { name: "Workbook", y: quarters.map((quarter) => counted[quarter]) },
  ],
})"#;

const COUNT: &str = r#"const list = await tools.list_files({ prefix: "notes/" });
const paths = list.split("\n").map((line) => line.split("  ")[0]).filter((path) => path.endsWith(".md"));

const people = {};
await Promise.all(paths.map(async (path) => {
  const text = await tools.read_file({ path });
  for (const [, mark, person] of text.matchAll(/^- \[( |x)\] ([^:]+):/gm)) {
    people[person] ??= { person, open: 0, done: 0 };
    people[person][mark === "x" ? "done" : "open"] += 1;
  }
}));

const table = Object.values(people).sort((one, other) => other.open - one.open);
for (const row of table) row.share_done = `${Math.round((100 * row.done) / (row.open + row.done))} %`;
const open = table.reduce((sum, row) => sum + row.open, 0);
console.log(`read: ${paths.length} notes with ${open} open actions`);
console.log(`most: ${table[0].person} has the most open actions: ${table[0].open} of ${open}`);
table"#;

const EXPLORE: &str = r#"// The whole file, part by part.
let text = "";
for (let offset = 1; offset; ) {
  const part = await tools.read_file({ path: "DATA", offset });
  const [, more] = part.match(/continue with offset (\d+)\]\s*$/) ?? [];
  text += part.replace(/\[lines \d+-\d+ of \d+.*\]\s*$/, "");
  offset = Number(more ?? 0);
}
const [head, ...lines] = text.trim().split("\n").map((line) => line.split(","));
const days = lines.map((cells) => Object.fromEntries(cells.map((cell, at) => [head[at], Number.isNaN(Number(cell)) ? cell : Number(cell)])));

const mean = (list) => list.reduce((sum, n) => sum + n, 0) / list.length;
const rides = (list) => list.map((day) => day.rides);
const correlation = (xs, ys) => {
  const [mx, my] = [mean(xs), mean(ys)];
  const sum = (f) => xs.reduce((all, x, at) => all + f(x - mx, ys[at] - my), 0);
  return sum((x, y) => x * y) / Math.sqrt(sum((x) => x * x) * sum((_, y) => y * y));
};
const [dry, wet] = [days.filter((day) => day.rain_mm === 0), days.filter((day) => day.rain_mm > 0)];
console.log(`${days.length} days: ${Math.round(mean(rides(dry)))} rides on a dry day, ${Math.round(mean(rides(wet)))} on a day with rain`);
console.log(`correlation of rides with temperature ${correlation(days.map((day) => day.temperature_c), rides(days)).toFixed(2)}, with rain ${correlation(days.map((day) => day.rain_mm), rides(days)).toFixed(2)}`);
const weekdays = [...new Set(days.map((day) => day.weekday))]
  .map((name) => [name, Math.round(mean(rides(days.filter((day) => day.weekday === name))))])
  .sort((one, other) => other[1] - one[1]);
console.log(`most rides on a ${weekdays[0][0]} (${weekdays[0][1]}), fewest on a ${weekdays.at(-1)[0]} (${weekdays.at(-1)[1]})`);

const months = [...new Set(days.map((day) => day.date.slice(0, 7)))];
const of = (list) => months.map((month) => {
  const found = rides(list.filter((day) => day.date.startsWith(month)));
  return found.length ? Math.round(mean(found)) : null;
});
({
  chart: "line",
  title: "Rides per day, by month",
  x: months,
  y_label: "Rides per day",
  series: [{ name: "Dry days", y: of(dry) }, { name: "Days with rain", y: of(wet) }],
})"#;
