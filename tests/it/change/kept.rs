//! What a server was told, and says otherwise when it is asked.

use super::recordings::{compared, exchange, learned};
use super::state::{Side, apart, both};
use super::told;
use retape::cassette::Interaction;
use retape::{Cassette, Name};

/// How a server keeps what it was told.
#[derive(Clone, Copy, PartialEq)]
enum Keeps {
    All,
    /// It says another name than it was told.
    OtherName,
    /// It says yes to a new name, and keeps the old one.
    OldName,
    /// What was made last is missing in the list.
    NotTheLast,
    /// What was deleted is still there.
    Deleted,
}

fn asked(method: &str, path: &str, asked: &str, status: u16, said: &str) -> Interaction {
    let mut interaction = exchange(path, asked, status, &[said]);
    interaction.request.method = method.to_owned();
    interaction
}

/// In each recording two agents are made, one gets another name, both are listed, and one is deleted.
fn agents(keeps: Keeps) -> Side {
    let one = |number: usize| {
        let [first, second] = ["a", "b"].map(|letter| format!("agent-5f1c{number:04}{letter}"));
        let agent = |id: &str, name: &str| format!(r#"{{"id":"{id}","name":"{name} {number}"}}"#);
        let list = |rows: &[String]| format!(r#"{{"data":[{}]}}"#, rows.join(","));
        let name = |name: &str| format!(r#"{{"name":"{name} {number}"}}"#);
        let made = agent(&first, if keeps == Keeps::OtherName { "helpful" } else { "helper" });
        let renamed = agent(&first, if keeps == Keeps::OldName { "helper" } else { "nurse" });
        let (other, is) = (agent(&second, "cook"), |it: Keeps| keeps == it);
        let path = format!("/agents/{first}");
        let both = if is(Keeps::NotTheLast) {
            vec![renamed.clone()]
        } else {
            vec![renamed.clone(), other.clone()]
        };
        let left = if is(Keeps::Deleted) { both.clone() } else { vec![renamed.clone()] };
        let interactions = [
            asked("POST", "/agents", &name("helper"), 200, &agent(&first, "helper")),
            asked("GET", &path, "", 200, &made),
            asked("PATCH", &path, &name("nurse"), 200, &agent(&first, "nurse")),
            asked("GET", &path, "", 200, &renamed),
            // What a write does of which the answer says nothing is nobody's promise.
            asked("POST", &format!("{path}/reset"), "", 202, "{}"),
            asked("GET", &path, "", 200, &agent(&first, "nobody")),
            asked("PATCH", &path, &name("nurse"), 200, &agent(&first, "nurse")),
            asked("POST", "/agents", &name("cook"), 200, &other),
            asked("GET", "/agents", "", 200, &list(&both)),
            asked("DELETE", &format!("/agents/{second}"), "", 204, ""),
            asked("GET", "/agents", "", 200, &list(&left)),
        ];
        let cassette = Cassette { interactions: interactions.into(), ..Cassette::default() };
        (Name::new(format!("c-{number}")).unwrap(), cassette)
    };
    (0..8).map(one).collect()
}

#[test]
fn what_is_read_back_otherwise_is_told() {
    let broken = |what: &str| format!("breaking invariant-broken: `{what}` does not hold any more");
    let cases = [
        (Keeps::OtherName, "name stays with id"),
        (Keeps::OldName, "name stays with id"),
        (Keeps::NotTheLast, "_.data[].id lists what was made"),
        (Keeps::Deleted, "_.data[].id lists what was made"),
    ];
    for (keeps, what) in cases {
        for told in both(&agents(Keeps::All), &agents(keeps)) {
            assert!(told.contains(&broken(what)), "{told:?}");
        }
    }
    assert_eq!(both(&agents(Keeps::All), &agents(Keeps::All)), [const { Vec::<String>::new() }; 2]);
}

#[test]
fn a_query_of_graphql_says_what_was_said_before() {
    let side = |is_kept: bool| -> Side {
        let one = |number: usize| {
            let id = format!("task_5f1c{number:04}a");
            let ask = |operation: &str, said: String| {
                let query =
                    format!(r#"{operation} Do($id: ID) {{ task(id: $id) {{ id title }} }}"#);
                let asked = format!(r#"{{"query":"{query}","variables":{{"id":"{id}"}}}}"#);
                exchange("/graphql", &asked, 200, &[&format!(r#"{{"data":{{"task":{said}}}}}"#)])
            };
            let task = |title: &str| format!(r#"{{"id":"{id}","title":"{title} {number}"}}"#);
            let interactions = vec![
                ask("mutation", task("write")),
                ask("query", task(if is_kept { "write" } else { "read" })),
                ask("mutation", task("sing")),
                ask("query", task("sing")),
            ];
            let cassette = Cassette { interactions, ..Cassette::default() };
            (Name::new(format!("c-{number}")).unwrap(), cassette)
        };
        (0..8).map(one).collect()
    };

    let broken = "`_.data.task.title stays with _.data.task.id` does not hold any more";
    for told in both(&side(true), &side(false)) {
        assert_eq!(told, [format!("breaking invariant-broken: {broken}")]);
    }
    assert_eq!(both(&side(true), &side(true)), [const { Vec::<String>::new() }; 2]);
}

#[test]
fn what_was_deleted_under_an_encoded_name_is_not_missing() {
    let one = |number: usize| {
        let [first, second] = ["a", "b"].map(|letter| format!("key:5f1c{number:04}{letter}"));
        let key = |id: &str| format!(r#"{{"id":"{id}","name":"n{number}"}}"#);
        let made = |id: &str| asked("POST", "/keys", r#"{"name":"n"}"#, 200, &key(id));
        let list = |rows: &[String]| {
            let said = format!(r#"{{"data":[{}]}}"#, rows.join(","));
            asked("GET", "/keys", "", 200, &said)
        };
        let deleted = format!("/keys/{}/", second.replace(':', "%3A"));
        let interactions = vec![
            made(&first),
            made(&second),
            list(&[key(&first), key(&second)]),
            asked("DELETE", &deleted, "", 204, ""),
            list(&[key(&first)]),
        ];
        let cassette = Cassette { interactions, ..Cassette::default() };
        (Name::new(format!("c-{number}")).unwrap(), cassette)
    };
    let side: Side = (0..8).map(one).collect();

    let contracts = learned(&side).iter().map(ToString::to_string).collect::<String>();
    assert!(contracts.contains("_.data[].id lists what was made"), "{contracts}");
}

/// Each recording turns the pages of a list by their number. `types` are what the list and each row says beside that.
fn pages([list, row_type]: [&str; 2], is_ignored: bool) -> Side {
    let one = |number: usize| {
        let page = |page: usize, at: &str| {
            let page = if is_ignored { 0 } else { page };
            let row = |row: usize| format!(r#"{{{row_type}"id":"row_{number}p{page}r{row}"}}"#);
            let rows = [0, 1].map(row).join(",");
            asked("GET", at, "", 200, &format!(r#"{{{list}"data":[{rows}]}}"#))
        };
        // Without a number it is the first page again.
        let interactions = [
            page(0, "/list?q=x"),
            page(0, "/list?q=x&page=1"),
            page(1, "/list?q=x&page=2"),
            // What is put before a page moves its rows to the next one.
            asked("POST", "/rows", "{}", 200, "{}"),
            page(0, "/list?q=x&page=2"),
        ];
        let cassette = Cassette { interactions: interactions.into(), ..Cassette::default() };
        (Name::new(format!("c-{number}")).unwrap(), cassette)
    };
    (0..8).map(one).collect()
}

#[test]
fn a_page_that_comes_again_though_another_number_was_asked_for_is_told() {
    let what = "`_.data[].id new behind request.page`";
    // That a list or its rows say what they are takes nothing away.
    for types in [["", ""], [r#""object":"list","#, ""], ["", r#""type":"row","#]] {
        let (kept, ignored) = (pages(types, false), pages(types, true));
        for told in both(&kept, &ignored) {
            assert_eq!(told, [format!("breaking invariant-broken: {what} does not hold any more")]);
        }
        assert_eq!(both(&kept, &pages(types, false)), [const { Vec::<String>::new() }; 2]);
    }
}

/// Each recording asks for the first page without a number, and for the second one by that. That one begins so
/// many rows before it should.
fn pages_behind_the_first(query: &str, next: usize, overlap: usize) -> Side {
    let one = |number: usize| {
        let page = |page: usize| {
            let from = if page == 0 { 0 } else { 3 * page - overlap };
            let row = |row: usize| format!(r#"{{"id":"row_{number}r{row}"}}"#);
            let rows = (from..from + 3).map(row).collect::<Vec<_>>().join(",");
            let mark = if query.is_empty() { "?" } else { "&" };
            let turned = format!("{mark}page={}", page * next);
            let turned = if page == 0 { "" } else { &turned };
            let at = format!("/list{query}{turned}");
            asked("GET", &at, "", 200, &format!(r#"{{"data":[{rows}]}}"#))
        };
        let interactions = vec![page(0), page(1)];
        let cassette = Cassette { interactions, ..Cassette::default() };
        (Name::new(format!("c-{number}")).unwrap(), cassette)
    };
    (0..8).map(one).collect()
}

#[test]
fn a_second_page_that_says_a_row_of_the_first_one_is_told_though_that_had_no_number() {
    let what = "`_.data[].id new behind no request.page`";
    for query in ["", "?q=x"] {
        let kept = pages_behind_the_first(query, 2, 0);
        for told in both(&kept, &pages_behind_the_first(query, 2, 1)) {
            assert_eq!(told, [format!("breaking invariant-broken: {what} does not hold any more")]);
        }
        assert_eq!(both(&kept, &kept), [const { Vec::<String>::new() }; 2]);
    }
}

#[test]
fn the_page_without_a_number_may_be_the_first_one_with_a_number() {
    for next in [0, 1] {
        let contracts = learned(&pages_behind_the_first("", next, 0));
        let contracts = contracts.iter().map(ToString::to_string).collect::<String>();
        assert!(!contracts.contains("new behind"), "{contracts}");
    }
}

#[test]
fn what_a_number_chooses_may_stand_among_all_if_nobody_had_asked_for_these() {
    // Each number alone, and then behind all of them.
    let side = |begins_with_all: bool| -> Side {
        let one = |number: usize| {
            let row = |year: usize| format!(r#"{{"id":"row_{number}y{year}"}}"#);
            let list = |years: &[usize], query: &str| {
                let rows = years.iter().map(|year| row(*year)).collect::<Vec<_>>().join(",");
                let said = format!(r#"{{"data":[{rows}]}}"#);
                asked("GET", &format!("/list{query}"), "", 200, &said)
            };
            let all = begins_with_all.then(|| list(&[2023, 2024], ""));
            let chosen = [2023, 2024].map(|year| list(&[year], &format!("?year={year}")));
            let interactions = all.into_iter().chain(chosen).collect();
            let cassette = Cassette { interactions, ..Cassette::default() };
            (Name::new(format!("c-{number}")).unwrap(), cassette)
        };
        (0..8).map(one).collect()
    };
    for told in both(&side(false), &side(true)) {
        assert!(told.iter().all(|it| !it.starts_with("breaking invariant")), "{told:?}");
    }
    let contracts = learned(&side(true)).iter().map(ToString::to_string).collect::<String>();
    assert!(!contracts.contains("new behind no"), "{contracts}");
}

#[test]
fn a_page_that_begins_with_the_last_row_of_the_one_before_is_told_wherever_its_token_stands() {
    // As GraphQL has them: each row says its token before it says what it is.
    let side = |first: usize| -> Side {
        let one = |number: usize| {
            let row = |row: usize| {
                format!(
                    r#"{{"cursor":"at{number}c{row}xyz","node":{{"id":"row_{number}p0r{row}"}}}}"#
                )
            };
            let page = |from: usize, after: &str| {
                let rows = (from..from + 3).map(row).collect::<Vec<_>>().join(",");
                let asked = format!(r#"{{"query":"{{ rows }}","variables":{{"n":3{after}}}}}"#);
                let said = format!(r#"{{"data":{{"rows":{{"edges":[{rows}]}}}}}}"#);
                exchange("/graphql", &asked, 200, &[&said])
            };
            let after = format!(r#","after":"at{number}c2xyz""#);
            let interactions = vec![page(0, ""), page(first, &after)];
            let cassette = Cassette { interactions, ..Cassette::default() };
            (Name::new(format!("c-{number}")).unwrap(), cassette)
        };
        (0..8).map(one).collect()
    };
    let broken = "`_.data.rows.edges[].node.id new behind request.variables.after`";

    for told in both(&side(3), &side(2)) {
        let is_it =
            |it: &String| it.starts_with("breaking invariant-broken") && it.contains(broken);
        assert!(told.iter().any(is_it), "{told:?}");
    }
}

/// Recordings of a list of GraphQL, each with rows of its own, in which one token leads on; `echoed` is what the next
/// page says of it.
fn led_on_by(token: &str, echoed: &str, first: usize) -> Side {
    let one = |number: usize| {
        let row = |row: usize| format!(r#"{{"id":"row_{number}p0r{row}"}}"#);
        let page = |from: usize, after: &str, said: &str| {
            let rows = (from..from + 3).map(row).collect::<Vec<_>>().join(",");
            let asked = format!(r#"{{"query":"{{ rows }}","variables":{{"n":3{after}}}}}"#);
            let said = format!(r#"{{"data":{{"rows":{{"nodes":[{rows}],"at":{said}}}}}}}"#);
            exchange("/graphql", &asked, 200, &[&said])
        };
        let after = format!(r#","after":"{token}""#);
        let said = format!(r#""{token}""#);
        let interactions = vec![page(0, "", &said), page(first, &after, echoed)];
        let cassette = Cassette { interactions, ..Cassette::default() };
        (Name::new(format!("c-{number}")).unwrap(), cassette)
    };
    (0..8).map(one).collect()
}

#[test]
fn a_token_that_says_a_position_and_so_is_the_same_in_all_recordings_leads_on_too() {
    let broken = "`_.data.rows.nodes[].id new behind request.variables.after`";
    let side = |first| led_on_by("Y3VyOjE=", "null", first);
    for told in both(&side(3), &side(2)) {
        assert_eq!(told, [format!("breaking invariant-broken: {broken} does not hold any more")]);
    }
    assert_eq!(both(&side(3), &side(3)), [const { Vec::<String>::new() }; 2]);
}

#[test]
fn a_word_that_the_next_answer_says_too_leads_nowhere() {
    let contracts = learned(&led_on_by("model-4.1", r#""model-4.1""#, 3));
    let contracts = contracts.iter().map(ToString::to_string).collect::<String>();
    assert!(!contracts.contains("new behind"), "{contracts}");
}

#[test]
fn a_client_may_go_on_from_a_row_in_the_midst_of_a_page() {
    // The first page has three rows, and the next one begins behind the last of them, or behind the first.
    let side = |is_last: bool| -> Side {
        let one = |number: usize| {
            let row = |row: usize| format!(r#"{{"id":"row_{number}p0r{row}"}}"#);
            let page = |rows: [usize; 3], at: &str| {
                let rows = rows.map(row).join(",");
                asked("GET", at, "", 200, &format!(r#"{{"data":[{rows}]}}"#))
            };
            let (from, rows) = if is_last { (2, [3, 4, 5]) } else { (0, [1, 2, 3]) };
            let next = format!("/list?after=row_{number}p0r{from}&n=3");
            let interactions = vec![page([0, 1, 2], "/list?n=3"), page(rows, &next)];
            let cassette = Cassette { interactions, ..Cassette::default() };
            (Name::new(format!("c-{number}")).unwrap(), cassette)
        };
        (0..8).map(one).collect()
    };

    let contracts = learned(&side(true)).iter().map(ToString::to_string).collect::<String>();
    assert!(contracts.contains("_.data[].id new behind request.after"), "{contracts}");
    for told in both(&side(true), &side(false)) {
        assert!(told.iter().all(|it| !it.starts_with("breaking invariant")), "{told:?}");
    }
}

#[test]
fn what_a_search_finds_is_in_order_whatever_type_it_says() {
    let found = |[list, row_type]: [&str; 2], is_turned: bool| -> Side {
        let one = |number: usize| {
            let row = |row: usize| {
                let rank = if is_turned { row } else { 9 - row };
                let score = rank * 100 + (number * 37 + row * 11) % 90;
                format!(r#"{{{row_type}"file_id":"file_{number}r{row}","score":{score}}}"#)
            };
            let rows = [0, 1, 2, 3].map(row).join(",");
            let query = format!(r#"{{"query":"number {number}"}}"#);
            exchange("/search", &query, 200, &[&format!(r#"{{{list}"data":[{rows}]}}"#)])
        };
        apart("c", (0..12).map(one))
    };
    let what =
        "breaking invariant-broken: `_.data[] sorted by score falling` does not hold any more";
    for types in [["", ""], [r#""object":"page","#, ""], ["", r#""object":"hit","#]] {
        for told in both(&found(types, false), &found(types, true)) {
            assert!(told.contains(&what.to_owned()), "{types:?}: {told:?}");
        }
    }
}

/// Orders that are made as drafts and confirmed, unless they are only looked at. Each cassette has a name of its own.
fn orders(name: &str, is_confirmed: bool, read: &str) -> Side {
    let one = |number: usize| {
        let id = format!("ord_{}f{number:03}c", name.len());
        let order = |state: &str| {
            let paid = if state == "draft" { "null" } else { r#""2026-11-30T10:00:00Z""# };
            format!(r#"{{"id":"{id}","state":"{state}","paid_at":{paid}}}"#)
        };
        let path = format!("/orders/{id}");
        let mut interactions = vec![asked("POST", "/orders", r#"{"n":1}"#, 201, &order("draft"))];
        let confirm = format!("{path}/confirm");
        let confirmed = asked("POST", &confirm, "{}", 200, &order("confirmed"));
        interactions.extend(is_confirmed.then_some(confirmed));
        interactions.push(asked("GET", &path, "", 200, &order(read)));
        let cassette = Cassette { interactions, ..Cassette::default() };
        (Name::new(format!("{name}-{number}")).unwrap(), cassette)
    };
    (0..10).map(one).collect()
}

#[test]
fn a_state_that_another_answer_said_before_is_not_new_where_it_is_read_first() {
    let before = orders("pay", true, "confirmed");
    let drafts = [before.clone(), orders("look", false, "draft")].concat();
    let told = told(&compared(&before, &drafts));
    assert!(told.iter().any(|it| it.starts_with("unproven value-new: `state`")), "{told:?}");
    assert!(!told.iter().any(|it| it.starts_with("breaking")), "{told:?}");

    // A server that forgets what it has confirmed breaks its clients.
    for told in both(&before, &orders("pay", true, "draft")) {
        assert!(told.iter().any(|it| it.starts_with("breaking value-new: `state`")), "{told:?}");
    }
}

#[test]
fn a_thing_that_each_request_names_is_no_page() {
    let one = |number: usize| {
        let owner = format!("cus_5f1c{number:04}a");
        let made = |item: usize| {
            let said =
                format!(r#"{{"owner":"{owner}","items":[{{"id":"item_{number}x{item}y"}}]}}"#);
            asked("POST", "/orders", &format!(r#"{{"owner":"{owner}"}}"#), 201, &said)
        };
        let interactions = vec![made(1), made(2), made(3)];
        let cassette = Cassette { interactions, ..Cassette::default() };
        (Name::new(format!("c-{number}")).unwrap(), cassette)
    };
    let side: Side = (0..8).map(one).collect();

    let contracts = learned(&side).iter().map(ToString::to_string).collect::<String>();

    assert!(contracts.contains("owner equals request.owner"), "{contracts}");
    assert!(!contracts.contains("new behind"), "{contracts}");
}

/// In each recording a job is made, and asked for until it is done: what each answer says of it.
fn jobs(said: &[(&str, u64)]) -> Side {
    let one = |number: usize| {
        let id = format!("job_5f1c{number:04}a");
        let job = |(status, progress): &(&str, u64)| {
            format!(r#"{{"id":"{id}","status":"{status}","progress":{progress}}}"#)
        };
        let [first, polls @ ..] = said else { unreachable!("a job is made") };
        let made = asked("POST", "/jobs", &number.to_string(), 201, &job(first));
        let polls = polls.iter().map(|it| asked("GET", &format!("/jobs/{id}"), "", 200, &job(it)));
        let interactions = std::iter::once(made).chain(polls).collect();
        (
            Name::new(format!("j-{number}")).unwrap(),
            Cassette { interactions, ..Cassette::default() },
        )
    };
    (0..6).map(one).collect()
}

#[test]
fn what_moves_one_way_from_poll_to_poll_does_not_move_back() {
    let made = ("queued", 0);
    let old = jobs(&[made, ("queued", 5), ("running", 20), ("running", 70), ("done", 100)]);
    let falls = [made, ("queued", 5), ("running", 70), ("running", 20), ("done", 100)];
    let returns =
        [made, ("queued", 5), ("running", 20), ("queued", 30), ("running", 70), ("done", 100)];
    let slower = [made, made, made, ("running", 0), ("running", 99), ("done", 100)];
    let broken = |what: &str| format!("breaking invariant-broken: `{what}` does not hold any more");

    for told in both(&old, &jobs(&falls)) {
        assert_eq!(told, [broken("progress never falls with id")]);
    }
    for told in both(&old, &jobs(&returns)) {
        assert_eq!(told[0], broken("status never returns with id"));
    }
    assert_eq!(both(&old, &jobs(&slower)), [const { Vec::<String>::new() }; 2]);
}

#[test]
fn what_has_moved_both_ways_or_after_a_request_may_do_so_again() {
    let restless = jobs(&[("idle", 7), ("busy", 3), ("idle", 9), ("busy", 1)]);
    assert_eq!(
        both(&restless, &jobs(&[("idle", 9), ("busy", 7), ("idle", 3), ("busy", 1)])),
        [[""; 0]; 2]
    );

    let mut again = jobs(&[("queued", 0), ("running", 20), ("running", 70), ("done", 100)]);
    let old = again.clone();
    for (number, (_, cassette)) in again.iter_mut().enumerate() {
        let path = cassette.interactions[1].request.path.clone();
        let retry = asked("POST", &format!("{path}/retry"), "", 202, "{}");
        let answers: Vec<Interaction> = old[number].1.interactions[1..].to_vec();
        cassette.interactions.push(retry);
        cassette.interactions.extend(answers);
    }
    let told = both(&old, &again);
    assert!(told.iter().flatten().all(|told| !told.starts_with("breaking")), "{told:?}");
}

/// In each recording something is paid with a key, and the same again, and then with another key.
fn payments(key: fn(usize, &mut Interaction), comes_to: [usize; 3]) -> Side {
    let one = |number: usize| {
        let pay = |(at, id): (usize, &usize)| {
            let said = format!(r#"{{"id":"pay_5f1c{number:03}{id}a"}}"#);
            let mut interaction = asked("POST", "/payments", r#"{"amount":5}"#, 201, &said);
            key(number * 10 + at / 2, &mut interaction);
            interaction
        };
        let interactions = comes_to.iter().enumerate().map(pay).collect();
        (
            Name::new(format!("p-{number}")).unwrap(),
            Cassette { interactions, ..Cassette::default() },
        )
    };
    (0..6).map(one).collect()
}

#[test]
fn a_request_with_the_same_key_comes_to_the_same() {
    let head = |key: usize, it: &mut Interaction| {
        it.request.headers.append("idempotency-key", format!("retry-7c2e4f{key:04}"));
    };
    let body = |key: usize, it: &mut Interaction| {
        it.request.body = format!(r#"{{"amount":5,"request_id":"7c2e4f{key:04}"}}"#).into();
    };
    let broken = "`id stays when the same is asked again` does not hold any more";
    for key in [head, body] {
        for told in both(&payments(key, [1, 1, 2]), &payments(key, [1, 3, 2])) {
            assert_eq!(told, [format!("breaking invariant-broken: {broken}")]);
        }
    }
    let none = |_: usize, _: &mut Interaction| {};
    assert_eq!(both(&payments(none, [1, 1, 2]), &payments(none, [1, 3, 2])), [[""; 0]; 2]);
}
