//! What a change came to.

use serde::Serialize;
use waymark_proto::admin::v1 as wire;

use super::{Shown, Style};

/// A change that is committed and visible on the member that was asked (CLI-3).
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Written {
    noun: &'static str,
    name: String,
    pub(crate) done: &'static str,
    pub(crate) revision: u64,
    pub(crate) log_index: u64,
    warnings: Vec<Warning>,
    /// With `--wait all`: members that could not be reached.
    unreached: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Warning {
    field: String,
    description: String,
}

impl Written {
    /// `noun` `name` was `done`.
    pub(crate) fn new(
        noun: &'static str,
        name: &str,
        done: &'static str,
        response: wire::WriteResponse,
    ) -> Self {
        let wire::WriteResponse { revision, log_index, warnings, unreached } = response;
        let warning = |wire::Warning { field, description }| Warning { field, description };
        let warnings = warnings.into_iter().map(warning).collect();
        Self { noun, name: name.to_owned(), done, revision, log_index, warnings, unreached }
    }

    /// What should be told beside the output, as it is no part of what was asked for.
    pub(crate) fn notes(&self) -> impl Iterator<Item = String> + '_ {
        let warned = |Warning { field, description }: &Warning| format!("warning: {field}: {description}\n");
        let unreached =
            |member: &String| format!("warning: {member} could not be reached and will learn of it later\n");
        self.warnings.iter().map(warned).chain(self.unreached.iter().map(unreached))
    }
}

impl Shown for Written {
    const KIND: &'static str = "WriteResult";

    fn names(&self) -> Vec<String> {
        vec![self.name.clone()]
    }

    fn text(&self, _: &Style) -> String {
        let Self { noun, name, done, revision, log_index, warnings: _, unreached: _ } = self;
        format!("{noun} '{name}' {done} (revision {revision}, log entry {log_index})\n")
    }
}
