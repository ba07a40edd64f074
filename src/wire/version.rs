//! Protocol versions and what each of them permits: the one file that knows dates.

use std::fmt;

/// A version of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProtocolVersion {
    /// 2024-11-05
    November2024,
    /// 2025-03-26
    March2025,
    /// 2025-06-18
    June2025,
    /// 2025-11-25
    November2025,
    /// 2026-07-28
    July2026,
}

/// The versions a server speaks: all of them by default.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Versions([bool; ProtocolVersion::ALL.len()]);

/// How a caller speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Era {
    /// Opens with `initialize`; what was negotiated holds for the session.
    Legacy,
    /// Says who it is and what it can in each request.
    Modern,
}

/// Which structured results a version knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StructuredContent {
    /// None.
    Absent,
    /// Objects, described by schemas of objects.
    Objects,
    /// Any JSON value, described by any schema.
    Anything,
}

/// What a version permits. Code asks features and never compares versions.
#[derive(Clone, Copy)]
pub struct Features(&'static Row);

#[expect(
    clippy::struct_excessive_bools,
    reason = "a table: each column answers one question"
)]
struct Row {
    version: ProtocolVersion,
    date: &'static str,
    era: Era,
    batches: bool,
    audio: bool,
    tool_annotations: bool,
    completions_capability: bool,
    titles: bool,
    resource_links: bool,
    structured_content: StructuredContent,
    icons: bool,
    argument_errors_are_results: bool,
}

impl ProtocolVersion {
    /// All versions, newest first.
    pub const ALL: [Self; 5] = [
        Self::July2026,
        Self::November2025,
        Self::June2025,
        Self::March2025,
        Self::November2024,
    ];

    /// The newest version that opens with a handshake.
    pub const LATEST_LEGACY: Self = Self::November2025;

    /// What a request over HTTP speaks that names no version and was not negotiated.
    pub const ASSUMED: Self = Self::March2025;

    /// The version with this date.
    pub fn parse(date: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|version| version.as_str() == date)
    }

    /// The date that names the version.
    pub fn as_str(self) -> &'static str {
        self.row().date
    }

    /// How callers of this version speak.
    pub fn era(self) -> Era {
        self.row().era
    }

    /// What the version permits.
    pub fn features(self) -> Features {
        Features(self.row())
    }

    fn row(self) -> &'static Row {
        match self {
            Self::November2024 => &ROWS[0],
            Self::March2025 => &ROWS[1],
            Self::June2025 => &ROWS[2],
            Self::November2025 => &ROWS[3],
            Self::July2026 => &ROWS[4],
        }
    }
}

impl fmt::Display for ProtocolVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Versions {
    /// These versions.
    pub fn new(versions: impl IntoIterator<Item = ProtocolVersion>) -> Self {
        let mut spoken = [false; ProtocolVersion::ALL.len()];
        for version in versions {
            spoken[version as usize] = true;
        }
        Self(spoken)
    }

    /// Whether this version is among them.
    pub fn contains(self, version: ProtocolVersion) -> bool {
        self.0[version as usize]
    }

    /// All of them, newest first.
    pub fn iter(self) -> impl Iterator<Item = ProtocolVersion> {
        ProtocolVersion::ALL
            .into_iter()
            .filter(move |version| self.contains(*version))
    }

    /// The newest of an era.
    pub fn latest(self, era: Era) -> Option<ProtocolVersion> {
        self.iter().find(|version| version.era() == era)
    }

    /// The version with this date, if it is among them.
    pub fn parse(self, date: &str) -> Option<ProtocolVersion> {
        ProtocolVersion::parse(date).filter(|version| self.contains(*version))
    }
}

impl Default for Versions {
    fn default() -> Self {
        Self::new(ProtocolVersion::ALL)
    }
}

/// Their dates, newest first, with commas between them.
impl fmt::Display for Versions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, version) in self.iter().enumerate() {
            let comma = if place == 0 { "" } else { ", " };
            write!(f, "{comma}{version}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Versions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Versions({self})")
    }
}

