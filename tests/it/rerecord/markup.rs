//! Bodies of XML, value by value; and entity tags, which servers issue and clients send back.

use retape::Cassette;
use retape::cassette::Headers;

use super::cases::{check, talk};

const ONE: &str = "6f1c0a2f-37a2-4fd9-92f1-fd5b1ee5a5f0";
const OTHER: &str = "0c9df04e-5c1b-4a7e-8f4b-2b0a3f5f7d11";

/// An answer of SOAP, all in one line.
fn soap(created: &str, id: &str, inside: &str) -> Cassette {
    let body = format!(
        "<?xml version=\"1.0\"?><s:Envelope xmlns:s=\"urn:soap\"><s:Body><Order ref=\"{id}\">\
         <Created>{created}</Created>{inside}<Changed>{created}</Changed></Order></s:Body></s:Envelope>"
    );
    let mut talk = talk(&[("POST /orders {}", &body)]);
    let retape::cassette::Outcome::Response(response) = &mut talk.interactions[0].outcome else {
        unreachable!()
    };
    response.headers = [("content-type", "text/xml; charset=utf-8")].into_iter().collect();
    talk
}

#[test]
fn a_changed_value_of_xml_leaves_the_others_of_its_line_as_they_were() {
    let [before, now] = ["2026-11-21T09:00:00Z", "2026-12-02T10:11:12Z"];
    let total = |total: &str| format!("<Total currency=\"EUR\">{total}</Total>");
    let old = soap(before, ONE, &total("10"));

    check(&old, soap(now, OTHER, &total("10")), &old);
    check(&old, soap(now, OTHER, &total("12")), &soap(before, ONE, &total("12")));
    let more = |total_: &str| format!("<Note>new</Note>{}", total(total_));
    check(&old, soap(now, OTHER, &more("10")), &soap(before, ONE, &more("10")));
    check(&old, soap(now, OTHER, ""), &soap(before, ONE, ""));
    let unlike = "2026-12-02 10:11:12";
    check(&old, soap(unlike, OTHER, &total("10")), &soap(unlike, ONE, &total("10")));
}

fn set(talk: &mut Cassette, at: usize, name: &'static str, value: &str) {
    let headers: &mut Headers = &mut talk.interactions[at].request.headers;
    headers.append(name, value.to_owned());
}

/// A file whose tag stands in the answer, and in the header of the next request.
fn tagged(listed: &str, tag: &str) -> Cassette {
    let mut talk = talk(&[("GET /files", listed), ("PUT /files/a {}", "{}")]);
    set(&mut talk, 1, "if-match", tag);
    talk
}

#[test]
fn an_entity_tag_in_a_body_that_the_client_sends_back_is_called_as_before() {
    let dav = |tag: &str| {
        let etag = tag.replace('"', "&quot;");
        let listed = format!(
            "<D:multistatus xmlns:D=\"DAV:\"><D:href>/files/a</D:href><D:getetag>{etag}</D:getetag></D:multistatus>"
        );
        tagged(&listed, tag)
    };
    let odata = |tag: &str| {
        let etag = tag.replace('"', "\\\"");
        tagged(&format!(r#"{{"odata.etag":"{etag}","name":"a"}}"#), tag)
    };
    for of in [&dav as &dyn Fn(&str) -> Cassette, &odata] {
        for (before, now) in [
            (r#""3f80f-1b6-3e1cb03b""#, r#""4a91c-1b6-5f2dc14c""#),
            (r#"W/"0x8DCA3B1F""#, r#"W/"0x8DCB17E2""#),
            (r#""aBcD1234eFgH""#, r#""xYzW9876vUtS""#),
            (
                r#"W/"datetime'2026-11-21T09%3A00%3A00.1234567Z'""#,
                r#"W/"datetime'2026-12-02T10%3A11%3A12.7654321Z'""#,
            ),
        ] {
            let (old, new) = (of(before), of(now));
            check(&old, new, &old);
            // One that nobody sends back is what the server says.
            let [mut old, mut new] = [of(before), of(now)];
            old.interactions.truncate(1);
            new.interactions.truncate(1);
            if !now.contains("T10") {
                check(&old, new.clone(), &new);
            }
        }
    }
}
