//! A wish for one field of a partial update (VAL-2).

/// What an update says of one field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Edit<T> {
    /// The field is not named: it stays as it is.
    #[default]
    Keep,
    /// The field is named without a value: it goes back to what an omitted field means.
    Clear,
    /// The field is named with a value.
    Set(T),
}

impl<T: Clone> Edit<T> {
    /// Carries the wish out on an optional field.
    pub fn apply(&self, field: &mut Option<T>) {
        match self {
            Self::Keep => {}
            Self::Clear => *field = None,
            Self::Set(value) => *field = Some(value.clone()),
        }
    }

    /// Carries the wish out on a field that has its own empty value.
    pub fn apply_or(&self, field: &mut T, cleared: T) {
        match self {
            Self::Keep => {}
            Self::Clear => *field = cleared,
            Self::Set(value) => *field = value.clone(),
        }
    }
}

impl<T> Edit<T> {
    /// Is the field named at all?
    pub fn is_named(&self) -> bool {
        !matches!(self, Self::Keep)
    }
}

impl<T> From<Option<T>> for Edit<T> {
    /// A value that is there is set, one that is not is kept.
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Keep, Self::Set)
    }
}
