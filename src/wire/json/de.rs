//! A `serde` deserializer over the index: nothing is scanned twice.
//!
//! Strings without escapes are borrowed, and a string with escapes is decoded once. Numbers are
//! parsed from their text into the type that asks for them: integers up to 128 bits and written in
//! any spelling (`30.0` and `3e1` are integers), floats correctly rounded. `serde_json`'s raw values
//! receive the text as it was written.

use std::borrow::Cow;
use std::fmt;

use serde::de::value::{BorrowedStrDeserializer, StringDeserializer};
use serde::de::{
    self, Deserialize, DeserializeSeed, Deserializer, EnumAccess, Expected, IntoDeserializer,
    MapAccess, SeqAccess, Unexpected, VariantAccess, Visitor,
};

use super::node::{Elements, Members};
use super::{Kind, Node, number};

/// Decodes a scanned value into a `serde` type.
///
/// # Errors
///
/// What `T` refuses, with the path to it.
pub fn from_node<'de, T: Deserialize<'de>>(node: Node<'de>) -> Result<T, DecodeError> {
    T::deserialize(node)
}

/// A value that does not fit the type it was decoded into.
///
/// The message is bounded and does not repeat the value.
#[derive(Debug)]
pub struct DecodeError {
    message: String,
    /// A JSON Pointer, built from its end while the error travels outwards.
    path: String,
}

impl DecodeError {
    /// What does not fit.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Where: a JSON Pointer.
    pub fn path(&self) -> &str {
        &self.path
    }

    fn inside(mut self, segment: &str) -> Self {
        if self.path.len() < LONGEST_PATH {
            let segment = clip(segment, LONGEST_NAME);
            self.path
                .insert_str(0, &segment.replace('~', "~0").replace('/', "~1"));
            self.path.insert(0, '/');
        }
        self
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            return f.write_str(&self.message);
        }
        write!(f, "{}: {}", self.path, self.message)
    }
}

impl std::error::Error for DecodeError {}

impl de::Error for DecodeError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self {
            message: clip(&message.to_string(), LONGEST_MESSAGE).into_owned(),
            path: String::new(),
        }
    }

    fn invalid_type(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::custom(format_args!(
            "invalid type: {}, expected {expected}",
            kind_of(unexpected)
        ))
    }

    fn invalid_value(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::custom(format_args!(
            "invalid value: {}, expected {expected}",
            kind_of(unexpected)
        ))
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        Self::unknown("variant", variant, expected)
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        Self::unknown("field", field, expected)
    }
}

impl DecodeError {
    fn unknown(what: &str, name: &str, expected: &[&str]) -> Self {
        let name = clip(name, LONGEST_NAME);
        de::Error::custom(format_args!(
            "unknown {what} `{name}`, expected one of {expected:?}"
        ))
    }

    fn out_of_range() -> Self {
        de::Error::custom("number out of range")
    }
}

macro_rules! integers {
    ($($method:ident => $visit:ident: $int:ty,)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
            let Some(text) = self.as_number() else {
                return self.deserialize_any(visitor);
            };
            match number::integer_literal(text) {
                Some(literal) => match literal.parse::<$int>() {
                    Ok(value) => visitor.$visit(value),
                    Err(_) => Err(DecodeError::out_of_range()),
                },
                None => self.deserialize_any(visitor),
            }
        }
    )*};
}

