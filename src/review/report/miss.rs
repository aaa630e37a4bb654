//! Why nothing recorded answers a request, for a person.

use std::time::Duration;

use serde_json::{Value as Json, json};

use super::Rerun;
use super::line::{count, cut, cut_middle, shorten_ids, size, visible, width, wrap};
use super::words::{COLUMNS, pair};
use crate::cassette::exchanges::MESSAGE;
use crate::cassette::{Origins, Place, target};
use crate::compare::Value;
use crate::compare::matching::{Asking, Awaited, Differing, Message, Mismatch, Nearest, Why};
use crate::config::Repeats;
use crate::identity::{Issuer, Origin, may_coincide};
use crate::message::Protocols;

/// So many fields are shown; programs are told more.
const FIELDS: usize = 12;

/// For so many differences at most it is said how to let them not count.
const MENDED: usize = 3;

/// Explains a miss: what was asked of the cassette `name`, what is most alike, where the two differ
/// and why that counts, and what to do next.
///
/// No line but the command to copy is longer than 78 columns.
pub fn miss(name: &str, mismatch: &Mismatch, rerun: &Rerun) -> String {
    let of = count(mismatch.recorded, "interaction");
    let asked = question(&mismatch.method, &mismatch.path, mismatch.call.as_deref());
    let mut lines = vec![format!("`{name}` ({of}) has no answer to"), format!("  {asked}")];
    let elsewhere = mismatch.message.and_then(|message| message.elsewhere);
    if let Some(Message { interaction, number, .. }) = mismatch.message {
        let (number, interaction) = (number + 1, interaction + 1);
        lines.push(format!(
            "message {number} of the client on the connection of interaction {interaction}"
        ));
    }
    if let Some(interaction) = elsewhere {
        let of = interaction + 1;
        lines.push(format!("the very same was recorded on another one, that of interaction {of}"));
    }
    match &mismatch.nearest {
        Some(nearest) => tell_nearest(nearest, &asked, &mut lines),
        None if elsewhere.is_some() => {}
        None => tell_others(mismatch, &mut lines),
    }
    lines.extend(mismatch.nearest.iter().flat_map(|nearest| hints(name, nearest)));
    lines.push("hint: if the client is meant to ask this now, record it again:".to_owned());
    let steps = rerun.steps(&mismatch.servers, name);
    lines.extend(steps.iter().map(|step| format!("  {}", visible(step))));
    lines.extend(mismatch.nearest.iter().flat_map(rules));
    lines.join("\n")
}

fn missing(awaited: &Awaited) -> Vec<String> {
    match awaited {
        Awaited::Asked(asking) => vec![
            format!("it asks the very same, but was recorded after {},", numbered(asking)),
            "which was not asked for in this run:".to_owned(),
            format!("  {}", recorded_question(asking)),
        ],
        Awaited::Leaving => vec![
            "its client left before the end when it was recorded (`client_closed`), and did"
                .to_owned(),
            "not leave within 5 minutes in this run".to_owned(),
        ],
    }
}

fn tell_nearest(nearest: &Nearest, asked: &str, lines: &mut Vec<String>) {
    let Nearest { asking, played, alike, differences, more, .. } = nearest;
    let played = if *played { "played before" } else { "not played yet" };
    let alike = match alike {
        0..1000 => format!(", {} % alike", alike / 10),
        _ => String::new(),
    };
    lines.push(format!("the nearest is {} ({played}{alike})", numbered(asking)));
    let recorded = recorded_question(asking);
    if recorded != asked {
        lines.push(format!("  {recorded}"));
    }
    if let (Some(awaited), true) = (&nearest.awaited, differences.is_empty()) {
        return lines.extend(missing(awaited));
    }
    if differences.is_empty() {
        return lines.extend(wrap(&same(nearest), COLUMNS + 6, 4).iter().map(|it| it.to_string()));
    }
    let verb = if differences.len() + more == 1 { "differs" } else { "differ" };
    let fields = count(differences.len() + more, "field");
    lines.push(format!("{fields} {verb} (- recorded, + asked):"));
    for differing in differences.iter().take(FIELDS) {
        lines.extend(field(differing).into_iter().map(|line| format!("  {line}")));
    }
    let left = differences.len().saturating_sub(FIELDS) + more;
    if left > 0 {
        lines.push(format!("  and {}", count(left, "more field")));
    }
}

/// Which interaction it is, and which frame of it.
fn numbered(asking: &Asking) -> String {
    let interaction = asking.interaction + 1;
    match asking.frame {
        Some(frame) => format!("frame {} of interaction {interaction}", frame + 1),
        None => format!("interaction {interaction}"),
    }
}

