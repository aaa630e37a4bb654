//! JSON as text: tokens, layouts, and editing without re-encoding.
//!
//! Nothing here turns a number or a string into another spelling of itself. A [`Text`] is a valid
//! JSON text that is walked token by token; a [`Layout`] says which white space stood between the
//! tokens, so that a text can be laid out anew to be read and back again to the same bytes.
//!
//! # Rationale
//!
//! A parsed value forgets what a byte-true recording must keep (`1.0`, `1e400`, duplicate keys, lone
//! surrogates, escapes), and costs five times as much as walking the tokens.

mod fitted;
mod layout;
mod leaf;
mod places;
pub(crate) mod pointer;
mod token;
mod walk;

pub(crate) use fitted::{Margin, fitted};
pub(crate) use layout::{Indent, Layout};
pub(crate) use leaf::Leaf;
pub(crate) use places::Places;
pub(crate) use token::{
    Container, Text, Token, Tokens, canonical_number, escape, push_escape, unescape,
};
pub(crate) use walk::kind;
