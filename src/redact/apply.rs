//! Applying rules and found secrets to the parts of an interaction.

use bytes::Bytes;

use super::rule::{Notes, Rule, Side};
use super::searcher::Searcher;
use super::{Redactor, Secrets, body, deltas, header, look, path_of, unicode, url};
use crate::cassette::splice::{Edit, in_order, splice};
use crate::cassette::{
    Body, Cassette, Content, Frame, Headers, Interaction, Interactions, Media, Outcome, Peer,
    Recorded, Request, Response, coding, large, placeholder,
};
use crate::text::plain;

/// Applies the rules to a request, and replaces what they found wherever else it stands in it.
pub(super) fn request(redactor: &Redactor, request: &mut Request, secrets: &mut Secrets) {
    let mut own = rules(redactor, request, Secrets::default());
    if !own.is_empty() {
        known(redactor, request, &own.searcher());
    }
    secrets.extend(own);
    let looks = looks(redactor, request, secrets);
    secrets.extend(looks);
}

/// Takes out of a request what is known by its look alone, and gives it. What the rules spare `before`
/// stays.
pub(super) fn looks(redactor: &Redactor, request: &mut Request, before: &Secrets) -> Secrets {
    let mut own = before.sparing();
    let mut notes = Notes { redactor, side: Side::Request, secrets: &mut own };
    if notes.applies(Rule::Looks) {
        edit_text(&mut request.path, |text| looks_in_target(text, &mut notes));
        looks_in_headers(&mut request.headers, &mut notes);
        let is_form = Media::of_headers(&request.headers) == Media::Form;
        edit_request_body(redactor, request, |text| {
            let mut edits = look::find(text, &mut notes);
            if let Some(form) = str::from_utf8(text).ok().filter(|_| is_form) {
                edits.extend(url::looks(form, 0..form.len(), &mut notes));
            }
            edits
        });
    }
    own
}

/// What is known by its look in a request target.
pub(super) fn looks_in_target(target: &str, notes: &mut Notes<'_>) -> Vec<Edit> {
    let mut edits = look::find(target.as_bytes(), notes);
    edits.extend(url::looks_in_target(target, notes));
    in_order(edits)
}

/// The same for an answer.
fn looks_in_response(redactor: &Redactor, response: &mut Response, secrets: &mut Secrets) {
    let mut notes = Notes { redactor, side: Side::of(response.status), secrets };
    if !notes.applies(Rule::Looks) {
        return;
    }
    if let Some(reason) = &mut response.reason {
        edit_text(reason, |text| look::find(text.as_bytes(), &mut notes));
    }
    response.fields_mut().for_each(|fields| looks_in_headers(fields, &mut notes));
    let (is_stream, media) = (has_pieces(response), content_type(&response.headers));
    edit_body(redactor, &mut response.headers, &mut response.body, |text| {
        let mut edits = look::find(text, &mut notes);
        if is_stream || deltas::are_lines(text) {
            let find =
                |joined: &[u8], starts: &[usize]| look::find_in_pieces(joined, starts, &mut notes);
            edits.extend(deltas::edits(text, find));
        }
        fitted(text, media.as_deref(), edits)
    });
}

/// The same for header fields.
pub(super) fn looks_in_headers(headers: &mut Headers, notes: &mut Notes<'_>) {
    edit_fields(headers, |name, value| match header::is_plain(name) {
        true => Vec::new(),
        false => look::find(value, notes),
    });
}

/// Applies the rules to a request and gives what they found; `own` counts what was found before.
pub(super) fn rules(redactor: &Redactor, request: &mut Request, own: Secrets) -> Secrets {
    let redactor = &*redactor.of_path(request);
    let mut own = rules_of_head(redactor, request, own);
    let mut notes = Notes { redactor, side: Side::Request, secrets: &mut own };
    let content_type = content_type(&request.headers);
    // What is encoded as a whole goes as a whole: no secret in it may be taken out alone before.
    edit_request_body(redactor, request, |text| look::packed(text, &mut notes));
    edit_request_body(redactor, request, |text| {
        body::find(text, content_type.as_deref(), &mut notes)
    });
    own
}

/// Applies the rules to all of a request but its body, and gives what they found.
fn rules_of_head(redactor: &Redactor, request: &mut Request, mut own: Secrets) -> Secrets {
    let mut notes = Notes { redactor, side: Side::Request, secrets: &mut own };
    edit_text(&mut request.path, |text| target(text, &mut notes));
    header::redact(&mut request.headers, &mut notes);
    own
}

