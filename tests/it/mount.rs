//! A cassette on a mock server.

use std::io::Write as _;

use insta::assert_snapshot;
use retape::cassette::{Body, Chunk, End, Headers, Interaction, Outcome, Request, Response};
use retape::redact::Redactor;
use retape::{Cassette, Name, mount, store};
use wiremock::matchers::path;
use wiremock::{Mock, MockServer, ResponseTemplate};

use crate::support::client::{ask, get, post};

fn asked(method: &str, path: &str, body: &'static str) -> Request {
    let headers = Headers::from_iter([("content-type", "application/json")]);
    Request { headers, body: body.into(), ..Request::of(method, path) }
}

fn answered(status: u16, body: &'static str) -> Response {
    Response {
        ms: 1,
        headers: [
            ("content-type", "application/json"),
            ("set-cookie", "a=1"),
            ("set-cookie", "b=2"),
        ]
        .into_iter()
        .collect(),
        body: Body::Whole(body.into()),
        ..Response::of(status)
    }
}

fn interaction(request: Request, outcome: Outcome) -> Interaction {
    Interaction { after: Vec::new(), request, outcome }
}

struct Saved {
    folder: tempfile::TempDir,
}

impl Saved {
    fn new(interactions: Vec<Interaction>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let cassette = Cassette { interactions, ..Cassette::default() };
        let cassette = Redactor::standard().cassette(cassette);
        store::save(folder.path(), &Name::new("tape").unwrap(), &cassette).unwrap();
        Self { folder }
    }

    fn file(&self) -> std::path::PathBuf {
        self.folder.path().join("tape.json")
    }

