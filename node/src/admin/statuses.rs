//! The status of profiles and endpoints with the regional verdicts behind it: listed, and followed as it changes.

use std::convert::Infallible;

use tonic::{Request, Response, Status};
use waymark_core::model::{Caseless, Violations};
use waymark_core::state::{State, View};
use waymark_proto::admin::v1::{ListStatusesRequest, ListStatusesResponse, ProfileStatus, statuses_server};

use super::handles::Handles;
use super::limits::WATCH_PAUSE;
use super::page::Wanted;
use super::profiles::{profile_of, profiles_behind};
use super::shown::Shown;
use super::watch::{Ended, Outlet, Watch};
use super::{fault, lately, page};

/// The service.
#[derive(Clone)]
pub(super) struct StatusesService {
    handles: Handles,
}

impl StatusesService {
    pub(super) fn new(handles: Handles) -> Self {
        Self { handles }
    }
}

#[tonic::async_trait]
impl statuses_server::Statuses for StatusesService {
    async fn list_statuses(
        &self,
        request: Request<ListStatusesRequest>,
    ) -> Result<Response<ListStatusesResponse>, Status> {
        let mut request = request.into_inner();
        let read = request.read.take();
        let selection = Selection::of(request)?;
        let view = self.handles.view(read).await?;
        selection.check(&view.state)?;
        let mut list = selection.list(&view);
        list.incomplete = lately::tell(&self.handles, &view, &mut list.profiles).await;
        Ok(Response::new(list))
    }

    type WatchStatusesStream = Watch<ListStatusesResponse>;

    async fn watch_statuses(
        &self,
        request: Request<ListStatusesRequest>,
    ) -> Result<Response<Self::WatchStatusesStream>, Status> {
        let selection = Selection::of(request.into_inner())?;
        selection.check(&self.handles.reader.view().state)?;
        let (outlet, watch) = self.handles.watches.open().await?;
        let handles = self.handles.clone();
        tokio::spawn(async move {
            let Err(why) = follow(&outlet, &handles, &selection).await;
            outlet.end(why);
        });
        Ok(Response::new(watch))
    }
}

/// Which profiles are wanted: one, or a page of all.
#[derive(Clone, Debug)]
struct Selection {
    profile: Option<String>,
    page: Wanted,
}

impl Selection {
    fn of(request: ListStatusesRequest) -> Result<Self, Status> {
        let ListStatusesRequest { profile, page, read: _ } = request;
        let mut violations = Violations::new();
        let page = page::wanted(page, page::is_name, &mut violations);
        fault::refuse_if_any(violations)?;
        Ok(Self { profile: (!profile.is_empty()).then_some(profile), page })
    }

    /// `NOT_FOUND` for a profile that does not exist.
    fn check(&self, state: &State) -> Result<(), Status> {
        self.profile.as_ref().map_or(Ok(()), |name| profile_of(state, name).map(|_| ()))
    }

    fn list(&self, view: &View) -> ListStatusesResponse {
        let shown = Shown::of(&view.state);
        let (profiles, next_page_token) = match &self.profile {
            Some(name) => {
                let profile = view.state.profile(&Caseless::new(name));
                (profile.iter().map(|profile| shown.profile(profile)).collect(), String::new())
            }
            None => {
                let profiles = profiles_behind(&view.state, self.page.behind.as_deref());
                let objects = profiles.map(|profile| (profile.name.to_string(), shown.profile(profile)));
                page::cut(objects, self.page.size)
            }
        };
        ListStatusesResponse { profiles, applied: view.applied.0, next_page_token, incomplete: Vec::new() }
    }
}

/// Sends the list at once, and again whenever something in it is different.
async fn follow(
    outlet: &Outlet<ListStatusesResponse>,
    handles: &Handles,
    selection: &Selection,
) -> Result<Infallible, Ended> {
    let mut reader = handles.reader.clone();
    let mut sent: Option<(Vec<ProfileStatus>, String)> = None;
    let mut seen: Option<State> = None;
    loop {
        let view = reader.view();
        if seen.as_ref().is_none_or(|seen| is_shown_differently(seen, &view.state)) {
            let list = selection.list(&view);
            let content = (list.profiles.clone(), list.next_page_token.clone());
            if sent.as_ref() != Some(&content) {
                outlet.send(list).await?;
                sent = Some(content);
            }
            seen = Some(view.state.clone());
            outlet.pause(WATCH_PAUSE).await?;
        }
        drop(view);
        outlet.changed(&mut reader).await?;
    }
}

/// Has anything changed from which a status list is made? Costs nothing: unchanged maps are the same maps.
fn is_shown_differently(before: &State, after: &State) -> bool {
    !(before.profiles.ptr_eq(&after.profiles)
        && before.health.ptr_eq(&after.health)
        && before.overrides.ptr_eq(&after.overrides)
        && before.brakes.ptr_eq(&after.brakes)
        && before.regions.ptr_eq(&after.regions)
        && before.agents.ptr_eq(&after.agents))
}