/// Takes out of a request what stands where the recording has placeholders, and gives it.
pub(super) fn around(redactor: &Redactor, request: &mut Request, before: &Secrets) -> Secrets {
    let mut own = before.sparing();
    let Some(around) = redactor.around() else { return own };
    let mut notes = Notes { redactor, side: Side::Request, secrets: &mut own };
    let edits = around.in_target(request, &mut notes);
    edit_text(&mut request.path, |_| edits);
    edit_fields(&mut request.headers, |name, value| match header::is_plain(name) {
        true => Vec::new(),
        false => around.in_header(name, value, &mut notes),
    });
    let path = path_of(request).to_owned();
    edit_request_body(redactor, request, |text| around.in_body(&path, text, &mut notes));
    own
}

/// Replaces secrets that were found, wherever they stand in a request.
pub(super) fn known(redactor: &Redactor, request: &mut Request, searcher: &Searcher) {
    if redactor.applies(Rule::Values) && !searcher.is_empty() {
        known_in_request(redactor, searcher, request);
    }
}

/// Applies the rules to an answer.
pub(super) fn response(redactor: &Redactor, response: &mut Response, secrets: &mut Secrets) {
    let mut notes = Notes { redactor, side: Side::of(response.status), secrets };
    if notes.applies(Rule::Looks)
        && let Some(reason) = &mut response.reason
    {
        edit_text(reason, |text| body::find(text.as_bytes(), None, &mut notes));
    }
    response.fields_mut().for_each(|fields| header::redact(fields, &mut notes));
    // First what stands in pieces: of what a single piece has of it, the rest would stay.
    if notes.applies(Rule::Looks) {
        let is_stream = has_pieces(response);
        edit_body(redactor, &mut response.headers, &mut response.body, |text| {
            let is_read = is_stream || deltas::are_lines(text);
            if is_read { deltas::named(text, &mut notes) } else { Vec::new() }
        });
    }
    let content_type = content_type(&response.headers);
    edit_body(redactor, &mut response.headers, &mut response.body, |text| {
        let media = content_type.as_deref();
        fitted(text, media, body::find(text, media, &mut notes))
    });
}

/// Applies the rules to a frame of a WebSocket, which is read like a body.
fn frame(redactor: &Redactor, frame: &mut Frame, secrets: &mut Secrets) {
    let mut notes = Notes { redactor, side: side_of(frame), secrets };
    let is_answer = frame.from == Peer::Server;
    edit_frame(frame, |text| {
        let edits = body::find(text, None, &mut notes);
        if is_answer { fitted(text, None, edits) } else { edits }
    });
}

/// Applies the rules to what the messages of the server have in pieces. Those of the client are read one by one in
/// replay, and so here.
fn frames_by_name(redactor: &Redactor, frames: &mut [Frame], secrets: &mut Secrets) {
    let mut notes = Notes { redactor, side: Side::Response, secrets };
    if notes.applies(Rule::Looks) {
        edit_messages(frames, Side::Response, |messages| {
            deltas::named_in_messages(messages.iter().copied(), &mut notes)
        });
    }
}

fn side_of(frame: &Frame) -> Side {
    if frame.from == Peer::Client { Side::Request } else { Side::Response }
}

fn edit_frame(frame: &mut Frame, find: impl FnOnce(&[u8]) -> Vec<Edit>) {
    if let Content::Close { reason, .. } = &mut frame.content {
        return edit_text(reason, |reason| in_order(find(reason.as_bytes())));
    }
    if let Some(message) = frame.message() {
        let edits = in_order(find(message));
        if !edits.is_empty() {
            let (ms, edited) = (frame.ms, splice(message, &edits).into());
            *frame = frame.clone().saying(ms, edited);
        }
    }
}

/// Applies edits to what the messages of a side have in pieces.
fn edit_in_pieces(
    frames: &mut [Frame],
    side: Side,
    find: impl FnMut(&[u8], &[usize]) -> Vec<Edit>,
) {
    edit_messages(frames, side, |messages| {
        deltas::edits_of_messages(messages.iter().copied(), find)
    });
}

/// Applies edits to the messages of a side.
fn edit_messages(frames: &mut [Frame], side: Side, find: impl FnOnce(&[&[u8]]) -> Vec<Vec<Edit>>) {
    let is_said = |frame: &&mut Frame| side_of(frame) == side && frame.message().is_some();
    let mut said: Vec<&mut Frame> = frames.iter_mut().filter(is_said).collect();
    let messages = said.iter().filter_map(|frame| frame.message()).map(|message| &message[..]);
    let edits = find(&messages.collect::<Vec<_>>());
    for (frame, edits) in said.iter_mut().zip(edits) {
        edit_frame(frame, |_| edits);
    }
}

