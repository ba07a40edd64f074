//! The Apps shell: one static page in which hosts show results of operations.

use std::sync::Arc;

use bytes::Bytes;
use fluent_uri::Uri;

use crate::wire::json::ObjectWriter;

use super::config::ConfigError;

/// A shell that hosts of the Apps extension render, and under which URI they read it.
///
/// The page is served byte for byte and never parsed. Everybody who may reach the server may read
/// it, so it must hold no secrets.
///
/// ```
/// use portcullis::service::Apps;
///
/// let apps = Apps::new("ui://calculator/shell", "<!doctype html><title>Calculator</title>")?;
/// assert!(Apps::new("https://calculator/shell", "<!doctype html>").is_err());
/// # Ok::<(), portcullis::ConfigError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Apps {
    uri: Arc<str>,
    /// The members of the result of reading it.
    read: Bytes,
}

impl Apps {
    /// The identifier of the extension.
    pub(crate) const EXTENSION: &'static str = "io.modelcontextprotocol/ui";

    /// A shell under a `ui://` URI with an authority and without credentials, query and fragment.
    ///
    /// # Errors
    ///
    /// If the URI is another one, the page is empty or longer than 8 MiB, or everything besides the
    /// page is longer than 64 KiB when encoded.
    pub fn new(uri: impl AsRef<str>, html: impl AsRef<str>) -> Result<Self, ConfigError> {
        let (uri, html) = (uri.as_ref(), html.as_ref());
        let error = |problem: &'static str| ConfigError::new("apps", problem);
        if !is_shell_uri(uri) {
            return Err(error(
                "the URI must be `ui://` with a host, without credentials, query and fragment",
            ));
        }
        if html.is_empty() {
            return Err(error("the page is empty"));
        }
        if html.len() > LONGEST_PAGE {
            return Err(error("the page is longer than 8 MiB"));
        }
        if encode(uri, "").len() > LONGEST_CONFIGURATION {
            return Err(error("the configuration is longer than 64 KiB"));
        }
        Ok(Self {
            uri: uri.into(),
            read: encode(uri, html).into(),
        })
    }

    /// The URI of the shell.
    pub fn uri(&self) -> &str {
        &self.uri
    }

    /// The members of the result of reading it.
    pub(crate) fn read(&self) -> &Bytes {
        &self.read
    }
}

fn is_shell_uri(uri: &str) -> bool {
    let Ok(parsed) = Uri::parse(uri) else {
        return false;
    };
    let authority = parsed.authority();
    uri.starts_with("ui://")
        && authority
            .is_some_and(|authority| !authority.host().is_empty() && authority.userinfo().is_none())
        && parsed.query().is_none()
        && parsed.fragment().is_none()
}

fn encode(uri: &str, html: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(uri.len() + html.len() + html.len() / 16 + 96);
    let mut object = ObjectWriter::members(&mut out);
    object.array("contents", [()], |out, ()| {
        let mut contents = ObjectWriter::new(out);
        contents.string("uri", uri);
        contents.string("mimeType", "text/html;profile=mcp-app");
        contents.string("text", html);
        contents.end();
    });
    out
}

const LONGEST_PAGE: usize = 8 * 1024 * 1024;
const LONGEST_CONFIGURATION: usize = 64 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    /// Contract: S-168.
    #[test]
    fn the_uri_names_a_host_and_nothing_else() {
        for good in ["ui://a", "ui://a/b", "ui://a.b:8/c%20d"] {
            assert!(Apps::new(good, "x").is_ok(), "{good}");
        }
        for bad in [
            "",
            "ui:a",
            "ui:///a",
            "UI://a",
            "ui://u@a/",
            "ui://a?q",
            "ui://a#f",
            "http://a",
            "ui://a b",
        ] {
            assert!(Apps::new(bad, "x").is_err(), "{bad}");
        }
    }

    /// Contract: S-174, S-175, S-176.
    #[test]
    fn page_and_configuration_are_bounded_on_both_sides() {
        assert!(Apps::new("ui://a", "").is_err());
        assert!(Apps::new("ui://a", "x".repeat(LONGEST_PAGE)).is_ok());
        assert!(Apps::new("ui://a", "x".repeat(LONGEST_PAGE + 1)).is_err());
        let around = encode("ui://a/", "").len();
        let uri = |length: usize| format!("ui://a/{}", "p".repeat(length));
        assert!(Apps::new(uri(LONGEST_CONFIGURATION - around), "x").is_ok());
        assert!(Apps::new(uri(LONGEST_CONFIGURATION - around + 1), "x").is_err());
    }
}
