mod cases;
mod exact;
mod patterns;
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

/// Contract: P-36, P-38, M-041.
#[test]
fn references_that_leave_a_schema_are_refused_with_their_place() {
    let outside = "leaves the schema, and nothing is fetched";
    let cases = [
        (r#"{"$ref":"https://example.com/x.json"}"#, "/$ref", outside),
        (
            r#"{"items":{"$ref":"file:///etc/hosts"}}"#,
            "/items/$ref",
            outside,
        ),
        (
            r#"{"items":{"$ref":"other.json#/a"}}"#,
            "/items/$ref",
            outside,
        ),
        (
            r#"{"$id":"https://example.com/a/b","properties":{"a/b":{"$ref":"c"}}}"#,
            "/properties/a~1b/$ref",
            outside,
        ),
        (
            r#"{"allOf":[{},{"$dynamicRef":"urn:x:tree#node"}]}"#,
            "/allOf/1/$dynamicRef",
            outside,
        ),
        (
            r##"{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{}},"not":{"$ref":"#/$defs/c"},"if":{"$ref":"#/$defs/a"}}"##,
            "/not/$ref",
            "leads nowhere",
        ),
        (
            r##"{"items":{"$ref":"#nowhere"}}"##,
            "/items/$ref",
            "leads nowhere",
        ),
        (
            r##"{"$schema":"http://json-schema.org/draft-07/schema#","not":{"$ref":"#/definitions/a"}}"##,
            "/not/$ref",
            "leads nowhere",
        ),
        (
            r#"{"$schema":"urn:unknown:dialect"}"#,
            "/$schema",
            "is not supported",
        ),
        (
            r#"{"$defs":{"a":{"$id":"urn:a","$schema":"https://example.com/dialect"}}}"#,
            "/$defs/a/$schema",
            "is not supported",
        ),
    ];
    for (text, place, problem) in cases {
        let error = schema(text).unwrap_err();
        assert!(
            error.starts_with(&format!("at {place}: ")),
            "{text}: {error}"
        );
        assert!(error.ends_with(problem), "{text}: {error}");
        assert!(error.len() < 500);
    }
}

#[test]
fn the_first_of_many_references_that_lead_nowhere_is_named() {
    for many in 1..=9 {
        for wrong in 0..many {
            let target = |at| if at >= wrong { "gone" } else { "here" };
            let one = |at: usize| format!(r##"{{"$ref":"#/$defs/{}"}}"##, target(at));
            let all = (0..many).map(one).collect::<Vec<_>>().join(",");
            let text = format!(r#"{{"$defs":{{"here":true}},"allOf":[{all}]}}"#);
            let error = schema(&text).map(drop).unwrap_err();
            let place = format!("at /allOf/{wrong}/$ref: ");
            assert!(error.starts_with(&place), "{wrong} of {many}: {error}");
        }
    }
}

#[test]
fn what_is_said_of_a_schema_is_bounded() {
    let long = "x".repeat(100_000);
    for text in [
        format!(r#"{{"properties":{{"{long}":{{"$ref":"urn:{long}"}}}}}}"#),
        format!(r#"{{"$schema":"urn:{long}"}}"#),
        format!(r#"{{"type":"{long}"}}"#),
        format!(r#"{{"patternProperties":{{"({long}":{{}}}}}}"#),
    ] {
        let error = schema(&text).map(drop).unwrap_err();
        assert!(error.len() < 1000, "{}", error.len());
    }
}

/// Contract: P-39.
#[test]
fn schemas_are_bounded_in_depth_number_and_length() {
    let deep = |levels: usize| format!("{}{{}}{}", r#"{"not":"#.repeat(levels), "}".repeat(levels));
    assert!(schema(&deep(DEEPEST_SCHEMA - 1)).is_ok());
    assert!(
        schema(&deep(DEEPEST_SCHEMA))
            .unwrap_err()
            .contains("nests deeper")
    );
    let wide = |many: usize| format!(r#"{{"anyOf":[{}{{}}]}}"#, "{},".repeat(many - 2));
    assert!(schema(&wide(MOST_SUBSCHEMAS)).is_ok());
    assert!(
        schema(&wide(MOST_SUBSCHEMAS + 1))
            .unwrap_err()
            .contains("more than")
    );
    let long = |bytes: usize| format!(r#"{{"title":"{}"}}"#, "x".repeat(bytes - 12));
    assert!(schema(&long(LONGEST_SCHEMA)).is_ok());
    assert!(
        schema(&long(LONGEST_SCHEMA + 1))
            .unwrap_err()
            .contains("longer than")
    );
}

/// Contract: P-34.
#[test]
fn broken_schemas_are_refused_with_their_place() {
    let cases = [
        (r#"{"type":"strin"}"#, "at /type: "),
        (r#"{"items":{"minimum":"1"}}"#, "at /items/minimum: "),
        (r#"{"items":{"pattern":"("}}"#, "at /items/pattern: "),
        (r#"{"items":{"pattern":"(?=a)("}}"#, "at /items/pattern: "),
        (r#"{"patternProperties":{"[":{}}}"#, "at /patternProperties"),
        ("7", "a schema is"),
        ("[]", "a schema is"),
        ("null", "a schema is"),
    ];
    for (text, start) in cases {
        let error = schema(text).unwrap_err();
        assert!(error.starts_with(start), "{text}: {error}");
    }
}

/// The library looks the place up where it gave up, in a tree that need not be there.
#[test]
fn a_pattern_that_gives_up_is_a_mismatch_of_any_value() {
    let hostile = format!("{}!", "a".repeat(40));
    let schemas = [
        r#"{"properties":{"a":{"items":{"pattern":"^(?=a)(a|aa)+\\1$"}}}}"#,
        r#"{"properties":{"a":{"not":{"contains":{"pattern":"^(?=a)(a|aa)+\\1$"}}}}}"#,
        r#"{"properties":{"a":{"items":{"patternProperties":{"^(?=a)(a|aa)+\\1$":false}}}}}"#,
    ];
    for schema in schemas {
        for beside in [
            "1".to_owned(),
            "1e400".to_owned(),
            format!("\"{}\"", "x".repeat(5000)),
            format!("[{}1]", "1,".repeat(5000)),
            format!("\"{}\"", "x".repeat(100_000)),
            format!("[{}1]", "1,".repeat(100_000)),
        ] {
            let value = format!(r#"{{"b":{beside},"a":["{hostile}",{{"{hostile}":1}}]}}"#);
            let mismatch = check(schema, &value).unwrap_err();
            assert_eq!(mismatch.errors.len(), 1);
            assert!(
                mismatch.text("it").contains("too many steps"),
                "{mismatch:?}"
            );
        }
    }
}

/// References that branch lead to one place on 2 to the power of 100 ways.
///
/// Contract: P-39.
#[test]
fn schemas_that_branch_are_decided_or_refused_in_bounded_steps() {
    let array = r#""type":["array","integer"]"#;
    let kid = r##"{"items":{"$ref":"#/$defs/n"}}"##;
    let other = r##"{"prefixItems":[{"$ref":"#/$defs/n"}],"minItems":2}"##;
    for node in [
        format!(r#"{{{array},"allOf":[{kid},{kid}]}}"#),
        format!(r#"{{{array},"anyOf":[{kid},{kid}]}}"#),
        format!(r#"{{{array},"oneOf":[{kid},{other}]}}"#),
        format!(r#"{{{array},"if":{kid},"then":{kid},"else":{kid}}}"#),
        format!(r#"{{{array},"not":{{"not":{kid}}},"allOf":[{kid}]}}"#),
        format!(r#"{{{array},"anyOf":[{kid},{other}],"unevaluatedItems":false}}"#),
    ] {
        let schema = schema(&format!(
            r##"{{"properties":{{"a":{{"$ref":"#/$defs/n"}},"b":{{"type":"integer"}}}},"$defs":{{"n":{node}}}}}"##
        ))
        .unwrap();
        for (leaf, beside) in [("\"x\"", "1"), ("1", "\"x\""), ("[]", "1.5")] {
            let (open, close) = ("[".repeat(120), "]".repeat(120));
            let value = format!(r#"{{"a":{open}{leaf}{close},"b":{beside}}}"#);
            let checked = schema.check(RawJson::parse(value).unwrap().node());
            assert!(!checked.unwrap_err().errors.is_empty());
        }
    }
}
