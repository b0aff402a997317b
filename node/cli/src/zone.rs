//! `waymark zone`: DNS zones that the cluster answers for.

use clap::{Args, Subcommand};
use comfy_table::Cell;
use serde::Serialize;
use waymark_core::model::ZoneTimers;
use waymark_proto::RESPONSE_BYTES_MAX;
use waymark_proto::admin::v1::zones_client::ZonesClient;
use waymark_proto::admin::v1::{
    self as wire, CreateZoneRequest, DeleteRequest, GetRequest, ListRequest, NameServer, UpdateZoneRequest,
};

use crate::client::Attempt;
use crate::confirm;
use crate::failure::Failure;
use crate::flags::{self, Mask};
use crate::output::{Shown, Style, table};
use crate::session::Session;

/// What is done to zones.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Make the cluster answer for a zone.
    #[command(
        // What is not there yet has no revision and no field to send back; the API refuses both.
        mut_arg("if_revision", |revision| revision.hide(true)),
        mut_arg("unset", |unset| unset.hide(true)),
        after_help = "Examples:\n  waymark zone create tm.example.com --ns ns1.tm.example.com=192.0.2.53\n  \
waymark zone create tm.example.com --ns ns1.example.net --soa-mailbox hostmaster@example.com"
    )]
    Create(Change),
    /// List all zones.
    #[command(after_help = "Examples:\n  waymark zone list\n  waymark zone list -o name")]
    List,
    /// Show one zone.
    #[command(
        after_help = "Examples:\n  waymark zone show tm.example.com\n  waymark zone show tm.example.com -o json"
    )]
    Show {
        /// The zone's name.
        zone: String,
    },
    /// Change what is named of a zone.
    #[command(after_help = "Examples:\n  \
waymark zone update tm.example.com --ns ns1.tm.example.com=192.0.2.53 --ns ns2.tm.example.com=198.51.100.53\n  \
waymark zone update tm.example.com --negative-ttl 10s --soa-refresh 2h\n  \
waymark zone update tm.example.com --unset soa-mailbox --if-revision 12")]
    Update(Change),
    /// Remove a zone that has no profiles.
    #[command(
        after_help = "Examples:\n  waymark zone delete tm.example.com\n  waymark zone delete tm.example.com --yes"
    )]
    Delete {
        /// The zone's name.
        zone: String,
        /// Only if it is at this revision.
        #[arg(long, value_name = "R", value_parser = flags::revision)]
        if_revision: Option<u64>,
    },
}

/// A zone and what is wished of it.
#[derive(Args, Debug)]
pub(crate) struct Change {
    /// The zone's name, as in `tm.example.com`.
    zone: String,
    /// A name server, with its addresses if it lies in the zone; may be repeated, and replaces all there were.
    #[arg(long = "ns", value_name = "NAME[=ADDRESS,…]", value_parser = flags::name_server)]
    name_servers: Vec<NameServer>,
    /// The mailbox of whoever answers for the zone [default: hostmaster at the zone].
    #[arg(long, value_name = "MAILBOX")]
    soa_mailbox: Option<String>,
    /// May the client subnet of a query decide? [default: on]
    #[arg(long, value_name = "on|off", value_parser = flags::switch)]
    ecs: Option<bool>,
    #[command(flatten)]
    timers: Timers,
    /// A field that goes back to its default; may be repeated.
    #[arg(long, value_name = "FIELD", value_parser = UNSET.map(|(word, _)| word))]
    unset: Vec<String>,
    /// Only if it is at this revision.
    #[arg(long, value_name = "R", value_parser = flags::revision)]
    if_revision: Option<u64>,
}

/// The times in a zone's own records.
#[derive(Args, Debug)]
struct Timers {
    /// Time to live of the SOA [default: 3600].
    #[arg(long, value_name = "SECONDS", value_parser = flags::ttl, allow_hyphen_values = true)]
    soa_ttl: Option<u32>,
    /// The SOA's REFRESH, 60 or more [default: 3600].
    #[arg(long, value_name = "SECONDS", value_parser = flags::ttl, allow_hyphen_values = true)]
    soa_refresh: Option<u32>,
    /// The SOA's RETRY, 60 or more and below REFRESH [default: 600].
    #[arg(long, value_name = "SECONDS", value_parser = flags::ttl, allow_hyphen_values = true)]
    soa_retry: Option<u32>,
    /// The SOA's EXPIRE, not below REFRESH and RETRY together [default: 604800].
    #[arg(long, value_name = "SECONDS", value_parser = flags::ttl, allow_hyphen_values = true)]
    soa_expire: Option<u32>,
    /// The SOA's MINIMUM: how long a negative answer may be kept, 86400 at most [default: 30].
    #[arg(long, value_name = "SECONDS", value_parser = flags::ttl, allow_hyphen_values = true)]
    negative_ttl: Option<u32>,
    /// Time to live of the name servers and their addresses [default: 3600].
    #[arg(long, value_name = "SECONDS", value_parser = flags::ttl, allow_hyphen_values = true)]
    ns_ttl: Option<u32>,
}

