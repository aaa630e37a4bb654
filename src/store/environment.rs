//! The environment of this process.

use std::env;

/// Its variables, as far as they are text.
pub(crate) fn environment() -> impl Iterator<Item = (String, String)> {
    let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    env::vars_os().filter_map(text)
}
