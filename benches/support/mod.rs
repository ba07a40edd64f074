//! What the benches share: calls to make, stacks to make them of, and a clock.
#![allow(dead_code, reason = "no bench uses all of it")]

pub(crate) mod calls;
pub(crate) mod clock;
pub(crate) mod layered;
pub(crate) mod meter;
pub(crate) mod texts;