const UNSET: [(&str, &str); 8] = [
    ("soa-mailbox", "mailbox"),
    ("ecs", "ecs"),
    ("soa-ttl", "soa_ttl_seconds"),
    ("soa-refresh", "soa_refresh_seconds"),
    ("soa-retry", "soa_retry_seconds"),
    ("soa-expire", "soa_expire_seconds"),
    ("negative-ttl", "negative_ttl_seconds"),
    ("ns-ttl", "name_server_ttl_seconds"),
];

impl Change {
    fn message(self) -> Result<(wire::Zone, Mask), Failure> {
        let Self { zone, name_servers, soa_mailbox, ecs, timers, unset, if_revision: _ } = self;
        let Timers { soa_ttl, soa_refresh, soa_retry, soa_expire, negative_ttl, ns_ttl } = timers;
        let mut mask = Mask::default();
        let message = wire::Zone {
            name: zone,
            name_servers: mask.take_list("name_servers", name_servers),
            mailbox: mask.take("mailbox", soa_mailbox),
            revision: 0,
            ecs: mask.take("ecs", ecs),
            soa_ttl_seconds: mask.take("soa_ttl_seconds", soa_ttl),
            soa_refresh_seconds: mask.take("soa_refresh_seconds", soa_refresh),
            soa_retry_seconds: mask.take("soa_retry_seconds", soa_retry),
            soa_expire_seconds: mask.take("soa_expire_seconds", soa_expire),
            negative_ttl_seconds: mask.take("negative_ttl_seconds", negative_ttl),
            name_server_ttl_seconds: mask.take("name_server_ttl_seconds", ns_ttl),
        };
        mask.unset(&unset, &UNSET)?;
        Ok((message, mask))
    }
}

/// Carries the verb out.
pub(crate) async fn run(verb: Verb, session: &Session) -> Result<String, Failure> {
    match verb {
        Verb::Create(change) => create(change, session).await,
        Verb::List => list(session).await,
        Verb::Show { zone } => show(zone, session).await,
        Verb::Update(change) => update(change, session).await,
        Verb::Delete { zone, if_revision } => delete(zone, if_revision, session).await,
    }
}

async fn create(change: Change, session: &Session) -> Result<String, Failure> {
    let write = session.write(change.if_revision);
    let (zone, _) = change.message()?;
    let name = zone.name.clone();
    let request = CreateZoneRequest { zone: Some(zone), write };
    let call = async |at: Attempt| {
        let request = at.request(&request);
        ZonesClient::new(at.channel).create_zone(request).await
    };
    Ok(session.written("zone", &name, "created", session.client.write(call).await?))
}

async fn update(change: Change, session: &Session) -> Result<String, Failure> {
    let write = session.write(change.if_revision);
    let (zone, mask) = change.message()?;
    let name = zone.name.clone();
    let request = UpdateZoneRequest { zone: Some(zone), update_mask: mask.finish()?, write };
    let call = async |at: Attempt| {
        let request = at.request(&request);
        ZonesClient::new(at.channel).update_zone(request).await
    };
    Ok(session.written("zone", &name, "updated", session.client.write(call).await?))
}

async fn delete(name: String, if_revision: Option<u64>, session: &Session) -> Result<String, Failure> {
    confirm::removal(session.yes, &format!("the zone '{name}'"))?;
    let request = DeleteRequest { name: name.clone(), write: session.write(if_revision) };
    let call = async |at: Attempt| {
        let request = at.request(&request);
        ZonesClient::new(at.channel).delete_zone(request).await
    };
    Ok(session.written("zone", &name, "deleted", session.client.write(call).await?))
}

async fn show(name: String, session: &Session) -> Result<String, Failure> {
    let request = GetRequest { name, read: session.read() };
    let call = async |at: Attempt| {
        let request = at.request(&request);
        ZonesClient::new(at.channel).max_decoding_message_size(RESPONSE_BYTES_MAX).get_zone(request).await
    };
    Ok(session.show(&Zone::from(session.client.read(call).await?)))
}

