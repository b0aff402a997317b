//! How things are shown: tables for people, JSON for programs, names for shells (CLI-5, CLI-7).

pub(crate) mod error;
pub(crate) mod screen;
pub(crate) mod table;
pub(crate) mod time;
pub(crate) mod verdicts;
pub(crate) mod words;
mod written;

use clap::ValueEnum;
use serde::Serialize;

pub(crate) use written::Written;

/// The version of everything that is printed as JSON. Within it fields are only added.
pub(crate) const API_VERSION: &str = "waymark/v1";

/// What output looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people.
    Table,
    /// For programs: versioned, and only ever added to.
    Json,
    /// Names alone, one a line.
    Name,
}

/// What the terminal allows.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Style {
    /// Colours may be used, beside words that say the same.
    pub(crate) color: bool,
    /// The output goes to a terminal, and must fit its width.
    pub(crate) is_terminal: bool,
}

/// Something that can be shown in every format.
pub(crate) trait Shown: Serialize {
    /// Its `kind` in JSON.
    const KIND: &'static str;

    /// The names in it.
    fn names(&self) -> Vec<String>;

    /// It as text for people, with its final line break.
    fn text(&self, style: &Style) -> String;
}

/// JSON that says what it is.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Envelope<'a, S> {
    api_version: &'static str,
    kind: &'static str,
    #[serde(flatten)]
    body: &'a S,
}

/// `shown` in `format`.
pub(crate) fn render<S: Shown>(shown: &S, format: Format, style: &Style) -> String {
    match format {
        Format::Table => shown.text(style),
        Format::Json => json(S::KIND, shown, true),
        Format::Name => shown.names().into_iter().map(|name| name + "\n").collect(),
    }
}

/// `shown` in one line, for streams of values.
pub(crate) fn render_line<S: Shown>(shown: &S) -> String {
    json(S::KIND, shown, false)
}

fn json<S: Serialize>(kind: &'static str, body: &S, pretty: bool) -> String {
    let envelope = Envelope { api_version: API_VERSION, kind, body };
    let text =
        if pretty { serde_json::to_string_pretty(&envelope) } else { serde_json::to_string(&envelope) };
    text.expect("what is shown has text for keys, so it can be written as JSON") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::Version;

    #[test]
    fn cli_7_json_says_which_version_and_what_it_is() {
        let text = render(&Version::default(), Format::Json, &Style::default());
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!((&value["apiVersion"], &value["kind"]), (&"waymark/v1".into(), &"Version".into()));
        assert_eq!(render_line(&Version::default()).lines().count(), 1);
    }
}
