//! Tasks that the demo model solves with a program: it looks at the files, writes JavaScript for `run_code`, and answers with what
//! the program found. Files and columns are chosen by the words of the task and by what the files hold. If a file or a column
//! that a program needs is not there, the task is an ordinary one.

use serde_json::{Value, json};

use super::chat::{Chat, PastCall};
use super::text::{is_same, words};
use super::wire::DemoReply;
use turnwise_engine::own_tools;

const RUN: &str = own_tools::PROGRAM;
const LIST: &str = "list_files";
const READ: &str = "read_file";
const QUERY: &str = "query_table";

/// Where the notes are.
const NOTES: &str = "notes/";

/// Number of lines of a data set that are read to choose its columns.
const HEAD_LINES: usize = 21;

/// A task for a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ProgramTask {
    /// A report and a workbook: where do their numbers differ?
    Compare,
    /// Many notes: whose actions are open?
    Count,
    /// A data set: how do its values depend on each other?
    Explore,
}

impl ProgramTask {
    fn of(chat: &Chat<'_>) -> Option<Self> {
        let task = chat.task.to_lowercase();
        let has = |words: &[&str]| words.iter().all(|word| task.contains(word));
        match [RUN, LIST, READ].iter().all(|tool| chat.offers(tool)) {
            true if has(&["pdf", "xlsx"]) => Some(ProgramTask::Compare).filter(|_| chat.offers(QUERY)),
            true if has(&["notes", "action"]) => Some(ProgramTask::Count),
            true if has(&["csv", "chart"]) => Some(ProgramTask::Explore),
            _ => None,
        }
    }
}

/// A text and the calls that follow it.
type ProgramStep = (&'static str, Vec<(&'static str, Value)>);

/// The next reply to a task for a program; `None`: the task is another one, or it is time to answer.
pub(super) fn next(chat: &Chat<'_>) -> Option<DemoReply> {
    let job = ProgramTask::of(chat)?;
    // A second program would be the same.
    let (text, calls) = match job {
        _ if chat.has_called(RUN) => return None,
        _ if !chat.has_called(LIST) => ("First I look at what is there.", vec![(LIST, json!({}))]),
        ProgramTask::Compare => compare(chat)?,
        ProgramTask::Count => count(chat)?,
        ProgramTask::Explore => explore(chat)?,
    };
    DemoReply::calls(text.to_owned(), calls.into_iter().map(|(name, args)| (name.to_owned(), args)).collect())
}

fn compare(chat: &Chat<'_>) -> Option<ProgramStep> {
    let (report, book) = (file(chat, ".pdf")?, file(chat, ".xlsx")?);
    if !chat.has_called(READ) {
        let calls = vec![(READ, json!({ "path": report })), (QUERY, json!({ "sql": "SHOW TABLES" }))];
        return Some(("I read the report and look at the columns of the workbook.", calls));
    }
    let ComparedSheet { table, label, amount } = sheet(chat, book)?;
    let sql = format!(
        "SELECT {label}, SUM({amount}) AS sum FROM {table} WHERE {label} IS NOT NULL GROUP BY {label} ORDER BY {label}"
    );
    let (label, amount) = (plain(label), plain(amount));
    let chosen = json!({ "report": report, "sql": sql, "label": label, "amount": amount });
    Some(("A program adds up the rows and compares every number.", run(COMPARE, &chosen)))
}

fn count(chat: &Chat<'_>) -> Option<ProgramStep> {
    let first = chat.listed().into_iter().find(|path| path.starts_with(NOTES) && path.ends_with(".md"))?;
    Some(match chat.has_called(READ) {
        false => ("I read one note to see how they are written.", vec![(READ, json!({ "path": first }))]),
        true => ("A program reads all of them.", run(COUNT, &json!({ "prefix": NOTES }))),
    })
}

fn explore(chat: &Chat<'_>) -> Option<ProgramStep> {
    let path = file(chat, ".csv")?;
    let Some(call) = chat.calls_of(READ).find(|call| call.arg("path") == path) else {
        return Some(("I look at the columns first.", vec![(READ, json!({ "path": path, "limit": HEAD_LINES }))]));
    };
    let chosen = columns(chat.task, path, call.result).filter(|_| !call.failed)?;
    Some(("A program computes this from every row and draws it.", run(EXPLORE, &chosen)))
}

