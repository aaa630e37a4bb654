//! What was recorded over one transport, over another.

use serde_json::{Value, json};

use crate::stage::Stage;
use crate::support::client::{Reply, ask, body, request, split};
use crate::support::wire::Wire;

/// A session of MCP over standard input and output: what the client says (`<`), and the server.
fn lines(said: &[(char, Value)]) -> Stage {
    let frames = said.iter().enumerate().map(|(at, (by, message))| {
        let from = if *by == '<' { "client" } else { "server" };
        json!({"ms": at, "from": from, "json": message})
    });
    let frames: Vec<Value> = frames.collect();
    let cassette = json!({"retape": 2, "interactions": [{
        "request": {"method": "GET", "path": "/", "headers": {"upgrade": "stdio"}},
        "response": {"ms": 0, "status": 101, "headers": {}, "frames": frames, "end": "complete"},
    }]});
    let stage = Stage::new();
    std::fs::write(stage.folder().join("tape.json"), cassette.to_string()).unwrap();
    stage
}

fn rpc(rest: &Value) -> Value {
    let mut message = json!({"jsonrpc": "2.0"});
    message.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
    message
}

fn conversation() -> Stage {
    let begins = json!({"protocolVersion": "2025-11-25"});
    lines(&[
        ('<', rpc(&json!({"id": 0, "method": "initialize", "params": begins}))),
        ('>', rpc(&json!({"id": 0, "result": begins}))),
        ('<', rpc(&json!({"method": "notifications/initialized"}))),
        ('>', rpc(&json!({"method": "notifications/message"}))),
        ('<', rpc(&json!({"id": 1, "method": "tools/call"}))),
        ('>', rpc(&json!({"id": 0, "method": "sampling/createMessage"}))),
        ('<', rpc(&json!({"id": 0, "result": {"text": "short"}}))),
        ('>', rpc(&json!({"id": 1, "result": {"sum": 5}}))),
    ])
}

const FIELDS: &str =
    "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n";

fn event(message: &Value) -> String {
    format!("event: message\ndata: {}\n\n", rpc(message))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_said_in_lines_is_said_over_http() {
    let stage = conversation();
    let session = stage.replay().await;
    let url = format!("{}/mcp", session.url());
    let begins =
        json!({"id": "a", "method": "initialize", "params": {"protocolVersion": "2025-11-25"}});

    let begun = ask("POST", &url, FIELDS, &rpc(&begins).to_string());
    let name = begun.field("mcp-session-id").expect("it is a session").to_owned();
    let fields = format!("{FIELDS}mcp-session-id: {name}\r\n");
    let post = |message: Value| ask("POST", &url, &fields, &rpc(&message).to_string());
    let noted = post(json!({"method": "notifications/initialized"}));
    let open = |method: &str, message: &str| {
        let mut wire = Wire::connect(split(&url).0);
        wire.send(request(method, &url, &fields, message));
        let head = wire.head().unwrap();
        (wire, head)
    };
    let (mut listening, _) = open("GET", "");
    let heard = listening.data();
    let call = rpc(&json!({"id": "b", "method": "tools/call"})).to_string();
    let (mut calling, head) = open("POST", &call);
    let asked = calling.data();
    assert!(calling.is_silent(std::time::Duration::from_millis(40)), "told before it was answered");
    let answered = post(json!({"id": 0, "result": {"text": "short"}}));
    let told = body(&mut calling, "POST", head);
    let left = ask("DELETE", &url, &fields, "");

    assert_eq!(
        begun.text(),
        event(&json!({"id": "a", "result": {"protocolVersion": "2025-11-25"}}))
    );
    assert_eq!(heard, event(&json!({"method": "notifications/message"})));
    assert_eq!(asked, event(&json!({"id": 0, "method": "sampling/createMessage"})));
    assert_eq!(told.text(), event(&json!({"id": "b", "result": {"sum": 5}})));
    let status = |reply: &Reply| reply.head.line.split(' ').nth(1).unwrap().to_owned();
    assert_eq!([&noted, &answered, &left].map(status), ["202", "202", "200"]);
    drop(listening);
    session.finish().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_client_asks_before_it_begins_belongs_to_no_session() {
    let version = json!({"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}});
    let stage = lines(&[
        ('<', rpc(&json!({"id": 0, "method": "server/discover", "params": version}))),
        ('>', rpc(&json!({"id": 0, "error": {"code": -32601, "message": "no such method"}}))),
        ('<', rpc(&json!({"id": 1, "method": "initialize"}))),
        ('>', rpc(&json!({"id": 1, "result": {}}))),
        ('<', rpc(&json!({"id": 2, "method": "tools/list"}))),
        ('>', rpc(&json!({"id": 2, "result": {"tools": []}}))),
    ]);
    let session = stage.replay().await;
    let url = format!("{}/mcp", session.url());
    let post = |fields: &str, message: Value| ask("POST", &url, fields, &rpc(&message).to_string());

    let asked = json!({"id": 0, "method": "server/discover", "params": version});
    let probed = post(FIELDS, asked);
    let begun = post(FIELDS, json!({"id": 1, "method": "initialize"}));
    let name = begun.field("mcp-session-id").expect("it is a session").to_owned();
    let fields = format!("{FIELDS}mcp-session-id: {name}\r\n");
    let listed = post(&fields, json!({"id": 2, "method": "tools/list"}));

    assert!(probed.text().contains("no such method"), "{}", probed.text());
    assert_eq!(probed.field("mcp-session-id"), None);
    assert_eq!(listed.text(), event(&json!({"id": 2, "result": {"tools": []}})));
    assert!(ask("DELETE", &url, &fields, "").head.line.contains("200"));
    session.finish().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_table_says_of_lines_holds_over_http() {
    let begins = json!({"protocolVersion": "2025-11-25"});
    let call = |id: Value, name: &str| {
        rpc(&json!({"id": id, "method": "tools/call", "params": {"name": name}})).to_string()
    };
    let stage = lines(&[
        ('<', rpc(&json!({"id": 0, "method": "initialize", "params": begins}))),
        ('>', rpc(&json!({"id": 0, "result": begins}))),
        ('<', serde_json::from_str(&call(json!(1), "otter")).unwrap()),
        ('>', rpc(&json!({"id": 1, "result": {"made": "otter"}}))),
    ]);
    let mut cassette: Value = serde_json::from_str(&stage.file("tape.json")).unwrap();
    cassette["ids"] = json!({"version": 1, "client": [
        {"id": "otter", "in": 1, "at": "frame.3/params/name", "by": "runs"},
    ]});
    std::fs::write(stage.folder().join("tape.json"), cassette.to_string()).unwrap();
    let session = stage.replay().await;
    let url = format!("{}/mcp", session.url());
    let begin = rpc(&json!({"id": 0, "method": "initialize", "params": begins})).to_string();

    let begun = ask("POST", &url, FIELDS, &begin);
    let name = begun.field("mcp-session-id").expect("it is a session").to_owned();
    let fields = format!("{FIELDS}mcp-session-id: {name}\r\n");
    let told = ask("POST", &url, &fields, &call(json!(7), "badger"));

    assert_eq!(told.text(), event(&json!({"id": 7, "result": {"made": "badger"}})));
    session.finish().await.unwrap();
}
