//! The latency table.

use std::sync::Arc;

use tonic::{Request, Response, Status};
use waymark_core::model::{Network, Violations};
use waymark_core::state::{Action, View};
use waymark_proto::admin::v1::{
    ListLatenciesResponse, ListLearnedLatenciesResponse, ListRequest, UpdateLatenciesRequest, WriteResponse,
    latencies_server,
};

use super::caller::Caller;
use super::handles::{Handles, Marks};
use super::{fault, page};

/// The service.
#[derive(Clone)]
pub(super) struct LatenciesService {
    handles: Handles,
}

impl LatenciesService {
    pub(super) fn new(handles: Handles) -> Self {
        Self { handles }
    }

    /// The view to list from, and which page of it.
    async fn wanted(&self, request: Request<ListRequest>) -> Result<(Arc<View>, page::Wanted), Status> {
        let ListRequest { page, read } = request.into_inner();
        let mut violations = Violations::new();
        let wanted = page::wanted(page, |token| token.parse::<Network>().is_ok(), &mut violations);
        fault::refuse_if_any(violations)?;
        Ok((self.handles.view(read).await?, wanted))
    }
}

#[tonic::async_trait]
impl latencies_server::Latencies for LatenciesService {
    async fn update_latencies(
        &self,
        request: Request<UpdateLatenciesRequest>,
    ) -> Result<Response<WriteResponse>, Status> {
        let caller = Caller::of(&request);
        let UpdateLatenciesRequest { rows, remove, write } = request.into_inner();
        let mut violations = Violations::new();
        let rule = "cannot be given here: rows are set whether they are new or not";
        let marks = Marks::of_unbound(write, rule, &mut violations);
        let action = Action::UpdateLatency { set: rows.into_iter().map(Into::into).collect(), remove };
        self.handles.write(caller, marks, Some(action.into()), violations).await
    }

    async fn list_latencies(
        &self,
        request: Request<ListRequest>,
    ) -> Result<Response<ListLatenciesResponse>, Status> {
        let (view, wanted) = self.wanted(request).await?;
        let table = &view.state.latency;
        let behind = wanted.behind.and_then(|token| token.parse::<Network>().ok());
        let rows = table.rows.behind(behind.as_ref());
        let rows = rows.map(|(network, row)| (network.to_string(), row.as_ref().into()));
        let (rows, next_page_token) = page::cut(rows, wanted.size);
        Ok(Response::new(ListLatenciesResponse {
            rows,
            next_page_token,
            digest: table.digest().to_string(),
            changed_at_ms: table.at.0,
            revision: table.revision.0,
        }))
    }

    async fn list_learned_latencies(
        &self,
        request: Request<ListRequest>,
    ) -> Result<Response<ListLearnedLatenciesResponse>, Status> {
        let (view, wanted) = self.wanted(request).await?;
        let behind = wanted.behind.and_then(|token| token.parse::<Network>().ok());
        let rows = view.state.learned.rows.behind(behind.as_ref());
        let rows = rows.map(|(network, row)| (network.to_string(), row.as_ref().into()));
        let (rows, next_page_token) = page::cut(rows, wanted.size);
        Ok(Response::new(ListLearnedLatenciesResponse { rows, next_page_token }))
    }
}
