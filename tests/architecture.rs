//! Keeps the house in order: who imports whom, where protocol dates stand, how long files are, and
//! that the pages in `docs/` say what the code says. `UPDATE=1` rewrites `docs/limits.md`.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use portcullis::service::Limits;

/// The rooms of the crate, from the bottom up: what stands in one imports nothing from above it.
const ROOMS: &[&str] = &[
    "wire",
    "service",
    "layers",
    "transport",
    "stack testing",
    "fuzzing",
];

/// The same inside `service`.
const SERVICE: &[&str] = &[
    "config limits",
    "context",
    "apps catalog handler pager param_headers plane refusal schema search secret",
    "operation resources prompts",
    "registry",
    "dispatch",
];

/// Layers never import one another, except what is here for all of them,
const SHARED: &[&str] = &[
    "body",
    "http_reply",
    "macros",
    "rescue::FromRefusal",
    "rescue::Rescuable",
];

/// and these, each for a reason.
const EXCEPTIONS: &[(&str, &str)] = &[
    // The type of the body between the two, so that the wrong order does not compile.
    ("streamable_http", "ingress::Posted"),
    // An error type can only be erased where every error has become an answer.
    ("erase", "rescue::RescueLayer"),
    // A panic of a layer on the frame plane is such an error, and nothing stands above.
    ("erase", "catch_panic::CatchPanicLayer"),
];

/// Crates that a room is free of: below the layers there is no HTTP, and no runtime in `wire`.
const FOREIGN: &[(&str, &str)] = &[
    ("wire", "axum http http_body hyper hyper_util tokio tower"),
    ("service", "axum http http_body hyper hyper_util"),
];

const LONGEST_FILE: usize = 400;

