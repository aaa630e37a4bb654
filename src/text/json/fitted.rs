//! The layout of our own: on one line what fits there.

use super::{Text, Token};

/// How wide a line may become before a container is broken up.
const WIDTH: usize = 100;

/// How many levels are broken up: below that, indentation alone would fill the line.
const DEEPEST: usize = 24;

/// Where a text begins.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Margin {
    /// How many characters stand before it on its line.
    pub(crate) column: usize,
    /// How many levels of two spaces its line is indented by.
    pub(crate) depth: usize,
}

/// Writes the tokens of `text` to be read: a container stands on one line if it fits there, else its
/// members have a line each, and numbers fill the lines.
pub(crate) fn fitted(text: Text<'_>, margin: Margin, out: &mut String) {
    let mut fitting = Fitting {
        out,
        column: margin.column,
        depth: margin.depth,
        deepest: margin.depth + DEEPEST,
        spreads: Vec::new(),
    };
    let mut containers = measure(text).into_iter();
    for token in text.tokens() {
        match token {
            Token::Open(bracket) => {
                fitting.open(bracket.opening(), containers.next().unwrap_or_default());
            }
            Token::Close(bracket) => fitting.close(bracket.closing()),
            Token::Comma => fitting.comma(),
            Token::Colon => fitting.push(": "),
            Token::String(spelled) | Token::Scalar(spelled) => fitting.push(spelled),
        }
    }
}

/// How a container is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Spread {
    Line,
    Filled,
    Broken,
}

/// What is known of a container before it is laid out.
#[derive(Debug, Clone, Copy, Default)]
struct Measure {
    /// Its width in characters on one line.
    width: usize,
    /// Whether it holds anything but numbers and the like.
    varied: bool,
}

/// Measures the containers, in the order in which they open.
fn measure(text: Text<'_>) -> Vec<Measure> {
    let mut measures: Vec<Measure> = Vec::new();
    let mut open: Vec<(usize, usize)> = Vec::new();
    let mut width = 0;
    for token in text.tokens() {
        if !matches!(token, Token::Scalar(_) | Token::Comma | Token::Close(_))
            && let Some((index, _)) = open.last()
        {
            measures[*index].varied = true;
        }
        match token {
            Token::Open(_) => {
                open.push((measures.len(), width));
                measures.push(Measure::default());
                width += 1;
            }
            Token::Close(_) => {
                width += 1;
                if let Some((index, start)) = open.pop() {
                    measures[index].width = width - start;
                }
            }
            Token::Comma | Token::Colon => width += 2,
            Token::String(spelled) | Token::Scalar(spelled) => width += columns(spelled),
        }
    }
    measures
}

fn columns(spelled: &str) -> usize {
    spelled.chars().count()
}

struct Fitting<'o> {
    out: &'o mut String,
    column: usize,
    depth: usize,
    deepest: usize,
    spreads: Vec<Spread>,
}

impl Fitting<'_> {
    fn open(&mut self, bracket: &str, measure: Measure) {
        let fits = self.column + measure.width <= WIDTH || measure.width == 2;
        let spread = if fits || self.depth >= self.deepest {
            Spread::Line
        } else if measure.varied {
            Spread::Broken
        } else {
            Spread::Filled
        };
        self.push(bracket);
        self.spreads.push(spread);
        if spread != Spread::Line {
            self.depth += 1;
            self.line();
        }
    }

    fn close(&mut self, bracket: &str) {
        if self.spreads.pop() != Some(Spread::Line) {
            self.depth -= 1;
            self.line();
        }
        self.push(bracket);
    }

    fn comma(&mut self) {
        match self.spreads.last() {
            Some(Spread::Broken) => {
                self.push(",");
                self.line();
            }
            _ => self.push(", "),
        }
    }

    fn push(&mut self, spelled: &str) {
        let width = columns(spelled);
        let fills = self.spreads.last() == Some(&Spread::Filled);
        if fills && self.column + width >= WIDTH && self.out.ends_with(' ') {
            self.out.truncate(self.out.trim_end_matches(' ').len());
            self.line();
        }
        self.out.push_str(spelled);
        self.column += width;
    }

    fn line(&mut self) {
        self.out.push('\n');
        self.column = 2 * self.depth;
        self.out.extend(std::iter::repeat_n(' ', self.column));
    }
}
