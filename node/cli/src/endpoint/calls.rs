//! The calls behind the verbs.

use prost_types::FieldMask;
use waymark_proto::RESPONSE_BYTES_MAX;
use waymark_proto::admin::v1::endpoints_client::EndpointsClient;
use waymark_proto::admin::v1::{
    self as wire, CreateEndpointRequest, DeleteEndpointRequest, EndpointRequest, GetRequest,
    UpdateEndpointRequest,
};

use super::Named;
use super::flags::Change;
use super::shown::{Endpoint, EndpointList, Item};
use crate::client::Attempt;
use crate::confirm;
use crate::failure::Failure;
use crate::session::Session;
use crate::{service, status};

pub(super) async fn add(change: Change, session: &Session) -> Result<String, Failure> {
    let write = session.write(change.if_revision);
    let profile = change.profile.clone();
    let (endpoint, _) = change.message()?;
    let name = format!("{profile}/{}", endpoint.name);
    let request = CreateEndpointRequest { profile, endpoint: Some(endpoint), write };
    let call = async |at: Attempt| {
        let request = at.request(&request);
        EndpointsClient::new(at.channel).create_endpoint(request).await
    };
    Ok(session.written("endpoint", &name, "added", session.client.write(call).await?))
}

pub(super) async fn update(change: Change, session: &Session) -> Result<String, Failure> {
    let (profile, if_revision) = (change.profile.clone(), change.if_revision);
    let (endpoint, mask) = change.message()?;
    send_update(profile, endpoint, mask.finish()?, if_revision, "updated", session).await
}

pub(super) async fn switch(named: Named, is_on: bool, session: &Session) -> Result<String, Failure> {
    let Named { profile, name, if_revision } = named;
    let endpoint = wire::Endpoint { name, enabled: Some(is_on), ..Default::default() };
    let mask = FieldMask { paths: vec!["enabled".to_owned()] };
    let done = if is_on { "enabled" } else { "disabled" };
    send_update(profile, endpoint, Some(mask), if_revision, done, session).await
}

async fn send_update(
    profile: String,
    endpoint: wire::Endpoint,
    update_mask: Option<FieldMask>,
    if_revision: Option<u64>,
    done: &'static str,
    session: &Session,
) -> Result<String, Failure> {
    let name = format!("{profile}/{}", endpoint.name);
    let write = session.write(if_revision);
    let request = UpdateEndpointRequest { profile, endpoint: Some(endpoint), update_mask, write };
    let call = async |at: Attempt| {
        let request = at.request(&request);
        EndpointsClient::new(at.channel).update_endpoint(request).await
    };
    Ok(session.written("endpoint", &name, done, session.client.write(call).await?))
}

pub(super) async fn remove(named: Named, session: &Session) -> Result<String, Failure> {
    let Named { profile, name, if_revision } = named;
    let full = format!("{profile}/{name}");
    confirm::removal(session.yes, &format!("the endpoint '{full}'"))?;
    let request = DeleteEndpointRequest { profile, name, write: session.write(if_revision) };
    let call = async |at: Attempt| {
        let request = at.request(&request);
        EndpointsClient::new(at.channel).delete_endpoint(request).await
    };
    Ok(session.written("endpoint", &full, "removed", session.client.write(call).await?))
}

pub(super) async fn show(profile: String, name: String, session: &Session) -> Result<String, Failure> {
    let request = EndpointRequest { profile: profile.clone(), name, read: session.read() };
    let call = async |at: Attempt| {
        let request = at.request(&request);
        EndpointsClient::new(at.channel)
            .max_decoding_message_size(RESPONSE_BYTES_MAX)
            .get_endpoint(request)
            .await
    };
    let endpoint = session.client.read(call).await?;
    let service = match endpoint.service.as_str() {
        "" => None,
        name => Some(service::get(name, session).await?),
    };
    let standing = status::standing(&profile, &endpoint.name, session).await?;
    Ok(session.show(&Endpoint::new(profile, endpoint, service, standing)))
}

pub(super) async fn list(profile: String, session: &Session) -> Result<String, Failure> {
    let request = GetRequest { name: profile.clone(), read: session.read() };
    let call = async |at: Attempt| {
        let request = at.request(&request);
        EndpointsClient::new(at.channel)
            .max_decoding_message_size(RESPONSE_BYTES_MAX)
            .list_endpoints(request)
            .await
    };
    let wire::ListEndpointsResponse { endpoints } = session.client.read(call).await?;
    let mut endpoints: Vec<Item> = endpoints.into_iter().map(Into::into).collect();
    for (name, standing) in status::standings(&profile, session).await? {
        if let Some(item) = endpoints.iter_mut().find(|item| item.name == name) {
            item.overridden = standing.overridden;
        }
    }
    Ok(session.show(&EndpointList { profile, endpoints }))
}
