//! How things are shown: tables for people, JSON or YAML for programs, names for shells (CLI-5, CLI-7).

pub(crate) mod error;
pub(crate) mod overridden;
pub(crate) mod screen;
pub(crate) mod table;
pub(crate) mod time;
pub(crate) mod verdicts;
pub(crate) mod words;
mod written;

use clap::ValueEnum;
use serde::Serialize;

pub(crate) use written::Written;

/// The version of everything that is printed as JSON or YAML. Within it fields are only added.
pub(crate) const API_VERSION: &str = "waymark/v1";

/// What output looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people.
    Table,
    /// For programs: versioned, and only ever added to.
    Json,
    /// The same in YAML.
    Yaml,
    /// Names alone, one a line.
    Name,
}

impl Format {
    /// Is it for programs, which want everything in one value?
    pub(crate) fn is_structured(self) -> bool {
        matches!(self, Self::Json | Self::Yaml)
    }
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
    /// Its `kind` in JSON and YAML.
    const KIND: &'static str;

    /// The names in it.
    fn names(&self) -> Vec<String>;

    /// It as text for people, with its final line break.
    fn text(&self, style: &Style) -> String;
}

/// A value that says what it is.
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
        Format::Yaml => yaml(S::KIND, shown),
        Format::Name => shown.names().into_iter().map(|name| name + "\n").collect(),
    }
}

/// `shown` as one of many that come one after another: JSON in a line each, YAML in a document each.
pub(crate) fn render_next<S: Shown>(shown: &S, format: Format, style: &Style) -> String {
    match format {
        Format::Json => json(S::KIND, shown, false),
        Format::Yaml => format!("---\n{}", yaml(S::KIND, shown)),
        Format::Table | Format::Name => render(shown, format, style),
    }
}

fn json<S: Serialize>(kind: &'static str, body: &S, pretty: bool) -> String {
    let envelope = Envelope { api_version: API_VERSION, kind, body };
    let text =
        if pretty { serde_json::to_string_pretty(&envelope) } else { serde_json::to_string(&envelope) };
    text.expect("what is shown has text for keys, so it can be written as JSON") + "\n"
}

fn yaml<S: Serialize>(kind: &'static str, body: &S) -> String {
    let envelope = Envelope { api_version: API_VERSION, kind, body };
    serde_saphyr::to_string(&envelope).expect("what can be written as JSON can be written as YAML")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::version::Version;

    #[test]
    fn cli_7_json_says_which_version_and_what_it_is() {
        let text = render(&Version::new(false), Format::Json, &Style::default());
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!((&value["apiVersion"], &value["kind"]), (&"waymark/v1".into(), &"Version".into()));
        let next = |format| render_next(&Version::new(false), format, &Style::default());
        assert_eq!(next(Format::Json).lines().count(), 1);
        assert!(next(Format::Yaml).starts_with("---\napiVersion: waymark/v1\nkind: Version\n"));
    }

    /// Words that YAML would take for something else, and text in several lines.
    #[derive(Serialize)]
    struct Odd {
        texts: Vec<&'static str>,
        nothing: Option<u8>,
        empty: Vec<u8>,
        number: f64,
    }

    impl Shown for Odd {
        const KIND: &'static str = "Odd";

        fn names(&self) -> Vec<String> {
            Vec::new()
        }

        fn text(&self, _: &Style) -> String {
            String::new()
        }
    }

    #[test]
    fn cli_7_yaml_is_the_same_value() {
        let texts = vec![
            "no",
            "1",
            "1e3",
            "",
            "~",
            "a: b",
            "- x",
            "#",
            "a\nb\n",
            " blank ",
            "\u{fc}",
            "0x1f",
            "2026-01-31",
        ];
        let odd = Odd { texts, nothing: None, empty: Vec::new(), number: 50.5 };
        let shown = |format| render(&odd, format, &Style::default());
        let json: serde_json::Value = serde_json::from_str(&shown(Format::Json)).unwrap();
        let text = shown(Format::Yaml);
        let yaml: serde_json::Value = serde_saphyr::from_str(&text).unwrap();
        assert_eq!(yaml, json, "{text}");
    }
}
