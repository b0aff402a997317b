//! What every command has at hand: the cluster, how to print, and what the global flags say.

use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::time::Duration;

use waymark_process::chance;
use waymark_process::tls::Credentials;
use waymark_proto::admin::v1::{Page, ReadOptions, WriteOptions, WriteResponse};

use crate::client::Client;
use crate::failure::Failure;
use crate::grammar::Globals;
use crate::output::{Format, Shown, Style, Written, render};

/// How long a command may take if `--timeout` does not say.
const TIMEOUT: Duration = Duration::from_secs(10);

/// One run of the CLI.
pub(crate) struct Session {
    /// The cluster.
    pub(crate) client: Client,
    /// What the output looks like.
    pub(crate) format: Format,
    /// Colours and width.
    pub(crate) style: Style,
    /// `--yes` was given.
    pub(crate) yes: bool,
    /// `--stale` was given.
    pub(crate) stale: bool,
    wait_all: bool,
    deadline: Option<Duration>,
}

impl Session {
    /// Reads the global flags, and speaks as whoever `credentials` says; nothing is connected yet.
    pub(crate) fn new(
        globals: &Globals,
        deadline: Option<Duration>,
        credentials: Option<Arc<Credentials>>,
    ) -> Result<Self, Failure> {
        let is_terminal = std::io::stdout().is_terminal();
        let no_color =
            globals.no_color || std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let lone = if credentials.is_some() { "https://127.0.0.1:7400" } else { "http://127.0.0.1:7400" };
        let given = globals.endpoint.clone();
        let endpoints = if given.is_empty() { vec![lone.to_owned()] } else { given };
        Ok(Self {
            client: Client::new(&endpoints, credentials, deadline.unwrap_or(TIMEOUT))?,
            format: globals.output,
            style: Style { color: is_terminal && !no_color, is_terminal },
            yes: globals.yes,
            stale: globals.stale,
            wait_all: globals.wait.is_some(),
            deadline,
        })
    }

    /// A client for a command that may take `usual` if `--timeout` does not say.
    pub(crate) fn client_within(&self, usual: Duration) -> Client {
        self.client.within(self.deadline.unwrap_or(usual))
    }

    /// What stands in every read.
    pub(crate) fn read(&self) -> Option<ReadOptions> {
        Some(ReadOptions { stale: self.stale })
    }

    /// What stands in every write: one mark for all tries of this wish (CLI-4).
    pub(crate) fn write(&self, if_revision: Option<u64>) -> Option<WriteOptions> {
        let mark = [chance::draw(), chance::draw()].map(u64::to_be_bytes).concat();
        Some(WriteOptions { request_id: mark.into(), if_revision, wait_all: self.wait_all })
    }

    /// The object in the format that was asked for.
    pub(crate) fn show<S: Shown>(&self, shown: &S) -> String {
        render(shown, self.format, &self.style)
    }

    /// What a write came to: `done` is what happened to the object. Its warnings go to stderr.
    pub(crate) fn written(
        &self,
        noun: &'static str,
        name: &str,
        done: &'static str,
        response: WriteResponse,
    ) -> String {
        let written = Written::new(noun, name, done, response);
        self.note(&written);
        self.show(&written)
    }

    /// Tells the warnings of a write on stderr, unless the output has them.
    pub(crate) fn note(&self, written: &Written) {
        for note in written.notes().filter(|_| !self.format.is_structured()) {
            let _ = std::io::stderr().write_all(note.as_bytes());
        }
    }

    /// Every object of a list that comes in pages: `page` asks for the one behind a token.
    pub(crate) async fn pages<T>(
        &self,
        page: impl AsyncFn(Page) -> Result<(Vec<T>, String), Failure>,
    ) -> Result<Vec<T>, Failure> {
        let mut all = Vec::new();
        let mut token = String::new();
        loop {
            let (more, next) = page(Page { size: 0, token }).await?;
            all.extend(more);
            if next.is_empty() {
                return Ok(all);
            }
            token = next;
        }
    }
}
