//! Clients that work at the same time, each in its own way: an unchanged server changes nothing.

use retape::Cassette;
use retape::cassette::{Evidence, Id, Interaction, Reach};
use retape::compare::renew::renew;

use super::cases::{issuing, talk};
use super::told;

/// A name that a server makes, another one in each run.
fn id(run: &str, what: &str, client: usize) -> String {
    let hash = blake3::hash(format!("{run} {what} {client}").as_bytes()).to_hex().to_string();
    let (one, two, three, four) = (&hash[..8], &hash[8..12], &hash[13..16], &hash[17..20]);
    format!("{one}-{two}-4{three}-8{four}-{}", &hash[20..32])
}

/// A boundary that a client makes up as undici does: nothing in it looks like an identifier.
fn boundary(run: &str, client: usize) -> String {
    let drawn = blake3::hash(format!("{run} {client}").as_bytes());
    let number = drawn.as_bytes()[..5].iter().fold(0, |all, byte| all * 256 + u64::from(*byte));
    format!("----formdata-undici-0{:011}", number % 100_000_000_000)
}

/// Each client makes an agent, lets it run, and reads what came of it. The steps of all of them stand in these orders;
/// in `extra`, one makes another agent beside.
fn together(run: &str, orders: [[usize; 4]; 3], extra: Option<usize>) -> Cassette {
    let steps = |client: usize| {
        let [agent, started] = ["agent", "run"].map(|what| id(run, what, client));
        [
            (
                format!(r#"POST /agents {{"name":"n{client}"}}"#),
                format!(r#"{{"id":"{agent}","name":"n{client}"}}"#),
            ),
            (
                format!(r#"POST /runs {{"agent_id":"{agent}"}}"#),
                format!(r#"{{"id":"{started}","agent_id":"{agent}","status":"queued"}}"#),
            ),
            (
                format!("GET /runs/{started}"),
                format!(r#"{{"id":"{started}","output":"hello n{client}"}}"#),
            ),
        ]
    };
    let orders = orders.iter().enumerate();
    let mut all: Vec<(String, String)> = orders
        .flat_map(|(step, order)| order.iter().map(move |client| steps(*client)[step].clone()))
        .collect();
    if let Some(at) = extra {
        let agent = id(run, "agent", 9);
        let asked = r#"POST /agents {"name":"a new one"}"#.to_owned();
        all.insert(at, (asked, format!(r#"{{"id":"{agent}","name":"a new one"}}"#)));
    }
    talk(&all.iter().map(|(asked, answer)| (asked.as_str(), answer.as_str())).collect::<Vec<_>>())
}

const BEFORE: [[usize; 4]; 3] = [[0, 1, 2, 3], [0, 1, 2, 3], [0, 1, 2, 3]];
const NOW: [[usize; 4]; 3] = [[2, 0, 3, 1], [3, 1, 0, 2], [1, 3, 2, 0]];

#[test]
fn what_only_its_identifiers_tell_apart_goes_with_what_led_to_it() {
    let old = together("old", BEFORE, None);

    let renewed = renew(&old, together("new", NOW, None)).cassette;

    assert_eq!(told(&renewed), told(&renewed));
}

#[test]
fn one_more_request_moves_no_other() {
    let old = together("old", BEFORE, None);
    for at in 1..12 {
        let new = together("new", NOW, Some(at));

        let mut renewed = renew(&old, new).cassette;

        let is_new = |body: &[u8]| body.ends_with(br#""a new one"}"#);
        let more = renewed.interactions.iter().position(|it| is_new(&it.request.body));
        renewed.interactions.remove(more.unwrap());
        assert_eq!(told(&renewed), told(&renewed), "{at}");
    }
}

#[test]
fn uploads_with_random_boundaries_keep_to_their_clients() {
    let uploads = |run: &str, order: [usize; 4]| {
        let items = order.map(|client| {
            let item = id(run, "item", client);
            (format!(r#"POST /items {{"name":"n{client}"}}"#), format!(r#"{{"id":"{item}"}}"#))
        });
        let files = order.map(|client| {
            let (item, boundary) = (id(run, "item", client), boundary(run, client));
            let asked = format!(
                "POST /items/{item}/file --{boundary}\r\nContent-Disposition: form-data; name=a\r\n\r\n\
                 hello n{client}\r\n--{boundary}--\r\n"
            );
            (asked, r#"{"ok":true}"#.to_owned())
        });
        let all: Vec<(String, String)> = items.into_iter().chain(files).collect();
        let mut talk = talk(
            &all.iter()
                .map(|(asked, answer)| (asked.as_str(), answer.as_str()))
                .collect::<Vec<_>>(),
        );
        for (file, client) in talk.interactions[4..].iter_mut().zip(order) {
            let boundary = boundary(run, client);
            let media = format!("multipart/form-data; boundary={boundary}");
            file.request.headers.set("content-type", media);
        }
        talk
    };
    let old = uploads("old", [0, 1, 2, 3]);

    let renewed = renew(&old, uploads("new", [2, 0, 3, 1])).cassette;

    assert_eq!(told(&renewed), told(&renewed));
}

/// Three customers are made, those behind the second one are listed, and payments of the first one, which name a
/// customer; the third one is deleted.
fn paid([first, second, third]: [&str; 3], payment: &str, named: &str) -> Cassette {
    let made = |customer: &str, name: &str| format!(r#"{{"id":"cus_{customer}","name":"{name}"}}"#);
    let made = [made(first, "Ada"), made(second, "Bob"), made(third, "Eve")];
    let exchanges = [
        (r#"POST /customers {"name":"Ada"}"#.to_owned(), made[0].clone()),
        (r#"POST /customers {"name":"Bob"}"#.to_owned(), made[1].clone()),
        (r#"POST /customers {"name":"Eve"}"#.to_owned(), made[2].clone()),
        (
            format!("GET /customers?starting_after=cus_{second}"),
            format!(r#"{{"data":[{}]}}"#, made[0]),
        ),
        (
            format!("GET /payments?customer=cus_{first}"),
            format!(r#"{{"data":[{{"id":"pi_{payment}","customer":"cus_{named}"}}]}}"#),
        ),
        (
            format!("DELETE /customers/cus_{third}"),
            format!(r#"{{"id":"cus_{third}","deleted":true}}"#),
        ),
    ];
    let exchanges: Vec<(&str, &str)> =
        exchanges.iter().map(|(asked, answer)| (asked.as_str(), answer.as_str())).collect();
    issuing(&[(0, first), (2, third)], &exchanges)
}

#[test]
fn a_name_without_its_prefix_is_not_called_what_the_one_with_it_is_not() {
    let before = ["KUWPnumQNkb2rU", "HOUB8Dlnuu4JbA", "Of3wn3975XuH6H"];
    let now = ["DZKXkIGyk7N6F2", "ACgCyyOpLuKHkp", "AVE7L4OzNOEkW1"];
    let (was, is) = ("oDWoREabrlbdwYRfONyd9qhv", "AyD4J1PW7wdBdfiP4n0ZzLdY");
    let another = "NMc43KnvzTKusJ";
    let old = paid(before, was, before[0]);

    let unchanged = renew(&old, paid(now, is, now[0])).cassette;
    let wrong = renew(&old, paid(now, is, another)).cassette;

    assert_eq!(unchanged.interactions, old.interactions);
    assert_eq!(wrong.interactions, paid(before, was, another).interactions);
}

#[test]
fn what_a_client_numbers_behind_a_name_keeps_its_number() {
    let threads = |drawn: &str, order: [usize; 6], more: &str| {
        let thread = |number: &usize| {
            let (title, id) = (format!("{drawn}-{number}"), id(drawn, "thread", *number));
            (
                format!(r#"POST /threads {{"title":"{title}"{more}}}"#),
                format!(r#"{{"id":"thread-{id}","title":"{title}","count":{number}}}"#),
            )
        };
        let said = |number: &usize| {
            let id = id(drawn, "thread", *number);
            (
                format!(
                    r#"POST /threads/thread-{id}/messages {{"content":"hi {drawn}-{number}"}}"#
                ),
                format!(r#"{{"text":"you said hi {drawn}-{number}"}}"#),
            )
        };
        let all = order.iter().map(thread).chain(order.iter().map(said));
        let all: Vec<(String, String)> = all.collect();
        talk(&all.iter().map(|(one, other)| (one.as_str(), other.as_str())).collect::<Vec<_>>())
    };
    let [was, is] = ["44a2fdb5810a4fc5957d42c49bd90924", "7b1f0c9ae3d84c1f9a5e2d6c8b407135"];
    let made_up = Id {
        value: was.to_owned(),
        interaction: 0,
        at: "/title".to_owned(),
        reach: Reach::Anywhere,
        evidence: Evidence::Runs,
    };
    let mut old = threads(was, [0, 1, 3, 2, 5, 4], "");
    old.ids.get_or_insert_default().client = vec![made_up];

    let renewed = renew(&old, threads(is, [0, 1, 2, 3, 4, 5], r#","locale":"en""#)).cassette;

    let kept = threads(was, [0, 1, 2, 3, 4, 5], r#","locale":"en""#);
    let told = |cassette: &Cassette| -> Vec<String> {
        let asked = cassette.interactions.iter().take(6);
        let text = |it: &Interaction| String::from_utf8_lossy(&it.request.body).into_owned();
        asked.map(text).collect()
    };
    assert_eq!(told(&renewed), told(&kept));
}