/// The call that runs a program over what was chosen.
fn run(program: &str, chosen: &Value) -> Vec<(&'static str, Value)> {
    vec![(RUN, json!({ "code": program.replacen("CHOSEN", &chosen.to_string(), 1) }))]
}

/// What the program found; `None`: there was none.
pub(super) fn answer(chat: &Chat<'_>) -> Option<String> {
    let job = ProgramTask::of(chat)?;
    let call = chat.calls_of(RUN).last()?;
    if call.failed {
        return Some(format!("The program failed, so I have no answer:\n\n> {}", call.result.replace('\n', "\n> ")));
    }
    let printed = printed(call);
    let line = |name: &str| printed.iter().find_map(|line| line.strip_prefix(name)).map(str::trim);
    Some(match job {
        ProgramTask::Compare => {
            let report = file(chat, ".pdf").unwrap_or("the report");
            let place = line("place:").map_or_else(|| report.to_owned(), |place| format!("{report}, {place}"));
            let differing: Vec<&str> = printed.iter().filter_map(|line| line.strip_prefix("differs: ")).collect();
            let found = match differing.as_slice() {
                [] => "**The report and the workbook agree.**".to_owned(),
                lines => format!("**They do not agree.**\n\n- {}", lines.join("\n- ")),
            };
            let note = line("note:").map(|note| format!(" {note}")).unwrap_or_default();
            let (same, book) = (line("agrees:").unwrap_or("none"), file(chat, ".xlsx").unwrap_or("the workbook"));
            format!(
                "{found}\n\nThe report has these numbers in {place}.{note}\n\nThese numbers agree: {same}. The sums come from the \
                 rows of `{book}`. The chart shows both."
            )
        }
        ProgramTask::Count => {
            let (read, open) = (line("read:").unwrap_or("no notes"), line("open:").unwrap_or("no open actions"));
            let most = line("most:").unwrap_or("Nobody has open actions");
            format!(
                "**{most}.**\n\nOne program read {read}, with one call per note, and found {open}. The table has all people; click \
                 the name of a column to sort by it."
            )
        }
        ProgramTask::Explore => {
            let found = printed.iter().filter(|line| !line.starts_with("chart:")).map(|line| format!("- {line}"));
            let found: Vec<String> = found.collect();
            let chart = line("chart:").map(|chart| format!("\n\nThe chart shows the {chart}.")).unwrap_or_default();
            let file = file(chat, ".csv").unwrap_or("the file");
            format!("**What the data says**, computed from every row of `{file}`:\n\n{}{chart}", found.join("\n"))
        }
    })
}

/// The lines that the program printed, without its value.
fn printed<'a>(call: &PastCall<'a>) -> Vec<&'a str> {
    call.result.lines().take_while(|line| !line.starts_with("=> ")).filter(|line| !line.is_empty()).collect()
}

/// The file with this ending that the task names, or else the first one. `None`: the workspace has no such file.
fn file<'a>(chat: &Chat<'a>, ending: &str) -> Option<&'a str> {
    let mut words = chat.task.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    let named = words.find(|word| word.to_lowercase().ends_with(ending)).unwrap_or(ending).to_lowercase();
    chat.listed().into_iter().find(|path| path.to_lowercase().ends_with(&named))
}

/// Whether the task has one of the words in the name of this column.
fn is_named(task: &str, column: &str) -> bool {
    let column = column.replace('_', " ");
    words(&column).any(|part| part.chars().count() > 2 && words(task).any(|word| is_same(&word, &part)))
}

/// A sheet and the columns to compare, quoted for SQL.
struct ComparedSheet<'a> {
    table: &'a str,
    label: &'a str,
    amount: &'a str,
}

/// The sheet of the workbook with a column of labels and a column of numbers that the task names. The list of tables has lines
/// such as `- book_Q1 (book.xlsx, 9 rows): region text, "unit price" real`.
fn sheet<'a>(chat: &Chat<'a>, book: &str) -> Option<ComparedSheet<'a>> {
    let list = chat.calls_of(QUERY).find(|call| !call.failed)?.result;
    list.lines().find_map(|line| {
        let (table, rest) = line.strip_prefix("- ")?.split_once(" (")?;
        let (_, columns) = rest.strip_prefix(book)?.split_once("): ")?;
        let columns = parts(columns, ',').filter_map(|column| column.trim().rsplit_once(' '));
        let named: Vec<_> = columns.filter(|(name, _)| is_named(chat.task, name)).collect();
        let first = |kinds: &[&str]| named.iter().find(|(_, kind)| kinds.contains(kind)).map(|(name, _)| *name);
        Some(ComparedSheet { table, label: first(&["text"])?, amount: first(&["integer", "real"])? })
    })
}

