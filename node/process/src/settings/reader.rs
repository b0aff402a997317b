//! Puts flags, environment and file together, and keeps every fault that it meets.

use std::fmt::Display;
use std::path::Path;
use std::str::FromStr;

use waymark_core::model::nearest;

use super::file::{self, Entry, Placed, Value};
use super::{Fault, Faults};

/// Reads one setting after another: a flag beats the environment, which beats the file (OPS-2).
#[derive(Debug)]
pub struct Reader {
    prefix: &'static str,
    file: Vec<Entry>,
    /// Every key that was asked for, and where its value stands if it has one.
    asked: Vec<(&'static str, Option<String>)>,
    faults: Vec<Fault>,
}

/// What a key must hold in the file.
#[derive(Clone, Copy)]
enum Kind {
    Text,
    Number,
    Switch,
    List,
}

impl Reader {
    /// A reader of the file at `path`, if there is one; `prefix` begins the names of the program's environment variables,
    /// as in `WAYMARK_NODE`.
    ///
    /// # Errors
    /// The file cannot be read or is no TOML: nothing can be said of the rest then.
    pub fn new(prefix: &'static str, path: Option<&Path>) -> Result<Self, Faults> {
        let file = path.map(file::read).transpose()?.unwrap_or_default();
        Ok(Self { prefix, file, asked: Vec::new(), faults: Vec::new() })
    }

