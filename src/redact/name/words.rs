//! Names taken apart.

/// The words of a name in lower case.
pub(super) struct Words {
    text: String,
}

impl Words {
    pub(super) fn of(name: &str) -> Self {
        let mut text = String::with_capacity(name.len() + 4);
        let mut chars = name.chars().peekable();
        let mut before = ' ';
        while let Some(c) = chars.next() {
            if !c.is_alphanumeric() {
                space(&mut text);
            } else {
                let next_is_lower = chars.peek().is_some_and(|next| next.is_lowercase());
                if c.is_uppercase() && (!before.is_uppercase() || next_is_lower) {
                    space(&mut text);
                }
                text.push(c.to_ascii_lowercase());
            }
            before = c;
        }
        let mut words = Self { text };
        words.drop_tail();
        words
    }

    /// Drops what only numbers the name or says how its value is kept: `2`, `_2`, `_enc`.
    fn drop_tail(&mut self) {
        loop {
            let numbered = |c: char| c == ' ' || c.is_ascii_digit();
            let name = self.text.trim_end_matches(numbered);
            if !name.is_empty() {
                self.text.truncate(name.len());
            }
            let is_tail = matches!(self.last(), "enc" | "encrypted" | "plaintext");
            if !is_tail || self.alone() {
                return;
            }
            self.text.truncate(self.text.len() - self.last().len());
        }
    }

    pub(super) fn last(&self) -> &str {
        self.text.rsplit(' ').next().unwrap_or_default()
    }

    pub(super) fn before(&self) -> &str {
        self.text.rsplit(' ').nth(1).unwrap_or_default()
    }

    pub(super) fn last_two(&self) -> String {
        [self.before(), self.last()].concat()
    }

    pub(super) fn alone(&self) -> bool {
        !self.text.contains(' ')
    }
}

fn space(text: &mut String) {
    if !text.is_empty() && !text.ends_with(' ') {
        text.push(' ');
    }
}
