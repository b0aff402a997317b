//! The words for an endpoint that was not asked, because the client is not where the endpoint's clients are.

use std::fmt::Display;

/// Most places or ranges that are named: an endpoint may have hundreds.
const NAMED_MAX: usize = 3;

/// `not asked: DE is not where the client is`, of an endpoint that has `places`, which are none of the client's.
pub(super) fn elsewhere<T: Display>(places: &[T]) -> String {
    let named: Vec<String> = places.iter().take(NAMED_MAX).map(ToString::to_string).collect();
    match (named.as_slice(), places.len() - named.len()) {
        ([], _) => "not asked: it has no clients of its own".to_owned(),
        ([only], _) => format!("not asked: {only} is not where the client is"),
        (named, 0) => format!("not asked: none of {} is where the client is", named.join(", ")),
        (named, more) => {
            format!("not asked: none of {} and {more} more is where the client is", named.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rte_15_three_are_named_and_the_others_counted() {
        assert_eq!(elsewhere(&["DE"]), "not asked: DE is not where the client is");
        assert_eq!(elsewhere(&["DE", "FR"]), "not asked: none of DE, FR is where the client is");
        assert_eq!(
            elsewhere(&["DE", "FR", "IT", "ES", "PL"]),
            "not asked: none of DE, FR, IT and 2 more is where the client is"
        );
        assert_eq!(elsewhere::<&str>(&[]), "not asked: it has no clients of its own");
    }
}
