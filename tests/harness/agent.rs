//! A `waymark-agent` process.

use std::path::{Path, PathBuf};

use waymark_process::tls::CredentialFiles;

use crate::pki;
use crate::process::Process;

/// An agent under test.
#[derive(Debug)]
pub struct Agent {
    /// Its name.
    pub name: String,
    /// Its region.
    pub region: String,
    members: String,
    flags: Vec<String>,
    directory: PathBuf,
    identity: Option<CredentialFiles>,
    process: Option<Process>,
}

impl Agent {
    /// Starts the agent `name` in `region`, with the members at `urls` to report to.
    pub fn start(name: &str, region: &str, urls: &[String], directory: &Path) -> Self {
        Self::start_with(name, region, urls, directory, Vec::new())
    }

    /// The same, with `flags` of its own beside the usual ones.
    pub fn start_with(
        name: &str,
        region: &str,
        urls: &[String],
        directory: &Path,
        flags: Vec<String>,
    ) -> Self {
        let (members, directory) = (urls.join(","), directory.to_owned());
        let (name, region) = (name.to_owned(), region.to_owned());
        let mut agent = Self { name, region, members, flags, directory, identity: None, process: None };
        agent.restart();
        agent
    }

    /// The same with files for its identity that nobody has made, as it joins by a token.
    pub fn start_as(
        identity: CredentialFiles,
        name: &str,
        region: &str,
        urls: &[String],
        directory: &Path,
        flags: Vec<String>,
    ) -> Self {
        let (members, directory) = (urls.join(","), directory.to_owned());
        let (name, region) = (name.to_owned(), region.to_owned());
        let identity = Some(identity);
        let mut agent = Self { name, region, members, flags, directory, identity, process: None };
        agent.restart();
        agent
    }

    /// Starts it again, after it was ended.
    pub fn restart(&mut self) {
        let pairs = [("--name", &self.name), ("--region", &self.region), ("--members", &self.members)];
        let given = pairs.into_iter().flat_map(|(flag, value)| [flag.to_owned(), value.clone()]);
        let issued = || pki::identity(&self.directory, "agent", Some(&self.region), &self.name);
        let identity = self.identity.clone().unwrap_or_else(issued);
        let usual = pki::arguments(&identity, "tls-").into_iter().chain(["--allow-loopback".to_owned()]);
        let arguments: Vec<String> = given.chain(usual).chain(self.flags.clone()).collect();
        let log = self.directory.join(format!("{}.log", self.name));
        self.process = Some(Process::start("waymark-agent", &arguments, &log));
    }

    /// Its process.
    ///
    /// # Panics
    /// When it has been ended.
    pub fn process(&mut self) -> &mut Process {
        self.process.as_mut().expect("the agent was started")
    }

    /// Its process id, 0 without a process.
    pub fn pid(&self) -> u32 {
        self.process.as_ref().map_or(0, Process::id)
    }

    /// Ends it as a crash would.
    pub fn kill(&mut self) {
        self.process().kill();
        self.process = None;
    }
}
