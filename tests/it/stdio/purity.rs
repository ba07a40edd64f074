//! Nothing but messages is written to the output.
