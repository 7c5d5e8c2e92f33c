//! Declarations as `ts-rs` makes them, collected and laid out for people: one type after the other, one line per field.

use std::any::TypeId;
use std::collections::{BTreeMap, BTreeSet};

use ts_rs::{Config, TS, TypeVisitor};

const WIDTH: usize = 120;

/// The types of a file.
#[derive(Default)]
pub struct File {
    seen: Vec<TypeId>,
    /// The requested types, in this order.
    roots: Vec<String>,
    types: BTreeMap<String, String>,
    /// The types that another file declares.
    elsewhere: BTreeSet<String>,
}

impl File {
    /// A file that imports those names.
    pub fn beside(names: BTreeSet<String>) -> Self {
        File { elsewhere: names, ..File::default() }
    }

    #[must_use]
    pub fn with<T: TS + 'static>(mut self) -> Self {
        self.roots.push(T::ident(&config()));
        self.visit::<T>();
        self
    }

    pub fn names(&self) -> BTreeSet<String> {
        self.types.keys().cloned().collect()
    }

    /// The names used here that the other file declares.
    pub fn imports(&self) -> BTreeSet<String> {
        let words = self.types.values().flat_map(|text| words(text));
        words.filter(|word| self.elsewhere.contains(*word)).map(str::to_owned).collect()
    }

    /// Each type before those that it uses. The order in which `ts-rs` visits them differs from build to build.
    pub fn text(&self) -> String {
        let mut placed = Vec::new();
        for root in &self.roots {
            self.place(root, &mut placed);
        }
        assert_eq!(placed.len(), self.types.len(), "all are used");
        placed.into_iter().map(|name| format!("\n{}", self.types[name])).collect()
    }

    fn place<'a>(&'a self, name: &str, placed: &mut Vec<&'a str>) {
        let Some((name, text)) = self.types.get_key_value(name).filter(|(name, _)| !placed.contains(&name.as_str()))
        else {
            return;
        };
        placed.push(name);
        for word in words(text) {
            self.place(word, placed);
        }
    }
}

impl TypeVisitor for File {
    fn visit<T: TS + 'static + ?Sized>(&mut self) {
        // A type without a file of its own is part of the language.
        if T::output_path().is_none() || self.seen.contains(&TypeId::of::<T>()) {
            return;
        }
        self.seen.push(TypeId::of::<T>());
        let name = T::ident(&config());
        if self.elsewhere.contains(&name) {
            return;
        }
        let docs = T::docs().map(|docs| comment(&docs)).unwrap_or_default();
        let text = format!("{}{}", written(&docs, 0), declaration(&T::decl(&config())));
        assert!(self.types.insert(name, text).is_none(), "two types of one name: {}", T::ident(&config()));
        T::visit_dependencies(self);
    }
}

fn config() -> Config {
    Config::new().with_large_int("number")
}

/// The words of a declaration, without its comments.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let code = text.lines().filter(|line| !line.trim_start().starts_with(['/', '*']));
    code.flat_map(|line| line.split(|c: char| !c.is_alphanumeric()))
}

