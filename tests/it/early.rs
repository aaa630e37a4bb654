//! Clients that leave before the answer is complete.

use std::time::Duration;

use retape::Mode;
use retape::cassette::End;

use crate::stage::{Stage, answer, chunks, only};
use crate::support::client;
use crate::support::gate::Gate;
use crate::support::upstream::{EVENTS, Then, Upstream, json};
use crate::support::wire::{Chunk, Wire};

/// A server that sends a stream of three events and goes on behind the second when it is told to.
fn waiting(go_on: &Gate) -> Upstream {
    let go_on = go_on.clone();
    Upstream::start(move |_, wire| {
        wire.send(EVENTS);
        wire.send_chunk("data: 1\n\n");
        wire.send_chunk("data: [DONE]\n\n");
        go_on.pass();
        wire.send_chunk(": late\n\n");
        wire.send_end();
        Then::KeepAlive
    })
}

/// Asks for the stream, and reads its head.
fn asking(url: &str) -> Wire {
    let mut wire = Wire::connect(client::split(url).0);
    wire.send(client::request("GET", &format!("{url}/stream"), "", ""));
    wire.head().unwrap();
    wire
}

/// Reads that many chunks and leaves.
fn read_and_leave(url: &str, count: usize) {
    let mut wire = asking(url);
    for _ in 0..count {
        wire.data();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_whole_answer_is_recorded_though_the_client_left_at_done() {
    let (stage, left) = (Stage::new(), Gate::new());
    let upstream = waiting(&left);
    let session = stage.record(&upstream).await;

    read_and_leave(&session.url(), 2);
    left.open();
    session.finish().await.unwrap();

    let cassette = stage.cassette();
    assert_eq!(answer(&cassette).end, End::Complete);
    let expected = ["data: 1\n\n", "data: [DONE]\n\n", ": late\n\n"];
    assert_eq!(chunks(answer(&cassette)), expected);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_whole_answer_is_recorded_though_the_client_left_in_its_midst() {
    let (stage, left) = (Stage::new(), Gate::new());
    let upstream = waiting(&left);
    let session = stage.record(&upstream).await;

    read_and_leave(&session.url(), 1);
    left.open();
    session.finish().await.unwrap();

    assert_eq!(answer(&stage.cassette()).end, End::Complete);
    assert_eq!(chunks(answer(&stage.cassette())).len(), 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_came_after_the_client_had_left_waits_for_it_to_leave_again() {
    let (stage, left) = (Stage::new(), Gate::new());
    let upstream = waiting(&left);
    let session = stage.record(&upstream).await;
    read_and_leave(&session.url(), 2);
    // Long enough for retape to see that the client is gone.
    std::thread::sleep(Duration::from_secs(1));
    left.open();
    session.finish().await.unwrap();
    let recorded = answer(&stage.cassette()).clone();
    assert_eq!((recorded.end, recorded.body.chunks().len()), (End::Complete, 3));

    let session = stage.replay().await;
    let mut again = asking(&session.url());
    let heard = [again.data(), again.data()];
    assert_eq!(heard, ["data: 1\n\n", "data: [DONE]\n\n"]);
    assert!(again.is_silent(Duration::from_millis(100)));
    drop(again);
    // One that stays gets all of it.
    let mut other = asking(&session.url());
    assert_eq!(
        std::iter::repeat_with(|| other.chunk()).take(3).last(),
        Some(Chunk::Data(b": late\n\n".to_vec()))
    );
    session.finish().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_goes_on_for_longer_than_the_grace_time_is_cut() {
    let (stage, never) = (Stage::new(), Gate::new());
    let upstream = waiting(&never);
    let session = stage.recorder(&upstream).grace(Duration::from_millis(50)).start().await.unwrap();

    read_and_leave(&session.url(), 2);
    session.finish().await.unwrap();
    never.open();

    assert_eq!(answer(&stage.cassette()).end, End::ClientClosed);
    assert_eq!(chunks(answer(&stage.cassette())), ["data: 1\n\n", "data: [DONE]\n\n"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_hears_soon_that_its_client_has_left() {
    let (stage, left) = (Stage::new(), Gate::new());
    let told = left.clone();
    let upstream = Upstream::start(move |_, wire| {
        wire.send(EVENTS);
        wire.send_chunk("data: 1\n\n");
        wire.wait_for_end();
        told.open();
        Then::Close
    });
    // As long as it is by itself.
    let session = stage.session(Mode::Record).upstream(upstream.url()).start().await.unwrap();

    read_and_leave(&session.url(), 1);

    assert!(!left.is_closed_for(Duration::from_secs(4)), "the server goes on for nobody");
    session.finish().await.unwrap();
    assert_eq!(answer(&stage.cassette()).end, End::ClientClosed);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_answer_to_a_client_that_did_not_wait_for_it_is_recorded() {
    let (stage, asked, left) = (Stage::new(), Gate::new(), Gate::new());
    let (tell, wait) = (asked.clone(), left.clone());
    let upstream = Upstream::start(move |_, wire| {
        tell.open();
        wait.pass();
        wire.send(json(200, "{\"late\":true}"));
        Then::KeepAlive
    });
    let session = stage.record(&upstream).await;

    let mut wire = Wire::connect(session.address());
    wire.send(client::request("GET", &session.url(), "", ""));
    asked.pass();
    drop(wire);
    left.open();
    session.finish().await.unwrap();

    assert_eq!(answer(&stage.cassette()).end, End::Complete);
    assert_eq!(answer(&stage.cassette()).body.bytes(), "{\"late\":true}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_does_not_answer_a_client_that_left_is_waited_for_during_the_grace_time() {
    let (stage, asked, never) = (Stage::new(), Gate::new(), Gate::new());
    let (tell, wait) = (asked.clone(), never.clone());
    let upstream = Upstream::start(move |_, _| {
        tell.open();
        wait.pass();
        Then::Close
    });
    let session = stage.recorder(&upstream).grace(Duration::from_millis(50)).start().await.unwrap();

    let mut wire = Wire::connect(session.address());
    wire.send(client::request("GET", &session.url(), "", ""));
    asked.pass();
    drop(wire);
    session.finish().await.unwrap();
    never.open();

    assert_eq!(only(&stage.cassette()).end(), End::ClientClosed);
}

/// Asks a session, and leaves once the server was asked.
fn ask_and_leave(session: &retape::Session, asked: &Gate) {
    let mut wire = Wire::connect(session.address());
    wire.send(client::request("GET", &session.url(), "", ""));
    asked.pass();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_came_long_after_the_client_left_waits_until_it_leaves_again() {
    let (stage, asked) = (Stage::new(), Gate::new());
    let tell = asked.clone();
    let upstream = Upstream::start(move |_, wire| {
        tell.open();
        // The client leaves meanwhile.
        std::thread::sleep(Duration::from_millis(200));
        wire.send(json(200, "{\"late\":true}"));
        Then::KeepAlive
    });
    let session = stage.record(&upstream).await;
    ask_and_leave(&session, &asked);
    session.finish().await.unwrap();

    let left = answer(&stage.cassette()).left;
    assert!(left.is_some_and(|left| left < 150), "left after {left:?} ms");

    let session = stage.replay().await;
    let mut wire = Wire::connect(session.address());
    wire.send(client::request("GET", &session.url(), "", ""));

    assert!(wire.is_silent(Duration::from_millis(200)));
    // A client that stays gets it later.
    assert_eq!(client::reply(&mut wire, "GET").text(), "{\"late\":true}");
    session.finish().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_fails_once_the_client_has_left_has_not_failed_it() {
    let (stage, asked, left) = (Stage::new(), Gate::new(), Gate::new());
    let (tell, wait) = (asked.clone(), left.clone());
    let upstream = Upstream::start(move |_, wire| {
        tell.open();
        wait.pass();
        // Until retape has seen that its client left.
        wire.is_silent(Duration::from_millis(100));
        Then::Reset
    });
    let session = stage.record(&upstream).await;

    ask_and_leave(&session, &asked);
    left.open();
    session.finish().await.unwrap();

    assert_eq!(only(&stage.cassette()).end(), End::ClientClosed);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_that_never_arrived_whole_is_left_out() {
    let (stage, begun) = (Stage::new(), Gate::new());
    let tell = begun.clone();
    let upstream = Upstream::raw(move |mut wire| {
        if wire.head().is_some() {
            tell.open();
            wire.wait_for_end();
        }
    });
    let session = stage.record(&upstream).await;

    let mut wire = Wire::connect(session.address());
    let fields = "Content-Length: 10\r\nContent-Type: application/octet-stream\r\n";
    wire.send(client::request("POST", &session.url(), fields, ""));
    wire.send("half");
    begun.pass();
    drop(wire);
    let summary = session.finish().await.unwrap();

    assert_eq!(summary.recordings[0].dropped, 1);
    assert_eq!(summary.recordings[0].path, None);
    assert_eq!(stage.files(), [""; 0]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_leaves_does_not_keep_a_passed_through_answer_alive() {
    let (stage, gone) = (Stage::new(), Gate::new());
    let tell = gone.clone();
    let upstream = Upstream::start(move |_, wire| {
        wire.send(EVENTS);
        wire.send_chunk("data: 1\n\n");
        wire.wait_for_end();
        tell.open();
        Then::Close
    });
    let session =
        stage.session(retape::Mode::Passthrough).upstream(upstream.url()).start().await.unwrap();

    read_and_leave(&session.url(), 1);

    gone.pass();
    session.finish().await.unwrap();
}
