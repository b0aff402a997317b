//! The flags of a profile, the same at create and update (CLI-1).

use clap::Args;
use clap::builder::PossibleValuesParser;
use clap::builder::TypedValueParser;
use waymark_core::model::{Protocol, Routing, monitor_limits, profile_limits};
use waymark_proto::admin::v1::{self as wire, Header, StatusRange};

use crate::failure::Failure;
use crate::flags::duration::{self, Millis};
use crate::flags::{self, Mask};

/// A profile and what is wished of it.
#[derive(Args, Debug)]
pub(crate) struct Change {
    /// The profile's name.
    pub(super) name: String,
    /// The zone it lives in; never changed.
    #[arg(long, value_name = "ZONE")]
    zone: Option<String>,
    /// Where in the zone it stands: one or more labels, or @ for the zone itself; never changed.
    #[arg(long, value_name = "NAME")]
    relative_name: Option<String>,
    /// The rule that chooses an endpoint.
    #[arg(long, value_parser = routing())]
    routing: Option<Routing>,
    /// How long resolvers keep an answer, in seconds or with a unit [default: 30].
    #[arg(long, value_name = "SECONDS", value_parser = flags::ttl, allow_hyphen_values = true)]
    ttl: Option<u32>,
    /// Most addresses of an answer under multivalue routing, 1 to 8 [default: 2].
    #[arg(long, value_name = "N", value_parser = flags::number(1, profile_limits::RETURN_MAX))]
    max_return: Option<u32>,
    /// Are names answered by their addresses, which the leader looks up, instead of by an alias? [default: off]
    #[arg(long, value_name = "on|off", value_parser = flags::switch)]
    flatten: Option<bool>,
    /// How much of the profile may leave the pool by probing alone within the window, 1% to 100%; the rest is held in it [default: off].
    #[arg(long, value_name = "PERCENT|off", value_parser = flags::share, help_heading = "Brake")]
    max_removal: Option<flags::Share>,
    /// The window of --max-removal, 1s to 1h [default: 30s].
    #[arg(long, value_name = "DURATION", value_parser = duration::millis, allow_hyphen_values = true, help_heading = "Brake")]
    removal_window: Option<Millis>,
    /// What a probe speaks [default: http].
    #[arg(long, value_parser = protocol(), help_heading = "Monitor")]
    protocol: Option<Protocol>,
    /// The port that is probed [default: 80, 443 for https].
    #[arg(long, value_parser = flags::number(1, monitor_limits::PORT_MAX), help_heading = "Monitor")]
    port: Option<u32>,
    /// The path that is asked for [default: /].
    #[arg(long, help_heading = "Monitor")]
    path: Option<String>,
    /// From probe to probe: 30s, 10s, 5s or 1s [default: 30s].
    #[arg(long, value_name = "DURATION", value_parser = duration::millis, allow_hyphen_values = true, help_heading = "Monitor")]
    interval: Option<Millis>,
    /// How long one probe may take [default: the longest that the interval allows].
    #[arg(long, value_name = "DURATION", value_parser = duration::millis, allow_hyphen_values = true, help_heading = "Monitor")]
    timeout: Option<Millis>,
    /// Failures in a row that are still tolerated [default: 3].
    #[arg(
        long,
        value_name = "N",
        value_parser = flags::number(0, monitor_limits::TOLERATED_FAILURES_MAX),
        help_heading = "Monitor"
    )]
    tolerated_failures: Option<u32>,
    /// Successes in a row that end a failure [default: 1].
    #[arg(
        long,
        value_name = "N",
        value_parser = flags::number(1, monitor_limits::RECOVERY_SUCCESSES_MAX),
        help_heading = "Monitor"
    )]
    recovery_successes: Option<u32>,
    /// Status codes that count as success; may be repeated, and replaces all there were [default: 200].
    #[arg(
        long,
        value_name = "MIN-MAX",
        value_delimiter = ',',
        value_parser = flags::status_range,
        help_heading = "Monitor"
    )]
    expect: Vec<StatusRange>,
    /// A header of every probe's request; may be repeated, and replaces all there were.
    #[arg(long = "header", value_name = "NAME: VALUE", value_parser = flags::header, help_heading = "Monitor")]
    headers: Vec<Header>,
    #[command(flatten)]
    secret_headers: flags::SecretHeaders,
    /// A field that goes back to its default; may be repeated.
    #[arg(long, value_name = "FIELD", value_parser = UNSET.map(|(word, _)| word))]
    unset: Vec<String>,
    /// Only if it is at this revision.
    #[arg(long, value_name = "R", value_parser = flags::revision)]
    pub(super) if_revision: Option<u64>,
}

const UNSET: [(&str, &str); 14] = [
    ("flatten", "flatten"),
    ("max-return", "max_return"),
    ("max-removal", "max_removal_percent"),
    ("removal-window", "removal_window_ms"),
    ("ttl", "ttl_seconds"),
    ("protocol", "monitor.protocol"),
    ("port", "monitor.port"),
    ("path", "monitor.path"),
    ("interval", "monitor.interval_ms"),
    ("timeout", "monitor.timeout_ms"),
    ("tolerated-failures", "monitor.tolerated_failures"),
    ("recovery-successes", "monitor.recovery_successes"),
    ("expect", "monitor.expect"),
    ("header", "monitor.headers"),
];