/// Applies the rules to the body of an answer, and gives it without its codings.
pub(super) fn body(
    redactor: &Redactor,
    headers: &Headers,
    body: Vec<u8>,
    secrets: &mut Secrets,
) -> Vec<u8> {
    let codings = coding::listed(headers);
    let plain = coding::decode_listed(&codings, &body).unwrap_or(body);
    let mut headers = headers.clone();
    headers.remove("content-encoding");
    let mut answer = Response { headers, body: Body::Whole(plain.into()), ..Response::of(200) };
    response(redactor, &mut answer, secrets);
    looks_in_response(redactor, &mut answer, secrets);
    known_in_response(redactor, &secrets.searcher(), &mut answer);
    answer.body.bytes().to_vec()
}

/// Applies the rules to all interactions, and replaces what they found in any of them in all of them:
/// first what a name tells, and then what is known by its look in what is left.
pub(super) fn recording(redactor: &Redactor, recorded: &mut Recorded, all: &mut impl Interactions) {
    let mut secrets = redactor.known();
    by_names(redactor, all, &mut secrets);
    if let Some(redactor) = redactor.alike(&secrets) {
        by_names(&redactor, all, &mut secrets);
    }
    if let Some(range) = url::userinfo(&recorded.upstream) {
        recorded.upstream.replace_range(range.start..=range.end, "");
    }
    let (before, searcher) = (secrets.len(), secrets.searcher());
    known_in_recorded(redactor, recorded, &searcher);
    for number in 0..all.count() {
        all.change(number, |interaction| {
            known_in_interaction(redactor, interaction, &searcher);
            by_looks(redactor, interaction, &mut secrets);
        });
    }
    let mut searcher = Searcher::default();
    secrets.add_to(&mut searcher, before);
    if searcher.is_empty() {
        return;
    }
    known_in_recorded(redactor, recorded, &searcher);
    for number in 0..all.count() {
        all.change(number, |interaction| known_in_interaction(redactor, interaction, &searcher));
    }
}

/// Replaces what is known by its look.
fn by_looks(redactor: &Redactor, interaction: &mut Interaction, secrets: &mut Secrets) {
    let found = looks(redactor, &mut interaction.request, secrets);
    secrets.extend(found);
    let Outcome::Response(answer) = &mut interaction.outcome else { return };
    looks_in_response(redactor, answer, secrets);
    // The first piece alone may look like a secret too.
    for side in [Side::Request, Side::Response] {
        let mut notes = Notes { redactor, side, secrets };
        if notes.applies(Rule::Looks) {
            edit_in_pieces(&mut answer.frames, side, |text, starts| {
                look::find_in_pieces(text, starts, &mut notes)
            });
        }
    }
    for frame in &mut answer.frames {
        let side = side_of(frame);
        let mut notes = Notes { redactor, side, secrets };
        edit_frame(frame, |text| look::find(text, &mut notes));
    }
}

/// Replaces what a name tells.
fn by_names(redactor: &Redactor, all: &mut impl Interactions, secrets: &mut Secrets) {
    for number in 0..all.count() {
        all.change(number, |interaction| {
            let own = secrets.begin();
            let mut own = rules(redactor, &mut interaction.request, own);
            known(redactor, &mut interaction.request, &own.searcher());
            secrets.extend(own);
            if let Outcome::Response(answer) = &mut interaction.outcome {
                response(redactor, answer, secrets);
                frames_by_name(redactor, &mut answer.frames, secrets);
                answer.frames.iter_mut().for_each(|it| frame(redactor, it, secrets));
            }
        });
    }
}

/// Applies the rules once more to what the client says in a cassette. Values that get a placeholder only now
/// count on where those of their name that are `shown` end.
pub(super) fn requests(redactor: &Redactor, cassette: &mut Cassette, shown: &[(String, usize)]) {
    let mut secrets = Secrets::default();
    shown.iter().for_each(|(name, last)| secrets.count_from(name, *last));
    for interaction in &mut cassette.interactions {
        let own = secrets.begin();
        let own = rules(redactor, &mut interaction.request, own);
        secrets.extend(own);
        let redactor = &*redactor.of_path(&interaction.request);
        if let Outcome::Response(answer) = &mut interaction.outcome {
            let said = answer.frames.iter_mut().filter(|it| it.from == Peer::Client);
            said.for_each(|it| frame(redactor, it, &mut secrets));
        }
    }
}

fn known_in_recorded(redactor: &Redactor, recorded: &mut Recorded, searcher: &Searcher) {
    if redactor.applies(Rule::Values) && !searcher.is_empty() {
        recorded.server.iter_mut().for_each(|server| known_in_text(searcher, server));
        known_in_text(searcher, &mut recorded.upstream);
    }
}

