//! `waymark audit`: who changed what, kept as a chain of hashes that shows whether anything in it was changed later (SEC-5).

mod entry;
mod file;

use std::path::{Path, PathBuf};

use clap::Subcommand;
use waymark_proto::RESPONSE_BYTES_MAX;
use waymark_proto::admin::v1::audit_client::AuditClient;
use waymark_proto::admin::v1::{ListAuditEntriesResponse, ListRequest};

use crate::client::Attempt;
use crate::failure::{Exit, Failure};
use crate::session::Session;
use entry::{Entry, EntryList};

/// What is done with the audit trail.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Who changed what, oldest first.
    #[command(after_help = "Examples:\n  waymark audit list\n  waymark audit list --limit 20 -o json")]
    List {
        /// At most so many, the latest.
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000), default_value_t = 100)]
        limit: u32,
    },
    /// Write all that is kept into a file: one JSON object a line, each with its hash and that of the one before.
    #[command(
        after_help = "Examples:\n  waymark audit export audit.jsonl\n  waymark audit export audit.jsonl -o json"
    )]
    Export {
        /// The file; there must be none of that name.
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Find out whether an exported file is as it was written; needs no cluster.
    #[command(
        after_help = "Examples:\n  waymark audit verify audit.jsonl\n  waymark audit verify audit.jsonl -o json"
    )]
    Verify {
        /// The file.
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// The hash of an entry, as it was shown before: fails unless that entry is in the file, which shows that its end was
        /// not cut off.
        #[arg(long, value_name = "HASH")]
        hash: Option<String>,
    },
}

impl Verb {
    /// Does it work on files alone?
    pub(crate) fn is_local(&self) -> bool {
        matches!(self, Self::Verify { .. })
    }
}

/// Carries the verb out.
pub(crate) async fn run(verb: Verb, session: &Session) -> Result<String, Failure> {
    match verb {
        Verb::List { limit } => {
            let entries = fetch(session).await?;
            let passed_over = entries.len().saturating_sub(limit as usize);
            let entries = entries.into_iter().skip(passed_over).collect();
            Ok(session.show(&EntryList { entries }))
        }
        Verb::Export { file } => {
            let chain = file::write(&file, &fetch(session).await?);
            Ok(session.show(&chain.map_err(|reason| refused(&file, &reason))?))
        }
        Verb::Verify { file, hash } => {
            let chain = file::verify(&file, hash.as_deref());
            Ok(session.show(&chain.map_err(|reason| refused(&file, &reason))?))
        }
    }
}

fn refused(file: &Path, reason: &str) -> Failure {
    Failure::new(Exit::Refused, format!("{}: {reason}", file.display()))
}

async fn fetch(session: &Session) -> Result<Vec<Entry>, Failure> {
    let page = async |page| {
        let request = ListRequest { page: Some(page), read: session.read() };
        let call = async |at: Attempt| {
            let request = at.request(&request);
            AuditClient::new(at.channel)
                .max_decoding_message_size(RESPONSE_BYTES_MAX)
                .list_audit_entries(request)
                .await
        };
        let ListAuditEntriesResponse { entries, next_page_token } = session.client.read(call).await?;
        Ok((entries.into_iter().map(Entry::from).collect(), next_page_token))
    };
    session.pages(page).await
}
