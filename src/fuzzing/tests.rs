//! Every property on the corpus beside the fuzz targets, and on inputs made from it. These are the
//! same each time: to find new ones is what the fuzz targets are for.

use std::fs;
use std::path::{Path, PathBuf};

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::{Config, TestRunner};

macro_rules! properties {
    ($($name:ident: $cases:literal,)*) => {
        $(
            #[test]
            fn $name() {
                replay(stringify!($name), super::$name);
                invent(stringify!($name), super::$name, $cases);
            }
        )*

        #[test]
        fn every_target_is_run_here_and_has_a_corpus() {
            let run = [$(stringify!($name)),*];
            if let Some(folder) = folder() {
                for part in ["corpus", "targets"] {
                    let mut found: Vec<_> = files(&folder.join(part))
                        .iter()
                        .filter_map(|path| path.file_stem()?.to_str().map(str::to_owned))
                        .collect();
                    found.sort();
                    assert_eq!(found, run, "{part}");
                }
            }
        }
    };
}

// As many cases as take about a second.
properties! {
    cursors: 300,
    frame: 2000,
    headers: 2000,
    post: 500,
    sse: 2000,
    stdio: 500,
    templates: 3000,
    typed: 1000,
}

#[test]
fn a_property_that_does_not_hold_panics() {
    let broken = std::panic::catch_unwind(|| {
        invent("frame", |data| assert!(data.len() < 20), 100);
    });
    assert!(broken.is_err());
}

#[expect(clippy::print_stdout, reason = "shown by the test runner")]
fn replay(name: &str, property: fn(&[u8])) {
    property(b"");
    for (path, input) in corpus(name) {
        // The one that panics is the last.
        println!("{}", path.display());
        property(&input);
    }
}

/// Runs a property on inputs put together from words, and on changed inputs of the corpus.
fn invent(name: &str, property: fn(&[u8]), cases: u32) {
    let words = words();
    if words.is_empty() {
        return;
    }
    let seeds: Vec<_> = corpus(name).into_iter().map(|(_, input)| input).collect();
    let word = prop_oneof![4 => select(words), 1 => vec(any::<u8>(), 0..4)];
    let change = (any::<Index>(), any::<Index>(), word.clone());
    let inputs = prop_oneof![
        vec(word, 0..40).prop_map(|words| words.concat()),
        (select(seeds), vec(change, 1..5)).prop_map(|(seed, changes)| changed(seed, &changes)),
    ];
    let config = Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    };
    let mut runner = TestRunner::new_with_rng(config, TestRunner::deterministic().new_rng());
    let checked = runner.run(&inputs, |input| {
        property(&input);
        Ok(())
    });
    checked.unwrap_or_else(|error| panic!("{error}"));
}

/// An input in which words take the place of parts.
fn changed(mut input: Vec<u8>, changes: &[(Index, Index, Vec<u8>)]) -> Vec<u8> {
    for (from, length, word) in changes {
        let from = from.index(input.len() + 1);
        let length = length.index(8).min(input.len() - from);
        input.splice(from..from + length, word.iter().copied());
    }
    input
}

fn corpus(name: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let Some(folder) = folder() else {
        return Vec::new();
    };
    let files = files(&folder.join("corpus").join(name));
    assert!(!files.is_empty(), "{name} has no corpus");
    let read = |path: PathBuf| fs::read(&path).map(|input| (path, input));
    files.into_iter().map(|path| read(path).unwrap()).collect()
}

/// What stands in quotes in the dictionary of the fuzz targets.
fn words() -> Vec<Vec<u8>> {
    let Some(folder) = folder() else {
        return Vec::new();
    };
    let dictionary = fs::read_to_string(folder.join("tokens.dict")).unwrap();
    let quoted = dictionary
        .lines()
        .filter_map(|line| line.strip_prefix('"')?.strip_suffix('"'));
    quoted.map(unquoted).collect()
}

fn unquoted(text: &str) -> Vec<u8> {
    let (mut out, mut rest) = (Vec::new(), text);
    while let Some((plain, escape)) = rest.split_once('\\') {
        out.extend_from_slice(plain.as_bytes());
        let length = if escape.starts_with('x') {
            out.push(u8::from_str_radix(&escape[1..3], 16).unwrap());
            3
        } else {
            out.push(escape.as_bytes()[0]);
            1
        };
        rest = &escape[length..];
    }
    out.extend_from_slice(rest.as_bytes());
    out
}

/// The folder of the fuzz targets. The package on crates.io comes without it, and without tests.
fn folder() -> Option<PathBuf> {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    tests.exists().then(|| tests.join("fuzz"))
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}
