//! The CLI `waymark`, run as an operator runs it.

use std::process::{Command, Stdio};

use serde_json::Value;
use waymark_process::tls::CredentialFiles;

use crate::pki;

/// The CLI with the endpoints of one cluster.
#[derive(Clone, Debug)]
pub struct Cli {
    /// What `--endpoint` gets: URLs with commas between them.
    pub endpoints: String,
    /// Who asks; nobody in plain text.
    pub identity: Option<CredentialFiles>,
}

/// What a run of the CLI came to.
#[derive(Clone, Debug)]
pub struct Output {
    /// Its exit code.
    pub code: i32,
    /// What it printed.
    pub stdout: String,
    /// What it complained of.
    pub stderr: String,
}

impl Cli {
    /// One that speaks plain text, to `endpoints`.
    pub fn plain(endpoints: impl Into<String>) -> Self {
        Self { endpoints: endpoints.into(), identity: None }
    }

    /// The words in front of every command that reaches this cluster.
    pub fn prefix(&self) -> Vec<String> {
        let binary = crate::binary::path("waymark").display().to_string();
        let identity = self.identity.iter().flat_map(|files| pki::arguments(files, ""));
        [binary, "--endpoint".into(), self.endpoints.clone()].into_iter().chain(identity).collect()
    }

    /// The same as environment variables.
    pub fn environment(&self) -> Vec<(&'static str, String)> {
        let files = self.identity.iter().flat_map(|files| {
            let CredentialFiles { keys: _, certificate, key, authority } = files;
            [("WAYMARK_CERTIFICATE", certificate), ("WAYMARK_KEY", key), ("WAYMARK_AUTHORITY", authority)]
        });
        let files = files.map(|(name, path)| (name, path.display().to_string()));
        files.chain([("WAYMARK_ENDPOINT", self.endpoints.clone())]).collect()
    }

    /// Runs the words of `command`, which are split at spaces; `'…'` keeps spaces.
    ///
    /// # Panics
    /// When the CLI cannot be started.
    pub fn run(&self, command: &str) -> Output {
        let output = Command::new(crate::binary::path("waymark"))
            .args(words(command))
            .envs(self.environment())
            .stdin(Stdio::null())
            .output()
            .expect("the CLI starts");
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        let code = output.status.code().unwrap_or(-1);
        Output { code, stdout: text(&output.stdout), stderr: text(&output.stderr) }
    }

    /// Runs `command`, which must succeed, and returns what it printed.
    ///
    /// # Panics
    /// When it fails.
    pub fn ok(&self, command: &str) -> String {
        let output = self.run(command);
        assert_eq!(output.code, 0, "waymark {command}:\n{}{}", output.stdout, output.stderr);
        output.stdout
    }

    /// Runs `command -o json`, which must succeed, and returns the value.
    ///
    /// # Panics
    /// When it fails or prints no JSON.
    pub fn json(&self, command: &str) -> Value {
        let text = self.ok(&format!("{command} -o json"));
        serde_json::from_str(&text)
            .unwrap_or_else(|error| panic!("waymark {command} printed no JSON ({error}): {text}"))
    }
}

pub(crate) fn words(command: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted, mut open) = (Vec::new(), String::new(), false, false);
    for character in command.chars() {
        match character {
            '\'' => (quoted, open) = (!quoted, true),
            ' ' if !quoted => {
                if open {
                    words.push(std::mem::take(&mut word));
                }
                open = false;
            }
            other => {
                word.push(other);
                open = true;
            }
        }
    }
    if open {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    #[test]
    fn words_are_split_at_spaces_outside_quotes() {
        assert_eq!(super::words("a 'b c'  d ''"), ["a", "b c", "d", ""]);
    }
}
