//! Patterns: what ECMA-262 says they match, in bounded time.

use std::time::Duration;

use super::*;

/// What a pattern matches, and what it does not.
type Row = (
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
);

const ROWS: &[Row] = &[
    ("b", &["abc", "b"], &["ac", ""]),
    (r"^\d{3}$", &["123"], &["\u{661}\u{662}\u{663}", "12"]),
    (r"^\D$", &["\u{661}", "x"], &["1"]),
    (r"^\w+$", &["a_Z9"], &["\u{e9}", "a-b", ""]),
    (r"^\W$", &["\u{e9}", "-"], &["_"]),
    (r"^[\w\-.]+$", &["CC-BY-4.0"], &["a b"]),
    (
        r"^\s$",
        &[" ", "\u{a0}", "\u{feff}", "\u{2028}", "\u{3000}"],
        &["\u{85}", "\u{200b}", "x"],
    ),
    (r"^\S$", &["\u{85}", "x"], &["\u{2029}", "\t"]),
    (r"^\cA\cz$", &["\u{1}\u{1a}"], &["cA", "A"]),
    (r"^\p{Lu}$", &["\u{c9}", "E"], &["e", "1"]),
    (r"^\p{Script=Greek}+$", &["\u{3b1}\u{3b2}"], &["ab"]),
    (r"^a$", &["a"], &["a\n", "\na", "aa"]),
    (
        r"^.$",
        &["x", "\u{1f432}", "\u{85}"],
        &["\n", "\r", "\u{2028}", "\u{2029}", ""],
    ),
    (r"^[.]$", &["."], &["x"]),
    (r"^\.$", &["."], &["x"]),
    (r"^\<\/\-\>$", &["</->"], &["x"]),
    (r"^\u0041\uD83D\uDC32$", &["A\u{1f432}"], &["a"]),
    (r"^\u{1f432}$", &["\u{1f432}"], &["u"]),
    (r"^[\uD83D\uDC32\u0030]$", &["\u{1f432}", "0"], &["1"]),
    (r"^\0[\b]$", &["\0\u{8}"], &["0b"]),
    ("^[^]$", &["\n", "x"], &["", "xy"]),
    ("a|[]", &["a"], &["b"]),
    ("^[a-z&&[^b]]$", &["a]", "&]", "[]", "b]"], &["a", "B]"]),
    ("^(?<year>[0-9]{4})$", &["2026"], &["26"]),
    // The same beside something that looks around, which another engine matches.
    (
        "^(?!tmp_)[a-z_]+$",
        &["stable_name"],
        &["tmp_name", "Stable"],
    ),
    (r"^(?=.)\d{3}$", &["123"], &["\u{661}\u{662}\u{663}", "12"]),
    (r"^(?!x)\w+$", &["a_Z9"], &["\u{e9}", "x1"]),
    (r"^(?!x)[\W]$", &["\u{e9}", "-"], &["_"]),
    (r"^(?=.)[^\W\d]+$", &["ab_"], &["a1", "\u{e9}"]),
    (r"^(?=.)[\w-.]+$", &["CC-BY-4.0"], &["a b"]),
    (r"^(?=.)[.-\d]+$", &["1.2-3"], &["1/2", "x"]),
    (
        r"^(?=[^])\s$",
        &[" ", "\u{a0}", "\u{feff}", "\u{2028}"],
        &["\u{85}", "\u{200b}"],
    ),
    (r"^(?=[^])[\S]$", &["\u{85}", "x"], &["\u{2029}", "\t"]),
    (r"^(?=[^])[\D]$", &["\u{661}"], &["7"]),
    (r"^(?!.*\cA)a.$", &["ab"], &["a\u{1}", "a\r"]),
    (r"^(?!b)\p{Lu}\/\-$", &["\u{c9}/-"], &["e/-"]),
    (r"(?<=\$)\d+$", &["$42"], &["42", "$x", "$42\n"]),
    (r"(?<!\$)\b42$", &["x 42"], &["$42"]),
    (r"^(a+)-\1$", &["a-a", "aa-aa"], &["a-aa", "aa-a"]),
    (r"^(?<q>['\x22]).*\k<q>$", &["'x'", "\"x\""], &["'x\""]),
    (r"^(?=.)\u0041\uD83D\uDC32$", &["A\u{1f432}"], &["a"]),
];

/// Contract: case T07.
#[test]
fn patterns_match_what_ecmascript_says() {
    for (pattern, matching, other) in ROWS {
        for (text, expected) in matching
            .iter()
            .map(|it| (it, true))
            .chain(other.iter().map(|it| (it, false)))
        {
            let schema = serde_json::json!({ "pattern": pattern }).to_string();
            let value = serde_json::json!(text).to_string();
            let found = check(&schema, &value);
            assert_eq!(found.is_ok(), expected, "{pattern} {text:?} {found:?}");
            let schema = serde_json::json!({"patternProperties": {*pattern: false}}).to_string();
            let value = serde_json::json!({*text: 1}).to_string();
            let found = check(&schema, &value);
            assert_eq!(
                found.is_err(),
                expected,
                "name {pattern} {text:?} {found:?}"
            );
        }
    }
}

