//! A name that keeps the letters it was given and compares without their case (OBJ-2, OBJ-4, OBJ-9).

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// Text that is shown as given and compared by its lower case, letter by letter.
#[derive(Clone, Debug)]
pub struct Caseless(Arc<str>);

impl Caseless {
    /// Wraps `text`; what is allowed in it is the validation's matter.
    pub fn new(text: &str) -> Self {
        Self(text.into())
    }

    /// The text as it was given.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// UTF-8 sorts as its characters do, so that bytes and characters give one order.
    fn folded(&self) -> impl Iterator<Item = char> + '_ {
        self.0.chars().flat_map(char::to_lowercase)
    }

    fn folded_bytes(&self) -> impl Iterator<Item = u8> + '_ {
        self.0.bytes().map(|byte| byte.to_ascii_lowercase())
    }

    /// Nearly every name is: then bytes will do.
    fn are_ascii(&self, other: &Self) -> bool {
        self.0.is_ascii() && other.0.is_ascii()
    }
}

impl From<&str> for Caseless {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl fmt::Display for Caseless {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl PartialEq for Caseless {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Caseless {}

impl PartialOrd for Caseless {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Caseless {
    fn cmp(&self, other: &Self) -> Ordering {
        if self.are_ascii(other) {
            self.folded_bytes().cmp(other.folded_bytes())
        } else {
            self.folded().cmp(other.folded())
        }
    }
}

impl Hash for Caseless {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.folded().for_each(|letter| letter.hash(state));
        0xff_u8.hash(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn obj_2_names_compare_without_case_and_keep_their_letters() {
        assert_eq!(Caseless::new("Web"), Caseless::new("wEB"));
        assert_eq!(Caseless::new("Web").cmp(&Caseless::new("web")), Ordering::Equal);
        assert!(Caseless::new("a") < Caseless::new("B"));
        assert_eq!(Caseless::new("Web").as_str(), "Web");
    }

    #[test]
    fn obj_4_letters_of_every_script_lose_their_case() {
        let hash = |text: &str| {
            let mut hasher = std::hash::DefaultHasher::new();
            Caseless::new(text).hash(&mut hasher);
            std::hash::Hasher::finish(&hasher)
        };
        for (upper, lower) in [
            ("K\u{d6}LN", "k\u{f6}ln"),
            ("\u{41c}\u{421}\u{41a}", "\u{43c}\u{441}\u{43a}"),
            ("\u{212a}", "k"),
        ] {
            assert_eq!(Caseless::new(upper), Caseless::new(lower));
            assert_eq!(hash(upper), hash(lower), "{upper}");
        }
        let mut names = ["z", "\u{e9}", "A", "\u{c4}", "b"].map(Caseless::new);
        names.sort();
        assert_eq!(names.map(|name| name.to_string()), ["A", "b", "z", "\u{c4}", "\u{e9}"]);
    }
}
