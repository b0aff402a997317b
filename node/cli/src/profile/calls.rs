//! The calls behind the verbs.

use prost_types::FieldMask;
use waymark_proto::RESPONSE_BYTES_MAX;
use waymark_proto::admin::v1::profiles_client::ProfilesClient;
use waymark_proto::admin::v1::{
    self as wire, CreateProfileRequest, DeleteRequest, GetRequest, ListRequest, UpdateProfileRequest,
};

use super::Named;
use super::flags::Change;
use super::shown::{Profile, ProfileList};
use crate::client::Attempt;
use crate::confirm;
use crate::failure::Failure;
use crate::session::Session;

pub(super) async fn create(change: Change, session: &Session) -> Result<String, Failure> {
    let write = session.write(change.if_revision);
    let (profile, _) = change.message()?;
    let name = profile.name.clone();
    let request = CreateProfileRequest { profile: Some(profile), write };
    let call = async |at: Attempt| {
        let request = at.request(&request);
        ProfilesClient::new(at.channel).create_profile(request).await
    };
    Ok(session.written("profile", &name, "created", session.client.write(call).await?))
}

pub(super) async fn update(change: Change, session: &Session) -> Result<String, Failure> {
    let if_revision = change.if_revision;
    let (profile, mask) = change.message()?;
    send_update(profile, mask.finish()?, if_revision, "updated", session).await
}

pub(super) async fn switch(named: Named, is_on: bool, session: &Session) -> Result<String, Failure> {
    let profile = wire::Profile { name: named.name, enabled: Some(is_on), ..Default::default() };
    let mask = FieldMask { paths: vec!["enabled".to_owned()] };
    let done = if is_on { "enabled" } else { "disabled" };
    send_update(profile, Some(mask), named.if_revision, done, session).await
}

async fn send_update(
    profile: wire::Profile,
    update_mask: Option<FieldMask>,
    if_revision: Option<u64>,
    done: &'static str,
    session: &Session,
) -> Result<String, Failure> {
    let name = profile.name.clone();
    let request =
        UpdateProfileRequest { profile: Some(profile), update_mask, write: session.write(if_revision) };
    let call = async |at: Attempt| {
        let request = at.request(&request);
        ProfilesClient::new(at.channel).update_profile(request).await
    };
    Ok(session.written("profile", &name, done, session.client.write(call).await?))
}

pub(super) async fn delete(named: Named, session: &Session) -> Result<String, Failure> {
    let Named { name, if_revision } = named;
    confirm::removal(session.yes, &format!("the profile '{name}' with its endpoints"))?;
    let request = DeleteRequest { name: name.clone(), write: session.write(if_revision) };
    let call = async |at: Attempt| {
        let request = at.request(&request);
        ProfilesClient::new(at.channel).delete_profile(request).await
    };
    Ok(session.written("profile", &name, "deleted", session.client.write(call).await?))
}

pub(super) async fn show(name: String, session: &Session) -> Result<String, Failure> {
    let request = GetRequest { name, read: session.read() };
    let call = async |at: Attempt| {
        let request = at.request(&request);
        ProfilesClient::new(at.channel)
            .max_decoding_message_size(RESPONSE_BYTES_MAX)
            .get_profile(request)
            .await
    };
    Ok(session.show(&Profile::try_from(session.client.read(call).await?)?))
}

pub(super) async fn list(session: &Session) -> Result<String, Failure> {
    let profiles = session
        .pages(async |page| {
            let request = ListRequest { page: Some(page), read: session.read() };
            let call = async |at: Attempt| {
                let request = at.request(&request);
                ProfilesClient::new(at.channel)
                    .max_decoding_message_size(RESPONSE_BYTES_MAX)
                    .list_profiles(request)
                    .await
            };
            let wire::ListProfilesResponse { profiles, next_page_token } = session.client.read(call).await?;
            Ok((profiles, next_page_token))
        })
        .await?;
    let profiles = profiles.into_iter().map(Profile::try_from).collect::<Result<_, _>>()?;
    Ok(session.show(&ProfileList { profiles }))
}