#[test]
fn patterns_are_shown_as_they_were_written() {
    for (pattern, value) in [(r"^.\d$", "x"), (r"^(?!.)\d$", "x"), ("^a$", "x")] {
        let schema = serde_json::json!({"items": {"pattern": pattern}}).to_string();
        let mismatch = check(&schema, &format!("[\"{value}\"]")).unwrap_err();
        let expected = format!(
            "it do not match the schema\n/0: the value does not match {pattern:?} [pattern]"
        );
        assert_eq!(mismatch.text("it"), expected);
    }
}

#[test]
fn only_patterns_are_rewritten() {
    let schema = r#"{"const":{"pattern":"(?=a)."},"enum":[{"pattern":"(?=a)."}],"properties":{"pattern":{},"const":{"pattern":"^.$"}}}"#;
    assert!(check(schema, r#"{"pattern":"(?=a)."}"#).is_ok());
    let schema = r#"{"properties":{"const":{"pattern":"^.$"},"pattern":{"pattern":"^.$"}}}"#;
    assert!(check(schema, r#"{"const":"\r"}"#).is_err());
    assert!(check(schema, r#"{"pattern":"\r"}"#).is_err());
}

/// Patterns on which a naive engine would take a day, and a value for each.
const HOSTILE: &[&str] = &[
    "^(a+)+$",
    "^(a|a)*$",
    r"^(?=a)(a|aa)+\1$",
    r"(a+)+\1b",
    "(?!x)a[^b]*b",
    "^(?:a(?=[^b]*b))*c",
];

/// Contract: case T07, P-39.
#[test]
fn hostile_texts_are_decided_or_refused_at_once() {
    let text = |length: usize| format!("\"{}!\"", "a".repeat(length));
    let many = format!("[{}1]", format!("{},", text(40)).repeat(2000));
    let name = |n: usize| format!(r#""{}{n}!":1,"#, "a".repeat(40));
    let names = (0..2000).map(name).collect::<Vec<_>>().concat();
    let names = format!(r#"{{{names}"a":1}}"#);
    for pattern in HOSTILE {
        let pattern = pattern.replace('\\', r"\\");
        let schema = schema(&format!(
            r#"{{"pattern":"{pattern}","items":{{"not":{{"pattern":"{pattern}"}}}},"patternProperties":{{"{pattern}":false}}}}"#
        ))
        .unwrap();
        for value in [&text(40), &text(8000), &text(1_000_000), &many, &names] {
            let value = RawJson::parse(value.as_str()).unwrap();
            let (sent, received) = std::sync::mpsc::channel();
            std::thread::scope(|scope| {
                scope.spawn(|| sent.send(schema.check(value.node()).is_ok()).unwrap());
                // Days without the bounds; a moment with them, even on a machine that is busy.
                let decided = received.recv_timeout(Duration::from_secs(60));
                assert!(decided.is_ok(), "{pattern}: {:.60}", value.text());
            });
        }
        let short = RawJson::parse(text(40)).unwrap();
        assert!(schema.check(short.node()).is_err(), "{pattern}");
    }
}

/// Both sides of each bound.
#[test]
fn texts_for_patterns_that_look_around_are_bounded() {
    let schema = r#"{"pattern":"^(?!tmp)","properties":{"n":{}},"patternProperties":{"^(?!x-)":{"pattern":"^(?!tmp)"}}}"#;
    for (length, ok) in [(8 * 1024, true), (8 * 1024 + 1, false)] {
        let value = format!("\"{}\"", "a".repeat(length));
        assert_eq!(check(schema, &value).is_ok(), ok);
        // What no such pattern is for may have any length.
        assert!(check(r#"{"prefixItems":[{"pattern":"^(?!tmp)"}]}"#, &value).is_ok());
    }
    for (length, ok) in [(1024, true), (1025, false)] {
        let value = format!("{{\"{}\":1}}", "a".repeat(length));
        assert_eq!(check(schema, &value).is_ok(), ok);
    }
    // So are long ones, more so than short ones.
    for (many, ok) in [(5, true), (50, false)] {
        let texts = vec![format!("\"{}\"", "a".repeat(8 * 1024)); many];
        let value = format!("[{}]", texts.join(","));
        let schema = r#"{"items":{"pattern":"^(?!tmp)"}}"#;
        assert_eq!(check(schema, &value).is_ok(), ok, "{many}");
    }
    // Many honest texts are no problem, and more are not decided.
    for (many, ok) in [(10_000, true), (200_000, false)] {
        let value = format!("[{}\"c\"]", "\"c\",".repeat(many));
        let schema = r#"{"items":{"pattern":"^(?!tmp)"}}"#;
        assert_eq!(check(schema, &value).is_ok(), ok, "{many}");
    }
}

#[test]
fn patterns_that_would_be_huge_are_refused() {
    let nested = format!("{}a{}", "(".repeat(100_000), ")".repeat(100_000));
    for (pattern, ok) in [
        ("((a{100}){100}){100}", false),
        ("(?=a)((a{100}){100}){100}", false),
        ("((?=a)b){1000}", true),
        (&nested, false),
        (&format!("(?=a){nested}"), false),
    ] {
        let text = serde_json::json!({ "pattern": pattern }).to_string();
        assert_eq!(schema(&text).is_ok(), ok, "{pattern:.30}");
    }
}
