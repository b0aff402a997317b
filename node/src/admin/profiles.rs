//! Profiles: names that are answered with one of several endpoints.

use std::ops::Bound;

use tonic::{Request, Response, Status};
use waymark_core::model::{Caseless, Revision, Violations};
use waymark_core::state::{Action, State};
use waymark_proto::admin::v1::{
    CreateProfileRequest, DeleteRequest, GetRequest, ListProfilesResponse, ListRequest, Profile,
    UpdateProfileRequest, WriteResponse, profiles_server,
};

use super::caller::{Caller, Eyes};
use super::handles::{Handles, Marks, named, required};
use super::wish::Wish;
use super::{fault, page};

/// The service.
#[derive(Clone)]
pub(super) struct ProfilesService {
    handles: Handles,
}

impl ProfilesService {
    pub(super) fn new(handles: Handles) -> Self {
        Self { handles }
    }
}

#[tonic::async_trait]
impl profiles_server::Profiles for ProfilesService {
    async fn create_profile(
        &self,
        request: Request<CreateProfileRequest>,
    ) -> Result<Response<WriteResponse>, Status> {
        let caller = Caller::of(&request);
        let CreateProfileRequest { profile, write } = request.into_inner();
        let mut violations = Violations::new();
        let marks = Marks::of_new(write, &mut violations);
        let wish = required(profile, "profile", &mut violations).map(Wish::create_profile);
        self.handles.write(caller, marks, wish, violations).await
    }

    async fn get_profile(&self, request: Request<GetRequest>) -> Result<Response<Profile>, Status> {
        let eyes = Eyes::of(&request);
        let GetRequest { name, read } = request.into_inner();
        let mut violations = Violations::new();
        named(&name, "name", &mut violations);
        fault::refuse_if_any(violations)?;
        let view = self.handles.view(read).await?;
        Ok(Response::new(eyes.profile(profile_of(&view.state, &name)?.into())))
    }

    async fn list_profiles(
        &self,
        request: Request<ListRequest>,
    ) -> Result<Response<ListProfilesResponse>, Status> {
        let eyes = Eyes::of(&request);
        let ListRequest { page, read } = request.into_inner();
        let mut violations = Violations::new();
        let wanted = page::wanted(page, page::is_name, &mut violations);
        fault::refuse_if_any(violations)?;
        let view = self.handles.view(read).await?;
        let objects = profiles_behind(&view.state, wanted.behind.as_deref());
        let objects = objects.map(|profile| (profile.name.to_string(), eyes.profile(profile.into())));
        let (profiles, next_page_token) = page::cut(objects, wanted.size);
        Ok(Response::new(ListProfilesResponse { profiles, next_page_token }))
    }

    async fn update_profile(
        &self,
        request: Request<UpdateProfileRequest>,
    ) -> Result<Response<WriteResponse>, Status> {
        let caller = Caller::of(&request);
        let UpdateProfileRequest { profile, update_mask, write } = request.into_inner();
        let mut violations = Violations::new();
        let marks = Marks::of(write, &mut violations);
        let wish = required(profile, "profile", &mut violations)
            .map(|profile| Wish::update_profile(profile, update_mask, marks.if_revision));
        self.handles.write(caller, marks, wish, violations).await
    }

    async fn delete_profile(
        &self,
        request: Request<DeleteRequest>,
    ) -> Result<Response<WriteResponse>, Status> {
        let caller = Caller::of(&request);
        let DeleteRequest { name, write } = request.into_inner();
        let mut violations = Violations::new();
        let marks = Marks::of(write, &mut violations);
        named(&name, "name", &mut violations);
        let action = Action::DeleteProfile { name, if_revision: marks.if_revision.map(Revision) };
        self.handles.write(caller, marks, Some(action.into()), violations).await
    }
}

/// The profile of that name, or `NOT_FOUND`.
pub(super) fn profile_of<'a>(
    state: &'a State,
    name: &str,
) -> Result<&'a waymark_core::model::Profile, Status> {
    state
        .profile(&Caseless::new(name))
        .map(AsRef::as_ref)
        .ok_or_else(|| fault::not_found("profile", name, state.profile_ids.keys().map(Caseless::as_str)))
}

/// The profiles in the order of their names, from the one behind `token` on.
pub(super) fn profiles_behind<'a>(
    state: &'a State,
    token: Option<&str>,
) -> impl Iterator<Item = &'a waymark_core::model::Profile> + use<'a> {
    let start = token.map_or(Bound::Unbounded, |token| Bound::Excluded(Caseless::new(token)));
    let ids = state.profile_ids.range((start, Bound::Unbounded)).map(|(_, id)| id);
    ids.filter_map(|id| state.profiles.get(id)).map(AsRef::as_ref)
}
