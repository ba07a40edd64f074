#![doc = include_str!("../docs/layers.md")]
