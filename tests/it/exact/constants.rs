//! Schemas through the whole stack: published to the byte, and decided exactly.

use portcullis::layers::{Compact, Mode};
use portcullis::service::Failure;
use portcullis::service::handler::{Json, RawArgs, State, Text};
use portcullis::wire::json::RawJson;
use portcullis::{Gate, Operation, Registry, Stack};

use crate::support::{Answer, Client, Probe, Way, each_transport};

/// Every constant is one that another encoder would write otherwise.
const INPUT: &str = r##"{ "type" : "object", "$id":"urn:x:in", "properties":{
"const":{"const":9007199254740993},"enum":{"enum":[1.0,1E2,-0.0,"\u2028\/"]},
"long":{"maximum":170141183460469231731687303715884105728,"minimum":-1e400},
"step":{"multipleOf":0.010},"close":{"exclusiveMaximum":0.10000000000000000555111512312578270},
"whole":{"type":"integer"},"tree":{"$ref":"#/$defs/n"},"made":{"default":1e400,"x-n":1e999},
"when":{"format":"date-time"},"name":{"type":"string","pattern":"^(?!tmp_)[a-z_]+$","maxLength":20}},
"$defs":{"n":{"type":"object","properties":{"kids":{"type":"array","items":{"$ref":"#/$defs/n"}}},"required":["kids"]}},
"additionalProperties":false}"##;

fn gate(mode: Mode) -> (Gate, Probe) {
    let probe = Probe::default();
    let registry = Registry::builder().state(probe.clone()).operation(
        Operation::new("exact").input_schema(INPUT).handler(
            |State(probe): State<Probe>, RawArgs(raw): RawArgs| async move {
                probe.tally.add();
                Text(raw.text().to_owned())
            },
        ),
    );
    let stack = Stack::new(registry.build().unwrap()).mode(mode);
    (stack.build().unwrap(), probe)
}

