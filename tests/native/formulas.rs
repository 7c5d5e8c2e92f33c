//! Formulas in Markdown: what is one, what is money, and that nothing in a formula is markup.

use std::time::Duration;

use crate::support::work::Work;
use proptest::prelude::*;
use turnwise_content::markdown::{Node, parse, plain_text};

fn text(text: &str) -> Node {
    Node::Text(text.into())
}

fn inline(tex: &str) -> Node {
    Node::Formula { tex: tex.into(), display: false }
}

fn display(tex: &str) -> Node {
    Node::Formula { tex: tex.into(), display: true }
}

fn paragraph(children: Vec<Node>) -> Vec<Node> {
    vec![Node::Paragraph(children)]
}

/// The formulas of the nodes, in order.
fn formulas(nodes: &[Node]) -> Vec<&str> {
    let mut found = Vec::new();
    for node in nodes {
        match node {
            Node::Formula { tex, .. } => found.push(tex.as_str()),
            Node::Paragraph(c) | Node::Quote(c) | Node::Strong(c) | Node::Emphasis(c) | Node::Strike(c) => {
                found.extend(formulas(c));
            }
            Node::Heading { children, .. } | Node::Link { children, .. } => found.extend(formulas(children)),
            Node::List { items, .. } => items.iter().for_each(|item| found.extend(formulas(&item.children))),
            Node::Table(t) => {
                [&t.head].into_iter().chain(&t.rows).flatten().for_each(|cell| found.extend(formulas(cell)));
            }
            _ => {}
        }
    }
    found
}

#[test]
fn each_pair_of_delimiters_makes_a_formula() {
    let cases = [
        ("Let $x$ be.", vec![text("Let "), inline("x"), text(" be.")]),
        (r"Let \(x_1\) be.", vec![text("Let "), inline("x_1"), text(" be.")]),
        ("$$x$$", vec![display("x")]),
        ("$$\nx\n$$", vec![display("x")]),
        (r"\[ x \]", vec![display("x")]),
        ("So:\n\\[\nx\n\\]\nthen", vec![text("So:\n"), display("x"), text("\nthen")]),
        ("$a$, $b$", vec![inline("a"), text(", "), inline("b")]),
        ("$a$$b$", vec![inline("a"), inline("b")]),
        ("the $n$th, 设$x$为", vec![text("the "), inline("n"), text("th, 设"), inline("x"), text("为")]),
        ("**$x$**", vec![Node::Strong(vec![inline("x")])]),
        ("_$x$_", vec![Node::Emphasis(vec![inline("x")])]),
    ];
    for (markdown, expected) in cases {
        assert_eq!(parse(markdown), paragraph(expected), "{markdown:?}");
    }
}

#[test]
fn nothing_in_a_formula_is_markup() {
    let aligned = "\\begin{aligned}\na &= *b* + _c_ \\\\\n- d &< [e](f) \\\\[4pt]\n+ g\n\\end{aligned}";
    let cases = [
        (format!("$$\n{aligned}\n$$"), aligned),
        (format!("\\[\n{aligned}\n\\]"), aligned),
        (r"$a_1 * b_2 * c$".into(), "a_1 * b_2 * c"),
        (r"$\{a\}$".into(), r"\{a\}"),
        (r"$\text{cost \$5}$".into(), r"\text{cost \$5}"),
        (r"\(\frac{a}{b}\$\)".into(), r"\frac{a}{b}\$"),
        ("$$a\n= b$$".into(), "a\n= b"),
        ("$$\\text{for all $x$}$$".into(), "\\text{for all $x$}"),
        ("$https://a.b/$".into(), "https://a.b/"),
    ];
    for (markdown, tex) in cases {
        let nodes = parse(&markdown);
        assert!(matches!(nodes.as_slice(), [Node::Paragraph(of)] if of.len() == 1), "{markdown}: {nodes:?}");
        assert_eq!(formulas(&nodes), [tex], "{markdown}");
    }
}

#[test]
fn money_is_no_formula() {
    let cases = [
        "$5 and $10",
        "from $5 to $7 (a $2 increase)",
        "between $10-$20",
        "**$10**/**$20**",
        "US$5 or US$6",
        "$ x $",
        "$",
        "$$",
        "$$$",
        "$$$$",
        "$$ $$",
        "costs $5,\n\nor 6$",
        r"\$x\$",
        r"\\(x\\)",
        r"\[TODO\](https://a.b)",
        r"\[x",
        r"\(x",
        "$x",
        "$$x",
        "https://a.b/?a=$x$&b=$y$",
    ];
    for markdown in cases {
        assert_eq!(formulas(&parse(markdown)), Vec::<&str>::new(), "{markdown}");
    }
    assert_eq!(parse("$5 and $10"), paragraph(vec![text("$5 and $10")]));
    assert_eq!(
        parse("It costs $5, and $x$ is."),
        paragraph(vec![text("It costs $5, and "), inline("x"), text(" is.")])
    );
}

