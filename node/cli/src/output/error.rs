//! Failures: one line each on stderr, or one value (CLI-2).

use serde::Serialize;

use super::{Format, json, yaml};
use crate::failure::Failure;
use crate::flags::flag_of;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ShownFailure<'a> {
    exit_code: u8,
    message: &'a str,
    violations: Vec<ShownViolation<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ShownViolation<'a> {
    field: &'a str,
    description: &'a str,
    flag: Option<&'static str>,
}

/// The failure as it goes to stderr.
pub(crate) fn shown(failure: &Failure, format: Format) -> String {
    match format {
        Format::Json => json("Error", &structured(failure), true),
        Format::Yaml => yaml("Error", &structured(failure)),
        Format::Table | Format::Name if failure.violations.is_empty() => {
            format!("error: {}\n", failure.message)
        }
        Format::Table | Format::Name => failure.violations.iter().map(line).collect(),
    }
}

fn line(violation: &waymark_core::model::Violation) -> String {
    let advice = flag_of(&violation.field).map(|flag| format!(" (see {flag})")).unwrap_or_default();
    // What only counts further violations has no field.
    let field = if violation.field.is_empty() { String::new() } else { format!("{}: ", violation.field) };
    format!("error: {field}{}{advice}\n", violation.description)
}

fn structured(failure: &Failure) -> ShownFailure<'_> {
    let violation = |violation: &'_ waymark_core::model::Violation| flag_of(&violation.field);
    let violations = failure
        .violations
        .iter()
        .map(|found| ShownViolation {
            field: &found.field,
            description: &found.description,
            flag: violation(found),
        })
        .collect();
    ShownFailure { exit_code: failure.exit as u8, message: &failure.message, violations }
}

#[cfg(test)]
mod tests {
    use waymark_core::model::Violation;

    use super::*;
    use crate::failure::Exit;

    fn refused() -> Failure {
        let violations = vec![
            Violation::new("monitor.interval", "7s is none of 30s, 10s, 5s, 1s"),
            Violation::new("name", "is empty"),
        ];
        Failure { violations, ..Failure::new(Exit::Refused, "2 rules") }
    }

    #[test]
    fn val_1_each_violation_has_a_line_with_field_value_rule_and_flag() {
        let text = shown(&refused(), Format::Table);
        assert_eq!(
            text,
            "error: monitor.interval: 7s is none of 30s, 10s, 5s, 1s (see --interval)\nerror: name: is empty\n"
        );
    }

    #[test]
    fn cli_2_with_json_failures_are_structured() {
        let value: serde_json::Value = serde_json::from_str(&shown(&refused(), Format::Json)).unwrap();
        assert_eq!((&value["kind"], &value["exitCode"]), (&"Error".into(), &1.into()));
        assert_eq!(value["violations"][0]["flag"], "--interval");
        assert_eq!(value["violations"][1]["flag"], serde_json::Value::Null);
    }
}
