//! What is wrong with a wish: the field, the value and the rule (VAL-1), and the word that was probably meant (VAL-3).

use std::fmt;

/// One fault of one field; or, as the last of a list that was cut short, how many more there are.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Violation {
    /// The path of the field, as in `endpoints[2].weight`; empty where the description is of no one field.
    pub field: String,
    /// What is wrong with which value, as in `1001 is outside 1–1000`.
    pub description: String,
}

impl Violation {
    /// A violation of `field`.
    pub fn new(field: impl Into<String>, description: impl Into<String>) -> Self {
        Self { field: field.into(), description: description.into() }
    }

    /// The end of a list that was cut short.
    pub fn more(count: usize) -> Self {
        Self::new("", format!("and {count} more"))
    }

    /// How many faults it tells of: one, unless it is the end of a list that was cut short.
    pub fn count(&self) -> usize {
        let more = || self.description.strip_prefix("and ")?.strip_suffix(" more")?.parse().ok();
        if self.field.is_empty() { more().unwrap_or(1) } else { 1 }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let colon = if self.field.is_empty() { "" } else { ": " };
        write!(f, "{}{colon}{}", self.field, self.description)
    }
}

/// Collects every violation of one wish, with the path of the object that is being looked at in front. Beyond
/// [`Violations::FOUND_MAX`] they are counted only.
#[derive(Debug, Default)]
pub struct Violations {
    prefix: String,
    found: Vec<Violation>,
    beyond: usize,
}

impl Violations {
    /// Most that are told in full: each endpoint of a profile may have one fault, and a few more; nobody reads the
    /// 200,000 cells of a bad latency table, and refusals are kept for retries (CLI-4).
    pub const FOUND_MAX: usize = 300;

    /// An empty collection.
    pub fn new() -> Self {
        Self::default()
    }

    /// Notes a violation of `field` below the current path.
    pub fn add(&mut self, field: &str, description: impl Into<String>) {
        self.add_with(field, || description.into());
    }

    /// The same with a description that is work, such as one with a hint, made only if it is told.
    pub fn add_with(&mut self, field: &str, description: impl FnOnce() -> String) {
        if self.found.len() < Self::FOUND_MAX {
            self.found.push(Violation::new(format!("{}{field}", self.prefix), description()));
        } else {
            self.beyond += 1;
        }
    }

    /// Runs `check` with `path` and a dot appended to the current path; an empty `path` leads nowhere.
    pub fn within(&mut self, path: &str, check: impl FnOnce(&mut Self)) {
        let length = self.prefix.len();
        if !path.is_empty() {
            self.prefix.push_str(path);
            self.prefix.push('.');
        }
        check(self);
        self.prefix.truncate(length);
    }

    /// Notes `value` unless it lies in `min..=max`.
    pub fn range(&mut self, field: &str, value: u64, min: u64, max: u64) {
        if !(min..=max).contains(&value) {
            self.add(field, format!("{value} is outside {min}–{max}"));
        }
    }

    /// All that was found, in the order in which it was found; and, if that was too much, how many more.
    pub fn into_vec(mut self) -> Vec<Violation> {
        if self.beyond > 0 {
            self.found.push(Violation::more(self.beyond));
        }
        self.found
    }

    /// Was nothing found?
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }
}

/// `text` as a refusal repeats it: what cannot be seen is escaped, and what is very long is cut, since refusals are kept
/// for retries (CLI-4).
pub fn shorten(text: &str) -> String {
    /// Every name of ours is shorter (OBJ-4).
    const SHOWN_MAX: usize = 300;
    let cut = if text.chars().nth(SHOWN_MAX).is_some() { "…" } else { "" };
    format!("{}{cut}", text.chars().take(SHOWN_MAX).collect::<String>().escape_debug())
}

/// The same in quotes.
pub fn quote(text: &str) -> String {
    format!("'{}'", shorten(text))
}

/// The word of `known` that `word` was probably meant to be, if one is near enough to be worth a hint.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    /// Below this a hint confuses more than it helps (Jaro–Winkler, 0 unlike … 1 equal).
    const LIKENESS_MIN: f64 = 0.75;
    /// One slip of the pen is always worth a hint, also in a word so short that little of it is left alike.
    const SLIPS_MAX: usize = 1;
    /// A longer word is nobody's name, and comparing costs its length each time.
    const WORD_MAX: usize = 300;
    if word.len() > WORD_MAX {
        return None;
    }
    let word = word.to_lowercase();
    let likeness = |candidate: &'a str| {
        let folded = candidate.to_lowercase();
        let likeness = strsim::jaro_winkler(&word, &folded);
        let is_near = likeness >= LIKENESS_MIN || strsim::osa_distance(&word, &folded) <= SLIPS_MAX;
        is_near.then_some((likeness, candidate))
    };
    known.into_iter().filter_map(likeness).min_by(|a, b| b.0.total_cmp(&a.0)).map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn val_1_a_violation_names_path_value_and_rule() {
        let mut violations = Violations::new();
        violations.within("endpoints[2]", |v| v.range("weight", 1001, 1, 1000));
        violations.range("ttl", 30, 0, 60);
        let found = violations.into_vec();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].to_string(), "endpoints[2].weight: 1001 is outside 1–1000");
    }

    #[test]
    fn val_1_beyond_the_most_that_is_told_faults_are_counted() {
        let told = |count: usize| {
            let (mut violations, mut described) = (Violations::new(), 0);
            for _ in 0..count {
                violations.add_with("rows", || {
                    described += 1;
                    "is wrong".to_owned()
                });
            }
            assert_eq!(described, count.min(Violations::FOUND_MAX), "a description is work");
            violations.into_vec()
        };
        assert_eq!(told(Violations::FOUND_MAX).len(), Violations::FOUND_MAX);
        let found = told(200_000);
        assert_eq!(found.len(), Violations::FOUND_MAX + 1);
        assert_eq!(found[Violations::FOUND_MAX].to_string(), "and 199700 more");
        assert_eq!(found.iter().map(Violation::count).sum::<usize>(), 200_000);
    }

    #[test]
    fn val_1_what_is_repeated_is_short_and_can_be_seen() {
        assert_eq!(quote("a\nb"), "'a\\nb'");
        assert_eq!(quote(&"\u{fc}".repeat(300)).chars().count(), 302);
        assert_eq!(quote(&"a".repeat(1_000_000)).chars().count(), 303);
        assert_eq!(nearest(&"a".repeat(301), ["a"]), None);
    }

    #[test]
    fn val_3_the_nearest_word_is_offered() {
        assert_eq!(nearest("wieghted", ["priority", "weighted"]), Some("weighted"));
        assert_eq!(nearest("xyz", ["priority", "weighted"]), None);
        assert_eq!(nearest("wbe", ["app", "web"]), Some("web"), "two letters in the wrong order");
        assert_eq!(nearest("r4", ["r1", "r2"]), Some("r1"), "the first of those that are alike");
    }
}