impl Features {
    /// The version these are the features of.
    pub fn version(self) -> ProtocolVersion {
        self.0.version
    }

    /// How the caller speaks.
    pub fn era(self) -> Era {
        self.0.era
    }

    /// Whether each request says who calls and each result says what kind it is.
    pub fn is_modern(self) -> bool {
        self.era() == Era::Modern
    }

    /// Whether several messages may come as one array.
    pub fn batches(self) -> bool {
        self.0.batches
    }

    /// Whether content may be audio.
    pub fn audio(self) -> bool {
        self.0.audio
    }

    /// Whether tools carry behavioural hints.
    pub fn tool_annotations(self) -> bool {
        self.0.tool_annotations
    }

    /// Whether completion is announced as a capability.
    pub fn completions_capability(self) -> bool {
        self.0.completions_capability
    }

    /// Whether named things have titles, and most objects `_meta`.
    pub fn titles(self) -> bool {
        self.0.titles
    }

    /// Whether content may link to a resource.
    pub fn resource_links(self) -> bool {
        self.0.resource_links
    }

    /// Which structured results there are.
    pub fn structured_content(self) -> StructuredContent {
        self.0.structured_content
    }

    /// Whether things have icons and an implementation may describe itself.
    pub fn icons(self) -> bool {
        self.0.icons
    }

    /// Whether arguments that do not match the schema are answered by a result rather than by a
    /// protocol error.
    pub fn argument_errors_are_results(self) -> bool {
        self.0.argument_errors_are_results
    }
}

impl fmt::Debug for Features {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Features").field(&self.version()).finish()
    }
}

impl PartialEq for Features {
    fn eq(&self, other: &Self) -> bool {
        self.version() == other.version()
    }
}

impl Eq for Features {}

static ROWS: [Row; 5] = [
    Row {
        version: ProtocolVersion::November2024,
        date: "2024-11-05",
        era: Era::Legacy,
        batches: false,
        audio: false,
        tool_annotations: false,
        completions_capability: false,
        titles: false,
        resource_links: false,
        structured_content: StructuredContent::Absent,
        icons: false,
        argument_errors_are_results: false,
    },
    Row {
        version: ProtocolVersion::March2025,
        date: "2025-03-26",
        era: Era::Legacy,
        batches: true,
        audio: true,
        tool_annotations: true,
        completions_capability: true,
        titles: false,
        resource_links: false,
        structured_content: StructuredContent::Absent,
        icons: false,
        argument_errors_are_results: false,
    },
    Row {
        version: ProtocolVersion::June2025,
        date: "2025-06-18",
        era: Era::Legacy,
        batches: false,
        audio: true,
        tool_annotations: true,
        completions_capability: true,
        titles: true,
        resource_links: true,
        structured_content: StructuredContent::Objects,
        icons: false,
        argument_errors_are_results: false,
    },
    Row {
        version: ProtocolVersion::November2025,
        date: "2025-11-25",
        era: Era::Legacy,
        batches: false,
        audio: true,
        tool_annotations: true,
        completions_capability: true,
        titles: true,
        resource_links: true,
        structured_content: StructuredContent::Objects,
        icons: true,
        argument_errors_are_results: true,
    },
    Row {
        version: ProtocolVersion::July2026,
        date: "2026-07-28",
        era: Era::Modern,
        batches: false,
        audio: true,
        tool_annotations: true,
        completions_capability: true,
        titles: true,
        resource_links: true,
        structured_content: StructuredContent::Anything,
        icons: true,
        argument_errors_are_results: true,
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_at_their_version() {
        for version in ProtocolVersion::ALL {
            assert_eq!(version.features().version(), version);
            assert_eq!(ProtocolVersion::parse(version.as_str()), Some(version));
        }
        assert_eq!(ProtocolVersion::parse("2099-01-01"), None);
        assert_eq!(ProtocolVersion::LATEST_LEGACY.era(), Era::Legacy);
    }
}