/// A name without the quotes that it has in a query.
fn plain(name: &str) -> String {
    name.trim_matches('"').replace("\"\"", "\"")
}

/// What the program about a data set needs to know, chosen by the first lines: how its cells are separated, a column of numbers,
/// the other columns of numbers, and a column of dates and one of labels, if there are any. Columns that the task names come first.
/// `None`: the lines have no header, or no column of numbers.
fn columns(task: &str, path: &str, head: &str) -> Option<Value> {
    let mut lines = head.lines().filter(|line| !line.starts_with("[lines "));
    let header = lines.next()?;
    let separator = [',', ';', '\t'].into_iter().rev().max_by_key(|separator| header.matches(*separator).count())?;
    let names = cells(header, separator);
    let rows: Vec<Vec<String>> =
        lines.map(|line| cells(line, separator)).filter(|row| row.len() == names.len()).collect();
    if names.iter().any(|name| is_number(name)) {
        return None;
    }
    let holds = |at: usize, is_kind: fn(&str) -> bool| {
        let mut values = rows.iter().filter_map(|row| row.get(at)).filter(|cell| !cell.is_empty()).peekable();
        values.peek().is_some() && values.all(|cell| is_kind(cell))
    };
    let all = |is_kind: fn(&str) -> bool| {
        let found = names.iter().enumerate().filter(|(at, name)| !name.is_empty() && holds(*at, is_kind));
        let mut found: Vec<&str> = found.map(|(_, name)| name.as_str()).collect();
        found.sort_by_key(|name| !is_named(task, name));
        found
    };
    let numbers = all(is_number);
    // Without a name in the task, the last column: the first ones are often numbers of rows or years.
    let number = numbers.first().filter(|name| is_named(task, name)).or(numbers.last())?;
    let others: Vec<&&str> = numbers.iter().filter(|name| *name != number).collect();
    let date = all(is_date).first().copied();
    let label = all(|cell| !is_number(cell) && !is_date(cell)).first().copied();
    Some(json!({
        "path": path, "separator": separator, "number": number, "others": others, "date": date, "label": label,
    }))
}

/// The cells of a line of separated values, as the program reads them.
fn cells(line: &str, separator: char) -> Vec<String> {
    parts(line, separator).map(|cell| cell.replace('"', "").trim().to_owned()).collect()
}

/// The parts of a line between separators that are not in quotes.
fn parts(line: &str, separator: char) -> impl Iterator<Item = &str> {
    let mut is_quoted = false;
    line.split(move |c| {
        is_quoted ^= c == '"';
        c == separator && !is_quoted
    })
}

fn is_number(cell: &str) -> bool {
    cell.parse::<f64>().is_ok_and(f64::is_finite)
}

/// `2026-11`, `2026-11-26`, or the latter with a time.
fn is_date(cell: &str) -> bool {
    let mut parts = cell.splitn(3, '-').map(|part| part.chars().take_while(char::is_ascii_digit).count());
    let (year, month, day) = (parts.next(), parts.next(), parts.next());
    year == Some(4) && month == Some(2) && matches!(day, None | Some(2))
}

const COMPARE: &str = r#"const { report, sql, label, amount } = CHOSEN;

// A long report comes in parts.
let text = "";
for (let offset = 1; offset; ) {
  const part = await tools.read_file({ path: report, offset });
  text += part;
  offset = Number(part.match(/continue with offset (\d+)\]\s*$/)?.[1] ?? 0);
}
const table = await tools.query_table({ sql });

// "| Q1 | 229100 |" in the answer of the query
const counted = new Map([...table.matchAll(/^\| (.+) \| (-?\d[\d.e+]*) \|$/gm)].map(([, name, sum]) => [name, Number(sum)]));
if (!counted.size) throw new Error(`the query found no sums: ${table}`);

