//! The zones that the cluster is authoritative for.

use std::ops::Bound;

use tonic::{Request, Response, Status};
use waymark_core::model::{Name, Revision, Violations};
use waymark_core::state::Action;
use waymark_proto::admin::v1::{
    CreateZoneRequest, DeleteRequest, GetRequest, ListRequest, ListZonesResponse, UpdateZoneRequest,
    WriteResponse, Zone, zones_server,
};

use super::caller::Caller;
use super::handles::{Handles, Marks, named, required};
use super::wish::Wish;
use super::{fault, page};

/// The service.
#[derive(Clone)]
pub(super) struct ZonesService {
    handles: Handles,
}

impl ZonesService {
    pub(super) fn new(handles: Handles) -> Self {
        Self { handles }
    }
}

#[tonic::async_trait]
impl zones_server::Zones for ZonesService {
    async fn create_zone(
        &self,
        request: Request<CreateZoneRequest>,
    ) -> Result<Response<WriteResponse>, Status> {
        let caller = Caller::of(&request);
        let CreateZoneRequest { zone, write } = request.into_inner();
        let mut violations = Violations::new();
        let marks = Marks::of_new(write, &mut violations);
        let wish = required(zone, "zone", &mut violations).map(Wish::create_zone);
        self.handles.write(caller, marks, wish, violations).await
    }

    async fn get_zone(&self, request: Request<GetRequest>) -> Result<Response<Zone>, Status> {
        let GetRequest { name, read } = request.into_inner();
        let mut violations = Violations::new();
        let parsed = zone_name(&name, "name", &mut violations);
        fault::refuse_if_any(violations)?;
        let view = self.handles.view(read).await?;
        match parsed.and_then(|parsed| view.state.zones.get(&parsed)) {
            Some(zone) => Ok(Response::new(zone.as_ref().into())),
            None => {
                let names: Vec<String> = view.state.zones.keys().map(Name::to_string).collect();
                Err(fault::not_found("zone", &name, names.iter().map(String::as_str)))
            }
        }
    }

    async fn list_zones(&self, request: Request<ListRequest>) -> Result<Response<ListZonesResponse>, Status> {
        let ListRequest { page, read } = request.into_inner();
        let mut violations = Violations::new();
        let wanted = page::wanted(page, |token| Name::parse(token).is_ok(), &mut violations);
        fault::refuse_if_any(violations)?;
        let view = self.handles.view(read).await?;
        let behind = wanted.behind.and_then(|token| Name::parse(&token).ok());
        let start = behind.map_or(Bound::Unbounded, Bound::Excluded);
        let objects = view.state.zones.range((start, Bound::Unbounded));
        let objects = objects.map(|(name, zone)| (name.to_string(), zone.as_ref().into()));
        let (zones, next_page_token) = page::cut(objects, wanted.size);
        Ok(Response::new(ListZonesResponse { zones, next_page_token }))
    }

    async fn update_zone(
        &self,
        request: Request<UpdateZoneRequest>,
    ) -> Result<Response<WriteResponse>, Status> {
        let caller = Caller::of(&request);
        let UpdateZoneRequest { zone, update_mask, write } = request.into_inner();
        let mut violations = Violations::new();
        let marks = Marks::of(write, &mut violations);
        let wish = required(zone, "zone", &mut violations)
            .map(|zone| Wish::update_zone(zone, update_mask, marks.if_revision));
        self.handles.write(caller, marks, wish, violations).await
    }

    async fn delete_zone(&self, request: Request<DeleteRequest>) -> Result<Response<WriteResponse>, Status> {
        let caller = Caller::of(&request);
        let DeleteRequest { name, write } = request.into_inner();
        let mut violations = Violations::new();
        let marks = Marks::of(write, &mut violations);
        named(&name, "name", &mut violations);
        let action = Action::DeleteZone { name, if_revision: marks.if_revision.map(Revision) };
        self.handles.write(caller, marks, Some(action.into()), violations).await
    }
}

/// The name of a zone; one that is none is noted.
pub(super) fn zone_name(text: &str, field: &str, violations: &mut Violations) -> Option<Name> {
    Name::parse(text).map_err(|fault| violations.add(field, format!("'{text}' {fault}"))).ok()
}
