//! Servers that do not answer, or not to the end: what the client sees is the same when it is
//! recorded and when it is replayed. Only why there is no answer is told while it is known.

use std::time::Duration;

use insta::assert_snapshot;
use retape::cassette::End;
use retape::{Mode, Saved, Session};

use crate::stage::{Stage, only};
use crate::support::client::{self, Reply, ask, get};
use crate::support::upstream::{Then, Upstream, nobody};
use crate::support::wire::Wire;

/// What a client sees of a server that fails, recorded and then replayed, and how the cassette says
/// that it ended.
async fn check(upstream: &Upstream, silence: Duration, expected: End) -> Reply {
    let stage = Stage::new();
    let session = stage.recorder(upstream).silence(silence).start().await.unwrap();
    let recorded = get(&format!("{}/x", session.url()));
    let name = saved(session).await;
    assert_eq!(only(&stage.cassette_of(&name)).end(), expected);

    let session = stage.replay().await;
    let replayed = get(&format!("{}/x", session.url_of(&name)));
    session.finish().await.unwrap();

    assert_eq!(seen(&replayed), seen(&recorded));
    recorded
}

/// What a client hears of a server that closes the connection before it answers: when it is recorded, and when that
/// is replayed.
async fn heard(upstream: &Upstream) -> [Vec<u8>; 2] {
    let stage = Stage::new();
    let ask = |url: &str| {
        let mut wire = Wire::connect(client::split(url).0);
        wire.send(client::request("GET", url, "", ""));
        wire.rest()
    };
    let session = stage.session(Mode::Record).upstream(upstream.url()).start().await.unwrap();
    let recorded = ask(&session.url());
    let name = saved(session).await;
    assert_eq!(only(&stage.cassette_of(&name)).end(), End::ServerClosed);

    let session = stage.replay().await;
    let replayed = ask(&session.url_of(&name));
    session.finish().await.unwrap();
    [recorded, replayed]
}

/// The name under which the only cassette of a session was saved.
async fn saved(session: Session) -> String {
    let summary = session.stop().await.unwrap();
    let [recording] = &summary.recordings[..] else { panic!("{summary:?}") };
    let file = recording.path.as_ref().unwrap().file_stem().unwrap();
    file.to_str().unwrap().to_owned()
}

fn seen(reply: &Reply) -> (u16, String, bool, Option<&str>) {
    let own = reply.field("retape-error");
    let text = if own.is_none() { reply.text() } else { String::new() };
    (reply.status, text, reply.cut, own)
}

const PATIENT: Duration = Duration::from_secs(60);
const HASTY: Duration = Duration::from_millis(60);

/// A server that answers each request with these bytes and then does that.
fn saying(bytes: &'static str, then: Then) -> Upstream {
    Upstream::start(move |_, wire| {
        wire.send(bytes);
        if then == Then::KeepAlive {
            wire.wait_for_end();
            return Then::Close;
        }
        // What was sent is to arrive before the reset overtakes it.
        wire.wait_for_delivery();
        then
    })
}

