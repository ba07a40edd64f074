//! Schemas of our own wording: every keyword that we rely on, and values on both sides of it.

use super::*;

/// A schema, values that are valid by it, and values that are not.
pub(super) type Row = (
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
