//! A long recording: what is over lives in the journal.

use retape::cassette::{Body, Interaction};

use crate::stage::Stage;
use crate::support::client::{get, request};
use crate::support::upstream::{Asked, EVENTS, Then, Upstream};
use crate::support::wire::Wire;

/// So many that there are more than the 8 MiB which are held.
const ROUNDS: usize = 180;

/// An answer for each kind of request: with a secret, as events, and with what the client said.
fn server() -> Upstream {
    let filler = "a long answer of so many words ".repeat(1900);
    Upstream::start(move |asked: &Asked, wire| {
        match asked.path().split('/').nth(1) {
            Some("events") => {
                wire.send(EVENTS);
                for number in 0..3 {
                    wire.send_chunk(format!("data: {{\"n\":{number},\"key\":\"sk-01234"));
                    wire.send_chunk("56789abcdefABCDEF\"}\n\n");
                }
                wire.send_end();
            }
            Some("echo") => wire.send(answer(&asked.text())),
            _ => wire
                .send(answer(&format!("{{\"path\":\"{}\",\"text\":\"{filler}\"}}", asked.path()))),
        }
        Then::KeepAlive
    })
}

fn answer(body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nX-Session-Token: token-{length:08}-0123456789abcdef\r\n\
        Content-Length: {length}\r\n\r\n{body}"
    )
}

/// What says the number of a round, and which of the placeholders of a name it is.
fn without_numbers(interaction: &Interaction, round: usize) -> String {
    let mut interaction = interaction.clone();
    if let retape::cassette::Outcome::Response(response) = &mut interaction.outcome {
        response.ms = 0;
        if let Body::Stream(chunks) = &mut response.body {
            chunks.iter_mut().for_each(|chunk| chunk.ms = 0);
        }
    }
    format!("{interaction:?}").replace(&format!("{round:06}"), "N")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_recording_is_saved_as_a_short_one_is() {
    let (stage, upstream) = (Stage::new(), server());
    let session = stage.record(&upstream).await;

    let mut wire = Wire::connect(session.address());
    for round in 0..ROUNDS {
        let mut ask = |method: &str, path: &str, fields: &str, body: &str| {
            let url = format!("{}{path}/{round:06}", session.url());
            wire.send(request(method, &url, fields, body));
            let head = wire.head().unwrap();
            crate::support::client::body(&mut wire, method, head);
        };
        let key =
            "Authorization: Bearer key-0123456789abcdef\r\nContent-Type: application/json\r\n";
        ask("GET", "/plain", "", "");
        ask("GET", "/events", key, "");
        ask(
            "POST",
            "/echo",
            key,
            &format!("{{\"said\":\"{round:06}\",\"password\":\"pass-0123456789\"}}"),
        );
    }
    get(&format!("{}/plain/last", session.url()));
    session.finish().await.unwrap();

    let cassette = stage.cassette();
    assert_eq!(cassette.interactions.len(), 3 * ROUNDS + 1);
    let (first, others) = cassette.interactions.split_at(3);
    for (number, interaction) in others[..3 * (ROUNDS - 1)].iter().enumerate() {
        let (first, round) = (&first[number % 3], number / 3 + 1);
        assert_eq!(without_numbers(interaction, round), without_numbers(first, 0), "{number}");
    }
    let events = cassette.interactions[1].response().unwrap();
    assert_eq!(events.body.chunks().len(), 6);
    assert!(!stage.file("tape.json").contains("0123456789"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_journal_that_cannot_be_read_is_no_cassette_and_how_to_save_it_is_said() {
    let (stage, upstream) = (Stage::new(), server());
    let session = stage.record(&upstream).await;
    for round in 0..ROUNDS + 50 {
        get(&format!("{}/plain/{round:06}", session.url()));
    }

    let journal = std::fs::File::options().write(true).open(stage.folder().join("tape.json.part"));
    journal.unwrap().set_len(100).unwrap();
    let error = session.finish().await.unwrap_err();

    // What was over lives there and nowhere else.
    let hint = error.hint().unwrap_or_default();
    assert!(
        hint.contains("retape recover") && hint.contains("saves what the journal has"),
        "{hint}"
    );
    assert!(!stage.files().contains(&"tape.json".to_owned()));
}
