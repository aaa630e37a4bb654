//! A cassette as a text to be read by a person.

use super::gist::Gist;
use super::line::{
    RESET, Style, cut, cut_middle, pad, pad_left, shorten_ids, visible, width, wrap,
};
use super::summary::{AnswerSummary, InteractionSummary, MessageSummary, Role, Summary};
use super::{Colour, line};
use crate::cassette::{Cassette, Interaction, Number, Recorded, Response};
use crate::config::{Key, Rules};
use crate::message::{Messages, Protocols};
use crate::text::json::{Indent, Layout, Text};
use crate::text::plain;

/// How a cassette is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShowOptions {
    /// How many columns a line may take; less than 60 counts as 60.
    pub width: usize,
    /// Whether it is coloured.
    pub colour: Colour,
    /// How much is shown.
    pub detail: Detail,
}

/// How much of a cassette is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Detail {
    /// What was asked, what came back, in what order and when.
    #[default]
    Summary,
    /// The bodies as well.
    Bodies,
}

impl Default for ShowOptions {
    fn default() -> Self {
        Self { width: 100, colour: Colour::Plain, detail: Detail::Summary }
    }
}

/// Shows a cassette: where it comes from, then each interaction with what was asked and what came
/// back. Interactions are counted from 1.
///
/// # Example: a cassette in which nothing was recorded
///
/// ```
/// use retape::Cassette;
/// use retape::review::report::{ShowOptions, show};
///
/// let shown = show("letta/first", &Cassette::default(), ShowOptions::default());
///
/// assert!(shown.starts_with("letta/first\n"));
/// assert!(shown.contains("0 interactions"));
/// ```
pub fn show(name: &str, cassette: &Cassette, options: ShowOptions) -> String {
    show_by(&Protocols::default(), name, cassette, options)
}

/// The same with other protocols than those that retape knows.
pub fn show_by(
    protocols: &Protocols,
    name: &str,
    cassette: &Cassette,
    options: ShowOptions,
) -> String {
    let cassette = &cassette.clone().by_message();
    // As the contract of this cassette would tell messages apart.
    #[cfg(feature = "review")]
    let protocols = {
        let traffic = crate::contract::Traffic::of_one(protocols, cassette);
        move |number| traffic.protocols_of(0, number)
    };
    #[cfg(not(feature = "review"))]
    let protocols = |_| protocols.clone();
    let summary = Summary::of(&protocols, cassette);
    let numbers: Vec<String> =
        (0..summary.rows.len()).map(|place| cassette.number(place).to_string()).collect();
    let columns = Columns::new(&summary, &numbers, options);
    let mut lines = columns.head(name, cassette, &summary);
    let mut before = usize::MAX;
    for (place, row) in summary.rows.iter().enumerate() {
        let mut block = columns.row(&numbers[place], row);
        if options.detail == Detail::Bodies {
            block.extend(columns.bodies(&protocols(place), &cassette.interactions[place]));
        }
        // Interactions of one line each stand close together.
        if before.max(block.len()) > 1 {
            lines.push(String::new());
        }
        before = block.len();
        lines.append(&mut block);
    }
    let lines: Vec<String> = lines.iter().map(|line| tidy(line)).collect();
    lines.join("\n") + "\n"
}

/// A line without white space at its end, coloured or not.
fn tidy(line: &str) -> String {
    match line.strip_suffix(RESET) {
        Some(text) => format!("{}{RESET}", text.trim_end()),
        None => line.trim_end().to_owned(),
    }
}

/// A trace of more steps than this is told by types alone.
const MOST_STEPS: usize = 24;

/// The widest column of types.
const WIDEST_TYPE: usize = 44;

/// How many lines an error may take.
const ERROR: usize = 4;

/// The columns of a cassette's text.
struct Columns {
    options: ShowOptions,
    number: usize,
    method: usize,
    path: usize,
    /// The most that a path can take.
    room: usize,
    body: usize,
    time: usize,
    /// How a path is shown: with all of its ids, or with short ones.
    shown: fn(&str) -> String,
}

impl Columns {
    fn new(summary: &Summary, numbers: &[String], options: ShowOptions) -> Self {
        let rows = &summary.rows;
        let longest =
            |of: &dyn Fn(&InteractionSummary) -> usize| rows.iter().map(of).max().unwrap_or(0);
        let answered =
            |of: fn(&AnswerSummary) -> usize| longest(&|row| row.answer.as_ref().map_or(0, of));
        let mut columns = Self {
            options: ShowOptions { width: options.width.max(60), ..options },
            number: numbers.iter().map(String::len).max().unwrap_or(1),
            method: longest(&|row| width(&visible(&row.method))).min(7),
            path: 0,
            room: 0,
            body: answered(|it| width(&it.body)).min(24),
            time: answered(|it| width(&line::time(it.ms))),
            shown: str::to_owned,
        };
        let fixed =
            columns.number + columns.method + columns.body + columns.time + "    000    ".len();
        columns.room = columns.options.width.saturating_sub(fixed);
        if longest(&|row| width(&visible(&row.path))) > columns.room {
            columns.shown = shorten_ids;
        }
        columns.path = longest(&|row| width(&columns.path_of(row).0)).min(columns.room);
        columns
    }