/// The lines of a doc comment, without references to other documents of the sources, which mean nothing to readers of
/// the types.
fn comment(text: &str) -> Vec<String> {
    let lines = text.trim().trim_start_matches("/**").trim_end_matches("*/").lines();
    let lines = lines.map(|line| line.trim().trim_start_matches('*').trim());
    plain(&lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")).lines().map(str::to_owned).collect()
}

fn written(comment: &[String], indent: usize) -> String {
    let pad = " ".repeat(indent);
    match comment {
        [] => String::new(),
        [line] => format!("{pad}/** {line} */\n"),
        lines => {
            let lines: String = lines.iter().map(|line| format!("{pad} * {line}\n")).collect();
            format!("{pad}/**\n{lines}{pad} */\n")
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Type {
    /// A name, a literal, or anything that stays unchanged.
    Plain(String),
    List(Box<Type>),
    Tuple(Vec<Type>),
    Object(Vec<Field>),
    Union(Vec<Type>),
    Both(Vec<Type>),
}

#[derive(Clone, Debug, PartialEq)]
struct Field {
    comment: Vec<String>,
    name: String,
    optional: bool,
    of: Type,
}

fn declaration(text: &str) -> String {
    let (head, body) = text.split_once(" = ").unwrap_or_else(|| panic!("no declaration: {text}"));
    let name = head.trim_start_matches("type ");
    let mut parser = Parser { rest: body };
    let of = parser.union();
    assert_eq!(parser.rest.trim(), ";", "{text}");
    match &of {
        Type::Object(fields) => format!("export interface {name} {{\n{}}}\n", body_of(fields, 2)),
        Type::Union(parts) if flat(&of).is_none_or(|text| text.len() + name.len() + 16 > WIDTH) => {
            format!("export type {name} ={};\n", lines_of(parts, 2))
        }
        _ => format!("export type {name} = {};\n", shown(&of, 0, name.len() + 15)),
    }
}

struct Parser<'a> {
    rest: &'a str,
}

impl<'a> Parser<'a> {
    fn eat(&mut self, token: &str) -> bool {
        self.rest = self.rest.trim_start();
        let found = self.rest.strip_prefix(token);
        self.rest = found.unwrap_or(self.rest);
        found.is_some()
    }

    fn must(&mut self, token: &str) {
        assert!(self.eat(token), "{token} is missing before {}", self.rest);
    }

    fn until(&mut self, end: impl Fn(char) -> bool) -> &'a str {
        let (text, rest) = self.rest.split_at(self.rest.find(end).unwrap_or(self.rest.len()));
        self.rest = rest;
        text
    }

    fn union(&mut self) -> Type {
        let mut parts = vec![self.both()];
        while self.eat("|") {
            parts.push(self.both());
        }
        if parts.len() == 1 { parts.remove(0) } else { Type::Union(parts) }
    }

    fn both(&mut self) -> Type {
        let mut parts = vec![self.postfix()];
        while self.eat("&") {
            parts.push(self.postfix());
        }
        if parts.len() == 1 { parts.remove(0) } else { Type::Both(parts) }
    }

    fn postfix(&mut self) -> Type {
        let mut of = self.primary();
        while self.eat("[]") {
            of = Type::List(Box::new(of));
        }
        of
    }

    fn primary(&mut self) -> Type {
        if self.eat("(") {
            let of = self.union();
            self.must(")");
            of
        } else if self.eat("{ [key in string]:") {
            let of = self.union();
            self.must("}");
            Type::Plain(format!("Record<string, {}>", flat(&of).unwrap()))
        } else if self.eat("{") {
            self.object()
        } else if self.eat("[") {
            let mut parts = Vec::new();
            while !self.eat("]") {
                parts.push(self.union());
                self.eat(",");
            }
            Type::Tuple(parts)
        } else if self.eat("Array<") {
            let of = self.union();
            self.must(">");
            Type::List(Box::new(of))
        } else if self.eat("\"") {
            let word = self.until(|c| c == '"');
            self.must("\"");
            Type::Plain(format!("\"{word}\""))
        } else {
            let word = self.until(|c| !c.is_alphanumeric() && c != '_');
            assert!(!word.is_empty(), "no type before {}", self.rest);
            if !self.eat("<") {
                return Type::Plain(word.to_owned());
            }
            let mut of = Vec::new();
            while !self.eat(">") {
                of.push(flat(&self.union()).unwrap());
                self.eat(",");
            }
            Type::Plain(format!("{word}<{}>", of.join(", ")))
        }
    }

    fn object(&mut self) -> Type {
        let mut fields = Vec::new();
        while !self.eat("}") {
            let mut comment = Vec::new();
            if self.eat("/**") {
                let (text, rest) = self.rest.split_once("*/").unwrap();
                (comment, self.rest) = (self::comment(text), rest);
            }
            self.eat("");
            let name = self.until(|c| matches!(c, '?' | ':')).trim_matches('"').to_owned();
            let optional = self.eat("?");
            self.must(":");
            let of = self.union();
            self.eat(",");
            fields.push(Field { comment, name, optional, of: if optional { never_null(of) } else { of } });
        }
        Type::Object(fields)
    }
}

/// An optional property is omitted if it has no value: it is never written as `null`.
fn never_null(of: Type) -> Type {
    let Type::Union(mut parts) = of else { return of };
    parts.retain(|part| *part != Type::Plain("null".to_owned()));
    if parts.len() == 1 { parts.remove(0) } else { Type::Union(parts) }
}

/// Formats a type on one line; `None` if a comment needs a line of its own.
fn flat(of: &Type) -> Option<String> {
    let all = |parts: &[Type], nested: bool| -> Option<Vec<String>> {
        parts.iter().map(|part| if nested { nested_flat(part) } else { flat(part) }).collect()
    };
    Some(match of {
        Type::Plain(text) => text.clone(),
        Type::List(of) => format!("{}[]", nested_flat(of)?),
        Type::Tuple(parts) => format!("[{}]", all(parts, false)?.join(", ")),
        Type::Union(parts) => all(parts, false)?.join(" | "),
        Type::Both(parts) => all(parts, true)?.join(" & "),
        Type::Object(fields) if fields.is_empty() => "{}".to_owned(),
        Type::Object(fields) => {
            let fields: Option<Vec<String>> = fields
                .iter()
                .map(|field| match field.comment.as_slice() {
                    [] => Some(format!("{}: {}", key(field), flat(&field.of)?)),
                    _ => None,
                })
                .collect();
            format!("{{ {} }}", fields?.join("; "))
        }
    })
}

fn nested_flat(of: &Type) -> Option<String> {
    let text = flat(of)?;
    Some(if matches!(of, Type::Union(_) | Type::Both(_)) { format!("({text})") } else { text })
}

fn key(field: &Field) -> String {
    format!("{}{}", field.name, if field.optional { "?" } else { "" })
}

/// Formats a type from column `used` on, with the following lines indented.
fn shown(of: &Type, indent: usize, used: usize) -> String {
    if let Some(text) = flat(of).filter(|text| used + text.len() < WIDTH) {
        return text;
    }
    match of {
        Type::Object(fields) => format!("{{\n{}{}}}", body_of(fields, indent + 2), " ".repeat(indent)),
        Type::Union(parts) => lines_of(parts, indent + 2),
        Type::List(of) => format!("({}\n{})[]", shown(of, indent, used), " ".repeat(indent)),
        Type::Both(parts) => {
            let parts = parts.iter().map(|part| match part {
                Type::Union(parts) => format!("({}\n{})", lines_of(parts, indent + 2), " ".repeat(indent)),
                part => shown(part, indent, used),
            });
            parts.collect::<Vec<_>>().join(" & ")
        }
        Type::Plain(_) | Type::Tuple(_) => flat(of).unwrap(),
    }
}

fn lines_of(parts: &[Type], indent: usize) -> String {
    let pad = " ".repeat(indent);
    parts.iter().map(|part| format!("\n{pad}| {}", shown(part, indent + 2, indent + 2))).collect()
}

fn body_of(fields: &[Field], indent: usize) -> String {
    let line = |field: &Field| {
        let head = format!("{}{}: ", " ".repeat(indent), key(field));
        format!("{}{head}{};\n", written(&field.comment, indent), shown(&field.of, indent, head.len() + 1))
    };
    fields.iter().map(line).collect()
}

/// A comment without the parts that only readers of the sources can follow.
pub fn plain(text: &str) -> String {
    let mut text = text.replace("[`", "`").replace("`]", "`");
    while let Some(at) = text.find(".md#") {
        let (open, close) = (text[..at].rfind(" (").unwrap(), at + text[at..].find(')').unwrap());
        text.replace_range(open..=close, "");
    }
    text
}
