//! Compressed bodies, whole and in pieces that can be read one by one.

use std::io::Write;

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};

/// Compresses pieces so that each can be read as soon as it has come.
pub(super) fn pieces(coding: &str, pieces: &[&[u8]]) -> Vec<Vec<u8>> {
    match coding {
        "gzip" | "x-gzip" => flushed(GzEncoder::new(Vec::new(), Compression::default()), pieces),
        "deflate" => flushed(ZlibEncoder::new(Vec::new(), Compression::default()), pieces),
        "bare deflate" => flushed(DeflateEncoder::new(Vec::new(), Compression::default()), pieces),
        "br" => brotli(pieces),
        "zstd" => zstd(pieces),
        coding => panic!("no encoder for {coding}"),
    }
}

/// Compresses a whole body.
pub(super) fn whole(coding: &str, body: &[u8]) -> Vec<u8> {
    match coding {
        "zstd" => {
            ruzstd::encoding::compress_to_vec(body, ruzstd::encoding::CompressionLevel::Fastest)
        }
        coding => pieces(coding, &[body]).concat(),
    }
}

trait Encoder: Write {
    fn sent(&mut self) -> &mut Vec<u8>;
    fn end(self) -> Vec<u8>;
}

macro_rules! encoder {
    ($($name:ident),+) => {$(
        impl Encoder for $name<Vec<u8>> {
            fn sent(&mut self) -> &mut Vec<u8> {
                self.get_mut()
            }
            fn end(self) -> Vec<u8> {
                self.finish().unwrap()
            }
        }
    )+};
}
encoder!(GzEncoder, ZlibEncoder, DeflateEncoder);

fn flushed<E: Encoder>(mut encoder: E, pieces: &[&[u8]]) -> Vec<Vec<u8>> {
    let mut sent: Vec<Vec<u8>> = pieces
        .iter()
        .map(|piece| {
            encoder.write_all(piece).unwrap();
            encoder.flush().unwrap();
            std::mem::take(encoder.sent())
        })
        .collect();
    let rest = encoder.end();
    match sent.last_mut() {
        Some(last) => last.extend(rest),
        None => sent.push(rest),
    }
    sent
}

/// Brotli that stores: a head for a window of 64 KiB, then meta-blocks that are not compressed.
fn brotli(pieces: &[&[u8]]) -> Vec<Vec<u8>> {
    let mut sent: Vec<Vec<u8>> = Vec::new();
    for (index, piece) in pieces.iter().enumerate() {
        let mut bytes = Vec::new();
        for (at, part) in piece.chunks(1 << 16).enumerate() {
            // Bits: the window (`0`, only at the very beginning), not the last, 4 nibbles of length,
            // the length less one, not compressed.
            let begin =
                u32::from(index == 0 && at == 0 || sent.concat().is_empty() && bytes.is_empty());
            let length = part.len() as u32 - 1;
            let bits = (length << 3 | 1 << 19) << begin;
            let bytes_of_head = if begin == 1 { 21_u32 } else { 20 }.div_ceil(8) as usize;
            bytes.extend_from_slice(&bits.to_le_bytes()[..bytes_of_head]);
            bytes.extend_from_slice(part);
        }
        sent.push(bytes);
    }
    // The window, if nothing came before, and an empty last meta-block.
    let end = if sent.concat().is_empty() { 0b110 } else { 0b11 };
    match sent.last_mut() {
        Some(last) => last.push(end),
        None => sent.push(vec![end]),
    }
    sent
}

/// Zstandard that stores: a frame of raw blocks.
fn zstd(pieces: &[&[u8]]) -> Vec<Vec<u8>> {
    let mut sent: Vec<Vec<u8>> = Vec::new();
    for (index, piece) in pieces.iter().enumerate() {
        let mut bytes = Vec::new();
        if index == 0 {
            bytes.extend_from_slice(&[0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x38]);
        }
        for part in piece.chunks(1 << 16) {
            bytes.extend_from_slice(&(part.len() as u32 * 8).to_le_bytes()[..3]);
            bytes.extend_from_slice(part);
        }
        sent.push(bytes);
    }
    match sent.last_mut() {
        Some(last) => last.extend_from_slice(&[1, 0, 0]),
        None => sent.push(vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x38, 1, 0, 0]),
    }
    sent
}
