//! The secret from which the keys for everything handed to clients are derived.

use std::fmt;

use ring::hmac;
use ring::rand::{SecureRandom as _, SystemRandom};

use super::config::ConfigError;

/// Key material of at least 32 bytes, with older material that is still accepted.
///
/// All nodes of a deployment need the same one, else what one of them hands out means nothing to
/// the others.
///
/// ```
/// use portcullis::service::Secret;
///
/// let secret = Secret::new(b"thirty-two bytes of key material")?
///     .accept(b"what was used until last week...")?;
/// assert!(Secret::new(b"short").is_err());
/// # Ok::<(), portcullis::service::ConfigError>(())
/// ```
#[derive(Clone)]
pub struct Secret {
    /// The current material first.
    material: Vec<Box<[u8]>>,
}

/// A key for one purpose: signs with the current material and accepts the older.
pub(crate) struct SigningKey(Vec<hmac::Key>);

impl Secret {
    /// The shortest key material, in bytes.
    pub const SHORTEST: usize = 32;

    /// Takes key material.
    ///
    /// # Errors
    ///
    /// If it is shorter than [`Secret::SHORTEST`].
    pub fn new(material: &[u8]) -> Result<Self, ConfigError> {
        Ok(Self {
            material: vec![checked(material)?],
        })
    }

    /// Draws key material from the system. It serves one process, and only while that lives.
    ///
    /// # Errors
    ///
    /// If the system has no randomness to give.
    pub fn random() -> Result<Self, ConfigError> {
        let mut material = [0; Self::SHORTEST];
        SystemRandom::new()
            .fill(&mut material)
            .map_err(|_| ConfigError::new("secret", "the system gives no random bytes"))?;
        Self::new(&material)
    }

    /// Accepts what was made with older material, too.
    ///
    /// # Errors
    ///
    /// If it is shorter than [`Secret::SHORTEST`].
    pub fn accept(mut self, older: &[u8]) -> Result<Self, ConfigError> {
        self.material.push(checked(older)?);
        Ok(self)
    }

    /// A key for one purpose; keys for different purposes do not open each other's work.
    pub(crate) fn signing_key(&self, purpose: &str) -> SigningKey {
        let derive = |material: &[u8]| {
            let root = hmac::Key::new(hmac::HMAC_SHA256, material);
            let derived = hmac::sign(&root, purpose.as_bytes());
            hmac::Key::new(hmac::HMAC_SHA256, derived.as_ref())
        };
        SigningKey(
            self.material
                .iter()
                .map(|material| derive(material))
                .collect(),
        )
    }
}

impl SigningKey {
    /// The length of a tag, in bytes.
    pub(crate) const TAG: usize = 16;

    /// A tag over several parts.
    pub(crate) fn sign(&self, parts: &[&[u8]]) -> [u8; Self::TAG] {
        self.0
            .first()
            .map(|key| tag(key, parts))
            .unwrap_or_default()
    }

    /// Whether a tag is over these parts, in constant time.
    pub(crate) fn verify(&self, parts: &[&[u8]], claimed: &[u8]) -> bool {
        self.0.iter().any(|key| {
            let tag = tag(key, parts);
            tag.len() == claimed.len()
                && tag
                    .iter()
                    .zip(claimed)
                    .fold(0, |differ, (a, b)| differ | (a ^ b))
                    == 0
        })
    }
}

/// Each part is preceded by its length, so that parts cannot flow into each other.
fn tag(key: &hmac::Key, parts: &[&[u8]]) -> [u8; SigningKey::TAG] {
    let mut context = hmac::Context::with_key(key);
    for part in parts {
        context.update(&(part.len() as u64).to_le_bytes());
        context.update(part);
    }
    let full = context.sign();
    let mut tag = [0; SigningKey::TAG];
    tag.copy_from_slice(&full.as_ref()[..SigningKey::TAG]);
    tag
}

fn checked(material: &[u8]) -> Result<Box<[u8]>, ConfigError> {
    if material.len() < Secret::SHORTEST {
        return Err(ConfigError::new(
            "secret",
            "key material needs 32 bytes or more",
        ));
    }
    Ok(material.into())
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SigningKey(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn material_is_bounded_below_and_never_shown() {
        assert!(Secret::new(&[7; 31]).is_err());
        let secret = Secret::new(&[7; 32]).unwrap();
        assert_eq!(format!("{secret:?}"), "Secret(…)");
    }

    #[test]
    fn tags_hold_for_their_purpose_parts_and_material() {
        let (old, new) = ([1; 32], [2; 32]);
        let before = Secret::new(&old).unwrap();
        let rotated = Secret::new(&new).unwrap().accept(&old).unwrap();
        let tag = before.signing_key("cursor").sign(&[b"a", b"bc"]);
        assert!(rotated.signing_key("cursor").verify(&[b"a", b"bc"], &tag));
        assert!(!rotated.signing_key("cursor").verify(&[b"ab", b"c"], &tag));
        assert!(!rotated.signing_key("other").verify(&[b"a", b"bc"], &tag));
        assert!(
            !rotated
                .signing_key("cursor")
                .verify(&[b"a", b"bc"], &tag[..15])
        );
        let fresh = rotated.signing_key("cursor").sign(&[b"a", b"bc"]);
        assert!(!before.signing_key("cursor").verify(&[b"a", b"bc"], &fresh));
    }
}
