//! A client that is a process of its own: this test binary, asked to be one.

use std::env;

use crate::support::client::ask;

/// What a client asks, one request a line: `GET /path` or `POST /path {"json": true}`.
pub const ASKS: &str = "CLIENT_ASKS";

/// The status it exits with.
pub const EXITS: &str = "CLIENT_EXITS";

/// The arguments that make a client of this binary.
pub fn command() -> Vec<String> {
    let program = env::current_exe().unwrap().to_str().unwrap().to_owned();
    vec![program, "client::speak".into(), "--exact".into(), "--nocapture".into(), "-q".into()]
}

/// Prints the answers and exits, if it runs as a client.
#[test]
fn speak() {
    let Ok(asks) = env::var(ASKS) else { return };
    let url = env::var("RETAPE_URL").unwrap();
    for line in asks.lines() {
        let mut words = line.splitn(3, ' ');
        let (method, path) = (words.next().unwrap(), words.next().unwrap());
        let control = if path.starts_with("/-/retape/") { "x-retape: 1\r\n" } else { "" };
        let fields = format!("Content-Type: application/json\r\n{control}");
        let answer = ask(method, &format!("{url}{path}"), &fields, words.next().unwrap_or(""));
        println!("{} {}", answer.status, answer.text());
    }
    let status = env::var(EXITS).map_or(0, |status| status.parse().unwrap());
    std::process::exit(status);
}
