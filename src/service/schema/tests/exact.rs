//! Numbers of a schema and numbers of a value, however long and however they are written.

use super::cases::Row;
use super::*;

/// Bounds that no float is equal to, with and without the cargo feature.
#[test]
fn bounds_beyond_64_bits_are_exact() {
    let rows: &[Row] = &[
        (
            r#"{"maximum":170141183460469231731687303715884105728}"#,
            &["170141183460469231731687303715884105728", "-1e400"],
            &[
                "170141183460469231731687303715884105728.1",
                "170141183460469231731687303715884105729",
            ],
        ),
        (
            r#"{"minimum":1e400}"#,
            &["1e400", "10.0e399"],
            &["1e399", "9.99e399"],
        ),
        (
            r#"{"exclusiveMaximum":0.10000000000000000555}"#,
            &["0.1"],
            &["0.10000000000000000555"],
        ),
        (
            r#"{"exclusiveMinimum":-18446744073709551615}"#,
            &["-18446744073709551614"],
            &["-18446744073709551615"],
        ),
        (
            r#"{"maximum":18446744073709551614}"#,
            &["18446744073709551614"],
            &["18446744073709551615"],
        ),
        (
            r#"{"not":{"anyOf":[{"maximum":18446744069414584321},{"minimum":1e300}]}}"#,
            &["18446744069414584322"],
            &["18446744069414584321", "1e300"],
        ),
        (
            r#"{"multipleOf":1e-30}"#,
            &["0.000000000000000000000000000003"],
            &["1e-31"],
        ),
    ];
    for (text, valid, invalid) in rows {
        for value in *valid {
            assert_eq!(check(text, value), Ok(()), "{text} {value}");
        }
        for value in *invalid {
            let mismatch = check(text, value).unwrap_err();
            assert_ne!(mismatch.errors[0].keyword, "", "{text} {value}");
        }
    }
    let mismatch = check(r#"{"maximum":18446744073709551616}"#, "1e30").unwrap_err();
    let text = mismatch.text("it");
    assert!(
        text.contains("maximum of 18446744073709551616 [maximum]"),
        "{text}"
    );
}

#[test]
fn whole_values_beyond_64_bits_are_compared_exactly() {
    let rows: &[Row] = &[
        (
            r#"{"const":18446744073709551616}"#,
            &["18446744073709551616", "18446744073709551616.0"],
            &["18446744073709551617", "18446744073709551615", "1"],
        ),
        (
            r#"{"enum":[0,{"b":[0.10000000000000000555,18446744073709551615]},1e400]}"#,
            &[
                "0.0",
                r#"{"b":[0.10000000000000000555,18446744073709551615]}"#,
                "10e399",
            ],
            &[
                r#"{"b":[0.1,18446744073709551615]}"#,
                "1e401",
                "18446744069414584320",
            ],
        ),
        (
            r#"{"const":[1e20,0.25,-1e-7,18446744073709551615,9007199254740993]}"#,
            &["[100000000000000000000,0.250,-0.0000001,18446744073709551615,9007199254740993.0]"],
            &["[100000000000000000000,0.250,-0.0000001,18446744073709551615,9007199254740993.5]"],
        ),
        (
            r#"{"propertyNames":{"enum":["a",1.5]}}"#,
            &[r#"{"a":1}"#],
            &[r#"{"1.5":1}"#],
        ),
    ];
    for (text, valid, invalid) in rows {
        for value in *valid {
            assert_eq!(check(text, value), Ok(()), "{text} {value}");
        }
        for value in *invalid {
            let mismatch = check(text, value).unwrap_err();
            let text = mismatch.text("it");
            assert!(text.contains("none of: "), "{value} {text}");
        }
    }
}

/// Numbers that stand for others in the tree of a schema stand there for themselves as well.
#[test]
fn no_number_is_taken_for_another_one() {
    let text = r#"{"anyOf":[{"type":"number","maximum":0.10000000000000000555},
        {"const":18446744069414584320},{"enum":[[18446744069414584321]]}]}"#;
    for value in [
        "0.10000000000000000555",
        "18446744069414584320",
        "[18446744069414584321]",
    ] {
        assert_eq!(check(text, value), Ok(()), "{value}");
    }
    for value in ["0.2", "18446744069414584321", "[18446744069414584320]"] {
        assert!(check(text, value).is_err(), "{value}");
    }
}

#[test]
fn what_would_be_allowed_is_shown_as_it_is_written() {
    let schema = r#"{"enum":[18446744073709551616,"a",null,[1.5],{"a":1}]}"#;
    let text = check(schema, "7").unwrap_err().text("it");
    let all = "none of: 18446744073709551616, \"a\", null, […], {…} [enum]";
    assert!(text.contains(all), "{text}");
}

#[test]
fn counts_are_exact_or_refused() {
    assert!(schema(r#"{"maxLength":2.0}"#).is_ok());
    if !cfg!(feature = "arbitrary-precision") {
        let error = schema(r#"{"items":{"maxLength":1e400}}"#).unwrap_err();
        assert!(error.starts_with("at /items/maxLength: "), "{error}");
        let error = schema(r#"{"items":{"multipleOf":1.23456789012345678901}}"#).unwrap_err();
        assert!(error.contains("19 digits"), "{error}");
    }
    assert!(schema(r#"{"items":{"multipleOf":0}}"#).is_err());
    // A value that is only shown is no schema.
    assert!(schema(r#"{"default":{"maxLength":1e400},"examples":[{"maxItems":1e400}]}"#).is_ok());
    // Of keywords that nobody knows nothing is asked.
    assert!(schema(r#"{"x-weight":1e400,"x":{"y":[18446744073709551616]}}"#).is_ok());
}

/// Contract: P-39, case T05.
#[test]
fn values_of_recursive_schemas_are_bounded_in_depth() {
    let tree = r##"{"$ref":"#/$defs/n","$defs":{"n":{"properties":{"kids":{"items":{"$ref":"#/$defs/n"}}},"required":["kids"]}}}"##;
    let recursive = schema(tree).unwrap();
    let plain = schema(r#"{"required":["kids"]}"#).unwrap();
    for (levels, ok) in [
        (DEEPEST_VALUE / 2 - 1, true),
        (DEEPEST_VALUE / 2, false),
        (500, false),
    ] {
        let inner = r#"{"kids":[]}"#;
        let text = format!(
            "{}{inner}{}",
            r#"{"kids":["#.repeat(levels),
            "]}".repeat(levels)
        );
        let value = crate::wire::json::Document::parse(text.into_bytes(), 1024).unwrap();
        let checked = recursive.check(value.root());
        assert_eq!(checked.is_ok(), ok, "{levels} {checked:?}");
        assert!(plain.check(value.root()).is_ok());
    }
    let wrong = format!("{}{{}}{}", r#"{"kids":["#.repeat(60), "]}".repeat(60));
    let mismatch = check(tree, &wrong).unwrap_err();
    assert!(mismatch.errors[0].path.starts_with("/kids/0/kids/0/"));
    assert!(mismatch.diagnostics().text().len() < 10_000);
}
