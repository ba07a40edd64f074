//! Enums, and the one map that raw values ask for.

use std::borrow::Cow;

use serde::de::value::{BorrowedStrDeserializer, StringDeserializer};
use serde::de::{
    self, Deserialize, DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer, MapAccess,
    VariantAccess, Visitor,
};

use crate::wire::json::Node;

use super::RAW_VALUE;
use super::error::DecodeError;

/// An enum: its variant, and what belongs to it.
pub(super) struct Variant<'de> {
    pub(super) variant: Cow<'de, str>,
    pub(super) value: Option<Node<'de>>,
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

pub(super) struct Payload<'de>(Option<Node<'de>>);

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
pub(super) struct RawText<'de>(pub(super) Option<&'de str>);

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
