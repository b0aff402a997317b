//! The settings file: TOML, taken apart into keys with their places.

use std::path::Path;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{Fault, Faults};

/// A value and where it stands, as in `node.toml:3:15`.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    pub(super) place: String,
    pub(super) value: Value,
}

/// What settings are made of.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Text(String),
    /// A whole number.
    Number(String),
    Switch(bool),
    List(Vec<Placed>),
    /// Anything else, by what TOML calls it.
    Other(&'static str),
}

/// One key.
#[derive(Debug)]
pub(super) struct Entry {
    /// With the names of its sections, as in `guard.allow`.
    pub(super) key: String,
    /// Where the key stands.
    pub(super) place: String,
    pub(super) value: Placed,
}

/// Reads the file at `path`.
pub(super) fn read(path: &Path) -> Result<Vec<Entry>, Faults> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|error| {
        let reason = format!("{error}; give another file with --config, or leave it out");
        Faults(vec![Fault { place: name.clone(), key: "", reason }])
    })?;
    let file = File { name, text: &text };
    let (table, errors) = DeTable::parse_recoverable(&text);
    if !errors.is_empty() {
        return Err(Faults(file.faults(errors)));
    }
    let mut entries = Vec::new();
    file.collect("", table.get_ref(), &mut entries);
    Ok(entries)
}

struct File<'a> {
    name: String,
    text: &'a str,
}

impl File<'_> {
    /// Line and column count from 1.
    fn place(&self, at: usize) -> String {
        let before = &self.text[..self.text.floor_char_boundary(at)];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        format!("{}:{line}:{column}", self.name)
    }

    /// What is wrong with the text: once a place, as one slip may be met several times.
    fn faults(&self, mut errors: Vec<toml::de::Error>) -> Vec<Fault> {
        errors.sort_by_key(|error| error.span().map_or(0, |span| span.start));
        let mut faults: Vec<Fault> = Vec::new();
        for error in &errors {
            let place = self.place(error.span().map_or(0, |span| span.start));
            if faults.iter().all(|known| known.place != place) {
                let reason = error.message().lines().next().unwrap_or_default().to_owned();
                faults.push(Fault { place, key: "", reason });
            }
        }
        faults
    }

    /// A section that is empty counts as a key, so that a misspelt one is found.
    fn collect(&self, section: &str, table: &DeTable<'_>, entries: &mut Vec<Entry>) {
        for (key, value) in table {
            let place = self.place(key.span().start);
            let key = format!("{section}{}", key.get_ref());
            match value.get_ref() {
                DeValue::Table(inner) if !inner.is_empty() => {
                    self.collect(&format!("{key}."), inner, entries);
                }
                _ => entries.push(Entry { key, place, value: self.placed(value) }),
            }
        }
    }

    fn placed(&self, value: &Spanned<DeValue<'_>>) -> Placed {
        let place = self.place(value.span().start);
        let value = match value.get_ref() {
            DeValue::String(text) => Value::Text(text.clone().into_owned()),
            DeValue::Integer(number) => Value::Number(number.to_string()),
            DeValue::Boolean(on) => Value::Switch(*on),
            DeValue::Array(items) => Value::List(items.iter().map(|item| self.placed(item)).collect()),
            other => Value::Other(other.type_str()),
        };
        Placed { place, value }
    }
}
