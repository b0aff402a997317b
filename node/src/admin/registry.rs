//! Registered services: what a platform runs, and whether it does (OBJ-6).

use std::ops::Bound;

use tonic::{Request, Response, Status};
use waymark_core::model::{Caseless, Revision, Violations};
use waymark_core::state::Action;
use waymark_proto::admin::v1::{
    DeleteRequest, GetRequest, ListRequest, ListServicesResponse, RegisterServiceRequest, Service,
    SwitchServiceRequest, WriteResponse, services_server,
};

use super::caller::Caller;
use super::handles::{Handles, Marks, named, required};
use super::wish::Wish;
use super::{fault, page};

/// The service of services.
#[derive(Clone)]
pub(super) struct ServicesService {
    handles: Handles,
}

impl ServicesService {
    pub(super) fn new(handles: Handles) -> Self {
        Self { handles }
    }

    async fn switch(
        &self,
        request: Request<SwitchServiceRequest>,
        is_running: bool,
    ) -> Result<Response<WriteResponse>, Status> {
        let caller = Caller::of(&request);
        let SwitchServiceRequest { name, write } = request.into_inner();
        let mut violations = Violations::new();
        let marks = Marks::of(write, &mut violations);
        named(&name, "name", &mut violations);
        let if_revision = marks.if_revision.map(Revision);
        let action = Action::SwitchService { name, is_running, if_revision };
        self.handles.write(caller, marks, Some(action.into()), violations).await
    }
}

#[tonic::async_trait]
impl services_server::Services for ServicesService {
    async fn register_service(
        &self,
        request: Request<RegisterServiceRequest>,
    ) -> Result<Response<WriteResponse>, Status> {
        let caller = Caller::of(&request);
        let RegisterServiceRequest { service, update_mask, write } = request.into_inner();
        let mut violations = Violations::new();
        let marks = Marks::of(write, &mut violations);
        let wish = required(service, "service", &mut violations)
            .map(|service| Wish::register_service(service, update_mask, marks.if_revision));
        self.handles.write(caller, marks, wish, violations).await
    }

    async fn get_service(&self, request: Request<GetRequest>) -> Result<Response<Service>, Status> {
        let GetRequest { name, read } = request.into_inner();
        let mut violations = Violations::new();
        named(&name, "name", &mut violations);
        fault::refuse_if_any(violations)?;
        let view = self.handles.view(read).await?;
        match view.state.services.get(&Caseless::new(&name)) {
            Some(service) => Ok(Response::new(service.as_ref().into())),
            None => Err(fault::not_found("service", &name, view.state.services.keys().map(Caseless::as_str))),
        }
    }

    async fn list_services(
        &self,
        request: Request<ListRequest>,
    ) -> Result<Response<ListServicesResponse>, Status> {
        let ListRequest { page, read } = request.into_inner();
        let mut violations = Violations::new();
        let wanted = page::wanted(page, page::is_name, &mut violations);
        fault::refuse_if_any(violations)?;
        let view = self.handles.view(read).await?;
        let start = wanted.behind.map_or(Bound::Unbounded, |token| Bound::Excluded(Caseless::new(&token)));
        let objects = view.state.services.range((start, Bound::Unbounded));
        let objects = objects.map(|(name, service)| (name.to_string(), service.as_ref().into()));
        let (services, next_page_token) = page::cut(objects, wanted.size);
        Ok(Response::new(ListServicesResponse { services, next_page_token }))
    }

    async fn start_service(
        &self,
        request: Request<SwitchServiceRequest>,
    ) -> Result<Response<WriteResponse>, Status> {
        self.switch(request, true).await
    }

    async fn stop_service(
        &self,
        request: Request<SwitchServiceRequest>,
    ) -> Result<Response<WriteResponse>, Status> {
        self.switch(request, false).await
    }

    async fn delete_service(
        &self,
        request: Request<DeleteRequest>,
    ) -> Result<Response<WriteResponse>, Status> {
        let caller = Caller::of(&request);
        let DeleteRequest { name, write } = request.into_inner();
        let mut violations = Violations::new();
        let marks = Marks::of(write, &mut violations);
        named(&name, "name", &mut violations);
        let action = Action::DeleteService { name, if_revision: marks.if_revision.map(Revision) };
        self.handles.write(caller, marks, Some(action.into()), violations).await
    }
}
