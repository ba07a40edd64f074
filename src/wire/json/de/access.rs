//! The elements of an array and the members of an object, one by one.

use std::borrow::Cow;

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use crate::wire::json::Node;
use crate::wire::json::node::{Elements, Members};

use super::error::DecodeError;
use super::variant::Variant;

pub(super) struct ElementAccess<'de> {
    pub(super) elements: Elements<'de>,
    pub(super) at: usize,
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

pub(super) struct MemberAccess<'de> {
    pub(super) members: Members<'de>,
    pub(super) pending: Option<(Cow<'de, str>, Node<'de>)>,
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

/// A member name. Maps may also be keyed by numbers and booleans, written as strings; integers as JSON
/// writes them, so that one key does not go by many names.
struct Name<'de>(Cow<'de, str>);

macro_rules! parsed_names {
    ($($method:ident => $visit:ident,)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
            match self.0.parse() {
                Ok(value) if is_canonical(&self.0) => visitor.$visit(value),
                _ => self.deserialize_any(visitor),
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

/// Whether a name that is a number or a word is written as in JSON: no `+7` and no `07`.
fn is_canonical(name: &str) -> bool {
    let digits = name.strip_prefix('-').unwrap_or(name);
    digits == "0" || !digits.starts_with(['+', '0'])
}
