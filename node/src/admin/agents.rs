//! The agents that the cluster knows, and the members that hold their streams; and the tokens by which others may join.

use std::collections::BTreeMap;
use std::ops::Bound;

use tonic::{Request, Response, Status};
use waymark_core::model::{Caseless, MemberId, Violations};
use waymark_core::state::{Action, EnrolmentWish};
use waymark_proto::admin::v1::{
    Agent, CreateJoinTokenRequest, DeleteRequest, GetRequest, ListAgentsResponse, ListJoinTokensResponse,
    ListRequest, WriteResponse, agents_server,
};
use waymark_proto::convert::{token_hash, token_message};

use super::caller::Caller;
use super::handles::{Handles, Marks, named};
use super::{fault, page};

/// The service.
#[derive(Clone)]
pub(super) struct AgentsService {
    handles: Handles,
}

impl AgentsService {
    pub(super) fn new(handles: Handles) -> Self {
        Self { handles }
    }

    fn member_names(&self) -> BTreeMap<MemberId, String> {
        self.handles.consensus.names().into_iter().collect()
    }
}

#[tonic::async_trait]
impl agents_server::Agents for AgentsService {
    async fn get_agent(&self, request: Request<GetRequest>) -> Result<Response<Agent>, Status> {
        let GetRequest { name, read } = request.into_inner();
        let mut violations = Violations::new();
        named(&name, "name", &mut violations);
        fault::refuse_if_any(violations)?;
        let view = self.handles.view(read).await?;
        match view.state.agents.get(&Caseless::new(&name)) {
            Some(agent) => Ok(Response::new(message(agent, &self.member_names()))),
            None => Err(fault::not_found("agent", &name, view.state.agents.keys().map(Caseless::as_str))),
        }
    }

    async fn list_agents(
        &self,
        request: Request<ListRequest>,
    ) -> Result<Response<ListAgentsResponse>, Status> {
        let ListRequest { page, read } = request.into_inner();
        let mut violations = Violations::new();
        let wanted = page::wanted(page, page::is_name, &mut violations);
        fault::refuse_if_any(violations)?;
        let view = self.handles.view(read).await?;
        let members = self.member_names();
        let start = wanted.behind.map_or(Bound::Unbounded, |token| Bound::Excluded(Caseless::new(&token)));
        let objects = view.state.agents.range((start, Bound::Unbounded));
        let objects = objects.map(|(name, agent)| (name.to_string(), message(agent, &members)));
        let (agents, next_page_token) = page::cut(objects, wanted.size);
        Ok(Response::new(ListAgentsResponse { agents, next_page_token }))
    }

    async fn delete_agent(&self, request: Request<DeleteRequest>) -> Result<Response<WriteResponse>, Status> {
        let caller = Caller::of(&request);
        let DeleteRequest { name, write } = request.into_inner();
        let mut violations = Violations::new();
        let marks =
            Marks::of_unbound(write, "cannot be given here: an agent has no revision", &mut violations);
        named(&name, "name", &mut violations);
        self.handles.write(caller, marks, Some(Action::ForgetAgent { name }.into()), violations).await
    }

    async fn create_join_token(
        &self,
        request: Request<CreateJoinTokenRequest>,
    ) -> Result<Response<WriteResponse>, Status> {
        let caller = Caller::of(&request);
        let CreateJoinTokenRequest { hash, agent, region, span_ms, write } = request.into_inner();
        let mut violations = Violations::new();
        let marks = Marks::of_new(write, &mut violations);
        named(&region, "region", &mut violations);
        let hash = token_hash(&hash);
        if hash.is_none() {
            violations.add("hash", "is no SHA-256 of 32 bytes");
        }
        let wish = hash.map(|hash| EnrolmentWish::MakeToken { hash, agent, region, span_ms });
        self.handles.write(caller, marks, wish.map(|wish| Action::Enrolment(wish).into()), violations).await
    }

    async fn list_join_tokens(
        &self,
        request: Request<ListRequest>,
    ) -> Result<Response<ListJoinTokensResponse>, Status> {
        let ListRequest { page, read } = request.into_inner();
        let mut violations = Violations::new();
        let wanted = page::wanted(page, page::is_name, &mut violations);
        fault::refuse_if_any(violations)?;
        let view = self.handles.view(read).await?;
        let behind = wanted.behind.unwrap_or_default();
        // In the order of their hashes, which begin with their ids.
        let objects = view.state.enrolment.tokens.iter().map(|(hash, token)| (hash.id(), (hash, token)));
        let objects = objects.filter(|(id, _)| *id > behind);
        let objects = objects.map(|(id, (hash, token))| (id, token_message(*hash, token)));
        let (tokens, next_page_token) = page::cut(objects, wanted.size);
        Ok(Response::new(ListJoinTokensResponse { tokens, next_page_token }))
    }

    async fn delete_join_token(
        &self,
        request: Request<DeleteRequest>,
    ) -> Result<Response<WriteResponse>, Status> {
        let caller = Caller::of(&request);
        let DeleteRequest { name: id, write } = request.into_inner();
        let mut violations = Violations::new();
        let marks =
            Marks::of_unbound(write, "cannot be given here: a token has no revision", &mut violations);
        named(&id, "name", &mut violations);
        let action = Action::Enrolment(EnrolmentWish::DropToken { id });
        self.handles.write(caller, marks, Some(action.into()), violations).await
    }
}

/// The agent as it is shown: with the name of its member, if that is one of the cluster still.
fn message(agent: &waymark_core::model::Agent, members: &BTreeMap<MemberId, String>) -> Agent {
    Agent { member: members.get(&agent.member).cloned().unwrap_or_default(), ..agent.into() }
}
