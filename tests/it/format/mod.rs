//! The cassette file.

mod arbitrary;
mod codings;
mod compress;
mod errors;
mod forms;
mod golden;
mod round_trip;
mod sample;
