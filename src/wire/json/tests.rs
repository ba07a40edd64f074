use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::*;

fn parse(text: &str) -> Result<Document, SyntaxError> {
    Document::parse(text.as_bytes().to_vec(), MAX_DEPTH)
}

fn kind(text: &str) -> SyntaxErrorKind {
    parse(text).expect_err(text).kind()
}

#[test]
fn index_reads_back_what_the_text_says() {
    let document = parse(r#" {"a": [1, {"b": null}, "x\n"], "\u0062": true, "c": {}} "#).unwrap();
    let root = document.root();
    assert_eq!(root.len(), 3);
    let a = root.get("a").unwrap();
    let texts: Vec<_> = a.elements().map(Node::text).collect();
    assert_eq!(texts, ["1", r#"{"b": null}"#, r#""x\n""#]);
    assert_eq!(a.elements().nth(2).unwrap().as_str().unwrap(), "x\n");
    assert_eq!(root.get("b").unwrap().as_bool(), Some(true));
    assert!(root.get("c").unwrap().is_empty());
    assert!(root.get("d").is_none());
    let names: Vec<_> = root.members().map(|(name, _)| name.into_owned()).collect();
    assert_eq!(names, ["a", "b", "c"]);
}

#[test]
fn refuses_what_is_not_json() {
    use SyntaxErrorKind as K;
    let cases = [
        ("", K::UnexpectedEnd),
        ("  ", K::UnexpectedEnd),
        ("nul", K::UnexpectedCharacter),
        ("NaN", K::UnexpectedCharacter),
        ("+1", K::UnexpectedCharacter),
        (".5", K::UnexpectedCharacter),
        ("01", K::MalformedNumber),
        ("-01", K::MalformedNumber),
        ("1.", K::UnexpectedEnd),
        ("1.e1", K::MalformedNumber),
        ("1e", K::UnexpectedEnd),
        ("-", K::UnexpectedEnd),
        ("0x10", K::TrailingCharacters),
        ("[1,]", K::UnexpectedCharacter),
        ("[1 2]", K::UnexpectedCharacter),
        ("[1}", K::UnexpectedCharacter),
        (r#"{"a":1,}"#, K::UnexpectedCharacter),
        (r#"{"a" 1}"#, K::UnexpectedCharacter),
        ("{a:1}", K::UnexpectedCharacter),
        ("{} {}", K::TrailingCharacters),
        ("[", K::UnexpectedEnd),
        (r#"{"a""#, K::UnexpectedEnd),
        ("\"a\tb\"", K::ControlCharacter),
        ("\u{feff}{}", K::UnexpectedCharacter),
        ("[1] // no", K::TrailingCharacters),
    ];
    for (text, expected) in cases {
        assert_eq!(kind(text), expected, "{text}");
    }
    let error = Document::parse(vec![b'"', 0xff, b'"'], 8).unwrap_err();
    assert_eq!((error.kind(), error.offset()), (K::NotUtf8, 1));
}

#[test]
fn nesting_is_bounded_on_both_sides() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert!(parse(&nested(128)).is_ok());
    assert_eq!(kind(&nested(129)), SyntaxErrorKind::TooDeep);
    assert_eq!(kind(&"[".repeat(100_000)), SyntaxErrorKind::TooDeep);
    let siblings = format!("[{}[]]", "[],".repeat(500));
    assert!(parse(&siblings).is_ok());
}

#[test]
fn finds_duplicates_through_escapes_at_every_depth_and_width() {
    let clean = [
        r#"{"a":1,"A":2}"#,
        "{\"\u{e9}\":1,\"e\u{301}\":2}",
        r#"{"":1," ":2}"#,
        r#"[{"a":1},{"a":2}]"#,
        r#"{"a":{"a":{"a":1}}}"#,
    ];
    for text in clean {
        assert_eq!(parse(text).unwrap().duplicate(), None, "{text}");
    }
    let document = parse(r#"{"x":[{"q":1,"\u0071":2}]}"#).unwrap();
    let duplicate = document.duplicate().unwrap();
    assert_eq!((&*duplicate.name, duplicate.offset), ("q", 13));

    for width in [2, 15, 16, 17, 18, 100, 5000] {
        let members: Vec<_> = (0..width).map(|n| format!("\"name{n}\":{n}")).collect();
        let wide = format!("{{{}}}", members.join(","));
        let document = parse(&wide).unwrap();
        assert_eq!(document.duplicate(), None);
        for n in [0, width / 2, width - 1] {
            let value = document.root().get(&format!("name{n}")).unwrap();
            assert_eq!(value.text(), n.to_string());
        }
        assert!(document.root().get("name").is_none());
        let twice = format!(r#"{{{},"\u006eame1":null}}"#, members.join(","));
        let document = parse(&twice).unwrap();
        assert_eq!(document.duplicate().unwrap().name, "name1");
        assert_eq!(document.root().get("name1").unwrap().text(), "1");
    }
}

/// The fingerprint of a name is made of its ends and its length.
#[test]
fn names_with_one_fingerprint_are_told_apart_and_found() {
    for width in [2, 16, 17] {
        let plain: Vec<_> = (0..width)
            .map(|n| format!("the_head{n:02}the_tail"))
            .collect();
        let members: Vec<_> = (0..width)
            .map(|n| match n % 2 {
                0 => format!("\"{}\":{n}", plain[n]),
                _ => format!("\"{}\":{n}", plain[n].replace("the", r"\u0074he")),
            })
            .collect();
        let document = parse(&format!("{{{}}}", members.join(","))).unwrap();
        assert_eq!(document.duplicate(), None);
        for (n, name) in plain.iter().enumerate() {
            assert_eq!(document.root().get(name).unwrap().text(), n.to_string());
        }
        assert!(document.root().get("the_head99the_tail").is_none());
        let twice = format!(r#"{{{},"the_h\u0065ad01the_tail":0}}"#, members.join(","));
        let document = parse(&twice).unwrap();
        let duplicate = document.duplicate().unwrap();
        assert_eq!(
            (&*duplicate.name, duplicate.offset),
            (&*plain[1], twice.len() - 28)
        );
    }
}

#[test]
fn refuses_the_names_serde_json_would_turn_into_other_values() {
    for name in ["RawValue", "Number"] {
        let plain = format!(r#"{{"x":{{"$serde_json::private::{name}":"1"}}}}"#);
        let escaped = plain.replace('$', "\\u0024");
        assert_eq!(kind(&plain), SyntaxErrorKind::ReservedName);
        assert_eq!(kind(&escaped), SyntaxErrorKind::ReservedName);
    }
    assert!(parse(r#"{"$ref":"x","x":"$serde_json::private::Number"}"#).is_ok());
}

#[derive(Debug, Deserialize, PartialEq)]
struct Everything<'a> {
    flag: bool,
    small: u8,
    big: i128,
    float: f64,
    borrowed: &'a str,
    owned: String,
    letter: char,
    none: Option<u8>,
    some: Option<u8>,
    list: Vec<i64>,
    pair: (u8, String),
    map: BTreeMap<u32, bool>,
    choice: Choice,
    unit: Choice,
    inner: Inner,
}

#[derive(Debug, Deserialize, PartialEq)]
enum Choice {
    Unit,
    Struct { a: u8 },
}

#[derive(Debug, Deserialize, PartialEq)]
struct Inner(Vec<Choice>);

#[test]
fn decodes_typed_values() {
    let document = parse(
        r#"{"flag":true,"small":2e2,"big":170141183460469231731687303715884105727,"float":0.1,
            "borrowed":"b","owned":"\u00fc","letter":"x","none":null,"some":1.0,"list":[-1,9007199254740993],
            "pair":[1,"p"],"map":{"7":true},"choice":{"Struct":{"a":1}},"unit":"Unit","inner":["Unit"]}"#,
    )
    .unwrap();
    let all: Everything<'_> = from_node(document.root()).unwrap();
    assert_eq!(all.small, 200);
    assert_eq!(all.big, i128::MAX);
    assert_eq!(all.list, [-1, 9_007_199_254_740_993]);
    assert_eq!(all.owned, "ü");
    assert!(all.map[&7]);
    assert_eq!(all.choice, Choice::Struct { a: 1 });
    assert_eq!(all.inner, Inner(vec![Choice::Unit]));
}

#[test]
fn decode_errors_name_the_place_and_hide_the_value() {
    fn error<T: for<'a> Deserialize<'a>>(text: &str) -> String {
        match from_node::<T>(parse(text).unwrap().root()) {
            Ok(_) => panic!("{text} was accepted"),
            Err(error) => error.to_string(),
        }
    }
    assert_eq!(
        error::<BTreeMap<String, Vec<u8>>>(r#"{"a/b":[1,"secret"]}"#),
        "/a~1b/1: invalid type: string, expected u8"
    );
    assert_eq!(error::<u8>("256"), "number out of range");
    assert_eq!(
        error::<i64>("30.5"),
        "invalid type: number with a fraction, expected i64"
    );
    assert_eq!(error::<f64>("1e400"), "number out of range");
    assert_eq!(
        error::<(u8, u8)>("[1,2,3]"),
        "invalid length 3, expected fewer elements in array"
    );
    assert!(error::<Choice>(&format!("{:?}", "v".repeat(9999))).len() < 200);
}

#[test]
fn tags_are_names_and_keys_are_written_as_in_json() {
    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(tag = "kind")]
    enum Tagged {
        Circle,
    }
    let reads = |text: &str| from_node::<Tagged>(parse(text).unwrap().root()).is_ok();
    assert!(reads(r#"{"kind":"Circle"}"#));
    assert!(!reads(r#"{"kind":0}"#), "a position is no name");
    assert!(!reads("[0]"));

    let key = |name: &str| {
        let document = parse(&format!("{{\"{name}\":true}}")).unwrap();
        let map = from_node::<BTreeMap<i32, bool>>(document.root()).ok();
        map.and_then(|map| map.keys().next().copied())
    };
    assert_eq!(["7", "-7", "0", "10"].map(key), [7, -7, 0, 10].map(Some));
    assert_eq!(["+7", "07", "-07", "00", "7.0", ""].map(key), [None; 6]);
}

#[test]
fn raw_values_keep_their_text() {
    let document = parse(r#"{"x": {"n": 1.50e2, "s": "\/"}}"#).unwrap();
    let map: BTreeMap<&str, &RawValue> = from_node(document.root()).unwrap();
    assert_eq!(map["x"].get(), r#"{"n": 1.50e2, "s": "\/"}"#);
    let map: BTreeMap<String, RawJson> = from_node(document.root()).unwrap();
    assert_eq!(map["x"].get("n").unwrap().text(), "1.50e2");
    assert_eq!(
        serde_json::to_string(&map).unwrap(),
        r#"{"x":{"n": 1.50e2, "s": "\/"}}"#
    );
}

#[test]
fn the_index_keeps_the_contract_of_the_validator() {
    use jsonschema::json::conformance;

    let document = parse(&conformance::document().to_string()).unwrap();
    conformance::assert_conformance::<IndexedJson>(&NodeRef::Value(document.root()));
}

#[test]
fn looks_into_a_value_are_counted() {
    let schema = serde_json::from_str(r#"{"items":{"additionalProperties":true}}"#).unwrap();
    let validator = jsonschema::options_for::<IndexedJson>()
        .build(&schema)
        .unwrap();
    let document = parse(&format!("[{}1]", "1,".repeat(99))).unwrap();
    let valid = || validator.is_valid(NodeRef::Value(document.root()));
    assert_eq!(within(50, valid), None);
    assert_eq!(within(500, valid), Some(true));
    // What is not counted has no bound.
    assert!(valid());
}

#[test]
fn trees_for_errors_are_small() {
    let is_small = |text: &str| NodeRef::Value(parse(text).unwrap().root()).is_small();
    let (long, many) = ("x".repeat(5000), "1,".repeat(5000));
    assert!(is_small(r#"{"a":[1e400,null,"x"]}"#));
    // A long text is left out, and a long name cannot be.
    assert!(is_small(&format!(r#"{{"a":"{long}"}}"#)));
    assert!(!is_small(&format!(r#"{{"{long}":1}}"#)));
    assert!(!is_small(&format!("[{many}1]")));
}

#[test]
fn validates_numbers_exactly() {
    let valid = |schema: &str, instance: &str| {
        let schema = serde_json::from_str(schema).unwrap();
        let validator = jsonschema::options_for::<IndexedJson>()
            .build(&schema)
            .unwrap();
        validator.is_valid(NodeRef::Value(parse(instance).unwrap().root()))
    };
    assert!(!valid(
        r#"{"type":"integer","maximum":9007199254740992}"#,
        "9007199254740993"
    ));
    assert!(!valid(r#"{"const":9007199254740993}"#, "9007199254740992"));
    assert!(valid(r#"{"multipleOf":0.01}"#, "19.99"));
    assert!(valid(r#"{"type":"integer"}"#, "30.0"));
    assert!(!valid(r#"{"type":"integer"}"#, "30.5"));
    assert!(valid(r#"{"enum":[1]}"#, "1.0"));
    assert!(valid(
        r#"{"uniqueItems":true}"#,
        r#"[1,"1",[1],{"a":1},{"b":1},10]"#
    ));
    assert!(!valid(
        r#"{"uniqueItems":true}"#,
        r#"[{"a":1,"b":2},{"b":2.0,"a":1}]"#
    ));
    assert!(!valid(
        r#"{"propertyNames":{"maxLength":2}}"#,
        r#"{"abc":1}"#
    ));
}
