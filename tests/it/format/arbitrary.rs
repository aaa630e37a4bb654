//! Cassettes of all kinds, with the awkward ones more often than chance would have it.

use bytes::Bytes;
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use retape::Cassette;
use retape::cassette::{
    Body, Chunk, Content, End, Evidence, Frame, Headers, Id, Ids, Interaction, Interim, Outcome,
    Peer, Progress, Reach, Recorded, Request, Response,
};

use retape::config::{Repeats, Rules};

use super::compress;
use crate::rules::places;

pub(super) fn cassettes() -> impl Strategy<Value = Cassette> {
    let origins = btree_map(text(), text(), 0..3);
    let recorded = (text(), text(), origins, option::of(text()), option::of(text())).prop_map(
        |(at, upstream, origins, server, tool)| Recorded {
            at,
            upstream,
            h2c: false,
            origins,
            server,
            tool,
        },
    );
    let redactions = vec(text(), 0..3);
    let said = (any::<bool>(), rules(), option::of(ids()));
    (recorded, redactions, said, vec(interactions(), 0..5)).prop_map(
        |(recorded, redactions, (interrupted, rules, ids), mut interactions)| {
            for (number, interaction) in interactions.iter_mut().enumerate() {
                interaction.after.iter_mut().for_each(|after| after.interaction %= number.max(1));
                interaction.after.retain(|_| number > 0);
            }
            let rest = Cassette::default();
            Cassette { recorded, redactions, interrupted, rules, ids, interactions, ..rest }
        },
    )
}

fn ids() -> impl Strategy<Value = Ids> {
    (vec(id(), 0..3), vec(id(), 0..3)).prop_map(|(client, server)| {
        let mut ids = Ids::default();
        (ids.client, ids.server) = (client, server);
        ids
    })
}

fn id() -> impl Strategy<Value = Id> {
    let reach = select(vec![Reach::Anywhere, Reach::Field, Reach::Here]);
    let evidence = select(vec![Evidence::Look, Evidence::Runs, Evidence::Person]);
    (".+", 0..9_usize, text(), reach, evidence).prop_map(
        |(value, interaction, at, reach, evidence)| Id { value, interaction, at, reach, evidence },
    )
}

fn rules() -> impl Strategy<Value = Rules> {
    let said = (0..7_u8, places(), select(vec!["a", "\\d+\n", "[\"é\u{202e}]", " "]));
    vec(said, 0..6).prop_map(|said| {
        said.iter().fold(Rules::default(), |rules, (what, at, regex)| {
            let more = match what {
                0 => Ok(rules.clone().repeats(Repeats::Strict)),
                1 => rules.clone().header("x-tenant"),
                2 => rules.clone().ignore(at),
                3 => rules.clone().unordered(at),
                4 => rules.clone().id(at),
                5 => rules.clone().not_id(at),
                _ => rules.clone().pattern(at, regex),
            };
            more.unwrap_or(rules)
        })
    })
}

fn interactions() -> impl Strategy<Value = Interaction> {
    let progress = (any::<usize>(), 0..50_usize)
        .prop_map(|(interaction, chunks)| Progress { interaction, chunks });
    let outcome = prop_oneof![
        9 => responses().prop_map(Outcome::Response),
        1 => ends().prop_map(Outcome::Nothing),
    ];
    (vec(progress, 0..3), requests(), outcome).prop_map(|(after, request, outcome)| Interaction {
        after,
        request,
        outcome,
    })
}

fn requests() -> impl Strategy<Value = Request> {
    let origin = select(&["", "", "https://api.example.com", "http://", "http://[::1]:8"][..]);
    let line = (select(&["GET", "POST", "custom"][..]), origin, text());
    (line, messages(whole_bodies().boxed())).prop_map(
        |((method, origin, path), (headers, body))| Request {
            method: method.into(),
            path: format!("{origin}/{path}"),
            headers,
            body: body.bytes(),
        },
    )
}

fn responses() -> impl Strategy<Value = Response> {
    let body = prop_oneof![whole_bodies(), streams()].boxed();
    let head = (times(), 100..600_u16, option::weighted(0.2, text()));
    let trailers = prop_oneof![3 => Just(Headers::new()), 1 => headers()];
    (head, messages(body), trailers, ends()).prop_map(|(head, message, trailers, end)| {
        let (ms, status, reason) = head;
        let (headers, body) = message;
        let (interim, frames, left) = (Vec::new(), Vec::new(), None);
        Response { ms, interim, status, reason, headers, body, trailers, frames, left, end }
    })
}

