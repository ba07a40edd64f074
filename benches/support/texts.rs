//! Messages to scan: what clients send, and what somebody sends who wants the scan to be slow.

use std::fmt::Write as _;

/// A message by its name.
pub(crate) struct Sample {
    pub(crate) name: &'static str,
    pub(crate) text: String,
}

/// All of them, the ordinary ones first.
pub(crate) fn samples() -> Vec<Sample> {
    let sample = |name, text| Sample { name, text };
    vec![
        sample("object_300", objects(300)),
        sample("object_4k", objects(4 * KIB)),
        sample("object_64k", objects(64 * KIB)),
        sample("object_2m", objects(2048 * KIB - KIB)),
        sample(
            "text_64k",
            text("the quick brown fox, and so on. ", 64 * KIB),
        ),
        sample(
            "text_64k_escapes",
            text(r#"a line of \"text\"\nand \u00e9 more of it, "#, 64 * KIB),
        ),
        sample("text_64k_all_escapes", text(r"\n\t\u00e9\\", 64 * KIB)),
        sample(
            "text_64k_not_ascii",
            text("größer als früher, 速い狐 ", 64 * KIB),
        ),
        sample("wide_64k", wide(64 * KIB, |n| format!("key_{n:05}"))),
        sample(
            "wide_64k_escapes",
            wide(64 * KIB, |n| format!(r"k\u0065y_{n:05}")),
        ),
        sample("nested_arrays_64k", nests("[", "1", "]", 64 * KIB)),
        sample("nested_objects_64k", nests(r#"{"a":"#, "1", "}", 64 * KIB)),
        sample("empty_arrays_64k", list("[]", 64 * KIB)),
        sample("digits_64k", list("7", 64 * KIB)),
        sample("colliding_short", colliding(4, 64 * KIB)),
        sample("colliding_long", colliding(3_900, 64 * KIB)),
        sample(
            "colliding_wide",
            wide(64 * KIB, |n| collide(&format!("{n:05}"))),
        ),
        sample("colliding_escaped", escaped_names(64 * KIB)),
    ]
}

/// A call whose arguments are an array of records, at most this long.
fn objects(bytes: usize) -> String {
    let mut out = call_with(r#""records":["#);
    let mut n = 0;
    loop {
        let record = record(n);
        if n > 0 && out.len() + record.len() + END.len() + 2 > bytes {
            break;
        }
        if n > 0 {
            out.push(',');
        }
        out.push_str(&record);
        n += 1;
    }
    out + "]" + END
}

/// Nine members: numbers, texts with and without escapes, and objects inside.
fn record(n: usize) -> String {
    format!(
        r#"{{"id":{n},"name":"record {n}","note":"first \"line\"\nsecond","score":{n}.25,"open":{open},"parent":null,"tags":["a","bc"],"place":{{"x":-{n},"y":1e3,"in":{{"city":"K\u00f6ln"}}}},"kind":"plain"}}"#,
        open = n.is_multiple_of(2),
    )
}

/// A call with one long text.
fn text(piece: &str, bytes: usize) -> String {
    let mut out = call_with(r#""text":""#);
    while out.len() + piece.len() + END.len() < bytes {
        out.push_str(piece);
    }
    out + "\"" + END
}

/// One object with as many names as fit.
fn wide(bytes: usize, name: impl Fn(usize) -> String) -> String {
    let mut out = String::from("{");
    for n in 0.. {
        let name = name(n);
        if out.len() + name.len() + 6 > bytes {
            break;
        }
        let comma = if n > 0 { "," } else { "" };
        let _ = write!(out, r#"{comma}"{name}":{}"#, n % 10);
    }
    out + "}"
}

/// Deep nests, one beside the other.
fn nests(open: &str, inside: &str, close: &str, bytes: usize) -> String {
    let nest = open.repeat(DEPTH) + inside + &close.repeat(DEPTH);
    list(&nest, bytes)
}

/// As many of these as fit.
fn list(item: &str, bytes: usize) -> String {
    let items = (bytes - 1) / (item.len() + 1);
    format!("[{}]", vec![item; items].join(","))
}

/// Objects of sixteen members whose names differ in the middle alone.
fn colliding(middle: usize, bytes: usize) -> String {
    let object = object_of(|n| collide(&format!("{n:0middle$}")));
    list(&object, bytes)
}

/// The same with names that have to be decoded to be compared.
fn escaped_names(bytes: usize) -> String {
    let middle = r"\u0061".repeat(640);
    let object = object_of(|n| collide(&format!("{middle}{n:02}")));
    list(&object, bytes)
}

fn object_of(name: impl Fn(usize) -> String) -> String {
    let members = (0..NARROW).map(|n| format!(r#""{}":{n}"#, name(n)));
    format!("{{{}}}", members.collect::<Vec<_>>().join(","))
}

/// A name that has the fingerprint of all others with a middle as long: the scan looks at the first
/// and last eight bytes and at the length.
fn collide(middle: &str) -> String {
    format!("the_head{middle}the_tail")
}

fn call_with(arguments: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"store","arguments":{{{arguments}"#
    )
}

const END: &str = "}}}";
const KIB: usize = 1024;
/// Containers around the innermost value, with the list they stand in.
const DEPTH: usize = 126;
/// Members of the largest object whose names are compared with one another.
const NARROW: usize = 16;