async fn list(session: &Session) -> Result<String, Failure> {
    let zones = session
        .pages(async |page| {
            let request = ListRequest { page: Some(page), read: session.read() };
            let call = async |at: Attempt| {
                let request = at.request(&request);
                ZonesClient::new(at.channel)
                    .max_decoding_message_size(RESPONSE_BYTES_MAX)
                    .list_zones(request)
                    .await
            };
            let wire::ListZonesResponse { zones, next_page_token } = session.client.read(call).await?;
            Ok((zones, next_page_token))
        })
        .await?;
    Ok(session.show(&ZoneList { zones: zones.into_iter().map(Into::into).collect() }))
}

#[derive(Debug, Serialize)]
struct Zone {
    metadata: Metadata,
    spec: Spec,
}

#[derive(Debug, Serialize)]
struct Metadata {
    name: String,
    revision: u64,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Spec {
    name_servers: Vec<ShownNameServer>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mailbox: Option<String>,
    ecs: bool,
    soa_ttl: String,
    soa_refresh: String,
    soa_retry: String,
    soa_expire: String,
    negative_ttl: String,
    name_server_ttl: String,
}

#[derive(Debug, Serialize)]
struct ShownNameServer {
    name: String,
    addresses: Vec<String>,
}

#[derive(Debug, Serialize)]
struct ZoneList {
    zones: Vec<Zone>,
}

impl From<wire::Zone> for Zone {
    fn from(message: wire::Zone) -> Self {
        let wire::Zone {
            name,
            name_servers,
            mailbox,
            revision,
            ecs,
            soa_ttl_seconds,
            soa_refresh_seconds,
            soa_retry_seconds,
            soa_expire_seconds,
            negative_ttl_seconds,
            name_server_ttl_seconds,
        } = message;
        let server = |NameServer { name, addresses }| ShownNameServer { name, addresses };
        let seconds = |seconds: Option<u32>, default| format!("{}s", seconds.unwrap_or(default));
        let name_servers = name_servers.into_iter().map(server).collect();
        Self {
            metadata: Metadata { name, revision },
            spec: Spec {
                name_servers,
                mailbox,
                ecs: ecs.unwrap_or(true),
                soa_ttl: seconds(soa_ttl_seconds, ZoneTimers::DEFAULT.soa_ttl),
                soa_refresh: seconds(soa_refresh_seconds, ZoneTimers::DEFAULT.refresh),
                soa_retry: seconds(soa_retry_seconds, ZoneTimers::DEFAULT.retry),
                soa_expire: seconds(soa_expire_seconds, ZoneTimers::DEFAULT.expire),
                negative_ttl: seconds(negative_ttl_seconds, ZoneTimers::DEFAULT.negative_ttl),
                name_server_ttl: seconds(name_server_ttl_seconds, ZoneTimers::DEFAULT.name_server_ttl),
            },
        }
    }
}

impl Zone {
    fn soa(&self) -> String {
        let Spec { soa_ttl, soa_refresh, soa_retry, soa_expire, .. } = &self.spec;
        format!("TTL {soa_ttl}, refresh {soa_refresh}, retry {soa_retry}, expire {soa_expire}")
    }

    fn servers(&self) -> String {
        let server = |ShownNameServer { name, addresses }: &ShownNameServer| match addresses.as_slice() {
            [] => name.clone(),
            addresses => format!("{name} ({})", addresses.join(", ")),
        };
        self.spec.name_servers.iter().map(server).collect::<Vec<_>>().join(", ")
    }
}

impl Shown for Zone {
    const KIND: &'static str = "Zone";

    fn names(&self) -> Vec<String> {
        vec![self.metadata.name.clone()]
    }

    fn text(&self, style: &Style) -> String {
        let default = || format!("hostmaster.{} (default)", self.metadata.name);
        let pairs = [
            ("zone", self.metadata.name.clone()),
            ("revision", self.metadata.revision.to_string()),
            ("name servers", self.servers()),
            ("mailbox", self.spec.mailbox.clone().unwrap_or_else(default)),
            ("client subnet", if self.spec.ecs { "on" } else { "off" }.to_owned()),
            ("soa", self.soa()),
            ("negative answers", self.spec.negative_ttl.clone()),
            ("name servers' TTL", self.spec.name_server_ttl.clone()),
        ];
        table::pairs(style, &pairs)
    }
}

impl Shown for ZoneList {
    const KIND: &'static str = "ZoneList";

    fn names(&self) -> Vec<String> {
        self.zones.iter().map(|zone| zone.metadata.name.clone()).collect()
    }

    fn text(&self, style: &Style) -> String {
        let mut shown = table::table(style, &["ZONE", "REVISION", "NAME SERVERS"]);
        for zone in &self.zones {
            let Metadata { name, revision } = &zone.metadata;
            shown.add_row([Cell::new(name), Cell::new(revision), Cell::new(zone.servers())]);
        }
        table::finish(shown)
    }
}
