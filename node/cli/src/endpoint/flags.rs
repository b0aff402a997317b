//! The flags of an endpoint, the same at add and update (CLI-1).

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use waymark_core::model::profile_limits;
use waymark_proto::admin::v1::{self as wire, Header};

use crate::failure::Failure;
use crate::flags::{self, Mask};

/// An endpoint and what is wished of it.
#[derive(Args, Debug)]
pub(crate) struct Change {
    /// The profile's name.
    pub(super) profile: String,
    /// The endpoint's name.
    name: String,
    /// What it resolves to: a DNS name, an IPv4 or an IPv6 address. A new endpoint has this, --nested or --service.
    #[arg(long)]
    target: Option<String>,
    /// The profile that is asked in its place.
    #[arg(long, value_name = "PROFILE", value_parser = NonEmptyStringValueParser::new())]
    nested: Option<String>,
    /// The registered service that it stands for.
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    service: Option<String>,
    /// How many endpoints of the nested profile must be available, 1 or more [default: 1].
    #[arg(long, value_name = "N", value_parser = flags::number(1, u32::MAX))]
    min_child: Option<u32>,
    /// How many of them over IPv4 [default: 0].
    #[arg(long, value_name = "N", value_parser = flags::number(0, u32::MAX))]
    min_child_ipv4: Option<u32>,
    /// How many of them over IPv6 [default: 0].
    #[arg(long, value_name = "N", value_parser = flags::number(0, u32::MAX))]
    min_child_ipv6: Option<u32>,
    /// A place whose clients it serves under geographic routing, as in WORLD, GEO-EU, DE or US-CA; may be repeated, and
    /// replaces all there were.
    #[arg(long, value_name = "CODE", value_delimiter = ',')]
    geo: Vec<String>,
    /// Addresses whose clients it serves under subnet routing; may be repeated, and replaces all there were.
    #[arg(long = "subnet", value_name = "NETWORK|FIRST-LAST", value_delimiter = ',')]
    subnets: Vec<String>,
    /// Rank under priority routing, 1 to 1000, lower first [default: the next free one].
    #[arg(long, value_name = "N", value_parser = flags::number(1, profile_limits::PRIORITY_MAX))]
    priority: Option<u32>,
    /// Weight under weighted routing, 1 to 1000 [default: 1].
    #[arg(long, value_name = "N", value_parser = flags::number(1, profile_limits::WEIGHT_MAX))]
    weight: Option<u32>,
    /// The region in which it lives.
    #[arg(long, value_name = "REGION")]
    location: Option<String>,
    /// Never probe it, and always take it for working [default: off].
    #[arg(long, value_name = "on|off", value_parser = flags::switch)]
    always_serve: Option<bool>,
    /// A header of its probes' requests, over the profile's of that name; may be repeated, and replaces all there were.
    #[arg(long = "header", value_name = "NAME: VALUE", value_parser = flags::header)]
    headers: Vec<Header>,
    #[command(flatten)]
    secret_headers: flags::SecretHeaders,
    /// A field that goes back to its default; may be repeated.
    #[arg(long, value_name = "FIELD", value_parser = UNSET.map(|(word, _)| word))]
    unset: Vec<String>,
    /// Only if the profile is at this revision.
    #[arg(long, value_name = "R", value_parser = flags::revision)]
    pub(super) if_revision: Option<u64>,
}

const UNSET: [(&str, &str); 10] = [
    ("priority", "priority"),
    ("weight", "weight"),
    ("location", "location"),
    ("always-serve", "always_serve"),
    ("header", "headers"),
    ("min-child", "endpoints_min"),
    ("min-child-ipv4", "endpoints_min_v4"),
    ("min-child-ipv6", "endpoints_min_v6"),
    ("geo", "geo"),
    ("subnet", "subnets"),
];

impl Change {
    /// The message, and the mask of what is named in it.
    pub(super) fn message(self) -> Result<(wire::Endpoint, Mask), Failure> {
        let mut mask = Mask::default();
        let endpoint = wire::Endpoint {
            name: self.name,
            target: mask.take("target", self.target).unwrap_or_default(),
            enabled: None,
            priority: mask.take("priority", self.priority),
            weight: mask.take("weight", self.weight),
            location: mask.take("location", self.location),
            always_serve: mask.take("always_serve", self.always_serve),
            headers: mask.take_list("headers", self.secret_headers.behind(self.headers)),
            revision: 0,
            check_revision: 0,
            nested: mask.take("nested", self.nested).unwrap_or_default(),
            service: mask.take("service", self.service).unwrap_or_default(),
            endpoints_min: mask.take("endpoints_min", self.min_child),
            endpoints_min_v4: mask.take("endpoints_min_v4", self.min_child_ipv4),
            endpoints_min_v6: mask.take("endpoints_min_v6", self.min_child_ipv6),
            geo: mask.take_list("geo", self.geo),
            subnets: mask.take_list("subnets", self.subnets),
        };
        mask.unset(&self.unset, &UNSET)?;
        Ok((endpoint, mask))
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

    #[test]
    fn cli_1_every_flag_reaches_its_field_and_the_mask() {
        let line = "x web eu --target 192.0.2.1 --priority 1 --weight 2 --location r --always-serve on --header A:b \
             --nested p --service s --min-child 1 --min-child-ipv4 0 --min-child-ipv6 2 --geo WORLD,DE \
             --subnet 10.0.0.0/8";
        let (endpoint, mask) =
            Line::try_parse_from(line.split_whitespace()).unwrap().change.message().unwrap();
        assert_eq!(
            (endpoint.priority, endpoint.weight, endpoint.always_serve),
            (Some(1), Some(2), Some(true))
        );
        let mut paths = mask.finish().unwrap().unwrap().paths;
        paths.push("enabled".into());
        paths.sort();
        let mut wanted = waymark_proto::convert::ENDPOINT_PATHS;
        wanted.sort_unstable();
        assert_eq!(paths, wanted);
    }
}
