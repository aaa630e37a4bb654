//! A promise that says less.

use super::format::Format;
use super::schema::{Fields, Object, Schema, Text};

/// Whether somebody has made up a string, or mints what has this prefix.
#[derive(Clone, Copy)]
struct MadeUp<'a> {
    word: &'a dyn Fn(&str) -> bool,
    prefix: &'a dyn Fn(&str) -> bool,
}

impl Schema {
    /// The same where strings that somebody has made up are any string: enums and constants in which
    /// such a word stands, and what was minted behind such a prefix. What tells objects apart stays.
    #[must_use]
    pub(crate) fn loosened(
        mut self,
        word: &dyn Fn(&str) -> bool,
        prefix: &dyn Fn(&str) -> bool,
    ) -> Self {
        self.loosen(MadeUp { word, prefix });
        self
    }

    /// Whether it is of objects only, which one field tells apart.
    pub(crate) fn is_union(&self) -> bool {
        let alone = Self { object: self.object.clone(), ..Self::default() };
        *self == alone && matches!(self.object.as_deref(), Some(Object::Union(_)))
    }

    fn loosen(&mut self, made_up: MadeUp<'_>) {
        if self.string.as_ref().is_some_and(|text| made_up.is_in(text)) {
            self.string = Some(Text::Any);
        }
        if let Some(elements) = &mut self.array {
            elements.loosen(made_up);
        }
        if let Some(object) = &mut self.object {
            object.loosen(made_up);
        }
    }
}

impl MadeUp<'_> {
    fn is_in(self, text: &Text) -> bool {
        let minted = |format: &Format| match format {
            Format::Prefixed(prefix) => (self.prefix)(prefix),
            _ => false,
        };
        match text {
            Text::Any => false,
            Text::Open(values) => values.iter().any(|value| (self.word)(value)),
            Text::Of(formats, values) => {
                formats.iter().any(minted) || values.iter().any(|value| (self.word)(value))
            }
        }
    }
}

impl Object {
    fn loosen(&mut self, made_up: MadeUp<'_>) {
        match self {
            Self::Plain(fields) => fields.loosen(made_up),
            Self::Union(union) => {
                union.branches.values_mut().for_each(|branch| branch.loosen(made_up));
            }
        }
    }
}

impl Fields {
    fn loosen(&mut self, made_up: MadeUp<'_>) {
        self.fields.values_mut().for_each(|field| field.schema.loosen(made_up));
        if let Some(rest) = &mut self.rest {
            rest.schema.loosen(made_up);
        }
    }
}
