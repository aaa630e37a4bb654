//! A recording that proves that it replays.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use proptest::prelude::*;
use retape::cassette::{Evidence, Ids};
use retape::config::{Rules, Timing};
use retape::{Error, Mode, Pace, Session};

use crate::stage::Stage;
use crate::support::client::{Reply, get, post, reply, request, split};
use crate::support::socket::{Socket, Sockets};
use crate::support::upstream::{Asked, EVENTS, Then, Upstream, json};
use crate::support::wire::Wire;

/// A server that says what it was asked, and issues the same agent to everybody.
fn server() -> Upstream {
    Upstream::json(|asked: &Asked| match asked.path() {
        "/agents" => r#"{"id":"agent-6f1c0a2f-37a2-4fd9-92f1-fd5b1ee5a5f0"}"#.to_owned(),
        path => format!(r#"{{"path":"{path}","asked":{}}}"#, asked.text()),
    })
}

/// Records what a client asks, by the number of its run, and proves it.
async fn proved(asks: impl Fn(&str, usize) -> Vec<Reply>) -> (Stage, Result<(), Error>) {
    proved_with(&server(), asks).await
}

/// The same of another server.
async fn proved_with(
    upstream: &Upstream,
    asks: impl Fn(&str, usize) -> Vec<Reply>,
) -> (Stage, Result<(), Error>) {
    let stage = Stage::new();
    let runs = AtomicUsize::new(0);
    let settings = stage.session(Mode::Record).upstream(upstream.url());
    let result = settings
        .run(async |session: &Session| {
            asks(&session.url(), runs.fetch_add(1, Ordering::Relaxed));
            Ok::<_, Error>(())
        })
        .await;
    (stage, result)
}

fn ids(stage: &Stage) -> Ids {
    stage.cassette().ids.expect("it was recorded with a table")
}

fn values(stage: &Stage) -> Vec<(String, Evidence)> {
    ids(stage).client.into_iter().map(|id| (id.value, id.evidence)).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_that_is_said_before_its_name_says_what_it_is_stands_for_itself() {
    let key = |letters: &str| format!("Zk39{letters}aA7");
    let ask = |url: &str, key: &str| {
        let log = post(&format!("{url}/log"), &format!(r#"{{"line":"starting with {key} now"}}"#));
        let batch = post(&format!("{url}/batch"), &format!(r#"{{"api_key":"{key}","n":1}}"#));
        vec![log, batch]
    };
    let (stage, result) = proved(|url, _| ask(url, &key("fjQmmWq02LspE8vnTTy5"))).await;
    result.unwrap();

    assert!(!stage.file("tape.json").contains("Zk39"));
    let session = stage.replay().await;
    let told = ask(&session.url(), &key("gkRnnXr13MtqF9woUUz6"));
    assert_eq!(told.iter().map(|reply| reply.status).collect::<Vec<_>>(), [200, 200]);
    session.finish().await.unwrap();
}

/// Records a client that holds a time in a text against the time of the thing. It is content as often as is said.
async fn told_of_a_thing(stage: &Stage, take: usize, contents: usize) -> Result<(), String> {
    let upstream = Upstream::json(move |asked: &Asked| match asked.path() {
        "/thing" => format!(r#"{{"created_at":"2026-11-21T09:00:0{take}Z"}}"#),
        // Made in the same second the second time.
        "/other" => r#"{"created_at":"2026-11-21T09:00:02Z"}"#.to_owned(),
        // A line that has changed has its own times.
        _ => format!(r#"{{"line":"made 2026-11-21T09:00:0{take}Z, {take} in all"}}"#),
    });
    let runs = AtomicUsize::new(0);
    let compares = async |session: &Session| {
        let url = session.url();
        let asked = ["thing", "other", "told"].map(|path| get(&format!("{url}/{path}")).text());
        let [thing, _, told] = asked;
        let time = thing.split('"').nth(3).unwrap_or_default();
        let is_content = runs.fetch_add(1, Ordering::Relaxed) < contents;
        if is_content && told.contains(time) { Ok(()) } else { Err(Box::from(told)) }
    };
    let settings = stage.session(Mode::Record).upstream(upstream.url());
    let result: Result<(), Box<dyn std::error::Error>> = settings.run(compares).await;
    result.map_err(|error| error.to_string())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_recording_that_replays_only_in_the_words_of_the_server_is_kept_in_them() {
    let stage = Stage::new();
    told_of_a_thing(&stage, 1, 9).await.unwrap();
    told_of_a_thing(&stage, 2, 9).await.unwrap();

    let now = stage.file("tape.json");
    assert_eq!(now.matches("09:00:02Z").count(), 3, "{now}");
    assert!(!now.contains("09:00:01Z"), "{now}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_recording_that_replays_in_no_words_is_told_as_before() {
    let stage = Stage::new();
    told_of_a_thing(&stage, 1, 9).await.unwrap();
    told_of_a_thing(&stage, 2, 1).await.unwrap_err();

    let now = stage.file("tape.json");
    assert!(now.contains("\"created_at\": \"2026-11-21T09:00:01Z\""), "{now}");
    assert!(now.contains("2 in all"), "{now}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_reads_its_token_is_told_what_stands_in_its_place() {
    let upstream = Upstream::json(|_: &Asked| {
        let claims = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJtZSJ9.c2lnbmVkIQ0";
        let key = "am9icy83YzlkMmUxZjRhNmI=";
        format!(r#"{{"user":{{"id_token":"{claims}"}},"kvs":[{{"key":"{key}"}}]}}"#)
    });
    let stage = Stage::new();
    let reads = async |session: &Session| {
        let told = get(&format!("{}/login", session.url())).text();
        if told.contains("eyJzdWIiOiJtZSJ9") { Ok(()) } else { Err(Box::from("no claims")) }
    };

    let settings = stage.session(Mode::Record).upstream(upstream.url());
    let result: Result<(), Box<dyn std::error::Error>> = settings.run(reads).await;

    let told = format!("{:?}", result.unwrap_err().downcast::<Error>().unwrap());
    let hint = "hint: the client got `[redacted:id_token]` for a value (/user/id_token of interaction 1 of `tape`)";
    assert!(
        told.contains(hint) && told.contains("not-secrets = [\"id_token\", \"key\"]"),
        "{told}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_differs_from_run_to_run_is_open_and_comes_back() {
    let names = ["happy-otter", "sad-fox", "big-cat", "old-dog"];
    let ask =
        |url: &str, name: &str| post(&format!("{url}/things"), &format!(r#"{{"name":"{name}"}}"#));
    let (stage, result) = proved(|url, run| vec![ask(url, names[run])]).await;
    result.unwrap();

    assert_eq!(values(&stage), [("happy-otter".to_owned(), Evidence::Runs)]);
    let session = stage.replay().await;
    let told = ask(&session.url(), "tiny-bee");
    assert_eq!(told.text(), r#"{"path":"/things","asked":{"name":"tiny-bee"}}"#);
    session.finish().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_phrase_of_words_that_are_drawn_at_random_is_one_name_and_comes_back() {
    let phrases = [
        ["red fox red", "owl cat fox", "now by ant bee"],
        ["blue cat dog", "fox owl bee", "now by bee"],
        ["fox red owl", "bee bee cat", "now by elk fox ant"],
        ["cat blue fox", "red dog owl", "now by dog"],
    ];
    let each = |url: &str, phrases: [&str; 3]| {
        phrases.into_iter().enumerate().try_for_each(|(at, phrase)| {
            let asked = format!(r#"{{"at":{at},"title":"{phrase}"}}"#);
            let told = post(&format!("{url}/things"), &asked).text();
            if told.contains(&format!(r#""title":"{phrase}""#)) { Ok(()) } else { Err(told) }
        })
    };
    let (stage, runs, server) = (Stage::new(), AtomicUsize::new(0), server());
    let settings = stage.session(Mode::Record).upstream(server.url());
    let proved = settings.run(async |session: &Session| {
        let told = each(&session.url(), phrases[runs.fetch_add(1, Ordering::Relaxed)]);
        told.map_err(Box::<dyn std::error::Error>::from)
    });
    proved.await.unwrap();

    assert_eq!(runs.into_inner(), 3, "all of them differ in the first run already");
    let made_up = ["red fox red", "owl cat fox", "ant bee"];
    assert_eq!(values(&stage), made_up.map(|it| (it.to_owned(), Evidence::Runs)));
    let session = stage.replay().await;
    each(&session.url(), ["dog dog dog", "cat red cat", "now by cat cat cat"]).unwrap();
    let told = post(&format!("{}/things", session.url()), r#"{"at":2,"title":"soon by cat"}"#);
    assert_eq!(told.status, 470, "what never differs counts");
    drop(session.stop().await);
}

/// A shop that keeps what it is sent, under the ids `1` and `2`.
fn shop() -> Upstream {
    let kept = Mutex::new(Vec::new());
    Upstream::json(move |asked: &Asked| {
        let mut kept = kept.lock().unwrap();
        let shown = |things: &[String], at: usize| things[at % 2].clone();
        match asked.path().strip_prefix("/things/") {
            Some("all") => format!("[{},{}]", shown(&kept, 0), shown(&kept, 1)),
            Some(id) => shown(&kept, id.parse::<usize>().unwrap() - 1),
            None => {
                let id = kept.len() % 2 + 1;
                kept.push(asked.text().replacen('{', &format!(r#"{{"id":{id},"#), 1));
                kept[kept.len() - 1].clone()
            }
        }
    })
}

/// A client that makes two things of a colour and a size, and looks whether they are as it made them.
fn sell(url: &str, drawn: [(&str, usize); 2]) -> Result<(), String> {
    let said = [0, 1].map(|at| {
        let (colour, size) = drawn[at];
        format!(r#""name":"thing {at}","colour":"{colour}","size":{size}}}"#)
    });
    let told = said.clone().map(|said| post(&format!("{url}/things"), &format!("{{{said}")).text());
    let is_same = (0..2).all(|at| {
        let again = get(&format!("{url}/things/{}", at + 1)).text();
        told[at].ends_with(&said[at]) && again == told[at]
    });
    let all = get(&format!("{url}/things/all")).text();
    let is_listed = all == format!("[{}]", told.join(","));
    if is_same && is_listed { Ok(()) } else { Err(format!("{told:?} {all}")) }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_drawn_from_a_list_may_be_the_same_by_chance() {
    // When it was recorded, or in a run of the proof, or in the replay.
    for drawn in [
        [[("red", 3), ("red", 3)], [("blue", 4), ("white", 5)], [("grey", 6), ("blue", 4)]],
        [[("red", 3), ("blue", 4)], [("grey", 5), ("grey", 5)], [("white", 6), ("green", 7)]],
        [[("red", 3), ("blue", 4)], [("grey", 5), ("blue", 4)], [("red", 3), ("green", 7)]],
        [
            [("turquoise", 3), ("turquoise", 4)],
            [("red", 5), ("grey", 8)],
            [("grey", 8), ("red", 6)],
        ],
    ] {
        let (stage, runs, upstream) = (Stage::new(), AtomicUsize::new(0), shop());
        let settings = stage.session(Mode::Record).upstream(upstream.url());
        let proved = settings.run(async |session: &Session| {
            let run = runs.fetch_add(1, Ordering::Relaxed);
            let told = sell(&session.url(), drawn[run.min(run % 2 + 1)]);
            told.map_err(Box::<dyn std::error::Error>::from)
        });
        proved.await.unwrap();

        for drawn in [[("ivory", 1), ("ivory", 1)], [("black", 1), ("ivory", 2)]] {
            let session = stage.replay().await;
            sell(&session.url(), drawn).unwrap();
            session.finish().await.unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_several_requests_the_one_that_says_most_alike_is_the_same() {
    let upstream = Upstream::json(|asked: &Asked| {
        let text = asked.text();
        format!(r#"{{"shard":"{}"}}"#, text.split('-').nth(1).unwrap_or_default())
    });
    let ask = |url: &str, number: usize, tail: &str| {
        post(&format!("{url}/jobs"), &format!(r#"{{"name":"job-{number}-{tail}"}}"#))
    };
    let tails = ["4345c6", "e9efb1", "f5f382", "44aeeb", "0b52a4", "a3c742"];
    let orders = [[0, 1, 2], [2, 0, 1], [1, 2, 0], [2, 1, 0]];
    let all = |url: &str, run: usize| {
        let of = |number: usize| ask(url, number, tails[(run + number) % tails.len()]);
        orders[run % orders.len()].map(of).to_vec()
    };
    let (stage, result) = proved_with(&upstream, all).await;
    result.unwrap();

    let session = stage.replay().await;
    for number in [1, 2, 0] {
        let told = ask(&session.url(), number, &format!("9d04e{number}")).text();
        assert_eq!(told, format!(r#"{{"shard":"{number}"}}"#));
    }
    session.finish().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_run_does_not_ask_for_is_made_up_where_it_is_in_all_others() {
    let words = |run: usize| {
        ["kqvzrtwa", "bxhfjmpl", "wdnygkcs", "rzqtbvhx"].map(|it| format!("{it}{run}"))
    };
    let ask = |url: &str, run: usize, count: usize| {
        let each = words(run).into_iter().enumerate().take(count);
        each.map(|(number, word)| get(&format!("{url}/poll?i={number}&t={word}"))).collect()
    };
    // The last one comes too late in the other runs.
    let (stage, result) = proved(|url, run| ask(url, run, if run == 0 { 4 } else { 3 })).await;
    result.unwrap();

    assert_eq!(values(&stage).len(), 4);
    let session = stage.replay().await;
    let told: Vec<Reply> = ask(&session.url(), 7, 4);
    assert!(told.iter().all(|reply| reply.status == 200), "{}", told[3].text());
    session.finish().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_says_what_a_later_request_makes_up_waits_for_it() {
    for is_chunked in [false, true] {
        check_awaited(is_chunked).await;
    }
}

/// The answer has its length, or comes in chunks.
async fn check_awaited(is_chunked: bool) {
    let (sender, receiver) = std::sync::mpsc::channel::<String>();
    let receiver = std::sync::Mutex::new(receiver);
    let upstream = Upstream::start(move |asked, wire| {
        match asked.path() {
            "/inbox" if is_chunked => {
                wire.send("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n");
                wire.send("Transfer-Encoding: chunked\r\n\r\n");
                wire.send_chunk(receiver.lock().unwrap().recv().unwrap());
                wire.send_end();
            }
            "/inbox" => wire.send(json(200, &receiver.lock().unwrap().recv().unwrap())),
            _ => {
                sender.send(asked.text().to_string()).unwrap();
                wire.send(json(200, "{}"));
            }
        }
        Then::KeepAlive
    });
    let talk = |url: &str, id: &str| {
        std::thread::scope(|scope| {
            let inbox = scope.spawn(|| get(&format!("{url}/inbox")));
            std::thread::sleep(Duration::from_millis(100));
            post(&format!("{url}/send"), &format!(r#"{{"m":"hello {id}"}}"#));
            vec![inbox.join().unwrap()]
        })
    };
    let id = |run: usize| format!("0565c09cebdd4512a3f8b83d7c9d9e2{run}");
    let (stage, result) = proved_with(&upstream, |url, run| talk(url, &id(run))).await;
    result.unwrap();

    let session = stage.replay().await;
    let told = talk(&session.url(), &id(7));
    assert_eq!(told[0].text(), format!(r#"{{"m":"hello {}"}}"#, id(7)));
    session.finish().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_word_that_differs_from_run_to_run_comes_back_wherever_it_is_said() {
    let upstream = Upstream::start(|asked, wire| {
        let name = asked.text();
        let name = name.split('"').nth(3).unwrap_or("nobody");
        let body = format!(
            r#"{{"urn":"user:{name}","by":{{"{name}":1}},"text":"hi\n{name}, {name}son!."}}"#
        );
        wire.send(format!(
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nX-File: \"{name}.txt\"\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        ));
        Then::KeepAlive
    });
    let ask = |url: &str, name: &str| post(&format!("{url}/x"), &format!(r#"{{"name":"{name}"}}"#));
    let names = ["Birch", "Frost", "Hazel", "Ivana"];
    let (stage, result) = proved_with(&upstream, |url, run| vec![ask(url, names[run])]).await;
    result.unwrap();

    let session = stage.replay().await;
    let told = ask(&session.url(), "Zoë");
    session.stop().await.unwrap();

    let expected = r#"{"urn":"user:Zoë","by":{"Zoë":1},"text":"hi\nZoë, Birchson!."}"#;
    assert_eq!(told.text(), expected);
    assert_eq!(told.field("x-file"), Some("\"Zoë.txt\""));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_word_that_the_server_said_first_stays_in_texts() {
    let upstream = Upstream::json(|asked: &Asked| match asked.path() {
        "/colours" => r#"{"all":"amber, birch, cedar"}"#.to_owned(),
        _ => format!(r#"{{"all":"amber, birch, cedar","asked":{}}}"#, asked.text()),
    });
    let ask = |url: &str, name: &str| {
        get(&format!("{url}/colours"));
        post(&format!("{url}/x"), &format!(r#"{{"name":"{name}"}}"#))
    };
    let names = ["birch", "cedar", "amber", "frost"];
    let (stage, result) = proved_with(&upstream, |url, run| vec![ask(url, names[run])]).await;
    result.unwrap();

    let session = stage.replay().await;
    let told = ask(&session.url(), "hazel");
    session.finish().await.unwrap();

    assert_eq!(told.text(), r#"{"all":"amber, birch, cedar","asked":{"name":"hazel"}}"#);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_client_decides_is_not_made_up() {
    // Yes or no; and what the recorded client says itself, of another thing.
    for words in [["true", "false"], [r#""approve""#, r#""deny""#], ["1.0", "2.0"]] {
        let decide = |url: &str, call: &str, word: &str| {
            let body = format!(r#"{{"call":"{call}","decision":{word}}}"#);
            post(&format!("{url}/decide"), &body)
        };
        let decide_both = |url: &str, run: usize| {
            let [one, other] = if run == 0 { words } else { [words[1], words[0]] };
            vec![decide(url, "a", one), decide(url, "b", other)]
        };
        let (stage, result) = proved(decide_both).await;

        let error = format!("{:?}", result.unwrap_err());
        assert!(error.contains("/decision"), "{error}");
        assert_eq!(values(&stage), []);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_as_long_as_random_values_in_its_place_is_random_too() {
    // Of sixteen letters and digits, all may be letters.
    let chats = [
        ["qWmXnRbTvKzPsLdF", "a8Kx0pQ2mZ7rT4wY"],
        ["b9Ly1qR3nA8sU5xZ", "c0Mz2rS4oB9tV6yA"],
        ["d1Na3sT5pC0uW7zB", "gHjKlMnBvCxZqWeR"],
    ];
    let say = |url: &str, chat: &str, what: &str| {
        post(&format!("{url}/chat"), &format!(r#"{{"id":"{chat}","text":"{what}","kind":"x"}}"#))
    };
    let talk = |url: &str, run: usize| -> Vec<Reply> {
        let said = [(0, "hello"), (0, "yes"), (1, "hello"), (1, "no")];
        said.into_iter().map(|(chat, what)| say(url, chats[run][chat], what)).collect()
    };
    let (stage, result) = proved(talk).await;
    result.unwrap();

    let both = chats[0].map(|chat| (chat.to_owned(), Evidence::Runs));
    assert_eq!(values(&stage), both);
    let session = stage.replay().await;
    let told: Vec<String> = talk(&session.url(), 2).iter().map(Reply::text).collect();
    session.finish().await.unwrap();
    assert!(told[1].contains(chats[2][0]) && told[3].contains(chats[2][1]), "{told:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_as_long_as_random_values_in_its_place_is_open_without_a_proof_too() {
    let (stage, upstream) = (Stage::new(), server());
    let say = |url: &str, chat: &str| {
        post(&format!("{url}/chat"), &format!(r#"{{"chat":"{chat}","kind":"x"}}"#)).status
    };
    let session = stage.record(&upstream).await;
    // One of them has no digit, and one is a word of another length.
    for chat in ["b9Ly1qR3nA8sU5xZ", "qWmXnRbTvKzPsLdF", "administrators"] {
        say(&session.url(), chat);
    }
    session.finish().await.unwrap();

    let session = stage.replay().await;
    let said = ["d1Na3sT5pC0uW7zB", "gHjKlMnBvCxZqWeR", "superintendent"];
    let told = said.map(|chat| say(&session.url(), chat));
    session.stop().await.unwrap();

    assert_eq!(told, [200, 200, 470]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_client_said_first_is_not_issued_by_an_answer_that_repeats_it() {
    let users = ["user-2e2ad2", "user-4ea535", "user-f2858b"];
    let asks = |url: &str, user: &str| {
        let things = post(&format!("{url}/users/{user}/things"), "{}");
        let stays = post(&format!("{url}/runs"), &format!(r#"{{"user_id":"{user}"}}"#));
        vec![things, stays, get(&format!("{url}/users/{user}"))]
    };
    let (stage, result) = proved(|url, run| asks(url, users[run])).await;
    result.unwrap();

    assert_eq!(values(&stage), [("2e2ad2".to_owned(), Evidence::Runs)]);
    assert_eq!(ids(&stage).server, []);
    let session = stage.replay().await;
    let told = asks(&session.url(), "user-ab12cd");
    assert_eq!(told[1].text(), r#"{"path":"/runs","asked":{"user_id":"user-ab12cd"}}"#);
    session.finish().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_only_looked_made_up_must_come_back() {
    let price = |id: &str| format!(r#"{{"price":"{id}"}}"#);
    let known = price("price_1MoBy5LkdIwHu7ixZhnattbh");
    let (stage, result) = proved(|url, _| vec![post(&format!("{url}/pay"), &known)]).await;
    result.unwrap();

    assert_eq!(values(&stage), []);
    let session = stage.replay().await;
    let other = post(&format!("{}/pay", session.url()), &price("price_1NxCz6MleJxIv8jyAioubuci"));
    assert_eq!(other.status, 470, "{}", other.text());
    assert!(other.text().contains("/price"), "{}", other.text());
    drop(session.stop().await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_process_makes_up_once_is_open_for_the_next_one() {
    // The same in each run of the proof, and no text of the program.
    let made_up = |seed: &str| format!("run-{}", &blake3::hash(seed.as_bytes()).to_hex()[..16]);
    let ask =
        |url: &str, name: &str| post(&format!("{url}/things"), &format!(r#"{{"name":"{name}"}}"#));
    let (stage, result) = proved(|url, _| vec![ask(url, &made_up("one"))]).await;
    result.unwrap();

    let session = stage.replay().await;
    assert_eq!(ask(&session.url(), &made_up("another")).status, 200);
    session.finish().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_session_on_a_clock_that_stands_still_replays_and_does_not_record() {
    let (stage, server) = (Stage::new(), server());
    let error = stage.session(Mode::Record).upstream(server.url()).start().await.unwrap_err();
    assert!(error.to_string().starts_with("the clock of the runtime stands still"), "{error}");
    assert!(error.hint().unwrap().contains("start_paused"), "{error:?}");

    tokio::time::resume();
    let session = stage.record(&server).await;
    let url = format!("{}/things", session.url());
    tokio::task::spawn_blocking(move || post(&url, "{}")).await.unwrap();
    session.finish().await.unwrap();

    tokio::time::pause();
    let session = stage.replay().await;
    let url = format!("{}/things", session.url());
    tokio::task::spawn_blocking(move || post(&url, "{}")).await.unwrap();
    session.finish().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_server_issued_is_not_made_up_however_often_it_differs() {
    let (stage, result) = proved(|url, run| {
        let made = post(&format!("{url}/agents"), "{}").text();
        let id = made.split('"').nth(3).unwrap().to_owned();
        // A client that forgets what it was told.
        let id =
            if run == 0 { id } else { format!("agent-{run}1111111-37a2-4fd9-92f1-fd5b1ee5a5f0") };
        vec![get(&format!("{url}/agents/{id}"))]
    })
    .await;

    let error = result.unwrap_err();
    assert!(format!("{error:?}").contains("the server issued"), "{error:?}");
    assert_eq!(stage.cassette().interactions.len(), 2, "the recording is kept");
    assert_eq!(values(&stage), []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_asks_for_something_else_each_time_is_not_proved() {
    let (_, result) = proved(|url, run| {
        let fields: Vec<String> = (0..=run).map(|at| format!(r#""f{at}":1"#)).collect();
        vec![post(&format!("{url}/x"), &format!("{{{}}}", fields.join(",")))]
    })
    .await;

    let error = result.unwrap_err();
    assert!(error.to_string().contains("does not replay in 4 runs"), "{error}");
    assert!(format!("{error:?}").contains("the recording has no such field"), "{error:?}");
}

/// Retries that another test left behind, before and after what this one asks.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_that_comes_beside_the_recorded_one_opens_nothing_and_is_missed() {
    let runs: [&[&str]; 3] = [
        &["/kind/408", "/kind/timeout"],
        &["/kind/timeout", "/kind/408"],
        &["/kind/408", "/kind/timeout", "/kind/timeout"],
    ];
    for (paths, recorded) in runs.iter().flat_map(|paths| [(paths, 1), (paths, 2)]) {
        let ask = |url: &str, run: usize| -> Vec<Reply> {
            let first = vec!["/kind/timeout"; recorded];
            let paths = if run == 0 { &first } else { *paths };
            paths.iter().map(|path| get(&format!("{url}{path}"))).collect()
        };
        let (stage, result) = proved(ask).await;

        let error = format!("{:?}", result.unwrap_err());
        assert!(error.contains("GET /kind/408"), "{paths:?}: {error}");
        assert_eq!(values(&stage), [], "{paths:?}");
        let session = stage.replay().await;
        assert_eq!(get(&format!("{}/kind/408", session.url())).status, 470);
        session.stop().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_taken_for_another_request_is_that_which_nobody_else_asks_for() {
    let ask = |url: &str, run: usize| -> Vec<Reply> {
        let names = ["name-9a8b", "name-1c2d", "name-3e4f"];
        let mut paths = ["home".to_owned(), names[run].to_owned()];
        // What has no order comes in another one.
        paths.rotate_left(usize::from(run > 0));
        paths.iter().map(|path| get(&format!("{url}/kind/{path}"))).collect()
    };
    let (stage, result) = proved(ask).await;

    result.unwrap();
    assert_eq!(values(&stage), [("9a8b".to_owned(), Evidence::Runs)]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_person_says_wins_over_what_differs() {
    let (stage, upstream) = (Stage::new(), server());
    let rules = retape::config::Rules::default().not_id("/name").unwrap();
    let runs = AtomicUsize::new(0);
    let settings = stage.session(Mode::Record).upstream(upstream.url()).rules(rules);

    let result = settings
        .run(async |session: &Session| {
            let name = runs.fetch_add(1, Ordering::Relaxed);
            post(&format!("{}/x", session.url()), &format!(r#"{{"name":"{name}11111"}}"#));
            Ok::<_, Error>(())
        })
        .await;

    let error = result.unwrap_err();
    assert!(format!("{error:?}").contains("/name"), "{error:?}");
    assert_eq!(values(&stage), []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_asks_nothing_the_next_time_proves_nothing() {
    let (_, result) =
        proved(
            |url, run| {
                if run == 0 { vec![post(&format!("{url}/x"), "{}")] } else { Vec::new() }
            },
        )
        .await;

    let error = result.unwrap_err();
    assert!(format!("{error:?}").contains("asked nothing"), "{error:?}");
}

/// A server whose answer takes a while, and a client that fails if it does not.
async fn hurried(pace: Option<Pace>) -> (Stage, Result<(), Box<dyn std::error::Error>>) {
    const WHILE: Duration = Duration::from_millis(60);
    let upstream = Upstream::raw(|mut wire| {
        wire.head();
        wire.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\ndata: 1\n\n");
        std::thread::sleep(WHILE);
        wire.send("data: 2\n\n");
    });
    let stage = Stage::new();
    let settings = stage.session(Mode::Record).upstream(upstream.url());
    let settings = pace.into_iter().fold(settings, |settings, pace| settings.pace(pace));
    let result = settings
        .run(async |session: &Session| {
            let began = Instant::now();
            get(&format!("{}/slow", session.url()));
            // What was recorded is rounded to milliseconds.
            let is_slow = began.elapsed() + Duration::from_millis(5) > WHILE;
            is_slow.then_some(()).ok_or_else(|| "it came too soon".into())
        })
        .await;
    (stage, result)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_needs_the_recorded_pace_gets_it() {
    let (stage, result) = hurried(None).await;

    result.unwrap();
    assert_eq!(stage.cassette().rules.timing(), Timing::Recorded);
    assert!(stage.file("tape.json").contains(r#""pace": "recorded""#));
    let session = stage.replay().await;
    let began = Instant::now();
    get(&format!("{}/slow", session.url()));
    assert!(began.elapsed() > Duration::from_millis(40));
    session.finish().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_pace_of_a_person_stays() {
    let (stage, result) = hurried(Some(Pace::Instant)).await;

    let error = result.unwrap_err().to_string();
    assert!(error.contains("does not replay"), "{error}");
    assert_eq!(stage.cassette().rules, Rules::default());
}

fn alphabets() -> impl Strategy<Value = (&'static str, usize)> {
    prop_oneof![
        Just("abcdefghijklmnopqrstuvwxyz"),
        Just("0123456789"),
        Just("0123456789abcdef"),
        Just("ABCDEFGHJKMNPQRSTVWXYZ0123456789"),
        Just("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-"),
        Just("aeiou-"),
        Just("äöü日本"),
    ]
    .prop_flat_map(|alphabet| (Just(alphabet), 3..30_usize))
}

fn word(alphabet: &str, length: usize, mut seed: u64) -> String {
    let letters: Vec<char> = alphabet.chars().collect();
    let next = || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        letters[(seed >> 20) as usize % letters.len()]
    };
    std::iter::repeat_with(next).take(length).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, ..ProptestConfig::default() })]

    #[test]
    fn a_client_that_makes_up_names_of_any_kind_is_proved_and_then_always_answered(
        (alphabet, length) in alphabets(),
        before in "(item-|run_|UNIQUE_MARKER_|)",
        start in 1..u64::MAX / 2,
    ) {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        let name = |run: u64| format!("{before}{}", word(alphabet, length, start.wrapping_add(run * 7919) | 1));
        let ask = |url: &str, run: u64| {
            let name = name(run);
            let body = format!(r#"{{"name":"{name}","text":"Remember {name} for me","n":1}}"#);
            post(&format!("{url}/things"), &body)
        };
        runtime.block_on(async {
            let (stage, result) = proved(|url, run| vec![ask(url, run as u64)]).await;
            result.unwrap();
            for run in 10..30 {
                let session = stage.replay().await;
                let told = ask(&session.url(), run);
                assert_eq!(told.status, 200, "{} after {}: {}", name(run), name(0), told.text());
                session.finish().await.unwrap();
            }
        });
    }

    #[test]
    fn a_name_that_stands_in_a_path_first_and_is_repeated_is_the_clients_all_the_same(
        (alphabet, length) in alphabets(),
        start in 1..u64::MAX / 2,
    ) {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        // As short a number is another one's by chance.
        let length = length.max(6);
        let ask = |url: &str, run: u64| {
            let name = word(alphabet, length, start.wrapping_add(run * 7919) | 1);
            let path: String = name.bytes().map(|byte| format!("%{byte:02X}")).collect();
            let user = format!(r#"{{"user_id":"{name}"}}"#);
            [
                post(&format!("{url}/users/{path}"), &user),
                post(&format!("{url}/runs"), &user),
                get(&format!("{url}/users/{path}/runs?of={path}")),
            ]
        };
        runtime.block_on(async {
            let (stage, result) = proved(|url, run| ask(url, run as u64).into()).await;
            result.unwrap();
            for run in 10..20 {
                let session = stage.replay().await;
                for told in ask(&session.url(), run) {
                    assert_eq!(told.status, 200, "{}", told.text());
                }
                session.finish().await.unwrap();
            }
        });
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bytes_that_differ_from_run_to_run_are_no_name() {
    let upload = |url: &str, run: usize| {
        let (address, _) = split(url);
        let body = [0xff, 0xfe, b'0' + run as u8, 0, 1];
        let head = format!(
            "POST /upload HTTP/1.1\r\nHost: {address}\r\n\
             Content-Type: application/octet-stream\r\nContent-Length: 5\r\n\r\n"
        );
        let mut wire = Wire::connect(address);
        wire.send([head.as_bytes(), &body].concat());
        reply(&mut wire, "POST")
    };
    let (stage, result) = proved(|url, run| vec![upload(url, run)]).await;

    let error = result.unwrap_err();
    assert!(format!("{error:?}").contains("compare = "), "{error:?}");
    assert_eq!(values(&stage), [], "it can be read");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_websocket_said_of_itself_answers_no_request() {
    let (stage, upstream) = (Stage::new(), server());
    let sockets = Sockets::start(|socket| {
        std::thread::sleep(Duration::from_millis(100));
        socket.send("late");
    });
    let runs = AtomicUsize::new(0);
    let settings = stage.session(Mode::Record).upstream(sockets.url());
    let result = settings
        .named_upstream("other", upstream.url())
        .run(async |session: &Session| {
            let url = session.url();
            let mut socket = Socket::open(&format!("{url}/x?by=websocket"));
            get(&format!("{url}/-other/y"));
            assert_eq!(socket.read().unwrap(), "late");
            if runs.fetch_add(1, Ordering::Relaxed) > 0 {
                assert_eq!(get(&format!("{url}/x?by=polling")).status, 470);
            }
            Ok::<_, Error>(())
        })
        .await;

    assert!(result.is_err(), "it asks for something else the second time");
    assert_eq!(values(&stage), []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_number_of_an_operation_on_a_websocket_is_the_clients_own() {
    let sockets = Sockets::answering(|text| vec![text.replace("subscribe", "next")]);
    let subscribe = |url: &str, topics: [&str; 2]| {
        let mut socket = Socket::open(&format!("{url}/graphql"));
        for (id, topic) in (1..).zip(topics) {
            let asked =
                format!(r#"{{"id":"{id}","type":"subscribe","payload":{{"on":"{topic}"}}}}"#);
            assert_eq!(socket.ask(&asked), asked.replace("subscribe", "next"));
        }
        socket.close(1000, "");
    };
    let stage = Stage::new();
    let settings = stage.session(Mode::Record).upstream(sockets.url());
    // Each run of the proof counts as the recording did.
    let proved = settings.run(async |session: &Session| {
        subscribe(&session.url(), ["rain", "wind"]);
        Ok::<_, Error>(())
    });
    proved.await.unwrap();

    let session = stage.replay().await;
    subscribe(&session.url(), ["wind", "rain"]);
    session.finish().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_asks_for_something_else_if_all_comes_at_once_is_proved_at_the_recorded_pace() {
    let upstream = Upstream::start(|_, wire| {
        wire.send(EVENTS);
        wire.send_chunk("data: 1\n\n");
        std::thread::sleep(Duration::from_millis(600));
        wire.send_chunk("data: 2\n\n");
        wire.send_end();
        Then::KeepAlive
    });

    let (stage, result) = proved_with(&upstream, |url, _| {
        let mut beat = Wire::connect(split(url).0);
        beat.send(request("GET", &format!("{url}/beat"), "", ""));
        beat.head().unwrap();
        assert_eq!(beat.data(), "data: 1\n\n");
        let is_late = beat.is_silent(Duration::from_millis(100));
        beat.data();
        if is_late { Vec::new() } else { vec![get(&format!("{url}/again"))] }
    })
    .await;

    result.unwrap();
    assert_eq!(stage.cassette().rules.timing(), Timing::Recorded);
}
