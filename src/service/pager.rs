//! Pages of lists, by cursors that only we can make.

use std::ops::Range;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::wire::Error;

use super::catalog::Named;
use super::context::Principal;
use super::secret::{Secret, SigningKey};

/// Cuts lists into pages.
///
/// A cursor names the last item of the page before, and where it was. So a page goes on at the right
/// place when items were added or removed in between. It holds for one list and one caller.
#[derive(Debug)]
pub(crate) struct Pager {
    key: SigningKey,
}

/// Whose list, and which.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scope<'a> {
    pub(crate) list: &'static str,
    pub(crate) principal: Option<&'a Principal>,
}

impl Pager {
    pub(crate) fn new(secret: &Secret) -> Self {
        Self {
            key: secret.signing_key("cursor"),
        }
    }

    /// The items of the page that `cursor` asks for, and the cursor of the next.
    pub(crate) fn page<T: Named>(
        &self,
        scope: Scope<'_>,
        items: &[Arc<T>],
        cursor: Option<&str>,
        most: usize,
    ) -> Result<(Range<usize>, Option<String>), Error> {
        let start = match cursor {
            Some(cursor) => self.resume(scope, items, cursor)?,
            None => 0,
        };
        let end = (start + most).min(items.len());
        let next = (end < items.len()).then(|| self.cursor(scope, end, items[end - 1].name()));
        Ok((start..end, next))
    }

    fn cursor(&self, scope: Scope<'_>, position: usize, last: &str) -> String {
        let mut payload = u32::try_from(position)
            .unwrap_or(u32::MAX)
            .to_le_bytes()
            .to_vec();
        payload.extend_from_slice(last.as_bytes());
        let mut cursor = self.key.sign(&scope.parts(&payload)).to_vec();
        cursor.extend_from_slice(&payload);
        URL_SAFE_NO_PAD.encode(cursor)
    }

    /// Where the page behind a cursor begins.
    fn resume<T: Named>(
        &self,
        scope: Scope<'_>,
        items: &[Arc<T>],
        cursor: &str,
    ) -> Result<usize, Error> {
        let invalid = || Error::invalid_params("the cursor is not valid");
        let bytes = URL_SAFE_NO_PAD.decode(cursor).map_err(|_| invalid())?;
        let (tag, payload) = bytes
            .split_at_checked(SigningKey::TAG)
            .ok_or_else(invalid)?;
        if !self.key.verify(&scope.parts(payload), tag) {
            return Err(invalid());
        }
        let (position, last) = payload.split_first_chunk().ok_or_else(invalid)?;
        let position = u32::from_le_bytes(*position) as usize;
        let is_last = |item: &Arc<T>| item.name().as_bytes() == last;
        // Nearly always the item is where it was.
        if position > 0 && items.get(position - 1).is_some_and(is_last) {
            return Ok(position);
        }
        let found = items.iter().position(is_last);
        Ok(found.map_or(position.min(items.len()), |at| at + 1))
    }
}

impl Scope<'_> {
    fn parts<'p>(&'p self, payload: &'p [u8]) -> [&'p [u8]; 4] {
        let issuer = self
            .principal
            .and_then(Principal::issued_by)
            .unwrap_or_default();
        let subject = self.principal.map(Principal::subject).unwrap_or_default();
        [
            self.list.as_bytes(),
            issuer.as_bytes(),
            subject.as_bytes(),
            payload,
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Item(String);

    impl Named for Item {
        const KIND: &'static str = "item";

        fn name(&self) -> &str {
            &self.0
        }
    }

    fn items(names: &[&str]) -> Vec<Arc<Item>> {
        names
            .iter()
            .map(|name| Arc::new(Item((*name).to_owned())))
            .collect()
    }

    fn scope(principal: Option<&Principal>) -> Scope<'_> {
        Scope {
            list: "items",
            principal,
        }
    }

    fn pager() -> Pager {
        Pager::new(&Secret::random().unwrap())
    }

    #[test]
    fn pages_go_on_where_they_ended_whatever_changed() {
        let pager = pager();
        let before = items(&["a", "b", "c", "d"]);
        let (range, next) = pager.page(scope(None), &before, None, 2).unwrap();
        assert_eq!(range, 0..2);
        for (names, expected) in [
            (&["a", "b", "c", "d"][..], 2..4),
            (&["x", "a", "b", "c", "d"], 3..5),
            (&["b", "c", "d"], 1..3),
            (&["a", "c", "d"], 2..3),
            (&[], 0..0),
        ] {
            let (range, _) = pager
                .page(scope(None), &items(names), next.as_deref(), 2)
                .unwrap();
            assert_eq!(range, expected, "{names:?}");
        }
    }

    /// Contract: P-157.
    #[test]
    fn cursors_hold_for_one_caller_list_and_server() {
        let pager = pager();
        let all = items(&["a", "b", "c"]);
        let ada = Principal::new("ada");
        let (_, next) = pager.page(scope(Some(&ada)), &all, None, 1).unwrap();
        let next = next.unwrap();
        assert!(pager.page(scope(Some(&ada)), &all, Some(&next), 1).is_ok());
        let eve = Principal::new("eve");
        let other = Scope {
            list: "others",
            principal: Some(&ada),
        };
        for scope in [scope(None), scope(Some(&eve)), other] {
            let error = pager.page(scope, &all, Some(&next), 1).unwrap_err();
            assert_eq!(error.code(), Error::INVALID_PARAMS);
        }
        for broken in ["", "zz", "!", &next[1..], &format!("{next}A")] {
            assert!(
                pager
                    .page(scope(Some(&ada)), &all, Some(broken), 1)
                    .is_err(),
                "{broken}"
            );
        }
    }
}