/// Contract: S-079, case T05.
#[tokio::test]
async fn schemas_are_published_to_the_byte() {
    // A transport writes no line inside a message.
    let published = INPUT.replace('\n', " ");
    each_transport(async |way| {
        for mode in [Mode::Plain, Mode::Direct] {
            let client = way.open(&gate(mode).0).await;
            let listed = client.request("tools/list", "{}").await;
            assert_eq!(schema_of(&listed), published);
        }
        let client = way.open(&gate(Mode::Compact(Compact::default())).0).await;
        let details = client.tool("get_tool_details", r#"{"name":"exact"}"#).await;
        let details = details.raw().replace('\n', " ");
        assert!(details.contains(&published), "{details}");
    })
    .await;
}

fn schema_of(listed: &Answer) -> String {
    let listed = RawJson::parse(listed.raw().replace('\n', " ")).unwrap();
    let tools = listed.node().get("result").and_then(|it| it.get("tools"));
    let mut tools = tools.unwrap().elements();
    let schema = tools.next().and_then(|it| it.get("inputSchema")).unwrap();
    schema.text().to_owned()
}

/// Arguments, and the place and keyword that refuse them, if any do.
type Row = (&'static str, Option<(&'static str, &'static str)>);

const ROWS: &[Row] = &[
    // Nothing is filled in.
    ("{}", None),
    (r#"{"made":null}"#, None),
    (r#"{"const":9007199254740993}"#, None),
    (r#"{"const":9007199254740993.0}"#, None),
    (r#"{"const":9007199254740992}"#, Some(("/const", "const"))),
    (r#"{"enum":1}"#, None),
    (r#"{"enum":100.0}"#, None),
    ("{\"enum\":\"\u{2028}/\"}", None),
    (
        r#"{"enum":0.99999999999999999999}"#,
        Some(("/enum", "enum")),
    ),
    (r#"{"long":170141183460469231731687303715884105728}"#, None),
    (
        r#"{"long":170141183460469231731687303715884105729}"#,
        Some(("/long", "maximum")),
    ),
    (r#"{"long":1e400}"#, Some(("/long", "maximum"))),
    (r#"{"long":-1.0e400}"#, None),
    (r#"{"long":-1.1e400}"#, Some(("/long", "minimum"))),
    (r#"{"step":19.99}"#, None),
    (r#"{"step":123456789012345678901234567890.12}"#, None),
    (r#"{"step":19.995}"#, Some(("/step", "multipleOf"))),
    (r#"{"close":0.1}"#, None),
    (r#"{"close":0.10000000000000000555}"#, None),
    (
        r#"{"close":0.1000000000000000055511151231257827}"#,
        Some(("/close", "exclusiveMaximum")),
    ),
    (r#"{"whole":30.0}"#, None),
    (r#"{"whole":1e400}"#, None),
    (r#"{"whole":30.5}"#, Some(("/whole", "type"))),
    (r#"{"tree":{"kids":[{"kids":[]}]}}"#, None),
    (
        r#"{"tree":{"kids":[{}]}}"#,
        Some(("/tree/kids/0", "required")),
    ),
    (r#"{"when":"yesterday"}"#, None),
    (r#"{"name":"stable_name"}"#, None),
    (r#"{"name":"tmp_name"}"#, Some(("/name", "pattern"))),
    (r#"{"name":"stable\n"}"#, Some(("/name", "pattern"))),
    (r#"{"extra":1}"#, Some(("", "additionalProperties"))),
];

/// Contract: S-035, S-036, case T03, case T07, case J16.
#[tokio::test]
async fn arguments_are_decided_exactly_and_nothing_is_filled_in() {
    each_transport(async |way| {
        let (gate, probe) = gate(Mode::Plain);
        let client = way.open(&gate).await;
        let mut entered = 0;
        for (arguments, refusal) in ROWS {
            let answer = client.tool("exact", arguments).await;
            match refusal {
                None => {
                    entered += 1;
                    assert_eq!(answer.text(), *arguments);
                }
                Some((path, keyword)) => assert_refused(&answer, path, keyword),
            }
            // Who is refused has run nothing.
            assert_eq!(probe.tally.get(), entered, "{arguments}");
        }
    })
    .await;
}

/// A result that a model can act on, and no protocol error.
fn assert_refused(answer: &Answer, path: &str, keyword: &str) {
    assert!(answer.is_error(), "{answer:?}");
    answer.assert_status(200);
    let place = if path.is_empty() { "(root)" } else { path };
    let text = answer.text();
    let line = text
        .lines()
        .find(|line| line.starts_with(&format!("{place}: ")));
    assert!(
        line.is_some_and(|it| it.ends_with(&format!("[{keyword}]"))),
        "{text}"
    );
}

/// Contract: case T03.
#[tokio::test]
async fn refusals_of_arguments_stay_small_and_hide_them() {
    each_transport(async |way| {
        let (gate, probe) = gate(Mode::Plain);
        let client = way.open(&gate).await;
        let many: Vec<_> = (0..200).map(|at| format!(r#""secret{at}":1"#)).collect();
        let kids = r#"{"secret":1},"#.repeat(1000);
        for arguments in [
            format!(r#"{{"name":"{}"}}"#, "secret".repeat(170_000)),
            format!(r#"{{"name":["{}"]}}"#, "secret".repeat(170_000)),
            format!(r#"{{"tree":{{"kids":[{kids}{{}}]}}}}"#),
            format!("{{{}}}", many.join(",")),
        ] {
            let answer = client.tool("exact", &arguments).await;
            assert!(answer.is_error(), "{answer:?}");
            assert!(answer.raw().len() < 20_000, "{}", answer.raw().len());
            assert!(!answer.raw().contains("secretsecret"));
        }
        assert_eq!(probe.tally.get(), 0);
        assert_eq!(client.tool("exact", "{}").await.text(), "{}");
    })
    .await;
}

/// An output schema, what the handler returns, and whether that may be seen.
type Returned = (&'static str, &'static str, bool);

const RETURNED: &[Returned] = &[
    (r#"{"type":["object","null"]}"#, "null", true),
    (r#"{"type":"array"}"#, "[]", true),
    (r#"{"type":"integer"}"#, "0", true),
    (
        r#"{"type":"integer","maximum":9007199254740992}"#,
        "9007199254740993",
        false,
    ),
    (r#"{"type":"boolean"}"#, "false", true),
    (r#"{"type":"boolean"}"#, "0", false),
    (r#"{"const":1e400}"#, "1.0e400", true),
    ("true", "\"\"", true),
    ("{}", "1E2", true),
    ("false", "1", false),
    (
        r##"{"$ref":"#/$defs/a","$defs":{"a":{"type":"null"}}}"##,
        "null",
        true,
    ),
];

/// Contract: P-133, P-134, case T08.
#[tokio::test]
async fn results_conform_to_their_schema_or_are_not_seen() {
    each_transport(async |way| {
        for (schema, value, conforms) in RETURNED {
            let raw = RawJson::parse(*value).unwrap();
            for mode in [Mode::Plain, Mode::Direct] {
                let raw = raw.clone();
                let operation = Operation::new("give")
                    .output_schema(*schema)
                    .handler(move || std::future::ready(raw.clone()));
                let registry = Registry::builder().operation(operation).build().unwrap();
                let wrapped = mode.name() == "direct";
                let gate = Stack::new(registry).mode(mode).build().unwrap();
                let client = way.open(&gate).await;
                assert_given(&client, value, *conforms, wrapped).await;
            }
        }
    })
    .await;
}

/// Contract: P-133, case T08.
#[tokio::test]
async fn what_is_no_value_does_not_stand_in_for_one() {
    each_transport(async |way| {
        let declared = |name: &str| Operation::new(name).output_schema(r#"{"type":"number"}"#);
        let registry =
            Registry::builder()
                .operation(declared("text").handler(async || "text alone"))
                .operation(declared("no_number").handler(async || Json(f64::NAN)))
                .operation(declared("fail").handler(async || {
                    Err::<Text, _>(Failure::new("too_late", "the shop is closed"))
                }))
                .operation(Operation::new("undeclared").handler(async || Json(())))
                .build()
                .unwrap();
        let gate = Stack::new(registry).mode(Mode::Plain).build().unwrap();
        let client = way.open(&gate).await;
        for name in ["text", "no_number"] {
            let answer = client.tool(name, "{}").await;
            assert!(answer.is_error(), "{answer:?}");
            assert!(!answer.raw().contains("text alone"), "{answer:?}");
            assert!(!answer.raw().contains("NaN"), "{answer:?}");
        }
        // A failure is no result, and is asked for no value.
        let failed = client.tool("fail", "{}").await;
        assert!(failed.is_error());
        assert_eq!(failed.text(), "the shop is closed");
        let answer = client.tool("undeclared", "{}").await;
        assert!(!answer.is_error());
        assert_eq!(answer.text(), "null");
        let shown = answer.raw().contains(r#""structuredContent":null"#);
        assert_eq!(shown, shows_anything(way), "{answer:?}");
    })
    .await;
}

async fn assert_given(client: &Client, value: &str, conforms: bool, wrapped: bool) {
    let answer = client.tool("give", "{}").await;
    let shown = if wrapped || !shows_anything(client.way) {
        format!(r#""structuredContent":{{"value":{value}}}"#)
    } else {
        format!(r#""structuredContent":{value}"#)
    };
    // There are numbers in it that the usual decoder does not take.
    let failed = answer.raw().contains(r#""isError":true"#);
    assert_eq!(failed, !conforms, "{answer:?}");
    if conforms && (wrapped || shows_anything(client.way)) {
        assert!(answer.raw().contains(&shown), "{answer:?}");
    }
    if !conforms {
        assert!(!answer.raw().contains(&shown), "{answer:?}");
    }
}

/// Older versions know structured values that are objects, and have the text beside it.
fn shows_anything(way: Way) -> bool {
    way.is_modern()
}