impl<'de> Deserializer<'de> for Node<'de> {
    type Error = DecodeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match self.kind() {
            Kind::Null => visitor.visit_unit(),
            Kind::False => visitor.visit_bool(false),
            Kind::True => visitor.visit_bool(true),
            Kind::Number => visit_number(self, visitor),
            Kind::String => self.deserialize_str(visitor),
            Kind::Array => visit_array(self, visitor),
            Kind::Object => visit_object(self, visitor),
        }
    }

    integers! {
        deserialize_i8 => visit_i8: i8,
        deserialize_i16 => visit_i16: i16,
        deserialize_i32 => visit_i32: i32,
        deserialize_i64 => visit_i64: i64,
        deserialize_i128 => visit_i128: i128,
        deserialize_u8 => visit_u8: u8,
        deserialize_u16 => visit_u16: u16,
        deserialize_u32 => visit_u32: u32,
        deserialize_u64 => visit_u64: u64,
        deserialize_u128 => visit_u128: u128,
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match self.as_number().map(str::parse::<f32>) {
            Some(Ok(value)) if value.is_finite() => visitor.visit_f32(value),
            Some(_) => Err(DecodeError::out_of_range()),
            None => self.deserialize_any(visitor),
        }
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match self.as_number().map(str::parse::<f64>) {
            Some(Ok(value)) if value.is_finite() => visitor.visit_f64(value),
            Some(_) => Err(DecodeError::out_of_range()),
            None => self.deserialize_any(visitor),
        }
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match self.as_str() {
            Some(Cow::Borrowed(text)) => visitor.visit_borrowed_str(text),
            Some(Cow::Owned(text)) => visitor.visit_string(text),
            None => self.deserialize_any(visitor),
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        if self.is_null() {
            visitor.visit_none()
        } else {
            visitor.visit_some(self)
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        if name == RAW_VALUE {
            return visitor.visit_map(RawText(Some(self.text())));
        }
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        let (variant, value) = match self.kind() {
            Kind::String => (self.as_str(), None),
            Kind::Object if self.len() == 1 => {
                let member = self.members().next();
                member.map_or((None, None), |(name, value)| (Some(name), Some(value)))
            }
            _ => (None, None),
        };
        match variant {
            Some(variant) => visitor.visit_enum(Variant { variant, value }),
            None => Err(de::Error::invalid_type(
                unexpected(self.kind()),
                &"a string or an object with one member",
            )),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        visitor.visit_unit()
    }

    serde::forward_to_deserialize_any! {
        bool char bytes byte_buf unit unit_struct seq tuple tuple_struct map struct identifier
    }
}

/// A number for a receiver that takes what comes: an integer where 64 bits hold it, else a float.
fn visit_number<'de, V: Visitor<'de>>(
    node: Node<'de>,
    visitor: V,
) -> Result<V::Value, DecodeError> {
    let text = node.text();
    if node.is_written_as_integer() && text != "-0" {
        if let Ok(value) = text.parse::<u64>() {
            return visitor.visit_u64(value);
        }
        if let Ok(value) = text.parse::<i64>() {
            return visitor.visit_i64(value);
        }
    }
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => visitor.visit_f64(value),
        _ => Err(DecodeError::out_of_range()),
    }
}

fn visit_array<'de, V: Visitor<'de>>(node: Node<'de>, visitor: V) -> Result<V::Value, DecodeError> {
    let mut elements = ElementAccess {
        elements: node.elements(),
        at: 0,
    };
    let value = visitor.visit_seq(&mut elements)?;
    if elements.elements.len() > 0 {
        return Err(de::Error::invalid_length(
            node.len(),
            &"fewer elements in array",
        ));
    }
    Ok(value)
}

fn visit_object<'de, V: Visitor<'de>>(
    node: Node<'de>,
    visitor: V,
) -> Result<V::Value, DecodeError> {
    let mut members = MemberAccess {
        members: node.members(),
        pending: None,
    };
    let value = visitor.visit_map(&mut members)?;
    if members.members.len() > 0 {
        return Err(de::Error::invalid_length(
            node.len(),
            &"fewer members in object",
        ));
    }
    Ok(value)
}

struct ElementAccess<'de> {
    elements: Elements<'de>,
    at: usize,
}

impl<'de> SeqAccess<'de> for &mut ElementAccess<'de> {
    type Error = DecodeError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, DecodeError> {
        let Some(element) = self.elements.next() else {
            return Ok(None);
        };
        let at = self.at;
        self.at += 1;
        seed.deserialize(element)
            .map(Some)
            .map_err(|error| error.inside(&at.to_string()))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.elements.len())
    }
}

struct MemberAccess<'de> {
    members: Members<'de>,
    pending: Option<(Cow<'de, str>, Node<'de>)>,
}

impl<'de> MapAccess<'de> for &mut MemberAccess<'de> {
    type Error = DecodeError;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, DecodeError> {
        let Some((name, value)) = self.members.next() else {
            return Ok(None);
        };
        self.pending = Some((name.clone(), value));
        seed.deserialize(Name(name)).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(
        &mut self,
        seed: V,
    ) -> Result<V::Value, DecodeError> {
        match self.pending.take() {
            Some((name, value)) => seed.deserialize(value).map_err(|error| error.inside(&name)),
            None => Err(de::Error::custom("value asked for before its name")),
        }
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.members.len())
    }
}

/// A member name. Maps may also be keyed by numbers and booleans, written as strings.
struct Name<'de>(Cow<'de, str>);

macro_rules! parsed_names {
    ($($method:ident => $visit:ident,)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
            match self.0.parse() {
                Ok(value) => visitor.$visit(value),
                Err(_) => self.deserialize_any(visitor),
            }
        }
    )*};
}

