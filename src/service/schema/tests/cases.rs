//! Schemas of our own wording: every keyword that we rely on, and values on both sides of it.

