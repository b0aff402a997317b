//! Who changed what (SEC-5): put into words as it is asked for, and listed for operators.

mod words;

use std::ops::Bound;

use tonic::{Request, Response, Status};
use waymark_core::model::Violations;
use waymark_proto::admin::v1::{ListAuditEntriesResponse, ListRequest, audit_server};
use waymark_proto::convert::audit_message;

use super::handles::Handles;
use super::{fault, page};
pub(super) use words::{Words, words};

/// The service.
#[derive(Clone)]
pub(super) struct AuditService {
    handles: Handles,
}

impl AuditService {
    pub(super) fn new(handles: Handles) -> Self {
        Self { handles }
    }
}

#[tonic::async_trait]
impl audit_server::Audit for AuditService {
    async fn list_audit_entries(
        &self,
        request: Request<ListRequest>,
    ) -> Result<Response<ListAuditEntriesResponse>, Status> {
        let ListRequest { page, read } = request.into_inner();
        let mut violations = Violations::new();
        let wanted = page::wanted(page, |token| token.parse::<u64>().is_ok(), &mut violations);
        fault::refuse_if_any(violations)?;
        let view = self.handles.view(read).await?;
        let behind: Option<u64> = wanted.behind.and_then(|token| token.parse().ok());
        let start = behind.map_or(Bound::Unbounded, Bound::Excluded);
        let entries = view.state.audit.entries.range((start, Bound::Unbounded));
        let entries = entries.map(|(number, entry)| (number.to_string(), audit_message(entry)));
        let (entries, next_page_token) = page::cut(entries, wanted.size);
        Ok(Response::new(ListAuditEntriesResponse { entries, next_page_token }))
    }
}