fn routing() -> impl TypedValueParser<Value = Routing> {
    PossibleValuesParser::new(Routing::ALL.map(Routing::as_str)).map(|word| {
        Routing::ALL.into_iter().find(|routing| routing.as_str() == word).expect("the words are those of ALL")
    })
}

fn protocol() -> impl TypedValueParser<Value = Protocol> {
    PossibleValuesParser::new(Protocol::ALL.map(Protocol::as_str)).map(|word| {
        Protocol::ALL
            .into_iter()
            .find(|protocol| protocol.as_str() == word)
            .expect("the words are those of ALL")
    })
}

impl Change {
    /// The message, and the mask of what is named in it.
    pub(super) fn message(self) -> Result<(wire::Profile, Mask), Failure> {
        let mut mask = Mask::default();
        let monitor = wire::Monitor {
            protocol: mask
                .take("monitor.protocol", self.protocol)
                .map_or(0, |word| wire::Protocol::from(word).into()),
            port: mask.take("monitor.port", self.port),
            path: mask.take("monitor.path", self.path),
            interval_ms: mask.take("monitor.interval_ms", self.interval).map(|interval| interval.0),
            timeout_ms: mask.take("monitor.timeout_ms", self.timeout).map(|timeout| timeout.0),
            tolerated_failures: mask.take("monitor.tolerated_failures", self.tolerated_failures),
            recovery_successes: mask.take("monitor.recovery_successes", self.recovery_successes),
            expect: mask.take_list("monitor.expect", self.expect),
            headers: mask.take_list("monitor.headers", self.secret_headers.behind(self.headers)),
        };
        let profile = wire::Profile {
            name: self.name,
            zone: mask.take("zone", self.zone).unwrap_or_default(),
            relative_name: mask.take("relative_name", self.relative_name).unwrap_or_default(),
            routing: mask.take("routing", self.routing).map_or(0, |word| wire::Routing::from(word).into()),
            ttl_seconds: mask.take("ttl_seconds", self.ttl),
            enabled: None,
            monitor: Some(monitor),
            endpoints: Vec::new(),
            revision: 0,
            max_return: mask.take("max_return", self.max_return),
            flatten: mask.take("flatten", self.flatten),
            // Off is what nothing means.
            max_removal_percent: mask.take("max_removal_percent", self.max_removal).and_then(|share| share.0),
            removal_window_ms: mask.take("removal_window_ms", self.removal_window).map(|window| window.0),
        };
        mask.unset(&self.unset, &UNSET)?;
        Ok((profile, mask))
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        change: Change,
    }

    const EVERYTHING: &str = "x web --zone tm.example.com --relative-name web --routing weighted --ttl 30s --max-return 3 \
        --flatten on --protocol https --port 8443 --path /health --interval 10s --timeout 500ms --tolerated-failures 2 \
        --recovery-successes 3 --max-removal 20% --removal-window 5s --expect 200-299,301 --expect 404 --header Host:web --secret-header Key:b";

    #[test]
    fn cli_1_every_flag_reaches_its_field_and_the_mask() {
        let line = Line::try_parse_from(EVERYTHING.split_whitespace()).unwrap();
        let (profile, mask) = line.change.message().unwrap();
        let monitor = profile.monitor.unwrap();
        assert_eq!((profile.routing, profile.ttl_seconds), (wire::Routing::Weighted.into(), Some(30)));
        assert_eq!((monitor.interval_ms, monitor.timeout_ms), (Some(10_000), Some(500)));
        assert_eq!((profile.max_removal_percent, profile.removal_window_ms), (Some(20), Some(5_000)));
        assert_eq!((monitor.expect.len(), monitor.headers.len()), (3, 2));
        let mut paths = mask.finish().unwrap().unwrap().paths;
        paths.sort();
        let mut wanted: Vec<&str> = waymark_proto::convert::PROFILE_PATHS.to_vec();
        wanted.retain(|path| *path != "enabled");
        wanted.extend(["zone", "relative_name"]);
        wanted.sort_unstable();
        assert_eq!(paths, wanted);
    }

    #[test]
    fn val_2_an_update_names_only_what_it_changes() {
        let line = Line::try_parse_from(["x", "web", "--port", "80", "--unset", "path"]).unwrap();
        let (_, mask) = line.change.message().unwrap();
        assert_eq!(mask.finish().unwrap().unwrap().paths, ["monitor.port", "monitor.path"]);
    }

    #[test]
    fn fail_2_the_brake_is_switched_off_by_the_word_for_it() {
        let line = Line::try_parse_from(["x", "web", "--max-removal", "off"]).unwrap();
        let (profile, mask) = line.change.message().unwrap();
        assert_eq!(profile.max_removal_percent, None);
        assert_eq!(mask.finish().unwrap().unwrap().paths, ["max_removal_percent"]);
        assert!(Line::try_parse_from(["x", "web", "--max-removal", "some"]).is_err());
    }
}
