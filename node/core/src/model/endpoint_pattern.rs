//! Patterns that name endpoints of any profiles: `profile/endpoint`, in which `*` and `?` stand for others (STA-13).

use std::fmt::{self, Write};

use super::{Caseless, shorten};

/// A pattern, compared without case as the names are.
///
/// | in the pattern | in the name |
/// |---|---|
/// | `*` | any letters, none too |
/// | `?` | one letter |
/// | `\` and a letter | that letter, also `*`, `?` and `\` |
/// | any other | itself |
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndpointPattern {
    /// Which profiles.
    pub profile: Glob,
    /// Which of their endpoints.
    pub endpoint: Glob,
}

/// One half of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob(Vec<Piece>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Piece {
    Letter(char),
    Any,
    Many,
}

/// What is wrong with a pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatternFault {
    /// It is not of two halves.
    #[error("'{0}' is no pattern: PROFILE/ENDPOINT is wanted, as in 'web/eu' or 'web-*/eu-?'")]
    Halves(String),
    /// A backslash with nothing behind it.
    #[error("'{0}' ends with a backslash, behind which a letter is wanted")]
    Backslash(String),
    /// Longer than any names.
    #[error("is {0} characters long; at most {max} are allowed", max = EndpointPattern::LENGTH_MAX)]
    Length(usize),
}

impl EndpointPattern {
    /// Longest pattern, in characters: both names with each letter behind a backslash would be shorter.
    pub const LENGTH_MAX: usize = 700;

    /// Reads a pattern.
    pub fn parse(text: &str) -> Result<Self, PatternFault> {
        let length = text.chars().count();
        if length > Self::LENGTH_MAX {
            return Err(PatternFault::Length(length));
        }
        let halves = || PatternFault::Halves(shorten(text));
        let (profile, endpoint) = text.split_once('/').ok_or_else(halves)?;
        if profile.is_empty() || endpoint.is_empty() || endpoint.contains('/') {
            return Err(halves());
        }
        let glob = |half| Glob::parse(half).ok_or_else(|| PatternFault::Backslash(shorten(half)));
        Ok(Self { profile: glob(profile)?, endpoint: glob(endpoint)? })
    }
}

impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|piece| match piece {
            Piece::Many => f.write_char('*'),
            Piece::Any => f.write_char('?'),
            Piece::Letter(letter @ ('*' | '?' | '\\')) => write!(f, "\\{letter}"),
            Piece::Letter(letter) => f.write_char(*letter),
        })
    }
}

impl Glob {
    fn parse(text: &str) -> Option<Self> {
        let mut letters = text.chars().flat_map(char::to_lowercase);
        let mut pieces = Vec::new();
        while let Some(letter) = letters.next() {
            pieces.push(match letter {
                '*' => Piece::Many,
                '?' => Piece::Any,
                '\\' => Piece::Letter(letters.next()?),
                letter => Piece::Letter(letter),
            });
        }
        Some(Self(pieces))
    }

    /// Is it `name`, or does it stand for it and others?
    pub fn matches(&self, name: &Caseless) -> bool {
        if self.0 == [Piece::Many] {
            return true;
        }
        let name: Vec<char> = name.as_str().chars().flat_map(char::to_lowercase).collect();
        let (mut piece, mut letter) = (0, 0);
        // Where the last `*` stands, and the letter up to which it is taken to reach.
        let mut last_many: Option<(usize, usize)> = None;
        while letter < name.len() {
            match self.0.get(piece) {
                Some(Piece::Many) => {
                    last_many = Some((piece, letter));
                    piece += 1;
                }
                Some(Piece::Any) => (piece, letter) = (piece + 1, letter + 1),
                Some(Piece::Letter(wanted)) if *wanted == name[letter] => {
                    (piece, letter) = (piece + 1, letter + 1);
                }
                _ => {
                    let Some((many, reached)) = last_many else { return false };
                    last_many = Some((many, reached + 1));
                    (piece, letter) = (many + 1, reached + 1);
                }
            }
        }
        self.0[piece..].iter().all(|piece| *piece == Piece::Many)
    }

    /// The one name that it is; `None` if it stands for others.
    pub fn name(&self) -> Option<Caseless> {
        let letter = |piece: &Piece| if let Piece::Letter(letter) = piece { Some(*letter) } else { None };
        let name: String = self.0.iter().map(letter).collect::<Option<_>>()?;
        Some(Caseless::new(&name))
    }

    /// Its letters, without what stands for others: what a name that was meant is probably like.
    pub fn letters(&self) -> String {
        let letter = |piece: &Piece| if let Piece::Letter(letter) = piece { Some(*letter) } else { None };
        self.0.iter().filter_map(letter).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(glob: &str, name: &str) -> bool {
        Glob::parse(glob).unwrap().matches(&Caseless::new(name))
    }

    #[test]
    fn sta_13_a_pattern_stands_for_whom_it_says() {
        for (glob, name, expected) in [
            ("eu", "eu", true),
            ("EU", "eu", true),
            ("eu", "EU-1", false),
            ("eu*", "eu", true),
            ("eu-*", "EU-1", true),
            ("*", "anything at all", true),
            ("e?", "eu", true),
            ("e?", "e", false),
            ("e?", "eue", false),
            ("*-1", "eu-1-1", true),
            ("*-1*", "eu-2-1-2", true),
            ("a*b*c", "abbcbc", true),
            ("a*b*c", "abbcb", false),
            ("*a*b", "aab", true),
            (r"\*", "*", true),
            (r"\*", "x", false),
            (r"a\\b", r"a\b", true),
            ("ä?", "ÄÖ", true),
            ("***", "x", true),
        ] {
            assert_eq!(matches(glob, name), expected, "{glob} and {name}");
        }
        // A pattern of many stars is not slow: each only ever reaches further.
        assert!(!matches(&format!("{}b", "*a".repeat(120)), &"a".repeat(260)));
    }

    #[test]
    fn sta_13_a_pattern_has_two_halves() {
        let parsed = EndpointPattern::parse("web/e*").unwrap();
        assert_eq!((parsed.profile.name(), parsed.endpoint.name()), (Some("web".into()), None));
        assert_eq!(parsed.endpoint.letters(), "e");
        for wrong in ["web", "/e1", "web/", "web/e/1", ""] {
            assert!(matches!(EndpointPattern::parse(wrong), Err(PatternFault::Halves(_))), "{wrong}");
        }
        assert!(matches!(EndpointPattern::parse(r"web/e\"), Err(PatternFault::Backslash(_))));
        assert_eq!(EndpointPattern::parse(&"x".repeat(701)), Err(PatternFault::Length(701)));
    }
}
