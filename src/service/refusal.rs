//! The one classification of errors that layers raise.

use std::error::Error as StdError;

use crate::wire::Refusal;

/// An error that says itself what it means to the caller. Layers of an application's own may wrap
/// or raise it.
///
/// ```
/// use portcullis::service::Refused;
/// use portcullis::wire::Refusal;
///
/// let error: tower::BoxError = Refused(Refusal::Unavailable).into();
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.message())]
pub struct Refused(pub Refusal);

/// Why a request fails, found by walking through an error and its sources.
pub(crate) fn classify(error: &(dyn StdError + 'static)) -> Refusal {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(Refused(refusal)) = error.downcast_ref() {
            return *refusal;
        }
        if error.is::<tower::load_shed::error::Overloaded>() {
            return Refusal::Overloaded;
        }
        if error.is::<tower::timeout::error::Elapsed>() {
            return Refusal::Timeout;
        }
        next = error.source();
    }
    Refusal::Internal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("outer")]
    struct Outer(#[source] tower::BoxError);

    #[test]
    fn finds_the_reason_wherever_it_is_wrapped() {
        let cases: [(tower::BoxError, Refusal); 4] = [
            (
                tower::timeout::error::Elapsed::new().into(),
                Refusal::Timeout,
            ),
            (
                tower::load_shed::error::Overloaded::new().into(),
                Refusal::Overloaded,
            ),
            (Refused(Refusal::RateLimited).into(), Refusal::RateLimited),
            ("whatever".into(), Refusal::Internal),
        ];
        for (error, expected) in cases {
            let wrapped = Outer(Outer(error).into());
            assert_eq!(classify(&wrapped), expected);
        }
    }
}
