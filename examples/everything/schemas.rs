//! Tools whose schemas are written by hand and published as they are.

use portcullis::service::RegistryBuilder;
use portcullis::service::handler::{Parsed, RawArgs};
use portcullis::{Operation, Registry};
use serde::Deserialize;

pub(crate) fn offers() -> RegistryBuilder {
    Registry::builder()
        .operation(
            Operation::new("json_schema_2020_12_tool")
                .describe("Take a contact, with a schema that uses much of JSON Schema 2020-12")
                .read_only(true)
                .input_schema(CONTACT)
                .handler(contact),
        )
        .operation(
            Operation::new("test_custom_header")
                .describe("Take a value that HTTP requests repeat in a header")
                .read_only(true)
                .input_schema(HEADER)
                .handler(custom_header),
        )
}

async fn contact(RawArgs(arguments): RawArgs) -> String {
    format!("The contact fits the schema: {}", arguments.text())
}

#[derive(Deserialize)]
struct Mirrored {
    value: String,
}

async fn custom_header(Parsed(mirrored): Parsed<Mirrored>) -> String {
    format!("The value is: {}", mirrored.value)
}

const CONTACT: &str = r##"{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "$defs": {
    "address": {
      "$anchor": "addressDef",
      "type": "object",
      "properties": {"street": {"type": "string"}, "city": {"type": "string"}}
    }
  },
  "properties": {
    "name": {"type": "string"},
    "address": {"$ref": "#/$defs/address"},
    "contactMethod": {"type": "string", "enum": ["phone", "email"]},
    "phone": {"type": "string"},
    "email": {"type": "string"}
  },
  "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
  "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
  "then": {"required": ["phone"]},
  "else": {"required": ["email"]},
  "additionalProperties": false
}"##;

const HEADER: &str = r#"{
  "type": "object",
  "properties": {
    "value": {"type": "string", "description": "What the header says", "x-mcp-header": "Value"}
  },
  "required": ["value"]
}"#;
