//! wip
pub mod wire;
pub mod service;
pub mod layers;
