//! No compression: none is agreed on.

/// Decompresses nothing.
#[derive(Debug)]
pub enum Inflate {}

/// Compresses nothing.
#[derive(Debug, Clone, Copy)]
pub enum Deflate {}

impl Inflate {
    pub(super) fn new(_: bool) -> Option<Self> {
        None
    }

    pub(super) fn push(&mut self, _: &[u8], _: &mut Vec<u8>) -> Result<(), ()> {
        match *self {}
    }

    pub(super) fn finish(&mut self, _: &mut Vec<u8>) -> Result<(), ()> {
        match *self {}
    }
}

impl Deflate {
    pub(super) fn new(_: usize) -> Option<Self> {
        None
    }

    pub(super) fn message(&mut self, _: &[u8]) -> Vec<u8> {
        match *self {}
    }
}
