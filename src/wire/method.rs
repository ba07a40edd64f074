//! The methods of the protocol, as one table.

use std::fmt;

use super::capability::Capability;
use super::version::{Era, Features};

/// A method of a request or a notification.
///
/// Besides those of the protocol there are a few internal ones, by which layers speak to the core.
/// No message can name them.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Method(Repr);

#[derive(Clone, PartialEq, Eq, Hash)]
enum Repr {
    Known(Known),
    Other(Box<str>),
}

/// What a row of the table says.
struct Row {
    name: &'static str,
    eras: Eras,
    /// What the server must offer for the method to exist.
    capability: Option<Capability>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Eras {
    Legacy,
    Modern,
    Both,
    /// Not on the wire.
    Internal,
}

macro_rules! methods {
    ($($(#[$doc:meta])* $constant:ident = $known:ident, $name:literal, $eras:ident, $capability:expr;)*) => {
        #[derive(Clone, Copy, PartialEq, Eq, Hash)]
        enum Known { $($known,)* }

        impl Method {
            $($(#[$doc])* pub const $constant: Self = Self(Repr::Known(Known::$known));)*
        }

        impl Known {
            const fn row(self) -> &'static Row {
                match self {
                    $(Self::$known => &Row {
                        name: $name,
                        eras: Eras::$eras,
                        capability: $capability,
                    },)*
                }
            }

            fn from_wire(name: &str) -> Option<Self> {
                let known = match name {
                    $($name => Self::$known,)*
                    _ => return None,
                };
                (known.row().eras != Eras::Internal).then_some(known)
            }
        }

        #[cfg(test)]
        const ALL: &[Known] = &[$(Known::$known,)*];
    };
}

methods! {
    /// `initialize`
    INITIALIZE = Initialize, "initialize", Legacy, None;
    /// `notifications/initialized`
    INITIALIZED = Initialized, "notifications/initialized", Legacy, None;
    /// `ping`
    PING = Ping, "ping", Legacy, None;
    /// `server/discover`
    DISCOVER = Discover, "server/discover", Modern, None;
    /// `notifications/cancelled`
    CANCELLED = Cancelled, "notifications/cancelled", Both, None;
    /// `tools/list`
    TOOLS_LIST = ToolsList, "tools/list", Both, Some(Capability::Tools);
    /// `tools/call`
    TOOLS_CALL = ToolsCall, "tools/call", Both, Some(Capability::Tools);
    /// `resources/list`
    RESOURCES_LIST = ResourcesList, "resources/list", Both, Some(Capability::Resources);
    /// `resources/templates/list`
    TEMPLATES_LIST = TemplatesList, "resources/templates/list", Both, Some(Capability::Resources);
    /// `resources/read`
    RESOURCES_READ = ResourcesRead, "resources/read", Both, Some(Capability::Resources);
    /// `prompts/list`
    PROMPTS_LIST = PromptsList, "prompts/list", Both, Some(Capability::Prompts);
    /// `prompts/get`
    PROMPTS_GET = PromptsGet, "prompts/get", Both, Some(Capability::Prompts);
    /// `completion/complete`
    COMPLETE = Complete, "completion/complete", Both, Some(Capability::Completions);
    /// Internal: a page of operations, as the registry holds them.
    BROWSE = Browse, "(browse)", Internal, Some(Capability::Tools);
    /// Internal: the operations that match a query best.
    SEARCH = Search, "(search)", Internal, Some(Capability::Tools);
    /// Internal: the definition of one operation.
    INSPECT = Inspect, "(inspect)", Internal, Some(Capability::Tools);
    /// Internal: run one operation.
    INVOKE = Invoke, "(invoke)", Internal, Some(Capability::Tools);
}

impl Method {
    /// The method a message names.
    pub fn from_wire(name: &str) -> Self {
        match Known::from_wire(name) {
            Some(known) => Self(Repr::Known(known)),
            None => Self(Repr::Other(name.into())),
        }
    }

    /// The name on the wire; internal ones have a name in parentheses.
    pub fn name(&self) -> &str {
        match &self.0 {
            Repr::Known(known) => known.row().name,
            Repr::Other(name) => name,
        }
    }

    /// Whether callers with these features know the method.
    pub fn exists_for(&self, features: Features) -> bool {
        let Repr::Known(known) = self.0 else {
            return false;
        };
        match known.row().eras {
            Eras::Both | Eras::Internal => true,
            Eras::Legacy => features.era() == Era::Legacy,
            Eras::Modern => features.era() == Era::Modern,
        }
    }

    /// What the server must offer for the method to exist.
    pub fn capability(&self) -> Option<Capability> {
        match self.0 {
            Repr::Known(known) => known.row().capability,
            Repr::Other(_) => None,
        }
    }
}

impl fmt::Debug for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The longest encoded method name, in bytes.
pub(crate) const LONGEST_METHOD: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::version::ProtocolVersion;

    #[test]
    fn messages_reach_every_method_but_the_internal_ones() {
        for known in ALL {
            let row = known.row();
            let method = Method::from_wire(row.name);
            let reached = method == Method(Repr::Known(*known));
            assert_eq!(reached, row.eras != Eras::Internal, "{}", row.name);
        }
    }

    #[test]
    fn eras_have_their_own_methods() {
        let legacy = ProtocolVersion::LATEST_LEGACY.features();
        let modern = ProtocolVersion::July2026.features();
        assert!(Method::PING.exists_for(legacy) && !Method::PING.exists_for(modern));
        assert!(Method::DISCOVER.exists_for(modern) && !Method::DISCOVER.exists_for(legacy));
        assert!(!Method::from_wire("TOOLS/LIST").exists_for(modern));
    }
}
