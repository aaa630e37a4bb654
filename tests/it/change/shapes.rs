//! What is told of changes in shapes.

use retape::{Cassette, Name};

use super::recordings::{self, asked, exchange};
use super::{body, compared, told};

#[track_caller]
fn check(old: &str, new: &str, expected: &[&str]) {
    assert_eq!(told(&compared(&body(old), &body(new))), expected);
}

#[test]
fn a_string_that_became_a_choice_is_told_as_what_it_is() {
    check(
        "object\n  status: string",
        "object\n  status: \"on\" | \"off\"",
        &["trim value-gone: `status` is always one of `\"off\" | \"on\"` now"],
    );
    check(
        "object\n  status: string",
        "object\n  status: \"on\"",
        &["trim value-gone: `status` is always `\"on\"` now"],
    );
    check(
        "object\n  id: string",
        "object\n  id: uuid",
        &["trim value-gone: `id` is always `uuid` now"],
    );
    check(
        "object\n  id: string | integer",
        "object\n  id: integer",
        &["trim type-gone: `id` is never `string` any more"],
    );
}

#[test]
fn a_list_that_was_always_empty_may_be_filled() {
    check(
        "object\n  tools: []",
        "object\n  tools: [integer | string]",
        &["unproven type-new: `tools[]` can be `integer | string`"],
    );
    check(
        "object\n  tools: [integer]",
        "object\n  tools: [integer | string]",
        &["breaking type-new: `tools[]` can be `string`"],
    );
}

#[test]
fn another_object_in_the_place_of_one_is_told_once() {
    let job = "object\n  cost: integer\n  id: string\n  owner: string\n  region: boolean";
    check(
        job,
        "object\n  error: integer",
        &[
            "breaking field-missing: the answer has none of the 4 fields that were always there: \
             `cost`, `id`, `owner` and 1 more",
            "compatible field-new: `error` is new: `integer`",
        ],
    );
    check(
        "object\n  n: integer\n  spec: {a: string, b: integer}",
        "object\n  n: integer\n  spec: {}",
        &[
            "breaking field-missing: `spec` has none of the 2 fields that were always there: `a`, `b`",
        ],
    );
    let by_kind = "by type\n  added\n    spec: {a: string, b: integer}\n  gone\n    n: integer";
    check(
        by_kind,
        "by type\n  added\n    spec: {}\n  gone\n    n: integer",
        &["breaking field-missing: `added.spec` has none of the 2 fields that were always there: \
             `a`, `b`"],
    );
    let [cost, id] = ["cost", "id"]
        .map(|name| format!("breaking field-missing: `{name}` is gone, which was always there"));
    check(job, "object\n  owner: string\n  region: boolean", &[&cost, &id]);
}

#[test]
fn a_new_field_breaks_nobody_and_a_new_kind_of_member_does() {
    check(
        "object\n  a: integer",
        "object\n  a: integer\n  b?: string",
        &["compatible field-new: `b` is new: `string`"],
    );
    check(
        "object\n  a: integer",
        "object\n  a: integer\n  …",
        &["compatible field-new: the answer can have fields of other names"],
    );
    check(
        "object\n  [uuid]: integer",
        "object\n  [uuid]: integer\n  total: integer",
        &["breaking shape-wider: `total` is a member of a name that none had: `integer`"],
    );
    // The one that was known may be anything among the others.
    check(
        "object\n  a: integer\n  b?: integer",
        "object\n  a: integer\n  …",
        &[
            "breaking shape-wider: `{}` can be more than it could",
            "trim field-gone: `b` is not seen any more",
        ],
    );
    // What is compatible in the values does not hide the names.
    check(
        "object\n  [uuid]: {x: integer}",
        "object\n  [string]: {x: integer, y: integer}",
        &[
            "breaking shape-wider: `{}` can be more than it could",
            "compatible field-new: `{}.y` is new: `integer`",
        ],
    );
}

