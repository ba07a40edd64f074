//! Every property on the corpus beside the fuzz targets, and on inputs made from it.
use super::PROPERTIES;

#[test]
fn empty_input_is_harmless() {
    for (name, property) in PROPERTIES {
        println!("{name}");
        property(b"");
        property(b"\n\n\n");
    }
}
