//! What is an accident of a recording, and what is not.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE;
use bytes::Bytes;
use retape::Cassette;
use retape::cassette::{
    Body, Chunk, Content, End, Evidence, Frame, Headers, Id, Ids, Interaction, Outcome, Peer,
    Progress, Reach, Request, Response,
};
use retape::compare::renew::{renew, renew_by};
use retape::config::Rules;

use super::told;

const ONE: &str = "6f1c0a2f-37a2-4fd9-92f1-fd5b1ee5a5f0";
const TWO: &str = "0c9df04e-5c1b-4a7e-8f4b-2b0a3f5f7d11";
const OTHER_ONE: &str = "b3d4c5a6-1111-4222-8333-c4d5e6f70819";
const OTHER_TWO: &str = "d1e2f3a4-5555-4666-8777-a8b9cadbecfd";

/// A conversation of requests, `GET /path` or `POST /path BODY`, and JSON answers.
pub fn talk(exchanges: &[(&str, &str)]) -> Cassette {
    let interactions = exchanges.iter().map(|(asked, answer)| exchange(asked, whole(answer)));
    Cassette { interactions: interactions.collect(), ..Cassette::default() }
}

/// A conversation of one answer that came in chunks.
fn stream(chunks: &[(u64, &str)]) -> Cassette {
    let chunk = |(ms, text): &(u64, &str)| Chunk { ms: *ms, bytes: (*text).to_owned().into() };
    let body = Body::Stream(chunks.iter().map(chunk).collect());
    let headers = [("content-type", "text/event-stream")].into_iter().collect();
    let interactions = vec![exchange("GET /stream", (headers, body))];
    Cassette { interactions, ..Cassette::default() }
}

fn exchange(asked: &str, (headers, body): (Headers, Body)) -> Interaction {
    let mut words = asked.splitn(3, ' ');
    let mut word = || words.next().unwrap_or_default().to_owned();
    let (method, path, sent) = (word(), word(), word());
    let request = Request {
        headers: [("content-type", "application/json")].into_iter().collect(),
        body: sent.into(),
        ..Request::of(method, path)
    };
    let response = Response { ms: 1, headers, body, ..Response::of(200) };
    Interaction::of(request, response)
}

fn whole(json: &str) -> (Headers, Body) {
    let mut headers: Headers = [("content-type", "application/json")].into_iter().collect();
    headers.append("content-length", json.len().to_string());
    (headers, Body::Whole(Bytes::from(json.to_owned())))
}

/// The text of the first answer.
fn whole_text(cassette: &Cassette) -> Vec<u8> {
    cassette.interactions[0].response().unwrap().body.bytes().to_vec()
}

/// The new recording is told in these words.
#[track_caller]
pub fn check(old: &Cassette, new: Cassette, expected: &Cassette) {
    assert_eq!(told(&renew(old, new).cassette), told(expected));
}

