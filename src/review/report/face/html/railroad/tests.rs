use super::*;

/// The order that one side can run.
fn run_by(side: State, track: &Track) -> Expression {
    let branches = |branches: &[Branch]| -> Vec<Expression> {
        let open = branches.iter().filter(|it| it.state == State::Kept || it.state == side);
        open.map(|it| run_by(side, &it.track)).collect()
    };
    match track {
        Track::Nothing => Expression::Nothing,
        Track::Event(pattern) => Expression::Event(pattern.clone()),
        Track::Sequence(parts) => Expression::sequence(parts.iter().map(|it| run_by(side, it))),
        Track::Choice(parts) => Expression::choice(branches(parts)),
        Track::Interleaved(parts) => Expression::interleaved(branches(parts)),
        Track::Repeated(inner, was, is) => {
            let times = if side == State::Lost { was } else { is };
            run_by(side, inner).repeated(*times)
        }
        Track::Slice(key, between, each) => {
            Expression::per(key.clone(), *between, run_by(side, each))
        }
    }
}

/// Merges two orders, and gives back the signs of what is on one side only.
#[track_caller]
fn check(old: &str, new: &str) -> String {
    let [old, new] = [old, new].map(|text| text.parse::<Expression>().expect("it is an order"));

    let track = merged(&old, &new);

    assert_eq!(sorted(&run_by(State::Lost, &track)), sorted(&old), "the old one, on {track:?}");
    assert_eq!(sorted(&run_by(State::New, &track)), sorted(&new), "the new one, on {track:?}");
    signs(&track)
}

/// The same order, its alternatives in an order of their own.
fn sorted(order: &Expression) -> Expression {
    let all = |parts: &[Expression]| -> Vec<Expression> {
        let mut parts: Vec<Expression> = parts.iter().map(sorted).collect();
        parts.sort();
        parts
    };
    match order {
        Expression::Choice(parts) => Expression::choice(all(parts)),
        Expression::Interleaved(parts) => Expression::interleaved(all(parts)),
        Expression::Sequence(parts) => Expression::sequence(parts.iter().map(sorted)),
        Expression::Repeated(inner, times) => sorted(inner).repeated(*times),
        Expression::Slice(slice) => {
            Expression::per(slice.key.clone(), slice.between, sorted(&slice.each))
        }
        Expression::Ending(all, _) => sorted(all),
        Expression::Nothing | Expression::Event(_) => order.clone(),
    }
}

/// A short text: `-a` for what is lost, `+a` for what is new.
fn signs(track: &Track) -> String {
    let branches = |branches: &[Branch], between: &str| {
        let branch = |it: &Branch| match it.state {
            State::Kept => signs(&it.track),
            State::New => format!("+{}", signs(&it.track)),
            State::Lost => format!("-{}", signs(&it.track)),
        };
        let all: Vec<String> = branches.iter().map(branch).collect();
        format!("({})", all.join(between))
    };
    match track {
        Track::Nothing => "()".to_owned(),
        Track::Event(pattern) => pattern.to_string(),
        Track::Sequence(parts) => parts.iter().map(signs).collect::<Vec<_>>().join(" "),
        Track::Choice(parts) => branches(parts, "|"),
        Track::Interleaved(parts) => branches(parts, "&"),
        Track::Repeated(inner, was, is) if was == is => format!("[{}]{was}", signs(inner)),
        Track::Repeated(inner, was, is) => format!("[{}]-{was}+{is}", signs(inner)),
        Track::Slice(key, _, each) => format!("{key}({})", signs(each)),
    }
}

#[test]
fn what_is_alike_lies_on_the_same_track() {
    let cases = [
        ("a b c", "a b c", "a b c"),
        ("a b c", "a c", "a (-b|+()) c"),
        ("a c", "a b c", "a (-()|+b) c"),
        ("a b c", "a d c", "a (-b|+d) c"),
        ("a c", "a b? d* c", "a (()|+b) (()|+[d]+) c"),
        ("a b? c", "a c", "a (()|-b) c"),
        ("a b? c", "a b c", "a [b]-?+{1} c"),
        ("a b c", "a b+ c", "a [b]-{1}++ c"),
        ("a (b | c)", "a (b | d | c)", "a (b|c|+d)"),
        ("a b", "a b | c", "(a b|+c)"),
        ("a (b | c) d", "b | c", "(-a|+()) (b|c) (-d|+())"),
        ("a", "b", "(-a|+b)"),
        ("a & b", "a & c", "(a&-b&+c)"),
        ("per k (a b)", "per k (a b?)", "k(a [b]-{1}+?)"),
        ("per k (a b)", "per j (a b)", "(-k(a b)|+j(a b))"),
        ("(a b)+", "a b", "[a b]-++{1}"),
    ];
    for (old, new, expected) in cases {
        assert_eq!(check(old, new), expected, "{old} -> {new}");
    }
}

#[test]
fn each_side_can_be_run_on_the_railroad_of_both() {
    let orders = [
        "()",
        "a",
        "a?",
        "a b",
        "(a | b)? c",
        "(a b? c)+ d",
        "a{2,5} b",
        "a (b c | d)* e",
        "(a+ b+ c*)? d (e | f) [DONE]",
        "(per k (a b | c) d)*",
        "per k & (a b) d?",
        "a & (b c)?",
        "a[x=1] b",
        "(a | b c | d)? (c | d) a",
        "a b a b",
    ];
    for old in orders {
        for new in orders {
            check(old, new);
        }
    }
}