fn known_in_interaction(redactor: &Redactor, interaction: &mut Interaction, searcher: &Searcher) {
    if !redactor.applies(Rule::Values) || searcher.is_empty() {
        return;
    }
    known_in_request(redactor, searcher, &mut interaction.request);
    if let Outcome::Response(answer) = &mut interaction.outcome {
        known_in_response(redactor, searcher, answer);
        for side in [Side::Request, Side::Response] {
            edit_in_pieces(&mut answer.frames, side, |text, _| searcher.edits(text));
        }
        for frame in &mut answer.frames {
            edit_frame(frame, |text| searcher.edits_of_body(text));
        }
    }
}

pub(super) fn target(target: &str, notes: &mut Notes<'_>) -> Vec<Edit> {
    if target.contains(['?', '@']) { url::find(target, notes) } else { Vec::new() }
}

/// Applies edits to a text in place.
pub(super) fn edit_text(text: &mut String, find: impl FnOnce(&str) -> Vec<Edit>) {
    let edits = find(text);
    if !edits.is_empty() {
        *text = String::from_utf8_lossy(&splice(text.as_bytes(), &edits)).into_owned();
    }
}

/// Applies edits to the values of header fields.
pub(super) fn edit_fields(headers: &mut Headers, mut find: impl FnMut(&str, &Bytes) -> Vec<Edit>) {
    for (name, value) in headers.iter_mut() {
        let edits = find(name, value);
        if !edits.is_empty() {
            *value = splice(value, &edits).into();
        }
    }
}

fn content_type(headers: &Headers) -> Option<String> {
    headers.get("content-type").map(str::to_owned)
}

fn known_in_request(redactor: &Redactor, searcher: &Searcher, request: &mut Request) {
    known_in_text(searcher, &mut request.path);
    known_in_headers(searcher, &mut request.headers);
    // One that is cut short is not recorded. A secret may well begin with an identifier that is none.
    edit_request_body(redactor, request, |text| searcher.edits(text));
}

fn known_in_response(redactor: &Redactor, searcher: &Searcher, response: &mut Response) {
    response.reason.iter_mut().for_each(|reason| known_in_text(searcher, reason));
    response.fields_mut().for_each(|fields| known_in_headers(searcher, fields));
    let (has_looks, is_stream) = (redactor.applies(Rule::Looks), has_pieces(response));
    let media = content_type(&response.headers);
    edit_body(redactor, &mut response.headers, &mut response.body, |text| {
        let mut edits = searcher.edits_of_body(text);
        if has_looks && (is_stream || deltas::are_lines(text)) {
            edits.extend(deltas::edits(text, |joined, _| searcher.edits(joined)));
        }
        fitted(text, media.as_deref(), edits)
    });
}

/// Whether an answer may say in pieces what it says. Some servers call such a stream plain text.
fn has_pieces(response: &Response) -> bool {
    let media = Media::of_headers(&response.headers);
    media.is_stream() || (media == Media::Text && matches!(response.body, Body::Stream(_)))
}

fn known_in_text(searcher: &Searcher, text: &mut String) {
    edit_text(text, |text| searcher.edits(text.as_bytes()));
}

pub(super) fn known_in_headers(searcher: &Searcher, headers: &mut Headers) {
    edit_fields(headers, |_, value| searcher.edits(value));
}

fn edit_request_body(
    redactor: &Redactor,
    request: &mut Request,
    find: impl FnMut(&[u8]) -> Vec<Edit>,
) {
    if request.body.is_empty() {
        return;
    }
    let mut body = Body::Whole(std::mem::take(&mut request.body));
    edit_body(redactor, &mut request.headers, &mut body, find);
    request.body = body.bytes();
}