    async fn refusal(&self) -> String {
        let error = mount(&MockServer::start().await, self.file()).await.unwrap_err();
        format!("{error:?}").replace(&self.folder.path().display().to_string(), "FOLDER")
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn recorded_answers_come_in_order_behind_the_mocks_of_the_test() {
    let saved = Saved::new(vec![
        interaction(asked("GET", "/v1/run?x=1", ""), Outcome::Response(answered(200, "[1]"))),
        interaction(asked("GET", "/v1/run?x=1", ""), Outcome::Response(answered(404, "[2]"))),
        interaction(
            asked("POST", "/v1/run", r#"{"a":1,"b":2}"#),
            Outcome::Response(answered(201, "")),
        ),
    ]);
    let server = MockServer::start().await;
    let own = ResponseTemplate::new(204);
    Mock::given(path("/own")).respond_with(own).mount(&server).await;
    let mounted = mount(&server, saved.file()).await.unwrap();

    let url = server.uri();
    let first = get(&format!("{url}/v1/run?x=1"));
    let second = get(&format!("{url}/v1/run?x=1"));
    let posted = post(&format!("{url}/v1/run"), r#"{"b": 2, "a": 1.0}"#);
    let own = get(&format!("{url}/own"));

    assert_eq!((first.status, first.text().as_str()), (200, "[1]"));
    assert_eq!((second.status, second.text().as_str()), (404, "[2]"));
    assert_eq!((posted.status, own.status), (201, 204));
    let cookies: Vec<_> =
        first.head.fields.iter().filter(|(name, _)| name == "set-cookie").collect();
    assert_eq!(cookies.len(), 2, "{:?}", first.head.fields);
    assert_eq!(mounted.misses(), [""; 0]);
    mounted.finish().unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_miss_cannot_be_overlooked() {
    let recorded = asked("POST", "/v1/run", r#"{"word": "yes"}"#);
    let saved = Saved::new(vec![interaction(recorded, Outcome::Response(answered(200, "[]")))]);
    let server = MockServer::start().await;
    let mounted = mount(&server, saved.file()).await.unwrap();

    let missed = ask(
        "POST",
        &format!("{}/v1/run", server.uri()),
        "Content-Type: application/json\r\n",
        r#"{"word": "no"}"#,
    );

    assert_eq!(missed.status, 470);
    assert_eq!(missed.field("retape-error"), Some("miss"));
    assert!(missed.text().contains("  /word\n    - \"yes\"\n    + \"no\"\n"), "{}", missed.text());
    assert!(mounted.finish().unwrap_err().is_miss());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_miss_names_the_cassette_and_how_a_test_records_it() {
    let recorded = interaction(asked("GET", "/v1/run", ""), Outcome::Response(answered(200, "[]")));
    let saved = Saved::new(vec![recorded]);
    let folder = saved.folder.path().join("cassettes/sdk");
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("agents_are_created.json");
    std::fs::rename(saved.file(), &file).unwrap();
    let server = MockServer::start().await;
    let mounted = mount(&server, &file).await.unwrap();

    let told = get(&format!("{}/v1/stop", server.uri())).text();

    assert!(
        told.starts_with("`sdk/agents_are_created` (1 interaction) has no answer to"),
        "{told}"
    );
    assert!(told.ends_with("\n  RETAPE_MODE=record RETAPE_UPSTREAM=URL cargo test"), "{told}");
    assert!(mounted.finish().is_err());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cassette_that_needs_more_than_a_mock_server_can_do_is_refused() {
    let chunk = |ms| Chunk { ms, bytes: "data: 1\n\n".into() };
    let streamed = Response { body: Body::Stream(vec![chunk(1), chunk(2)]), ..answered(200, "") };
    let cut = Response { end: End::ServerClosed, ..answered(200, "[1") };
    let refusal = async |outcome| {
        let whole = Outcome::Response(answered(200, "[]"));
        let interactions = vec![
            interaction(asked("GET", "/a", ""), whole),
            interaction(asked("GET", "/b", ""), outcome),
        ];
        Saved::new(interactions).refusal().await
    };

    assert_snapshot!(refusal(Outcome::Response(streamed)).await, @r"
    a mock server cannot stream an answer (`FOLDER/tape.json`) in interaction 2
    hint: serve this cassette with `retape::Session`, whose server does that
    ");
    assert_snapshot!(refusal(Outcome::Response(cut)).await, @r"
    a mock server cannot cut an answer short (`FOLDER/tape.json`) in interaction 2
    hint: serve this cassette with `retape::Session`, whose server does that
    ");
    assert_snapshot!(refusal(Outcome::Nothing(End::Timeout)).await, @r"
    a mock server cannot leave a request without an answer (`FOLDER/tape.json`) in interaction 2
    hint: serve this cassette with `retape::Session`, whose server does that
    ");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_recorded_servers_address_is_the_mock_servers() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tape.json");
    let tape = r#"{
        "retape": 1,
        "recorded": {"upstream": "http://live:1"},
        "interactions": [{
            "request": {"method": "GET", "path": "/"},
            "response": {
                "ms": 1,
                "status": 302,
                "headers": {"content-type": "application/json", "location": "http://live:1/2", "no name": "1"},
                "json": {"next": "http://live:1/2"},
                "end": "complete"
            }
        }]
    }"#;
    std::fs::write(&file, tape).unwrap();
    let server = MockServer::start().await;
    let mounted = mount(&server, &file).await.unwrap();

    let answer = get(&server.uri());

    assert_eq!(answer.field("location"), Some(&*format!("{}/2", server.uri())));
    assert_eq!(answer.text(), format!(r#"{{"next":"{}/2"}}"#, server.uri()));
    assert_eq!(answer.field("content-type"), Some("application/json"));
    mounted.finish().unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_status_that_http_does_not_have_is_refused() {
    let recorded = interaction(asked("GET", "/", ""), Outcome::Response(answered(7, "[]")));
    let server = MockServer::start().await;
    let refused = mount(&server, Saved::new(vec![recorded]).file()).await.unwrap_err().to_string();

    assert!(refused.contains("`status` is no status code: 100 to 999"), "{refused}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_clients_own_secret_comes_back_and_what_it_does_not_take_is_not_compressed() {
    let key = |seed: &str| ["sk", "-", &seed.repeat(8)].concat();
    let said = format!(r#"{{"token": "{}"}}"#, key("a1b2c3"));
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(said.as_bytes()).unwrap();
    let mut request = asked("GET", "/me", "");
    request.headers.append("authorization", format!("Bearer {}", key("a1b2c3")));
    let mut response = answered(200, "");
    response.headers.append("content-encoding", "gzip");
    response.body = Body::Whole(encoder.finish().unwrap().into());
    let saved = Saved::new(vec![interaction(request, Outcome::Response(response))]);
    let server = MockServer::start().await;
    let mounted = mount(&server, saved.file()).await.unwrap();

    let fields =
        format!("Authorization: Bearer {}\r\nAccept-Encoding: identity\r\n", key("d4e5f6"));
    let answer = ask("GET", &format!("{}/me", server.uri()), &fields, "");

    assert_eq!(answer.text(), format!(r#"{{"token": "{}"}}"#, key("d4e5f6")));
    assert_eq!(answer.field("content-encoding"), None);
    mounted.finish().unwrap();
}
