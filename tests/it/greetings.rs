//! What a server says over a WebSocket before its client does, where two clients come at once.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, mpsc};

use retape::Mode;

use crate::stage::Stage;
use crate::support::socket::{Socket, Sockets};

/// A server that tells the second client of the first one before either is heard, and what both clients say to it:
/// each of them has spoken without having heard of another one, or has waited for that.
async fn recorded() -> Stage {
    let count = AtomicUsize::new(0);
    let (say, heard) = mpsc::channel();
    let (say, heard) = (Mutex::new(say), Mutex::new(heard));
    let server = Sockets::start(move |socket| {
        // Before the first one is welcomed, after which the second one comes.
        let is_second = count.fetch_add(1, Ordering::SeqCst) == 1;
        socket.send("welcome");
        if is_second {
            heard.lock().unwrap().recv().unwrap();
            socket.send("somebody is here");
        }
        while let Ok(text) = socket.read() {
            say.lock().unwrap().send(()).unwrap();
            socket.send(&text.to_uppercase());
        }
    });
    let stage = Stage::new();
    let session = stage.session(Mode::Record).upstream(server.url()).start().await.unwrap();
    let [mut ann, mut bob] = [0, 1].map(|_| welcomed(&session.url()));
    assert_eq!(ann.ask("ann"), "ANN");
    assert_eq!(bob.read().unwrap(), "somebody is here");
    assert_eq!(bob.ask("bob"), "BOB");
    drop((ann, bob));
    session.finish().await.unwrap();
    stage
}

fn welcomed(url: &str) -> Socket {
    let mut socket = Socket::open(&format!("{url}/ws"));
    assert_eq!(socket.read().unwrap(), "welcome");
    socket
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_client_that_heard_more_before_it_spoke_may_come_first() {
    let stage = recorded().await;

    let session = stage.replay().await;
    let [mut bob, mut ann] = [0, 1].map(|_| welcomed(&session.url()));
    let heard = [bob.ask("bob"), bob.read().unwrap(), ann.ask("ann")];
    session.finish().await.unwrap().all_played().unwrap();

    assert_eq!(heard, ["somebody is here", "BOB", "ANN"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_client_that_heard_less_may_come_second_and_speak_first() {
    let stage = recorded().await;

    let session = stage.replay().await;
    let [mut bob, mut ann] = [0, 1].map(|_| welcomed(&session.url()));
    let heard = [ann.ask("ann"), bob.read().unwrap(), bob.ask("bob")];
    session.finish().await.unwrap().all_played().unwrap();

    assert_eq!(heard, ["ANN", "somebody is here", "BOB"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_waits_for_more_before_it_speaks_gets_it() {
    let stage = recorded().await;

    let session = stage.replay().await;
    let [mut ann, mut bob] = [0, 1].map(|_| welcomed(&session.url()));
    let heard = [bob.read().unwrap(), bob.ask("bob"), ann.ask("ann")];
    session.finish().await.unwrap().all_played().unwrap();

    assert_eq!(heard, ["somebody is here", "BOB", "ANN"]);
}

/// It is behind what another one has asked, so it stands in no answer to the client that hears it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_server_said_of_itself_holds_up_nobody_who_comes_later() {
    let (say, heard) = mpsc::channel();
    let (say, heard) = (Mutex::new(say), Mutex::new(heard));
    let server = Sockets::start(move |socket| {
        assert_eq!(socket.read().unwrap(), "hello");
        socket.send("hello");
        match &*socket.read().unwrap() {
            "listen" => socket.send(heard.lock().unwrap().recv().unwrap()),
            "tell" => say.lock().unwrap().send("told").unwrap(),
            text => socket.send(&text.to_uppercase()),
        }
    });
    let greeted = |url: &str| {
        let mut socket = Socket::open(&format!("{url}/ws"));
        assert_eq!(socket.ask("hello"), "hello");
        socket
    };
    let three = |url: &str| {
        let mut ann = greeted(url);
        ann.send("listen");
        greeted(url).send("tell");
        assert_eq!(ann.read().unwrap(), "told");
        drop(ann);
        assert_eq!(greeted(url).ask("carol"), "CAROL");
    };
    let stage = Stage::new();
    let session = stage.session(Mode::Record).upstream(server.url()).start().await.unwrap();
    three(&session.url());
    session.finish().await.unwrap();

    let session = stage.replay().await;
    three(&session.url());
    session.finish().await.unwrap().all_played().unwrap();
}
