//! User information in the address of a server.

use insta::assert_snapshot;

use crate::retape::{Running, Stage, said, told};
use crate::support::client::{ask, get};
use crate::support::upstream::{Asked, Upstream};

const PASSWORD: &str = "pass-0123456789";
/// `user:pass-0123456789`
const BASIC: &str = "dXNlcjpwYXNzLTAxMjM0NTY3ODk=";

/// A server that tells what it was told, and the password as well.
fn server() -> Upstream {
    Upstream::json(|asked: &Asked| {
        let told = asked.head.field("authorization").unwrap_or("nothing");
        format!("{{\"told\": \"{told}\", \"meant\": \"{PASSWORD}\"}}")
    })
}

fn with_user(url: &str) -> String {
    url.replace("http://", &format!("http://user:{PASSWORD}@"))
}

#[track_caller]
fn harmless(text: &str) {
    assert!(!text.contains(PASSWORD) && !text.contains(BASIC), "{text}");
}

#[test]
fn it_is_sent_as_any_client_would_and_stands_nowhere() {
    let stage = Stage::new();
    let upstream = server();

    let url = with_user(&upstream.url());
    let mut running = Running::start(stage.retape(&["record", "--upstream", &url, "tape"]));
    let here = running.line();
    let answer = get(&here).text();
    let journal = stage.read("cassettes/tape.json.part");
    let sessions = get(&format!("{here}/-/retape/sessions")).text();
    let (code, said) = running.stop();

    assert_eq!(code, Some(0), "{said}");
    assert!(answer.contains(&format!("Basic {BASIC}")), "{answer}");
    assert_eq!(upstream.asked()[0].head.field("host"), Some(&*upstream.address().to_string()));
    let cassette = stage.read("cassettes/tape.json");
    assert!(cassette.contains("Basic [redacted:authorization]"), "{cassette}");
    for text in [cassette, journal, sessions, said] {
        harmless(&text);
    }
}

#[test]
fn what_the_client_says_of_itself_counts_more() {
    let stage = Stage::new();
    let upstream = server();

    let url = with_user(&upstream.url());
    let mut running = Running::start(stage.retape(&["record", "--upstream", &url, "tape"]));
    let answer = ask("GET", &running.line(), "Authorization: Bearer own-0123456789\r\n", "");
    running.stop();

    assert!(answer.text().contains("Bearer own-0123456789"), "{}", answer.text());
    assert!(!answer.text().contains("Basic"), "{}", answer.text());
}

#[test]
fn it_stands_in_no_message() {
    let stage = Stage::new();
    let refused = stage
        .retape(&["record", "--upstream", &format!("ftp://user:{PASSWORD}@host"), "tape"])
        .output()
        .unwrap();
    let mut help = stage.retape(&["record", "--help"]);
    let help =
        help.env("RETAPE_UPSTREAM", format!("http://user:{PASSWORD}@host")).output().unwrap();
    let gone = with_user(&server().url());
    let unanswered =
        stage.around(&["record", "--upstream", &gone, "tape"], "GET /1").output().unwrap();

    assert_snapshot!(said(&refused), @"error: `upstream` is `ftp://…@host`, which is not one of http://HOST[:PORT][/PATH], https://HOST[:PORT][/PATH], h2c://HOST[:PORT][/PATH]");
    harmless(&told(&help));
    harmless(&told(&unanswered));
    harmless(&said(&unanswered));
    assert!(told(&unanswered).contains("502"), "{}", told(&unanswered));
}
