//! What is no JSON, byte by byte, and what only looks as if it were none.

use super::{CALL, Line, META, arguments, changed, changed_to_bytes, matrix, message};

/// Not UTF-8, each in another way.
const BROKEN: [&[u8]; 14] = [
    b"\x80",
    b"\xbf\xbf",
    b"\xc0\x80",
    b"\xc1\xbf",
    b"\xe2\x82",
    b"\xe0\x80\x80",
    b"\xed\xa0\x80",
    b"\xed\xa0\x80\xed\xb0\x80",
    b"\xf0\x80\x80\x80",
    b"\xf0\x9f\x9a",
    b"\xf4\x90\x80\x80",
    b"\xf5\x80\x80\x80",
    b"\xfe",
    b"\xff",
];

/// Contract: P-2, S-034.
#[tokio::test]
async fn what_is_not_utf_8_wherever_it_stands() {
    let mut lines = Vec::new();
    for broken in BROKEN {
        let quoted = [b"\"", broken, b"\""].concat();
        let places = [
            ("\"tally_bump\"", quoted.clone()),
            (
                "\"arguments\":{}",
                [b"\"arguments\":{\"x\":", &*quoted, b"}"].concat(),
            ),
            (
                "\"arguments\":{}",
                [b"\"arguments\":{", &*quoted, b":1}"].concat(),
            ),
            ("\"id\":7", [b"\"id\":", &*quoted].concat()),
            ("\"tools/call\"", quoted.clone()),
            ("{\"jsonrpc\"", [b"{", &*quoted, b":0,\"jsonrpc\""].concat()),
            ("{\"jsonrpc\"", [b"{", broken, b"\"jsonrpc\""].concat()),
            ("{}}}", [b"{}}}", broken].concat()),
            ("{\"jsonrpc\"", [broken, b"{\"jsonrpc\""].concat()),
        ];
        lines.extend(
            places
                .iter()
                .map(|(from, to)| changed_to_bytes(from, to).unparsable()),
        );
    }
    let wide = |bytes: fn(u16) -> [u8; 2]| CALL.encode_utf16().flat_map(bytes).collect::<Vec<_>>();
    lines.push(message("UTF-16", wide(u16::to_be_bytes)).unparsable());
    lines.push(message("UTF-16 the other way", wide(u16::to_le_bytes)).unparsable());
    matrix(lines).await;
}

