//! Amazon's event streams: binary messages with checksums, as Bedrock sends them.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use insta::assert_snapshot;
use retape::cassette::format::{decode, encode};
use retape::cassette::{Body, Chunk};
use retape::message::{Decoder, Framing, Messages, Protocols, Trace};
use retape::redact::Redactor;
use retape::{Cassette, Mode};

use crate::stage::{Stage, answer};
use crate::support::client::post;
use crate::support::upstream::{Then, Upstream};

/// CRC-32 bit by bit, apart from what is tested.
fn checksum(bytes: &[u8]) -> [u8; 4] {
    let step = |sum: u32| if sum & 1 == 1 { 0xEDB8_8320 ^ (sum >> 1) } else { sum >> 1 };
    let sum =
        bytes.iter().fold(!0, |sum, byte| (0..8).fold(sum ^ u32::from(*byte), |it, _| step(it)));
    (!sum).to_be_bytes()
}

fn message(fields: &[(&str, &str)], payload: &str) -> Vec<u8> {
    let mut header = Vec::new();
    for (name, value) in fields {
        header.push(name.len() as u8);
        header.extend(name.as_bytes());
        header.push(7);
        header.extend((value.len() as u16).to_be_bytes());
        header.extend(value.as_bytes());
    }
    let mut bytes = ((16 + header.len() + payload.len()) as u32).to_be_bytes().to_vec();
    bytes.extend((header.len() as u32).to_be_bytes());
    bytes.extend(checksum(&bytes));
    bytes.extend(header);
    bytes.extend(payload.as_bytes());
    bytes.extend(checksum(&bytes));
    bytes
}

fn event(kind: &str, payload: &str) -> Vec<u8> {
    message(&[(":event-type", kind), (":message-type", "event")], payload)
}

/// What `InvokeModelWithResponseStream` sends: the answer of the model in base64.
fn chunk(json: &str) -> Vec<u8> {
    event("chunk", &format!("{{\"bytes\":\"{}\",\"p\":\"abcd\"}}", STANDARD.encode(json)))
}