fn is_before(one: &Asking, other: &Asking) -> bool {
    (one.interaction, one.frame) < (other.interaction, other.frame)
}

/// A place, what was recorded there, what is asked there, and why that counts.
fn field(differing: &Differing) -> Vec<String> {
    let Differing { difference, why } = differing;
    let at = difference.at.to_string();
    let mut lines = vec![cut_middle(&visible(&at), COLUMNS + 4).into_owned()];
    let values = match (&difference.recorded, &difference.asked) {
        (Some(Value::Binary { length, .. }), Some(Value::Binary { length: asked, differs_at })) => {
            let first = format!("the first different byte is number {}", differs_at + 1);
            vec![format!("- {}", binary(*length)), format!("+ {}", binary(*asked)), first]
        }
        (Some(recorded), Some(asked)) => pair(&shown(recorded), &shown(asked)),
        (Some(recorded), None) => pair(&shown(recorded), "").into_iter().take(1).collect(),
        (None, Some(asked)) => pair("", &shown(asked)).into_iter().skip(1).collect(),
        (None, None) => Vec::new(),
    };
    lines.extend(values.into_iter().map(|line| format!("  {line}")));
    if !matches!(why, Why::Value { .. }) {
        let why = visible(&reason(why)).into_owned();
        lines.extend(wrap(&why, COLUMNS, 4).iter().map(|line| format!("  {line}")));
    }
    lines
}

/// Why a request without a difference is not answered.
fn same(nearest: &Nearest) -> String {
    match &nearest.next {
        _ if nearest.played && nearest.repeats != Repeats::Allowed => {
            "it asks the very same, but was played already, and `repeats` lets no answer be given again"
                .to_owned()
        }
        Some(next) if nearest.repeats == Repeats::Strict && is_before(next, &nearest.asking) => format!(
            "it asks the very same, but `repeats` keeps the recorded order, and {} comes first: {}",
            numbered(next),
            recorded_question(next)
        ),
        _ => "it looks the same; what differs is in a place that cannot be told apart".to_owned(),
    }
}

fn tell_others(mismatch: &Mismatch, lines: &mut Vec<String>) {
    let Mismatch { method, others, .. } = mismatch;
    let Some(first) = others.first() else {
        return lines.push("because nothing was recorded".to_owned());
    };
    let (origin, _) = target::split(&mismatch.path);
    if !origin.is_empty() && mismatch.origins.iter().all(|known| known != origin) {
        lines.push(format!("because nothing was recorded from {}; there is", visible(origin)));
        return lines.extend(mismatch.origins.iter().map(|known| format!("  {}", visible(known))));
    }
    lines.push(if let (Some(call), Some(_)) = (&mismatch.call, &first.call) {
        format!("nothing was recorded that calls `{}`; there is", visible(call))
    } else if first.method == *method {
        format!("nothing like it was recorded; with {method} there is")
    } else {
        format!("nothing was recorded with {}; there is", visible(method))
    });
    lines.extend(others.iter().map(|other| {
        let path = other.path.split('?').next().unwrap_or_default();
        let call = other.call.as_ref().filter(|_| mismatch.call.is_some());
        let call = call.map(|call| format!("`{}` in ", visible(call))).unwrap_or_default();
        format!("  {call}{} ({})", first_line(&other.method, path), numbered(other))
    }));
}

/// What else can be done, beside recording again.
fn hints(name: &str, nearest: &Nearest) -> Vec<String> {
    let renames = |differing: &&Differing| {
        matches!(differing.why, Why::CalledBefore { .. } | Why::StandsFor { .. })
    };
    let is_binary = |it: &Differing| matches!(it.difference.asked, Some(Value::Binary { .. }));
    let mut lines = Vec::new();
    if !cfg!(feature = "compression") && nearest.differences.iter().any(is_binary) {
        lines.push("hint: this build compares compressed bodies byte by byte; with its".to_owned());
        lines.push("  feature `compression`, retape compares what they say".to_owned());
    }
    if nearest.differences.iter().any(|it| renames(&it) && is_drawn(it)) {
        lines.push("hint: if the client drew that from a list, and the same twice by".to_owned());
        lines.push("  chance when it was recorded, record it again".to_owned());
    }
    if nearest.differences.iter().any(|it| renames(&it)) {
        // Another name for the same thing in one run: another client, or the same that began anew.
        lines.push(
            "hint: if several tests share this cassette, give each one of its own: the".into(),
        );
        lines.push("  base address `URL/NAME/-` names it".to_owned());
        lines.push(
            "hint: a client that begins anew asks under another name (`~2` behind the".into(),
        );
        lines.push("  cassette's) or resets the run (`POST /-/retape/reset`)".to_owned());
    }
    if matches!(nearest.awaited, Some(Awaited::Asked(_))) && nearest.differences.is_empty() {
        lines.push(
            "hint: if the client is free to leave that out, say so in retape.toml:".to_owned(),
        );
        lines.push("  [match]".to_owned());
        lines.push("  early = \"given\"".to_owned());
    }
    let is_body = |it: &Differing| is_binary(it) && it.difference.at.rule().is_none();
    if !nearest.differences.is_empty() && nearest.differences.iter().all(is_body) {
        lines.push("hint: if no body of this cassette counts, say so, in retape.toml:".to_owned());
        lines.push("  [[cassette]]".to_owned());
        lines.push(format!("  name = {:?}", visible(name)));
        lines.push("  compare = \"path\"".to_owned());
    }
    lines
}

