//! Where clients are: the table that members go by, and the operator's overrides.

use std::net::IpAddr;
use std::ops::Bound;

use tonic::{Request, Response, Status};
use waymark_core::geo::{GeoDigest, LocatedBy};
use waymark_core::model::{Network, Revision, Violations};
use waymark_core::state::{Action, View};
use waymark_proto::admin::v1::{
    DeleteRequest, GeoTable, ListGeoOverridesResponse, ListGeoTablesRequest, ListGeoTablesResponse,
    ListRequest, LookUpAddressRequest, LookUpAddressResponse, MemberGeoTables, SetGeoOverrideRequest,
    UseGeoTableRequest, WriteResponse, geo_server,
};
use waymark_proto::convert::override_message;

use super::caller::Caller;
use super::handles::{Handles, Marks, named, required};
use super::limits::GATHER_WITHIN;
use super::{fault, page};
use crate::raft::Held;

/// Stands for the table that each member carries along.
const EMBEDDED: &str = "embedded";
/// Stands for the newest table that the member has read.
const NEWEST: &str = "newest";

/// The service.
#[derive(Clone)]
pub(super) struct GeoService {
    handles: Handles,
}

impl GeoService {
    pub(super) fn new(handles: Handles) -> Self {
        Self { handles }
    }

    /// Each member's name, and what it has, if it answers.
    async fn members(&self) -> Vec<(String, Option<Held>)> {
        let names = self.handles.consensus.names();
        let name = |id| names.iter().find(|(known, _)| *known == id).map(|(_, name)| name.clone());
        let held = self.handles.consensus.held_tables(GATHER_WITHIN).await;
        held.into_iter()
            .map(|(id, held)| (name(id).unwrap_or_else(|| format!("member {}", id.0)), held))
            .collect()
    }
}

#[tonic::async_trait]
impl geo_server::Geo for GeoService {
    async fn list_geo_tables(
        &self,
        request: Request<ListGeoTablesRequest>,
    ) -> Result<Response<ListGeoTablesResponse>, Status> {
        let view = self.handles.view(request.into_inner().read).await?;
        let members = self.members().await.into_iter().map(|(member, held)| {
            let Held { tables, used } = held.unwrap_or_default();
            MemberGeoTables { member, digest: used, tables }
        });
        Ok(Response::new(ListGeoTablesResponse {
            digest: chosen(&view, &self.handles.consensus.own_tables()),
            revision: view.state.geography.revision.0,
            members: members.collect(),
        }))
    }

    async fn use_geo_table(
        &self,
        request: Request<UseGeoTableRequest>,
    ) -> Result<Response<WriteResponse>, Status> {
        let caller = Caller::of(&request);
        let UseGeoTableRequest { digest, allow_missing, write } = request.into_inner();
        let mut violations = Violations::new();
        let marks = Marks::of(write, &mut violations);
        let own = self.handles.consensus.own_tables();
        let wanted = wanted(&digest, &own.tables).map_err(|rule| violations.add("digest", rule)).ok();
        fault::refuse_if_any(violations)?;
        if let Some(Some(wanted)) = wanted {
            refuse_if_missing(wanted, &self.members().await, allow_missing)?;
        }
        let if_revision = marks.if_revision.map(Revision);
        let action = wanted.map(|digest| Action::UseGeo { digest, if_revision }.into());
        self.handles.write(caller, marks, action, Violations::new()).await
    }

    async fn look_up_address(
        &self,
        request: Request<LookUpAddressRequest>,
    ) -> Result<Response<LookUpAddressResponse>, Status> {
        let LookUpAddressRequest { address, read } = request.into_inner();
        let mut violations = Violations::new();
        let parsed = address.parse::<IpAddr>();
        if parsed.is_err() {
            violations.add("address", format!("'{address}' is no IPv4 or IPv6 address"));
        }
        let (Ok(parsed), true) = (parsed, violations.is_empty()) else {
            return Err(fault::refuse(violations));
        };
        let parsed = parsed.to_canonical();
        let view = self.handles.view(read).await?;
        let location = view.locator.locate(parsed);
        let by_override = location.is_some_and(|location| location.by == LocatedBy::Override);
        let overrides = view.state.geography.overrides.keys();
        let network = overrides
            .filter(|network| by_override && network.contains(parsed))
            .max_by_key(|network| network.prefix());
        Ok(Response::new(LookUpAddressResponse {
            address: parsed.to_string(),
            place: location.map(|location| location.place.code().to_owned()).unwrap_or_default(),
            r#override: network.map(Network::to_string).unwrap_or_default(),
            digest: view.locator.geo_table().digest.to_string(),
            member: self.handles.consensus.name(),
        }))
    }

