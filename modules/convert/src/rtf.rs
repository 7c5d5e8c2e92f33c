//! A copy of a rich text document in which headers, comments, form fields, embedded objects and the letters of symbol fonts are texts, hidden
//! text is in brackets, and deleted text is gone.

use super::lost::Lost;
use super::symbols::{is_symbol_font, superscript, symbol, unknown};

/// Groups whose text is none of the document.
const SILENT: [&str; 22] = [
    "fonttbl",
    "colortbl",
    "stylesheet",
    "info",
    "pict",
    "object",
    "xe",
    "tc",
    "rxe",
    "fldinst",
    "listtable",
    "listoverridetable",
    "nonshppict",
    "filetbl",
    "ftnsep",
    "ftnsepc",
    "aftnsep",
    "aftnsepc",
    "bkmkstart",
    "bkmkend",
    "template",
    "shpinst",
];
/// Groups in them whose text is.
const SAID: [&str; 3] = ["fldrslt", "result", "shptxt"];
/// What opens the marks of hidden text and of a comment.
const HIDDEN: &str = "[hidden: ";

#[derive(Clone, Debug, Default)]
struct RtfGroup {
    silent: bool,
    /// In the table of fonts: the number of the one whose name is read.
    table: Option<i32>,
    font: Option<i32>,
    hidden: bool,
    deleted: bool,
    raised: bool,
    /// How many characters follow `\u` for readers without Unicode.
    fallback: usize,
    /// What is written at its first text, and at its end if it had one.
    label: Option<&'static str>,
    labelled: bool,
    comment: bool,
    /// Whether its text is kept, as the author of a comment or the class of an object.
    kept: bool,
    field: bool,
}

#[derive(Default)]
struct Form {
    kind: i32,
    result: i32,
    default: i32,
    choices: Vec<String>,
}

struct Rtf<'a> {
    bytes: &'a [u8],
    out: Vec<u8>,
    current: RtfGroup,
    /// The groups around it.
    stack: Vec<RtfGroup>,
    fonts: Vec<(i32, String)>,
    kept: String,
    author: String,
    form: Option<Form>,
    /// Whether a mark of hidden text is open.
    open: bool,
    skip: usize,
    lost: Lost,
}

/// The changed copy, and what is not in it.
#[must_use]
pub fn prepared(bytes: &[u8]) -> (Vec<u8>, Lost) {
    let mut rtf = Rtf {
        bytes,
        out: Vec::with_capacity(bytes.len() + 1_000),
        current: RtfGroup { fallback: 1, ..RtfGroup::default() },
        stack: Vec::new(),
        fonts: Vec::new(),
        kept: String::new(),
        author: String::new(),
        form: None,
        open: false,
        skip: 0,
        lost: Lost::default(),
    };
    rtf.run();
    (rtf.out, rtf.lost)
}

impl<'a> Rtf<'a> {
    /// This group and those around it.
    fn around(&self) -> impl Iterator<Item = &RtfGroup> {
        std::iter::once(&self.current).chain(&self.stack)
    }

    /// Appends a text as `\u` escapes, which need no code page.
    fn say(&mut self, text: &str) {
        let mut escaped = String::from("{\\uc0");
        for unit in text.encode_utf16() {
            #[allow(clippy::cast_possible_wrap)] // RTF has signed numbers
            let unit = unit as i16;
            escaped.push_str(&format!("\\u{unit} "));
        }
        escaped.push('}');
        self.out.extend(escaped.as_bytes());
    }

