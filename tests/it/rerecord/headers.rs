//! Header fields that say when something was another one, or that there is no limit, are told as they are.

use retape::Cassette;
use retape::cassette::{Headers, Interaction, Request, Response};

use super::cases::check;

/// Answers with these fields and bodies, one after another.
fn talk(answers: &[(&'static str, &str, &'static str)]) -> Cassette {
    let answer = |(name, value, body): &(&'static str, &str, &'static str)| {
        let response = Response::whole("text/plain", *body);
        let mut headers: Headers = response.headers.clone();
        headers.append(*name, (*value).to_owned());
        Interaction::of(Request::of("GET", "/doc"), Response { headers, ..response })
    };
    Cassette { interactions: answers.iter().map(answer).collect(), ..Cassette::default() }
}

#[test]
fn an_etag_that_stays_where_it_changed_is_a_difference() {
    let tagged = |tags: [&str; 3]| {
        let tags: Vec<String> = tags.iter().map(|tag| format!("\"{tag}\"")).collect();
        let bodies = ["one", "two", "two"];
        let all: Vec<_> =
            tags.iter().zip(bodies).map(|(tag, body)| ("etag", &**tag, body)).collect();
        talk(&all)
    };
    let old = tagged(["a1", "b2", "b2"]);
    check(&old, tagged(["c3", "d4", "d4"]), &old);

    for (tags, expected) in
        [(["c3", "c3", "c3"], ["c3", "c3", "c3"]), (["c3", "d4", "e5"], ["a1", "d4", "e5"])]
    {
        check(&old, tagged(tags), &tagged(expected));
    }
}

#[test]
fn what_is_drawn_anew_for_each_login_is_an_accident() {
    let asks = |nonce: &str, qop: &str| {
        let challenge = format!(
            "Digest realm=\"me\", nonce=\"{nonce}\", qop=\"{qop}\", opaque=\"0{nonce}\", algorithm=MD5"
        );
        talk(&[("WWW-Authenticate", &challenge, "who is it?")])
    };
    let old = asks("5e4f4e39506c6b7e", "auth");

    check(&old, asks("16383f363a854b92", "auth"), &old);
    let other = asks("16383f363a854b92", "auth-int");
    check(&old, other.clone(), &other);
}

#[test]
fn a_boundary_that_the_server_says_again_is_told_as_in_the_request() {
    let sent = |boundary: &str| {
        let media = format!("multipart/form-data; boundary={boundary}");
        let body = format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=a\r\n\r\nb\r\n--{boundary}--\r\n"
        );
        let mut headers = Headers::new();
        headers.set("content-type", media.clone());
        let request = Request { headers, body: body.into(), ..Request::of("POST", "/echo") };
        let said = format!(r#"{{"headers": {{"Content-Type": "{media}"}}}}"#);
        let interaction = Interaction::of(request, Response::whole("application/json", said));
        Cassette { interactions: vec![interaction], ..Cassette::default() }
    };
    let old = sent("------------------------06524b7b0ccbf490");

    check(&old, sent("------------------------3e723684f5cce20f"), &old);
}

#[test]
fn what_is_left_is_a_number_or_another_word() {
    let left = |value| talk(&[("x-ratelimit-remaining", value, "one")]);
    check(&left("99"), left("98"), &left("99"));
    check(&left("99"), left("unlimited"), &left("unlimited"));
    let reset = |value| talk(&[("x-ratelimit-reset", value, "one")]);
    check(&reset("60"), reset("1795252000"), &reset("1795252000"));
}
