//! What a text is decoded into: a type for each thing a deserializer can be asked for.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::CString;
use std::net::{IpAddr, SocketAddr};
use std::num::{NonZeroU8, Wrapping};
use std::ops::{Bound, Range};
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::value::RawValue;

use super::Text;

/// Decodes a text into each.
pub(super) fn each(text: &Text<'_>) {
    integers(text);
    scalars(text);
    lists(text);
    maps(text);
    structs(text);
    enums(text);
    foreign(text);
}

fn integers(text: &Text<'_>) {
    text.exact::<u8>();
    text.exact::<i8>();
    text.exact::<u16>();
    text.exact::<i16>();
    text.exact::<u32>();
    text.exact::<i32>();
    text.exact::<u64>();
    text.exact::<i64>();
    text.exact::<u128>();
    text.exact::<i128>();
    text.exact::<usize>();
    text.exact::<NonZeroU8>();
    text.exact::<Wrapping<i16>>();
}

fn scalars<'a>(text: &Text<'a>) {
    text.exact::<bool>();
    text.exact::<char>();
    text.exact::<String>();
    text.exact::<&'a str>();
    text.exact::<Box<str>>();
    text.exact::<Cow<'a, str>>();
    text.exact::<&'a [u8]>();
    text.exact::<()>();
    text.exact::<Option<u8>>();
    text.exact::<Option<Option<&'a str>>>();
    text.exact::<Option<()>>();
    text.rounded::<f64>();
    text.exact::<IgnoredAny>();
}

fn lists<'a>(text: &Text<'a>) {
    text.exact::<Vec<u8>>();
    text.exact::<Vec<i64>>();
    text.exact::<Vec<Vec<&'a str>>>();
    text.exact::<Vec<Option<i128>>>();
    text.exact::<[u8; 0]>();
    text.exact::<[i8; 3]>();
    text.exact::<(u8,)>();
    text.exact::<(u8, String)>();
    text.exact::<(bool, (char, Vec<()>), i64)>();
    text.exact::<BTreeSet<u16>>();
    text.rounded::<Vec<f64>>();
}

#[expect(
    clippy::zero_sized_map_values,
    reason = "the keys are what is looked at"
)]
fn maps<'a>(text: &Text<'a>) {
    text.exact::<HashMap<String, u64>>();
    text.exact::<BTreeMap<&'a str, IgnoredAny>>();
    text.exact::<BTreeMap<Cow<'a, str>, String>>();
    // `serde_json` cuts other names behind their first byte, also inside a character.
    if text.plain[0].is_ascii() {
        text.exact::<BTreeMap<bool, IgnoredAny>>();
    }
    text.exact::<BTreeMap<char, IgnoredAny>>();
    text.exact::<BTreeMap<u8, IgnoredAny>>();
    text.exact::<BTreeMap<i32, bool>>();
    text.exact::<BTreeMap<u64, IgnoredAny>>();
    text.exact::<BTreeMap<i64, IgnoredAny>>();
    text.exact::<BTreeMap<i128, IgnoredAny>>();
    text.exact::<BTreeMap<u128, IgnoredAny>>();
    text.exact::<BTreeMap<Option<u16>, IgnoredAny>>();
    text.exact::<BTreeMap<Id, IgnoredAny>>();
    text.exact::<BTreeMap<Fruit, IgnoredAny>>();
    text.exact::<BTreeMap<String, BTreeMap<String, Vec<u8>>>>();
    text.exact::<Vec<(u8, HashMap<u8, Option<String>>)>>();
}

fn structs<'a>(text: &Text<'a>) {
    text.exact::<Nothing>();
    text.exact::<Empty>();
    text.exact::<Id>();
    text.exact::<Pair<'a>>();
    text.exact::<Plain<'a>>();
    text.exact::<Strict>();
    text.exact::<Lenient>();
    text.rounded::<Flat>();
    text.rounded::<FlatRest>();
    text.exact::<Vec<Plain<'a>>>();
}

fn enums(text: &Text<'_>) {
    text.exact::<Fruit>();
    text.exact::<External>();
    text.rounded::<Internal>();
    text.rounded::<Adjacent>();
    text.rounded::<Untagged>();
    text.exact::<Tree>();
    text.exact::<Result<u8, String>>();
    text.exact::<Bound<i8>>();
    text.exact::<Vec<External>>();
    text.rounded::<BTreeMap<String, Internal>>();
}

fn foreign<'a>(text: &Text<'a>) {
    text.exact::<Raw<'a>>();
    text.exact::<BTreeMap<String, Raw<'a>>>();
    text.exact::<Vec<Raw<'a>>>();
    text.exact::<Option<Raw<'a>>>();
    text.rounded::<Value>();
    text.exact::<Duration>();
    text.exact::<Range<i16>>();
    text.exact::<IpAddr>();
    text.exact::<SocketAddr>();
    text.exact::<PathBuf>();
    text.exact::<CString>();
}

#[derive(Debug, Deserialize, PartialEq)]
struct Nothing;

#[derive(Debug, Deserialize, PartialEq)]
struct Empty {}

#[derive(Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
struct Id(u64);

#[derive(Debug, Deserialize, PartialEq)]
struct Pair<'a>(i32, #[serde(borrow)] Cow<'a, str>);

#[derive(Debug, Deserialize, PartialEq)]
struct Plain<'a> {
    a: i64,
    b: Option<&'a str>,
    #[serde(rename = "c/d")]
    c: Vec<Id>,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct Strict {
    a: u8,
    #[serde(alias = "b")]
    bee: bool,
}

#[derive(Debug, Default, Deserialize, PartialEq)]
#[serde(default, rename_all = "camelCase")]
struct Lenient {
    a: i128,
    long_name: Option<Box<Self>>,
    #[serde(skip)]
    b: u8,
}

#[derive(Debug, Deserialize, PartialEq)]
struct Flat {
    a: u8,
    #[serde(flatten)]
    inner: Inner,
    #[serde(flatten)]
    choice: Option<External>,
}

#[derive(Debug, Deserialize, PartialEq)]
struct Inner {
    b: i64,
}

#[derive(Debug, Deserialize, PartialEq)]
struct FlatRest {
    a: Option<String>,
    #[serde(flatten)]
    rest: BTreeMap<String, Value>,
}

#[derive(Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
enum Fruit {
    Apple,
    #[serde(rename = "b")]
    Pear,
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize, PartialEq)]
enum External {
    Unit,
    Newtype(i64),
    Tuple(u8, String),
    Struct { a: u8, b: Option<bool> },
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(tag = "a")]
enum Internal {
    Unit,
    Newtype(Inner),
    Struct { b: i8 },
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(tag = "a", content = "b")]
enum Adjacent {
    Unit,
    Newtype(i64),
    Tuple(u8, u8),
    Struct { a: bool },
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(untagged)]
enum Untagged {
    Null,
    Flag(bool),
    Integer(i64),
    Float(f64),
    Text(String),
    Pair(u8, u8),
    List(Vec<Self>),
    Object { a: Box<Self> },
}

#[derive(Debug, Deserialize, PartialEq)]
enum Tree {
    Leaf(i64),
    Node(Vec<Self>),
    Names { a: BTreeMap<String, Self> },
}

/// A text that is kept as it is.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
struct Raw<'a>(#[serde(borrow)] &'a RawValue);

impl PartialEq for Raw<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.0.get() == other.0.get()
    }
}