    /// Where the cassette comes from and what is in it.
    fn head(&self, name: &str, cassette: &Cassette, summary: &Summary) -> Vec<String> {
        let numbers: Vec<Number> =
            (0..summary.rows.len()).map(|place| cassette.number(place)).collect();
        let sent = numbers.iter().filter(|number| number.message.is_some()).count();
        let mut counts = vec![line::count(numbers.len() - sent, "interaction")];
        if sent > 0 {
            counts.push(format!("{} sent", line::count(sent, "message")));
        }
        if summary.streams > 0 {
            let messages = line::count(summary.messages, "message");
            counts.push(format!("{} with {messages}", line::count(summary.streams, "stream")));
        }
        if !cassette.redactions.is_empty() {
            counts.push(format!("redacted by {}", cassette.redactions.join(", ")));
        }
        let mut lines = vec![self.paint(Style::Bold, &visible(name))];
        let told = [origin(&cassette.recorded), counts.join(" · ")];
        for told in told.iter().filter(|told| !told.is_empty()) {
            lines.push(self.paint(Style::Dim, &cut(&visible(told), self.options.width)));
        }
        let said = rule_lines(&cassette.rules);
        for line in said.iter().flat_map(|line| wrap(line, self.options.width, usize::MAX)) {
            lines.push(self.paint(Style::Cyan, &line));
        }
        if cassette.interrupted {
            let told = "! the recorder was stopped before it had finished: the end may be missing";
            lines.push(self.paint(Style::Yellow, &cut(told, self.options.width)));
        }
        lines
    }

    /// An interaction without its bodies.
    fn row(&self, number: &str, row: &InteractionSummary) -> Vec<String> {
        let (path, query) = self.path_of(row);
        let mut lines = vec![self.first_line(number, row, &path)];
        if let Some(query) = query {
            lines.extend(self.hang(&self.lead(Style::Dim, "?"), Style::Dim, &query, 2));
        }
        if let Some(gist) = &row.asked {
            let arrow = self.lead(Style::Blue, "→");
            lines.extend(self.said(&arrow, Style::Plain, gist, 2));
        }
        if let Some(answer) = &row.answer {
            lines.extend(self.answer(answer));
        }
        for note in &row.notes {
            let mark = self.lead(Style::Yellow, "!");
            lines.extend(self.hang(&mark, Style::Yellow, note, 3));
        }
        lines
    }

    fn first_line(&self, number: &str, row: &InteractionSummary, path: &str) -> String {
        let (status, style, body, time) = match &row.answer {
            Some(answer) => {
                let status = answer.status.to_string();
                (status, status_style(answer.status), answer.body.as_str(), line::time(answer.ms))
            }
            None => ("---".to_owned(), Style::Red, "", String::new()),
        };
        let method = visible(&row.method);
        let line = format!(
            "{} {} {}  {}  {}  {}",
            self.paint(Style::Bold, &pad_left(number, self.number)),
            self.paint(Style::Bold, &pad(&cut(&method, self.method), self.method)),
            pad(&cut_middle(path, self.path), self.path),
            self.paint(style, &status),
            pad(&cut(&visible(body), self.body), self.body),
            self.paint(Style::Dim, &pad_left(&time, self.time)),
        );
        line.trim_end().to_owned()
    }

    /// A gist behind what leads the line; in short if it is JSON that does not fit.
    fn said(&self, lead: &Lead, style: Style, gist: &Gist, most: usize) -> Vec<String> {
        let full = gist.to_string();
        let room = self.options.width.saturating_sub(lead.width);
        match &gist.outline {
            Some(outline) if width(&full) > room => self.hang(lead, style, &visible(outline), 1),
            _ => self.hang(lead, style, &full, most),
        }
    }

    /// A text behind what leads its first line; further lines hang below its beginning.
    fn hang(&self, lead: &Lead, style: Style, text: &str, most: usize) -> Vec<String> {
        let room = self.options.width.saturating_sub(lead.width);
        let parts = wrap(text, room, most);
        let line = |(place, part): (usize, &std::borrow::Cow<'_, str>)| {
            let before = if place == 0 { lead.text.clone() } else { " ".repeat(lead.width) };
            format!("{before}{}", self.paint(style, part)).trim_end().to_owned()
        };
        parts.iter().enumerate().map(line).collect()
    }

