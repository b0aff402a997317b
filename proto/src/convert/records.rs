//! Static records as the log and snapshots keep them: on the wire's terms, as core has them.

use std::sync::Arc;

use bytes::Bytes;
use waymark_core::model::{Name, RecordSet, RecordType, RelativeName, Revision};
use waymark_core::state::{Action, Replaced};

use super::{Malformed, parsed, required};
use crate::storage::v1 as stored;

impl From<&RecordSet> for stored::StoredRecordSet {
    fn from(set: &RecordSet) -> Self {
        let RecordSet { zone, relative_name, full_name: _, record_type, ttl, data, revision } = set;
        Self {
            zone: zone.to_string(),
            relative_name: relative_name.to_string(),
            r#type: record_type.0.into(),
            ttl_seconds: *ttl,
            data: bytes_of(data),
            revision: revision.0,
        }
    }
}

impl TryFrom<stored::StoredRecordSet> for RecordSet {
    type Error = Malformed;

    fn try_from(message: stored::StoredRecordSet) -> Result<Self, Malformed> {
        let stored::StoredRecordSet { zone, relative_name, r#type, ttl_seconds, data, revision } = message;
        let zone = parsed("record_set.zone", &zone, Name::parse)?;
        let relative_name = parsed("record_set.relative_name", &relative_name, RelativeName::parse)?;
        let too_long = |fault| Malformed::new("record_set.relative_name", format!("{fault}"));
        Ok(Self {
            full_name: relative_name.within(&zone).map_err(too_long)?,
            zone,
            relative_name,
            record_type: record_type(r#type)?,
            ttl: ttl_seconds,
            data: data_of(&data),
            revision: Revision(revision),
        })
    }
}

pub(super) fn set_records(
    place: (&str, &str, RecordType),
    ttl: u32,
    data: &[Arc<[u8]>],
    if_revision: &Option<Revision>,
) -> stored::RecordsWish {
    let (zone, relative_name, record_type) = place;
    let records = stored::StoredRecordSet {
        zone: zone.to_owned(),
        relative_name: relative_name.to_owned(),
        r#type: record_type.0.into(),
        ttl_seconds: ttl,
        data: bytes_of(data),
        revision: 0,
    };
    stored::RecordsWish { records: Some(records), if_revision: if_revision.map(|revision| revision.0) }
}

pub(super) fn records_set(message: stored::RecordsWish) -> Result<Action, Malformed> {
    let stored::RecordsWish { records, if_revision } = message;
    let records = required("set_records.records", records)?;
    let stored::StoredRecordSet { zone, relative_name, r#type, ttl_seconds, data, revision: _ } = records;
    Ok(Action::SetRecords {
        zone,
        relative_name,
        record_type: record_type(r#type)?,
        ttl: ttl_seconds,
        data: data_of(&data),
        if_revision: if_revision.map(Revision),
    })
}

pub(super) fn delete_records(
    place: (&str, &str, RecordType),
    if_revision: &Option<Revision>,
) -> stored::RecordsRemoval {
    let (zone, relative_name, record_type) = place;
    stored::RecordsRemoval {
        zone: zone.to_owned(),
        relative_name: relative_name.to_owned(),
        r#type: record_type.0.into(),
        if_revision: if_revision.map(|revision| revision.0),
    }
}

pub(super) fn records_deleted(message: stored::RecordsRemoval) -> Result<Action, Malformed> {
    let stored::RecordsRemoval { zone, relative_name, r#type, if_revision } = message;
    let if_revision = if_revision.map(Revision);
    Ok(Action::DeleteRecords { zone, relative_name, record_type: record_type(r#type)?, if_revision })
}

/// The name of records that there were none of.
pub(super) fn no_record_set(name: &Name, record_type: RecordType) -> stored::RecordSetName {
    stored::RecordSetName { name: name.to_string(), r#type: record_type.0.into() }
}

pub(super) fn replaced_record_set(message: stored::StoredRecordSet) -> Result<Replaced, Malformed> {
    let set = RecordSet::try_from(message)?;
    Ok(Replaced::Records(set.full_name.clone(), set.record_type, Some(Arc::new(set))))
}

pub(super) fn replaced_no_record_set(message: stored::RecordSetName) -> Result<Replaced, Malformed> {
    let stored::RecordSetName { name, r#type } = message;
    Ok(Replaced::Records(parsed("past.no_record_set", &name, Name::parse)?, record_type(r#type)?, None))
}

fn record_type(number: u32) -> Result<RecordType, Malformed> {
    let fault = |_| Malformed::new("record_set.type", format!("{number} does not fit into 16 bits"));
    u16::try_from(number).map(RecordType).map_err(fault)
}

fn bytes_of(data: &[Arc<[u8]>]) -> Vec<Bytes> {
    data.iter().map(|data| Bytes::copy_from_slice(data)).collect()
}

fn data_of(data: &[Bytes]) -> Vec<Arc<[u8]>> {
    data.iter().map(|data| Arc::from(&**data)).collect()
}