#[test]
fn imports_point_down_and_never_in_a_circle() {
    let (mut wrong, mut edges) = (Vec::new(), BTreeSet::new());
    for Source { name, module, code } in sources() {
        let Some((room, own)) = module.split_once("::").or(Some((&module, ""))) else {
            continue;
        };
        let foreign = FOREIGN.iter().filter(|(owner, _)| *owner == room);
        for alien in foreign.flat_map(|(_, names)| names.split(' ')) {
            if !mentions(&code, &format!("{alien}::")).is_empty() {
                wrong.push(format!("{name}: {room} is free of {alien}"));
            }
        }
        let own = own.split("::").next().unwrap_or_default();
        for path in imports(&module, &code) {
            let (other, target) = path.split_once("::").unwrap_or((&path, ""));
            let first = target.split("::").next().unwrap_or_default();
            let problem = if rank(ROOMS, other).is_none() {
                Some("name its room")
            } else if !module.is_empty() && rank(ROOMS, other) > rank(ROOMS, room) {
                Some("upward")
            } else if other == room && ![own, ""].contains(&first) && !own.is_empty() {
                edges.insert((format!("{room}::{own}"), format!("{room}::{first}")));
                inside(room, own, target)
            } else {
                None
            };
            wrong.extend(problem.map(|problem| format!("{name}: {path} ({problem})")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(edges.len() > 50, "the imports were not found");
    // What is imported and imports nothing itself is no part of a circle.
    let is_leaf = |edges: &BTreeSet<(String, String)>, to: &str| !edges.iter().any(|it| it.0 == to);
    while let Some((_, leaf)) = edges.iter().find(|(_, to)| is_leaf(&edges, to)).cloned() {
        edges.retain(|(_, to)| *to != leaf);
    }
    assert!(edges.is_empty(), "these import one another: {edges:?}");
}

/// What is wrong with an import inside a room, from one of its modules to another.
fn inside(room: &str, own: &str, target: &str) -> Option<&'static str> {
    let first = target.split("::").next().unwrap_or_default();
    let begins = |start: &str| target == start || target.starts_with(&format!("{start}::"));
    match room {
        "service" => match (rank(SERVICE, own), rank(SERVICE, first)) {
            (Some(own), Some(other)) => (other > own).then_some("upward"),
            _ => Some("no module with a rank"),
        },
        "layers" => {
            let allowed = SHARED.iter().any(|it| begins(it))
                || EXCEPTIONS.iter().any(|(who, it)| *who == own && begins(it));
            (!allowed).then_some("one layer imports another")
        }
        _ => None,
    }
}

#[test]
fn dates_of_the_protocol_stand_in_one_file() {
    for Source { name, code, .. } in sources() {
        let date = code.as_bytes().windows(10).find(|text| {
            let shape = text
                .iter()
                .map(|byte| if byte.is_ascii_digit() { b'd' } else { *byte });
            text.starts_with(b"20") && shape.eq(*b"dddd-dd-dd")
        });
        let date = date.map(String::from_utf8_lossy);
        assert!(
            date.is_none() || name == "src/wire/version.rs",
            "{name} knows the date {date:?}"
        );
    }
}

#[test]
fn files_are_short() {
    let mut sizes: Vec<_> = sources()
        .into_iter()
        .map(|it| (it.code.lines().count(), it.name))
        .collect();
    sizes.sort_by(|a, b| b.cmp(a));
    let mut list = String::from("\nthe ten longest files, in lines of code:\n");
    for (lines, name) in sizes.iter().take(10) {
        let _ = writeln!(list, "{lines:5}  {name}");
    }
    // Past the test runner, which would show it only on a failure.
    let _ = std::io::stderr().write_all(list.as_bytes());
    assert!(sizes[0].0 <= LONGEST_FILE, "{} is too long", sizes[0].1);
}

#[test]
fn lints_are_silenced_with_a_reason() {
    for path in files(&["src", "tests", "examples", "benches"], &["rs"]) {
        let text = fs::read_to_string(&path).unwrap();
        let starts = ["allow", "expect"].map(|word| format!("[{word}("));
        for at in starts
            .iter()
            .flat_map(|start| text.match_indices(start))
            .map(|(at, _)| at)
        {
            let attribute = text[at..].split_inclusive(")]").next().unwrap_or_default();
            assert!(
                attribute.contains("reason = "),
                "{}: {attribute}",
                path.display()
            );
        }
    }
}

#[test]
fn limits_page_is_up_to_date() {
    let mut page = String::from(
        "# Limits\n\nEvery bound that can be set, with its default, what it can be raised to, and \
         what happens beyond it.\nEach is a method of `portcullis::Limits`, from which this page is \
         generated:\n`UPDATE=1 cargo test --test architecture`.\n\n\
         | limit | bounds | default | at most | beyond it |\n|---|---|---|---|---|\n",
    );
    for row in Limits::ROWS {
        let bounds = row.bounds.trim().trim_end_matches('.');
        let [default, ceiling] = [row.default, row.ceiling].map(|value| amount(row.name, value));
        let (name, answer) = (row.name, row.answer);
        let _ = writeln!(
            page,
            "| `{name}` | {bounds} | {default} | {ceiling} | {answer} |"
        );
    }
    let path = root().join("docs/limits.md");
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, &page).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == page,
        "docs/limits.md is out of date: UPDATE=1 rewrites it"
    );
}

/// A bound as people write it, in the unit that its name ends with.
fn amount(name: &str, value: u64) -> String {
    let units: &[(u64, &str)] = match name.rsplit('_').next() {
        Some("bytes") => &[(1 << 20, " MiB"), (1 << 10, " KiB"), (1, " bytes")],
        Some("ms") => &[(60_000, " min"), (1000, " s"), (1, " ms")],
        _ => &[(1, "")],
    };
    let unit = units.iter().find(|(size, _)| value.is_multiple_of(*size));
    unit.map_or_else(String::new, |(size, unit)| {
        format!("{}{unit}", value / size)
    })
}

#[test]
fn contract_page_lists_the_rows_that_tests_cite() {
    let page = fs::read_to_string(root().join("docs/contract.md")).unwrap();
    let entries = page
        .lines()
        .filter_map(|line| line.strip_prefix("- **")?.split_once("** "));
    let listed: BTreeSet<_> = entries
        .filter(|(_, text)| text.len() > 10)
        .map(|(row, _)| row.to_owned())
        .collect();
    let mut cited = BTreeSet::new();
    for path in files(&["src", "tests"], &["rs", "transcript"]) {
        let text = fs::read_to_string(&path).unwrap();
        for line in text
            .lines()
            .map(|line| line.trim_start_matches([' ', '/', '#']))
        {
            let rows = line
                .strip_prefix("Contract: ")
                .or(line.split_once("rows: ").map(|it| it.1));
            let words = rows
                .unwrap_or_default()
                .split(|c: char| !c.is_alphanumeric() && c != '-');
            cited.extend(words.filter(|word| is_row(word)).map(str::to_owned));
        }
    }
    let missing: Vec<_> = cited.difference(&listed).collect();
    let extra: Vec<_> = listed.difference(&cited).collect();
    assert!(
        missing.is_empty() && extra.is_empty(),
        "docs/contract.md lacks {missing:?}, and nothing cites {extra:?}: see docs/contract-rows"
    );
}

/// `S-093`, `M-116`, `P-17`, or the number of a case: `J10`.
fn is_row(word: &str) -> bool {
    let shape: String = word
        .chars()
        .map(|c| if c.is_ascii_digit() { '0' } else { c })
        .collect();
    match shape.as_str() {
        "S-000" | "M-000" | "P-0" | "P-00" | "P-000" => true,
        case => {
            case.len() == 3
                && case.ends_with("00")
                && case.starts_with(|c: char| c.is_ascii_uppercase())
        }
    }
}

/// How high a name stands.
fn rank(ranks: &[&str], name: &str) -> Option<usize> {
    ranks
        .iter()
        .position(|names| names.split(' ').any(|it| it == name))
}

/// The paths that a module names, from the root of the crate.
fn imports(module: &str, code: &str) -> Vec<String> {
    let mut found = Vec::new();
    for at in mentions(code, "crate::") {
        tree(&code[at + "crate::".len()..], "", &mut found);
    }
    for at in mentions(code, "super::") {
        let (mut base, mut rest) = (module, &code[at..]);
        while let Some(inner) = rest.strip_prefix("super::") {
            base = base.rsplit_once("::").map_or("", |(parent, _)| parent);
            rest = inner;
        }
        tree(rest, base, &mut found);
    }
    found
}

/// Where a path begins with these words.
fn mentions(code: &str, start: &str) -> Vec<usize> {
    let inner = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let found = code.match_indices(start).map(|(at, _)| at);
    found.filter(|at| !code[..*at].ends_with(inner)).collect()
}

/// Reads on in a path, and where it branches all its branches; gives back what follows it.
fn tree<'a>(mut text: &'a str, base: &str, found: &mut Vec<String>) -> &'a str {
    let mut path = base.to_owned();
    loop {
        if let Some(mut inner) = text.strip_prefix('{') {
            loop {
                inner = inner.trim_start_matches([',', ' ', '\n']);
                match inner.strip_prefix('}') {
                    Some(rest) => return rest,
                    None => inner = tree(inner, &path, found),
                }
            }
        }
        let end = text
            .find(|c: char| !c.is_alphanumeric() && c != '_')
            .unwrap_or(text.len());
        if !matches!(&text[..end], "" | "self") {
            path.push_str(if path.is_empty() { "" } else { "::" });
            path.push_str(&text[..end]);
        }
        match text[end..].strip_prefix("::") {
            Some(rest) => text = rest,
            None => break,
        }
    }
    found.push(path);
    // Over a glob or another name, up to the next branch.
    &text[text.find([',', '}', ';']).unwrap_or(text.len())..]
}