/// A cassette of one WebSocket, before which something was said.
pub(super) fn sockets() -> impl Strategy<Value = Cassette> {
    let interim = (times(), 102..200_u16, headers());
    let interim = interim.prop_map(|(ms, status, headers)| Interim { ms, status, headers });
    let said = (vec(frames(), 1..5), vec(interim, 0..3), proptest::option::of(times()));
    (cassettes(), said).prop_map(|(mut cassette, (frames, interim, left))| {
        for interaction in cassette.interactions.iter_mut().take(1) {
            if let Outcome::Response(response) = &mut interaction.outcome {
                response.frames = frames.clone();
                response.interim = interim.clone();
                response.left = left;
            }
        }
        cassette
    })
}

fn frames() -> impl Strategy<Value = Frame> {
    let message = |body: Body, is_text: bool| {
        if is_text { Content::Text(body.bytes()) } else { Content::Binary(body.bytes()) }
    };
    let content = prop_oneof![
        9 => (whole_bodies(), any::<bool>()).prop_map(move |(body, is_text)| message(body, is_text)),
        1 => (option::of(any::<u16>()), text())
            .prop_map(|(code, reason)| Content::Close { code, reason }),
    ];
    let from = select(&[Peer::Client, Peer::Server][..]);
    (times(), from, content, any::<bool>()).prop_map(|(ms, from, content, is_cut)| {
        let mut frame = Frame { ms, from, content, fragments: Vec::new() };
        let length = frame.message().map_or(0, |message| message.len());
        if is_cut && length > 1 {
            frame.fragments = vec![1, length - 1];
        }
        frame
    })
}

fn ends() -> impl Strategy<Value = End> {
    select(&End::ALL[..])
}

fn times() -> impl Strategy<Value = u64> {
    prop_oneof![9 => 0..100_000_u64, 1 => any::<u64>()]
}

/// Header fields and a body that fits them, compressed or cut short now and then.
fn messages(body: BoxedStrategy<Body>) -> impl Strategy<Value = (Headers, Body)> {
    let codings = ["gzip", "x-gzip", "deflate", "br", "zstd", "identity", "gzip, br"];
    let coding =
        option::weighted(0.3, (select(codings.to_vec()), option::weighted(0.3, 0..200_usize)));
    (headers(), option::of(media_types()), coding, body).prop_map(
        |(mut headers, media_type, coding, mut body)| {
            headers.remove("content-encoding");
            if let Some(media_type) = media_type {
                headers.append("content-type", media_type);
            }
            if let Some((coding, cut)) = coding {
                headers.append("Content-Encoding", coding);
                body = compressed(coding, &body);
                if let Some(cut) = cut {
                    body = shortened(body, cut);
                }
            }
            (headers, body)
        },
    )
}

fn media_types() -> impl Strategy<Value = &'static str> {
    select(
        &[
            "application/json",
            "text/event-stream; charset=utf-8",
            "application/x-ndjson",
            "text/plain",
        ][..],
    )
}

fn compressed(coding: &str, body: &Body) -> Body {
    if coding == "identity" || coding.contains(',') {
        return body.clone();
    }
    match body {
        Body::Whole(bytes) => Body::Whole(compress::whole(coding, bytes).into()),
        Body::Stream(chunks) => {
            let pieces: Vec<&[u8]> = chunks.iter().map(|chunk| &chunk.bytes[..]).collect();
            let sent = compress::pieces(coding, &pieces).into_iter().enumerate();
            let ms = |index: usize| chunks.get(index).map_or(0, |chunk| chunk.ms);
            let sent = sent.map(|(at, sent)| Chunk { ms: ms(at), bytes: sent.into() });
            Body::Stream(sent.collect())
        }
    }
}

fn shortened(body: Body, by: usize) -> Body {
    match body {
        Body::Whole(bytes) => Body::Whole(bytes.slice(..bytes.len().saturating_sub(by))),
        Body::Stream(mut chunks) => {
            chunks.truncate(chunks.len().saturating_sub(by % 4));
            if let Some(last) = chunks.last_mut() {
                last.bytes.truncate(last.bytes.len().saturating_sub(by / 4));
            }
            Body::Stream(chunks)
        }
    }
}

fn headers() -> impl Strategy<Value = Headers> {
    let names = select(&["accept", "Accept", "x", "X-Stainless-Lang", "set-cookie", "", "é"][..]);
    let values = prop_oneof![
        3 => text().prop_map(String::into_bytes),
        1 => vec(any::<u8>(), 0..5),
    ];
    let can_be_sent = |byte: &u8| !matches!(byte, b'\r' | b'\n' | 0);
    let values = values.prop_map(move |mut value| {
        value.retain(can_be_sent);
        value
    });
    vec((names, values), 0..6).prop_map(|fields| fields.into_iter().collect())
}

