//! Reading which clients an endpoint is for: places and addresses (SET-15, SET-16).

use std::fmt::Display;
use std::str::FromStr;

use crate::model::{
    Edit, Endpoint, EndpointPatch, Span, UnreadMappings, Violations, profile_limits as limits,
};

/// Carries the wish for codes and subnets out on `endpoint`, and notes what cannot be read.
pub(super) fn read_mapping(
    endpoint: &mut Endpoint,
    fields: &EndpointPatch,
    violations: &mut Violations,
) -> UnreadMappings {
    match &fields.geo {
        Edit::Keep => {}
        Edit::Clear => endpoint.geo.clear(),
        Edit::Set(codes) => endpoint.geo = read_all("geo", codes, limits::GEO_MAX, violations),
    }
    match &fields.subnets {
        Edit::Keep => {}
        Edit::Clear => endpoint.subnets.clear(),
        Edit::Set(texts) => {
            endpoint.subnets = merged(read_all("subnets", texts, limits::SUBNETS_MAX, violations));
        }
    }
    UnreadMappings {
        geo: is_given(&fields.geo) && endpoint.geo.is_empty(),
        subnets: is_given(&fields.subnets) && endpoint.subnets.is_empty(),
    }
}

fn is_given(edit: &Edit<Vec<String>>) -> bool {
    matches!(edit, Edit::Set(texts) if !texts.is_empty())
}

/// Reads each of `texts`, up to the most that there may be.
fn read_all<T: FromStr<Err: Display>>(
    field: &str,
    texts: &[String],
    max: usize,
    violations: &mut Violations,
) -> Vec<T> {
    if texts.len() > max {
        violations.add(field, format!("{} are too many; at most {max} are allowed", texts.len()));
    }
    let mut read = Vec::new();
    for (place, text) in texts.iter().enumerate().take(max) {
        match text.parse::<T>() {
            Ok(value) => read.push(value),
            Err(fault) => violations.add_with(&format!("{field}[{place}]"), || fault.to_string()),
        }
    }
    read
}

/// In order, and those that overlap or touch made one.
fn merged(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_unstable();
    let mut merged: Vec<Span> = Vec::with_capacity(spans.len());
    for span in spans {
        match merged.last_mut() {
            Some(last) if last.merge(&span).is_some() => *last = last.merge(&span).unwrap_or(span),
            _ => merged.push(span),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn set_16_overlaps_within_one_endpoint_merge() {
        let spans =
            ["10.0.1.0/24", "192.0.2.7-192.0.2.9", "10.0.0.0/24", "192.0.2.8-192.0.2.200", "2001:db8::/48"];
        let spans = merged(spans.map(|text| text.parse().unwrap()).to_vec());
        let shown: Vec<String> = spans.iter().map(ToString::to_string).collect();
        assert_eq!(shown, ["10.0.0.0/23", "192.0.2.7-192.0.2.200", "2001:db8::/48"]);
    }
}