fn own(reply: &Reply) -> (u16, &str) {
    (reply.status, reply.field("retape-error").unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_nobody_started() {
    let stage = Stage::new();
    let url = nobody();
    let session = stage.session(Mode::Record).upstream(&url).start().await.unwrap();
    let recorded = get(&session.url());
    let name = saved(session).await;
    let session = stage.replay().await;
    let replayed = get(&session.url_of(&name));
    session.finish().await.unwrap();

    assert_eq!(only(&stage.cassette_of(&name)).end(), End::Unreachable);
    assert_eq!(seen(&replayed), seen(&recorded));
    assert_eq!(own(&recorded), (502, "unreachable"));
    let now = format!("`{url}` cannot be reached: the connection was refused");
    assert!(recorded.text().contains(&now), "{}", recorded.text());
    let then = format!("`{url}` could not be reached when this was recorded");
    assert!(replayed.text().contains(&then), "{}", replayed.text());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_closes_or_resets_before_it_answers() {
    for then in [Then::Close, Then::Reset] {
        let heard = heard(&saying("", then)).await;

        assert_eq!(heard, [Vec::<u8>::new(), Vec::new()], "{then:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_closes_within_the_head() {
    let heard = heard(&saying("HTTP/1.1 200 OK\r\nContent-Le", Then::Close)).await;

    assert_eq!(heard, [Vec::<u8>::new(), Vec::new()]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_does_not_speak_http() {
    let upstream = saying("SSH-2.0-OpenSSH_9.6\r\n\r\n", Then::Close);

    let reply = check(&upstream, PATIENT, End::Unreachable).await;

    assert_eq!(own(&reply), (502, "unreachable"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_says_nothing() {
    let reply = check(&saying("", Then::KeepAlive), HASTY, End::Timeout).await;

    assert_eq!(own(&reply), (504, "timeout"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_with_a_length_that_is_cut() {
    for media in ["text/plain", "application/json", "text/event-stream"] {
        for then in [Then::Close, Then::Reset] {
            let head = format!("HTTP/1.1 200 OK\r\nContent-Type: {media}\r\nContent-Length: 99");
            let bytes: &'static str = format!("{head}\r\n\r\n{{\"a\":").leak();

            let reply = check(&saying(bytes, then), PATIENT, End::ServerClosed).await;

            assert_eq!((reply.text().as_str(), reply.cut), ("{\"a\":", true), "{media} {then:?}");
            // Where addresses may be replaced, one that does not come at once goes on in chunks.
            let told = reply.field("content-length").or((media != "text/plain").then_some("99"));
            assert_eq!(told, Some("99"), "{media} {then:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_that_is_cut_is_no_whole_one_though_addresses_in_it_are_longer() {
    let upstream = Upstream::start(|asked, wire| {
        let here = format!("http://{}", asked.head.field("host").unwrap());
        let body = format!("[{}", format!("\"{here}\",").repeat(9));
        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";
        wire.send(format!("{head}Content-Length: {}\r\n\r\n{body}", body.len() + 3));
        Then::Close
    });

    let stage = Stage::new();
    let session = stage.record(&upstream).await;
    // What stands behind the address makes it longer.
    let reply = get(&format!("{}/tape/-/x", session.url()));
    saved(session).await;

    assert!(reply.text().contains("/tape/-"), "{reply:?}");
    assert!(reply.cut, "{reply:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_chunked_body_that_is_cut() {
    for media in ["text/plain", "application/json", "text/event-stream"] {
        for then in [Then::Close, Then::Reset] {
            let head = format!("HTTP/1.1 200 OK\r\nContent-Type: {media}\r\n");
            let head = format!("{head}Transfer-Encoding: chunked\r\n\r\n");
            let bytes: &'static str =
                format!("{head}9\r\ndata: 1\n\n\r\n9\r\ndata: 2\n\n\r\n9\r\nda").leak();

            let reply = check(&saying(bytes, then), PATIENT, End::ServerClosed).await;

            let expected = ("data: 1\n\ndata: 2\n\nda", true);
            assert_eq!((reply.text().as_str(), reply.cut), expected, "{media} {then:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_chunked_body_that_is_not_chunked_as_it_should_be() {
    let bytes = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\nnonsense\r\n";

    let reply = check(&saying(bytes, Then::Close), PATIENT, End::ServerClosed).await;

    assert_eq!((reply.text().as_str(), reply.cut), ("ok", true));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_that_goes_silent() {
    let bytes = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\
        Transfer-Encoding: chunked\r\n\r\n9\r\ndata: 1\n\n\r\n";

    let reply = check(&saying(bytes, Then::KeepAlive), HASTY, End::Timeout).await;

    assert_eq!((reply.text().as_str(), reply.cut), ("data: 1\n\n", true));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_recorder_may_be_patient_without_end() {
    let (stage, upstream) = (Stage::new(), Upstream::json(|_| "[1]".to_owned()));
    let session = stage.recorder(&upstream).silence(Duration::MAX).grace(Duration::MAX);
    let session = session.start().await.unwrap();

    let answer = get(&session.url());
    let summary = session.finish().await.unwrap();

    assert_eq!((answer.text().as_str(), summary.recordings[0].answered), ("[1]", 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_to_be_sent_to_a_server_that_is_not_there_is_recorded() {
    let large = format!("[\"{}\"]", "x".repeat(300_000));
    for (media, body) in
        [("application/json", "{\"a\":1}"), ("text/x-any", "any"), ("application/json", &large)]
    {
        let stage = Stage::new();
        let session = stage.session(Mode::Record).upstream(nobody()).start().await.unwrap();
        let fields = format!("Content-Type: {media}\r\n");
        let recorded = ask("POST", &session.url(), &fields, body);
        let name = saved(session).await;
        let session = stage.replay().await;
        let replayed = ask("POST", &session.url_of(&name), &fields, body);
        session.finish().await.unwrap();

        let cassette = stage.cassette_of(&name);
        assert_eq!(only(&cassette).end(), End::Unreachable, "{media}");
        assert_eq!(only(&cassette).request.body, body, "{media}");
        assert_eq!(own(&recorded), (502, "unreachable"), "{media}");
        assert_eq!(seen(&replayed), seen(&recorded), "{media}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_that_comes_in_pieces_is_read_to_its_end_though_nobody_is_there() {
    let stage = Stage::new();
    let session = stage.session(Mode::Record).upstream(nobody()).start().await.unwrap();

    let mut wire = Wire::connect(session.address());
    wire.send(client::request("POST", &session.url(), "Transfer-Encoding: chunked\r\n", ""));
    wire.send_chunk("one ");
    assert!(wire.is_silent(Duration::from_millis(50)), "it was answered before it had asked");
    wire.send_chunk("two");
    wire.send_end();
    let reply = client::reply(&mut wire, "POST");
    let name = saved(session).await;

    assert_eq!(own(&reply), (502, "unreachable"));
    assert_eq!(only(&stage.cassette_of(&name)).request.body, "one two");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_that_stops_coming_is_not_waited_for_longer_than_the_grace_time() {
    let stage = Stage::new();
    let session = stage.session(Mode::Record).upstream(nobody());
    let session = session.grace(Duration::from_millis(50)).start().await.unwrap();

    let mut wire = Wire::connect(session.address());
    wire.send(client::request("POST", &session.url(), "Content-Length: 9\r\n", ""));
    wire.send("half");
    let reply = client::reply(&mut wire, "POST");
    let summary = session.stop().await.unwrap();

    assert_eq!(own(&reply), (502, "unreachable"));
    assert_eq!(summary.recordings[0].dropped, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_is_recorded_whole_though_the_server_resets_in_its_midst() {
    let stage = Stage::new();
    let upstream = Upstream::raw(|mut wire| {
        wire.head();
        wire.reset();
    });
    let session = stage.record(&upstream).await;

    let mut wire = Wire::connect(session.address());
    wire.send(client::request("POST", &session.url(), "Transfer-Encoding: chunked\r\n", ""));
    for _ in 0..100 {
        wire.send_chunk("x".repeat(10_000));
    }
    wire.send_end();
    let heard = wire.rest();
    let name = saved(session).await;

    assert!(heard.is_empty(), "{heard:?}");
    assert_eq!(only(&stage.cassette_of(&name)).request.body.len(), 1_000_000);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_is_recorded_whole_though_the_server_answers_in_its_midst() {
    let stage = Stage::new();
    let upstream = Upstream::raw(|mut wire| {
        wire.head();
        wire.send("HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 3\r\n\r\nbig");
        wire.close();
        wire.wait_for_end();
    });
    let session = stage.record(&upstream).await;

    let mut wire = Wire::connect(session.address());
    wire.send(client::request("POST", &session.url(), "Transfer-Encoding: chunked\r\n", ""));
    wire.send_chunk("one ");
    let reply = client::reply(&mut wire, "POST");
    wire.send_chunk("two");
    wire.send_end();
    session.finish().await.unwrap();

    assert_eq!((reply.status, reply.text().as_str()), (413, "big"));
    let cassette = stage.cassette();
    assert_eq!(only(&cassette).request.body, "one two");
    assert_eq!(only(&cassette).end(), End::Complete);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_recording_without_a_single_answer_is_no_cassette_to_be_replayed() {
    let (stage, there) = (Stage::new(), Upstream::json(|_| "[1]".to_owned()));

    let session = stage.session(Mode::Once).upstream(nobody()).start().await.unwrap();
    assert_eq!(get(&session.url()).status, 502);
    let summary = session.stop().await.unwrap();
    let told = format!("{:?}", summary.clone().checked().unwrap_err());
    let session = stage.session(Mode::Once).upstream(there.url()).start().await.unwrap();
    let answer = get(&session.url());
    session.finish().await.unwrap();

    assert_eq!(summary.recordings[0].saved, Saved::Unanswered);
    assert_eq!((answer.status, answer.text().as_str()), (200, "[1]"));
    assert_eq!(stage.files(), ["tape.json", "tape.unanswered.json"]);
    let told = told.replace(&stage.folder().display().to_string(), "FOLDER");
    let told = told.replace(&summary.recordings[0].fault.clone().unwrap(), "WHY");
    assert_snapshot!(told, @r"
    the server did not answer a single request
    hint: WHY; what was asked is kept as `tape.unanswered` (`FOLDER/tape.unanswered.json`)
    ");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_recording_without_a_single_answer_leaves_the_cassette_that_is_there() {
    let (stage, there) = (Stage::new(), Upstream::json(|_| "[1]".to_owned()));
    let session = stage.record(&there).await;
    get(&format!("{}/1", session.url()));
    session.finish().await.unwrap();
    let before = stage.file("tape.json");

    for (mode, paths) in [(Mode::Record, vec!["/2"]), (Mode::NewEpisodes, vec!["/1", "/2"])] {
        let session = stage.session(mode).upstream(nobody()).start().await.unwrap();
        get(&format!("{}/2", session.url()));
        let name = saved(session).await;

        assert_eq!(name, "tape.unanswered");
        assert_eq!(stage.file("tape.json"), before, "{mode}");
        let kept = stage.cassette_of(&name).interactions;
        assert_eq!(kept.iter().map(|it| it.request.path.as_str()).collect::<Vec<_>>(), paths);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_kept_beside_a_cassette_is_played_and_never_recorded() {
    const NAME: &str = "tape.unanswered";
    let (stage, there) = (Stage::new(), Upstream::json(|_| "[1]".to_owned()));
    let of =
        |mode, at: String| Session::builder(NAME).cassettes(stage.folder()).mode(mode).upstream(at);
    for mode in [Mode::Record, Mode::NewEpisodes, Mode::Once] {
        let refused = of(mode, there.url()).start().await.unwrap_err();

        assert_eq!(refused.hint(), Some("record it as `tape`"), "{mode}: {refused}");
    }
    let session = stage.record(&there).await;
    let refused = get(&format!("{}/1", session.url_of(NAME)));
    assert!(refused.text().contains("it is what is kept beside a cassette"), "{refused:?}");
    session.stop().await.unwrap_err();
    let session = stage.session(Mode::Record).upstream(nobody()).start().await.unwrap();
    get(&format!("{}/1", session.url()));
    saved(session).await;

    let session = of(Mode::Once, there.url()).start().await.unwrap();
    get(&format!("{}/1", session.url()));

    session.finish().await.unwrap();
    assert_eq!(there.asked().len(), 0);
}
