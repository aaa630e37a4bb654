//! A promise that says less.

use super::schema::{Fields, Object, Schema, Text};

impl Schema {
    /// The same where enums and constants in which one of these strings stands are any string. What
    /// tells objects apart stays.
    #[must_use]
    pub(crate) fn loosened(mut self, is_one: &dyn Fn(&str) -> bool) -> Self {
        self.forget(is_one);
        self
    }

    /// Whether it is of objects only, which one field tells apart.
    pub(crate) fn is_union(&self) -> bool {
        let alone = Self { object: self.object.clone(), ..Self::default() };
        *self == alone && matches!(self.object.as_deref(), Some(Object::Union(_)))
    }

    fn forget(&mut self, is_one: &dyn Fn(&str) -> bool) {
        if let Some(Text::Of(_, values) | Text::Open(values)) = &self.string
            && values.iter().any(|value| is_one(value))
        {
            self.string = Some(Text::Any);
        }
        if let Some(elements) = &mut self.array {
            elements.forget(is_one);
        }
        if let Some(object) = &mut self.object {
            object.forget(is_one);
        }
    }
}

impl Object {
    fn forget(&mut self, is_one: &dyn Fn(&str) -> bool) {
        match self {
            Self::Plain(fields) => fields.forget(is_one),
            Self::Union(union) => {
                union.branches.values_mut().for_each(|branch| branch.forget(is_one));
            }
        }
    }
}

impl Fields {
    fn forget(&mut self, is_one: &dyn Fn(&str) -> bool) {
        self.fields.values_mut().for_each(|field| field.schema.forget(is_one));
        if let Some(rest) = &mut self.rest {
            rest.schema.forget(is_one);
        }
    }
}
