//! A cassette that is recorded again differs from the old one in what has changed and nothing else.

mod disguise;
mod laws;