/// Whether a client may have drawn what differs from a list.
fn is_drawn(differing: &Differing) -> bool {
    let recorded = differing.difference.recorded.as_ref().and_then(Value::said);
    recorded.is_some_and(|recorded| may_coincide(&recorded))
}

/// The rules with which the differences would not count. They come last: what a client says by mistake counts.
fn rules(nearest: &Nearest) -> Vec<String> {
    let is_plain = |it: &Differing| matches!(it.why, Why::Value { comes_back: false });
    let is_any_plain = nearest.differences.iter().any(is_plain);
    let rule = |it: &Differing| match it.why {
        Why::Value { comes_back: false } => Some("ignore"),
        // Half of a hint leads to the next miss.
        Why::NotRecorded | Why::NotAsked | Why::Kind(..) if is_any_plain => Some("ignore"),
        Why::Value { comes_back: true } => Some("ids"),
        Why::Order => Some("unordered"),
        Why::CalledBefore { .. } | Why::StandsFor { .. } if is_drawn(it) => Some("ignore"),
        // That a header field counts, recording has found out by itself.
        Why::Issued { .. } | Why::Given { .. } if matches!(it.difference.at, Place::Header(_)) => {
            Some("ignore")
        }
        _ => None,
    };
    let rules = [
        ("ignore", "if it does not count, say so"),
        ("ids", "if the client makes it up, say so"),
        ("unordered", "if its order means nothing, let it not count"),
    ];
    let mut lines = Vec::new();
    for (key, when) in rules {
        let places = nearest.differences.iter().filter(|it| rule(it) == Some(key));
        let mut places: Vec<String> = places.filter_map(|it| it.difference.at.rule()).collect();
        places.sort_unstable();
        places.dedup();
        // Where so much differs, it is another request.
        if (1..=MENDED).contains(&places.len()) {
            let places: Vec<String> = places.iter().map(|place| format!("{place:?}")).collect();
            lines.push(format!("hint: {when}, in retape.toml:"));
            lines.push("  [match]".to_owned());
            lines.push(format!("  {key} = [{}]", visible(&places.join(", "))));
        }
    }
    lines
}

/// A value as it is shown: strings in quotes, with their line breaks.
fn shown(value: &Value) -> String {
    match value {
        Value::Binary { length, .. } => binary(*length),
        Value::Text(text) => text.clone(),
        Value::Json(_) if value.kind() == Some("string") => {
            format!("\"{}\"", value.said().unwrap_or_default())
        }
        Value::Json(spelled) => spelled.clone(),
    }
}

fn binary(length: usize) -> String {
    format!("{} of binary data", size(length))
}

/// Method and path in a line that fits, with what is called there if it has room: one address takes many calls.
fn question(method: &str, path: &str, call: Option<&str>) -> String {
    let line = first_line(method, path);
    let call = call.map(|call| format!(" (`{}`)", visible(call))).unwrap_or_default();
    if width(&line) + width(&call) <= COLUMNS + 4 { line + &call } else { line }
}

fn recorded_question(asking: &Asking) -> String {
    question(&asking.method, &asking.path, asking.call.as_deref())
}

/// Method and path in a line that fits.
pub(super) fn first_line(method: &str, path: &str) -> String {
    let line = visible(&format!("{method} {path}")).into_owned();
    if width(&line) <= COLUMNS + 4 {
        return line;
    }
    cut_middle(&shorten_ids(&line), COLUMNS + 4).into_owned()
}

