//! Which fields of a message a wish names: those of a mask, or without one those that are there.

use prost_types::FieldMask;
use waymark_core::model::{Edit, Violation, nearest};

use super::Malformed;

/// The fields of one kind of object.
pub(super) struct Fields {
    /// `zone`, `profile`, `endpoint`.
    pub(super) noun: &'static str,
    /// Paths that an update may name.
    pub(super) known: &'static [&'static str],
    /// Paths that exist, and why an update may not name them.
    pub(super) fixed: &'static [(&'static str, &'static str)],
}

/// The named fields, and the faults that were found while reading them.
pub(super) struct Named<'a> {
    mask: Option<&'a FieldMask>,
    violations: Vec<Violation>,
}

impl<'a> Named<'a> {
    /// Looks through `mask`; unknown paths are violations with the nearest known one (VAL-3).
    pub(super) fn read(mask: Option<&'a FieldMask>, fields: &Fields) -> Self {
        let violations = mask
            .iter()
            .flat_map(|mask| &mask.paths)
            .filter_map(|path| path_fault(path, fields))
            .map(|description| Violation::new("update_mask", description))
            .collect();
        Self { mask, violations }
    }

    fn names(&self, path: &str) -> bool {
        self.mask.is_some_and(|mask| mask.paths.iter().any(|named| named == path))
    }

    /// The wish for a field.
    ///
    /// | mask | value | wish |
    /// |---|---|---|
    /// | none | there | set |
    /// | none | not there | keep |
    /// | names the path | there | set |
    /// | names the path | not there | clear |
    /// | does not name it | – | keep |
    pub(super) fn edit<T>(&self, path: &str, value: Option<T>) -> Edit<T> {
        match self.mask {
            None => Edit::from(value),
            Some(_) if self.names(path) => value.map_or(Edit::Clear, Edit::Set),
            Some(_) => Edit::Keep,
        }
    }

    /// The wish for a field that is empty when it is not there.
    pub(super) fn edit_list<T>(&self, path: &str, values: Vec<T>) -> Edit<Vec<T>> {
        self.edit(path, (!values.is_empty()).then_some(values))
    }

    /// The wish for an enum field; a number that is none of `known` is a violation (VAL-3).
    pub(super) fn edit_word<W, C>(&mut self, path: &str, number: i32, known: &[&str]) -> Edit<C>
    where
        W: TryFrom<i32>,
        C: TryFrom<W, Error = Malformed>,
    {
        if number == 0 {
            return self.edit(path, None);
        }
        let word = W::try_from(number).ok().and_then(|word| C::try_from(word).ok());
        let edit = self.edit(path, Some(word));
        match edit {
            Edit::Set(Some(word)) => Edit::Set(word),
            Edit::Set(None) => {
                let description =
                    format!("{number} is not known; known are 1 to {} ({})", known.len(), known.join(", "));
                self.violations.push(Violation::new(path, description));
                Edit::Keep
            }
            Edit::Clear => Edit::Clear,
            Edit::Keep => Edit::Keep,
        }
    }

    /// `patch`, unless something is wrong with the wish.
    pub(super) fn finish<P>(self, patch: P) -> Result<P, Vec<Violation>> {
        if self.violations.is_empty() { Ok(patch) } else { Err(self.violations) }
    }
}

fn path_fault(path: &str, fields: &Fields) -> Option<String> {
    if fields.known.contains(&path) {
        return None;
    }
    if let Some((_, reason)) = fields.fixed.iter().find(|(fixed, _)| *fixed == path) {
        return Some(format!("'{path}' {reason}"));
    }
    let hint = nearest(path, fields.known.iter().copied())
        .map(|known| format!("; did you mean '{known}'?"))
        .unwrap_or_else(|| format!("; known are {}", fields.known.join(", ")));
    Some(format!("'{path}' is no field of a {}{hint}", fields.noun))
}
