//! The noregret command line.
fn main() {}