fn whole_bodies() -> impl Strategy<Value = Body> {
    prop_oneof![
        1 => Just(Vec::new()),
        6 => laid_out(),
        2 => text().prop_map(String::into_bytes),
        1 => wire_text().prop_map(String::into_bytes),
        1 => vec(any::<u8>(), 0..200),
        1 => Just(vec![0xff; 5_000]),
        1 => Just(b"{\"long\":\"}".iter().copied().cycle().take(70_000).collect()),
    ]
    .prop_map(|bytes| Body::Whole(bytes.into()))
}

fn streams() -> impl Strategy<Value = Body> {
    prop_oneof![
        4 => vec((times(), chunks()), 0..8).prop_map(|chunks| Body::Stream(
            chunks.into_iter().map(|(ms, bytes)| Chunk { ms, bytes }).collect()
        )),
        2 => (wire_text(), vec(0..40_usize, 0..6)).prop_map(|(text, cuts)| cut(text.as_bytes(), &cuts)),
        1 => (laid_out(), vec(0..40_usize, 0..6)).prop_map(|(json, cuts)| cut(&json, &cuts)),
    ]
}

/// Cuts bytes into chunks of those lengths, also within characters.
fn cut(mut bytes: &[u8], lengths: &[usize]) -> Body {
    let mut chunks = Vec::new();
    for length in lengths {
        let (chunk, rest) = bytes.split_at((*length).min(bytes.len()));
        chunks.push(Chunk { ms: *length as u64, bytes: Bytes::copy_from_slice(chunk) });
        bytes = rest;
    }
    chunks.push(Chunk { ms: 99, bytes: Bytes::copy_from_slice(bytes) });
    Body::Stream(chunks)
}

fn chunks() -> impl Strategy<Value = Bytes> {
    prop_oneof![
        6 => tidy_events().prop_map(String::into_bytes),
        3 => events().prop_map(String::into_bytes),
        2 => vec(laid_out(), 1..3).prop_map(|lines| lines.join(&b'\n')),
        2 => (json(), eols()).prop_map(|(json, eol)| format!("{json}{eol}").into_bytes()),
        1 => text().prop_map(String::into_bytes),
        1 => vec(any::<u8>(), 0..20),
        1 => Just(Vec::new()),
    ]
    .prop_map(Bytes::from)
}

/// Several chunks' worth of text.
fn wire_text() -> impl Strategy<Value = String> {
    (select(&["", "", "\u{feff}"][..]), vec(events(), 0..5))
        .prop_map(|(begin, events)| begin.to_owned() + &events.concat())
}

/// Whole events as servers send them.
fn tidy_events() -> impl Strategy<Value = String> {
    let names =
        select(&["", "", "event{:}a{eol}", "id{:}7{eol}", "{:}ping{eol}", "data:{eol}"][..]);
    let data = prop_oneof![
        6 => laid_out_on_line(),
        1 => select(&["[DONE]", "one{eol}data{:}two", "5"][..]).prop_map(str::to_owned),
    ];
    let framings = select(
        &[(": ", "\n"), (": ", "\n"), (": ", "\n"), (": ", "\r\n"), (":", "\n"), (":", "\r\n")][..],
    );
    (vec((names, data), 1..3), framings).prop_map(|(events, (colon, eol))| {
        let event = |(name, data): &(&str, String)| format!("{name}data{{:}}{data}{{eol}}{{eol}}");
        let events: String = events.iter().map(event).collect();
        events.replace("{:}", colon).replace("{eol}", eol)
    })
}

/// Lines of events in one framing, with all that can be odd about them.
fn events() -> impl Strategy<Value = String> {
    let colon = select(&[": ", ": ", ": ", ":", ":  "][..]);
    (vec(vec(event_lines(), 0..4), 1..4), colon, eols(), select(&[2, 2, 2, 2, 1, 0, 3][..]))
        .prop_map(|(events, colon, eol, empty)| {
            let line = |(name, value): &(&str, String)| format!("{name}{colon}{value}");
            let event = |lines: &Vec<(&str, String)>| {
                lines.iter().map(line).collect::<Vec<_>>().join(eol) + &eol.repeat(empty)
            };
            events.iter().map(event).collect()
        })
}

fn event_lines() -> impl Strategy<Value = (&'static str, String)> {
    prop_oneof![
        4 => laid_out_on_line().prop_map(|json| ("data", json)),
        2 => text().prop_map(|value| ("data", value)),
        1 => select(&["[DONE]", "5", "", "\"a\""][..]).prop_map(|value| ("data", value.to_owned())),
        1 => select(&["a", "message_start"][..]).prop_map(|value| ("event", value.to_owned())),
        1 => select(&["3000", "007", "-1", "x", "18446744073709551616"][..])
            .prop_map(|value| ("retry", value.to_owned())),
        1 => Just(("id", "1".to_owned())),
        1 => select(&["ping", ""][..]).prop_map(|value| ("", value.to_owned())),
        1 => Just(("other", "1".to_owned())),
    ]
}