    async fn set_geo_override(
        &self,
        request: Request<SetGeoOverrideRequest>,
    ) -> Result<Response<WriteResponse>, Status> {
        let caller = Caller::of(&request);
        let SetGeoOverrideRequest { r#override, write } = request.into_inner();
        let mut violations = Violations::new();
        let rule = "cannot be given here: an override is set whether it is new or not";
        let marks = Marks::of_unbound(write, rule, &mut violations);
        let wish = required(r#override, "override", &mut violations);
        let action =
            wish.map(|wish| Action::SetGeoOverride { network: wish.network, place: wish.place }.into());
        self.handles.write(caller, marks, action, violations).await
    }

    async fn list_geo_overrides(
        &self,
        request: Request<ListRequest>,
    ) -> Result<Response<ListGeoOverridesResponse>, Status> {
        let ListRequest { page, read } = request.into_inner();
        let mut violations = Violations::new();
        let wanted = page::wanted(page, |token| token.parse::<Network>().is_ok(), &mut violations);
        fault::refuse_if_any(violations)?;
        let view = self.handles.view(read).await?;
        let behind = wanted.behind.and_then(|token| token.parse::<Network>().ok());
        let behind = (behind.map_or(Bound::Unbounded, Bound::Excluded), Bound::Unbounded);
        let overrides = view.state.geography.overrides.range(behind);
        let overrides =
            overrides.map(|(network, found)| (network.to_string(), override_message(*network, *found)));
        let (overrides, next_page_token) = page::cut(overrides, wanted.size);
        Ok(Response::new(ListGeoOverridesResponse { overrides, next_page_token }))
    }

    async fn delete_geo_override(
        &self,
        request: Request<DeleteRequest>,
    ) -> Result<Response<WriteResponse>, Status> {
        let caller = Caller::of(&request);
        let DeleteRequest { name, write } = request.into_inner();
        let mut violations = Violations::new();
        let marks = Marks::of(write, &mut violations);
        named(&name, "name", &mut violations);
        let if_revision = marks.if_revision.map(Revision);
        let action = Action::DeleteGeoOverride { network: name, if_revision };
        self.handles.write(caller, marks, Some(action.into()), violations).await
    }
}

/// The digest that the cluster goes by, as text: the embedded table's, if none was chosen.
fn chosen(view: &View, own: &Held) -> String {
    let embedded = || own.tables.first().map(|table| table.digest.clone()).unwrap_or_default();
    view.state.geography.table.map_or_else(embedded, |digest| digest.to_string())
}

/// The digest that `text` stands for; none is the embedded table.
fn wanted(text: &str, own: &[GeoTable]) -> Result<Option<GeoDigest>, String> {
    let embedded = own.first().map(|table| table.digest.as_str());
    let digest = match text {
        EMBEDDED => return Ok(None),
        NEWEST => {
            let newest = own.iter().find(|table| table.newest);
            newest.map(|table| table.digest.as_str()).ok_or_else(|| {
                "'newest' is no table: this member has read no geo database (setting geo_database)".to_owned()
            })?
        }
        digest => digest,
    };
    if Some(digest) == embedded {
        return Ok(None);
    }
    let is_digest = digest.len() == 32 && digest.bytes().all(|byte| byte.is_ascii_hexdigit());
    let number = u128::from_str_radix(digest, 16).ok().filter(|_| is_digest);
    let rule = || format!("'{digest}' is no digest of 32 digits, nor 'newest' or 'embedded'");
    number.map(|number| Some(GeoDigest(number))).ok_or_else(rule)
}

/// A table that a member lacks would leave it at the one before, and the cluster of two minds: that is to be wished. One that
/// nobody has is a slip of the pen.
fn refuse_if_missing(
    wanted: GeoDigest,
    members: &[(String, Option<Held>)],
    may_lack: bool,
) -> Result<(), Status> {
    let digest = wanted.to_string();
    let lacks = |held: &Held| held.tables.iter().all(|table| table.digest != digest);
    let lacking: Vec<String> = members
        .iter()
        .filter_map(|(name, held)| match held {
            None => Some(format!("{name} does not answer")),
            Some(held) => lacks(held).then(|| format!("{name} lacks it")),
        })
        .collect();
    if lacking.len() == members.len() {
        return Err(Status::failed_precondition(format!(
            "no member that answers has the geo table {digest}; 'waymark geo tables' lists those that there are"
        )));
    }
    if lacking.is_empty() || may_lack {
        return Ok(());
    }
    Err(Status::failed_precondition(format!(
        "the geo table {digest} is not on every member: {}; give them the file (setting geo_database) and a HUP, \
         or allow it to be missing",
        lacking.join(", ")
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(digest: u128, newest: bool) -> GeoTable {
        GeoTable { digest: GeoDigest(digest).to_string(), newest, ..GeoTable::default() }
    }

    #[test]
    fn rte_14_a_table_is_named_by_its_digest_or_by_a_word() {
        let own = [table(1, false), table(2, true)];
        assert_eq!(wanted("embedded", &own), Ok(None));
        assert_eq!(wanted("newest", &own), Ok(Some(GeoDigest(2))));
        assert_eq!(wanted(&own[0].digest, &own), Ok(None), "the embedded one by its digest");
        assert_eq!(wanted(&GeoDigest(9).to_string(), &own), Ok(Some(GeoDigest(9))));
        for bad in ["", "2", "newer", "+0000000000000000000000000000002", "0000000000000000000000000000000g"]
        {
            assert!(wanted(bad, &own).unwrap_err().contains("32 digits"), "{bad}");
        }
        assert!(wanted("newest", &own[..1]).unwrap_err().contains("geo_database"));
    }

    #[test]
    fn rte_14_a_table_that_a_member_lacks_is_refused() {
        let has = |tables: &[GeoTable]| Some(Held { tables: tables.to_vec(), used: String::new() });
        let members = |second| {
            vec![("m1".to_owned(), has(&[table(1, false), table(2, true)])), ("m2".to_owned(), second)]
        };
        let refused = |second| {
            refuse_if_missing(GeoDigest(2), &members(second), false)
                .map_err(|status| status.message().to_owned())
        };
        assert_eq!(refused(has(&[table(1, false), table(2, false)])), Ok(()));
        assert!(refused(has(&[table(1, false)])).unwrap_err().contains("m2 lacks it"));
        assert!(refused(None).unwrap_err().contains("m2 does not answer"));
        assert!(refuse_if_missing(GeoDigest(2), &members(None), true).is_ok());
        assert!(refuse_if_missing(GeoDigest(9), &members(None), true).is_err(), "nobody has it");
    }
}
