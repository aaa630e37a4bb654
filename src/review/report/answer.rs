//! What came back.

use super::line::{cut, pad, pad_left, visible, width};
use super::page::{Lead, Lines, Page, status_style};
use super::style::Style;
use super::summary::{Answer, Line, Role};
use super::unit;

/// A trace of more steps than this is told by types alone.
const MOST_STEPS: usize = 24;

/// The widest column of types.
const WIDEST_TYPE: usize = 44;

/// How many lines an error may take.
const ERROR: Lines = Lines(4);

impl Page {
    pub(super) fn answer(&self, answer: &Answer) -> Vec<String> {
        let arrow = self.lead(Style::Green, "←");
        match &answer.gist {
            Some(gist) if answer.status >= 400 => {
                self.said(&arrow, status_style(answer.status), gist, ERROR)
            }
            Some(gist) => self.said(&arrow, Style::Dim, gist, Lines(1)),
            None => self.trace(answer),
        }
    }

    fn trace(&self, answer: &Answer) -> Vec<String> {
        let mut lines = match answer.lines.len() {
            0..=MOST_STEPS => self.steps(&answer.lines),
            _ => self.types(&answer.lines),
        };
        if answer.lines.len() > MOST_STEPS {
            let errors = answer.lines.iter().filter(|line| line.role == Role::Error);
            lines.extend(self.steps(&errors.cloned().collect::<Vec<_>>()));
        }
        if answer.keep_alives > 0 {
            let aside = format!("+ {}", unit::count(answer.keep_alives, "keep-alive"));
            let aside = self.paint(Style::Dim, &aside);
            match (lines.last_mut(), answer.lines.last()) {
                (Some(line), Some(last)) if last.role == Role::Done => {
                    *line = format!("{line}  {aside}");
                }
                _ => lines.push(self.arrow(lines.len()).and(&aside, 0).text),
            }
        }
        lines
    }

    /// A line for each message: when, what type, what it says.
    fn steps(&self, steps: &[Line]) -> Vec<String> {
        let longest = |of: &dyn Fn(&Line) -> usize| steps.iter().map(of).max().unwrap_or(0);
        let times = longest(&|line| width(&time(line)));
        let types = longest(&|line| width(&typed(line))).min(WIDEST_TYPE);
        let mut lines = Vec::new();
        for step in steps {
            let (style, said, most) = match step.role {
                Role::Content => (Style::Cyan, Style::Plain, Lines(1)),
                Role::Error => (Style::Red, Style::Red, ERROR),
                Role::Done => (Style::Dim, Style::Dim, Lines(1)),
            };
            let mut lead = self.arrow(lines.len());
            if times > 0 {
                let time = format!("{}  ", pad_left(&time(step), times));
                lead = lead.and(&self.paint(Style::Dim, &time), times + 2);
            }
            let kind = pad(&cut(&typed(step), types), types);
            lead = lead.and(&format!("{}  ", self.paint(style, &kind)), types + 2);
            lines.extend(self.said(&lead, said, &step.gist, most));
        }
        lines
    }

    /// The types alone, as many to a line as fit.
    fn types(&self, steps: &[Line]) -> Vec<String> {
        let room = self.options.width.saturating_sub(self.arrow(0).width);
        let mut lines: Vec<(usize, Vec<String>)> = Vec::new();
        for kind in steps.iter().map(typed) {
            let kind = cut(&kind, room);
            let (columns, kind) = (width(&kind), self.paint(Style::Cyan, &kind));
            match lines.last_mut() {
                Some((used, line)) if *used + 3 + columns <= room => {
                    *used += 3 + columns;
                    line.push(kind);
                }
                _ => lines.push((columns, vec![kind])),
            }
        }
        let line = |(place, (_, kinds)): (usize, &(usize, Vec<String>))| {
            format!("{}{}", self.arrow(place).text, kinds.join(" · "))
        };
        lines.iter().enumerate().map(line).collect()
    }

    /// The arrow stands on the first line only.
    fn arrow(&self, place: usize) -> Lead {
        self.lead(Style::Green, if place == 0 { "←" } else { " " })
    }
}

fn time(line: &Line) -> String {
    line.ms.map_or_else(String::new, |(first, last)| unit::span(first, last))
}

fn typed(line: &Line) -> String {
    let tag = visible(line.tag.as_str());
    match line.count {
        1 => tag.into_owned(),
        count => format!("{tag} ×{count}"),
    }
}
