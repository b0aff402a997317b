//! Secret headers (SEC-4): encrypted by the member that is asked, before anything is proposed, so that they come into the log in no
//! other form. What reads show in the place of a value is refused as a value: it would overwrite what it stands for.

use waymark_core::model::{Edit, Header, HeaderValue, Violations, validate_header_value};
use waymark_core::state::Action;
use waymark_process::secrets::Keys;

use super::caller::HIDDEN;

/// Encrypts the secrets that `action` brings; what is wrong with them is noted, and then it must not be proposed.
pub(super) fn seal(action: &mut Action, keys: &Keys, violations: &mut Violations) {
    match action {
        Action::CreateProfile { fields, endpoints, .. } => {
            seal_headers("monitor.headers", &mut fields.monitor.headers, keys, violations);
            for (place, (_, fields)) in endpoints.iter_mut().enumerate() {
                let path = format!("endpoints[{place}].headers");
                seal_headers(&path, &mut fields.headers, keys, violations);
            }
        }
        Action::UpdateProfile { fields, .. } => {
            seal_headers("monitor.headers", &mut fields.monitor.headers, keys, violations);
        }
        Action::AddEndpoint { fields, .. } | Action::UpdateEndpoint { fields, .. } => {
            seal_headers("headers", &mut fields.headers, keys, violations);
        }
        _ => {}
    }
}

fn seal_headers(path: &str, headers: &mut Edit<Vec<Header>>, keys: &Keys, violations: &mut Violations) {
    let Edit::Set(headers) = headers else { return };
    for (place, header) in headers.iter_mut().enumerate() {
        violations.within(&format!("{path}[{place}]"), |violations| seal_header(header, keys, violations));
    }
}

fn seal_header(header: &mut Header, keys: &Keys, violations: &mut Violations) {
    match &header.value {
        HeaderValue::Plain(value) | HeaderValue::Secret(value) if value == HIDDEN => {
            violations.add(
                "value",
                "'***' is what reads show in the place of a value, and none: give the value itself",
            );
        }
        HeaderValue::Plain(_) => {}
        HeaderValue::Sealed(_) => violations.add("sealed", "is the members' own: give 'value', and 'secret'"),
        // Nobody can judge it afterwards.
        HeaderValue::Secret(value) if validate_header_value(value, violations) => {
            match keys.seal(&header.name, value) {
                Ok(sealed) => header.value = HeaderValue::Sealed(sealed.into()),
                Err(none) => violations.add("value", none.to_string()),
            }
        }
        HeaderValue::Secret(_) => {}
    }
}
