//! A client goes on with a stream behind the event that it saw last.

use crate::stage::Stage;
use crate::support::client::{ask, get};
use crate::support::upstream::{EVENTS, Then, Upstream};

/// Five events with ids and numbers; whoever names one gets those behind it.
fn server() -> Upstream {
    Upstream::start(|asked, wire| {
        let named = asked.head.field("last-event-id").map(|id| id.trim_start_matches("e-"));
        let path = asked.head.line.split(' ').nth(1).unwrap_or_default();
        let number = path.split("starting_after=").nth(1).and_then(|it| it.split('&').next());
        let after: u32 = named.or(number).map_or(0, |it| it.parse().unwrap());
        wire.send(EVENTS);
        for number in after + 1..=5 {
            wire.send_chunk(event(number));
        }
        wire.send_end();
        Then::KeepAlive
    })
}

fn event(number: u32) -> String {
    format!("id: e-{number}\ndata: {{\"sequence_number\":{number},\"type\":\"delta\"}}\n\n")
}

fn events(numbers: std::ops::RangeInclusive<u32>) -> String {
    numbers.map(event).collect()
}

fn listen(url: &str, last: Option<&str>) -> (u16, String) {
    let field = last.map(|id| format!("Last-Event-ID: {id}\r\n")).unwrap_or_default();
    let reply = ask("GET", url, &format!("Accept: text/event-stream\r\n{field}"), "");
    (reply.status, reply.text())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_goes_on_behind_any_event_that_it_holds() {
    let (stage, upstream) = (Stage::new(), server());
    let session = stage.record(&upstream).await;
    let url = format!("{}/v1/events?run=7", session.url());
    assert_eq!(listen(&url, None).1, events(1..=5));
    assert_eq!(listen(&url, Some("e-2")).1, events(3..=5));
    session.finish().await.unwrap();

    let session = stage.replay().await;
    let url = format!("{}/v1/events?run=7", session.url());
    assert_eq!(listen(&url, None).1, events(1..=5));
    for (last, expected) in [("e-2", 3..=5), ("e-1", 2..=5), ("e-4", 5..=5), ("e-3", 4..=5)] {
        assert_eq!(listen(&url, Some(last)), (200, events(expected)), "behind {last}");
    }
    assert_eq!(listen(&url, Some("e-5")), (200, String::new()));
    session.finish().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_number_in_the_query_names_an_event_too() {
    let (stage, upstream) = (Stage::new(), server());
    let session = stage.record(&upstream).await;
    let url = format!("{}/v1/responses/r", session.url());
    get(&format!("{url}?stream=true&starting_after=1"));
    session.finish().await.unwrap();

    let session = stage.replay().await;
    let url = format!("{}/v1/responses/r", session.url());
    for (query, expected) in
        [("stream=true&starting_after=3", 4..=5), ("starting_after=2&stream=true", 3..=5)]
    {
        assert_eq!(get(&format!("{url}?{query}")).text(), events(expected), "{query}");
    }
    session.finish().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_event_that_no_recorded_stream_holds_is_a_miss() {
    let (stage, upstream) = (Stage::new(), server());
    let session = stage.record(&upstream).await;
    listen(&format!("{}/v1/events", session.url()), Some("e-2"));
    session.finish().await.unwrap();

    let session = stage.replay().await;
    let url = format!("{}/v1/events", session.url());
    for (url, last) in [(url.clone(), "e-1"), (format!("{url}?run=8"), "e-3")] {
        let (status, said) = listen(&url, Some(last));
        assert_eq!(status, 470, "{said}");
    }
    assert_eq!(session.misses().len(), 2);
    session.stop().await.unwrap();
}