#[test]
fn code_has_no_formulas() {
    let cases = [
        ("`$a$`", "$a$"),
        ("`$HOME` and `$PATH`", "$HOME and $PATH"),
        ("``a ` $b$``", "a ` $b$"),
        ("```sh\necho $A$B\n\necho $$\n```", "echo $A$B\n\necho $$"),
        ("~~~\n\\(a\\)\n```\n$b$\n~~~", "\\(a\\)\n```\n$b$"),
        ("- ```\n  $a$\n  ```", "$a$"),
        ("> ```\n> $a$\n> ```", "$a$"),
        ("```\n$a$", "$a$"),
        ("    $a$\n    $$b$$", "$a$\n$$b$$"),
    ];
    for (markdown, expected) in cases {
        let nodes = parse(markdown);
        assert_eq!(formulas(&nodes), Vec::<&str>::new(), "{markdown}");
        assert_eq!(plain_text(&nodes), expected, "{markdown}");
    }
    // What follows code, or backticks that begin none, has them.
    for markdown in ["```\n$a$\n```\n$b$", "`a` $b$", "it`s $b$", "````\n```\n$a$\n````\n\n$b$"] {
        assert_eq!(formulas(&parse(markdown)), ["b"], "{markdown}");
    }
}

#[test]
fn formulas_are_in_lists_quotes_headings_and_tables() {
    let cases = [
        ("- $a$\n- $$\n  b\n  $$", vec!["a", "b"]),
        ("> $$\n> a\n> + b\n> $$", vec!["a\n + b"]),
        ("> > $$a\n> > b$$", vec!["a\n b"]),
        ("# About $a$", vec!["a"]),
        ("|$a|b$|c|\n|-|-|\n|$d$|$$e$$|", vec!["a|b", "d", "e"]),
        ("[about $a$](https://b.c)", vec!["a"]),
    ];
    for (markdown, expected) in cases {
        assert_eq!(formulas(&parse(markdown)), expected, "{markdown}");
    }
}

#[test]
fn addresses_languages_and_labels_stay_as_they_are() {
    let nodes = parse("[a](https://b.c/$d$) ![$e$](https://f.g/\\(h\\)) <https://i.j/$k$>");
    let [Node::Paragraph(children)] = nodes.as_slice() else { panic!("{nodes:?}") };
    assert!(matches!(&children[0], Node::Link { href, .. } if href == "https://b.c/$d$"), "{nodes:?}");
    assert!(matches!(&children[2], Node::Image { alt, .. } if alt == "$e$"), "{nodes:?}");
    assert!(matches!(&children[4], Node::Link { href, .. } if href == "https://i.j/$k$"), "{nodes:?}");
    let nodes = parse("A[^$n$].\n\n[^$n$]: The note.\n\n[$x$]: https://y.z\n\n[$x$]");
    assert_eq!(formulas(&nodes), ["x"], "the label of a link is its text");
    assert!(plain_text(&nodes).contains("A[1].") && plain_text(&nodes).contains("The note."), "{nodes:?}");
    let nodes = parse("```$a$\nb\n```");
    assert!(matches!(&nodes[..], [Node::CodeBlock { lang, .. }] if lang == "$a$"), "{nodes:?}");
}

#[test]
fn a_text_with_the_character_of_marks_is_kept() {
    let marked = "\u{10fffd}0\u{10fffd} $x$";
    assert_eq!(parse(marked), paragraph(vec![text(marked)]));
    for entity in ["&#x10fffd;0&#x10fffd; $x$", "&#x10fffd;9&#x10fffd; $x$", "&#x10fffd; $x$"] {
        assert!(formulas(&parse(entity)).iter().all(|tex| *tex == "x"), "{entity}");
    }
}

#[test]
fn hostile_input_takes_no_time() {
    let cases = [
        "$".repeat(200_000),
        "$a ".repeat(100_000),
        "$$a ".repeat(99_999),
        "\\(a ".repeat(100_000),
        "\\[a ".repeat(100_000),
        "\\[a\\](b".repeat(50_000),
        "\\".repeat(200_001),
        "$a$".repeat(50_000),
        (0..50_000).map(|n| format!("${n}$ ")).collect(),
        "$`".repeat(100_000),
        (1..1_000).map(|n| format!("{} $a ", "`".repeat(n))).collect(),
        "h".repeat(500_000),
        format!("$a {}", "h".repeat(1_000_000)),
        (0..200_000).map(|n| format!("${n}$ ")).collect(),
        format!("{}$${}$$", "> ".repeat(50_000), "> a\n".repeat(50_000)),
        "$a".repeat(250_000),
        format!("$${}$$", "> a\n".repeat(50_000)),
        "```\n$a\n".repeat(30_000),
        "$a$\n\n".repeat(30_000),
    ];
    for markdown in cases {
        let started = Work::begin();
        let nodes = parse(&markdown);
        let took = started.done();
        assert!(took < Duration::from_secs(5), "{took:?} for {:?}", &markdown[..20]);
        assert!(serde_json::to_string(&nodes).unwrap().len() < 60 * markdown.len() + 100);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn any_text_is_read(markdown in "([ a-z0-9]|[$`\\\\()\\[\\]~>\n*_|!^:-]|\\$\\$|```|\\PC){0,60}") {
        let nodes = parse(&markdown);
        prop_assert!(formulas(&nodes).iter().all(|tex| !tex.is_empty()));
        prop_assert!(markdown.contains('\u{10fffd}') || !plain_text(&nodes).contains('\u{10fffd}'), "{:?}", nodes);
        let json = serde_json::to_string(&nodes).unwrap();
        prop_assert_eq!(serde_json::from_str::<Vec<Node>>(&json).unwrap(), nodes);
    }

    #[test]
    fn code_keeps_its_dollars(code in "([a-z]|[$\\\\()\\[\\] ]|\\$\\$|\n){0,40}") {
        if let [Node::CodeBlock { spans, .. }] = parse(&format!("```\n{code}\n```")).as_slice() {
            let kept: String = spans.iter().map(|span| span.text.as_str()).collect();
            prop_assert_eq!(kept.trim_end(), code.trim_end());
        }
    }
}
