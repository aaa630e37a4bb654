//! Words that stand for values.

/// Gives each variant its word.
macro_rules! words {
    ($name:ident: $($variant:ident $word:literal),+ $(,)?) => {
        impl $name {
            /// The words of all, in the order of the variants.
            pub(crate) const WORDS: &'static [&'static str] = &[$($word),+];

            /// The word for it.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }

            pub(crate) fn from_word(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$variant),)+ _ => None }
            }
        }
    };
}

/// Says how a value is shown: by a format.
macro_rules! shown {
    ($as:ident: $type:ty, $value:pat => $($format:tt)+) => {
        impl std::fmt::$as for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let $value = self;
                write!(f, $($format)+)
            }
        }
    };
}

pub(crate) use {shown, words};