/// Contract: P-2.
#[tokio::test]
async fn escapes_that_stand_for_no_character() {
    let broken = [
        r"\ud800",
        r"\udbff",
        r"\udc00",
        r"\udfff",
        r"\ud800\ud800",
        r"\udc00\ud800",
        r"\ud800x",
        r"\ud83d\n",
        r"x\ud83d",
        r"\ud83d\\ude80",
        r"\ud83d\u0041",
        r"\uD83D \uDE80",
        r"\u00g0",
        r"\u12",
        r"\u",
        r"\x41",
        r"\u+123",
        r"\u 041",
        r"\U0041",
        r"\'",
        r"\",
        r"\a",
        r"\0",
    ];
    let mut lines = Vec::new();
    for broken in broken {
        lines.push(arguments(&format!("{{\"x\":\"{broken}\"}}")).unparsable());
        lines.push(arguments(&format!("{{\"{broken}\":1}}")).unparsable());
        lines.push(changed(r#""id":7"#, &format!("\"id\":\"{broken}\"")).unparsable());
    }
    lines.push(
        arguments(r#"{"x":"\ud83d\ude80\uDBFF\uDFFF","\u0000":"\u0000\u2028\ufeff\uffff"}"#)
            .runs("7"),
    );
    matrix(lines).await;
}

/// Contract: P-17, S-034, case J12, case J13.
#[tokio::test]
async fn what_may_stand_between_tokens_is_white_space_alone() {
    let mut lines = Vec::new();
    for between in [
        "\0", "\u{b}", "\u{c}", "\u{a0}", "\u{2028}", "\u{feff}", "\u{200b}", "//\r", "/**/", "#",
        ";", "\\u0020",
    ] {
        lines.push(changed(r#""id":7"#, &format!("\"id\":{between}7")).unparsable());
        lines.push(changed("{}}}", &format!("{{}}}}}}{between}")).unparsable());
    }
    for control in ["\0", "\u{1}", "\t", "\n", "\r", "\u{1f}"] {
        lines.push(arguments(&format!("{{\"x\":\"{control}\"}}")).unparsable());
        lines.push(arguments(&format!("{{\"{control}\":1}}")).unparsable());
    }
    for white in [" ", "\t", "\r", "\n", "\r\n", " \t\r\n "] {
        lines.push(
            changed(
                r#""id":7"#,
                &format!("{white}\"id\"{white}:{white}7{white}"),
            )
            .runs("7"),
        );
        lines.push(changed("{}}}", &format!("{{}}}}}}{white}")).runs("7"));
        lines.push(changed("{\"jsonrpc\"", &format!("{white}{{\"jsonrpc\"")).runs("7"));
    }
    lines.push(arguments("{\"x\":\"\u{7f}\u{80}\u{2028}\u{feff}\u{fffe}\"}").runs("7"));
    lines.push(message("a mark of byte order", format!("\u{feff}{CALL}")).unparsable());
    lines.push(message("two of them", format!("\u{feff}\u{feff}{CALL}")).unparsable());
    // A blank line is no message at all.
    for blank in ["", " ", "\t", "\r", " \r"] {
        lines.push(
            message(format!("blank: {blank:?}"), blank)
                .unparsable()
                .silent_on_stdio(),
        );
    }
    matrix(lines).await;
}

/// Contract: P-17, S-034, M-112, case J13.
#[tokio::test]
async fn what_follows_the_message_and_what_is_missing() {
    let mut lines = Vec::new();
    for after in [
        CALL, "{}", "[]", "0", "null", "x", ",", "}", "]", ":", "\"", "\"\"", "\0", " junk", "//",
        "/* */",
    ] {
        lines.push(message(format!("and then {after}"), format!("{CALL}{after}")).unparsable());
        lines.push(message(format!("first {after}"), format!("{after}{CALL}")).unparsable());
    }
    // Every beginning of it.
    let text = CALL.replace(META, "");
    for length in 1..text.len() {
        lines.push(message(format!("{length} bytes of it"), &text[..length]).unparsable());
    }
    matrix(lines).await;
}

/// Values of other languages and of other versions of this one.
const FOREIGN: &[&str] = &[
    "NaN",
    "-NaN",
    "Infinity",
    "-Infinity",
    "undefined",
    "None",
    "True",
    "FALSE",
    "nil",
    "NULL",
    "nul",
    "tru",
    "truee",
    "'q'",
    "`q`",
    "q",
    "+1",
    "01",
    "-01",
    "00",
    ".5",
    "-.5",
    "1.",
    "1.e1",
    "0x10",
    "0b1",
    "0o7",
    "1e",
    "1e+",
    "1E-",
    "-",
    "--1",
    "1_000",
    "1,000",
    "1n",
    "1f",
    "1.2.3",
    "1e1.0",
    "१",
    "1/2",
    "(1)",
    "<1>",
    "@",
    "b\"x\"",
    "[1,]",
    "[,1]",
    "[,]",
    "[1 2]",
    "[1;2]",
    "[1",
    "1]",
    "[1}",
    "{,}",
    r#"{"a"}"#,
    r#"{"a" 1}"#,
    r#"{"a":}"#,
    r#"{"a":1,}"#,
    r#"{"a":1 "b":2}"#,
    r#"{"a"::1}"#,
    "{a:1}",
    "{1:2}",
    "{null:1}",
    "{'a':1}",
    r#"{"a":1"#,
    "\"unclosed",
    "\"a\" \"b\"",
    "\"a\"+\"b\"",
    "/re/",
    "new Date()",
    "// c",
    "/* c */",
    "",
];

/// Contract: P-17, S-034, case J13.
#[tokio::test]
async fn values_other_languages_know() {
    let foreign = FOREIGN.iter().map(|value| format!("{{\"x\":{value}}}"));
    let mut lines: Vec<Line> = foreign.map(|json| arguments(&json).unparsable()).collect();
    for fine in [
        "-0",
        "0.0",
        "1E400",
        "-1e-400",
        "0e0",
        "123456789012345678901234567890",
        "[[],{},\"\",null]",
    ] {
        lines.push(arguments(&format!("{{\"x\":{fine}}}")).runs("7"));
    }
    matrix(lines).await;
}

/// Contract: P-17, case J15.
#[tokio::test]
async fn what_nests_too_deep_wherever_it_stands() {
    // The message, its params, its arguments: the rest is left to one of them.
    const LEFT: usize = 128 - 3;
    let lists = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    let objects = |levels: usize| format!("{}1{}", r#"{"k":"#.repeat(levels), "}".repeat(levels));
    let mut lines = Vec::new();
    for levels in [10_000, 100_000] {
        for deep in [
            lists(levels),
            objects(levels),
            "[".repeat(levels),
            "]".repeat(levels),
            r#"{"":"#.repeat(levels),
        ] {
            let name = |place: &str| format!("{place}, {levels} levels: {}", &deep[..2]);
            lines.push(
                arguments(&format!("{{\"x\":{deep}}}"))
                    .named(name("an argument"))
                    .unparsable(),
            );
            let extra = changed("{\"jsonrpc\"", &format!("{{\"extra\":{deep},\"jsonrpc\""));
            lines.push(extra.named(name("an ignored member")).unparsable());
            let meta = changed(META, &format!("{META},\"x.example/y\":{deep}"));
            lines.push(meta.named(name("a member of _meta")).unparsable());
            let id = changed("\"id\":7", &format!("\"id\":{deep}"));
            lines.push(id.named(name("the id")).unparsable());
            lines.push(message(name("the message"), deep.clone()).unparsable());
        }
    }
    for deep in [lists, objects] {
        lines.push(
            arguments(&format!("{{\"x\":{}}}", deep(LEFT)))
                .named("deep enough")
                .runs("7"),
        );
        lines.push(
            arguments(&format!("{{\"x\":{}}}", deep(LEFT + 1)))
                .named("one too deep")
                .unparsable(),
        );
    }
    matrix(lines).await;
}