    /// The indent of all but the first line of an interaction, and a mark.
    fn lead(&self, style: Style, mark: &str) -> Lead {
        let indent = " ".repeat(self.number + 1);
        let width = indent.len() + width(mark) + 1;
        Lead { text: format!("{indent}{} ", self.paint(style, mark)), width }
    }

    fn paint(&self, style: Style, text: &str) -> String {
        self.options.colour.paint(style, text)
    }

    /// The path, and its query if that has to stand on a line of its own.
    fn path_of(&self, row: &InteractionSummary) -> (String, Option<String>) {
        let path = (self.shown)(&visible(&row.path));
        match path.split_once('?') {
            Some((before, query)) if width(&path) > self.room => {
                (format!("{before}?…"), Some(query.to_owned()))
            }
            _ => (path, None),
        }
    }
}

/// What came back, and the bodies in full.
impl Columns {
    fn answer(&self, answer: &AnswerSummary) -> Vec<String> {
        let arrow = self.lead(Style::Green, "←");
        match &answer.gist {
            Some(gist) if answer.status >= 400 => {
                self.said(&arrow, status_style(answer.status), gist, ERROR)
            }
            Some(gist) => self.said(&arrow, Style::Dim, gist, 1),
            None => self.trace(answer),
        }
    }

    fn trace(&self, answer: &AnswerSummary) -> Vec<String> {
        let mut lines = Vec::new();
        let is_long = answer.lines.len() > MOST_STEPS;
        if is_long {
            lines = self.types(&answer.lines);
        }
        let steps = answer.lines.iter().filter(|line| !is_long || line.role == Role::Error);
        lines.extend(self.steps(&steps.collect::<Vec<_>>()));
        if answer.keep_alives > 0 {
            let aside = format!("+ {}", line::count(answer.keep_alives, "keep-alive"));
            let aside = self.paint(Style::Dim, &aside);
            match (lines.last_mut(), answer.lines.last()) {
                (Some(line), Some(last)) if last.role == Role::Done => {
                    *line = format!("{line}  {aside}");
                }
                _ => lines.push(format!("{}{aside}", self.arrow(lines.len()).text)),
            }
        }
        lines
    }

    /// A line for each message: when, what type, what it says.
    fn steps(&self, steps: &[&MessageSummary]) -> Vec<String> {
        let longest = |of: &dyn Fn(&MessageSummary) -> usize| {
            steps.iter().map(|it| of(it)).max().unwrap_or(0)
        };
        let times = longest(&|line| width(&time(line)));
        let types = longest(&|line| width(&typed(line))).min(WIDEST_TYPE);
        let mut lines = Vec::new();
        for step in steps {
            let (style, said, most) = match step.role {
                Role::Content => (Style::Cyan, Style::Plain, 1),
                Role::Error => (Style::Red, Style::Red, ERROR),
                Role::Done => (Style::Dim, Style::Dim, 1),
            };
            let mut lead = self.arrow(lines.len());
            if times > 0 {
                lead = lead.and(self, Style::Dim, &pad_left(&time(step), times));
            }
            lead = lead.and(self, style, &pad(&cut(&typed(step), types), types));
            lines.extend(self.said(&lead, said, &step.gist, most));
        }
        lines
    }

    /// The types alone, as many to a line as fit.
    fn types(&self, steps: &[MessageSummary]) -> Vec<String> {
        let room = self.options.width.saturating_sub(self.arrow(0).width);
        let mut lines: Vec<String> = Vec::new();
        let mut used = room;
        for kind in steps.iter().map(typed) {
            let kind = cut(&kind, room);
            let (columns, kind) = (width(&kind), self.paint(Style::Cyan, &kind));
            match lines.last_mut() {
                Some(line) if used + 3 + columns <= room => {
                    used += 3 + columns;
                    line.push_str(&format!(" · {kind}"));
                }
                _ => {
                    used = columns;
                    lines.push(format!("{}{kind}", self.arrow(lines.len()).text));
                }
            }
        }
        lines
    }

    /// The arrow stands on the first line only.
    fn arrow(&self, place: usize) -> Lead {
        self.lead(Style::Green, if place == 0 { "←" } else { " " })
    }

    /// The request's body and the answer's; of a stream each message on a line.
    fn bodies(&self, protocols: &Protocols, interaction: &Interaction) -> Vec<String> {
        let mut lines = self.body("request", &interaction.request.readable());
        if let Some(response) = interaction.response() {
            let messages = Messages::of(response, protocols);
            lines.extend(match messages.framing {
                framing if framing.is_stream() => self.stream(response, &messages),
                _ => self.body("response", &response.readable().bytes()),
            });
        }
        lines
    }