fn eols() -> impl Strategy<Value = &'static str> {
    select(&["\n", "\n", "\n", "\n", "\r\n", "\r\n", "\r"][..])
}

fn laid_out_on_line() -> impl Strategy<Value = String> {
    (json(), any::<bool>()).prop_map(|(json, spaced)| if spaced { spaced_out(&json) } else { json })
}

/// JSON as some serialiser lays it out, with or without a line end.
fn laid_out() -> impl Strategy<Value = Vec<u8>> {
    let indents = select(&["", "", "", " ", "  ", "    ", "\t", "         "][..]);
    (json(), indents, any::<bool>(), select(&["", "", "\n", "\r\n", "\n\n", " "][..])).prop_map(
        |(json, indent, spaced, end)| {
            let laid_out = match indent {
                "" if spaced => spaced_out(&json),
                "" => json,
                indent => indented(&json, indent),
            };
            (laid_out + end).into_bytes()
        },
    )
}

/// Compact JSON, with what a parsed value would forget.
fn json() -> impl Strategy<Value = String> {
    let scalars = prop_oneof![
        select(&["1.0", "-0.0", "1e400", "12345678901234567890", "1E+2", "0", "true", "null"][..])
            .prop_map(str::to_owned),
        strings(),
    ];
    let inner = scalars.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(|items| format!("[{}]", items.join(","))),
            members(inner),
        ]
    });
    prop_oneof![
        9 => prop_oneof![
            vec(inner.clone(), 0..4).prop_map(|items| format!("[{}]", items.join(","))),
            members(inner),
        ],
        1 => (0..300_usize).prop_map(|depth| "[".repeat(depth + 1) + &"]".repeat(depth + 1)),
    ]
}

fn members(inner: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    vec((strings(), inner), 0..4).prop_map(|members| {
        let members: Vec<String> =
            members.iter().map(|(name, value)| format!("{name}:{value}")).collect();
        format!("{{{}}}", members.join(","))
    })
}

fn strings() -> impl Strategy<Value = String> {
    let pieces = [
        "a", "b", " ", ",", ":", "{", "é", "😀", "\\\"", "\\\\", "\\/", "\\u00e9", "\\ud800",
        "\\n", "\\u0000", "\u{2028}", "[",
    ];
    vec(select(pieces.to_vec()), 0..4).prop_map(|pieces| format!("\"{}\"", pieces.concat()))
}

fn text() -> impl Strategy<Value = String> {
    let pieces = [
        "a",
        "hello",
        " ",
        "\"",
        "\\",
        "\n",
        "\r\n",
        "\r",
        "\t",
        "\0",
        "é",
        "😀",
        "\u{202e}",
        "\u{feff}",
        "{",
        "[",
        "[redacted:authorization]",
        "data: ",
        ":",
    ];
    vec(select(pieces.to_vec()), 0..5).prop_map(|pieces| pieces.concat())
}

/// Puts Python's spaces into compact JSON.
fn spaced_out(json: &str) -> String {
    laid_out_by(json, |token, _| match token {
        ',' | ':' => format!("{token} "),
        token => token.to_string(),
    })
}

fn indented(json: &str, indent: &str) -> String {
    let json = laid_out_by(json, |token, depth| match token {
        ':' => ": ".to_owned(),
        ',' => format!(",\n{}", indent.repeat(depth)),
        '{' | '[' => format!("{token}\n{}", indent.repeat(depth)),
        token => format!("\n{}{token}", indent.repeat(depth)),
    });
    // Empty ones stay closed up.
    let mut json = json;
    for (open, close) in [('{', '}'), ('[', ']')] {
        let mut parts = json.split(open).map(str::to_owned).collect::<Vec<_>>();
        for part in parts.iter_mut().skip(1) {
            let rest = part.trim_start_matches([' ', '\t', '\n']);
            if rest.starts_with(close) && part.starts_with('\n') {
                *part = rest.to_owned();
            }
        }
        json = parts.join(&open.to_string());
    }
    json
}

/// Replaces the structural characters outside of strings; the depth is the one of what follows.
fn laid_out_by(json: &str, mut token: impl FnMut(char, usize) -> String) -> String {
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    let mut out = String::new();
    for c in json.chars() {
        if in_string {
            in_string = escaped || c != '"';
            escaped = !escaped && c == '\\';
            out.push(c);
            continue;
        }
        match c {
            '{' | '[' => depth += 1,
            '}' | ']' => depth -= 1,
            '"' => in_string = true,
            _ => {}
        }
        match c {
            '{' | '[' | '}' | ']' | ',' | ':' => out.push_str(&token(c, depth)),
            c => out.push(c),
        }
    }
    out
}