    /// The setting `key`, if somebody gives it and it can be read. `flag` is what the command line or the environment says.
    pub fn value<T>(
        &mut self,
        key: &'static str,
        flag: Option<&str>,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Option<T> {
        let given: Vec<String> = flag.map(str::to_owned).into_iter().collect();
        let found = self.find(key, &given, Kind::Text)?;
        found.into_iter().find_map(|(place, text)| self.read(key, place, &text, &parse))
    }

    /// A setting that is a whole number from 0 to `most`.
    pub fn number<N: FromStr + PartialOrd + Display>(
        &mut self,
        key: &'static str,
        flag: Option<&str>,
        most: N,
    ) -> Option<N> {
        let given: Vec<String> = flag.map(str::to_owned).into_iter().collect();
        let parse = |text: &str| {
            let number = text.parse().ok().filter(|number| *number <= most);
            number.ok_or_else(|| format!("{text} is no whole number from 0 to {most}"))
        };
        let found = self.find(key, &given, Kind::Number)?;
        found.into_iter().find_map(|(place, text)| self.read(key, place, &text, parse))
    }

    /// A setting that is on or off.
    pub fn switch(&mut self, key: &'static str, flag: Option<&str>) -> Option<bool> {
        let given: Vec<String> = flag.map(str::to_owned).into_iter().collect();
        let parse = |text: &str| text.parse().map_err(|_| format!("'{text}' is neither true nor false"));
        let found = self.find(key, &given, Kind::Switch)?;
        found.into_iter().find_map(|(place, text)| self.read(key, place, &text, parse))
    }

    /// A setting that is a list, if each of its items can be read. No flag at all is an empty list to clap.
    pub fn list<T>(
        &mut self,
        key: &'static str,
        flags: &[String],
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Option<Vec<T>> {
        let before = self.faults.len();
        let found = self.find(key, flags, Kind::List)?;
        let items =
            found.into_iter().filter_map(|(place, text)| self.read(key, place, &text, &parse)).collect();
        (self.faults.len() == before).then_some(items)
    }

    /// Was `key` asked for, and does somebody give it, be it a faulty value?
    pub fn is_given(&self, key: &str) -> bool {
        self.place(key).is_some()
    }

    /// Notes that the setting `key` breaks a rule.
    pub fn refuse(&mut self, key: &'static str, reason: impl Into<String>) {
        let place = self.place(key).unwrap_or_default();
        self.fault(place, key, reason.into());
    }

    /// The same for a setting that follows `source` where nobody gives it: the fault stands there then.
    pub fn refuse_derived(&mut self, key: &'static str, source: &str, reason: String) {
        let place = self.place(key).or_else(|| self.place(source)).unwrap_or_default();
        self.fault(place, key, reason);
    }

    fn place(&self, key: &str) -> Option<String> {
        self.asked.iter().find(|(asked, _)| *asked == key).and_then(|(_, place)| place.clone())
    }

    /// `settings`, unless there was a fault or the file has a key that nobody asked for.
    pub fn finish<T>(mut self, settings: T) -> Result<T, Faults> {
        let known: Vec<&str> = self.asked.iter().map(|(key, _)| *key).collect();
        for Entry { key, place, .. } in &self.file {
            let is_section =
                known.iter().any(|known| known.strip_prefix(key).is_some_and(|r| r.starts_with('.')));
            if known.contains(&key.as_str()) || is_section {
                continue;
            }
            let hint = match nearest(key, known.iter().copied()) {
                Some(hint) => format!("did you mean '{hint}'?"),
                None => format!("known are {}", known.join(", ")),
            };
            let reason = format!("unknown key '{key}'; {hint}");
            self.faults.push(Fault { place: place.clone(), key: "", reason });
        }
        if self.faults.is_empty() { Ok(settings) } else { Err(Faults(self.faults)) }
    }

    fn fault(&mut self, place: String, key: &'static str, reason: String) {
        self.faults.push(Fault { place, key, reason });
    }

    fn read<T>(
        &mut self,
        key: &'static str,
        place: String,
        text: &str,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Option<T> {
        parse(text).map_err(|reason| self.fault(place, key, reason)).ok()
    }

    /// The texts that `key` is given and where each stands; `None` if it is not given.
    fn find(&mut self, key: &'static str, flags: &[String], kind: Kind) -> Option<Vec<(String, String)>> {
        if !flags.is_empty() {
            let place = self.flag_place(key, flags);
            self.asked.push((key, Some(place.clone())));
            return Some(flags.iter().map(|text| (place.clone(), text.clone())).collect());
        }
        let entry = self.file.iter().find(|entry| entry.key == key).map(|entry| entry.value.clone());
        self.asked.push((key, entry.as_ref().map(|value| value.place.clone())));
        self.texts(key, entry?, kind)
    }

    fn flag_place(&self, key: &str, flags: &[String]) -> String {
        let variable = format!("{}_{}", self.prefix, key.replace('.', "_").to_uppercase());
        if std::env::var(&variable).is_ok_and(|value| value == flags.join(",")) {
            return variable;
        }
        format!("--{}", key.replace(['_', '.'], "-"))
    }

    fn texts(&mut self, key: &'static str, placed: Placed, kind: Kind) -> Option<Vec<(String, String)>> {
        let Placed { place, value } = placed;
        match (kind, value) {
            (Kind::Text, Value::Text(text)) => Some(vec![(place, text)]),
            (Kind::Number, Value::Number(number)) => Some(vec![(place, number)]),
            (Kind::Switch, Value::Switch(on)) => Some(vec![(place, on.to_string())]),
            (Kind::List, Value::List(items)) => {
                let texts = items.into_iter().filter_map(|item| self.texts(key, item, Kind::Text));
                Some(texts.flatten().collect())
            }
            (kind, value) => {
                self.fault(place, key, format!("is {}, not {}", value.noun(), kind.noun()));
                None
            }
        }
    }
}

impl Kind {
    fn noun(self) -> &'static str {
        match self {
            Self::Text => "text in quotes",
            Self::Number => "a whole number",
            Self::Switch => "true or false",
            Self::List => "a list, as in [\"…\"]",
        }
    }
}

impl Value {
    fn noun(&self) -> &'static str {
        match self {
            Self::Text(_) => "text",
            Self::Number(_) => "a number",
            Self::Switch(_) => "true or false",
            Self::List(_) => "a list",
            Self::Other(noun) => noun,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reader(file: &str) -> Result<Reader, Faults> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.toml");
        std::fs::write(&path, file).unwrap();
        Reader::new("WAYMARK_X", Some(&path))
    }

    fn number(text: &str) -> Result<u8, String> {
        text.parse().map_err(|_| format!("'{text}' is no number"))
    }

    /// The lines of the faults, without the directory of the file.
    fn lines(faults: &Faults) -> Vec<String> {
        let short =
            |line: &str| line.rsplit_once("/x.toml").map_or(line.to_owned(), |(_, rest)| rest.to_owned());
        faults.to_string().lines().map(short).collect()
    }

    #[test]
    fn ops_2_a_flag_beats_the_file() {
        let mut read = reader("a = \"1\"\nb = [\"1\", \"2\"]\n[c]\nd = true\n").unwrap();
        assert_eq!(read.value("a", Some("7"), number), Some(7));
        assert_eq!(read.list("b", &[], number), Some(vec![1, 2]));
        assert_eq!(read.switch("c.d", Some("false")), Some(false));
        assert_eq!(read.value("e", None, number), None);
        assert!(read.finish(()).is_ok());
    }

    #[test]
    fn val_1_every_fault_is_told_with_its_place() {
        let mut read = reader("a = \"x\"\nb = [\"1\", 2, \"y\"]\nc = \"on\"\nnmae = 1\n[emtpy]\n").unwrap();
        read.value("a", None, number);
        assert_eq!(read.list("b", &[], number), None);
        read.switch("c", None);
        read.value("name", Some("z"), number);
        read.refuse("b", "has a hole");
        read.refuse("q", "is missing");
        let faults = read.finish(()).unwrap_err();
        let wanted = [
            ":1:5: a: 'x' is no number",
            ":2:11: b: is a number, not text in quotes",
            ":2:14: b: 'y' is no number",
            ":3:5: c: is text, not true or false",
            "--name: name: 'z' is no number",
            ":2:5: b: has a hole",
            "q: is missing",
            ":5:2: unknown key 'emtpy'; known are a, b, c, name",
            ":4:1: unknown key 'nmae'; did you mean 'name'?",
        ];
        assert_eq!(lines(&faults), wanted);
    }

    #[test]
    fn val_3_numbers_have_a_range_and_no_quotes() {
        let mut read = reader("a = 7\nb = 8\nc = \"7\"\nd = -1\n").unwrap();
        assert_eq!(read.number("a", None, 7_u8), Some(7));
        assert_eq!(read.number("a", Some("0"), 7_u8), Some(0));
        for key in ["b", "c", "d"] {
            assert_eq!(read.number(key, None, 7_u8), None);
        }
        read.number("e", Some("x"), 7_u8);
        let wanted = [
            ":2:5: b: 8 is no whole number from 0 to 7",
            ":3:5: c: is text, not a whole number",
            ":4:5: d: -1 is no whole number from 0 to 7",
            "--e: e: x is no whole number from 0 to 7",
        ];
        assert_eq!(lines(&read.finish(()).unwrap_err()), wanted);
    }

    #[test]
    fn ops_2_what_is_no_toml_is_told_once_a_place() {
        let faults = reader("a = \nb = [1\n").unwrap_err();
        let told = lines(&faults);
        assert!(told[0].starts_with(":1:5:"), "{told:?}");
        assert!(told.len() <= 3, "{told:?}");
        let missing = Reader::new("WAYMARK_X", Some("nowhere/x.toml".as_ref())).unwrap_err().to_string();
        assert!(missing.starts_with("nowhere/x.toml: ") && missing.contains("--config"), "{missing}");
    }
}
