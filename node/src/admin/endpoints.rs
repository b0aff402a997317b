//! The endpoints of a profile.

use tonic::{Request, Response, Status};
use waymark_core::model::{Caseless, Revision, Violations, nearest, shorten};
use waymark_core::state::{Action, Rejection};
use waymark_proto::admin::v1::{
    CreateEndpointRequest, DeleteEndpointRequest, Endpoint, EndpointRequest, GetRequest,
    ListEndpointsResponse, UpdateEndpointRequest, WriteResponse, endpoints_server,
};

use super::caller::Caller;
use super::fault;
use super::handles::{Handles, Marks, named, required};
use super::profiles::profile_of;
use super::wish::Wish;

/// The service.
#[derive(Clone)]
pub(super) struct EndpointsService {
    handles: Handles,
}

impl EndpointsService {
    pub(super) fn new(handles: Handles) -> Self {
        Self { handles }
    }
}

#[tonic::async_trait]
impl endpoints_server::Endpoints for EndpointsService {
    async fn create_endpoint(
        &self,
        request: Request<CreateEndpointRequest>,
    ) -> Result<Response<WriteResponse>, Status> {
        let caller = Caller::of(&request);
        let CreateEndpointRequest { profile, endpoint, write } = request.into_inner();
        let mut violations = Violations::new();
        let marks = Marks::of(write, &mut violations);
        named(&profile, "profile", &mut violations);
        let wish = required(endpoint, "endpoint", &mut violations)
            .map(|endpoint| Wish::add_endpoint(&profile, endpoint, marks.if_revision));
        self.handles.write(caller, marks, wish, violations).await
    }

    async fn get_endpoint(&self, request: Request<EndpointRequest>) -> Result<Response<Endpoint>, Status> {
        let EndpointRequest { profile, name, read } = request.into_inner();
        let mut violations = Violations::new();
        named(&profile, "profile", &mut violations);
        named(&name, "name", &mut violations);
        fault::refuse_if_any(violations)?;
        let view = self.handles.view(read).await?;
        let profile = profile_of(&view.state, &profile)?;
        match profile.endpoint(&Caseless::new(&name)) {
            Some((_, endpoint)) => Ok(Response::new(endpoint.into())),
            None => {
                let names = profile.endpoints.iter().map(|endpoint| endpoint.name.as_str());
                let within = |name: &str| format!("{}/{}", profile.name, shorten(name));
                let hint = nearest(&name, names).map(within);
                let missing = Rejection::NotFound { noun: "endpoint", name: within(&name), hint };
                Err(fault::refusal(&missing))
            }
        }
    }

    async fn list_endpoints(
        &self,
        request: Request<GetRequest>,
    ) -> Result<Response<ListEndpointsResponse>, Status> {
        let GetRequest { name, read } = request.into_inner();
        let mut violations = Violations::new();
        named(&name, "name", &mut violations);
        fault::refuse_if_any(violations)?;
        let view = self.handles.view(read).await?;
        let endpoints = profile_of(&view.state, &name)?.endpoints.iter().map(Into::into).collect();
        Ok(Response::new(ListEndpointsResponse { endpoints }))
    }

    async fn update_endpoint(
        &self,
        request: Request<UpdateEndpointRequest>,
    ) -> Result<Response<WriteResponse>, Status> {
        let caller = Caller::of(&request);
        let UpdateEndpointRequest { profile, endpoint, update_mask, write } = request.into_inner();
        let mut violations = Violations::new();
        let marks = Marks::of(write, &mut violations);
        named(&profile, "profile", &mut violations);
        let wish = required(endpoint, "endpoint", &mut violations)
            .map(|endpoint| Wish::update_endpoint(&profile, endpoint, update_mask, marks.if_revision));
        self.handles.write(caller, marks, wish, violations).await
    }

    async fn delete_endpoint(
        &self,
        request: Request<DeleteEndpointRequest>,
    ) -> Result<Response<WriteResponse>, Status> {
        let caller = Caller::of(&request);
        let DeleteEndpointRequest { profile, name, write } = request.into_inner();
        let mut violations = Violations::new();
        let marks = Marks::of(write, &mut violations);
        named(&profile, "profile", &mut violations);
        named(&name, "name", &mut violations);
        let if_revision = marks.if_revision.map(Revision);
        let action = Action::RemoveEndpoint { profile, name, if_revision };
        self.handles.write(caller, marks, Some(action.into()), violations).await
    }
}
