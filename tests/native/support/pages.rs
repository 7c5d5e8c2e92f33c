//! The subset of Markdown that tests about documentation need.

use std::collections::BTreeSet;

/// One parsed page.
#[derive(Default)]
pub struct Page {
    /// Targets of links and images, as written.
    pub links: Vec<String>,
    /// Headings without their marks.
    pub headings: Vec<String>,
    /// Headings as anchors.
    pub anchors: BTreeSet<String>,
    /// Code spans and code blocks, verbatim.
    pub code: BTreeSet<String>,
    /// Paragraphs with their lines joined by spaces.
    pub prose: String,
    /// Rows of tables with the heading above them, without header and delimiter rows.
    tables: Vec<(String, Vec<String>)>,
}

impl Page {
    pub fn read(text: &str) -> Page {
        let mut page = Page::default();
        let (mut heading, mut block): (String, Option<Vec<&str>>) = (String::new(), None);
        let mut paragraph = String::new();
        let mut lines = text.lines().peekable();
        while let Some(line) = lines.next() {
            if line.trim_start().starts_with("```") {
                match block.take() {
                    Some(lines) => drop(page.code.insert(lines.join("\n"))),
                    None => block = Some(Vec::new()),
                }
                continue;
            }
            if let Some(block) = &mut block {
                block.push(line);
                continue;
            }
            if let Some(title) = line.strip_prefix('#').map(|rest| rest.trim_start_matches('#').trim()) {
                heading = title.trim_matches('`').to_owned();
                page.headings.push(heading.clone());
                page.anchors.insert(anchor(title));
            } else if line.starts_with('|') && !is_rule(line) && !lines.peek().is_some_and(|next| is_rule(next)) {
                let cells = line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect();
                page.tables.push((heading.clone(), cells));
            }
            page.links.extend(links(line));
            if line.is_empty() {
                page.prose.push_str(&paragraph);
                page.prose.push('\n');
                page.code.extend(code_spans(&paragraph));
                paragraph.clear();
            } else {
                paragraph.push_str(line);
                paragraph.push(' ');
            }
        }
        page.code.extend(code_spans(&paragraph));
        page.prose.push_str(&paragraph);
        page
    }

    /// Returns the rows of the tables under a heading, split into cells.
    pub fn rows(&self, heading: &str) -> Vec<Vec<String>> {
        let rows: Vec<Vec<String>> =
            self.tables.iter().filter(|(under, _)| under == heading).map(|(_, cells)| cells.clone()).collect();
        assert!(!rows.is_empty(), "there is no table under {heading}");
        rows
    }
}

fn is_rule(line: &str) -> bool {
    line.starts_with("| -") || line.starts_with("|-")
}

/// The texts between single backticks.
pub fn code_spans(text: &str) -> Vec<String> {
    text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Targets of `[…](…)` and `![…](…)`, except inside code.
fn links(line: &str) -> Vec<String> {
    let plain: String = line.split('`').step_by(2).collect::<Vec<_>>().join("x");
    plain.split("](").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0.to_owned())).collect()
}

/// Converts a title to an anchor as GitHub does.
fn anchor(title: &str) -> String {
    let kept = title.to_lowercase();
    kept.chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
}
