//! What other tools have been seen to get wrong about alternatives: alarms where no accepted value
//! changed, and silence where one did. The numbers are those of oasdiff's issues.

use super::{body, compared, told};

/// Nothing that one text accepts is refused by the other.
#[track_caller]
fn check_same(one: &str, other: &str) {
    assert_eq!(told(&compared(&body(one), &body(other))), [""; 0]);
    assert_eq!(told(&compared(&body(other), &body(one))), [""; 0]);
}

#[test]
fn issue_309_alternatives_in_another_order_are_the_same() {
    check_same(
        "by kind\n  a\n    x: integer\n  b\n    y: string | null",
        "by kind\n  b\n    y: null | string\n  a\n    x: integer",
    );
}

#[test]
fn issue_314_a_field_of_one_alternative_that_becomes_optional_breaks() {
    let old = body("by kind\n  a\n    x: integer\n  b\n    y: string");
    let new = body("by kind\n  a\n    x?: integer\n  b\n    y: string");

    assert_eq!(told(&compared(&old, &new)), ["breaking field-missing: `a.x` can be missing"]);
    assert_eq!(told(&compared(&old, &old)), [""; 0]);
}

#[test]
fn issue_610_a_new_alternative_breaks_and_one_that_is_written_out_does_not() {
    let old = body("by kind\n  a\n    x: integer\n  b\n    x: integer");
    let new = body("by kind\n  a\n    x: integer\n  b\n    x: integer\n  c\n    x: integer");

    assert_eq!(
        told(&compared(&old, &new)),
        ["breaking kind-new: the answer can be of a new kind, told by `kind` `c`"]
    );
    check_same(
        "object\n  kind: \"a\" | \"b\"\n  x: integer",
        "by kind\n  a\n    x: integer\n  b\n    x: integer",
    );
}

#[test]
fn issue_702_an_object_that_is_told_apart_by_what_it_always_said_is_the_same() {
    check_same(
        "object\n  list: [{kind: \"a\" | \"b\", x: integer, y?: string}]",
        "object\n  list: [by kind {a {x: integer, y?: string}, b {x: integer, y?: string}}]",
    );
}

#[test]
fn issue_723_fewer_alternatives_in_an_answer_break_nobody() {
    let old = body("object\n  id: integer | string");
    let new = body("object\n  id: integer");

    assert_eq!(told(&compared(&old, &new)), ["trim type-gone: `id` is never `string` any more"]);
}

#[test]
fn issue_1037_what_an_alternative_allows_besides_is_not_hidden() {
    let old = body("object\n  kind: \"a\" | \"b\"\n  x: integer\n  y: integer");
    let same =
        body("by kind\n  a\n    x: integer\n    y: integer\n  b\n    x: integer\n    y: integer");
    let new =
        body("by kind\n  a\n    x: integer\n    y?: integer\n  b\n    x: integer\n    y: integer");

    assert_eq!(told(&compared(&old, &same)), [""; 0]);
    assert_eq!(told(&compared(&old, &new)), ["breaking field-missing: `y` can be missing"]);
    assert_eq!(told(&compared(&same, &new)), ["breaking field-missing: `a.y` can be missing"]);
}
