//! What has to be true at the end; each finding is a sentence.

use super::transcript::Transcript;
use crate::cassette::Cassette;
use crate::review::report::{Colour, difference};
use crate::session::Summary;

/// What is wrong with a cassette, given what the client saw while it was recorded.
pub(super) fn of_cassette(seen: &Transcript, cassette: &Cassette, file: &[u8]) -> Vec<String> {
    let mut findings = Vec::new();
    if cassette.interactions.len() != seen.heard.len() {
        let [held, had] = [cassette.interactions.len(), seen.heard.len()];
        findings.push(format!("the file holds {held} interactions, the client had {had}"));
    }
    for (interaction, heard) in cassette.interactions.iter().zip(&seen.heard) {
        let kept = interaction.response().map(|kept| (kept.status, kept.body.bytes()));
        let same =
            kept.is_some_and(|(status, body)| status == heard.status && body[..] == heard.body[..]);
        if !same {
            findings.push(format!("the file does not hold what `{}` was answered", heard.asked));
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
    let before = |text: &[u8]| String::from_utf8_lossy(text).replace(&recorded.name, "NAME");
    let now = |text: &[u8]| String::from_utf8_lossy(text).replace(&replayed.name, "NAME");
    let mut findings = Vec::new();
    if recorded.heard.len() != replayed.heard.len() {
        let [first, second] = [recorded.heard.len(), replayed.heard.len()];
        findings.push(format!("{first} answers were recorded, {second} were replayed"));
    }
    for (first, second) in recorded.heard.iter().zip(&replayed.heard) {
        if (first.status, before(&first.body)) != (second.status, now(&second.body)) {
            let shown = difference(&before(&first.body), &now(&second.body), Colour::Ansi);
            let [asked, before, now] =
                [&first.asked, &first.status.to_string(), &second.status.to_string()];
            findings.push(format!("`{asked}` is answered otherwise in replay (status {now}, recorded {before})\n{shown}"));
        }
    }
    let [first, second] = [before(recorded.printed.as_bytes()), now(replayed.printed.as_bytes())];
    if first != second {
        let shown = difference(&first, &second, Colour::Ansi);
        findings.push(format!("what was printed differs\n{shown}"));
    }
    findings
}

/// What was missed, and what was left, in replay.
pub(super) fn of_summary(summary: &Summary) -> Vec<String> {
    let missed = summary.misses.iter().map(|miss| miss.explanation.clone());
    let left = summary.unplayed.iter().map(|left| {
        format!("`{} {}` was recorded and not asked for in replay", left.method, left.path)
    });
    missed.chain(left).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::heard::Heard;
    use super::*;

    fn seen(name: &str, body: &str) -> Transcript {
        let asked = "POST /v1/agents".to_owned();
        let body = body.replace("NAME", name).into();
        Transcript {
            name: name.to_owned(),
            key: "sk-1".to_owned(),
            agent: "agent-1".to_owned(),
            printed: format!("server: agent-1 is made for {name}"),
            heard: vec![Heard { asked, status: 200, body, events: 0 }],
            took: Duration::ZERO,
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
        check(&recorded, &Transcript { heard: Vec::new(), ..recorded.clone() }, 1);

        let mut refused = recorded.clone();
        refused.heard[0].status = 404;
        check(&recorded, &refused, 1);
    }

    #[test]
    fn a_cassette_must_hold_what_was_heard_and_no_key() {
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
