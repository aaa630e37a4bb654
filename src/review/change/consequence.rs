//! What a change that breaks clients does to one.

use super::rule::Rule;

/// Which client breaks, and how, in a few words; nothing where the sentence about the change says it.
pub(super) fn consequence(rule: Rule) -> &'static str {
    match rule {
        Rule::StatusNew => "a client that looks for the status it knew takes it for another answer",
        Rule::MediaNew => "a client that reads the one is given the other",
        Rule::OrderEndNew => "a client that waits for it waits for ever",
        Rule::OrderMissing => "a client that relies on it lacks it",
        Rule::OrderNextNew | Rule::OrderStartNew => {
            "a client that goes by the order meets it where it expects another message"
        }
        Rule::OrderSwapped => {
            "it was the other way round until now; a client that goes by the order breaks"
        }
        Rule::OrderApart => {
            "a client that puts the parts of a message together mixes it with others"
        }
        Rule::TagNew => "a client that refuses types of messages it does not know fails",
        Rule::FieldMissing => "a client that reads it finds nothing there",
        Rule::TypeNew => "a client that reads it as what it was fails",
        Rule::ValueNew | Rule::FormatNew => {
            "a client that knows what it can say meets another value"
        }
        Rule::KindNew => "a client that takes the kinds it knows meets another one",
        Rule::ShapeWider => "a client that takes what it knows meets something else",
        Rule::InvariantBroken => "a client that goes by it takes one thing for another",
        Rule::RequestRefused => "a client that asks so gets no answer any more",
        _ => "",
    }
}