// "Q1  229,100" or "| Q1 | 229,100 |" in the report
const printed = new Map();
const pages = new Map();
for (const name of counted.keys()) {
  const escaped = name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const found = text.match(new RegExp(`(?:^|[^\\w])${escaped}[^\\w\\n]+?(-?\\d+(?:[.,]\\d+)*)`, "m"));
  if (!found) continue;
  printed.set(name, Number(found[1].replaceAll(",", "")));
  pages.set(name, [...text.slice(0, found.index + 1).matchAll(/^\[(page \d+)/gm)].at(-1)?.[1]);
}

const names = [...counted.keys()];
const differs = names.filter((name) => !(Math.abs(printed.get(name) - counted.get(name)) < 0.005));
const shown = (amount) => String(Math.round(amount * 100) / 100).replace(/^-?\d+/, (whole) => whole.replace(/\B(?=(\d{3})+$)/g, ","));
for (const name of differs) {
  const [said, sum] = [printed.get(name), counted.get(name)];
  if (said === undefined) console.log(`differs: ${name}: the report has no number, the rows add up to ${shown(sum)}`);
  else console.log(`differs: ${name}: the report says ${shown(said)}, the rows add up to ${shown(sum)} (${shown(Math.abs(said - sum))} ${sum < said ? "less" : "more"})`);
}
console.log("agrees:", names.filter((name) => !differs.includes(name)).join(", ") || "none");
const place = [...differs, ...names].map((name) => pages.get(name)).find(Boolean);
if (place) console.log("place:", place);
const best = (amounts) => names.reduce((one, other) => (amounts.get(other) > amounts.get(one) ? other : one));
if (printed.size === counted.size && best(printed) !== best(counted)) console.log(`note: By the workbook, the highest ${amount} is that of ${best(counted)}, not of ${best(printed)}.`);

({
  chart: "bar",
  title: `${amount[0].toUpperCase()}${amount.slice(1)} by ${label}, in the report and in the workbook`,
  x: names,
  x_label: label,
  y_label: amount,
  series: [
    { name: "Report", y: names.map((name) => printed.get(name) ?? null) },
    { name: "Workbook", y: names.map((name) => counted.get(name)) },
  ],
})"#;

const COUNT: &str = r#"const { prefix } = CHOSEN;
const list = await tools.list_files({ prefix });
const paths = list.split("\n").map((line) => line.split("  ")[0]).filter((path) => path.endsWith(".md"));
const more = Number(list.match(/\[(\d+) more files/)?.[1] ?? 0);

// "- [ ] Ada: call the supplier", or "- [x] …" once it is done
const people = new Map();
await Promise.all(paths.map(async (path) => {
  const text = await tools.read_file({ path });
  for (const [, mark, person] of text.matchAll(/^- \[([ xX])\] ([^:\n]+):/gm)) {
    const row = people.get(person) ?? { person, open: 0, done: 0 };
    row[mark === " " ? "open" : "done"] += 1;
    people.set(person, row);
  }
}));

const table = [...people.values()].sort((one, other) => other.open - one.open);
for (const row of table) row.share_done = `${Math.round((100 * row.done) / (row.open + row.done))} %`;
const open = table.reduce((sum, row) => sum + row.open, 0);
console.log(`read: ${paths.length}${more ? ` of ${paths.length + more}` : ""} note${paths.length + more === 1 ? "" : "s"}`);
console.log(`open: ${open} open action${open === 1 ? "" : "s"}`);
if (open) console.log(`most: ${table[0].person} has the most open actions: ${table[0].open} of ${open}`);
table"#;

const EXPLORE: &str = r#"const { path, separator, number, others, date, label } = CHOSEN;

// The whole file, part by part.
let text = "";
for (let offset = 1; offset; ) {
  const part = await tools.read_file({ path, offset });
  text += part.replace(/\[lines \d+-\d+ of \d+.*\]\s*$/, "");
  offset = Number(part.match(/continue with offset (\d+)\]\s*$/)?.[1] ?? 0);
}
const cells = (line) => {
  const found = [""];
  let quoted = false;
  for (const c of line) {
    if (c === '"') quoted = !quoted;
    else if (c === separator && !quoted) found.push("");
    else found[found.length - 1] += c;
  }
  return found.map((cell) => cell.trim());
};
const [head, ...lines] = text.trim().split("\n").map(cells);
const value = (row, name) => (row[name] === "" ? NaN : Number(row[name]));
const rows = lines
  .filter((line) => line.length === head.length)
  .map((line) => Object.fromEntries(line.map((cell, at) => [head[at], cell])))
  .filter((row) => Number.isFinite(value(row, number)));
if (!rows.length) throw new Error(`no row of ${path} has a number in ${number}`);

const mean = (list) => list.reduce((sum, n) => sum + n, 0) / list.length;
const average = (list) => mean(list.map((row) => value(row, number)));
const shown = (n) => (Math.abs(n) >= 100 ? Math.round(n) : Number(n.toPrecision(3)));
const grouped = (list, key) => {
  const groups = new Map();
  for (const row of list) groups.get(key(row))?.push(row) ?? groups.set(key(row), [row]);
  return groups;
};
const values = rows.map((row) => value(row, number)).sort((one, other) => one - other);
console.log(`the average of ${number} is ${shown(mean(values))} over ${rows.length} rows; the lowest value is ${values[0]}, the highest ${values.at(-1)}`);

// A column that is often 0 divides the rows in two.
const both = (name) => [rows.filter((row) => value(row, name) === 0), rows.filter((row) => value(row, name) > 0)];
const often = others.find((name) => both(name).every((part) => part.length >= rows.length / 10));
if (often) {
  const [zero, above] = both(often);
  console.log(`where ${often} is 0 (${zero.length} rows), the average is ${shown(average(zero))}; where it is above 0 (${above.length} rows), it is ${shown(average(above))}`);
}

const correlation = (name) => {
  const pairs = rows.map((row) => [value(row, name), value(row, number)]).filter(([x]) => Number.isFinite(x));
  const [mx, my] = [mean(pairs.map(([x]) => x)), mean(pairs.map(([, y]) => y))];
  const sum = (f) => pairs.reduce((all, [x, y]) => all + f(x - mx, y - my), 0);
  return sum((x, y) => x * y) / Math.sqrt(sum((x) => x * x) * sum((_, y) => y * y));
};
const related = others.map((name) => [name, correlation(name)]).filter(([, r]) => Number.isFinite(r)).sort((one, other) => Math.abs(other[1]) - Math.abs(one[1]));
if (related.length) console.log(`correlation of ${number} with ${related.map(([name, r]) => `${name}: ${r.toFixed(2)}`).join(", with ")}`);

const groups = label ? [...grouped(rows.filter((row) => row[label]), (row) => row[label])].map(([name, list]) => [name, average(list)]).sort((one, other) => other[1] - one[1]) : [];
// Labels that are all different are names, not groups.
const hasGroups = groups.length > 1 && groups.length <= 50 && groups.length < rows.length;
if (hasGroups) console.log(`by ${label}, the average is highest for ${groups[0][0]} (${shown(groups[0][1])}) and lowest for ${groups.at(-1)[0]} (${shown(groups.at(-1)[1])})`);

let chart;
if (date) {
  const dated = rows.filter((row) => row[date]);
  const isLong = new Set(dated.map((row) => row[date].slice(0, 7))).size > 1;
  const at = (row) => row[date].slice(0, isLong ? 7 : 10);
  const x = [...new Set(dated.map(at))].sort();
  const course = (name, list) => {
    const groups = grouped(list.filter((row) => row[date]), at);
    return { name, y: x.map((at) => (groups.has(at) ? shown(average(groups.get(at))) : null)) };
  };
  const [zero, above] = often ? both(often) : [];
  chart = { chart: "line", title: `Average ${number} by ${isLong ? "month" : "day"}`, x, series: often ? [course(`${often} is 0`, zero), course(`${often} is above 0`, above)] : [course(number, rows)] };
} else if (hasGroups) {
  chart = { chart: "bar", title: `Average ${number} by ${label}`, x: groups.map(([name]) => name), x_label: label, series: [{ name: number, y: groups.map(([, n]) => shown(n)) }] };
} else if (related.length) {
  const [[name]] = related;
  const points = rows.filter((row) => Number.isFinite(value(row, name))).slice(0, 2000);
  chart = { chart: "point", title: `${number} and ${name}`, x: points.map((row) => value(row, name)), x_label: name, series: [{ name: number, y: points.map((row) => value(row, number)) }] };
} else {
  const first = rows.slice(0, 2000);
  chart = { chart: "line", title: `${number} row by row`, x: first.map((_, at) => at + 1), x_label: "row", series: [{ name: number, y: first.map((row) => value(row, number)) }] };
}
chart.y_label = number;
console.log(`chart: ${chart.title.replace(/^A/, "a")}`);
chart"#;