#[test]
fn fields_that_moved_into_a_new_one_are_one_change() {
    let old = "object\n  id: uuid\n  n: integer\n  name: string\n  size: integer";
    check(
        old,
        "object\n  data: object\n    id: uuid\n    n: integer\n    name: string\n    size: integer",
        &["breaking field-missing: 4 fields moved into `data`: `id`, `n`, `name` and 1 more"],
    );
    // Out of one that is gone.
    check(
        "object\n  error: object\n    code: string\n    message: string\n    type: string",
        "object\n  code: string\n  message: string\n  type: string",
        &["breaking field-missing: 3 fields moved out of `error`: `code`, `message`, `type`"],
    );
    check(
        "object\n  error: object\n    code: string\n    message: string\n    type: string",
        "object\n  code: string\n  message: string\n  type: integer",
        &[
            "breaking field-missing: 2 fields moved out of `error`: `code`, `message`; others that were in it: 1",
            "compatible field-new: `type` is new: `integer`",
        ],
    );
    // What is another one there is gone, as is what is not there.
    check(
        old,
        "object\n  data: object\n    id: uuid\n    n: string\n    name: string",
        &[
            "breaking field-missing: 2 fields moved into `data`: `id`, `name`",
            "breaking field-missing: `n` is gone, which was always there",
            "breaking field-missing: `size` is gone, which was always there",
        ],
    );
    // A field that is in both was not moved.
    check(
        old,
        "object\n  id: uuid\n  n: integer\n  name: string\n  size: integer\n  data: object\n    id: uuid",
        &["compatible field-new: `data` is new: `{id: uuid}`"],
    );
}

