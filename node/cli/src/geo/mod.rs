//! `waymark geo`: where clients are, by the table that all members go by and by the operator's overrides.

mod shown;

use std::net::IpAddr;

use clap::Subcommand;
use waymark_core::model::Place;
use waymark_proto::RESPONSE_BYTES_MAX;
use waymark_proto::admin::v1::geo_client::GeoClient;
use waymark_proto::admin::v1::{
    self as wire, DeleteRequest, GeoOverride, ListGeoTablesRequest, ListRequest, LookUpAddressRequest,
    SetGeoOverrideRequest, UseGeoTableRequest,
};

use crate::client::Attempt;
use crate::failure::{Exit, Failure};
use crate::session::Session;

/// What is done about where clients are.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Show a place by its code: what it lies in, and what lies in it.
    #[command(after_help = "Examples:\n  waymark geo show GEO-EU\n  waymark geo show US-CA -o json")]
    Show {
        /// The code: 'WORLD', 'GEO-EU', a country as in 'DE', a state as in 'US-CA'.
        code: String,
    },
    /// Say where an address is, and who says so.
    #[command(
        after_help = "Examples:\n  waymark geo lookup 193.0.6.139\n  waymark geo lookup 2001:67c:2e8::1 -o json"
    )]
    Lookup {
        /// The address.
        ip: IpAddr,
    },
    /// List the geo tables of each member, and by which it goes.
    #[command(after_help = "Examples:\n  waymark geo tables\n  waymark geo tables -o json")]
    Tables,
    /// Have all members go by another geo table.
    #[command(after_help = "Examples:\n  waymark geo use newest\n  waymark geo use embedded")]
    Use {
        /// Its digest, or 'newest' for the geo database that was read last, or 'embedded'.
        table: String,
        /// Although members lack it: each of them goes on by the table that it has.
        #[arg(long)]
        allow_missing: bool,
        /// Only if the last choice was made at this revision.
        #[arg(long, value_name = "R")]
        if_revision: Option<u64>,
    },
    /// Networks that are somewhere else than the table says.
    #[command(subcommand)]
    Override(Override),
}

/// What is done to overrides.
#[derive(Debug, Subcommand)]
pub(crate) enum Override {
    /// Say where a network is; the most specific network counts.
    #[command(
        after_help = "Examples:\n  waymark geo override set 10.0.0.0/8 DE\n  waymark geo override set 2001:db8::/32 US-CA"
    )]
    Set {
        /// The network.
        network: String,
        /// The place's code.
        code: String,
    },
    /// List the overrides.
    #[command(after_help = "Examples:\n  waymark geo override list\n  waymark geo override list -o json")]
    List,
    /// Leave a network to the table again.
    #[command(
        after_help = "Examples:\n  waymark geo override delete 10.0.0.0/8\n  waymark geo override delete 10.0.0.0/8 --if-revision 7"
    )]
    Delete {
        /// The network.
        network: String,
        /// Only if it is at this revision.
        #[arg(long, value_name = "R")]
        if_revision: Option<u64>,
    },
}

/// Carries the verb out.
pub(crate) async fn run(verb: Verb, session: &Session) -> Result<String, Failure> {
    match verb {
        Verb::Show { code } => show(&code, session),
        Verb::Lookup { ip } => lookup(ip, session).await,
        Verb::Tables => tables(session).await,
        Verb::Use { table, allow_missing, if_revision } => {
            use_table(table, allow_missing, if_revision, session).await
        }
        Verb::Override(Override::Set { network, code }) => set(network, code, session).await,
        Verb::Override(Override::List) => list(session).await,
        Verb::Override(Override::Delete { network, if_revision }) => {
            delete(network, if_revision, session).await
        }
    }
}

/// The hierarchy is part of this program: no member is asked.
fn show(code: &str, session: &Session) -> Result<String, Failure> {
    let place = Place::parse(code).map_err(|fault| Failure::new(Exit::NotFound, fault.to_string()))?;
    Ok(session.show(&shown::Place::of(place)))
}

async fn lookup(ip: IpAddr, session: &Session) -> Result<String, Failure> {
    let request = LookUpAddressRequest { address: ip.to_string(), read: session.read() };
    let call = async |at: Attempt| {
        let request = at.request(&request);
        GeoClient::new(at.channel).look_up_address(request).await
    };
    Ok(session.show(&shown::Location::from(session.client.read(call).await?)))
}

async fn tables(session: &Session) -> Result<String, Failure> {
    let request = ListGeoTablesRequest { read: session.read() };
    let call = async |at: Attempt| {
        let request = at.request(&request);
        GeoClient::new(at.channel).list_geo_tables(request).await
    };
    Ok(session.show(&shown::GeoTableList::from(session.client.read(call).await?)))
}

async fn use_table(
    table: String,
    allow_missing: bool,
    if_revision: Option<u64>,
    session: &Session,
) -> Result<String, Failure> {
    let request =
        UseGeoTableRequest { digest: table.clone(), allow_missing, write: session.write(if_revision) };
    let call = async |at: Attempt| {
        let request = at.request(&request);
        GeoClient::new(at.channel).use_geo_table(request).await
    };
    Ok(session.written("geo table", &table, "in use", session.client.write(call).await?))
}

async fn set(network: String, code: String, session: &Session) -> Result<String, Failure> {
    let wished = GeoOverride { network: network.clone(), place: code, revision: 0 };
    let request = SetGeoOverrideRequest { r#override: Some(wished), write: session.write(None) };
    let call = async |at: Attempt| {
        let request = at.request(&request);
        GeoClient::new(at.channel).set_geo_override(request).await
    };
    Ok(session.written("geo override", &network, "set", session.client.write(call).await?))
}

async fn delete(network: String, if_revision: Option<u64>, session: &Session) -> Result<String, Failure> {
    let request = DeleteRequest { name: network.clone(), write: session.write(if_revision) };
    let call = async |at: Attempt| {
        let request = at.request(&request);
        GeoClient::new(at.channel).delete_geo_override(request).await
    };
    Ok(session.written("geo override", &network, "deleted", session.client.write(call).await?))
}

async fn list(session: &Session) -> Result<String, Failure> {
    let overrides = session
        .pages(async |page| {
            let request = ListRequest { page: Some(page), read: session.read() };
            let call = async |at: Attempt| {
                let request = at.request(&request);
                GeoClient::new(at.channel)
                    .max_decoding_message_size(RESPONSE_BYTES_MAX)
                    .list_geo_overrides(request)
                    .await
            };
            let wire::ListGeoOverridesResponse { overrides, next_page_token } =
                session.client.read(call).await?;
            Ok((overrides, next_page_token))
        })
        .await?;
    Ok(session.show(&shown::GeoOverrideList::of(overrides)))
}