/// A file of `src/`.
struct Source {
    name: String,
    /// The path of its module: `wire::json::scan`.
    module: String,
    /// Its lines up to the tests, but for comments and blanks.
    code: String,
}

fn sources() -> Vec<Source> {
    let mut sources = Vec::new();
    for path in files(&["src"], &["rs"]) {
        let name = path.strip_prefix(root()).unwrap().to_str().unwrap();
        let name = name.replace('\\', "/");
        if name.ends_with("/tests.rs") {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let (code, tests) = text.split_once(TESTS).unwrap_or((&text, ";\n"));
        let ends = tests == ";\n" || tests.find("\n}\n") == Some(tests.len() - 3);
        assert!(ends, "{name}: the tests stand last");
        let is_code = |line: &&str| !line.trim().is_empty() && !line.trim().starts_with("//");
        let code = code.lines().filter(is_code).collect::<Vec<_>>().join("\n");
        let module = name["src/".len()..name.len() - ".rs".len()].replace('/', "::");
        let module = match module.as_str() {
            "lib" => "",
            module => module.trim_end_matches("::mod"),
        };
        sources.push(Source {
            module: module.to_owned(),
            name,
            code,
        });
    }
    assert!(sources.len() > 50, "the sources were not found");
    sources
}

const TESTS: &str = "#[cfg(test)]\nmod tests";

/// All files in these folders with one of these endings.
fn files(folders: &[&str], endings: &[&str]) -> Vec<PathBuf> {
    let mut open: Vec<_> = folders.iter().map(|folder| root().join(folder)).collect();
    let mut found = Vec::new();
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            let ending = path.extension().unwrap_or_default().to_owned();
            if path.is_dir() {
                open.push(path);
            } else if endings.iter().any(|it| *it == ending) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}
