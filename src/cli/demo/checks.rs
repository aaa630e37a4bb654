//! What has to be true at the end; each finding is a sentence.

use super::client::Transcript;
use crate::cassette::Cassette;
use crate::review::report::{Colour, difference};

/// What is wrong with a cassette, given what the client saw while it was recorded.
pub(super) fn of_cassette(seen: &Transcript, cassette: &Cassette, file: &[u8]) -> Vec<String> {
    let mut findings = Vec::new();
    let (held, had) = (cassette.interactions.len(), seen.answers.len());
    if held != had {
        findings.push(format!("the file holds {held} interactions, the client had {had}"));
    }
    for (interaction, answer) in cassette.interactions.iter().zip(&seen.answers) {
        let is_kept = interaction
            .response()
            .is_some_and(|kept| kept.status == answer.status && kept.body.bytes() == answer.body);
        if !is_kept {
            findings.push(format!("the file does not hold what `{}` was answered", answer.asked));
        }
    }
    if memchr::memmem::find(file, seen.key.as_bytes()).is_some() {
        findings.push("the client's API key is in the file".to_owned());
    }
    findings
}

/// How a replayed conversation differs from the recorded one. Where one client saw the name that it
/// had made up, the other has to see its own; nothing else may differ.
pub(super) fn of_replay(recorded: &Transcript, replayed: &Transcript) -> Vec<String> {
    let [before, now] = [recorded, replayed].map(parts);
    let mut findings = Vec::new();
    if before.len() != now.len() {
        let [first, second] = [before.len() - 1, now.len() - 1];
        findings.push(format!("{first} answers were recorded, {second} were replayed"));
    }
    for ((what, old), (_, new)) in before.iter().zip(&now) {
        if old != new {
            let shown = difference(old, new, Colour::Ansi);
            findings.push(format!("{what} is another one in replay\n{shown}"));
        }
    }
    findings
}

/// What was printed and what was answered, by what it is, without the client's name.
fn parts(seen: &Transcript) -> Vec<(String, String)> {
    let without_name = |text: &str| text.replace(&seen.name, "NAME");
    let printed = ("what was printed".to_owned(), without_name(&seen.printed));
    let answers = seen.answers.iter().map(|answer| {
        let body = without_name(&String::from_utf8_lossy(&answer.body));
        (format!("the answer to `{}`", answer.asked), format!("{}\n{body}", answer.status))
    });
    std::iter::once(printed).chain(answers).collect()
}

#[cfg(test)]
mod tests {
    use super::super::client::Reply;
    use super::*;

    fn seen(name: &str, body: &str) -> Transcript {
        let body = body.replace("NAME", name).into();
        Transcript {
            name: name.to_owned(),
            key: "sk-1".to_owned(),
            printed: format!("server: agent-1 is made for {name}"),
            answers: vec![Reply {
                asked: "POST /v1/agents".to_owned(),
                status: 200,
                body,
                events: 0,
            }],
            ..Transcript::default()
        }
    }

    fn check(recorded: &Transcript, replayed: &Transcript, findings: usize) {
        assert_eq!(of_replay(recorded, replayed).len(), findings, "{recorded:?} {replayed:?}");
    }

    #[test]
    fn only_the_names_of_the_clients_may_differ() {
        let recorded = seen("demo-a", "agent-1 is NAME");

        check(&recorded, &seen("demo-b", "agent-1 is NAME"), 0);
        check(&recorded, &seen("demo-b", "agent-1 is demo-a"), 1);
        check(&recorded, &seen("demo-b", "agent-1 is demo-c"), 1);
        check(&recorded, &seen("demo-b", "agent-2 is NAME"), 1);
        check(&recorded, &Transcript { printed: String::new(), ..recorded.clone() }, 1);
        check(&recorded, &Transcript { answers: Vec::new(), ..recorded.clone() }, 1);

        let mut refused = recorded.clone();
        refused.answers[0].status = 404;
        check(&recorded, &refused, 1);
    }

    #[test]
    fn a_cassette_must_hold_what_was_answered_and_no_key() {
        let recorded = seen("demo-a", "agent-1 is NAME");

        let findings = of_cassette(&recorded, &Cassette::default(), b"authorization: sk-1");

        assert_eq!(
            findings,
            [
                "the file holds 0 interactions, the client had 1",
                "the client's API key is in the file"
            ]
        );
    }
}
