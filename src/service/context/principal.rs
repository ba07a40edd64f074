//! Who is calling.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use super::extensions::Extensions;

/// Who a request comes from, as something in front of the core found out.
///
/// An authentication layer puts it into the request; policies and handlers read it. Two principals
/// are the same caller if issuer and subject are equal.
///
/// ```
/// use portcullis::service::Principal;
///
/// let ada = Principal::new("ada").issuer("https://id.example").scope("files:read");
/// assert!(ada.has_scope("files:read"));
/// assert_ne!(ada, Principal::new("ada"));
/// ```
#[derive(Clone)]
pub struct Principal(Arc<Inner>);

#[derive(Clone)]
struct Inner {
    issuer: Option<Box<str>>,
    subject: Box<str>,
    scopes: BTreeSet<Box<str>>,
    claims: Extensions,
}

impl Principal {
    /// A principal known by its subject alone.
    pub fn new(subject: impl Into<Box<str>>) -> Self {
        Self(Arc::new(Inner {
            issuer: None,
            subject: subject.into(),
            scopes: BTreeSet::new(),
            claims: Extensions::default(),
        }))
    }

    /// Who vouches for the subject.
    #[must_use]
    pub fn issuer(mut self, issuer: impl Into<Box<str>>) -> Self {
        self.inner().issuer = Some(issuer.into());
        self
    }

    /// Adds a scope.
    #[must_use]
    pub fn scope(mut self, scope: impl Into<Box<str>>) -> Self {
        self.inner().scopes.insert(scope.into());
        self
    }

    /// Adds claims of the application's own type.
    #[must_use]
    pub fn claims<T: Send + Sync + 'static>(mut self, claims: T) -> Self {
        self.inner().claims.insert(claims);
        self
    }

    /// The subject.
    pub fn subject(&self) -> &str {
        &self.0.subject
    }

    /// Who vouches for the subject, if anybody was named.
    pub fn issued_by(&self) -> Option<&str> {
        self.0.issuer.as_deref()
    }

    /// Whether the principal holds a scope.
    pub fn has_scope(&self, scope: &str) -> bool {
        self.0.scopes.contains(scope)
    }

    /// All scopes, in order.
    pub fn scopes(&self) -> impl Iterator<Item = &str> {
        self.0.scopes.iter().map(AsRef::as_ref)
    }

    /// Claims of the application's own type.
    pub fn get<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.0.claims.get()
    }

    fn inner(&mut self) -> &mut Inner {
        Arc::make_mut(&mut self.0)
    }
}

/// Claims may hold secrets and are not shown.
impl fmt::Debug for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Principal")
            .field("issuer", &self.0.issuer)
            .field("subject", &self.0.subject)
            .field("scopes", &self.0.scopes)
            .finish_non_exhaustive()
    }
}

impl PartialEq for Principal {
    fn eq(&self, other: &Self) -> bool {
        self.0.issuer == other.0.issuer && self.0.subject == other.0.subject
    }
}

impl Eq for Principal {}
