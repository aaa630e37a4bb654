//! Who brought a value up.

/// Who brought a value up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Issuer {
    /// It first appeared in an answer.
    Server,
    /// It first appeared in a request.
    Client,
}

/// Where a value came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin {
    /// Who brought it up.
    pub issuer: Issuer,
    /// The interaction in which it first appeared, counted from 0.
    pub interaction: usize,
}