/// A sentence without its full stop. Interactions are counted from 1 here, as people do.
fn reason(why: &Why) -> String {
    match why {
        Why::Issued { value, interaction, asked } => {
            let number = interaction + 1;
            let behind = asked.map_or_else(String::new, origin);
            format!("the server issued `{value}` in interaction {number}{behind}")
        }
        Why::Given { interaction, at } => {
            format!("the server gave the recorded one in interaction {} (`{at}`)", interaction + 1)
        }
        Why::CalledBefore { before, interaction } => {
            let first = interaction.map(|it| format!(" (first seen in interaction {})", it + 1));
            format!("this client called it `{before}` before{}", first.unwrap_or_default())
        }
        Why::StandsFor { other } => {
            format!("this client uses it already for what was recorded as `{other}`")
        }
        Why::NotRecorded => "the recording has no such field".to_owned(),
        Why::NotAsked => "missing: only the recording has it".to_owned(),
        Why::Kind(recorded, asked) => format!("{} was recorded, this is {}", a(recorded), a(asked)),
        Why::Order => "the elements are the same, in another order".to_owned(),
        Why::Value { .. } => "another value was recorded".to_owned(),
        Why::AnotherSecret => {
            "a secret; the client was given this in the place of another".to_owned()
        }
        Why::Secret => "a secret, which is not shown; another one was recorded".to_owned(),
    }
}

fn origin(of: Origin) -> String {
    let number = of.interaction + 1;
    match of.issuer {
        Issuer::Server => format!("; the asked one is what it issued in interaction {number}"),
        Issuer::Client => format!("; the asked one is the client's own, from interaction {number}"),
    }
}

fn a(kind: &str) -> String {
    match kind {
        "null" => kind.to_owned(),
        "object" | "array" => format!("an {kind}"),
        kind => format!("a {kind}"),
    }
}

/// A request that nothing recorded answers and that no live server is asked.
#[derive(Debug)]
#[non_exhaustive]
pub struct Withheld<'a> {
    /// The cassette and how many interactions it has.
    pub cassette: (&'a str, usize),
    /// Method and path.
    pub asked: (&'a str, &'a str),
    /// What only the recording knows.
    pub text: &'a str,
    /// The interaction that it comes from, counted from 0; `None` if it stands for a secret.
    pub interaction: Option<usize>,
    /// The live servers.
    pub servers: &'a Origins,
}

/// Explains it, and says how the cassette is recorded anew.
pub fn withheld(request: &Withheld<'_>, rerun: &Rerun) -> String {
    let Withheld { cassette: (name, recorded), asked: (method, path), text, .. } = request;
    let of = count(*recorded, "interaction");
    let why = match request.interaction {
        Some(number) => format!("since only interaction {} of the recording issued it", number + 1),
        None => "since it stands for a secret in the recording".to_owned(),
    };
    let again = match recorded {
        0 => "record this again together with what says it:",
        _ => "record the whole cassette again:",
    };
    let mut lines = vec![
        format!("`{name}` ({of}) has no answer to"),
        format!("  {}", first_line(method, path)),
        "and it was not sent to the live server, which does not know".to_owned(),
        format!("  {}", visible(text)),
        why,
        format!("hint: {again}"),
    ];
    let steps = rerun.steps(request.servers, name);
    lines.extend(steps.iter().map(|step| format!("  {}", visible(step))));
    lines.join("\n")
}

/// Explains a request whose cassette cannot be opened: why that is, with its hints, and what was asked.
pub fn unopened(why: &str, (method, path): (&str, &str)) -> String {
    let (why, hint) = why.split_once("\nhint: ").unwrap_or((why, ""));
    let asked = format!("  {}", first_line(method, path));
    let mut lines = vec![why.to_owned(), "so there is no answer to".to_owned(), asked];
    lines.extend(Some(hint).filter(|hint| !hint.is_empty()).map(|hint| format!("hint: {hint}")));
    lines.join("\n")
}

