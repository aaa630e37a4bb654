//! The chunks in which a server cuts an answer: to some clients each is a message.

use crate::stage::{self, Stage, answer};
use crate::support::client;
use crate::support::upstream::{Then, Upstream};
use crate::support::wire::{Chunk, Wire};

/// More than is read at once, and more than is held.
const SIZES: [usize; 5] = [1, 20_000, 3, 400_000, 3_000_000];

/// A server whose chunks come in two parts each.
fn server() -> Upstream {
    Upstream::start(|_, wire| {
        wire.send(
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n",
        );
        for size in SIZES {
            let (first, rest) = (size / 2, size - size / 2);
            wire.send(format!("{size:x}\r\n{}", "x".repeat(first)));
            wire.wait_for_delivery();
            wire.send(format!("{}\r\n", "y".repeat(rest)));
        }
        wire.send_end();
        Then::KeepAlive
    })
}

/// How long the chunks are in which a client gets the answer.
fn chunks(url: &str) -> Vec<usize> {
    let mut wire = Wire::connect(client::split(url).0);
    wire.send(client::request("GET", url, "", ""));
    wire.head().unwrap();
    let data = std::iter::from_fn(|| match wire.chunk() {
        Chunk::Data(data) => Some(data.len()),
        _ => None,
    });
    data.collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_chunk_is_passed_on_recorded_and_replayed_as_one() {
    let (stage, server) = (Stage::new(), server());
    let session = stage.record(&server).await;
    let recorded = chunks(&session.url());
    session.finish().await.unwrap();
    let held = SIZES.iter().filter(|size| **size <= 1 << 20).count();
    assert_eq!(recorded[..held], SIZES[..held]);
    assert_eq!(recorded.iter().sum::<usize>(), SIZES.iter().sum::<usize>());

    let kept: Vec<usize> =
        stage::chunks(answer(&stage.cassette())).iter().map(String::len).collect();
    assert_eq!(kept, recorded);
    let session = stage.replay().await;
    assert_eq!(chunks(&session.url()), recorded);
}
