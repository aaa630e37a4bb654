//! The bodies of an interaction in full.

use super::line::visible;
use super::page::Page;
use super::style::Style;
use super::{pretty, unit};
use crate::cassette::{Interaction, Response};
use crate::message::{Framing, Messages, Protocols};

impl Page {
    /// The request's body and the answer's; of a stream each message on a line.
    pub(super) fn bodies(&self, protocols: &Protocols, interaction: &Interaction) -> Vec<String> {
        let mut lines = self.body("request", &interaction.request.readable());
        if let Some(response) = interaction.response() {
            let messages = Messages::of(response, protocols);
            lines.extend(match messages.framing {
                Framing::EventStream | Framing::Lines => self.stream(response, &messages),
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
            let time = self.paint(Style::Dim, &format!("{:>9}", unit::time(message.ms)));
            let name = match &message.event {
                Some(event) => self.paint(Style::Cyan, &format!("{}: ", visible(event))),
                None if message.is_keep_alive() && !message.tag.is_named() => ": ".to_owned(),
                None => String::new(),
            };
            lines.push(self.inside(&format!("{time}  {name}{}", visible(&message.data))));
        }
        if let Some(rest) = messages.rest.clone() {
            let body = response.readable().bytes();
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
