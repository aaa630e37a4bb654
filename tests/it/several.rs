//! Several servers in one cassette.

use retape::review::report::{ShowOptions, show};
use retape::{Mode, Session};

use crate::stage::Stage;
use crate::support::client::{get, post, reply};
use crate::support::upstream::{Then, Upstream, json};
use crate::support::wire::Wire;

/// An agent server, and a model provider that says another thing at the same path.
struct Servers {
    agent: Upstream,
    model: Upstream,
}

impl Servers {
    fn start() -> Self {
        let named = |name: &'static str| {
            Upstream::json(move |asked| {
                let here = asked.head.field("host").unwrap();
                format!("{{\"by\":\"{name}\",\"next\":\"http://{here}/v1/next\"}}")
            })
        };
        Self { agent: named("agent"), model: named("model") }
    }

    async fn record(&self, stage: &Stage) -> Session {
        let session = stage.recorder(&self.agent).named_upstream("openai", self.model.url());
        session.start().await.unwrap()
    }

    /// A cassette in which both were asked the same.
    async fn recorded(&self, stage: &Stage) {
        let session = self.record(stage).await;
        get(&format!("{}/v1/models", session.url()));
        get(&format!("{}/-openai/v1/models", session.url()));
        session.finish().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_is_named_by_the_path_where_the_host_names_the_cassette() {
    let (stage, servers) = (Stage::new(), Servers::start());
    let talk = |session: &Session| {
        for below in ["localhost", "LOCALHOST"] {
            let host = format!("hello.{below}:{}", session.address().port());
            let mut wire = Wire::connect(session.address());
            wire.send(format!("GET /-openai/v1/models HTTP/1.1\r\nHost: {host}\r\n\r\n"));
            let next = format!("http://{host}/-openai/v1/next");
            let expected = format!("{{\"by\":\"model\",\"next\":\"{next}\"}}");
            assert_eq!(reply(&mut wire, "GET").text(), expected);
        }
    };
    let session = servers.record(&stage).await;
    talk(&session);
    session.finish().await.unwrap();

    let session = stage.replay().await;
    talk(&session);
    session.finish().await.unwrap();

    assert_eq!(stage.files(), ["hello.json"]);
}

fn model_path(servers: &Servers) -> String {
    format!("{}/v1/models", servers.model.url())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_is_named_by_the_path_and_answers_for_itself() {
    let (stage, servers) = (Stage::new(), Servers::start());
    let talk = |session: &Session| {
        for name in ["", "tape", "tape~2"] {
            let here = session.url_of(name);
            let to_model = match name {
                "" => format!("{here}/-openai"),
                _ => format!("{here}openai"),
            };
            let agent = get(&format!("{here}/v1/models?a=1")).text();
            let model = get(&format!("{to_model}/v1/models?a=1")).text();
            assert_eq!(agent, format!("{{\"by\":\"agent\",\"next\":\"{here}/v1/next\"}}"));
            assert_eq!(model, format!("{{\"by\":\"model\",\"next\":\"{to_model}/v1/next\"}}"));
        }
    };
    let session = servers.record(&stage).await;
    talk(&session);
    session.finish().await.unwrap();
    let (model, paths) = (servers.model.url(), stage.cassette());
    drop(servers);

    let session = stage.replay().await;
    talk(&session);
    session.finish().await.unwrap();

    let paths: Vec<&str> = paths.interactions.iter().map(|it| it.request.path.as_str()).collect();
    assert_eq!(paths[..2], ["/v1/models?a=1", &format!("{model}/v1/models?a=1")]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_file_names_the_server_of_each_request_but_those_of_the_first() {
    let (stage, servers) = (Stage::new(), Servers::start());
    servers.recorded(&stage).await;

    let text = stage.file("tape.json");

    let model = servers.model.url();
    assert!(text.starts_with("{\n  \"retape\": 2,"), "{text}");
    assert!(text.contains(&format!("\"origins\": {{\"openai\": \"{model}\"}}")), "{text}");
    assert_eq!(text.matches(&format!("\"origin\": \"{model}\"")).count(), 1);
    assert_eq!(text.matches("\"path\": \"/v1/models\"").count(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_named_server_that_nobody_asks_leaves_no_trace() {
    let (stage, servers) = (Stage::new(), Servers::start());
    let session = servers.record(&stage).await;
    get(&format!("{}/v1/models", session.url()));
    session.finish().await.unwrap();

    assert!(stage.file("tape.json").starts_with("{\n  \"retape\": 1,"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_one_server_said_never_answers_for_another() {
    let (stage, servers) = (Stage::new(), Servers::start());
    let session = servers.record(&stage).await;
    get(&format!("{}/v1/models", session.url()));
    post(&format!("{}/-openai/v1/chat", session.url()), "{}");
    session.finish().await.unwrap();

    let session = stage.replay().await;
    assert_eq!(get(&format!("{}/-openai/v1/models", session.url())).status, 470);
    assert_eq!(post(&format!("{}/v1/chat", session.url()), "{}").status, 470);
    let misses = session.misses();
    session.stop().await.unwrap();

    assert_eq!(misses[0].path, model_path(&servers));
    let told = "nothing like it was recorded; with GET there is\n  GET /v1/models";
    assert!(misses[0].explanation.contains(told), "{}", misses[0].explanation);
    assert!(misses[1].explanation.contains("nothing like it"), "{}", misses[1].explanation);
}

/// What a client learns of another server: where it is sent, what a well-known document says, and what it only reads.
fn follow(session: &Session, name: &str) -> Vec<String> {
    let here = session.url_of(name);
    let root = format!("http://{}", session.address());
    let path = here.strip_prefix(&root).unwrap();
    let [model, well_known] = match name {
        "" => [format!("{here}/-model"), format!("{root}/.well-known/issuer/-model")],
        _ => [format!("{here}model"), format!("{root}/.well-known/issuer{path}model")],
    };
    let sent = get(&format!("{here}/go")).field("location").unwrap().to_owned();
    assert_eq!(sent, format!("{model}/v1/next"));
    let document = get(&format!("{root}/.well-known/resource{path}/mcp"));
    assert_eq!(document.text(), format!("{{\"servers\":[\"{model}\"],\"own\":\"{here}\"}}"));
    let issued = get(&well_known).text();
    assert_eq!(issued, format!("{{\"issuer\":\"{model}\",\"path\":\"/.well-known/issuer\"}}"));
    let asked = format!("{{\"resource\":\"{model}/v1\",\"own\":\"{here}/v1\"}}");
    vec![get(&sent).text(), post(&format!("{here}/echo"), &asked).text()]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_one_server_leads_to_another_the_client_stays_with_us() {
    let stage = Stage::new();
    let model = Upstream::json(|asked| {
        let here = asked.head.field("host").unwrap();
        format!("{{\"issuer\":\"http://{here}\",\"path\":\"{}\"}}", asked.path())
    });
    let other = model.url();
    let agent = Upstream::start(move |asked, wire| {
        let here = format!("http://{}", asked.head.field("host").unwrap());
        let body = match asked.path() {
            "/go" => {
                let moved = format!("HTTP/1.1 302 Found\r\nlocation: {other}/v1/next\r\n");
                wire.send(format!("{moved}content-length: 0\r\n\r\n"));
                return Then::KeepAlive;
            }
            "/.well-known/resource/mcp" => {
                format!("{{\"servers\":[\"{other}\"],\"own\":\"{here}\"}}")
            }
            // What is only told of another server stays as it is.
            _ => format!("{{\"model\":\"{other}/v1\",\"asked\":{}}}", asked.text().len()),
        };
        wire.send(json(200, &body));
        Then::KeepAlive
    });
    let told = format!("{{\"model\":\"{}/v1\",\"asked\":", model.url());
    let session = stage.recorder(&agent).named_upstream("model", model.url()).start().await;
    let session = session.unwrap();
    let live = ["", "tape~2"].map(|name| follow(&session, name));
    session.finish().await.unwrap();
    let asked = agent.asked().iter().find(|it| it.path() == "/echo").unwrap().text();
    let (model, agent) = (model.url(), agent.url());
    assert_eq!(asked, format!("{{\"resource\":\"{model}/v1\",\"own\":\"{agent}/v1\"}}"));

    let session = stage.replay().await;
    let replayed = ["", "tape~2"].map(|name| follow(&session, name));
    session.finish().await.unwrap();

    for [sent, echoed] in live.iter().chain(&replayed).map(|it| [&it[0], &it[1]]) {
        assert!(sent.contains("/v1/next") && !sent.contains(&model), "{sent}");
        assert!(echoed.starts_with(&told), "{echoed}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_name_that_no_server_has_is_part_of_what_the_client_asks() {
    let (stage, servers) = (Stage::new(), Servers::start());
    let session = servers.record(&stage).await;

    get(&format!("{}/v1/-me/x", session.url()));

    session.finish().await.unwrap();
    assert_eq!(stage.cassette().interactions[0].request.path, "/v1/-me/x");
    let session = stage.session(Mode::Replay).start().await.unwrap();
    assert_eq!(get(&format!("{}/v1/-me/x", session.url())).status, 200);
    session.finish().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn people_are_told_which_server_was_asked() {
    let (stage, servers) = (Stage::new(), Servers::start());
    servers.recorded(&stage).await;

    let shown = show("tape", &stage.cassette(), ShowOptions::default());
    let session = stage.replay().await;
    get(&format!("{}/v1/models", session.url()));
    let summary = session.stop().await.unwrap();

    assert!(shown.contains(&model_path(&servers)), "{shown}");
    assert_eq!(summary.unplayed[0].path, model_path(&servers));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_recording_again_lies_beside_the_old_one_server_by_server() {
    let (stage, servers) = (Stage::new(), Servers::start());
    servers.recorded(&stage).await;
    let before = stage.file("tape.json");

    servers.recorded(&stage).await;

    assert_eq!(stage.file("tape.json"), before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_named_server_at_another_port_is_the_same_when_it_is_recorded_again() {
    let stage = Stage::new();
    Servers::start().recorded(&stage).await;
    let before = stage.file("tape.json");

    Servers::start().recorded(&stage).await;

    assert_eq!(stage.file("tape.json"), before);
}