#[test]
fn a_sealed_name_is_kept_where_names_stand() {
    let sealed = |seed: u64| {
        let mut state = seed;
        let bytes = (0..300).map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 56) as u8
        });
        let token = URL_SAFE.encode(bytes.collect::<Vec<u8>>());
        talk(&[("POST /v1/responses {}", &format!(r#"{{"id":"resp_{token}","text":"hi"}}"#))])
    };
    let told_otherwise = |seed| {
        let said = String::from_utf8(whole_text(&sealed(seed))).unwrap();
        talk(&[("POST /v1/responses {}", &said.replace("\"id\"", "\"seal\""))])
    };

    check(&sealed(1), sealed(2), &sealed(1));
    check(&told_otherwise(1), told_otherwise(2), &told_otherwise(2));
}

/// A conversation of one request with these fields, and an answer with those.
fn signed(asked: &[(&'static str, &str)], told: &[(&'static str, &str)]) -> Cassette {
    let mut cassette = talk(&[("PUT /files/a {}", "[]")]);
    let interaction = &mut cassette.interactions[0];
    for (name, value) in asked {
        interaction.request.headers.append(*name, (*value).to_owned());
    }
    let Outcome::Response(response) = &mut interaction.outcome else { unreachable!() };
    for (name, value) in told {
        response.headers.append(*name, (*value).to_owned());
    }
    cassette
}

#[test]
fn fields_of_a_signed_request_are_told_as_before() {
    let of = |agent: &str, date: &str, sum: &str, crc: &str| {
        let asked = [("user-agent", agent), ("x-amz-date", date), ("x-amz-checksum-crc32", sum)];
        signed(&asked, &[("x-amz-crc32", crc)])
    };
    let old = of("boto/1 m/e,P,N,b", "20261121T090000Z", "DUoRhQ==", "2207269471");

    check(&old, of("boto/1 m/b,N,e,P", "20261123T061531Z", "a1bEqw==", "1705397881"), &old);
    let other = of("boto/2 m/e,P,N,b", "20261121T090000Z", "DUoRhQ==", "2207269471");
    check(&old, other.clone(), &other);
    let other = of("boto/1 m/e,P,N,b", "2026-11-23", "DUoRhQ==", "2207269471");
    check(&old, other.clone(), &other);
}

#[test]
fn secrets_are_numbered_as_before() {
    let of = |[one, two]: [u8; 2]| {
        let path = |name: &str| format!("GET /{name}");
        let mut cassette = talk(&[(&path("a"), "[1]"), (&path("b"), "[2]")]);
        for (interaction, number) in cassette.interactions.iter_mut().zip([one, two]) {
            let value = format!("AWS4-HMAC-SHA256 [redacted:authorization~{number}]");
            interaction.request.headers.append("authorization", value);
        }
        cassette
    };

    check(&of([2, 3]), of([3, 2]), &of([2, 3]));
    check(&of([2, 3]), of([2, 2]), &of([2, 2]));
}

#[test]
fn a_number_that_nobody_has_counted_to_is_a_name_where_names_stand() {
    let of = |lease: &str, size: &str| {
        talk(&[
            ("POST /grant {}", &format!(r#"{{"ID":"{lease}","size":"{size}"}}"#)),
            (&format!(r#"POST /put {{"lease":"{lease}"}}"#), "{}"),
            (&format!("GET /leases/{lease}"), &format!(r#"{{"text":"{lease} is kept"}}"#)),
        ])
    };
    let [before, now] = ["958318974528890902", "958318974544166166"];

    check(&of(before, "1"), of(now, "1"), &of(before, "1"));
    // Of other numbers nobody says that they are names.
    check(&of(before, before), of(now, "7"), &of(before, "7"));
    check(&of("17", "1"), of("18", "1"), &of("18", "1"));
}

#[test]
fn a_path_is_no_name_as_a_whole() {
    let pods = "/api/v1/namespaces/default/pods";
    let of = |name: &str, version: &str| {
        let told = format!(
            r#"{{"kind":"Pod","name":"{name}","version":"{version}","uid":"{ONE}","phase":"Pending"}}"#
        );
        let asked = [format!("POST {pods} {{}}"), format!("DELETE {pods}/{name}")];
        talk(&asked.each_ref().map(|asked| (asked.as_str(), told.as_str())))
    };

    // One that is too short for a name is the new one everywhere.
    check(&of("job-6820a", "130752"), of("job-84017", "130769"), &of("job-84017", "130769"));
}

#[test]
fn a_list_in_another_order_does_not_exchange_revisions() {
    let of = |revisions: [String; 2], first: usize| {
        let [one, two] = &revisions;
        let listed = format!(r#"{{"docs":[{{"name":"{first}","rev":"{}"}}]}}"#, revisions[first]);
        talk(&[
            ("PUT /a {}", &format!(r#"{{"ok":true,"rev":"{one}"}}"#)),
            ("PUT /b {}", &format!(r#"{{"ok":true,"rev":"{two}"}}"#)),
            ("GET /list", &listed),
            (&format!("DELETE /a?rev={one}"), "{}"),
            (&format!("DELETE /b?rev={two}"), "{}"),
        ])
    };
    let revisions = |digits: [&str; 2]| {
        let [one, two] = digits.map(|it| it.repeat(8));
        [format!("2-{one}"), format!("1-{two}")]
    };
    let [old, new] = [["3f9a", "c41e"], ["87d2", "0b6e"]].map(revisions);

    check(&of(old.clone(), 0), of(new, 1), &of(old, 1));
}

#[test]
fn a_duration_in_json_in_a_field_and_a_seal_by_its_name_are_no_change() {
    let of = |took: u32, retries: u32, seal: &str| {
        let told = format!(r#"{{"text":"Hi","signature":"{seal}","image":"x"}}"#);
        let mut cassette = talk(&[("POST /messages {}", &told)]);
        let telemetry = format!(r#"{{"last":{{"request_duration_ms":{took},"n":{retries}}}}}"#);
        cassette.interactions[0].request.headers.append("x-telemetry", telemetry);
        cassette
    };
    let seal = |letters: &str| letters.repeat(12);
    let [one, other] = ["aB3x", "Yz7Q"].map(seal);

    check(&of(12, 1, &one), of(345, 1, &other), &of(12, 1, &one));
    check(&of(12, 1, &one), of(345, 2, &other), &of(12, 2, &one));
    check(&of(12, 1, &one), of(345, 1, "none"), &of(12, 1, "none"));
}

#[test]
fn random_letters_that_hide_lengths_change_nothing() {
    let of = |hidden: [&str; 3]| {
        let events = hidden.map(|it| format!(r#"{{"delta":"Hi","obfuscation":"{it}"}}"#));
        talk(&[("POST /responses", &format!("[{}]", events.join(",")))])
    };
    let before = of(["DdBWl9", "kqTz4Lm2a", ""]);

    check(&before, of(["x", "aQwErTzUiOpAsDf", "Zz"]), &before);
}

#[test]
fn a_handle_within_a_text_is_a_name_if_it_comes_back() {
    let of = |token: &str, other: &str| {
        let form = format!(r#"{{"html":"<input name=csrf value='{token}'> <b>{other}</b>"}}"#);
        talk(&[("GET /form", &form), (&format!(r#"POST /form {{"csrf":"{token}"}}"#), "{}")])
    };
    let handle = |letters: &str| letters.repeat(8);
    let [one, two, three, four] = ["aBcDe", "fGhIj", "kLmNo", "pQrSt"].map(handle);

    check(&of(&one, "x"), of(&two, "x"), &of(&one, "x"));
    check(&of(&one, &three), of(&two, &four), &of(&one, &four));
}

#[test]
fn a_handle_that_comes_back_is_a_name_whatever_letters_it_has() {
    let of = |handle: &str| {
        talk(&[
            ("POST /receive {}", &format!(r#"{{"handle":"{handle}"}}"#)),
            (&format!(r#"POST /delete {{"handle":"{handle}"}}"#), "{}"),
        ])
    };
    let [one, other] =
        ["znvdssswevyizcqroxkfacvgqfelymjoyjcu", "rswopkipwvpztifxalidotvsrnsgpqogizlu"];

    check(&of(one), of(other), &of(one));
    let word = "internationalization";
    check(&of(one), of(word), &of(word));
}

#[test]
fn a_uuid_is_the_same_name_without_dashes() {
    let of = |page: &str| {
        let link = format!("https://example.com/Task-0-{}", page.replace('-', ""));
        talk(&[
            ("POST /pages {}", &format!(r#"{{"id":"{page}","url":"{link}"}}"#)),
            (&format!("GET /pages/{page}"), "{}"),
        ])
    };

    check(&of(ONE), of(OTHER_ONE), &of(ONE));
}

#[test]
fn a_name_that_came_back_is_one_behind_its_prefix_with_a_digit_or_none() {
    let of = |call: &str, issued: &str| {
        let server = vec![Id {
            value: issued.to_owned(),
            interaction: 0,
            at: "/id".to_owned(),
            reach: Reach::Anywhere,
            evidence: Evidence::Return,
        }];
        let mut cassette = talk(&[
            ("POST /calls {}", &format!(r#"{{"id":"{call}"}}"#)),
            (&format!(r#"POST /results {{"call_id":"{call}"}}"#), "{}"),
        ]);
        let ids = cassette.ids.insert(Ids::default());
        ids.server = server;
        cassette
    };
    let letters = "call_TicnCQIXCueFRGNRWfCNvvgM";
    let (digits, tail) = ("call_E7AQjVmCEPVBCCacpi0d1Y2k", "E7AQjVmCEPVBCCacpi0d1Y2k");

    let [one, other] = [of(letters, letters), of(digits, tail)];
    let texts = |cassette: &Cassette| cassette.interactions.clone();
    assert_eq!(texts(&renew(&one, other.clone()).cassette), texts(&one));
    assert_eq!(texts(&renew(&other, one.clone()).cassette), texts(&other));
}

#[test]
fn when_a_request_was_sent_is_nobodys_to_give_back() {
    let of = |sent: &str, modified: &str, text: &str| {
        let mut cassette = talk(&[
            ("GET /a", &format!(r#"{{"modified":"{modified}","text":"{text}"}}"#)),
            ("GET /b", "{}"),
        ]);
        cassette.interactions[1].request.headers.append("x-ms-date", sent.to_owned());
        cassette
    };
    let [one, two, later] =
        ["09:00:01", "09:00:02", "10:30:05"].map(|time| format!("Sat, 21 Nov 2026 {time} GMT"));

    check(&of(&one, &one, "x"), of(&later, &two, "x"), &of(&one, &one, "x"));
    check(&of(&one, &two, "x"), of(&later, &later, "y"), &of(&one, &two, "y"));
}

#[test]
fn members_stand_in_their_old_order() {
    let of = |json: &str| talk(&[("GET /a", json)]);
    let old = of(r#"{"b": {"x": 1, "y": [2]}, "a": "7", "c": null}"#);

    check(&old, of(r#"{"c": null, "a": "7", "b": {"y": [2], "x": 1}}"#), &old);
    check(
        &old,
        of(r#"{"c": null, "d": 1, "a": "8", "b": {"y": [2], "x": 1}}"#),
        &of(r#"{"b": {"x": 1, "y": [2]}, "a": "8", "c": null, "d": 1}"#),
    );
}

#[test]
fn what_runs_have_shown_to_be_made_up_is_called_as_before() {
    let named = |user: &str, title: &str, session: &str, ids: Option<Ids>| {
        let cassette = talk(&[
            (
                &format!("POST /users/{user}/sessions {{\"title\":\"{title}\"}}"),
                &format!(r#"{{"id":"{session}","userId":"{user}"}}"#),
            ),
            (&format!("GET /users/{user}/sessions/{session}?for={user}"), "{}"),
        ]);
        Cassette { ids, ..cassette }
    };
    let id = |value: &str, evidence| Id {
        value: value.to_owned(),
        interaction: 0,
        at: "path.2".to_owned(),
        reach: Reach::Anywhere,
        evidence,
    };
    let proved = |evidence| {
        let mut ids = Ids::default();
        ids.client = vec![id("u137388", evidence), id("Happy Otter", evidence)];
        Some(ids)
    };
    let old = named("u137388", "Happy Otter", ONE, proved(Evidence::Runs));
    let new = || named("u81244", "Old Dog", OTHER_ONE, None);

    check(&old, new(), &old);
    // One that might be a digest if nothing had been shown is called as before too.
    let of = |nonce: &str, by| {
        let mut ids = Ids::default();
        ids.client = vec![Id { at: "/data/0".to_owned(), ..id(nonce, by) }];
        let said = format!(r#"{{"data":["say {nonce}"]}}"#);
        Cassette { ids: Some(ids), ..talk(&[(&format!("POST /call {said}"), &said)]) }
    };
    let (before, now) = ("5eb63bbbe01eeed093cb22bb8f5acdc3", "9f86d081884c7d659a2feaa0c55ad015");
    let shown = of(before, Evidence::Runs);
    check(&shown, of(now, Evidence::Look), &shown);
    check(&of(before, Evidence::Look), of(now, Evidence::Look), &of(now, Evidence::Look));
    // A random word may have a stroke that the other one has not.
    let shown = of("tmpmm8ag24l", Evidence::Runs);
    check(&shown, of("tmpkmka8kn_", Evidence::Look), &shown);
    let unknown = named("u137388", "Happy Otter", ONE, None);
    let told = renew(&unknown, new()).cassette;
    assert!(told.interactions[0].request.path.contains("u81244"));
}

#[test]
fn a_poll_more_or_less_or_none_is_no_difference() {
    let polls = |states: &[&str]| {
        let states: Vec<String> =
            states.iter().map(|state| format!(r#"{{"status":"{state}"}}"#)).collect();
        talk(&states.iter().map(|state| ("GET /run", state.as_str())).collect::<Vec<_>>())
    };
    let old = polls(&["running", "running", "running", "completed"]);

    check(&old, polls(&["running", "completed"]), &old);
    check(&old, polls(&["running", "running", "running", "running", "completed"]), &old);
    check(&old, polls(&["completed"]), &old);
    let failed = polls(&["running", "running", "running", "failed"]);
    check(&old, failed.clone(), &failed);
    // An answer that changed is no wait.
    let other = polls(&["starting", "completed"]);
    check(&polls(&["running", "completed"]), other.clone(), &other);
    // What was never said before is told.
    check(
        &polls(&["completed"]),
        polls(&["running", "completed"]),
        &polls(&["running", "completed"]),
    );
    // Who asks twice and waits for nothing asks twice.
    let twice = polls(&["completed", "completed"]);
    check(&twice, polls(&["completed"]), &polls(&["completed"]));
}

#[test]
fn keep_alives_come_as_often_as_before() {
    let (one, two) = ("data: {\"n\":1}\n\n", "data: {\"n\":2}\n\n");
    let old = stream(&[(1, ": ping\n\n"), (2, one), (3000, ": ping\n\n"), (3001, two)]);

    check(&old, stream(&[(1, ": ping\n\n"), (2, one), (9, two)]), &old);
    check(
        &old,
        stream(&[
            (1, ": ping\n\n"),
            (2, one),
            (2000, ": ping\n\n"),
            (4000, ": ping\n\n"),
            (4001, two),
        ]),
        &old,
    );
    check(&old, stream(&[(2, one), (9, two)]), &old);
    // Those that come in other words are others.
    let other = stream(&[(1, ": alive\n\n"), (2, one), (9, two)]);
    check(&stream(&[(1, ": ping\n\n"), (2, one), (9, two)]), other.clone(), &other);
    // One that breaks no silence and is new altogether belongs to what is said.
    let silent = stream(&[(2, one), (9, two)]);
    let greeted = stream(&[(1, ": ping\n\n"), (2, one), (9, two)]);
    check(&silent, greeted.clone(), &greeted);
}

#[test]
fn a_stream_with_one_more_event_has_one_more_chunk() {
    let [one, two, three] = [1, 2, 3].map(|n| format!("data: {{\"n\":{n},\"id\":\"{ONE}\"}}\n\n"));
    let renamed = |text: &str| text.replace(ONE, OTHER_ONE);
    let old = stream(&[(10, &one), (20, &three)]);

    let new = stream(&[(500, &renamed(&one)), (600, &renamed(&(two.clone() + &three)))]);

    check(&old, new, &stream(&[(10, &one), (20, &two), (20, &three)]));
}

#[test]
fn a_client_that_leaves_again_leaves_when_it_did() {
    let left = |left| {
        let mut cassette = stream(&[(10, "data: 1\n\n"), (900, "data: 2\n\n")]);
        let Outcome::Response(response) = &mut cassette.interactions[0].outcome else {
            unreachable!()
        };
        response.left = left;
        cassette
    };
    check(&left(Some(20)), left(Some(35)), &left(Some(20)));
    check(&left(None), left(Some(35)), &left(Some(35)));
    check(&left(Some(20)), left(None), &left(None));
    // What was on its way may be there or not.
    check(&left(None), left(Some(850)), &left(None));
    check(&left(Some(850)), left(None), &left(Some(850)));
}

#[test]
fn sets_stand_in_their_old_order_and_lists_do_not() {
    let answer = |field: &str, names: [&str; 2]| {
        talk(&[(
            "GET /",
            &format!(r#"{{"{field}":[{{"name":"{}"}},{{"name":"{}"}}]}}"#, names[0], names[1]),
        )])
    };
    let tools = answer("tools", ["a", "b"]);
    check(&tools, answer("tools", ["b", "a"]), &tools);

    let steps = answer("steps", ["b", "a"]);
    check(&answer("steps", ["a", "b"]), steps.clone(), &steps);

    let rules = Rules::default().unordered("$.steps").unwrap();
    let of_a_set = |names| Cassette { rules: rules.clone(), ..answer("steps", names) };
    check(&of_a_set(["a", "b"]), of_a_set(["b", "a"]), &of_a_set(["a", "b"]));
}

#[test]
fn identifiers_keep_their_names_also_where_something_else_has_changed() {
    let talk = |one: &str, two: &str, state: &str| {
        talk(&[
            ("POST /agents", &format!(r#"{{"id":"agent-{one}","state":"new"}}"#)),
            (
                &format!("GET /agents/agent-{one}"),
                &format!(r#"{{"note":"agent-{one} is {state}","runs":{{"run-{two}":"{state}"}}}}"#),
            ),
            (&format!("GET /runs/run-{two}"), "{}"),
        ])
    };
    let old = talk(ONE, TWO, "idle");

    check(&old, talk(OTHER_ONE, OTHER_TWO, "idle"), &old);
    check(&old, talk(OTHER_ONE, OTHER_TWO, "busy"), &talk(ONE, TWO, "busy"));
    // An interaction that is new altogether uses the old names as well.
    let mut more = talk(OTHER_ONE, OTHER_TWO, "idle");
    let last = self::talk(&[(&format!("DELETE /runs/run-{OTHER_TWO}"), "[1]")]);
    more.interactions.extend(last.interactions);
    let mut expected = old.clone();
    expected
        .interactions
        .extend(self::talk(&[(&format!("DELETE /runs/run-{TWO}"), "[1]")]).interactions);
    check(&old, more, &expected);
}

#[test]
fn names_are_exchanged_as_a_whole_wherever_dashes_and_underscores_fall() {
    let talk = |name: &str, said: &str| {
        let run = format!(r#"{{"id":"run_{}","thread":"{name}"}}"#, &ONE[..8]);
        talk(&[
            ("POST /threads", &format!(r#"{{"id":"{name}","at":"2026-11-21T09:00:00Z"}}"#)),
            (&format!("POST /threads/{name}/runs"), &run),
            (&format!("GET /threads/{name}"), &format!(r#"{{"note":"{name} {said}"}}"#)),
        ])
    };
    let names = [
        "thread_PIgx80q2B2mkZei2",
        "thread_AB_x80q2B2mk-ei2",
        "thread_q-Xx80q2B2mkab_7",
        "thread_x80-2B2mk_bcdefg",
    ];
    for old in names {
        for new in names.into_iter().filter(|new| *new != old) {
            let before = talk(old, "is idle");

            check(&before, talk(new, "is idle"), &before);
            check(&before, talk(new, "was busy"), &talk(old, "was busy"));
        }
    }
}

#[test]
fn small_names_that_were_drawn_anew_are_told_as_before() {
    let users = |a: &str, b: &str, ids: Option<Ids>| {
        let made = |user: &str, what: &str| format!(r#"{{"name":"{user}",{what}}}"#);
        let (admin, guest) = (r#""role":"admin","quota":5"#, r#""role":"guest","quota":7"#);
        let [one, other] = [made(a, admin), made(b, guest)];
        let cassette = talk(&[
            (&format!("PUT /users/{a} {{{admin}}}"), &one),
            (&format!("PUT /users/{b} {{{guest}}}"), &other),
            (&format!("GET /users/{a}"), &one),
            (&format!("GET /users/{b}"), &other),
        ]);
        Cassette { ids, ..cassette }
    };
    let proved = |names: [&str; 2]| {
        let id = |(interaction, name): (usize, &str)| Id {
            value: name.to_owned(),
            interaction,
            at: "path.2".to_owned(),
            reach: if name.contains(char::is_numeric) { Reach::Anywhere } else { Reach::Here },
            evidence: Evidence::Runs,
        };
        let [a, b] = names;
        let mut ids = Ids::default();
        ids.client = [a, b, a, b].into_iter().enumerate().map(id).collect();
        Some(ids)
    };
    for (was, is) in [
        (["user3", "user7"], ["user7", "user2"]),
        (["user3", "user7"], ["user7", "user3"]),
        (["user3", "user7"], ["user2", "user3"]),
        (["user3", "user7"], ["user3", "user7"]),
        (["Birch", "Hazel"], ["Hazel", "Birch"]),
        (["Birch", "Hazel"], ["Hazel", "Frost"]),
        (["c3", "c7"], ["c7", "c2"]),
    ] {
        let old = users(was[0], was[1], proved(was));
        for ids in [None, proved(is)] {
            let renewed = renew(&old, users(is[0], is[1], ids)).cassette;

            assert_eq!(renewed.interactions, old.interactions, "{was:?} {is:?}");
        }
    }
}

#[test]
fn identifiers_that_are_made_anew_each_time_are_told_as_before_whatever_they_look_like() {
    let made = |names: &[&str]| {
        let answers = names.iter().map(|name| format!(r#"{{"id":"{name}","name":"x"}}"#));
        let answers: Vec<String> = answers.collect();
        talk(&answers.iter().map(|it| ("POST /things {}", it.as_str())).collect::<Vec<_>>())
    };
    let kinds: [[&str; 6]; 4] = [
        ["qwhzkdmnbv", "zzpwlwmtrd", "kjhxcvbwqm", "plmnkoqwxz", "hgfdsvbnqw", "wertyplkjh"],
        [
            "kO+3/w==aB0=",
            "zU8/1+aaQw0=",
            "P/+7Tq1mBw8=",
            "xX+Zy8/qLm4=",
            "Aa1+b2/C3d0=",
            "R+s/Tu9Vw50=",
        ],
        ["Xk2p9QwZ7aB", "a8Kx0pQ2mZ7", "b9Ly1qR3nA8", "c0Mz2rS4oB9", "d1Na3sT5pC0", "e2Ob4tU6qD1"],
        ["BCDF-GHJK", "LMNP-QRST", "VWXZ-BDCF", "ZXWV-TSRQ", "PNML-KJHG", "FDCB-XZVW"],
    ];
    for names in kinds {
        let (was, is) = names.split_at(3);
        check(&made(was), made(is), &made(was));
        // What is said once may be a word, and so may what is said again.
        check(&made(&was[..1]), made(&is[..1]), &made(&is[..1]));
        let again = [was[0], is[1], is[2]];
        check(&made(was), made(&again), &made(&again));
    }
    let longer = ["qwhzkdmnbvx", "zzpwlwmtrdx", "kjhxcvbwqmx"];
    check(&made(&kinds[0][..3]), made(&longer), &made(&longer));
}

/// Messages with their ids and otids.
fn messages(messages: &[(&str, &str)]) -> Cassette {
    let message = |(id, otid): &(&str, &str)| format!(r#"{{"id":"{id}","otid":"{otid}"}}"#);
    let messages: Vec<String> = messages.iter().map(message).collect();
    talk(&[("POST /v1/messages {}", &format!("[{}]", messages.join(",")))])
}

/// The names that begin as one does, and have these ends.
fn ending<const N: usize>(name: &str, ends: [&str; N]) -> [String; N] {
    ends.map(|end| format!("{}{end}", &name[..name.len() - 2]))
}

/// Letta writes the number of a part over the last seven bits of the name of its message.
#[test]
fn a_name_that_is_made_of_another_may_be_the_same_by_chance() {
    let ends = |name: &str, id: &str, otid: &str| {
        let [id, otid] = ending(name, [id, otid]);
        messages(&[(&id, &otid)])
    };
    let two = ends(ONE, "b7", "81");
    let one = ends(ONE, "81", "81");

    check(&two, ends(OTHER_ONE, "01", "01"), &two);
    check(&two, ends(OTHER_ONE, "81", "81"), &two);
    check(&one, ends(OTHER_ONE, "37", "01"), &one);
    check(&two, ends(OTHER_ONE, "3c", "01"), &two);
    // One that does not end with the number is the same for another reason.
    check(&two, ends(OTHER_ONE, "3c", "3c"), &ends(ONE, "b7", "b7"));
    check(&ends(ONE, "b7", "b7"), ends(OTHER_ONE, "3c", "01"), &two);
}

#[test]
fn a_name_that_is_made_of_another_is_made_of_its_old_name() {
    let [old, old_part, old_second] = ending(ONE, ["b7", "81", "82"]);
    let [new, part, second] = ending(OTHER_ONE, ["3c", "01", "02"]);
    let [next, next_part] = ending(OTHER_TWO, ["2a", "00"]);
    let [old_next, old_next_part] = ending(TWO, ["44", "00"]);

    // One part more, which the old recording does not have.
    check(
        &messages(&[(&old, &old_part)]),
        messages(&[(&new, &part), (&new, &second)]),
        &messages(&[(&old, &old_part), (&old, &old_second)]),
    );
    // The part of the old one is made of nothing, or of another message.
    check(
        &messages(&[(&old, &old_next_part)]),
        messages(&[(&new, &part)]),
        &messages(&[(&old, &old_part)]),
    );
    check(
        &messages(&[(&old, &old_part), (&old_next, &old_second)]),
        messages(&[(&new, &part), (&next, &next_part)]),
        &messages(&[(&old, &old_part), (&old_next, &old_next_part)]),
    );
    // What it would be called is the id itself: it gets the next number.
    let [chance, chance_part] = ending(ONE, ["81", "82"]);
    check(
        &messages(&[(&chance, &old_next_part)]),
        messages(&[(&new, &part)]),
        &messages(&[(&chance, &chance_part)]),
    );
    // And so if another part of the new one is the id itself, and its old one is that number.
    let [chance, first, second] = ending(ONE, ["81", "83", "82"]);
    let [new, new_first] = ending(OTHER_ONE, ["02", "01"]);
    check(
        &messages(&[(&chance, &old_next_part), (&chance, &second)]),
        messages(&[(&new, &new_first), (&new, &new)]),
        &messages(&[(&chance, &first), (&chance, &second)]),
    );
}

/// What a replay takes for fixed must be what the client says now.
#[test]
fn how_long_something_took_is_kept_in_a_request_and_how_long_it_may_take_is_not() {
    let asked = |name: &str, ms: u32, text: &str| {
        let body = format!(r#"POST /v1/runs {{"text":"{text}","{name}":{ms}}}"#);
        talk(&[(&body, r#"{"ok":true,"total_duration":7}"#)])
    };

    for name in ["duration", "elapsed_ms"] {
        check(&asked(name, 30, "a"), asked(name, 60, "a"), &asked(name, 30, "a"));
        check(&asked(name, 30, "a"), asked(name, 60, "b"), &asked(name, 30, "b"));
    }
    for name in ["max_duration", "timeout_ns", "timeout_ms", "seconds", "total_time"] {
        check(&asked(name, 30, "a"), asked(name, 60, "a"), &asked(name, 60, "a"));
    }
    let answered = |ns: u32| talk(&[("GET /v1/runs", &format!(r#"{{"total_duration":{ns}}}"#))]);
    check(&answered(30), answered(60), &answered(30));

    let found = |name: &str, took: &str| {
        talk(&[("GET /search", &format!(r#"{{"hits":[],"{name}":{took}}}"#))])
    };
    for (name, one, other) in [
        ("time", "0.0004", "0.0135"),
        ("processingTimeMs", "2", "31"),
        ("search_time_ms", "2", "31"),
        ("QTime", "0", "12"),
        ("tookMs", "3", "5"),
        ("avg_time", "0.1241", "0.2018"),
        ("rank_eta", "1.0411", "2.6e-05"),
        ("tokens_per_second", "61.5302", "70.12881"),
    ] {
        check(&found(name, one), found(name, other), &found(name, one));
    }
    // So many minutes are no measure, and neither is where a word stands in a recording.
    for (name, one, other) in
        [("time", "30", "45"), ("lease_time", "1.5", "2.5"), ("start_time", "1.0411", "2.0613")]
    {
        check(&found(name, one), found(name, other), &found(name, other));
    }
}

/// Such names have no kin: who counts may be one further the next time.
#[test]
fn names_that_are_counted_in_the_form_of_a_uuid_are_exchanged_each_on_its_own() {
    let counted = |from: u8| {
        let name = |more| format!("00000000-0000-4000-8000-0000000000{:02x}", from + more);
        messages(&[(&name(0), &name(1)), (&name(2), &name(3))])
    };

    check(&counted(0x60), counted(0x7e), &counted(0x60));
}

#[test]
fn what_is_counted_within_a_name_is_part_of_it() {
    let talk = |name: &str, process: u32, first: u32| {
        let message = |at: u32| format!(r#"{{"msg_id":"{name}_{process}_{}"}}"#, first + at);
        talk(&[("GET /one", &message(0)), ("GET /two", &message(1))])
    };
    let before = talk(ONE, 4737, 9);

    check(&before, talk(OTHER_ONE, 27_626, 11), &before);
}

#[test]
fn two_identifiers_that_become_one_are_a_difference() {
    let pair = |one: &str, two: &str| {
        talk(&[("GET /", &format!(r#"[{{"id":"{one}"}},{{"id":"{two}"}}]"#))])
    };

    let told = renew(&pair(ONE, TWO), pair(OTHER_ONE, OTHER_ONE)).cassette;

    assert_ne!(told, pair(ONE, TWO));
    let body = told.interactions[0].response().unwrap().body.bytes();
    let ids: Vec<&str> =
        std::str::from_utf8(&body).unwrap().split('"').skip(3).step_by(4).collect();
    assert_eq!(ids[0], ids[1]);
}

#[test]
fn a_list_of_a_set_stands_in_its_old_order_unless_it_was_asked_for_in_one() {
    let tools = |path: &str, names: [&str; 2]| {
        let [one, two] = names.map(|name| format!(r#"{{"name":"{name}"}}"#));
        talk(&[(&format!("GET {path}"), &format!("[{one},{two}]"))])
    };
    for path in ["/v1/tools/?names=a&names=b", "/v1/servers/1/tools"] {
        check(&tools(path, ["a", "b"]), tools(path, ["b", "a"]), &tools(path, ["a", "b"]));
    }
    for path in ["/v1/tools?order=asc", "/v1/messages"] {
        check(&tools(path, ["a", "b"]), tools(path, ["b", "a"]), &tools(path, ["b", "a"]));
    }
}

#[test]
fn temporary_files_keep_their_names() {
    let failed = |file: &str, why: &str| {
        talk(&[("POST /run", &format!(r#"{{"stderr":"File \"/tmp/x/{file}.py\", {why}"}}"#))])
    };

    check(&failed("tmpw1_x8y2z", "a"), failed("tmpabc4efgh", "a"), &failed("tmpw1_x8y2z", "a"));
    check(&failed("tmpw1_x8y2z", "a"), failed("tmpabc4efgh", "b"), &failed("tmpw1_x8y2z", "b"));
    // Others are what somebody has called so.
    check(&failed("tmpfiles", "a"), failed("tmpnotes", "a"), &failed("tmpnotes", "a"));
    check(&failed("tmp_backups", "a"), failed("tmp_archive", "a"), &failed("tmp_archive", "a"));
}

#[test]
fn objects_of_a_process_that_was_restarted_lie_elsewhere() {
    let at = |one: &str, other: &str| {
        talk(&[("GET /config", &format!(r#"["<function f at {one}>","<g at {other}>","{one}"]"#))])
    };
    let old = at("0x7f8e1e8c3880", "0x55d2a0c41f10");

    check(&old, at("0x7fa0f3787880", "0x5614bb02c8a0"), &old);
    let (one, other) = (at("0x7fa0f3787880", "0x7fa0f3787880"), "0x7f8e1e8c3880");
    check(&old, one, &at(other, other));
    let amount = |it: &str| talk(&[("GET /a", &format!(r#"{{"gas":"{it}"}}"#))]);
    check(&amount("0x4a817c800"), amount("0x5a817c800"), &amount("0x5a817c800"));
}

#[test]
fn a_client_that_left_when_it_had_heard_all_changes_nothing() {
    let ended = |end: End, text: &str| {
        let mut cassette = stream(&[(1, text)]);
        let Outcome::Response(response) = &mut cassette.interactions[0].outcome else {
            return cassette;
        };
        response.end = end;
        cassette
    };
    let whole = ended(End::Complete, "data: [DONE]\n\n");

    check(&whole, ended(End::ClientClosed, "data: [DONE]\n\n"), &whole);
    // One that left before may have missed something.
    let less = ended(End::ClientClosed, "data: 1\n\n");
    check(&whole, less.clone(), &less);
    check(&less, ended(End::Complete, "data: 1\n\n"), &ended(End::Complete, "data: 1\n\n"));
}

#[test]
fn how_much_came_after_the_client_had_left_is_no_difference() {
    let cut = |end: End, left: Option<u64>, texts: &[&str]| {
        let chunks = texts.iter().zip(1..).map(|(text, ms)| (ms, *text));
        let mut cassette = stream(&chunks.collect::<Vec<_>>());
        let Outcome::Response(response) = &mut cassette.interactions[0].outcome else {
            return cassette;
        };
        (response.end, response.left) = (end, left);
        cassette
    };
    let (one, two, other) = ("data: 1\n\n", "data: 2\n\n", "data: 3\n\n");
    let (short, long) = (&[one][..], &[one, two][..]);
    let left = |texts| cut(End::ClientClosed, Some(1), texts);

    check(&left(long), left(short), &left(long));
    check(&left(short), left(long), &left(short));
    check(&left(long), left(&[one, other]), &left(&[one, other]));
    // What ended by itself, or was heard, says how much there is.
    let whole = |texts| cut(End::Complete, Some(1), texts);
    check(&whole(long), whole(short), &whole(short));
    let heard = |texts| cut(End::ClientClosed, None, texts);
    check(&heard(long), heard(short), &heard(short));
}

#[test]
fn what_is_computed_is_a_difference() {
    for (before, now) in [
        ("7512374254209955967", "8812374254209955123"),
        ("5eb63bbbe01eeed093cb22bb8f5acdc3", "9f86d081884c7d659a2feaa0c55ad015"),
        ("fp_44709d6fcb", "fp_99709d6f0a"),
    ] {
        let result = |value: &str| talk(&[("GET /", &format!(r#"{{"tool_return":"{value}"}}"#))]);
        check(&result(before), result(now), &result(now));
    }
}

#[test]
fn a_digest_of_what_is_as_it_was_is_as_it_was_also_where_the_client_comes_back_with_it() {
    let run = |id: &str, etag: &str, digest: &str, name: &str| {
        let body = format!(r#"{{"id":"{id}","name":"{name}"}}"#);
        let mut cassette = talk(&[("GET /thing", &body), ("GET /thing", &body)]);
        let [first, then] = &mut cassette.interactions[..] else { panic!("there are two") };
        let Outcome::Response(answer) = &mut first.outcome else { panic!("it was answered") };
        answer.headers.append("etag", etag.to_owned());
        answer.headers.append("content-digest", digest.to_owned());
        then.request.headers.append("if-none-match", etag.to_owned());
        cassette
    };
    let before = run(ONE, "W/\"2a-x/Bq=\"", "md5=:AbC=:", "a");
    check(&before, run(OTHER_ONE, "W/\"2a-Kq+=\"", "md5=:XyZ=:", "a"), &before);

    // Of something else, and in another way.
    let new = run(OTHER_ONE, "W/\"2a-Kq+=\"", "md5=:XyZ=:", "b");
    check(&before, new, &run(ONE, "W/\"2a-Kq+=\"", "md5=:XyZ=:", "b"));
    let new = run(OTHER_ONE, "\"2a-Kq+=\"", "sha-256=:XyZ=:", "a");
    check(&before, new, &run(ONE, "\"2a-Kq+=\"", "sha-256=:XyZ=:", "a"));
}

#[test]
fn a_time_that_the_client_came_back_with_is_the_same_in_both_places() {
    let page = |first: &str, then: &str, more: &str| {
        talk(&[
            ("GET /page", &format!(r#"[{{"created_at":"{first}"}}{more}]"#)),
            (&format!("GET /page?after={then}"), "[]"),
        ])
    };
    let (old, new) = ("2026-11-21T09:00:00Z", "2026-12-01T10:00:00Z");
    let before = page(old, old, "");
    check(&before, page(new, new, ""), &before);

    // It is the time of another item now.
    let last = "2026-12-02T11:00:00Z";
    let more = format!(r#",{{"created_at":"{last}"}}"#);
    let told = renew(&before, page(new, last, &more)).cassette;
    let answer = told.interactions[0].response().unwrap().body.bytes();
    let asked = told.interactions[1].request.path.split('=').nth(1).unwrap().to_owned();
    assert!(std::str::from_utf8(&answer).unwrap().contains(&asked), "{asked} {answer:?}");
}

/// A conversation in which the server issues names that the client sends back, with its table of names.
pub fn issuing(names: &[(usize, &str)], exchanges: &[(&str, &str)]) -> Cassette {
    let issued = |(interaction, value): &(usize, &str)| Id {
        value: (*value).to_owned(),
        interaction: *interaction,
        at: "/conversation_id".to_owned(),
        reach: Reach::Anywhere,
        evidence: Evidence::Return,
    };
    let mut talk = talk(exchanges);
    talk.ids.get_or_insert_default().server = names.iter().map(issued).collect();
    talk
}

/// A table or the paths tell of the names in a text.
#[test]
fn names_in_a_text_that_are_made_anew_are_told_as_before_if_the_client_comes_back_with_them() {
    let imported = |names: [&str; 3], who: &str, has_table: bool| {
        let [one, two, three] = names;
        let table = format!("id,name\n{one},a\n{two},b\n{three},{who}\n");
        let told = |name: &str| format!(r#"{{"name":"{name}"}}"#);
        let mut cassette = issuing(
            &names.map(|name| (0, name)),
            &[
                ("POST /import {}", &table),
                (&format!("GET /things/{one}"), &told(one)),
                (&format!("GET /things/{two}"), &told(two)),
                (&format!("GET /things/{three}"), &told(three)),
            ],
        );
        let issued = cassette.ids.iter_mut().flat_map(|ids| &mut ids.server);
        issued.for_each(|id| id.at = "body".into());
        Cassette { ids: cassette.ids.filter(|_| has_table), ..cassette }
    };
    let (was, is) =
        (["qwhzkdmnbv", "zzpwlwmtrd", "kjhxcvbwqm"], ["plmnkoqwxz", "hgfdsvbnqw", "wertyplkjh"]);
    for has_table in [true, false] {
        let imported = |names, who| imported(names, who, has_table);
        let old = imported(was, "c");

        check(&old, imported(is, "c"), &old);
        let new = imported(is, "d");
        check(&old, new.clone(), &Cassette { ids: new.ids, ..imported(was, "d") });
        // One that is there already may be a word.
        let again = imported([is[0], was[1], is[2]], "c");
        check(&old, again.clone(), &again);
    }
    // What the client says first is its own.
    let turned = |names| {
        let mut cassette = imported(names, "c", false);
        cassette.interactions.rotate_left(1);
        cassette
    };
    check(&turned(was), turned(is), &turned(is));
}

#[test]
fn a_server_that_was_not_restarted_counts_on() {
    let two = |one: &str, other: &str, said: &str| {
        let answer = |name: &str| format!(r#"{{"conversation_id":"{name}"}}"#);
        let told = |name: &str| format!(r#"{{"note":"{name} {said}, not local-conv-1000"}}"#);
        issuing(
            &[(0, one), (1, other)],
            &[
                ("POST /conversations {}", &answer(one)),
                ("POST /conversations {}", &answer(other)),
                (&format!("GET /conversations/{other}"), &told(other)),
                (&format!("GET /conversations/{one}"), &told(one)),
            ],
        )
    };
    let old = two("local-conv-1", "local-conv-2", "is idle");

    // The second has the name that the first one had, or none is as it was, or has as many digits.
    for (one, other) in [("local-conv-2", "local-conv-3"), ("local-conv-9", "local-conv-10")] {
        let renewed = renew(&old, two(one, other, "is idle")).cassette;
        assert_eq!(told(&renewed), told(&old));
        assert_eq!(renewed.ids, old.ids);
        let new = two(one, other, "was busy");
        let expected = two("local-conv-1", "local-conv-2", "was busy");
        check(&old, new.clone(), &Cassette { ids: new.ids, ..expected });
    }
}

#[test]
fn what_the_client_had_the_server_make_is_called_as_before_however_short_it_is() {
    let run = |name: &str, issuing_request: &str| {
        issuing(
            &[(0, name)],
            &[
                (issuing_request, &format!(r#"{{"conversation_id":"{name}"}}"#)),
                (&format!("GET /runs/{name}"), &format!(r#"{{"conversation_id":"{name}"}}"#)),
            ],
        )
    };
    let (old, make) = (run("jjrXEVpQFC", "POST /runs {}"), "POST /runs {}");

    check(&old, run("AJROVjZTqQ", make), &old);
    // It is written in another way, or was there before.
    check(&old, run("AJROVjZTqQxx", make), &run("AJROVjZTqQxx", make));
    let there = |name| run(name, "GET /first");
    check(&there("jjrXEVpQFC"), there("AJROVjZTqQ"), &there("AJROVjZTqQ"));
}

#[test]
fn a_name_may_consist_of_a_name_and_numbers_of_any_length() {
    let run = |session: &str, process: u32| {
        let (one, two) = session.split_once('-').unwrap();
        let (first, second) =
            (format!("{session}_{process}_15"), format!("{session}_{process}_17"));
        issuing(
            &[(0, one), (0, two)],
            &[
                ("POST /runs {}", &format!(r#"{{"session":"{session}","msg_id":"{first}"}}"#)),
                ("POST /more {}", &format!(r#"{{"msg_id":"{second}","parent":"{first}"}}"#)),
                (&format!("GET /sessions/{session}"), "{}"),
            ],
        )
    };
    let old = run("bb619b75-ce9b70f4ed5583fccfed82ac", 24169);

    // As a whole it looks like a sealed state.
    check(&old, run("43a96f4d-3c2829784496cb54eca60320", 1401), &old);
    check(&old, run("f1e14da3-0b984bc3b51747ee1dc45d49", 117), &old);
}

#[test]
fn what_only_looks_counted_is_a_difference() {
    let check = |was: &str, is: &str, asks: &str, issues: bool| {
        let pair = |name: &str| {
            let names = [(0, name)];
            issuing(
                if issues { &names } else { &[] },
                &[
                    (asks, &format!(r#"{{"conversation_id":"{name}"}}"#)),
                    ("POST /say {}", &format!(r#"{{"said":"{name}"}}"#)),
                ],
            )
        };
        check(&pair(was), pair(is), &pair(is));
    };
    // The client never sent it back.
    check("take-1", "take-2", "POST /takes {}", false);
    // One alone was never seen to count.
    check("gpt-4", "gpt-5", "POST /agents {}", true);
    // Nobody made it: it was there.
    check("gpt-4", "gpt-5", "GET /models", true);
    // More than a number differs.
    check("local-conv-1", "remote-conv-2", "POST /conversations {}", true);
    // It is but a number, as anything may be.
    check("17", "18", "POST /conversations {}", true);
}

#[test]
fn a_number_that_moved_with_the_clock_is_a_time_whatever_it_is_called() {
    let at = |recorded: &str, answer: &str| {
        let mut talk = talk(&[("GET /", answer)]);
        talk.recorded.at = recorded.to_owned();
        talk
    };
    let (then, now) = ("2026-11-21T08:00:00Z", "2026-12-01T08:00:00Z");
    let old = |answer: &str| at(then, answer);
    for (before, after) in [
        (r#"{"t":1795248000}"#, r#"{"t":1796112003}"#),
        (r#"{"t":1795248000.25}"#, r#"{"t":1796112003.75}"#),
        (r#"{"now_ms":1795248000123}"#, r#"{"now_ms":1796112003456}"#),
        (
            r#"{"u":"https://x.example/f?expires=1795251600&v=1"}"#,
            r#"{"u":"https://x.example/f?expires=1796115602&v=1"}"#,
        ),
    ] {
        check(&old(before), at(now, after), &old(before));
    }
    for (before, after) in [
        // It did not move as the clock did.
        (r#"{"n":1795248000}"#, r#"{"n":1795249000}"#),
        // It is written in another way.
        (r#"{"n":1795248000}"#, r#"{"n":1796112003000}"#),
        // It is not near.
        (r#"{"n":3795248000}"#, r#"{"n":3796112003}"#),
        (
            r#"{"u":"https://x.example/f?expires=1795251600&v=1"}"#,
            r#"{"u":"https://x.example/f?expires=1796115602&v=2"}"#,
        ),
    ] {
        check(&old(before), at(now, after), &at(now, after));
    }
}

#[test]
fn times_that_stayed_beside_a_change_are_times_the_next_time_too() {
    let at = |recorded: &str, answer: &str| {
        let mut talk = talk(&[("GET /", answer)]);
        talk.recorded.at = recorded.to_owned();
        talk
    };
    let old = at("2026-11-21T08:00:00Z", r#"{"n":1,"emittedAtMs":1795248000123}"#);
    let new = at("2026-12-01T08:00:00Z", r#"{"n":2,"emittedAtMs":1796112003456}"#);

    let once = renew(&old, new.clone()).cassette;
    let again = renew(&once, new).cassette;

    let answer = once.interactions[0].response().unwrap().body.bytes();
    assert_eq!(answer, r#"{"n":2,"emittedAtMs":1795248000123}"#);
    assert_eq!(again, once);
}

/// Two things are made at these times, and then listed in this order.
fn listed(times: [&str; 2], ids: [&str; 2], order: [usize; 2]) -> Cassette {
    let thing = |at: usize| format!(r#"{{"id":"{}","made":"{}","n":{at}}}"#, ids[at], times[at]);
    let list = format!("[{},{}]", thing(order[0]), thing(order[1]));
    let [one, other] = [0, 1].map(thing);
    talk(&[
        (r#"POST /things {"n":0}"#, &one),
        (r#"POST /things {"n":1}"#, &other),
        ("GET /things", &list),
    ])
}

#[test]
fn a_time_that_stays_in_one_place_is_the_same_in_others() {
    let old = listed(["2026-11-21T09:00:00Z", "2026-11-21T09:00:05Z"], [ONE, TWO], [0, 1]);

    let new =
        listed(["2026-12-01T10:00:00Z", "2026-12-01T10:00:07Z"], [OTHER_ONE, OTHER_TWO], [1, 0]);

    let times = ["2026-11-21T09:00:00Z", "2026-11-21T09:00:05Z"];
    check(&old, new, &listed(times, [ONE, TWO], [1, 0]));
    // Of one second it is not known which it was.
    let at_once = listed(["2026-12-01T10:00:00Z"; 2], [OTHER_ONE, OTHER_TWO], [1, 0]);
    let renewed = renew(&old, at_once).cassette;
    let list = renewed.interactions[2].response().unwrap().body.bytes();
    assert!(String::from_utf8_lossy(&list).contains("2026-12-01T10:00:00Z"), "{list:?}");
}

#[test]
fn a_time_that_is_known_to_be_another_does_not_stay() {
    let thing = |id: &str, at: &str, name: &str| {
        format!(r#"{{"id":"{id}","made":"{at}","name":"{name}"}}"#)
    };
    let talk = |ids: [&str; 2], times: [&str; 2], last: usize| {
        let made = [0, 1].map(|it| thing(ids[it], times[it], "a"));
        let last = format!(r#"{{"last":{}}}"#, thing(ids[last], times[last], ["a", "b"][last]));
        talk(&[("POST /first", &made[0]), ("POST /second", &made[1]), ("GET /last", &last)])
    };
    let times = ["2026-11-21T09:00:00.125Z", "2026-11-21T09:00:05.250Z"];
    let old = talk([ONE, TWO], times, 0);

    let new =
        talk([OTHER_ONE, OTHER_TWO], ["2026-12-01T10:00:00.375Z", "2026-12-01T10:00:07.500Z"], 1);

    check(&old, new, &talk([ONE, TWO], times, 1));
}

#[test]
fn a_server_at_another_port_of_its_host_has_its_old_address() {
    let talk = |address: &str, id: &str| {
        let agent = format!("/agents/agent-{id}");
        let mut talk = talk(&[
            ("POST /agents", &format!(r#"{{"url":"http://{address}{agent}","id":"agent-{id}"}}"#)),
            (&format!("GET {agent}"), &format!(r#"{{"docs":"http:\/\/{address}\/docs"}}"#)),
            (&format!("GET /fetch?from={address}"), &format!(r#"{{"fetched":"{address}1"}}"#)),
        ]);
        talk.recorded.upstream = format!("http://{address}");
        talk
    };
    let old = talk("127.0.0.1:8283", ONE);

    let renewed = renew(&old, talk("127.0.0.1:49152", OTHER_ONE)).cassette;

    let mut expected = old.clone();
    let last = self::talk(&[("GET /", r#"{"fetched":"127.0.0.1:491521"}"#)]).interactions;
    expected.interactions[2].outcome = last[0].outcome.clone();
    assert_eq!(told(&renewed), told(&expected));
    assert_eq!(renewed.recorded.upstream, old.recorded.upstream);
    // On another host it is another server.
    let other = talk("10.0.0.1:8283", ONE);
    check(&old, other.clone(), &other);
}

#[test]
fn a_name_without_a_digit_is_one_where_names_stand() {
    let said = |id: &str| talk(&[("GET /m", &format!(r#"{{"id":"{id}","type":"message"}}"#))]);
    let old = said("msg_01FMLWURXqAbKzTvNcYhGd");

    check(&old, said("msg_01hQwErTyUiOpAsDfGhJkL"), &old);
    // Words are none.
    let other = said("msg_01anotherMessageOfUser");
    check(&said("msg_01messageOfTheSystems"), other.clone(), &other);
}

#[test]
fn names_are_called_as_another_recording_has_shown() {
    let talk = |id: &str, name: &str| {
        let answer = format!(r#"{{"id":"thing_{id}","name":"agent {name}"}}"#);
        talk(&[(&format!("GET /things/thing_{id}"), &answer)])
    };
    let [was, is] = ["bed4869591724c1792be73a4f41b3e08", "2626ec9c95bf455ab4bf6adc55b05640"];
    let [old, new] = ["aac54a28d3ac48f1b4017a482c0a40ce", "4851ed069cde4f37877f4aade536406c"];
    let given = vec![(is.to_owned(), was.to_owned())];
    let by = |given| renew_by(&Rules::default(), &talk(old, was), talk(new, is), given).cassette;

    assert_eq!(told(&by(given)), told(&talk(old, was)));
    // A digest may be what the server has computed.
    assert_eq!(told(&by(Vec::new())), told(&talk(old, is)));
}

#[test]
fn interactions_that_met_stand_in_their_old_order() {
    let three = |order: [usize; 3], after: &[usize]| {
        let names = ["a", "b", "c"];
        let asked: Vec<String> = order.iter().map(|at| format!("GET /{}", names[*at])).collect();
        let mut talk = talk(&asked.iter().map(|asked| (asked.as_str(), "{}")).collect::<Vec<_>>());
        for at in after {
            let met = |interaction| Progress { interaction, chunks: 0 };
            talk.interactions[*at].after = (0..*at).map(met).collect();
        }
        talk
    };
    let old = three([0, 1, 2], &[1, 2]);
    check(&old, three([2, 0, 1], &[1, 2]), &old);
    // They came one after the other in both, and each is answered as it was.
    let apart = three([0, 1, 2], &[]);
    check(&apart, three([1, 0, 2], &[]), &apart);
    let mut other = three([1, 0, 2], &[]);
    other.interactions[0].outcome =
        talk(&[("GET /b", "{\"n\":1}")]).interactions[0].outcome.clone();
    check(&apart, other.clone(), &other);
}

#[test]
fn the_way_json_is_laid_out_is_a_difference() {
    let (compact, spaced) = (talk(&[("GET /", r#"{"a":1}"#)]), talk(&[("GET /", r#"{"a": 1}"#)]));

    check(&compact, spaced.clone(), &spaced);
}

/// A stream of events of this many chunks, then three posts: what of the stream had been sent when they
/// came, where it was still open.
fn listening(chunks: usize, sent: [Option<usize>; 3]) -> Cassette {
    let chunk = |n: usize| (n as u64, format!("data: {n}\n\n"));
    let mut cassette = stream(&[]);
    let chunks =
        (0..chunks).map(chunk).map(|(ms, text)| Chunk { ms, bytes: text.into() }).collect();
    let Outcome::Response(response) = &mut cassette.interactions[0].outcome else { unreachable!() };
    response.body = Body::Stream(chunks);
    for (number, sent) in sent.into_iter().enumerate() {
        let mut post = exchange(&format!("POST /{number} {{}}"), whole("{}"));
        post.after = sent.map(|chunks| Progress { interaction: 0, chunks }).into_iter().collect();
        cassette.interactions.push(post);
    }
    cassette
}

#[test]
fn that_a_client_went_on_listening_is_told_where_it_was_not() {
    let untold = listening(2, [Some(0), None, None]);
    let told = listening(2, [Some(0), Some(2), Some(2)]);
    check(&untold, told.clone(), &told);
    // The same again is the same.
    check(&told, told.clone(), &told);
    check(&listening(2, [None, None, None]), told.clone(), &listening(2, [None, Some(2), Some(2)]));
}

#[test]
fn how_far_a_stream_had_come_is_no_difference_else() {
    // The end may come a moment late.
    let over = listening(2, [None, None, None]);
    check(&over, listening(2, [Some(2), None, None]), &over);
    // A request more or less before the end.
    for sent in [[Some(2), None, None], [Some(0), Some(2), None], [Some(2), Some(2), None]] {
        let old = listening(2, sent);
        check(&old, listening(2, [Some(1), Some(2), Some(2)]), &old);
    }
    // Before all was sent.
    check(&over, listening(2, [Some(0), Some(1), Some(1)]), &over);
}

#[test]
fn how_far_a_stream_had_come_counts_where_it_says_other_things_now() {
    // The client answers what the server asks in the first chunk, and in the second one later.
    let asked = |chunks: [&str; 2], sent: usize| {
        let mut talk = listening(2, [Some(sent), None, None]);
        let Outcome::Response(response) = &mut talk.interactions[0].outcome else { unreachable!() };
        let chunks = chunks
            .iter()
            .enumerate()
            .map(|(ms, said)| Chunk { ms: ms as u64, bytes: format!("data: {said}\n\n").into() });
        response.body = Body::Stream(chunks.collect());
        talk
    };
    let old = asked(["roots?", "a note"], 1);
    let new = asked(["a note", "roots?"], 2);

    let renewed = renew(&old, new.clone()).cassette;

    assert_eq!(renewed.interactions[1].after, new.interactions[1].after);
}

#[test]
fn the_boundary_of_a_multipart_request_is_an_accident() {
    let upload = |boundary: &str, text: &str| {
        let sent = format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=a\r\n\r\n{text}\r\n--{boundary}--\r\n"
        );
        let mut talk = talk(&[(&format!("POST /files {sent}"), "{}")]);
        let headers = &mut talk.interactions[0].request.headers;
        headers.set("content-type", format!("multipart/form-data; boundary={boundary}"));
        headers.set("content-length", sent.len().to_string());
        talk
    };
    let old = upload("ba06ecdba07c2ee46747e80faa5bf18a", "one");

    check(&old, upload("X-6bafb0db0cd7", "one"), &old);
    let changed = upload("ba06ecdba07c2ee46747e80faa5bf18a", "other");
    check(&old, upload("X-6bafb0db0cd7", "other"), &changed);
    // What a part says is no delimiter, even if it has the same letters.
    let changed = upload("ba06ecdba07c2ee46747e80faa5bf18a", "a --b c");
    check(&old, upload("b", "a --b c"), &changed);
}

/// A conversation over a WebSocket: what the server said to each message of the client.
fn socket(said: &[&[&str]]) -> Cassette {
    let mut cassette = talk(&[("GET /ws", "")]);
    let Outcome::Response(response) = &mut cassette.interactions[0].outcome else {
        panic!("it was answered")
    };
    (response.status, response.headers, response.body) = (101, Headers::new(), Body::default());
    for (number, said) in said.iter().enumerate() {
        let frame = |(from, text): (Peer, String)| {
            let ms = response.frames.len() as u64;
            response.frames.push(Frame {
                ms,
                from,
                content: Content::Text(text.into()),
                fragments: Vec::new(),
            });
        };
        let run = format!(r#"{{"run":{number}}}"#);
        let asked = std::iter::once((Peer::Client, run));
        asked.chain(said.iter().map(|text| (Peer::Server, (*text).to_owned()))).for_each(frame);
    }
    cassette
}

#[test]
fn messages_that_come_in_both_orders_stand_in_their_old_order() {
    let [busy, idle] =
        ["busy", "idle"].map(|state| format!(r#"{{"channel":"iopub","is":"{state}"}}"#));
    let reply = |count: u32| format!(r#"{{"channel":"shell","count":{count}}}"#);
    let (one, two) = (reply(1), reply(2));
    let old = socket(&[&[&busy, &idle, &one], &[&busy, &two, &idle]]);
    check(&old, socket(&[&[&busy, &one, &idle], &[&busy, &idle, &two]]), &old);

    // It was always in this order, and may not be any more.
    let old = socket(&[&[&busy, &idle, &one], &[&busy, &idle, &two]]);
    let new = socket(&[&[&busy, &one, &idle], &[&busy, &two, &idle]]);
    let renewed = renew(&old, new.clone()).cassette;
    let messages = |cassette: &Cassette| -> Vec<Bytes> {
        let response = cassette.interactions[0].response().unwrap();
        response.frames.iter().filter_map(|frame| frame.message().cloned()).collect()
    };
    assert_eq!(messages(&renewed), messages(&new));
}

#[test]
fn a_date_that_moved_with_the_clock_is_kept_however_it_is_written() {
    let session = |recorded: &str, path: &str, released: &str| {
        let answer = format!(r#"{{"path":"/home/{path}/log.jsonl","released":"{released}"}}"#);
        let mut talk = talk(&[("POST /sessions {}", &answer)]);
        talk.recorded.at = recorded.to_owned();
        talk
    };
    let old = session("2026-11-22T23:50:00Z", "2026/11/23", "20260101");

    check(&old, session("2026-12-02T08:00:00Z", "2026/12/02", "20260101"), &old);
    // Not a day that has to do with the recording, or it is written in another way.
    let new = session("2026-12-02T08:00:00Z", "2026/12/02", "20260301");
    check(&old, new, &session("", "2026/11/23", "20260301"));
    for path in ["2026/11/28", "2026-12-02"] {
        let new = session("2026-12-02T08:00:00Z", path, "20260101");
        check(&old, new.clone(), &new);
    }
}

#[test]
fn what_a_server_issued_is_a_name_however_short_it_is() {
    let post = |name: &str, said: &str| {
        issuing(
            &[(0, name)],
            &[
                ("POST /posts {}", &format!(r#"{{"conversation_id":"{name}"}}"#)),
                (&format!("DELETE /posts/{name}"), &format!(r#"{{"{said}":"no post {name}"}}"#)),
            ],
        )
    };
    let old = post("RzePsXCemdc", "error");

    // One time in ten there is not a digit in such a name, or it is no mix of anything.
    for name in ["LJ2qW_XRPF4", "sdlkfjghwer", "R635zi_-kro"] {
        check(&old, post(name, "error"), &old);
        let new = post(name, "e");
        let ids = new.ids.clone();
        check(&old, new, &Cassette { ids, ..post("RzePsXCemdc", "e") });
    }
    // Names of another sort.
    for name in ["queued", "in_process"] {
        check(&old, post(name, "error"), &post(name, "error"));
    }
    // It was not made, but chosen.
    let chosen = |name: &str| {
        let told = format!(r#"{{"conversation_id":"{name}"}}"#);
        issuing(&[(0, name)], &[("POST /chat {}", &told), (&format!("GET /models/{name}"), "{}")])
    };
    check(&chosen("claude-3-5"), chosen("gemini-2-1"), &chosen("gemini-2-1"));
}

#[test]
fn what_a_post_has_made_is_called_as_before_however_often_that_is() {
    let made = |name: &str, path: &str| {
        let told = format!(r#"{{"name":"{name}","note":"{name} is new"}}"#);
        let asked = format!("GET {path}/{name}");
        issuing(&[(0, name)], &[("POST /pods {}", &told), (&asked, &told)])
    };

    for (was, is) in [("web-x7k2p", "web-q49zd"), ("job-12c65", "job-9510c"), ("a1b2", "07fe")] {
        let old = made(was, "/pods");
        check(&old, made(is, "/pods"), &old);
        // A word of another length is a difference.
        check(&old, made("words", "/pods"), &made("words", "/pods"));
    }
}

#[test]
fn what_is_made_anew_for_each_answer_is_called_as_before_where_a_query_gives_it_back() {
    let synced = |tokens: [&str; 4]| {
        let told = tokens.map(|token| format!(r#"{{"rooms":[],"next_batch":"{token}"}}"#));
        let [one, two, three, _] = tokens.map(|token| format!("GET /sync?since={token}"));
        talk(&[("GET /sync", &told[0]), (&one, &told[1]), (&two, &told[2]), (&three, &told[3])])
    };
    let old = synced(["eszycidpyo", "pumzgdpamn", "tyyawoixzh", "sdkaaauram"]);

    check(&old, synced(["bcclfxzvji", "hsreltpusc", "hjdxmpecca", "vgnxaqhyop"]), &old);
    // A list of what there is has something in common.
    let listed = synced(["bcclfxzvji", "pumzgdpamn", "hjdxmpecca", "vgnxaqhyop"]);
    check(&old, listed.clone(), &listed);
}

#[test]
fn what_a_server_issued_is_a_name_where_a_stream_told_of_it_first() {
    let posts = |name: &str, title: &str| {
        let post = format!(r#"{{"id":"{name}","title":"{title}"}}"#);
        let event = format!("data: {{\"action\":\"create\",\"record\":{post}}}\n\n");
        let asked = format!("GET /posts/{name}");
        let mut told = stream(&[(1, &event)]);
        let talk = issuing(&[(0, name)], &[("POST /posts {}", &post), (&asked, &post)]);
        told.interactions.extend(talk.interactions);
        Cassette { ids: talk.ids, ..told }
    };
    let old = posts("8cz2ka7edcmpb3u", "one");

    check(&old, posts("uwqx7jk9rkaehvb", "one"), &old);
    let new = posts("uwqx7jk9rkaehvb", "two");
    check(&old, new.clone(), &Cassette { ids: new.ids, ..posts("8cz2ka7edcmpb3u", "two") });
}

#[test]
fn what_two_runs_have_shown_is_a_name_where_it_looks_like_one_too() {
    let talk = |session: &str| talk(&[(&format!(r#"POST /say {{"session":"{session}"}}"#), "{}")]);
    let mut old = talk("c45e95ef47444251a10586beb74052c7");
    let new = talk("7749518a50264a9dbe0f1188fe221fcc");
    check(&old, new.clone(), &new);

    let (at, reach) = ("/session".to_owned(), Reach::Anywhere);
    let value = "c45e95ef47444251a10586beb74052c7".to_owned();
    let id = Id { value, interaction: 0, at, reach, evidence: Evidence::Runs };
    old.ids.get_or_insert_default().client = vec![id];
    check(&old, new, &old);
}

#[test]
fn what_is_shown_to_be_made_up_is_called_as_before_however_base64_fills_it_up() {
    let sent = |name: &str| {
        let mut cassette = talk(&[("POST /files", "{}")]);
        let headers = &mut cassette.interactions[0].request.headers;
        headers.append("upload-metadata", format!("filename {name}"));
        cassette
    };
    let shown = |name: &str| {
        let (at, reach) = ("header.upload-metadata".to_owned(), Reach::Anywhere);
        let value = name.trim_end_matches('=').to_owned();
        let id = Id { value, interaction: 0, at, reach, evidence: Evidence::Runs };
        let mut cassette = sent(name);
        cassette.ids.get_or_insert_default().client = vec![id];
        cassette
    };
    let old = "Yi01YmJlMGY5Mi00OGRhLTQ3ZDctOTRhMS1mOGU1NDBlZTVhMDQ=";

    for new in [
        "Yi03NDY2Y2VhZS1jNTRiLTQ3ZDAtYTUxZS03OWUzMzk5YjJmYzI=",
        "Yy03NDY2Y2VhZS1jNTRiLTQ3ZDAtYTUxZS03OWUzMzk5YjJmYz==",
        "Yi03NDY2Y2VhZS1jNTRiLTQ3ZDAtYTUxZS03OWUzMzk5YjJmYzIx",
    ] {
        check(&shown(old), sent(new), &shown(old));
        check(&shown(old), shown(new), &shown(old));
        check(&shown(new), sent(old), &shown(new));
    }
}

/// What went over a WebSocket; messages of the client begin with `>`.
pub fn frames(said: &[&str]) -> Cassette {
    let mut cassette = talk(&[("GET /ws", "")]);
    let Outcome::Response(response) = &mut cassette.interactions[0].outcome else {
        panic!("it was answered")
    };
    (response.status, response.headers, response.body) = (101, Headers::new(), Body::default());
    let frame = |(ms, text): (u64, &&str)| {
        let asked = text.strip_prefix('>');
        let from = if asked.is_some() { Peer::Client } else { Peer::Server };
        let content = Content::Text(asked.unwrap_or(text).to_owned().into());
        Frame { ms, from, content, fragments: Vec::new() }
    };
    response.frames = (0..).zip(said).map(frame).collect();
    cassette
}

/// The new recording has its messages in this order.
#[track_caller]
fn check_order(old: &Cassette, new: Cassette, expected: &Cassette) {
    let said = |cassette: &Cassette| -> Vec<(Peer, Bytes)> {
        let response = cassette.interactions[0].response().unwrap();
        let said =
            response.frames.iter().map(|frame| (frame.from, frame.message().unwrap().clone()));
        said.collect()
    };
    assert_eq!(said(&renew(old, new).cassette), said(expected));
}

#[test]
fn what_a_server_said_before_its_client_may_come_behind_it() {
    let (first, second) = (r#">{"id":1,"method":"start"}"#, r#">{"id":2,"method":"turn"}"#);
    let (began, ready) = (r#"{"id":1,"result":"t"}"#, r#"{"method":"ready","params":{"n":4}}"#);
    let done = r#"{"id":2,"result":"done"}"#;
    let early = frames(&[first, began, ready, second, done]);

    check_order(&early, frames(&[first, began, second, ready, done]), &early);
    // Also behind what answers the client.
    check_order(&early, frames(&[first, began, second, done, ready]), &early);
    // Not to say something else, nor to wait no more for what was waited for.
    let other = r#"{"method":"ready","params":{"m":4}}"#;
    let changed = frames(&[first, began, second, other, done]);
    check_order(&early, changed.clone(), &changed);
    check_order(&frames(&[first, began, second, ready, done]), early.clone(), &early);
    // Nor is what came behind an answer before it.
    let late = frames(&[first, began, second, done, ready]);
    check_order(&late, early.clone(), &early);
    let turned = frames(&[first, ready, began, second, done]);
    check_order(&early, turned.clone(), &turned);
}

#[test]
fn an_id_that_holds_a_time_is_a_name_as_a_whole() {
    let stream = |one: &str, other: &str| {
        let [one, other] = [one, other].map(|id| format!("id: {id}\ndata: {{\"n\":1}}\n\n"));
        stream(&[(0, &one), (5, &other)])
    };
    let old = stream("_GET_stream_1795719183017_8p4ss7k5", "1795719183020-0");

    check(&old, stream("_GET_stream_1795719533799_sfowfk8b", "1795719533802-1"), &old);
}

#[test]
fn a_value_of_another_kind_is_a_difference() {
    let plain = ONE.replace('-', "");
    for [before, now] in [
        [r#"{"created_at":1763712000}"#, r#"{"created_at":"1763712999"}"#],
        [r#"{"created_at":1763712000}"#, r#"{"created_at":"1763712000"}"#],
        [r#"{"pid":1034}"#, r#"{"pid":"1034"}"#],
        [&format!(r#"{{"uid":"{TWO}"}}"#), &format!(r#"{{"uid":"{plain}"}}"#)],
    ] {
        let [old, new] = [before, now].map(|it| talk(&[("GET /", it)]));
        check(&old, new.clone(), &new);
    }
}

#[test]
fn an_answer_that_is_like_an_earlier_one_stays_behind_its_question() {
    let say = |n: u32, text: &str| format!(r#">{{"seq":{n},"say":"{text}"}}"#);
    let ack = |n: u32| format!(r#"{{"ack":{n},"ok":true}}"#);
    let old = frames(&[&say(0, "one"), &ack(0), &say(1, "two"), &ack(1)]);
    let join = [r#">{"seq":0,"join":"x"}"#, r#"{"ack":0,"room":"x"}"#];

    let new = frames(&[join[0], join[1], &say(1, "one"), &ack(1), &say(2, "two"), &ack(2)]);

    check_order(&old, new.clone(), &new);
}

#[test]
fn what_names_a_thing_of_an_answer_stays_behind_that_answer() {
    let asked = |n: usize| format!(r#">{{"id":{n},"method":"submit","params":{{"items":{n}}}}}"#);
    let given = |n: usize, job: &str| format!(r#"{{"id":{n},"result":{{"job_id":"{job}"}}}}"#);
    let began = |job: &str, worker: &str| {
        format!(r#"{{"method":"began","params":{{"job_id":"{job}","worker":"{worker}"}}}}"#)
    };
    let told = |jobs: [&str; 2], workers: [&str; 2]| {
        let [one, two] = [0, 1].map(|at| began(jobs[at], workers[at]));
        let end = r#"{"method":"ended"}"#;
        frames(&[&asked(1), &given(1, jobs[0]), &one, end, &asked(2), &given(2, jobs[1]), &two])
    };
    let before = ["job_8f3a9c2b41d0", "job_5c1e7d9a60b3"];
    let now = ["job_d41a90b7c3e2", "job_0b3f6e8c5a17"];

    // What began second looks like what had begun first.
    let expected = told(before, ["left", "right"]);
    check_order(&told(before, ["right", "left"]), told(now, ["left", "right"]), &expected);
}

#[test]
fn answers_to_different_messages_stand_in_their_old_order() {
    let asked = [r#">{"id":"x-1","type":"say"}"#, r#">{"id":"y-2","type":"say"}"#];
    let said = |id: &str, text: &str| format!(r#"{{"id":"{id}","text":"{text}"}}"#);
    let [one, two, end] = [said("x-1", "one"), said("x-1", "two"), said("y-2", "end")];
    let old = frames(&[asked[0], asked[1], &one, &end, &two]);

    check_order(&old, frames(&[asked[0], asked[1], &end, &one, &two]), &old);
    check_order(&old, frames(&[asked[0], asked[1], &one, &two, &end]), &old);
    // Answers to the same one are in order.
    let new = frames(&[asked[0], asked[1], &two, &one, &end]);
    check_order(&old, new.clone(), &new);
}

#[test]
fn how_much_came_of_a_stream_that_was_left_is_a_matter_of_time() {
    let ticks = |count: u64, first: &str| {
        let event = |n: u64| format!("data: {{\"n\":{n},\"of\":\"{first}\"}}\n\n");
        let events: Vec<_> = (0..count).map(|n| (n * 10, event(n))).collect();
        let events: Vec<_> = events.iter().map(|(ms, text)| (*ms, text.as_str())).collect();
        let mut cassette = stream(&events);
        let Outcome::Response(response) = &mut cassette.interactions[0].outcome else {
            panic!("it was answered")
        };
        (response.left, response.end) = (Some(25), End::ClientClosed);
        cassette
    };
    let old = ticks(9, "a");

    for count in [5, 9, 12] {
        check(&old, ticks(count, "a"), &old);
        let renewed = renew(&old, ticks(count, "b")).cassette;
        let text = String::from_utf8(whole_text(&renewed)).unwrap();
        assert_eq!(text.matches("\"b\"").count() as u64, count, "{text}");
    }
    // Until it was left all has to come.
    let new = whole_text(&renew(&old, ticks(2, "a")).cassette);
    assert_eq!(new, whole_text(&ticks(2, "a")));
}

#[test]
fn how_much_came_of_a_stream_without_lines_that_was_left_is_a_matter_of_time() {
    for (media, begin) in
        [("application/connect+json", b"\0"), ("application/octet-stream", b"\xff")]
    {
        let ticks = |count: u64, pace: u64, first: u8| {
            let chunk = |n: u64| Chunk {
                ms: n * pace,
                bytes: [begin, &b"{\"n\":"[..], &[first], n.to_string().as_bytes(), b"}"]
                    .concat()
                    .into(),
            };
            let headers = [("content-type", media)].into_iter().collect();
            let mut left =
                exchange("GET /stream", (headers, Body::Stream((0..count).map(chunk).collect())));
            let Outcome::Response(response) = &mut left.outcome else { panic!("it was answered") };
            (response.left, response.end) = (Some(2 * pace + 5), End::ClientClosed);
            Cassette { interactions: vec![left], ..Cassette::default() }
        };
        let old = ticks(9, 10, b'1');

        for count in [3, 5, 9, 12] {
            check(&old, ticks(count, 12, b'1'), &old);
            let text = whole_text(&renew(&old, ticks(count, 12, b'2')).cassette);
            assert_eq!(text, whole_text(&ticks(count, 12, b'2')), "{media} {count}");
        }
        let text = whole_text(&renew(&old, ticks(2, 10, b'1')).cassette);
        assert_eq!(text, whole_text(&ticks(2, 10, b'1')), "{media}");
    }
}

#[test]
fn whether_a_secret_is_quoted_is_a_matter_of_its_letters() {
    let login = |cookie: &str| {
        let mut talk = talk(&[("POST /login {}", "{}")]);
        let Outcome::Response(response) = &mut talk.interactions[0].outcome else {
            panic!("it was answered")
        };
        response.headers.append("set-cookie", cookie.to_owned());
        talk
    };
    let old = login("user=\"[redacted:user]\"; Path=/; SameSite=Lax");

    check(&old, login("user=[redacted:user]; Path=/; SameSite=Lax"), &old);
    let (new, expected) = ("user=[redacted:user]; Path=/", "user=\"[redacted:user]\"; Path=/");
    check(&old, login(new), &login(expected));
}
