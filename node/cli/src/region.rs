//! `waymark region`: places where agents run and endpoints live.

use clap::Subcommand;
use comfy_table::Cell;
use serde::Serialize;
use waymark_core::geo::CloudRegion;
use waymark_proto::RESPONSE_BYTES_MAX;
use waymark_proto::admin::v1::regions_client::RegionsClient;
use waymark_proto::admin::v1::{self as wire, DeleteRequest, ListRequest, SetRegionRequest};

use crate::client::Attempt;
use crate::failure::Failure;
use crate::flags;
use crate::output::{Shown, Style, table};
use crate::session::Session;

/// What is done to regions.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// List the regions that were declared.
    #[command(after_help = "Examples:\n  waymark region list\n  waymark region list --known -o json")]
    List {
        /// List the regions of clouds instead, which may be named without being declared.
        #[arg(long)]
        known: bool,
    },
    /// Declare a region, or move one.
    #[command(after_help = "Examples:\n  waymark region set aws:eu-central-1 --at 50.1,8.7\n  \
waymark region set cape-town --at -33.9,18.4")]
    Set {
        /// The region's name.
        name: String,
        /// Where it is, in degrees north and east.
        #[arg(long, value_name = "LAT,LON", value_parser = flags::coordinates, allow_hyphen_values = true)]
        at: (f64, f64),
    },
    /// Remove a region in which nothing is any more.
    #[command(
        after_help = "Examples:\n  waymark region delete cape-town\n  waymark region delete cape-town --if-revision 7"
    )]
    Delete {
        /// The region's name.
        name: String,
        /// Only if it is at this revision.
        #[arg(long, value_name = "R", value_parser = flags::revision)]
        if_revision: Option<u64>,
    },
}

/// Carries the verb out.
pub(crate) async fn run(verb: Verb, session: &Session) -> Result<String, Failure> {
    match verb {
        Verb::List { known: false } => list(session).await,
        Verb::List { known: true } => Ok(session.show(&KnownRegionList::default())),
        Verb::Set { name, at } => set(name, at, session).await,
        Verb::Delete { name, if_revision } => delete(name, if_revision, session).await,
    }
}

async fn set(name: String, (latitude, longitude): (f64, f64), session: &Session) -> Result<String, Failure> {
    let region = wire::Region { name: name.clone(), latitude, longitude, revision: 0 };
    let request = SetRegionRequest { region: Some(region), write: session.write(None) };
    let call = async |at: Attempt| {
        let request = at.request(&request);
        RegionsClient::new(at.channel).set_region(request).await
    };
    Ok(session.written("region", &name, "set", session.client.write(call).await?))
}

async fn delete(name: String, if_revision: Option<u64>, session: &Session) -> Result<String, Failure> {
    let request = DeleteRequest { name: name.clone(), write: session.write(if_revision) };
    let call = async |at: Attempt| {
        let request = at.request(&request);
        RegionsClient::new(at.channel).delete_region(request).await
    };
    Ok(session.written("region", &name, "deleted", session.client.write(call).await?))
}

async fn list(session: &Session) -> Result<String, Failure> {
    let regions = session
        .pages(async |page| {
            let request = ListRequest { page: Some(page), read: session.read() };
            let call = async |at: Attempt| {
                let request = at.request(&request);
                RegionsClient::new(at.channel)
                    .max_decoding_message_size(RESPONSE_BYTES_MAX)
                    .list_regions(request)
                    .await
            };
            let wire::ListRegionsResponse { regions, next_page_token } = session.client.read(call).await?;
            Ok((regions, next_page_token))
        })
        .await?;
    Ok(session.show(&RegionList { regions: regions.into_iter().map(Into::into).collect() }))
}

#[derive(Debug, Serialize)]
struct Region {
    name: String,
    latitude: f64,
    longitude: f64,
    revision: u64,
}

#[derive(Debug, Serialize)]
struct RegionList {
    regions: Vec<Region>,
}

impl From<wire::Region> for Region {
    fn from(message: wire::Region) -> Self {
        let wire::Region { name, latitude, longitude, revision } = message;
        Self { name, latitude, longitude, revision }
    }
}

impl Shown for RegionList {
    const KIND: &'static str = "RegionList";

    fn names(&self) -> Vec<String> {
        self.regions.iter().map(|region| region.name.clone()).collect()
    }

    fn text(&self, style: &Style) -> String {
        let mut shown = table::table(style, &["REGION", "LATITUDE", "LONGITUDE", "REVISION"]);
        for Region { name, latitude, longitude, revision } in &self.regions {
            shown.add_row([Cell::new(name), Cell::new(latitude), Cell::new(longitude), Cell::new(revision)]);
        }
        table::finish(shown)
    }
}

/// A region of a cloud.
#[derive(Debug, Serialize)]
struct KnownRegion {
    name: &'static str,
    town: &'static str,
    country: &'static str,
    latitude: f64,
    longitude: f64,
}

#[derive(Debug, Serialize)]
struct KnownRegionList {
    regions: Vec<KnownRegion>,
}

impl Default for KnownRegionList {
    fn default() -> Self {
        let shown = |region: CloudRegion| KnownRegion {
            name: region.name(),
            town: region.town(),
            country: region.country().code(),
            latitude: f64::from(region.point().latitude_e6) / 1e6,
            longitude: f64::from(region.point().longitude_e6) / 1e6,
        };
        Self { regions: CloudRegion::all().map(shown).collect() }
    }
}

impl Shown for KnownRegionList {
    const KIND: &'static str = "KnownRegionList";

    fn names(&self) -> Vec<String> {
        self.regions.iter().map(|region| region.name.to_owned()).collect()
    }

    fn text(&self, style: &Style) -> String {
        let mut shown = table::table(style, &["REGION", "TOWN", "COUNTRY", "LATITUDE", "LONGITUDE"]);
        for KnownRegion { name, town, country, latitude, longitude } in &self.regions {
            let places = [name, town, country].map(Cell::new);
            shown.add_row(places.into_iter().chain([Cell::new(latitude), Cell::new(longitude)]));
        }
        table::finish(shown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn set_14_the_regions_of_clouds_are_listed() {
        let list = KnownRegionList::default();
        assert!(list.names().contains(&"aws:eu-central-1".to_owned()));
        let text = list.text(&Style::default());
        let frankfurt = text.lines().find(|line| line.contains("aws:eu-central-1")).unwrap();
        assert_eq!(
            frankfurt.split_whitespace().collect::<Vec<_>>(),
            ["aws:eu-central-1", "Frankfurt", "DE", "50.11", "8.68"]
        );
    }
}
