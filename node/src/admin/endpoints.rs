//! The endpoints of a profile.

use tonic::{Request, Response, Status};
use waymark_core::model::{Caseless, OverrideKind, Revision, Violations, nearest, shorten};
use waymark_core::state::{Action, EventCause, EventId, OverrideAct, Rejection, Subject};
use waymark_proto::admin::v1::{
    self, CreateEndpointRequest, DeleteEndpointRequest, Endpoint, EndpointRequest, GetRequest,
    LiftOverridesRequest, ListEndpointsResponse, OverrideEndpointsRequest, OverrideEndpointsResponse,
    UpdateEndpointRequest, WriteResponse, endpoints_server,
};

use super::caller::{Caller, Eyes};
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
        let eyes = Eyes::of(&request);
        let EndpointRequest { profile, name, read } = request.into_inner();
        let mut violations = Violations::new();
        named(&profile, "profile", &mut violations);
        named(&name, "name", &mut violations);
        fault::refuse_if_any(violations)?;
        let view = self.handles.view(read).await?;
        let profile = profile_of(&view.state, &profile)?;
        match profile.endpoint(&Caseless::new(&name)) {
            Some((_, endpoint)) => Ok(Response::new(eyes.endpoint(endpoint.into()))),
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
        let eyes = Eyes::of(&request);
        let GetRequest { name, read } = request.into_inner();
        let mut violations = Violations::new();
        named(&name, "name", &mut violations);
        fault::refuse_if_any(violations)?;
        let view = self.handles.view(read).await?;
        let endpoints = profile_of(&view.state, &name)?.endpoints.iter();
        let endpoints = endpoints.map(|endpoint| eyes.endpoint(endpoint.into())).collect();
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

    async fn override_endpoints(
        &self,
        request: Request<OverrideEndpointsRequest>,
    ) -> Result<Response<OverrideEndpointsResponse>, Status> {
        let caller = Caller::of(&request);
        let OverrideEndpointsRequest { pattern, kind, reason, for_ms, even_last, write } =
            request.into_inner();
        let mut violations = Violations::new();
        let marks = Marks::of_unbound(write, OF_MANY, &mut violations);
        named(&pattern, "pattern", &mut violations);
        let wish = kind_of(kind, &mut violations).map(|kind| {
            Action::OverrideEndpoints { pattern, kind, reason, span_ms: for_ms, even_last }.into()
        });
        let written = self.handles.write(caller, marks, wish, violations).await?.into_inner();
        Ok(Response::new(self.overridden(written)))
    }

    async fn lift_overrides(
        &self,
        request: Request<LiftOverridesRequest>,
    ) -> Result<Response<OverrideEndpointsResponse>, Status> {
        let caller = Caller::of(&request);
        let LiftOverridesRequest { pattern, reason, write } = request.into_inner();
        let mut violations = Violations::new();
        let marks = Marks::of_unbound(write, OF_MANY, &mut violations);
        named(&pattern, "pattern", &mut violations);
        let action = Action::LiftOverrides { pattern, reason };
        let written = self.handles.write(caller, marks, Some(action.into()), violations).await?.into_inner();
        Ok(Response::new(self.lifted(written)))
    }
}

/// Why the change of many objects cannot be bound to one revision.
const OF_MANY: &str = "cannot be given here: a pattern may stand for endpoints of many profiles";

fn kind_of(word: i32, violations: &mut Violations) -> Option<OverrideKind> {
    let known = v1::OverrideKind::try_from(word).ok().and_then(|word| word.try_into().ok());
    if known.is_none() {
        let words = OverrideKind::ALL.map(OverrideKind::as_str).join(", ");
        violations.add("kind", format!("is required: one of {words}"));
    }
    known
}

impl EndpointsService {
    /// What was written, with the endpoints whose overrides were made by it.
    fn overridden(&self, written: WriteResponse) -> OverrideEndpointsResponse {
        let counter = Revision(written.revision);
        let view = self.handles.reader.view();
        let made = view.state.overrides.iter().filter(|(_, made)| made.revision == counter);
        let endpoints = made.filter_map(|(id, _)| {
            let (profile, endpoint) = view.endpoint(*id)?;
            Some(format!("{}/{}", profile.name, endpoint.name))
        });
        OverrideEndpointsResponse { endpoints: endpoints.collect(), write: Some(written) }
    }

    /// What was written, with the endpoints whose overrides were lifted by it: each has an event.
    fn lifted(&self, written: WriteResponse) -> OverrideEndpointsResponse {
        let counter = Revision(written.revision);
        // A change that found nothing to do bears the revision of whatever came before it.
        let has_changed = written.warnings.iter().all(|warning| warning.field != "pattern");
        let view = self.handles.reader.view();
        let own = view.state.events.range(EventId { counter, ordinal: 0 }..).map(|(_, event)| event);
        let own = own.take_while(|event| has_changed && event.id.counter == counter);
        let endpoints = own.filter_map(|event| match (&event.subject, &event.cause) {
            (Subject::Endpoint { name, .. }, EventCause::Override { act: OverrideAct::Lifted, .. }) => {
                Some(format!("{}/{name}", event.profile_name))
            }
            _ => None,
        });
        OverrideEndpointsResponse { endpoints: endpoints.collect(), write: Some(written) }
    }
}