/// A message that a client has sent over a WebSocket when it was recorded, and did not now.
#[non_exhaustive]
pub struct Unsent<'a> {
    /// The cassette.
    pub cassette: &'a str,
    /// The interaction, counted from 0, and what it asked for.
    pub socket: (usize, &'a str),
    /// The frame, counted from 0, and what it says.
    pub frame: (usize, &'a str),
    /// How long it was waited for.
    pub waited: Duration,
    /// The live servers.
    pub servers: &'a Origins,
}

/// So much of a message is shown.
const MESSAGE_SHOWN: usize = 600;

/// Explains it, and says what to do next.
pub fn unsent(unsent: &Unsent<'_>, rerun: &Rerun) -> String {
    let Unsent { cassette, socket: (interaction, path), frame: (number, message), .. } = unsent;
    let text: String = message.chars().take(MESSAGE_SHOWN).collect();
    let mut lines = vec![
        format!("`{cassette}` waits for a message that the client did not send"),
        format!("  {}", first_line(MESSAGE, path)),
        format!(
            "frame {} of interaction {}; what comes next was recorded behind it:",
            number + 1,
            interaction + 1
        ),
    ];
    lines.extend(wrap(&visible(&text), COLUMNS, 4).iter().map(|line| format!("  {line}")));
    lines.push(format!("waited {} s, while the client said nothing", unsent.waited.as_secs()));
    lines.push("hint: if the client is free to leave it out, say so in retape.toml:".to_owned());
    lines.push("  [match]".to_owned());
    // What stands in a query may be another ticket each time.
    let path = path.split('?').next().unwrap_or_default();
    let protocols = Protocols::default();
    let of_type =
        protocols.said_type(message).filter(|(_, word)| !word.contains(char::is_whitespace));
    let of_type = of_type.map_or_else(String::new, |(at, word)| format!(" {at}={word}"));
    lines.push(format!("  optional = [{:?}]", visible(&format!("{MESSAGE} {path}{of_type}"))));
    lines.push("hint: if the client is meant not to send it, record it again:".to_owned());
    let steps = rerun.steps(unsent.servers, cassette);
    lines.extend(steps.iter().map(|step| format!("  {}", visible(step))));
    lines.join("\n")
}

/// A difference as it is told.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Differs {
    /// Where: `/approvals/0/tool_call_id`, `query.limit`, `header.accept`, `path.3` …
    pub at: Place,
    /// What was recorded there, if anything was.
    pub recorded: Option<Value>,
    /// What is asked there, if anything is.
    pub asked: Option<Value>,
    /// Why that counts.
    pub why: String,
}

/// Longer values are cut, and given as texts then.
const LONGEST: usize = 2000;

impl Differs {
    /// What a mismatch tells, difference by difference.
    pub(crate) fn all(mismatch: &Mismatch) -> Vec<Self> {
        let differences = mismatch.nearest.iter().flat_map(|nearest| &nearest.differences);
        differences
            .map(|Differing { difference, why }| Self {
                at: difference.at.clone(),
                recorded: difference.recorded.clone(),
                asked: difference.asked.clone(),
                why: reason(why),
            })
            .collect()
    }

    /// `{"at", "recorded", "asked", "why"}`; a value that there is none of is left out.
    pub(crate) fn to_json(&self) -> Json {
        let mut told = json!({"at": self.at.to_string()});
        for (name, value) in [("recorded", &self.recorded), ("asked", &self.asked)] {
            if let Some(value) = value {
                told[name] = value_to_json(value);
            }
        }
        told["why"] = Json::from(&*self.why);
        told
    }
}

/// `{"interaction", "method", "path"}`, counted from 1 as people do, and of a message `frame`.
pub(crate) fn asking_to_json(asking: &Asking) -> Json {
    let mut told = json!({
        "interaction": asking.interaction + 1,
        "method": asking.method,
        "path": asking.path,
    });
    if let Some(frame) = asking.frame {
        told["frame"] = Json::from(frame + 1);
    }
    told
}

fn value_to_json(value: &Value) -> Json {
    let short = |text: &str| Json::from(cut(text, LONGEST));
    match value {
        Value::Text(text) => short(text),
        // A number that is too large for others stays as it is spelled.
        Value::Json(spelled) if spelled.len() <= LONGEST => {
            serde_json::from_str(spelled).unwrap_or_else(|_| short(spelled))
        }
        Value::Json(spelled) => short(spelled),
        Value::Binary { length, .. } => json!({"bytes": length}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rule_that_lets_a_message_be_left_out_names_its_type() {
        for (message, rule) in [
            (r#"{"type": "cancel", "id": 7}"#, "SEND /ws /type=cancel"),
            (
                r#"{"jsonrpc": "2.0", "method": "session/cancel"}"#,
                "SEND /ws /method=session/cancel",
            ),
            (r#"{"type": "two words"}"#, "SEND /ws"),
            ("420[\"join\"]", "SEND /ws"),
        ] {
            let told = Unsent {
                cassette: "tape",
                socket: (0, "/ws?ticket=1"),
                frame: (3, message),
                waited: Duration::from_secs(1),
                servers: &Origins::default(),
            };

            let told = unsent(&told, &Rerun::Line("again".to_owned()));

            assert!(told.contains(&format!("  optional = [{rule:?}]\n")), "{told}");
            rule.parse::<crate::config::Optional>().expect("it can be read");
        }
    }
}
