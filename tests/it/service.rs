//! A session in the client's own process.

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use retape::session::Service;
use retape::{Mode, Session};
use serde_json::json;
use tower_service::Service as _;

use crate::stage::{self, Stage};
use crate::support::client::post;
use crate::support::upstream::{Asked, Upstream};

async fn ask(service: &mut Service, url: &str, body: &'static str) -> (u16, String) {
    let request = http::Request::post(url).header("content-type", "application/json");
    let answer = service.call(request.body(Full::<Bytes>::from(body)).unwrap()).await.unwrap();
    let status = answer.status().as_u16();
    let body = answer.into_body().collect().await.unwrap().to_bytes();
    (status, String::from_utf8(body.to_vec()).unwrap())
}

#[tokio::test]
async fn a_client_in_the_process_is_recorded_and_replayed_under_the_servers_own_name() {
    let stage = Stage::new();
    let live = Upstream::json(|asked| String::from_utf8(asked.body.clone()).unwrap());
    let url = live.url();

    for mode in [Mode::Record, Mode::Replay] {
        let session = stage.session(mode).upstream(&url).start().await.unwrap();

        let answer = ask(&mut session.service(), &format!("{url}/v1/echo"), r#"{"a":1}"#).await;

        assert_eq!(answer, (200, r#"{"a":1}"#.to_owned()), "{mode}");
        session.finish().await.unwrap();
    }
    assert_eq!(live.asked().len(), 1);
    assert_eq!(stage::only(&stage.cassette()).request.path, "/v1/echo");
}

#[tokio::test]
async fn who_asks_is_no_part_of_the_servers_address() {
    let stage = Stage::new();
    let live = Upstream::json(|_| "1".to_owned());
    let session = stage.session(Mode::Record).upstream(live.url()).start().await.unwrap();
    let url = live.url().replace("http://", "http://user:word@");

    let answer = ask(&mut session.service(), &format!("{url}/v1/echo"), "2").await;

    assert_eq!(answer.0, 200);
    session.finish().await.unwrap();
    assert_eq!(stage::only(&stage.cassette()).request.path, "/v1/echo");
}

#[tokio::test]
async fn the_address_of_a_replay_need_not_be_the_one_that_was_recorded() {
    let session = Session::builder("openai/rest").mode(Mode::Replay).start().await.unwrap();
    let request = http::Request::get("https://api.example.com/v1/models");

    let answer =
        session.service().call(request.body(Full::<Bytes>::from("")).unwrap()).await.unwrap();

    assert_eq!(answer.status(), 200);
    session.finish().await.unwrap();
}

#[tokio::test]
async fn each_server_gets_what_is_asked_of_it() {
    let stage = Stage::new();
    let (agents, models) =
        (Upstream::json(|_| "[1]".to_owned()), Upstream::json(|_| "[2]".to_owned()));
    let urls = [agents.url(), models.url()];

    for mode in [Mode::Record, Mode::Replay] {
        let mut settings = stage.session(mode);
        if mode == Mode::Record {
            settings = settings.upstream(&urls[0]).named_upstream("models", &urls[1]);
        }
        let session = settings.start().await.unwrap();

        for (url, expected) in urls.iter().zip(["[1]", "[2]"]) {
            let answer = ask(&mut session.service(), &format!("{url}/v1"), "{}").await;
            assert_eq!(answer, (200, expected.to_owned()), "{mode}");
        }
        session.finish().await.unwrap();
    }
}

#[tokio::test]
async fn a_miss_is_told_as_over_a_port() {
    let stage = Stage::with(&[json!({
        "request": {"method": "POST", "path": "/v1", "json": {"a": 1}},
        "response": {"ms": 0, "status": 200, "json": [1], "end": "complete"},
    })]);
    let session = stage.session(Mode::Replay).start().await.unwrap();

    let (status, told) = ask(&mut session.service(), "http://agents.test/v1", r#"{"a":2}"#).await;

    assert_eq!(status, 470);
    assert!(told.contains("/a"), "{told}");
    session.finish().await.unwrap_err();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_function_changes_what_is_compared_and_nothing_else() {
    let stage = Stage::new();
    let upstream = Upstream::json(|asked: &Asked| format!("{:?}", asked.path()));
    let session = |mode| {
        let session = stage.session(mode).upstream(upstream.url());
        session.compare_as(|request| {
            request.path = request.path.replace("/eu/", "/any/").replace("/us/", "/any/")
        })
    };
    let url = upstream.url();
    let recorder = session(Mode::Record).start().await.unwrap();
    ask(&mut recorder.service(), &format!("{url}/eu/things"), "").await;
    recorder.finish().await.unwrap();

    let extended = session(Mode::NewEpisodes).start().await.unwrap();
    let known = ask(&mut extended.service(), &format!("{url}/us/things"), "").await;
    let new = ask(&mut extended.service(), &format!("{url}/us/others"), "").await;
    extended.finish().await.unwrap();
    let replay = session(Mode::Replay).start().await.unwrap();
    let over_a_port = post(&format!("{}/eu/others", replay.url()), "").text();
    let missed = ask(&mut replay.service(), &format!("{url}/us/none"), "").await.0;
    replay.stop().await.unwrap();

    assert_eq!((known.1.as_str(), new.1.as_str()), ("\"/eu/things\"", "\"/us/others\""));
    assert_eq!((over_a_port.as_str(), missed), ("\"/us/others\"", 470));
    let kept: Vec<_> =
        stage.cassette().interactions.into_iter().map(|it| it.request.path).collect();
    assert_eq!(kept, ["/eu/things", "/us/others"]);
}
