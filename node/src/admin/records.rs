//! Static records beside profiles (DNS-17). Their text is read here, before anything is proposed, so that the log holds
//! bytes of which no member thinks otherwise than another.

use std::ops::Bound;
use std::sync::Arc;

use tonic::{Request, Response, Status};
use waymark_core::model::{
    Name, RecordKey, RecordSet, RecordType, RelativeName, Revision, Violation, Violations,
};
use waymark_core::state::{Action, View};
use waymark_proto::admin::v1::{
    self, DeleteRecordSetRequest, GetRecordSetRequest, ListRecordSetsRequest, ListRecordSetsResponse,
    SetRecordSetRequest, WriteResponse, records_server,
};

use super::caller::Caller;
use super::handles::{Handles, Marks, required};
use super::wish::Wish;
use super::zones::zone_name;
use super::{fault, page};
use crate::record_text;

/// The service.
#[derive(Clone)]
pub(super) struct RecordsService {
    handles: Handles,
}

impl RecordsService {
    pub(super) fn new(handles: Handles) -> Self {
        Self { handles }
    }
}

#[tonic::async_trait]
impl records_server::Records for RecordsService {
    async fn set_record_set(
        &self,
        request: Request<SetRecordSetRequest>,
    ) -> Result<Response<WriteResponse>, Status> {
        let caller = Caller::of(&request);
        let SetRecordSetRequest { record_set, write } = request.into_inner();
        let mut violations = Violations::new();
        let marks = Marks::of(write, &mut violations);
        let wish = required(record_set, "record_set", &mut violations)
            .map(|set| wish(set, marks.if_revision.map(Revision)));
        self.handles.write(caller, marks, wish, violations).await
    }