impl<'de> Deserializer<'de> for Name<'de> {
    type Error = DecodeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match self.0 {
            Cow::Borrowed(name) => visitor.visit_borrowed_str(name),
            Cow::Owned(name) => visitor.visit_string(name),
        }
    }

    parsed_names! {
        deserialize_bool => visit_bool,
        deserialize_i8 => visit_i8,
        deserialize_i16 => visit_i16,
        deserialize_i32 => visit_i32,
        deserialize_i64 => visit_i64,
        deserialize_i128 => visit_i128,
        deserialize_u8 => visit_u8,
        deserialize_u16 => visit_u16,
        deserialize_u32 => visit_u32,
        deserialize_u64 => visit_u64,
        deserialize_u128 => visit_u128,
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        visitor.visit_enum(Variant {
            variant: self.0,
            value: None,
        })
    }

    serde::forward_to_deserialize_any! {
        f32 f64 char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct
        identifier ignored_any
    }
}

/// An enum: its variant, and what belongs to it.
struct Variant<'de> {
    variant: Cow<'de, str>,
    value: Option<Node<'de>>,
}

impl<'de> EnumAccess<'de> for Variant<'de> {
    type Error = DecodeError;
    type Variant = Payload<'de>;

    fn variant_seed<V: DeserializeSeed<'de>>(
        self,
        seed: V,
    ) -> Result<(V::Value, Payload<'de>), DecodeError> {
        let variant = match self.variant {
            Cow::Borrowed(name) => seed.deserialize(BorrowedStrDeserializer::new(name)),
            Cow::Owned(name) => {
                let name: StringDeserializer<DecodeError> = name.into_deserializer();
                seed.deserialize(name)
            }
        };
        Ok((variant?, Payload(self.value)))
    }
}

struct Payload<'de>(Option<Node<'de>>);

impl<'de> VariantAccess<'de> for Payload<'de> {
    type Error = DecodeError;

    fn unit_variant(self) -> Result<(), DecodeError> {
        match self.0 {
            None => Ok(()),
            Some(value) => Deserialize::deserialize(value),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(
        self,
        seed: T,
    ) -> Result<T::Value, DecodeError> {
        seed.deserialize(self.value()?)
    }

    fn tuple_variant<V: Visitor<'de>>(
        self,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        self.value()?.deserialize_tuple(len, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        self.value()?.deserialize_struct("", fields, visitor)
    }
}

impl<'de> Payload<'de> {
    fn value(self) -> Result<Node<'de>, DecodeError> {
        self.0
            .ok_or_else(|| de::Error::custom("the variant needs a value"))
    }
}

/// What `serde_json`'s raw values ask for: a map of one member that holds the text.
struct RawText<'de>(Option<&'de str>);

impl<'de> MapAccess<'de> for RawText<'de> {
    type Error = DecodeError;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, DecodeError> {
        match self.0 {
            Some(_) => seed
                .deserialize(BorrowedStrDeserializer::new(RAW_VALUE))
                .map(Some),
            None => Ok(None),
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(
        &mut self,
        seed: V,
    ) -> Result<V::Value, DecodeError> {
        let text = self.0.take().unwrap_or_default();
        seed.deserialize(BorrowedStrDeserializer::new(text))
    }
}

fn unexpected(kind: Kind) -> Unexpected<'static> {
    match kind {
        Kind::Null => Unexpected::Unit,
        Kind::False => Unexpected::Bool(false),
        Kind::True => Unexpected::Bool(true),
        Kind::Number => Unexpected::Other("number"),
        Kind::String => Unexpected::Str(""),
        Kind::Array => Unexpected::Seq,
        Kind::Object => Unexpected::Map,
    }
}

/// The kind of an unexpected value, without the value.
fn kind_of(unexpected: Unexpected<'_>) -> &str {
    match unexpected {
        Unexpected::Bool(_) => "boolean",
        Unexpected::Unsigned(_) | Unexpected::Signed(_) => "integer",
        Unexpected::Float(_) => "number with a fraction",
        Unexpected::Char(_) | Unexpected::Str(_) => "string",
        Unexpected::Unit => "null",
        Unexpected::Seq => "array",
        Unexpected::Map => "object",
        Unexpected::Other(other) => other,
        _ => "value",
    }
}

/// The first `most` bytes, cut at a character.
fn clip(text: &str, most: usize) -> Cow<'_, str> {
    if text.len() <= most {
        return Cow::Borrowed(text);
    }
    let mut end = most;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    Cow::Owned(format!("{}…", &text[..end]))
}

/// The name by which `serde_json`'s raw values ask for the text.
const RAW_VALUE: &str = "$serde_json::private::RawValue";
const LONGEST_MESSAGE: usize = 512;
const LONGEST_NAME: usize = 64;
const LONGEST_PATH: usize = 512;
