//! Schemas of our own wording: every keyword that we rely on, and values on both sides of it.

use super::*;

/// A schema, values that are valid by it, and values that are not.
type Row = (
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
);

const ROWS: &[Row] = &[
    ("true", &["1", "null", "{}"], &[]),
    ("false", &[], &["1", "null", "{}"]),
    ("{}", &["[]", "\"\"", "1e400"], &[]),
    (r#"{"type":"object"}"#, &["{}"], &["[]", "null", "1"]),
    (r#"{"type":"null"}"#, &["null"], &["0", "false", "\"\""]),
    (
        r#"{"type":"boolean"}"#,
        &["true"],
        &["1", "\"true\"", "null"],
    ),
    (
        r#"{"type":["string","null"]}"#,
        &["\"\"", "null"],
        &["0", "[]"],
    ),
    (
        r#"{"type":"number"}"#,
        &["1", "-0.5", "1e400"],
        &["\"1\"", "true"],
    ),
    (
        r#"{"type":"integer"}"#,
        &[
            "0",
            "-0",
            "30.0",
            "1E2",
            "123456789012345678901234567890",
            "1e400",
        ],
        &["30.5", "1e-1", "\"1\"", "null"],
    ),
    (
        r#"{"$schema":"http://json-schema.org/draft-04/schema#","type":"integer"}"#,
        &["30"],
        &["30.0", "1e2"],
    ),
    (
        r#"{"enum":["a",1,null,{"b":[2.0]}]}"#,
        &["\"a\"", "1.0", "null", r#"{"b":[2]}"#, r#""\u0061""#],
        &["\"b\"", "true", "0", r#"{"b":[2,2]}"#, "{}"],
    ),
    (
        r#"{"const":{"x":1,"y":[false]}}"#,
        &[r#"{"y":[false],"x":1e0}"#],
        &[
            r#"{"x":1,"y":[0]}"#,
            r#"{"x":1}"#,
            r#"{"x":1,"y":[false],"z":1}"#,
        ],
    ),
    (
        r#"{"const":9007199254740993}"#,
        &["9007199254740993", "9007199254740993.0"],
        &["9007199254740992", "9007199254740993.5"],
    ),
    (
        r#"{"const":0.1}"#,
        &["0.1", "1e-1"],
        &["0.10000000000000000555", "0.11"],
    ),
    (
        r#"{"type":"integer","maximum":9007199254740992}"#,
        &["9007199254740992", "-1e400"],
        &["9007199254740993", "1e400"],
    ),
    (
        r#"{"maximum":9007199254740992}"#,
        &["9007199254740991.5"],
        &["9007199254740992.5"],
    ),
    (
        r#"{"maximum":0.1}"#,
        &["0.1", "0.0999999999999999999999"],
        &["0.10000000000000000555"],
    ),
    (
        r#"{"minimum":0.1}"#,
        &["0.10000000000000000555"],
        &["0.09999999999999999999", "-1"],
    ),
    (
        r#"{"maximum":18446744073709551615}"#,
        &["18446744073709551615"],
        &["18446744073709551616", "18446744073709551615.5"],
    ),
    (
        r#"{"minimum":-9223372036854775808}"#,
        &["-9223372036854775808"],
        &["-9223372036854775809", "-9223372036854775808.5"],
    ),
    (
        r#"{"exclusiveMinimum":1,"exclusiveMaximum":2}"#,
        &["1.5", "1.0000000000000000001"],
        &["1", "2.0", "1e0"],
    ),
    (
        r#"{"$schema":"http://json-schema.org/draft-04/schema#","minimum":1,"exclusiveMinimum":true,"maximum":3,"exclusiveMaximum":false}"#,
        &["1.1", "3"],
        &["1", "3.1"],
    ),
    (
        r#"{"multipleOf":0.01}"#,
        &["19.99", "0", "1e2", "123456789012345678901234567890.12"],
        &["19.995", "0.001"],
    ),
    (
        r#"{"multipleOf":3}"#,
        &["9007199254740993", "-3.0"],
        &["9007199254740992", "1e400", "1.5"],
    ),
    (
        r#"{"minLength":2,"maxLength":3}"#,
        &["\"ab\"", r#""\ud83d\ude80x""#, "1"],
        &["\"a\"", "\"\u{1f680}\"", "\"abcd\""],
    ),
    (
        r#"{"pattern":"^[a-c]+$"}"#,
        &["\"abc\"", "1"],
        &["\"abd\"", "\"\""],
    ),
    (
        r#"{"format":"date-time","contentEncoding":"base64","contentMediaType":"application/json"}"#,
        &["\"yesterday\"", "1"],
        &[],
    ),
    (
        r#"{"$schema":"http://json-schema.org/draft-07/schema#","format":"email"}"#,
        &["\"nobody\""],
        &[],
    ),
    (
        r#"{"items":{"type":"integer"}}"#,
        &["[]", "[1,2]", "{}"],
        &["[1,\"2\"]"],
    ),
    (
        r#"{"prefixItems":[{"type":"integer"},{"type":"string"}],"items":false}"#,
        &["[]", "[1]", "[1,\"a\"]"],
        &["[1,\"a\",2]", "[\"a\"]"],
    ),
    (
        r#"{"$schema":"http://json-schema.org/draft-07/schema#","items":[{"type":"integer"}],"additionalItems":{"type":"string"}}"#,
        &["[1,\"a\"]"],
        &["[1,2]", "[\"a\"]"],
    ),
    (
        r#"{"contains":{"minimum":5},"minContains":2,"maxContains":3}"#,
        &["[5,1,6]", "[5,5,5]"],
        &["[5]", "[5,5,5,5]", "[]"],
    ),
    (
        r#"{"minItems":1,"maxItems":2}"#,
        &["[1]", "[1,2]"],
        &["[]", "[1,2,3]"],
    ),
    (
        r#"{"uniqueItems":true}"#,
        &["[1,\"1\",[1],{\"a\":1}]", "[0.1,0.10000000000000000555]"],
        &[
            "[1,1.0]",
            r#"[{"a":1,"b":2},{"b":2,"a":1}]"#,
            r#"["a","\u0061"]"#,
        ],
    ),
    (
        r#"{"prefixItems":[true],"contains":{"type":"string"},"unevaluatedItems":false}"#,
        &["[1,\"a\"]"],
        &["[1,\"a\",2]"],
    ),
    (
        r#"{"properties":{"a":{"type":"integer"},"\u00fc":false},"required":["a"]}"#,
        &[r#"{"a":1}"#, r#"{"\u0061":1,"b":null}"#, "1"],
        &["{}", r#"{"a":"1"}"#, "{\"a\":1,\"\u{fc}\":1}"],
    ),
    (
        r#"{"properties":{"a":{}},"patternProperties":{"^x-":{"type":"integer"}},"additionalProperties":false}"#,
        &[r#"{"a":1,"x-b":2}"#],
        &[r#"{"x-b":"2"}"#, r#"{"b":1}"#],
    ),
    (
        r#"{"propertyNames":{"maxLength":2}}"#,
        &[r#"{"ab":1}"#, "{}"],
        &[r#"{"abc":1}"#],
    ),
    (
        r#"{"minProperties":1,"maxProperties":2}"#,
        &[r#"{"a":1}"#],
        &["{}", r#"{"a":1,"b":1,"c":1}"#],
    ),
    (
        r#"{"dependentRequired":{"a":["b"]},"dependentSchemas":{"c":{"required":["d"]}}}"#,
        &["{}", r#"{"a":1,"b":1}"#, r#"{"c":1,"d":1}"#],
        &[r#"{"a":1}"#, r#"{"c":1}"#],
    ),
    (
        r#"{"allOf":[{"properties":{"a":true}}],"if":{"required":["b"]},"then":{"properties":{"b":true}},"unevaluatedProperties":false}"#,
        &[r#"{"a":1,"b":1}"#],
        &[r#"{"c":1}"#],
    ),
    (
        r#"{"oneOf":[{"multipleOf":3},{"multipleOf":5}],"not":{"const":9},"anyOf":[{"minimum":0},{"type":"integer"}]}"#,
        &["3", "-5"],
        &["15", "9", "2"],
    ),
    (
        r#"{"if":{"type":"string"},"then":{"minLength":1},"else":{"type":"integer"}}"#,
        &["\"a\"", "1"],
        &["\"\"", "null"],
    ),
    (
        r##"{"$ref":"#/$defs/n","$defs":{"n":{"type":"object","properties":{"kids":{"items":{"$ref":"#/$defs/n"}}},"required":["kids"]}}}"##,
        &[r#"{"kids":[{"kids":[]}]}"#],
        &[r#"{"kids":[{}]}"#, "1"],
    ),
    (
        r##"{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"$ref":"#/definitions/n","maximum":0}},"definitions":{"n":{"minimum":5}}}"##,
        // What stands beside a reference counts only in newer dialects.
        &[r#"{"a":7}"#],
        &[r#"{"a":4}"#],
    ),
    (
        r##"{"$id":"urn:x:root","$defs":{"leaf":{"$id":"urn:x:leaf","$anchor":"it","$defs":{"n":{"type":"null"}},"items":{"$ref":"#/$defs/n"}}},"$ref":"urn:x:leaf#it"}"##,
        &["[null]"],
        &["[1]"],
    ),
    (
        r##"{"$id":"urn:x:tree","$dynamicAnchor":"node","properties":{"next":{"$dynamicRef":"#node"}},"required":["v"]}"##,
        &[r#"{"v":1,"next":{"v":2}}"#],
        &[r#"{"v":1,"next":{}}"#],
    ),
    (
        r##"{"$schema":"https://json-schema.org/draft/2019-09/schema","$recursiveAnchor":true,"properties":{"next":{"$recursiveRef":"#"}},"required":["v"]}"##,
        &[r#"{"v":1,"next":{"v":2}}"#],
        &[r#"{"v":1,"next":{}}"#],
    ),
    (
        r#"{"$schema":"http://json-schema.org/draft-06/schema#","contains":{"const":1},"examples":[1e400],"default":{"a":1e400}}"#,
        &["[1]"],
        &["[2]"],
    ),
];

/// Contract: P-32, P-33, S-036, case T05, case J16.
#[test]
fn keywords_decide_by_their_dialect() {
    for (text, valid, invalid) in ROWS {
        let schema = schema(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let values = valid.iter().map(|it| (it, true));
        for (value, expected) in values.chain(invalid.iter().map(|it| (it, false))) {
            let checked = schema.check(RawJson::parse(*value).unwrap().node());
            assert_eq!(checked.is_ok(), expected, "{text} {value} {checked:?}");
        }
    }
}

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