#[test]
fn an_optional_object_that_comes_under_another_name_was_renamed() {
    let [old, new] = ["repo", "repository"].map(|name| {
        let odd = format!(r#"{{"{name}":{{"id":"R_kgDOAbc9Qx12","stars":3}}}}"#);
        let answer = |number: usize| match number % 2 {
            0 => odd.clone(),
            _ => r#"{"viewer":"ann"}"#.to_owned(),
        };
        let one = |number: usize| {
            let interactions = vec![exchange("/graphql", &asked(number), 200, &[&answer(number)])];
            let cassette = Cassette { interactions, ..Cassette::default() };
            (Name::new(format!("ask-{number}")).unwrap(), cassette)
        };
        (0..12).map(one).collect::<Vec<_>>()
    });

    let told = told(&recordings::compared(&old, &new));

    assert_eq!(told, ["breaking field-missing: `repo` is called `repository` now"]);
}

#[test]
fn what_an_object_of_another_kind_says_is_one_change() {
    let call = |number: usize| format!(r#"{{"type":"call","call_id":"c{number}","name":"add"}}"#);
    let recorded = |said: &dyn Fn(usize) -> String| {
        let one = |number: usize| {
            let answer = format!(r#"{{"output":[{},{}]}}"#, call(number), said(number));
            let interactions = vec![exchange("/run", &asked(number), 200, &[&answer])];
            let cassette = Cassette { interactions, ..Cassette::default() };
            (Name::new(format!("run-{number}")).unwrap(), cassette)
        };
        (0..12).map(one).collect::<Vec<_>>()
    };
    let some = |other: &'static str| {
        let said = move |number| if number == 3 { other.to_owned() } else { call(number) };
        told(&recordings::compared(&recorded(&call), &recorded(&said)))
    };

    assert_eq!(
        some(r#"{"type":"note","text":"it rains"}"#),
        ["unproven kind-new: `output[]` is of a new kind: `type` is `\"note\"`, not `\"call\"`"]
    );
    // One that has the fields of the known kind is one.
    assert_eq!(
        some(r#"{"type":"ask","call_id":"c3","name":"add"}"#),
        ["unproven value-new: `output[].type` can be `\"ask\"`"]
    );
    // Where the known kind does not come any more, the fields are gone.
    let none = recorded(&|_| r#"{"type":"note"}"#.to_owned());
    let all = |number: usize| {
        let (name, mut cassette) = none[number].clone();
        let answer = r#"{"output":[{"type":"note"}]}"#;
        cassette.interactions = vec![exchange("/run", &asked(number), 200, &[answer])];
        (name, cassette)
    };
    let gone = told(&recordings::compared(&recorded(&call), &(0..12).map(all).collect::<Vec<_>>()));
    assert!(gone[0].starts_with("breaking field-missing: `output[]"), "{gone:?}");
}

#[test]
fn a_scenario_that_went_another_way_before_proves_nothing() {
    let recorded = |detail: &dyn Fn(usize) -> &'static str| {
        let one = |number: usize| {
            let answer = format!(r#"{{"ok":true{}}}"#, detail(number));
            let interactions = vec![exchange("/run", &asked(number), 200, &[&answer])];
            let cassette = Cassette { interactions, ..Cassette::default() };
            (Name::new(format!("run-{number}")).unwrap(), cassette)
        };
        (0..12).map(one).collect::<Vec<_>>()
    };
    let old = recorded(&|number| if number == 7 { r#","why":{"a":"x","b":"y"}"# } else { "" });
    let told_of = |numbers: &'static [usize]| {
        let why =
            |number: usize| if numbers.contains(&number) { r#","why":{"a":"x"}"# } else { "" };
        told(&recordings::compared(&old, &recorded(&why)))
    };

    let gone =
        |verdict| format!("{verdict} field-missing: `why.b` is gone, which was always there");
    assert_eq!(told_of(&[2, 4]), [gone("unproven")]);
    assert_eq!(told_of(&[7]), [gone("breaking")]);
}

#[test]
fn an_answer_of_json_rpc_is_one_to_the_call_whatever_it_lacks() {
    let recorded = |said: &dyn Fn(usize) -> String| {
        let one = |number: usize| {
            let asked = format!(r#"{{"jsonrpc":"2.0","id":{number},"method":"ping"}}"#);
            let interactions = vec![exchange("/rpc", &asked, 200, &[&said(number)])];
            let cassette = Cassette { interactions, ..Cassette::default() };
            (Name::new(format!("ping-{number}")).unwrap(), cassette)
        };
        // Another call makes kinds of the answers.
        let add = |number: usize| {
            let asked = format!(r#"{{"jsonrpc":"2.0","id":{number},"method":"add"}}"#);
            let told = format!(r#"{{"jsonrpc":"2.0","id":{number},"result":{{"sum":{number}}}}}"#);
            let interactions = vec![exchange("/rpc", &asked, 200, &[&told])];
            let cassette = Cassette { interactions, ..Cassette::default() };
            (Name::new(format!("add-{number}")).unwrap(), cassette)
        };
        (0..8).map(one).chain((0..8).map(add)).collect::<Vec<_>>()
    };
    let old = recorded(&|id| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#));
    let told_of =
        |said: &dyn Fn(usize) -> String| told(&recordings::compared(&old, &recorded(said)));

    assert_eq!(
        told_of(&|id| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":null}}"#)),
        ["breaking type-new: `result` can be `null` (in answers of the kind `result of ping`)"]
    );
    assert_eq!(
        told_of(&|id| format!(r#"{{"id":{id},"result":{{}}}}"#)),
        [
            "breaking field-missing: `jsonrpc` is gone, which was always there (in answers of the kind `result of ping`)"
        ]
    );
    assert_eq!(
        told_of(&|id| format!(r#"{{"jsonrpc":"2.0","id":"{id}","result":{{}}}}"#)),
        ["breaking type-new: `id` can be `string` (in answers of the kind `result of ping`)"]
    );
    let other = told_of(&|id| format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{}}}}"#, id + 90));
    // What answers no call is of no kind that is known.
    assert_eq!(
        other[0],
        "breaking invariant-broken: `result.id equals request.id` does not hold any more"
    );
}

#[test]
fn a_body_that_is_null_is_not_said_to_be_none() {
    let answers = |said: &str| {
        let one = |number: usize| exchange("/it", &asked(number), 200, &[said]);
        let interactions = (0..8).map(one).collect();
        vec![(Name::new("talk").unwrap(), Cassette { interactions, ..Cassette::default() })]
    };

    let told = told(&recordings::compared(&answers(r#"{"id":1}"#), &answers("null")));

    assert!(
        told[0].starts_with("breaking type-new: the answer is `null`, or has no body"),
        "{told:?}"
    );
}
