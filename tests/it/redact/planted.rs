//! Secrets put anywhere, and text in which there are none.

use proptest::prelude::*;
use retape::Cassette;
use retape::cassette::{Headers, Interaction, Request, Response};
use retape::redact::Redactor;

use super::compressed::gzipped;
use super::requests::{MULTIPART, multipart};
use super::{cassette, redacted, request, response, stream, whole};

/// Where a secret is put.
#[derive(Debug, Clone, Copy)]
enum Place {
    Header,
    Cookie,
    Query,
    Json,
    Nested,
    Event,
    Cut,
    Gzip,
    Env,
    Form,
    Multipart,
    Prose,
}

const PLACES: [Place; 12] = [
    Place::Header,
    Place::Cookie,
    Place::Query,
    Place::Json,
    Place::Nested,
    Place::Event,
    Place::Cut,
    Place::Gzip,
    Place::Env,
    Place::Form,
    Place::Multipart,
    Place::Prose,
];

fn plant(place: Place, secret: &str, echo: &str, cut: usize) -> (Request, Response) {
    let text =
        serde_json::json!({"note": "so", "api_key": secret, "echo": format!("it is {echo}")})
            .to_string();
    let nested = serde_json::json!({"arguments": text}).to_string();
    let empty = || request("/v1/x", &[], "");
    let plain = || response(&[], whole(""));
    match place {
        Place::Header => (request("/", &[("x-api-key", secret)], ""), plain()),
        Place::Cookie => (request("/", &[("cookie", &format!("a=b; s={secret}"))], ""), plain()),
        Place::Query => (request(&format!("/x?a=1&token={secret}"), &[], ""), plain()),
        Place::Json => (request("/", &[], text), plain()),
        Place::Nested => (empty(), response(&[], whole(nested))),
        Place::Event | Place::Cut => {
            let events = format!("data: {nested}\n\ndata: {{\"text\":\"{echo}\"}}\n\n");
            let end = if matches!(place, Place::Cut) { events.len() * 2 / 3 } else { events.len() };
            let cut = cut % end;
            let (one, two) = events.as_bytes()[..end].split_at(cut);
            (empty(), response(&[], stream(&[one, two])))
        }
        Place::Gzip => {
            let packed = gzipped(text.as_bytes());
            let (one, two) = packed.split_at(cut % packed.len());
            (empty(), response(&[("content-encoding", "gzip")], stream(&[one, two])))
        }
        Place::Env => {
            let env = serde_json::json!({"secrets": [{"key": "K", "value": secret}], "env": {"X": secret}});
            (empty(), response(&[], whole(env.to_string())))
        }
        Place::Prose => {
            let text = serde_json::json!({"text": format!("export API_KEY={secret} {echo}")});
            (empty(), response(&[], whole(text.to_string())))
        }
        Place::Multipart => {
            let form = multipart(&[("name=\"a\"", echo), ("name=\"api_key\"", secret)]);
            (request("/", &MULTIPART, form), plain())
        }
        Place::Form => {
            let kind = [("content-type", "application/x-www-form-urlencoded")];
            (request("/", &kind, format!("a=b&password={secret}")), plain())
        }
    }
}

/// All bytes of a cassette, those of compressed bodies as they are and decoded.
fn all_bytes(cassette: &Cassette) -> Vec<u8> {
    let mut all = Vec::new();
    let mut take = |headers: &Headers, body: &[u8]| {
        for (name, value) in headers.iter() {
            all.extend_from_slice(name.as_bytes());
            all.extend_from_slice(value);
            all.push(b'\n');
        }
        all.extend_from_slice(body);
        all.push(b'\n');
        let coding = headers.get("content-encoding").unwrap_or_default();
        all.extend(retape::cassette::coding::decode_whole(coding, body).unwrap_or_default());
    };
    for interaction in &cassette.interactions {
        take(&interaction.request.headers, interaction.request.path.as_bytes());
        take(&interaction.request.headers, &interaction.request.body);
        let response = interaction.response().expect("an answer");
        take(&response.headers, &response.body.bytes());
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_planted_secret_survives(
        planted in prop::collection::vec((0..PLACES.len(), "[a-z]{3}[0-9][A-Za-z0-9_-]{6,30}", any::<prop::sample::Index>(), 0..4096usize), 1..8),
    ) {
        let secrets = planted.iter().map(|(_, secret, _, _)| secret.clone()).collect::<Vec<_>>();
        let exchanges = planted.iter().map(|(place, secret, echo, cut)| {
            plant(PLACES[*place], secret, &secrets[echo.index(secrets.len())], *cut)
        });
        let before = cassette(exchanges.collect());

        let after = redacted(before.clone());

        let text = String::from_utf8_lossy(&all_bytes(&after)).into_owned();
        for secret in &secrets {
            prop_assert!(!text.contains(secret.as_str()), "{secret} in {text}");
        }
        prop_assert_eq!(&redacted(after.clone()), &after);
        for (before, after) in before.interactions.iter().zip(&after.interactions) {
            let mut live = before.request.clone();
            Redactor::standard().request(&mut live);
            let chunks = |i: &Interaction| i.response().map(|r| r.body.chunks().len());
            prop_assert_eq!(chunks(before), chunks(after));
        }
    }

    #[test]
    fn a_cassette_with_nothing_telling_is_unchanged(
        bytes in prop::collection::vec(any::<u8>(), 0..300), text in "[ -~\n]{0,200}", cut in 0..200usize,
    ) {
        prop_assume!(!text.contains(':'));
        let (one, two) = text.as_bytes().split_at(cut.min(text.len()));
        let before = cassette(vec![
            (request("/v1/agents?limit=1", &[("accept", "*/*")], text.clone()), response(&[("content-length", "7")], stream(&[one, two]))),
            (request("/", &[], bytes.clone()), response(&[], whole(bytes))),
        ]);

        let after = redacted(before.clone());

        prop_assert_eq!(after.interactions, before.interactions);
    }
}