    fn body(&self, what: &str, bytes: &[u8]) -> Vec<String> {
        if bytes.is_empty() {
            return Vec::new();
        }
        let mut lines = vec![self.title(what)];
        lines.extend(pretty(bytes).lines().map(|line| self.inside(&visible(line))));
        lines
    }

    fn stream(&self, response: &Response, messages: &Messages) -> Vec<String> {
        let mut lines = vec![self.title("response")];
        for message in &messages.list {
            let time = self.paint(Style::Dim, &format!("{:>9}", line::time(message.ms)));
            let name = match &message.event {
                Some(event) => self.paint(Style::Cyan, &format!("{}: ", visible(event))),
                None if message.is_keep_alive() && !message.tag.is_named() => ": ".to_owned(),
                None => String::new(),
            };
            lines.push(self.inside(&format!("{time}  {name}{}", visible(&message.data))));
        }
        if let Some(rest) = messages.rest.clone() {
            let body = response.decoded().bytes();
            let rest = String::from_utf8_lossy(&body[rest]).into_owned();
            let mark = self.paint(Style::Yellow, "unfinished");
            lines.push(self.inside(&format!("{mark} {}", visible(&rest))));
        }
        lines
    }

    fn title(&self, what: &str) -> String {
        self.inside(&self.paint(Style::Bold, what))
    }

    fn inside(&self, line: &str) -> String {
        format!("{}{line}", " ".repeat(self.lead(Style::Plain, " ").width)).trim_end().to_owned()
    }
}

/// When it was recorded and where from, as far as that is known.
fn origin(recorded: &Recorded) -> String {
    let server = recorded.server.as_deref().unwrap_or_default();
    let parts =
        [("recorded ", recorded.at.as_str()), ("from ", &recorded.upstream), ("· ", server)];
    let known = parts.iter().filter(|(_, what)| !what.is_empty());
    let told: Vec<String> = known.map(|(before, what)| format!("{before}{what}")).collect();
    told.join(" ")
}

/// What stands at the beginning of a line, coloured or not.
struct Lead {
    text: String,
    /// How many columns it takes.
    width: usize,
}

impl Lead {
    /// Adds a column to it.
    fn and(mut self, columns: &Columns, style: Style, text: &str) -> Self {
        self.text.push_str(&format!("{}  ", columns.paint(style, text)));
        self.width += width(text) + 2;
        self
    }
}

const fn status_style(status: u16) -> Style {
    match status {
        0..300 => Style::Green,
        300..400 => Style::Cyan,
        400..500 => Style::Yellow,
        _ => Style::Red,
    }
}

fn time(line: &MessageSummary) -> String {
    line.ms.map_or_else(String::new, |(first, last)| line::span(first, last))
}

fn typed(line: &MessageSummary) -> String {
    let tag = visible(line.tag.as_str());
    match line.count {
        1 => tag.into_owned(),
        count => format!("{tag} ×{count}"),
    }
}

/// A line for each key, in the words of `retape.toml`.
fn rule_lines(rules: &Rules) -> Vec<String> {
    let words = rules.words().map(|(key, word)| (key, format!("{word:?}")));
    let lists = rules.lists().map(|(key, list)| (key, format!("{list:?}")));
    let patterns = rules.patterns().iter().flat_map(|pattern| {
        let at = pattern.at().as_str();
        pattern.expressions().map(move |regex| format!("{{ at = {at:?}, regex = {regex:?} }}"))
    });
    let patterns: Vec<String> = patterns.collect();
    let patterns =
        (!patterns.is_empty()).then(|| (Key::Patterns, format!("[{}]", patterns.join(", "))));
    let told = words.chain(lists).chain(patterns);
    told.map(|(key, value)| visible(&format!("{} = {value}", key.as_str())).into_owned()).collect()
}

/// More levels than these are not broken up: indentation alone would be the square of them.
const DEEPEST: usize = 100;

/// A body as text: JSON with an indent of 2 and every value spelled as it came, other text as it is,
/// and of anything else its size and first bytes.
pub fn pretty(bytes: &[u8]) -> String {
    if let Some(json) = Text::parse(bytes).filter(|json| json.levels() <= DEEPEST) {
        let mut out = String::with_capacity(bytes.len() * 2);
        Layout::Indented(Indent::Spaces(2)).write(json, &mut out);
        return out;
    }
    match plain::text(bytes) {
        Some(text) => text.to_owned(),
        None => {
            let first: Vec<String> = bytes.iter().take(8).map(|it| format!("{it:02x}")).collect();
            format!("[{} of binary data, beginning {}]", line::size(bytes.len()), first.join(" "))
        }
    }
}