/// Applies edits to what a body says. A compressed body with a secret in it is stored as what it
/// says; one without stays as it is.
fn edit_body(
    redactor: &Redactor,
    headers: &mut Headers,
    body: &mut Body,
    find: impl FnMut(&[u8]) -> Vec<Edit>,
) {
    let wire = body.bytes();
    if large::is_stand_in(&wire) {
        return;
    }
    let several = redactor.applies(Rule::Codings).then(|| coding::listed(headers));
    let several = several.filter(|codings| codings.contains(','));
    let plain = several.and_then(|codings| coding::decode_listed(&codings, &wire));
    let plain = plain.map(|plain| Body::Whole(plain.into()));
    let plain = plain.or_else(|| decoded(headers, body));
    let lines = (Media::of_headers(headers) == Media::Amazon)
        .then(|| plain.as_ref().unwrap_or(body).lines_of_amazon())
        .flatten();
    let said = lines.as_ref().or(plain.as_ref());
    let text = said.map_or_else(|| wire.clone(), Body::bytes);
    let edits = edits_of(redactor, &text, find);
    if edits.is_empty() {
        return;
    }
    if plain.is_some() {
        headers.remove("content-encoding");
    }
    drop_sums(headers);
    if let Some(mut lines) = lines {
        lines.splice(&edits);
        *body = lines.into_amazon();
    } else {
        *body = plain.unwrap_or_else(|| std::mem::take(body));
        body.splice(&edits);
    }
    let announced = headers.get("content-length").and_then(|length| length.trim().parse().ok());
    if announced == Some(wire.len()) && body.len() != wire.len() {
        headers.set("content-length", body.len().to_string());
    }
}

/// Removes the fields that sum up a body, now that it is another one.
pub(crate) fn drop_sums(headers: &mut Headers) {
    let sums = sums_of_body(headers.iter().map(|(name, _)| name));
    sums.iter().for_each(|name| headers.remove(name));
}

/// The names of those fields that sum up the body: what they say of another one is wrong (RFC 9530, and those before
/// it).
pub(crate) fn sums_of_body<'n>(names: impl Iterator<Item = &'n str>) -> Vec<String> {
    const NAMES: [&str; 4] = ["digest", "repr-digest", "content-digest", "x-goog-hash"];
    const ENDS: [&str; 5] = ["-md5", "-crc32", "-crc32c", "-crc64", "-sha256"];
    let names = names.map(str::to_ascii_lowercase);
    // What the client has said of an object, or of its key, sums up no body.
    let is_of_another = |name: &str| name.contains("-meta-") || name.contains("-key-");
    let sums = names.filter(|name| {
        NAMES.contains(&&**name)
            || name.contains("-checksum-")
            || ENDS.iter().any(|end| name.ends_with(end)) && !is_of_another(name)
    });
    sums.collect()
}

/// Edits of an answer. In bytes that are no text (MessagePack, Protocol Buffers) something else says how long what is
/// replaced is, so what comes in its place is as long, if that is long enough.
fn fitted(text: &[u8], media: Option<&str>, edits: Vec<Edit>) -> Vec<Edit> {
    let is_text =
        edits.is_empty() || plain::text(text).is_some() && !media.is_some_and(has_lengths);
    if is_text { edits } else { edits.into_iter().map(fit).collect() }
}

/// Whether something in a body of that type says how long what stands behind it is, even where all its bytes happen to
/// be text.
fn has_lengths(media: &str) -> bool {
    const PARTS: [&str; 8] = [
        "proto",
        "protobuf",
        "grpc",
        "msgpack",
        "cbor",
        "octet-stream",
        "raw-stream",
        "multiplexed-stream",
    ];
    let name = media.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let (_, subtype) = name.split_once('/').unwrap_or_default();
    // `application/connect+proto`, `application/vnd.docker.raw-stream`, `application/x-protobuf`.
    subtype.split(['+', '.']).any(|part| PARTS.contains(&part.trim_start_matches("x-")))
}

/// An edit that keeps the length, if that is long enough.
pub(super) fn fit(edit: Edit) -> Edit {
    let placeholder = std::str::from_utf8(&edit.with).unwrap_or_default();
    let with = placeholder::of_length(placeholder, edit.range.len());
    Edit::new(edit.range, with)
}

/// The edits of a text, which may be in UTF-16. What only says that it is may hold another text.
fn edits_of(
    redactor: &Redactor,
    text: &Bytes,
    mut find: impl FnMut(&[u8]) -> Vec<Edit>,
) -> Vec<Edit> {
    let wide = redactor.applies(Rule::Codings).then(|| unicode::decoded(text)).flatten();
    let Some((plain, layout)) = wide else { return in_order(find(text)) };
    let edits = in_order(find(plain.as_bytes()));
    if edits.is_empty() {
        return in_order(find(text));
    }
    let clean = String::from_utf8_lossy(&splice(plain.as_bytes(), &edits)).into_owned();
    let clean = unicode::encoded(&clean, layout);
    let rest = in_order(find(&clean));
    vec![Edit::new(0..text.len(), splice(&clean, &rest))]
}

fn decoded(headers: &Headers, body: &Body) -> Option<Body> {
    headers
        .get("content-encoding")
        .filter(|coding| !coding.trim().eq_ignore_ascii_case("identity"))
        .and_then(|coding| body.decoded(coding))
        // What only says that it is compressed is looked at as it is.
        .filter(|plain| !plain.is_empty())
}
