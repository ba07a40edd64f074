//! The public JSON Schema test suite, on the way that the schemas of operations take.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::*;
use crate::wire::json::Document;

/// Reads what a schema of the suite refers to from the folder of the suite.
struct Remotes(PathBuf);

impl Retrieve for Remotes {
    fn retrieve(
        &self,
        uri: &jsonschema::Uri<String>,
    ) -> Result<Value, Box<dyn std::error::Error + Send + Sync>> {
        let path = uri.as_str().strip_prefix(REMOTE).ok_or("no remote")?;
        Ok(serde_json::from_str(&fs::read_to_string(
            self.0.join(path),
        )?)?)
    }
}

/// What came of the cases.
#[derive(Default)]
struct Tally {
    files: usize,
    cases: usize,
    passed: usize,
    /// Cases by their names, and how they went wrong.
    deviations: BTreeSet<String>,
    /// Schemas that refer to others and are refused without them.
    refused: usize,
}

impl Tally {
    fn file(&mut self, root: &Path, dialect: &Dialect, path: &Path) {
        let text = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let document = Document::parse(text, 128).unwrap();
        self.files += 1;
        let name = path.strip_prefix(root).unwrap().with_extension("");
        for group in document.root().elements() {
            self.group(root, dialect, group, &name.display().to_string());
        }
    }

    fn group(&mut self, root: &Path, dialect: &Dialect, group: Node<'_>, file: &str) {
        let text = |node: Node<'_>| {
            node.get("description")
                .unwrap()
                .as_str()
                .unwrap()
                .into_owned()
        };
        let schema = dialect.declared(group.get("schema").unwrap());
        let alone = Schema::compile(RawJson::parse(schema.as_str()).unwrap());
        let schema = match alone {
            Err(error) if schema.contains(REMOTE) => {
                self.refused += 1;
                assert!(
                    error.starts_with("at /") && REFUSALS.iter().any(|it| error.contains(it)),
                    "{file}: {}: {error}",
                    text(group)
                );
                let options = options().with_retriever(Remotes(root.join("remotes")));
                Schema::compile_with(RawJson::parse(schema).unwrap(), options)
            }
            alone => alone,
        };
        for case in group.get("tests").unwrap().elements() {
            self.cases += 1;
            let expected = case.get("valid").unwrap().as_bool().unwrap();
            let found = match &schema {
                Ok(schema) => {
                    let data = RawJson::parse(case.get("data").unwrap().text()).unwrap();
                    let checked = schema.check(data.node());
                    // What is invalid comes with a reason.
                    assert!(
                        checked
                            .as_ref()
                            .err()
                            .is_none_or(|it| !it.errors.is_empty())
                    );
                    Ok(checked.is_ok())
                }
                Err(error) => Err(error),
            };
            if found == Ok(expected) {
                self.passed += 1;
                continue;
            }
            let name = format!("{file}: {}: {}", text(group), text(case));
            let how = found.map_or_else(
                |error| format!("refused: {error}"),
                |valid| (if valid { "valid" } else { "invalid" }).to_owned(),
            );
            self.deviations.insert(format!("{name} -> {how}"));
        }
    }
}

/// A folder of the suite, and the dialect its schemas speak.
struct Dialect {
    folder: &'static str,
    uri: &'static str,
}

impl Dialect {
    /// A schema of the suite that says what it is written in, as ours has to.
    fn declared(&self, schema: Node<'_>) -> String {
        let text = schema.text();
        if !schema.is_object() || schema.get("$schema").is_some() || self.uri.is_empty() {
            return text.to_owned();
        }
        let rest = text.trim_start_matches('{').trim_start();
        let comma = if rest == "}" { "" } else { "," };
        format!(r#"{{"$schema":"{}"{comma}{rest}"#, self.uri)
    }
}

/// The files of a folder in their order, but not of those inside it.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("the suite is missing: {}: {error}", folder.display()));
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|it| it == "json"));
    files.sort();
    files
}

#[test]
#[ignore = "reads the public suites"]
fn schemas_decide_the_public_suite() {
    let suites = std::env::var_os("PORTCULLIS_SUITES").expect("PORTCULLIS_SUITES names the suites");
    let root = Path::new(&suites).join("json-schema-test-suite");
    let mut tally = Tally::default();
    for dialect in &DIALECTS {
        let folder = root.join("tests").join(dialect.folder);
        for path in files(&folder)
            .iter()
            .chain(&files(&folder.join("optional")))
        {
            tally.file(&root, dialect, path);
        }
    }
    let Tally {
        files,
        cases,
        passed,
        deviations,
        refused,
    } = tally;
    eprintln!(
        "JSON-Schema-Test-Suite: {files} files, {cases} cases, {passed} passed, {} deviations; \
         {refused} schemas refused for what they refer to",
        deviations.len()
    );
    let named = DEVIATIONS.map(str::to_owned);
    let missing: Vec<_> = named
        .iter()
        .filter(|it| !deviations.contains(*it))
        .collect();
    assert!(missing.is_empty(), "no deviations any more: {missing:#?}");
    let further: Vec<_> = deviations.iter().filter(|it| !named.contains(it)).collect();
    assert!(further.is_empty(), "not as the suite has it: {further:#?}");
}

/// Where the suite has it otherwise, with the reason.
const DEVIATIONS: [&str; 2] = [
    // Formats say what a value means, whatever vocabulary a schema asks for.
    "tests/draft2020-12/optional/format-assertion: schema that uses custom metaschema with format-assertion: false: format-assertion: false: invalid string -> valid",
    "tests/draft2020-12/optional/format-assertion: schema that uses custom metaschema with format-assertion: true: format-assertion: true: invalid string -> valid",
];

const REFUSALS: [&str; 2] = ["leaves the schema", "is not supported"];

const REMOTE: &str = "http://localhost:1234/";

const DIALECTS: [Dialect; 4] = [
    Dialect {
        folder: "draft4",
        uri: "http://json-schema.org/draft-04/schema#",
    },
    Dialect {
        folder: "draft6",
        uri: "http://json-schema.org/draft-06/schema#",
    },
    Dialect {
        folder: "draft7",
        uri: "http://json-schema.org/draft-07/schema#",
    },
    // What is not said is this one.
    Dialect {
        folder: "draft2020-12",
        uri: "",
    },
];
