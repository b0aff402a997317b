//! The places where agents run and endpoints live.

use std::ops::Bound;

use tonic::{Request, Response, Status};
use waymark_core::model::{Caseless, Revision, Violations};
use waymark_core::state::Action;
use waymark_proto::admin::v1::{
    DeleteRequest, ListRegionsResponse, ListRequest, SetRegionRequest, WriteResponse, regions_server,
};

use super::caller::Caller;
use super::handles::{Handles, Marks, named, required};
use super::wish::Wish;
use super::{fault, page};

/// The service.
#[derive(Clone)]
pub(super) struct RegionsService {
    handles: Handles,
}

impl RegionsService {
    pub(super) fn new(handles: Handles) -> Self {
        Self { handles }
    }
}

#[tonic::async_trait]
impl regions_server::Regions for RegionsService {
    async fn set_region(
        &self,
        request: Request<SetRegionRequest>,
    ) -> Result<Response<WriteResponse>, Status> {
        let caller = Caller::of(&request);
        let SetRegionRequest { region, write } = request.into_inner();
        let mut violations = Violations::new();
        let marks = Marks::of_unbound(
            write,
            "cannot be given here: a region is set as a whole, whether it is new or not",
            &mut violations,
        );
        let wish = required(region, "region", &mut violations).map(Wish::set_region);
        self.handles.write(caller, marks, wish, violations).await
    }

    async fn list_regions(
        &self,
        request: Request<ListRequest>,
    ) -> Result<Response<ListRegionsResponse>, Status> {
        let ListRequest { page, read } = request.into_inner();
        let mut violations = Violations::new();
        let wanted = page::wanted(page, page::is_name, &mut violations);
        fault::refuse_if_any(violations)?;
        let view = self.handles.view(read).await?;
        let start = wanted.behind.map_or(Bound::Unbounded, |token| Bound::Excluded(Caseless::new(&token)));
        let objects = view.state.regions.range((start, Bound::Unbounded));
        let objects = objects.map(|(name, region)| (name.to_string(), region.as_ref().into()));
        let (regions, next_page_token) = page::cut(objects, wanted.size);
        Ok(Response::new(ListRegionsResponse { regions, next_page_token }))
    }

    async fn delete_region(
        &self,
        request: Request<DeleteRequest>,
    ) -> Result<Response<WriteResponse>, Status> {
        let caller = Caller::of(&request);
        let DeleteRequest { name, write } = request.into_inner();
        let mut violations = Violations::new();
        let marks = Marks::of(write, &mut violations);
        named(&name, "name", &mut violations);
        let action = Action::DeleteRegion { name, if_revision: marks.if_revision.map(Revision) };
        self.handles.write(caller, marks, Some(action.into()), violations).await
    }
}