fn talk(id: &str) -> Vec<Vec<u8>> {
    vec![
        event("messageStart", r#"{"p":"abc","role":"assistant"}"#),
        event(
            "contentBlockStart",
            &format!(r#"{{"contentBlockIndex":0,"start":{{"toolUse":{{"toolUseId":"{id}"}}}}}}"#),
        ),
        event("contentBlockDelta", r#"{"contentBlockIndex":0,"delta":{"text":"Hi"}}"#),
        event("contentBlockDelta", r#"{"contentBlockIndex":0,"delta":{"text":" you"}}"#),
        chunk(r#"{"type":"message_stop"}"#),
        message(
            &[(":exception-type", "throttlingException"), (":message-type", "exception")],
            r#"{"message": "Too many requests"}"#,
        ),
    ]
}

fn server(messages: Vec<Vec<u8>>) -> Upstream {
    Upstream::start(move |asked, wire| {
        wire.send("HTTP/1.1 200 OK\r\ncontent-type: application/vnd.amazon.eventstream\r\n");
        wire.send("transfer-encoding: chunked\r\n\r\n");
        let said = asked.text();
        for message in &messages {
            let echo = memchr::memmem::find(message, b"ECHO").is_some();
            let own = said.split('"').nth(3).unwrap_or_default();
            let payload = format!(r#"{{"requestId":"{own}"}}"#);
            wire.send_chunk(if echo { event("echo", &payload) } else { message.clone() });
        }
        wire.send_end();
        Then::Close
    })
}

async fn recorded(messages: Vec<Vec<u8>>, asked: &str) -> (Stage, Vec<u8>) {
    let stage = Stage::new();
    let upstream = server(messages);
    let session = stage.record(&upstream).await;
    let body = post(&format!("{}/model/m/converse-stream", session.url()), asked).body;
    session.finish().await.unwrap();
    (stage, body)
}

fn cassette(chunks: &[Vec<u8>]) -> Cassette {
    let text = r#"{"retape": 1, "interactions": [{
        "request": {"method": "POST", "path": "/"},
        "response": {"ms": 1, "status": 200, "end": "complete",
            "headers": {"content-type": "application/vnd.amazon.eventstream"}}}]}"#;
    let mut cassette = decode(text, |_| unreachable!()).unwrap();
    let retape::cassette::Outcome::Response(response) = &mut cassette.interactions[0].outcome
    else {
        unreachable!()
    };
    let chunk =
        |(ms, bytes): (usize, &Vec<u8>)| Chunk { ms: ms as u64, bytes: bytes.clone().into() };
    response.body = Body::Stream(chunks.iter().enumerate().map(chunk).collect());
    cassette
}

#[track_caller]
fn round_trip(cassette: &Cassette) -> String {
    let file = encode(cassette);
    assert_eq!(&decode(&file.text, |_| unreachable!()).unwrap(), cassette, "{}", file.text);
    file.text
}

#[test]
fn a_cassette_shows_what_the_messages_say() {
    let text = round_trip(&cassette(&talk("tooluse_1")));

    assert!(text.starts_with("{\n  \"retape\": 2,"), "{text}");
    let lines = text.lines().filter(|line| line.contains("\"ms\": ") && line.contains('{'));
    let stream: Vec<&str> = lines.map(str::trim).collect();
    assert_snapshot!(stream.join("\n"), @r#"
    {"ms": 0, "amazon": {"headers": {":event-type": "messageStart", ":message-type": "event"}, "json": {"p": "abc", "role": "assistant"}}},
    {"ms": 1, "amazon": {"headers": {":event-type": "contentBlockStart", ":message-type": "event"}, "json": {"contentBlockIndex": 0, "start": {"toolUse": {"toolUseId": "tooluse_1"}}}}},
    {"ms": 2, "amazon": {"headers": {":event-type": "contentBlockDelta", ":message-type": "event"}, "json": {"contentBlockIndex": 0, "delta": {"text": "Hi"}}}},
    {"ms": 3, "amazon": {"headers": {":event-type": "contentBlockDelta", ":message-type": "event"}, "json": {"contentBlockIndex": 0, "delta": {"text": " you"}}}},
    {"ms": 4, "amazon": {"headers": {":event-type": "chunk", ":message-type": "event"}, "json": {"bytes": {"type": "message_stop"}, "p": "abcd"}}},
    {"ms": 5, "layout": "spaced", "amazon": {"headers": {":exception-type": "throttlingException", ":message-type": "exception"}, "json": {"message": "Too many requests"}}}
    "#);
}

#[test]
fn any_cut_gives_the_same_bytes_and_the_same_messages() {
    let protocols = Protocols::default();
    let all = talk("tooluse_1").concat();
    let whole = Decoder::new(Framing::Amazon, protocols.clone()).push(&all, 0);
    let tags = Trace::of(&whole, &protocols).to_string();

    for cut in 0..all.len() {
        let cassette = cassette(&[all[..cut].to_vec(), all[cut..].to_vec()]);
        round_trip(&cassette);
        let messages = Messages::of(answer(&cassette), &protocols);
        assert_eq!(Trace::of(&messages.list, &protocols).to_string(), tags, "cut at {cut}");
        assert_eq!(messages.rest, None);
    }
    assert_eq!(
        tags,
        "messageStart contentBlockStart contentBlockDelta+ message_stop throttlingException"
    );
    assert_eq!(whole[4].data, r#"{"type":"message_stop"}"#);
}

#[test]
fn a_message_whose_checksum_is_wrong_is_kept_as_it_is() {
    for at in [8, 30, 80] {
        let mut broken = talk("tooluse_1").remove(0);
        broken[at] ^= 0x20;

        let text = round_trip(&cassette(&[broken]));

        assert!(text.starts_with("{\n  \"retape\": 1,"), "{text}");
        assert!(text.contains("{\"ms\": 0, \"base64\": \""), "{text}");
    }
}

#[test]
fn what_is_no_message_is_refused_in_a_file() {
    let text = round_trip(&cassette(&talk("tooluse_1")));

    let error = decode(
        &text.replace("\"headers\": {\":event", "\"header\": {\":event"),
        |_| unreachable!(),
    );

    assert!(error.unwrap_err().to_string().contains("no message of an event stream"));
}

#[test]
fn a_stream_that_is_cut_short_shows_what_came() {
    let mut all = talk("tooluse_1").concat();
    all.truncate(all.len() - 5);
    let cassette = cassette(&[all]);

    let text = round_trip(&cassette);
    let messages = Messages::of(answer(&cassette), &Protocols::default());

    assert!(text.contains("contentBlockDelta"), "{text}");
    assert_eq!(messages.list.len(), 5);
    assert!(messages.rest.is_some());
}

#[test]
fn a_secret_is_taken_out_and_the_checksums_agree_again() {
    let secret = ["s3cr3t", "0123456789", "abcdef"].concat();
    let nested = format!(r#"{{"type":"delta","api_key":"{secret}"}}"#);
    let plain = format!(r#"{{"password":"{secret}","text":"Hi"}}"#);
    let mut messages = vec![chunk(&nested), event("messageStart", &plain)];
    messages.push(talk("tooluse_1").remove(0));
    messages.last_mut().unwrap().truncate(20);

    let redacted = Redactor::standard().cassette(cassette(&messages));

    let text = round_trip(&redacted);
    assert!(!text.contains(&secret) && !text.contains(&STANDARD.encode(&nested)), "{text}");
    let messages = Messages::of(answer(&redacted), &Protocols::default());
    assert_eq!(messages.list[0].data, r#"{"type":"delta","api_key":"[redacted:api_key]"}"#);
    assert_eq!(messages.list[1].data, r#"{"password":"[redacted:api_key]","text":"Hi"}"#);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_replayed_stream_is_the_recorded_one() {
    let (stage, body) = recorded(talk("tooluse_1"), "{}").await;

    let session = stage.replay().await;
    let replayed = post(&format!("{}/model/m/converse-stream", session.url()), "{}").body;
    session.finish().await.unwrap();

    assert_eq!(replayed, body);
    assert_eq!(replayed, talk("tooluse_1").concat());
    assert_eq!(answer(&stage.cassette()).body.chunks().len(), talk("").len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_clients_own_id_comes_back_in_a_message_whose_checksums_agree() {
    let messages = vec![event("messageStart", "{}"), event("ECHO", "{}")];
    let ids = ["6f1c0a2f-37a2-4fd9-92f1-fd5b1ee5a5f0", "0c7f7c54-8d43-4b6f-9d51-0a1b0a6a6f11"];
    let asked = |id: &str| format!(r#"{{"requestId":"{id}"}}"#);
    let (stage, _) = recorded(messages, &asked(ids[0])).await;

    let session = stage.session(Mode::Replay).start().await.unwrap();
    let url = format!("{}/model/m/converse-stream", session.url());
    let replayed = post(&url, &asked(ids[1])).body;
    session.finish().await.unwrap();

    let expected = [event("messageStart", "{}"), event("echo", &asked(ids[1]))].concat();
    assert_eq!(replayed, expected);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_unchanged_server_recorded_again_changes_no_line() {
    let ids = ["tooluse_Hk3vQ0m1TFyZ4xW8", "tooluse_b7PdR5s2LcNq9uJ6"];
    let (stage, _) = recorded(talk(ids[0]), "{}").await;
    let before = stage.file("tape.json");

    let upstream = server(talk(ids[1]));
    let session = stage.record(&upstream).await;
    post(&format!("{}/model/m/converse-stream", session.url()), "{}");
    session.finish().await.unwrap();

    let after = stage.file("tape.json");
    let told = |text: &str| {
        let lines = text.lines().filter(|line| !line.contains("\"recorded\""));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(told(&after), told(&before));
}
