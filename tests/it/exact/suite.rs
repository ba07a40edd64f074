//! The public JSON parsing suite, on the scanner and as argument values through the whole stack.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use portcullis::wire::json::{Document, MAX_DEPTH};

use crate::support::each_transport;

use super::{Carrier, Fate};

/// The files of the suite by their names.
fn files() -> BTreeMap<String, Vec<u8>> {
    let suites = std::env::var_os("PORTCULLIS_SUITES").expect("PORTCULLIS_SUITES names the suites");
    let folder = Path::new(&suites).join("json-test-suite/test_parsing");
    let entries = fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("the suite is missing: {}: {error}", folder.display()));
    let files: BTreeMap<_, _> = entries
        .map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            (name, fs::read(path).unwrap())
        })
        .collect();
    for start in ["y_", "n_", "i_"] {
        assert!(files.keys().any(|name| name.starts_with(start)), "{start}");
    }
    files
}

/// What the suite leaves open: whether we take it.
fn is_taken(name: &str) -> bool {
    match OPEN.iter().find(|(known, _)| *known == name) {
        Some((_, taken)) => *taken,
        None => name.starts_with("y_"),
    }
}

#[test]
#[ignore = "reads the public suites"]
fn the_scanner_decides_the_public_suite() {
    let files = files();
    let mut taken = 0;
    for (name, bytes) in &files {
        let scanned = Document::parse(bytes.clone(), MAX_DEPTH);
        assert_eq!(scanned.is_ok(), is_taken(name), "{name}: {scanned:?}");
        taken += usize::from(scanned.is_ok());
        let twice = scanned.is_ok_and(|document| document.duplicate().is_some());
        assert_eq!(twice, TWICE.contains(&&**name), "{name}");
    }
    let open = files.keys().filter(|name| name.starts_with("i_"));
    assert!(open.clone().all(|name| OPEN.iter().any(|it| it.0 == name)));
    assert_eq!(open.count(), OPEN.len());
    println!(
        "JSONTestSuite, scanned: {} files, {taken} taken, {} refused, {} of them left open by it",
        files.len(),
        files.len() - taken,
        OPEN.len()
    );
}

#[tokio::test]
#[ignore = "reads the public suites"]
async fn the_stack_decides_the_public_suite() {
    let files = files();
    each_transport(async |way| {
        let mut carrier = Carrier::open(way).await;
        let mut counts = [0; 3];
        for (name, bytes) in &files {
            if !carrier.carries(bytes) {
                counts[2] += 1;
                continue;
            }
            let expected = match is_taken(name) {
                true if TWICE.contains(&&**name) => Fate::Refused(-32600),
                true => Fate::Arrived,
                false => Fate::Refused(-32700),
            };
            let fate = carrier.send(bytes).await;
            assert_eq!(fate, expected, "{name}");
            counts[usize::from(fate != Fate::Arrived)] += 1;
            carrier.assert_healthy().await;
        }
        let [arrived, refused, other] = counts;
        println!(
            "JSONTestSuite, {way:?}: {arrived} arrived, {refused} refused, {other} not for this transport"
        );
    })
    .await;
}

/// Names that stand twice are JSON, and refused by the layer that looks for them.
const TWICE: [&str; 2] = [
    "y_object_duplicated_key",
    "y_object_duplicated_key_and_value",
];

/// Numbers are texts until somebody asks for a float, so none is too large. What is no Unicode is
/// refused, and so is a nesting beyond ours.
const OPEN: [(&str, bool); 35] = [
    ("i_number_double_huge_neg_exp", true),
    ("i_number_huge_exp", true),
    ("i_number_neg_int_huge_exp", true),
    ("i_number_pos_double_huge_exp", true),
    ("i_number_real_neg_overflow", true),
    ("i_number_real_pos_overflow", true),
    ("i_number_real_underflow", true),
    ("i_number_too_big_neg_int", true),
    ("i_number_too_big_pos_int", true),
    ("i_number_very_big_negative_int", true),
    ("i_object_key_lone_2nd_surrogate", false),
    ("i_string_1st_surrogate_but_2nd_missing", false),
    ("i_string_1st_valid_surrogate_2nd_invalid", false),
    ("i_string_UTF-16LE_with_BOM", false),
    ("i_string_UTF-8_invalid_sequence", false),
    ("i_string_UTF8_surrogate_U+D800", false),
    ("i_string_incomplete_surrogate_and_escape_valid", false),
    ("i_string_incomplete_surrogate_pair", false),
    ("i_string_incomplete_surrogates_escape_valid", false),
    ("i_string_invalid_lonely_surrogate", false),
    ("i_string_invalid_surrogate", false),
    ("i_string_invalid_utf-8", false),
    ("i_string_inverted_surrogates_U+1D11E", false),
    ("i_string_iso_latin_1", false),
    ("i_string_lone_second_surrogate", false),
    ("i_string_lone_utf8_continuation_byte", false),
    ("i_string_not_in_unicode_range", false),
    ("i_string_overlong_sequence_2_bytes", false),
    ("i_string_overlong_sequence_6_bytes", false),
    ("i_string_overlong_sequence_6_bytes_null", false),
    ("i_string_truncated-utf-8", false),
    ("i_string_utf16BE_no_BOM", false),
    ("i_string_utf16LE_no_BOM", false),
    ("i_structure_500_nested_arrays", false),
    ("i_structure_UTF-8_BOM_empty_object", false),
];
