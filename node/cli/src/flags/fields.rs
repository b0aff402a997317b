//! Which field of the API a flag stands for, and the mask of those that an update names (CLI-1, VAL-2).

use prost_types::FieldMask;

use crate::failure::Failure;

/// A field's last word in the API or in a violation, and its flag.
const FLAGS: [(&str, &str); 51] = [
    ("name_servers", "--ns"),
    ("mailbox", "--soa-mailbox"),
    ("zone", "--zone"),
    ("relative_name", "--relative-name"),
    ("routing", "--routing"),
    ("ttl", "--ttl"),
    ("ttl_seconds", "--ttl"),
    ("protocol", "--protocol"),
    ("port", "--port"),
    ("path", "--path"),
    ("interval", "--interval"),
    ("interval_ms", "--interval"),
    ("timeout", "--timeout"),
    ("timeout_ms", "--timeout"),
    ("tolerated_failures", "--tolerated-failures"),
    ("recovery_successes", "--recovery-successes"),
    ("expect", "--expect"),
    ("headers", "--header"),
    ("target", "--target"),
    ("priority", "--priority"),
    ("weight", "--weight"),
    ("location", "--location"),
    ("always_serve", "--always-serve"),
    ("nested", "--nested"),
    ("service", "--service"),
    ("endpoints_min", "--min-child"),
    ("endpoints_min_v4", "--min-child-ipv4"),
    ("endpoints_min_v6", "--min-child-ipv6"),
    ("geo", "--geo"),
    ("subnets", "--subnet"),
    ("max_return", "--max-return"),
    ("ecs", "--ecs"),
    ("flatten", "--flatten"),
    ("max_removal", "--max-removal"),
    ("max_removal_percent", "--max-removal"),
    ("removal_window", "--removal-window"),
    ("removal_window_ms", "--removal-window"),
    ("soa_ttl", "--soa-ttl"),
    ("soa_refresh", "--soa-refresh"),
    ("soa_retry", "--soa-retry"),
    ("soa_expire", "--soa-expire"),
    ("negative_ttl", "--negative-ttl"),
    ("name_server_ttl", "--ns-ttl"),
    ("latitude", "--at"),
    ("longitude", "--at"),
    ("at_ms", "--at"),
    ("down", "--down"),
    ("clients", "--sample"),
    ("for", "--for"),
    ("reason", "--reason"),
    ("request_id", ""),
];

/// The flag that sets the field at `path`, as in `monitor.headers[0].value`.
pub(crate) fn flag_of(path: &str) -> Option<&'static str> {
    if path.contains(' ') {
        // A place in a file, whose name may be any word.
        return None;
    }
    let segment = |segment: &str| segment.split('[').next().unwrap_or_default().to_owned();
    let segments: Vec<String> = path.split('.').map(segment).collect();
    let known = |segment: &String| FLAGS.iter().find(|(field, _)| field == segment).map(|(_, flag)| *flag);
    segments.iter().rev().find_map(known).filter(|flag| !flag.is_empty())
}

/// The path of the field that `flag` sets, as the cluster names it in a refusal.
pub(crate) fn field_of(flag: &str) -> Option<String> {
    /// These stand below a profile's monitor; the headers of an endpoint are its own, under the same flag.
    const MONITORS: [&str; 8] = [
        "protocol",
        "port",
        "path",
        "interval",
        "timeout",
        "tolerated_failures",
        "recovery_successes",
        "expect",
    ];
    match flag {
        "--if-revision" => return Some("write.if_revision".to_owned()),
        // A place for a region, a moment for an explanation.
        "--at" => return Some("at".to_owned()),
        _ => {}
    }
    let (field, _) = FLAGS.iter().find(|(_, known)| *known == flag)?;
    Some(if MONITORS.contains(field) { format!("monitor.{field}") } else { (*field).to_owned() })
}

/// The paths that an update names, gathered while its message is filled.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Mask(Vec<String>);

impl Mask {
    /// Passes the value on; its path is named if it is there.
    pub(crate) fn take<T>(&mut self, path: &str, value: Option<T>) -> Option<T> {
        if value.is_some() {
            self.0.push(path.to_owned());
        }
        value
    }

    /// Passes the values on; their path is named if there are any.
    pub(crate) fn take_list<T>(&mut self, path: &str, values: Vec<T>) -> Vec<T> {
        if !values.is_empty() {
            self.0.push(path.to_owned());
        }
        values
    }

    /// Names the paths of fields that go back to their default; `known` has each word and its path.
    pub(crate) fn unset(&mut self, words: &[String], known: &[(&str, &str)]) -> Result<(), Failure> {
        for word in words {
            let Some((_, path)) = known.iter().find(|(flag, _)| flag == word) else {
                return Err(Failure::usage(format!("--unset {word}: there is no such field")));
            };
            if self.0.iter().any(|named| named == path) {
                return Err(Failure::usage(format!("--{word} and --unset {word} contradict each other")));
            }
            self.0.push((*path).to_owned());
        }
        Ok(())
    }

    /// The mask of an update, which must name something.
    pub(crate) fn finish(self) -> Result<Option<FieldMask>, Failure> {
        if self.0.is_empty() {
            return Err(Failure::usage("nothing to change: name at least one field, or --unset one"));
        }
        Ok(Some(FieldMask { paths: self.0 }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_violations_field_leads_to_its_flag() {
        for (path, flag) in [
            ("ttl", Some("--ttl")),
            ("monitor.interval", Some("--interval")),
            ("endpoints[2].weight", Some("--weight")),
            ("monitor.headers[0].value", Some("--header")),
            ("name_servers[1].addresses[0]", Some("--ns")),
            ("name", None),
            ("update_mask", None),
            ("target.csv line 2", None),
        ] {
            assert_eq!(flag_of(path), flag, "{path}");
        }
    }

    #[test]
    fn val_2_an_update_names_what_it_was_given_and_nothing_else() {
        let mut mask = Mask::default();
        assert_eq!(mask.take("weight", Some(5)), Some(5));
        assert_eq!(mask.take("priority", None::<u32>), None);
        assert_eq!(mask.take_list("headers", Vec::<u8>::new()), Vec::<u8>::new());
        mask.unset(&["location".into()], &[("location", "location")]).unwrap();
        assert_eq!(mask.finish().unwrap().unwrap().paths, ["weight", "location"]);
        assert!(Mask::default().finish().is_err());
    }

    #[test]
    fn a_field_is_not_set_and_unset_at_once() {
        let mut mask = Mask::default();
        mask.take("ttl_seconds", Some(1));
        let error = mask.unset(&["ttl".into()], &[("ttl", "ttl_seconds")]).unwrap_err();
        assert_eq!(error.exit, crate::failure::Exit::Usage);
    }
}
