//! A name that keeps the letters it was given and compares without their case (OBJ-2, OBJ-4, OBJ-9).

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// Text that is shown as given and compared by its ASCII lower case.
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

    fn folded(&self) -> impl Iterator<Item = u8> + '_ {
        self.0.bytes().map(|byte| byte.to_ascii_lowercase())
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
        self.0.eq_ignore_ascii_case(&other.0)
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
        self.folded().cmp(other.folded())
    }
}

impl Hash for Caseless {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.folded().for_each(|byte| byte.hash(state));
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
}
