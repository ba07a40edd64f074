mod suite;

use super::*;

fn schema(text: &str) -> Result<Schema, String> {
    Schema::compile(RawJson::parse(text).unwrap())
}

fn check(text: &str, value: &str) -> Result<(), Mismatch> {
    schema(text)
        .unwrap()
        .check(RawJson::parse(value).unwrap().node())
}

#[test]
fn errors_name_place_and_rule_and_hide_the_value() {
    let mismatch = check(
        r#"{"properties":{"a/b":{"type":"string"}},"required":["c"]}"#,
        r#"{"a/b":{"secret":1}}"#,
    )
    .unwrap_err();
    let text = mismatch.diagnostics();
    assert!(!text.text().contains("secret"), "{text}");
    let paths: Vec<_> = mismatch
        .errors
        .iter()
        .map(|e| (e.path.as_str(), e.keyword.as_str()))
        .collect();
    assert!(paths.contains(&("/a~1b", "type")), "{paths:?}");
    assert!(paths.contains(&("", "required")), "{paths:?}");
}

#[test]
fn errors_are_bounded() {
    let many = format!("[{}]", vec!["1"; 200].join(","));
    let mismatch = check(r#"{"items":{"type":"string"}}"#, &many).unwrap_err();
    assert_eq!(mismatch.errors.len(), MOST_ERRORS);
    assert!(mismatch.diagnostics().text().len() < 8 * 1024);
    let large = format!("[{}]", vec!["1"; 40_000].join(","));
    let mismatch = check(r#"{"items":{"type":"string"}}"#, &large).unwrap_err();
    assert_eq!(mismatch.errors.len(), 1);
}

#[test]
fn references_stay_inside() {
    let error = schema(r#"{"$ref":"https://example.com/x.json"}"#).unwrap_err();
    assert!(error.contains("example.com"), "{error}");
    assert!(schema(r##"{"$ref":"#/nowhere"}"##).is_err());
    assert!(schema(r##"{"$ref":"#/$defs/a","$defs":{"a":{"type":"null"}}}"##).is_ok());
}

#[test]
fn broken_schemas_are_refused() {
    assert!(schema(r#"{"type":"strin"}"#).is_err());
    assert!(schema(r#"{"pattern":"("}"#).is_err());
    assert!(schema(r#"{"$schema":"urn:unknown:dialect"}"#).is_err());
    assert!(schema("7").is_err());
    let deep = format!("{}{{}}{}", r#"{"not":"#.repeat(64), "}".repeat(64));
    assert!(schema(&deep).unwrap_err().contains("nests deeper"));
}

#[test]
fn backtracking_is_bounded() {
    let hostile = format!("\"{}!\"", "a".repeat(40));
    assert!(check(r#"{"pattern":"^(a+)+$"}"#, &hostile).is_err());
    assert!(check(r#"{"pattern":"^(?!tmp_)[a-z_]+$"}"#, "\"stable_name\"").is_ok());
    assert!(check(r#"{"pattern":"^\\d{3}$"}"#, "\"\u{661}\u{662}\u{663}\"").is_err());
}
