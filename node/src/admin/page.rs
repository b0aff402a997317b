//! Paging: names are in order, the token of a page is its last name, the next one goes on behind it.

use prost::Message;
use waymark_core::model::{Violations, profile_limits::NAME_MAX};
use waymark_proto::admin::v1::Page;

use super::limits::{PAGE_BYTES_MAX, PAGE_SIZE_MAX};

/// Which page is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    /// Most objects on it.
    pub(super) size: usize,
    /// The name behind which it begins; from the first object on if there is none.
    pub(super) behind: Option<String>,
}

/// Reads what a list request says of its page; both faults are noted, `is_token` judges the token.
pub(super) fn wanted(
    page: Option<Page>,
    is_token: impl FnOnce(&str) -> bool,
    violations: &mut Violations,
) -> Wanted {
    let Page { size, token } = page.unwrap_or_default();
    let size = if size == 0 { PAGE_SIZE_MAX } else { size };
    violations.within("page", |v| {
        v.range("size", size.into(), 1, PAGE_SIZE_MAX.into());
        if !token.is_empty() && !is_token(&token) {
            v.add(
                "token",
                format!("'{token}' is no token of a page: give 'next_page_token' of the page before"),
            );
        }
    });
    Wanted { size: size as usize, behind: (!token.is_empty()).then_some(token) }
}

/// Can `token` be the name of a profile, a region or an agent?
pub(super) fn is_name(token: &str) -> bool {
    token.len() <= NAME_MAX
        && token.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._:".contains(&byte))
}

/// One page of `objects`, each with its name, and the token of the next page: empty behind the last object.
pub(super) fn cut<T: Message>(
    objects: impl IntoIterator<Item = (String, T)>,
    size: usize,
) -> (Vec<T>, String) {
    let mut page = Vec::new();
    let mut last = String::new();
    let mut bytes = 0;
    for (name, object) in objects {
        bytes += object.encoded_len();
        if page.len() == size || (bytes > PAGE_BYTES_MAX && !page.is_empty()) {
            return (page, last);
        }
        page.push(object);
        last = name;
    }
    (page, String::new())
}

#[cfg(test)]
mod tests {
    use waymark_proto::admin::v1::Region;

    use super::*;

    fn regions(count: usize, name_length: usize) -> Vec<(String, Region)> {
        let region = |_| Region { name: "x".repeat(name_length), ..Region::default() };
        (0..count).map(|place| (place.to_string(), region(place))).collect()
    }

    #[test]
    fn a_page_ends_at_its_size_and_names_its_last_object() {
        let (page, token) = cut(regions(3, 4), 2);
        assert_eq!((page.len(), token.as_str()), (2, "1"));
        let (page, token) = cut(regions(2, 4), 2);
        assert_eq!((page.len(), token.as_str()), (2, ""), "nothing is behind a full last page");
        assert_eq!(cut(regions(0, 4), 2), (Vec::new(), String::new()));
    }

    #[test]
    fn a_page_ends_before_it_is_too_long_but_is_never_empty() {
        let (page, token) = cut(regions(3, PAGE_BYTES_MAX / 2), 1_000);
        assert_eq!((page.len(), token.as_str()), (1, "0"));
        let (page, token) = cut(regions(2, PAGE_BYTES_MAX + 1), 1_000);
        assert_eq!((page.len(), token.as_str()), (1, "0"), "one object above the bound stands alone");
    }

    #[test]
    fn val_1_size_and_token_are_judged_together() {
        let mut violations = Violations::new();
        wanted(Some(Page { size: 1_001, token: "a b".into() }), is_name, &mut violations);
        let found: Vec<String> = violations.into_vec().iter().map(ToString::to_string).collect();
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!(found[0], "page.size: 1001 is outside 1–1000");
        assert!(found[1].starts_with("page.token: 'a b' is no token"));
    }
}
