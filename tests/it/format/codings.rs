use retape::cassette::coding::{Live, decode_whole};

use super::compress;

const CODINGS: [&str; 5] = ["gzip", "deflate", "bare deflate", "br", "zstd"];

/// The header value for a way to compress.
fn named(coding: &str) -> &str {
    coding.trim_start_matches("bare ")
}

#[test]
fn whole_bodies_are_decoded() {
    let long = "data: {\"a\":1}\n\n".repeat(20_000);
    for coding in CODINGS {
        for body in ["", "a", "{\"a\":1}", &long] {
            let sent = compress::whole(coding, body.as_bytes());

            let decoded = decode_whole(named(coding), &sent);

            assert_eq!(decoded.as_deref(), Some(body.as_bytes()), "{coding} {}", body.len());
        }
    }
}

#[test]
fn every_piece_is_readable_when_it_has_come() {
    let pieces: Vec<String> = (0..50).map(|n| format!("data: {{\"n\":{n}}}\n\n")).collect();
    let pieces: Vec<&[u8]> = pieces.iter().map(String::as_bytes).collect();
    for coding in CODINGS {
        let mut live = Live::new(named(coding)).unwrap();

        let shown: Vec<Vec<u8>> =
            compress::pieces(coding, &pieces).iter().map(|sent| live.push(sent)).collect();

        assert_eq!(shown, pieces, "{coding}");
        assert_eq!(live.finish().as_deref(), Some(&b""[..]), "{coding}");
    }
}

#[test]
fn a_body_cut_at_any_byte_is_read_so_far_and_is_not_whole() {
    let pieces: [&[u8]; 3] = [b"data: one\n\n", b"data: two\n\n", b"data: three\n\n"];
    let all = pieces.concat();
    for coding in CODINGS {
        let sent = compress::pieces(coding, &pieces).concat();
        for length in 0..sent.len() {
            let mut live = Live::new(named(coding)).unwrap();

            let shown: Vec<u8> =
                sent[..length].iter().flat_map(|byte| live.push(&[*byte])).collect();

            assert!(all.starts_with(&shown), "{coding} {length}");
            assert!(!live.is_damaged(), "{coding} {length}");
            assert_eq!(live.finish(), None, "{coding} {length}");
            assert_eq!(decode_whole(named(coding), &sent[..length]), None, "{coding} {length}");
        }
    }
}

#[test]
fn what_follows_the_end_is_damage() {
    for coding in CODINGS {
        let mut sent = compress::whole(coding, b"hello");
        sent.extend_from_slice(b"!more!");

        assert_eq!(decode_whole(named(coding), &sent), None, "{coding}");
    }
}

#[test]
fn damage_never_panics_and_shows_nothing_more() {
    let body = "data: {\"a\":1}\n\n".repeat(50);
    for coding in CODINGS {
        let sent = compress::whole(coding, body.as_bytes());
        for at in 0..sent.len() {
            let mut sent = sent.clone();
            sent[at] ^= 0x55;
            let mut live = Live::new(named(coding)).unwrap();

            live.push(&sent);
            let damaged = live.is_damaged();
            let after = live.push(b"more");

            assert!(!damaged || after.is_empty(), "{coding} {at}");
            let _ = live.finish();
        }
    }
}

#[test]
fn several_gzip_members_and_zstd_frames_are_one_body() {
    for coding in ["gzip", "zstd"] {
        let sent = [compress::whole(coding, b"one, "), compress::whole(coding, b"two")].concat();

        assert_eq!(decode_whole(coding, &sent).as_deref(), Some(&b"one, two"[..]), "{coding}");
    }
}

#[test]
fn brotli_of_an_ordinary_encoder_is_decoded() {
    let sent = [0x8f, 0x02, 0x80, 0x68, 0x65, 0x6c, 0x6c, 0x6f, 0x0a, 0x03];

    assert_eq!(decode_whole("br", &sent).as_deref(), Some(&b"hello\n"[..]));
}

#[test]
fn a_wrong_checksum_is_damage() {
    // `hello`, with a checksum at the end that is right or wrong.
    let zstd = b"\x28\xb5\x2f\xfd\x04\x58\x29\x00\x00hello";
    let zstd = |sum: u8| [&zstd[..], &[sum, 0x6d, 0x9f, 0x88]].concat();
    let mut gzip = compress::whole("gzip", b"hello");

    assert_eq!(decode_whole("gzip", &gzip).as_deref(), Some(&b"hello"[..]));
    let sum = gzip.len() - 8;
    gzip[sum] ^= 1;
    assert_eq!(decode_whole("gzip", &gzip), None);
    assert_eq!(decode_whole("zstd", &zstd(0xa3)).as_deref(), Some(&b"hello"[..]));
    assert_eq!(decode_whole("zstd", &zstd(0xa2)), None);
}

#[test]
fn a_bomb_is_not_decoded() {
    let mut bomb = compress::whole("gzip", &vec![0; 64 << 20]);
    for _ in 0..3 {
        bomb.extend_from_within(..);
    }

    assert_eq!(decode_whole("gzip", &bomb), None);
}

#[test]
fn unknown_and_stacked_codings_are_left_alone() {
    for coding in ["identity", "compress", "gzip, br", "", "dcb"] {
        assert!(Live::new(coding).is_none(), "{coding}");
        assert_eq!(decode_whole(coding, b"anything"), None, "{coding}");
    }
    assert!(Live::new(" GZip ").is_some());
    assert!(Live::new("x-gzip").is_some());
}
