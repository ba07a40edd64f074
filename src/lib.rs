//! wip
pub mod wire;
pub mod service;
