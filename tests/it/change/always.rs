//! What values always were, and never are any more, is told though no contract says it.

use super::recordings::{compared, compared_beside, exchange, learned};
use super::state::{Side, apart};
use super::told;
use retape::{Cassette, Name};

/// Twelve recordings in which the server says this, each to a question of its own that both sides ask.
fn side(said: impl Fn(usize) -> String) -> Side {
    asking("how is it", said)
}

fn asking(question: &str, said: impl Fn(usize) -> String) -> Side {
    let one = |number: usize| {
        let asked = format!(r#"{{"text":"{question} {number}"}}"#);
        exchange("/chat", &asked, 200, &[said(number).as_str()])
    };
    apart("c", (0..12).map(one))
}

fn between(old: &Side, new: &Side) -> Vec<String> {
    told(&compared(old, new))
}

/// What is told where values of one field are others, as JSON.
fn of_values(old: impl Fn(usize) -> String, new: impl Fn(usize) -> String) -> Vec<String> {
    let of = |value: String| format!(r#"{{"amount":{value},"n":1}}"#);
    between(&side(|number| of(old(number))), &side(|number| of(new(number))))
}

#[test]
fn what_always_held_of_a_value_and_never_does_now_is_told() {
    let text = |said: String| format!("{said:?}");
    let number = |number: usize| 1_700_000_000 + 7 * number;
    type Said = Box<dyn Fn(usize) -> String>;
    let cases: [(Said, Said, &str); 8] = [
        (
            Box::new(move |at| text(format!("{}.{at}", at + 3))),
            Box::new(move |at| text(format!("{}{at}", at + 30))),
            "always had a `.` in it, and never does now",
        ),
        (
            Box::new(move |at| text(format!("/files/w{at}.png"))),
            Box::new(move |at| text(format!("https://h.example/files/w{at}.png"))),
            "was never an address with `://`, and always is now",
        ),
        (
            Box::new(move |at| number(at).to_string()),
            Box::new(move |at| (number(at) * 1000).to_string()),
            "was at most 1700000077, and is at least 1700000000000 now",
        ),
        (
            Box::new(move |at| format!("[{at},{}]", at * 3)),
            Box::new(move |at| format!("[{at},{},0]", at * 5)),
            "always had 2 elements, and always has 3 elements now",
        ),
        (
            Box::new(move |at| text(format!("word {at}"))),
            Box::new(move |_| text(String::new())),
            "was never empty, and always is now",
        ),
        (
            Box::new(move |at| (at + 17).to_string()),
            Box::new(move |_| 0.to_string()),
            "was never 0, and always is now",
        ),
        (
            Box::new(move |at| text(["NOT_FOUND", "BAD_INPUT"][at % 2].to_owned())),
            Box::new(move |at| text(["not-found", "bad-input"][at % 2].to_owned())),
            "never says `NOT_FOUND` any more, and says `not-found`",
        ),
        (
            Box::new(move |at| text([&format!("w{at}"), "root"][at.min(1)].to_owned())),
            Box::new(move |at| text([&format!("w{at}"), "admin"][at.min(1)].to_owned())),
            "never says `root` any more, and says `admin`",
        ),
    ];
    for (old, new, what) in cases {
        let told = of_values(&old, &new);
        assert!(
            told.iter().any(|it| it.starts_with("unproven value-other:") && it.contains(what)),
            "{told:?} and not {what}"
        );
        assert_eq!(of_values(&old, &old), [""; 0], "{what}");
        assert_eq!(of_values(&new, &new), [""; 0], "{what}");
    }
}

#[test]
fn a_code_of_an_error_that_is_always_another_one_breaks() {
    let code = |code: i64| format!(r#"{{"error":{{"code":{code},"n":1}}}}"#);

    let told = between(&side(|_| code(-32602)), &side(|_| code(-32000)));

    assert_eq!(
        told,
        ["breaking value-new: `error.code` can be `-32000`, and is never `-32602` any more"]
    );
}

#[test]
fn the_number_of_a_refusal_is_its_code_and_no_version() {
    let code = |code: i64| format!(r#"{{"code":{code},"message":"It is not so."}}"#);
    let refused = |number: i64| -> Side {
        let one = |it: usize| exchange("/chat", &format!(r#"{{"n":{it}}}"#), 404, &[&code(number)]);
        apart("c", (0..12).map(one))
    };

    for (was, is) in [(10003, 10008), (-1121, -2010)] {
        let told = between(&refused(was), &refused(is));
        let what = format!("`code` is `{is}` where the same is asked, and was `{was}`");
        assert_eq!(told, [format!("breaking value-other: {what}")]);
    }
}

#[test]
fn what_is_another_in_each_release_or_each_recording_is_no_change() {
    let cases = [
        (r#""1.9.0""#, r#""1.10.0""#),
        (r#""1.9""#, r#""2""#),
        (r#""msg_8f3kQzT1xLm2Wp""#, r#""msg_Zk29LpQ7vTn4Rb""#),
        (r#""It is fine.""#, r#""All is well.""#),
        ("4096", "8192"),
    ];
    for (old, new) in cases {
        let told = of_values(|_| old.to_owned(), |_| new.to_owned());
        assert!(!told.iter().any(|it| it.contains("value-other")), "{told:?}");
    }
}

#[test]
fn a_state_that_each_conversation_says_twice_is_no_word() {
    let side = |first: usize| -> Side {
        let one = |number: usize| {
            let said = format!(r#"{{"state":"{}","n":1}}"#, first + 2 * number);
            let ask = |part: &str| {
                exchange("/mail", &format!(r#"{{"part":"{part}"}}"#), 200, &[said.as_str()])
            };
            let interactions = vec![ask("a"), ask("b")];
            let name = Name::new(format!("c-{number}")).unwrap();
            (name, Cassette { interactions, ..Cassette::default() })
        };
        (0..10).map(one).collect()
    };

    assert_eq!(between(&side(195), &side(700)), [""; 0]);
}

#[test]
fn numbers_in_lists_of_lists_begin_with_what_their_first_one_is() {
    let point = |at: usize| format!("[{at}.5,52.5]");
    let line = |at: usize| format!("[{},{}]", point(at + 7), point(at + 9));
    let of = |at: usize| match at % 3 {
        0 => point(at),
        _ => line(at),
    };

    let told = of_values(of, |at| of(at + 30));

    assert!(!told.iter().any(|it| it.contains("began at")), "{told:?}");
}

#[test]
fn identifiers_are_no_words_whatever_their_field_is_called() {
    for name in ["payment_method", "close_reason", "order_status", "event_type"] {
        let of = |value: &'static str| move |_| format!(r#"{{"{name}":"{value}","n":1}}"#);
        let told = between(&side(of("pm_8f3kQzT1xLm2Wp")), &side(of("pm_Zk29LpQ7vTn4Rb")));
        assert!(!told.iter().any(|it| it.contains("value-other")), "{told:?}");
    }
}

#[test]
fn a_time_is_no_word_of_its_field() {
    let of = |second: usize| {
        move |it: usize| format!(r#"{{"joined":"2026-11-28T04:37:1{}Z"}}"#, second + it % 2)
    };
    let told = between(&side(of(5)), &side(of(6)));
    assert!(!told.iter().any(|it| it.contains("value-other")), "{told:?}");
}

#[test]
fn what_clients_say_or_ask_otherwise_is_no_change_of_the_server() {
    let told = |old: &Side, new: &Side| {
        let told = between(old, new);
        told.into_iter().filter(|it| it.contains("value-other")).collect::<Vec<_>>()
    };
    // No contract lists addresses.
    let echo = |name: &str| format!(r#"{{"who":"https://h.example/{name}"}}"#);
    let [ada, bob] = ["ada", "bob"].map(|name| side(|_| echo(name)));
    let asked_of = |name: &str| asking(&format!("who is {name}"), |_| echo(name));

    assert_eq!(told(&ada, &bob).len(), 1);
    assert_eq!(told(&asked_of("ada"), &asked_of("bob")), [""; 0]);
    assert_eq!(told(&asking("one", |_| echo("ada")), &asking("another", |_| echo("bob"))), [""; 0]);
    // A form of its own is no form of the server's.
    let named = |mark: char| {
        let one = |number: usize| {
            let name = format!("{}{mark}{}", "abcdefghijkl".as_bytes()[number], number);
            let said = format!(r#"{{"who":"{name}"}}"#);
            exchange("/chat", &said, 200, &[&said])
        };
        apart("c", (0..12).map(one))
    };
    assert_eq!(told(&named('-'), &named('_')), [""; 0]);
    // It was asked the same, and answers something else now.
    assert_eq!(told(&asking("ada", |_| echo("ada")), &asking("ada", |_| echo("bob"))).len(), 1);
}

#[test]
fn what_grows_with_the_server_is_of_no_other_unit() {
    let told = |old: usize, new: usize| {
        of_values(|at| (old + at).to_string(), |at| (new + 3 * at).to_string())
    };

    assert_eq!(told(1, 900), [""; 0]);
    assert_eq!(told(100, 4_000), [""; 0]);
    assert_eq!(told(1_000, 1_000_000).len(), 1);
}

#[test]
fn few_recordings_tell_nothing_of_what_always_was() {
    let few = |word: &str| {
        let mut side = side(|_| format!(r#"{{"who":"https://h.example/{word}"}}"#));
        side.truncate(4);
        side
    };

    assert!(!between(&few("ada"), &few("bob")).iter().any(|it| it.contains("value-other")));
}

#[test]
fn where_a_count_begins_and_names_of_events_by_which_streams_go_on_are_told() {
    let streams = |first: usize, has_id: bool| {
        let message = move |number: usize| {
            let id = if has_id { format!("\nid: {number}") } else { String::new() };
            format!(r#"{{"type":"piece","place":{}}}{id}"#, first + number)
        };
        let stream = |number: usize| {
            let asked = format!(r#"{{"text":"q {number}"}}"#);
            let said: Vec<String> = (0..3 + number % 3).map(message).collect();
            let said: Vec<&str> = said.iter().map(String::as_str).collect();
            exchange("/chat", &asked, 200, &said)
        };
        apart("c", (0..12).map(stream))
    };

    let told = between(&streams(0, true), &streams(1, true));
    let what = "always began at 0 in an answer, and always begins at 1 now";
    assert!(told.iter().any(|it| it.contains(what)), "{told:?}");
    let told = between(&streams(0, true), &streams(0, false));
    let what = "breaking value-other: `id:` was never empty, and always is now";
    assert_eq!(told, [what]);
    assert_eq!(between(&streams(0, true), &streams(0, true)), [""; 0]);
}

/// Whoever sends a change to a repository may put such a recording into it.
#[test]
fn what_is_deep_is_compared_as_far_as_a_contract_goes() {
    let deep = |word: &str| {
        let lists = 20_000;
        let json = format!("{}{word:?}{}", "[".repeat(lists), "]".repeat(lists));
        side(move |_| format!(r#"{{"code":{word:?},"deep":{json}}}"#))
    };

    let told = between(&deep("one"), &deep("two"));

    assert_eq!(told, [r#"breaking value-new: `code` can be `"two"`"#]);
}

#[test]
fn what_always_held_of_values_below_names_that_are_data_is_told() {
    let state = |number: usize, scale: usize| {
        let one = |room: usize| {
            let at = (1_719_803_215 + 61 * number + room) * scale;
            format!(r#""!r{number}k{room}x9:example.org":{{"at":{at},"n":{room}}}"#)
        };
        format!(r#"{{"rooms":{{{}}}}}"#, (0..3).map(one).collect::<Vec<_>>().join(","))
    };

    let told = between(&side(|at| state(at, 1000)), &side(|at| state(at, 1)));

    assert_eq!(
        told,
        [
            "unproven value-other: `rooms.{}.at` was at least 1719803215000, and is at most 1719803888 now"
        ]
    );
}

#[test]
fn a_row_that_comes_twice_is_told() {
    let rows = |number: usize, again: bool| {
        let row = |row: usize| format!(r#"{{"id":"row-{number}f{row}c","n":{row}}}"#);
        let mut rows: Vec<String> = (0..2 + number % 3).map(row).collect();
        rows.extend(again.then(|| row(0)));
        format!(r#"{{"data":[{}]}}"#, rows.join(","))
    };

    let told = between(&side(|at| rows(at, false)), &side(|at| rows(at, true)));

    assert_eq!(told, ["breaking invariant-broken: `_.data[].id unique` does not hold any more"]);
}

#[test]
fn a_time_in_another_unit_is_told() {
    let minutes = |number: usize| 15 + 5 * (number % 8);
    let times = |factor: usize| {
        of_values(move |at| minutes(at).to_string(), move |at| (factor * minutes(at)).to_string())
    };

    for (factor, least) in [(60, 900), (3600, 54_000)] {
        let told = times(factor);
        let what = format!("was at most 50, and is at least {least} now");
        assert!(matches!(&told[..], [one] if one.contains(&what)), "{told:?}");
    }
    assert_eq!(times(7), [""; 0]);
}

#[test]
fn a_list_in_another_order_than_was_asked_for_deep_in_a_request_is_told() {
    let side = |is_turned: bool| {
        let one = |number: usize| {
            let is_rising = number.is_multiple_of(2);
            let word = if is_rising { "ASC" } else { "DESC" };
            let mut rows: Vec<String> =
                (0..4).map(|row| format!(r#"{{"n":{}}}"#, number * 10 + row)).collect();
            if is_rising == is_turned {
                rows.reverse();
            }
            let asked = format!(r#"{{"variables":{{"orderBy":{{"direction":"{word}"}}}}}}"#);
            let said = format!(r#"{{"data":{{"rows":[{}]}}}}"#, rows.join(","));
            exchange("/rows", &asked, 200, &[&said])
        };
        apart("list", (0..12).map(one))
    };

    let told = between(&side(false), &side(true));

    let way = |way: &str, word: &str| {
        format!(
            "breaking invariant-broken: `_.data.rows[] sorted by n {way} with \
             request.variables.orderBy.direction=\"{word}\"` does not hold any more"
        )
    };
    assert_eq!(told, [way("rising", "ASC"), way("falling", "DESC")]);
}

#[test]
fn a_list_in_another_order_is_told() {
    let rows = |number: usize, order: fn(&mut Vec<String>), count: usize| {
        let row = |row: usize| {
            let at = format!("2026-11-{:02}T10:{:02}:00Z", 28 - row, number);
            format!(r#"{{"id":"row-{number}f{row}c","at":"{at}","n":{}}}"#, (row * 7 + number) % 5)
        };
        let mut rows: Vec<String> = (0..count).map(row).collect();
        order(&mut rows);
        format!(r#"{{"data":[{}]}}"#, rows.join(","))
    };
    let many = |order: fn(&mut Vec<String>)| side(move |at| rows(at, order, 2 + at % 3));
    let told = "breaking invariant-broken: `_.data[] sorted by at falling` does not hold any more";

    assert_eq!(between(&many(|_| ()), &many(|rows| rows.reverse())), [told]);
    // Of one row there is no order, and as many pairs as are in one by chance prove nothing.
    let one = side(|at| rows(at, |_| (), 1));
    assert_eq!(between(&many(|_| ()), &one), [""; 0]);
    let few = |order: fn(&mut Vec<String>)| side(move |at| rows(at % 2, order, 3));
    assert_eq!(between(&few(|_| ()), &few(|rows| rows.reverse())), [""; 0]);
    // Other rows with the same numbers prove something.
    let counted = |number: usize| {
        let row = |row: usize| {
            let color = ["red", "blue", "green", "amber"][(number + row) % 4];
            format!(r#"{{"color":"{color}{}","n":{}}}"#, "a".repeat(number), 3 - row)
        };
        (0..2 + number % 2).map(row).collect::<Vec<String>>()
    };
    let told = "breaking invariant-broken: `_.data[] sorted by n falling` does not hold any more";
    let list = |rows: Vec<String>| format!(r#"{{"data":[{}]}}"#, rows.join(","));
    let (was, is) =
        (side(|at| list(counted(at))), side(|at| list(counted(at).into_iter().rev().collect())));
    assert_eq!(between(&was, &is), [told]);
    // A row that comes twice is told as that.
    let again = "breaking invariant-broken: `_.data[].id unique` does not hold any more";
    let twice = many(|rows| rows.push(rows[0].clone()));
    assert_eq!(between(&many(|_| ()), &twice), [again]);
}

#[test]
fn a_list_in_another_order_than_was_asked_for_is_told() {
    let orders = [r#"{"limit":9}"#, r#"{"order":"asc"}"#, r#"{"order":"desc"}"#];
    let side = |is_ignored: bool| {
        let one = |number: usize| {
            let row = |row: usize| {
                format!(r#"{{"id":"row-{number}f{row}c","n":{}}}"#, 100 * number + row)
            };
            let mut rows: Vec<String> = (0..5).map(row).collect();
            if is_ignored || number % 3 != 1 {
                rows.reverse();
            }
            let said = format!(r#"{{"data":[{}]}}"#, rows.join(","));
            exchange("/chat", orders[number % 3], 200, &[&said])
        };
        apart("c", (0..12).map(one))
    };

    let told = between(&side(false), &side(true));

    let kept = "`_.data[] sorted by n rising with request.order=\"asc\"`";
    assert_eq!(told, [format!("breaking invariant-broken: {kept} does not hold any more")]);
}

#[test]
fn what_was_always_asked_beside_it_decides_with_it_in_which_order_a_list_is() {
    // By which field the rows are in order is said in `by`; and once all that want them rising want them by `n`.
    let ask = |by: &str, order: &str, number: usize| {
        let row = |row: usize| {
            let (n, at) = (100 * number + row, 100 * number + (row * 3) % 5);
            (
                if by == "n" { n } else { at },
                format!(r#"{{"id":"row-{number}f{row}c","n":{n},"at":{at}}}"#),
            )
        };
        let mut rows: Vec<(usize, String)> = (0..5).map(row).collect();
        rows.sort();
        if order == "desc" {
            rows.reverse();
        }
        let rows: Vec<String> = rows.into_iter().map(|(_, row)| row).collect();
        let asked = format!(r#"{{"by":"{by}","order":"{order}"}}"#);
        exchange("/chat", &asked, 200, &[&format!(r#"{{"data":[{}]}}"#, rows.join(","))])
    };
    let ways = [("n", "asc"), ("n", "desc"), ("at", "desc")];
    let side = |ways: &[(&str, &str)]| {
        apart("c", (0..18).map(|at| ask(ways[at % ways.len()].0, ways[at % ways.len()].1, at)))
    };

    assert_eq!(between(&side(&ways), &side(&[("at", "asc"), ("n", "desc")])), [""; 0]);
    let wrong = side(&ways).into_iter().map(|(name, mut cassette)| {
        for it in &mut cassette.interactions {
            let body = String::from_utf8(it.request.body.to_vec()).unwrap();
            it.request.body = body
                .replace("\"asc\"", "\"x\"")
                .replace("desc", "asc")
                .replace("\"x\"", "\"desc\"")
                .into();
        }
        (name, cassette)
    });
    let told = between(&side(&ways), &wrong.collect());
    let kept = "`_.data[] sorted by n rising with request.by=\"n\" and request.order=\"asc\"`";
    let told_of = format!("breaking invariant-broken: {kept} does not hold any more");
    assert!(told.contains(&told_of), "{told:?}");
}

#[test]
fn a_page_that_comes_again_is_told() {
    // Each recording turns a page: by the last row of the one before, and by the token that leads on.
    let pages = |is_ignored: bool| -> Side {
        let one = |number: usize| {
            let page = |page: usize| {
                let row = |row: usize| format!(r#"{{"id":"row_{number}p{page}r{row}"}}"#);
                let rows = [0, 1, 2].map(row).join(",");
                format!(r#"{{"next":"{number}Zk{page}TbQ==","data":[{rows}]}}"#)
            };
            let second = page(usize::from(!is_ignored));
            let mut first = exchange("/list?n=3", "", 200, &[&page(0)]);
            let turned = format!("/list?after=row_{number}p0r2&cursor={number}Zk0TbQ%3D%3D&n=3");
            let mut second = exchange(&turned, "", 200, &[&second]);
            for it in [&mut first, &mut second] {
                it.request.method = "GET".to_owned();
            }
            let interactions = [first, second];
            let cassette = Cassette { interactions: interactions.into(), ..Cassette::default() };
            (Name::new(format!("c-{number}")).unwrap(), cassette)
        };
        (0..8).map(one).collect()
    };

    let told = between(&pages(false), &pages(true));

    // What breaks with the cursor is the same.
    let kept = "`_.data[].id new behind request.after`";
    assert_eq!(told, [format!("breaking invariant-broken: {kept} does not hold any more")]);
    assert_eq!(between(&pages(false), &pages(false)), [""; 0]);
}

#[test]
fn another_code_of_an_error_of_json_rpc_is_told_though_clients_count_their_calls() {
    let side = |code: i32| -> Side {
        let one = |number: usize| {
            let id = 1 + number % 2;
            let asked = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tasks/get"}}"#);
            let error = format!(r#"{{"code":{code},"message":"no such task"}}"#);
            let said = format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#);
            exchange("/rpc", &asked, 200, &[&said])
        };
        apart("c", (0..12).map(one))
    };

    let told = between(&side(-32_001), &side(-32_004));

    let code = "`error.code` can be `-32004`, and is never `-32001` any more";
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].starts_with(&format!("breaking value-new: {code}")), "{told:?}");
}

#[test]
fn how_long_an_identifier_is_behind_its_prefix_is_no_promise() {
    let of = |prefix: &'static str, length: usize| {
        move |number: usize| {
            let drawn = blake3::hash(number.to_string().as_bytes()).to_hex();
            format!("\"{prefix}{}\"", &drawn[..length])
        }
    };
    let is_told = |told: Vec<String>| told.iter().any(|it| it.contains("characters"));

    assert!(!is_told(of_values(of("job_", 14), of("job_", 22))));
    // Who compares a digest needs all of it.
    let told = of_values(of("", 64), of("", 12));
    assert!(told[0].starts_with("breaking format-new"), "{told:?}");
}

#[test]
fn what_rows_sum_up_to_and_refer_to_is_told() {
    let bill = |number: usize, is_wrong: bool| {
        let amounts: Vec<usize> =
            (0..2 + number % 3).map(|row| 7 + row * 13 + number * 5).collect();
        let total = amounts.iter().sum::<usize>() + usize::from(is_wrong);
        let lines = amounts.iter().map(|amount| format!(r#"{{"amount":{amount}}}"#));
        format!(r#"{{"lines":[{}],"total":{total}}}"#, lines.collect::<Vec<_>>().join(","))
    };
    let tree = |number: usize, is_wrong: bool| {
        let id = |row: usize| format!("\"node_{number}x{row}\"");
        let parent = |row: usize| if is_wrong { id(row + 50) } else { id(row / 2) };
        let row = |row: usize| format!(r#"{{"id":{},"parent":{}}}"#, id(row), parent(row));
        format!(r#"{{"first":{},"nodes":[{}]}}"#, id(0), [0, 1, 2, 3].map(row).join(","))
    };
    type Said = fn(usize, bool) -> String;
    let cases: [(Said, &str); 2] =
        [(bill, "total sums _.lines[].amount"), (tree, "_.nodes[].parent refers to _.nodes[].id")];
    for (said, kept) in cases {
        let sides = [false, true].map(|is_wrong| side(move |at| said(at, is_wrong)));

        let told = between(&sides[0], &sides[1]);

        let broken = format!("breaking invariant-broken: `{kept}` does not hold any more");
        assert_eq!(told, [broken]);
        assert_eq!(between(&sides[0], &sides[0]), [""; 0]);
    }
}

#[test]
fn what_began_behind_its_end_is_told() {
    let said = |number: usize, is_wrong: bool, is_epoch: bool| {
        let at = |minute: usize| match is_epoch {
            true => (1_763_712_000 + 3600 * number + 60 * minute).to_string(),
            false => format!("\"2026-11-{:02}T10:{minute:02}:00Z\"", number + 1),
        };
        let (begun, ended) = if is_wrong { (9, 3) } else { (3, 9) };
        format!(r#"{{"started_at":{},"ended_at":{}}}"#, at(begun), at(ended))
    };
    for is_epoch in [false, true] {
        let sides = [false, true].map(|it| side(move |at| said(at, it, is_epoch)));

        let told = between(&sides[0], &sides[1]);

        let kept = "`started_at at most ended_at`";
        assert_eq!(told, [format!("breaking invariant-broken: {kept} does not hold any more")]);
    }
}

#[test]
fn pieces_of_a_text_that_say_again_what_came_before_are_told() {
    let stream = |number: usize, repeats: bool| {
        let (mut whole, mut said) = (String::new(), Vec::new());
        for piece in 0..4 {
            let next = format!("word{number}x{piece} ");
            whole.push_str(&next);
            let text = if repeats { &whole } else { &next };
            said.push(format!(r#"{{"type":"delta","text":"{text}"}}"#));
        }
        said.push(r#"{"type":"end"}"#.to_owned());
        said
    };
    let side = |repeats: bool| {
        let one = |number: usize| {
            let said = stream(number, repeats);
            let said: Vec<&str> = said.iter().map(String::as_str).collect();
            exchange("/chat", &format!(r#"{{"text":"how {number}"}}"#), 200, &said)
        };
        apart("c", (0..12).map(one))
    };

    let (old, new) = (side(false), side(true));
    // Contracts that were accepted of the old ones, and lie beside both, hold as well.
    for accepted in [Vec::new(), learned(&old)] {
        let told = told(&compared_beside(&accepted, &old, &new));

        assert_eq!(
            told,
            [
                "unproven invariant-new: `delta.text extends delta.text` holds now, and did not before: \
              each text says again what came before it"
            ]
        );
    }
}

#[test]
fn cassettes_that_are_not_there_say_nothing_of_what_clients_send() {
    let one = |number: usize| {
        let tools = if number.is_multiple_of(2) { r#","tools":[{"name":"a"}]"# } else { "" };
        exchange("/chat", &format!(r#"{{"text":"how {number}"{tools}}}"#), 200, &[r#"{"n":1}"#])
    };
    let old = apart("c", (0..12).map(one));
    let with_tools: Side = old.iter().step_by(2).cloned().collect();
    let mut all_say: Side = apart("c", (0..12).map(|number| one(2 * number)));
    all_say.truncate(12);

    assert_eq!(between(&old, &with_tools), [""; 0]);
    assert_eq!(
        between(&old, &all_say),
        ["unproven request-required: all requests say `tools` now, which could be missing"]
    );
}
