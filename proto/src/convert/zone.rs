//! Zones and their name servers: as they are stored and shown, and as they are wished.

use prost_types::FieldMask;
use waymark_core::model::{
    Name, NameServer, Revision, Violation, Zone, ZonePatch, ZoneTimers, mailbox_text, parse_mailbox,
};

use super::mask::{Fields, Named};
use super::patch::{NEVER_CHANGES, OUTPUT_ONLY, Paths};
use super::{Malformed, each, parsed};
use crate::admin::v1 as wire;

/// The paths that an update of a zone may name.
pub const ZONE_PATHS: [&str; 9] = [
    "name_servers",
    "mailbox",
    "ecs",
    "soa_ttl_seconds",
    "soa_refresh_seconds",
    "soa_retry_seconds",
    "soa_expire_seconds",
    "negative_ttl_seconds",
    "name_server_ttl_seconds",
];
const ZONE: Fields =
    Fields { noun: "zone", known: &ZONE_PATHS, fixed: &[("name", NEVER_CHANGES), ("revision", OUTPUT_ONLY)] };

impl From<&Zone> for wire::Zone {
    fn from(zone: &Zone) -> Self {
        let Zone { name, name_servers, mailbox, ecs, timers, revision } = zone;
        // What nothing means is written as nothing, as older versions did.
        let given = timers.zip(ZoneTimers::DEFAULT, |timer, default| (timer != default).then_some(timer));
        let ZoneTimers { soa_ttl, refresh, retry, expire, negative_ttl, name_server_ttl } = given;
        Self {
            name: name.to_string(),
            name_servers: name_servers.iter().map(Into::into).collect(),
            mailbox: mailbox.as_ref().map(mailbox_text),
            revision: revision.0,
            // On is what nothing means, in older versions too.
            ecs: (!ecs).then_some(false),
            soa_ttl_seconds: soa_ttl,
            soa_refresh_seconds: refresh,
            soa_retry_seconds: retry,
            soa_expire_seconds: expire,
            negative_ttl_seconds: negative_ttl,
            name_server_ttl_seconds: name_server_ttl,
        }
    }
}

impl TryFrom<wire::Zone> for Zone {
    type Error = Malformed;

    fn try_from(message: wire::Zone) -> Result<Self, Malformed> {
        let wire::Zone {
            name,
            name_servers,
            mailbox,
            revision,
            ecs,
            soa_ttl_seconds: soa_ttl,
            soa_refresh_seconds: refresh,
            soa_retry_seconds: retry,
            soa_expire_seconds: expire,
            negative_ttl_seconds: negative_ttl,
            name_server_ttl_seconds: name_server_ttl,
        } = message;
        let given = ZoneTimers { soa_ttl, refresh, retry, expire, negative_ttl, name_server_ttl };
        Ok(Self {
            name: parsed("zone.name", &name, Name::parse)?,
            name_servers: each(name_servers)?,
            mailbox: mailbox.map(|mailbox| parsed("zone.mailbox", &mailbox, parse_mailbox)).transpose()?,
            ecs: ecs.unwrap_or(true),
            timers: given.zip(ZoneTimers::DEFAULT, Option::unwrap_or),
            revision: Revision(revision),
        })
    }
}

impl From<&NameServer> for wire::NameServer {
    fn from(server: &NameServer) -> Self {
        let NameServer { name, addresses } = server;
        Self { name: name.to_string(), addresses: addresses.iter().map(ToString::to_string).collect() }
    }
}

impl TryFrom<wire::NameServer> for NameServer {
    type Error = Malformed;

    fn try_from(message: wire::NameServer) -> Result<Self, Malformed> {
        let wire::NameServer { name, addresses } = message;
        let address = |text: &String| parsed("zone.name_servers.addresses", text, str::parse);
        Ok(Self {
            name: parsed("zone.name_servers.name", &name, Name::parse)?,
            addresses: addresses.iter().map(address).collect::<Result<_, _>>()?,
        })
    }
}

/// What `zone` says of a zone's fields: those that are there, or with a mask exactly those that it names.
pub fn zone_patch(zone: wire::Zone, mask: Option<&FieldMask>) -> Result<ZonePatch, Vec<Violation>> {
    let wire::Zone {
        name: _,
        name_servers,
        mailbox,
        revision: _,
        ecs,
        soa_ttl_seconds,
        soa_refresh_seconds,
        soa_retry_seconds,
        soa_expire_seconds,
        negative_ttl_seconds,
        name_server_ttl_seconds,
    } = zone;
    let named = Named::read(mask, &ZONE);
    let parts = |wire::NameServer { name, addresses }| (name, addresses);
    let patch = ZonePatch {
        name_servers: named.edit_list("name_servers", name_servers.into_iter().map(parts).collect()),
        mailbox: named.edit("mailbox", mailbox),
        ecs: named.edit("ecs", ecs),
        timers: ZoneTimers {
            soa_ttl: named.edit("soa_ttl_seconds", soa_ttl_seconds),
            refresh: named.edit("soa_refresh_seconds", soa_refresh_seconds),
            retry: named.edit("soa_retry_seconds", soa_retry_seconds),
            expire: named.edit("soa_expire_seconds", soa_expire_seconds),
            negative_ttl: named.edit("negative_ttl_seconds", negative_ttl_seconds),
            name_server_ttl: named.edit("name_server_ttl_seconds", name_server_ttl_seconds),
        },
    };
    named.finish(patch)
}

/// The message and the mask that say what `patch` says of the zone `name`.
pub fn zone_message(name: &str, patch: &ZonePatch) -> (wire::Zone, FieldMask) {
    let ZonePatch { name_servers, mailbox, ecs, timers } = patch;
    let ZoneTimers { soa_ttl, refresh, retry, expire, negative_ttl, name_server_ttl } = timers;
    let mut paths = Paths::default();
    let server = |(name, addresses): &(String, Vec<String>)| wire::NameServer {
        name: name.clone(),
        addresses: addresses.clone(),
    };
    let message = wire::Zone {
        name: name.to_owned(),
        name_servers: paths.take("name_servers", name_servers).into_iter().flatten().map(server).collect(),
        mailbox: paths.take("mailbox", mailbox).cloned(),
        revision: 0,
        ecs: paths.take("ecs", ecs).copied(),
        soa_ttl_seconds: paths.take("soa_ttl_seconds", soa_ttl).copied(),
        soa_refresh_seconds: paths.take("soa_refresh_seconds", refresh).copied(),
        soa_retry_seconds: paths.take("soa_retry_seconds", retry).copied(),
        soa_expire_seconds: paths.take("soa_expire_seconds", expire).copied(),
        negative_ttl_seconds: paths.take("negative_ttl_seconds", negative_ttl).copied(),
        name_server_ttl_seconds: paths.take("name_server_ttl_seconds", name_server_ttl).copied(),
    };
    (message, paths.0)
}