    async fn get_record_set(
        &self,
        request: Request<GetRecordSetRequest>,
    ) -> Result<Response<v1::RecordSet>, Status> {
        let GetRecordSetRequest { zone, relative_name, r#type, read } = request.into_inner();
        let mut violations = Violations::new();
        let zone = zone_name(&zone, "zone", &mut violations);
        let full = full_name(zone.as_ref(), &relative_name, &mut violations);
        let record_type = record_type(&r#type, &mut violations);
        fault::refuse_if_any(violations)?;
        let view = self.handles.view(read).await?;
        let (Some(zone), Some(full), Some(record_type)) = (zone, full, record_type) else {
            return Err(Status::internal("a request without faults has all its parts"));
        };
        refuse_unknown(&view, &zone)?;
        match view.state.record_set(&full, record_type).filter(|set| set.zone == zone) {
            Some(set) => Ok(Response::new(message(set))),
            None => {
                let titles: Vec<String> = sets(&view, Some(&zone), None).map(|set| set.title()).collect();
                let name = format!("{full} {record_type}");
                Err(fault::not_found("record set", &name, titles.iter().map(String::as_str)))
            }
        }
    }

    async fn list_record_sets(
        &self,
        request: Request<ListRecordSetsRequest>,
    ) -> Result<Response<ListRecordSetsResponse>, Status> {
        let ListRecordSetsRequest { zone, page, read } = request.into_inner();
        let mut violations = Violations::new();
        let wanted = page::wanted(page, |token| key_of(token).is_some(), &mut violations);
        let named = Some(zone).filter(|zone| !zone.is_empty());
        let zone = named.and_then(|zone| zone_name(&zone, "zone", &mut violations));
        fault::refuse_if_any(violations)?;
        let view = self.handles.view(read).await?;
        zone.iter().try_for_each(|zone| refuse_unknown(&view, zone))?;
        let behind = wanted.behind.as_deref().and_then(key_of);
        let sets = sets(&view, zone.as_ref(), behind).map(|set| (set.title(), message(set)));
        let (record_sets, next_page_token) = page::cut(sets, wanted.size);
        Ok(Response::new(ListRecordSetsResponse { record_sets, next_page_token }))
    }

    async fn delete_record_set(
        &self,
        request: Request<DeleteRecordSetRequest>,
    ) -> Result<Response<WriteResponse>, Status> {
        let caller = Caller::of(&request);
        let DeleteRecordSetRequest { zone, relative_name, r#type, write } = request.into_inner();
        let mut violations = Violations::new();
        let marks = Marks::of(write, &mut violations);
        let if_revision = marks.if_revision.map(Revision);
        let action = record_type(&r#type, &mut violations).map(|record_type| {
            Action::DeleteRecords { zone, relative_name, record_type, if_revision }.into()
        });
        self.handles.write(caller, marks, action, violations).await
    }
}

/// What `set` wishes. Data that cannot be read is told of, and stands as some bytes in what is tried in its place.
fn wish(set: v1::RecordSet, if_revision: Option<Revision>) -> Wish {
    let v1::RecordSet { zone, relative_name, r#type, ttl_seconds, data, revision: _ } = set;
    let mut violations = Violations::new();
    let Some(record_type) = record_type(&r#type, &mut violations) else {
        return Wish { action: None, faults: violations.into_vec() };
    };
    let mut faults = Vec::new();
    // Of records that cannot be kept whatever they say nothing more is told.
    let is_kept = RecordSet::refusal(record_type).is_none();
    let data = data.iter().enumerate().map(|(place, text)| {
        let is_told = is_kept && place < RecordSet::RECORDS_MAX;
        let stand_in = place.to_be_bytes().to_vec();
        if !is_told {
            return stand_in.into();
        }
        let read = record_text::read(record_type, text).unwrap_or_else(|fault| {
            faults.push(Violation::new(format!("data[{place}]"), fault.to_string()));
            stand_in
        });
        read.into()
    });
    let data: Vec<Arc<[u8]>> = data.collect();
    let ttl = ttl_seconds.unwrap_or(RecordSet::TTL_DEFAULT);
    let action = Action::SetRecords { zone, relative_name, record_type, ttl, data, if_revision };
    Wish { action: Some(action), faults }
}

/// The sets behind `behind`, those of `zone` if one is named.
fn sets<'a>(
    view: &'a View,
    zone: Option<&'a Name>,
    behind: Option<RecordKey>,
) -> impl Iterator<Item = &'a Arc<RecordSet>> {
    let tree = zone.map(Name::tree_key);
    let first = tree.clone().map(|tree| Bound::Included((tree, RecordType(0))));
    let start = behind.map(Bound::Excluded).or(first).unwrap_or(Bound::Unbounded);
    view.state
        .records
        .range((start, Bound::Unbounded))
        .take_while(move |((owner, _), _)| tree.as_ref().is_none_or(|tree| owner.starts_with(tree)))
        .map(|(_, set)| set)
        .filter(move |set| zone.is_none_or(|zone| set.zone == *zone))
}

/// What a page's token stands for: the title of its last set.
fn key_of(token: &str) -> Option<RecordKey> {
    let (name, record_type) = token.split_once(' ')?;
    Some((Name::parse(name).ok()?.tree_key(), record_type.parse().ok()?))
}

fn refuse_unknown(view: &View, zone: &Name) -> Result<(), Status> {
    if view.state.zones.contains_key(zone) {
        return Ok(());
    }
    let names: Vec<String> = view.state.zones.keys().map(Name::to_string).collect();
    Err(fault::not_found("zone", &zone.to_string(), names.iter().map(String::as_str)))
}

fn full_name(zone: Option<&Name>, relative_name: &str, violations: &mut Violations) -> Option<Name> {
    let root = Name::root();
    let full = RelativeName::parse(relative_name).and_then(|relative| relative.within(zone.unwrap_or(&root)));
    full.map_err(|fault| violations.add("relative_name", format!("'{relative_name}' {fault}"))).ok()
}

fn record_type(text: &str, violations: &mut Violations) -> Option<RecordType> {
    text.parse::<RecordType>().map_err(|fault| violations.add("type", fault.to_string())).ok()
}

fn message(set: &Arc<RecordSet>) -> v1::RecordSet {
    let RecordSet { zone, relative_name, full_name: _, record_type, ttl, data, revision } = &**set;
    v1::RecordSet {
        zone: zone.to_string(),
        relative_name: relative_name.to_string(),
        r#type: record_type.to_string(),
        ttl_seconds: Some(*ttl),
        data: data.iter().map(|data| record_text::show(*record_type, data)).collect(),
        revision: revision.0,
    }
}
