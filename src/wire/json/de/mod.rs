//! A `serde` deserializer over the index: nothing is scanned twice.
//!
//! Strings without escapes are borrowed, and a string with escapes is decoded once. Numbers are
//! parsed from their text into the type that asks for them: integers up to 128 bits and written in
//! any spelling (`30.0` and `3e1` are integers), floats correctly rounded. `serde_json`'s raw values
//! receive the text as it was written.

mod access;
mod error;
mod variant;

use std::borrow::Cow;

use serde::de::{self, Deserialize, Deserializer, Visitor};

use super::{Kind, Node, number};

use self::access::{ElementAccess, MemberAccess};
pub use self::error::DecodeError;
use self::variant::{RawText, Variant};

/// Decodes a scanned value into a `serde` type.
///
/// # Errors
///
/// What `T` refuses, with the path to it.
pub fn from_node<'de, T: Deserialize<'de>>(node: Node<'de>) -> Result<T, DecodeError> {
    T::deserialize(node)
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

    /// The tag of an enum is its name: a number would be taken for its position.
    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        if self.kind() == Kind::Number {
            return Err(de::Error::invalid_type(
                unexpected(self.kind()),
                &"the name of a variant",
            ));
        }
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
        bool char bytes byte_buf unit unit_struct seq tuple tuple_struct map struct
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

fn unexpected(kind: Kind) -> de::Unexpected<'static> {
    match kind {
        Kind::Null => de::Unexpected::Unit,
        Kind::False => de::Unexpected::Bool(false),
        Kind::True => de::Unexpected::Bool(true),
        Kind::Number => de::Unexpected::Other("number"),
        Kind::String => de::Unexpected::Str(""),
        Kind::Array => de::Unexpected::Seq,
        Kind::Object => de::Unexpected::Map,
    }
}

/// The name by which `serde_json`'s raw values ask for the text.
const RAW_VALUE: &str = "$serde_json::private::RawValue";