    fn rest(&self, at: usize) -> &'a [u8] {
        self.bytes.get(at..).unwrap_or_default()
    }

    fn run(&mut self) {
        let mut at = 0;
        while let Some(&byte) = self.bytes.get(at) {
            let start = at;
            at += 1;
            match byte {
                b'{' => {
                    let outer = self.current.clone();
                    self.current = RtfGroup {
                        label: None,
                        labelled: false,
                        comment: false,
                        kept: false,
                        field: false,
                        ..outer.clone()
                    };
                    self.stack.push(outer);
                    self.out.push(b'{');
                    self.skip = 0;
                }
                b'}' => self.close(),
                b'\\' => {
                    let letters = self.rest(at).iter().take_while(|one| one.is_ascii_alphabetic()).count();
                    if letters == 0 {
                        let sign = self.bytes.get(at).copied().unwrap_or_default();
                        at += 1;
                        match sign {
                            b'\'' => {
                                let code = self.bytes.get(at..at + 2).and_then(|hex| std::str::from_utf8(hex).ok());
                                let code = code.and_then(|hex| u8::from_str_radix(hex, 16).ok());
                                at += 2;
                                self.letter(u32::from(code.unwrap_or_default()), start, at.min(self.bytes.len()));
                            }
                            // What follows is left out by readers that do not know it: the word decides.
                            b'*' => {
                                (self.current.silent, self.current.table) = (true, None);
                                let rest = self.bytes.get(at..).unwrap_or_default();
                                let blank = rest.iter().take_while(|one| one.is_ascii_whitespace()).count();
                                if !rest.get(blank..).is_some_and(|rest| rest.starts_with(b"\\annotation")) {
                                    self.out.extend(b"\\*");
                                }
                            }
                            _ => self.plain(start, at),
                        }
                        continue;
                    }
                    let name = String::from_utf8_lossy(self.rest(at).get(..letters).unwrap_or_default()).into_owned();
                    at += letters;
                    let number = self
                        .rest(at)
                        .iter()
                        .enumerate()
                        .take_while(|(n, one)| one.is_ascii_digit() || *n == 0 && **one == b'-')
                        .count();
                    let value = std::str::from_utf8(self.rest(at).get(..number).unwrap_or_default())
                        .ok()
                        .and_then(|text| text.parse::<i32>().ok());
                    at += number;
                    if self.bytes.get(at) == Some(&b' ') {
                        at += 1;
                    }
                    if name == "bin" {
                        at = at
                            .saturating_add(usize::try_from(value.unwrap_or_default()).unwrap_or_default())
                            .min(self.bytes.len());
                        self.plain(start, at);
                    } else {
                        self.word(&name, value, start, at);
                    }
                }
                b'\r' | b'\n' => self.out.push(byte),
                byte => self.letter(u32::from(byte), start, at),
            }
        }
    }

    fn plain(&mut self, from: usize, to: usize) {
        let bytes = self.bytes.get(from..to).unwrap_or_default();
        self.out.extend(bytes);
    }

    fn word(&mut self, name: &str, value: Option<i32>, from: usize, to: usize) {
        let on = value != Some(0);
        match name {
            "fonttbl" => {
                self.current.table = Some(0);
            }
            "f" if self.current.table.is_some() => self.current.table = value,
            "f" => self.current.font = value,
            "v" => self.current.hidden = on,
            "deleted" => {
                if on && !self.current.silent && !self.current.deleted {
                    self.lost.one("deletion(s) of tracked changes");
                }
                self.current.deleted = on;
            }
            "super" => self.current.raised = on,
            "nosupersub" | "sub" => self.current.raised = false,
            "plain" => {
                let group = &mut self.current;
                (group.font, group.hidden, group.deleted, group.raised) = (None, false, false, false);
            }
            "uc" => self.current.fallback = usize::try_from(value.unwrap_or(1)).unwrap_or_default(),
            "u" => {
                #[allow(clippy::cast_sign_loss)] // RTF has signed numbers
                let code = value.unwrap_or_default() as u32 & 0xffff;
                let fallback = self.current.fallback;
                if self.shown(code, from, to) {
                    self.skip = fallback;
                }
                return;
            }
            "header" | "headerl" | "headerr" => return self.labelled("[header:] "),
            "headerf" => return self.labelled("[header of the first page:] "),
            "footer" | "footerl" | "footerr" => return self.labelled("[footer:] "),
            "footerf" => return self.labelled("[footer of the first page:] "),
            "annotation" => {
                let group = &mut self.current;
                (group.silent, group.comment, group.hidden, group.font) = (false, true, false, None);
                let author = std::mem::take(&mut self.author);
                self.say(&if author.is_empty() { " [comment:".to_owned() } else { format!(" [comment by {author}:") });
                self.out.push(b' ');
                return;
            }
            "atnauthor" | "objclass" | "ffl" => {
                self.current.kept = true;
                self.kept.clear();
            }
            // Entries for an index or a list of contents are not shown where they stand.
            "xe" | "tc" | "rxe" => self.out.extend(b"\\*"),
            "field" => self.current.field = true,
            "formfield" => self.form = Some(Form::default()),
            "fftype" | "ffres" | "ffdefres" => {
                if let (Some(form), Some(value)) = (&mut self.form, value) {
                    match name {
                        "fftype" => form.kind = value,
                        "ffres" => form.result = value,
                        _ => form.default = value,
                    }
                }
            }
            // A comment is part of a line.
            "par" | "pard" | "line" | "chatn" if self.around().any(|group| group.comment) => {
                self.out.extend(if matches!(name, "par" | "line") { &b" "[..] } else { b"{}" });
                return;
            }
            "par" | "cell" | "row" | "sect" => self.end_hidden(),
            _ => {}
        }
        if SAID.contains(&name) {
            self.current.silent = false;
        } else if SILENT.contains(&name) {
            self.current.silent = true;
        }
        self.plain(from, to);
    }

    fn labelled(&mut self, label: &'static str) {
        let group = &mut self.current;
        (group.label, group.silent, group.hidden) = (Some(label), false, false);
        self.out.extend(b"\\pard\\plain ");
    }

    fn end_hidden(&mut self) {
        if self.open {
            self.open = false;
            self.out.extend(b"]");
        }
    }

    /// A letter of a code page.
    fn letter(&mut self, code: u32, from: usize, to: usize) {
        if self.skip > 0 {
            self.skip -= 1;
            return;
        }
        if self.current.kept {
            self.kept.extend(char::from_u32(code));
        } else if let Some(font) = self.current.table {
            if self.fonts.last().is_none_or(|(number, _)| *number != font) {
                self.fonts.push((font, String::new()));
            }
            let Some((_, name)) = self.fonts.last_mut() else { return };
            if !name.ends_with(';') {
                name.extend(char::from_u32(code));
            }
        }
        self.shown(code, from, to);
    }

    /// Writes a letter as it is shown. Whether it is another than that of the file.
    fn shown(&mut self, code: u32, from: usize, to: usize) -> bool {
        let group = self.current.clone();
        if group.silent {
            self.plain(from, to);
            return false;
        }
        if group.deleted {
            return true;
        }
        if code != 0x20 {
            if let Some(label) = std::iter::once(&mut self.current)
                .chain(self.stack.iter_mut().rev())
                .find_map(|group| group.label.take().inspect(|_| group.labelled = true))
            {
                self.say(label);
            }
            if group.hidden && !self.open {
                self.open = true;
                self.say(HIDDEN);
            } else if !group.hidden {
                self.end_hidden();
            }
        }
        let font = group
            .font
            .and_then(|font| self.fonts.iter().find(|(number, _)| *number == font))
            .map(|(_, name)| name.trim_end_matches(';').trim().to_owned());
        if let Some(font) = font.filter(|font| is_symbol_font(font)) {
            let text = symbol(&font, code).map_or_else(|| unknown(code, &font), String::from);
            self.say(&text);
            return true;
        }
        let up = if group.raised { self.raised(from) } else { None };
        match up {
            Some(up) => {
                self.say(&up);
                true
            }
            None => {
                self.plain(from, to);
                false
            }
        }
    }

    /// The letter at a place as a raised one, if it and its neighbours are digits and signs.
    fn raised(&self, at: usize) -> Option<String> {
        let sign = |one: &&u8| one.is_ascii_digit() || matches!(one, b'+' | b'-');
        let before = self.bytes.get(..at)?.iter().rev().take_while(sign).count();
        let after = self.rest(at).iter().take_while(sign).count();
        superscript(std::str::from_utf8(self.bytes.get(at - before..at + after)?).ok()?)?
            .chars()
            .nth(before)
            .map(String::from)
    }

    fn close(&mut self) {
        self.skip = 0;
        let Some(outer) = self.stack.pop() else { return self.out.push(b'}') };
        let group = std::mem::replace(&mut self.current, outer);
        if self.open && !self.current.hidden {
            self.end_hidden();
        }
        if group.comment {
            while self.out.ends_with(b" ") {
                self.out.pop();
            }
            self.out.push(b']');
        }
        if group.labelled {
            self.out.extend(b"\\par ");
        }
        let form = if group.field { self.form.take() } else { None };
        if let Some(form) = form {
            // 25 stands for "as by default".
            let result = if form.result == 25 { form.default } else { form.result };
            match form.kind {
                1 => self.say(if result == 1 { "☒" } else { "☐" }),
                2 => {
                    let chosen =
                        usize::try_from(result).ok().and_then(|at| form.choices.get(at)).cloned().unwrap_or_default();
                    self.say(&format!("{chosen} [choices: {}]", form.choices.join(", ")));
                }
                _ => {}
            }
        }
        self.out.push(b'}');
        if group.kept && !self.current.kept {
            let kept = self.kept.trim().to_owned();
            let inside = self.around().any(|outer| outer.silent);
            match &mut self.form {
                Some(form) => form.choices.push(kept),
                None if inside => {
                    self.lost.one(&format!("embedded object(s) {kept}"));
                }
                None => self.author = kept,
            }
        }
    }
}
