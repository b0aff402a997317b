//! The form of a script: `# words for people`, `> a command`, `+ more of it`, and below it what it comes to, up to the
//! next blank line, comment or command.

use std::fmt;

use anyhow::{Result, bail};

/// A script as it was read, comments and blank lines included, so that it can be written again.
#[derive(Debug)]
pub(crate) struct Script(Vec<Piece>);

#[derive(Debug)]
enum Piece {
    /// A comment or a blank line.
    Prose(String),
    Step(Step),
}

/// One command and what it comes to.
#[derive(Debug)]
pub(crate) struct Step {
    /// Where it stands, from 1.
    pub(crate) line: usize,
    /// The command, and the lines that go with it.
    pub(crate) command: Vec<String>,
    /// What it comes to, line by line.
    pub(crate) expected: Vec<String>,
}

impl Script {
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let mut pieces = Vec::new();
        for (line, text) in (1..).zip(text.lines()) {
            if let Some(command) = text.strip_prefix("> ") {
                pieces.push(Piece::Step(Step {
                    line,
                    command: vec![command.to_owned()],
                    expected: Vec::new(),
                }));
                continue;
            }
            let is_prose = text.is_empty() || text.starts_with('#');
            match pieces.last_mut() {
                _ if is_prose => pieces.push(Piece::Prose(text.to_owned())),
                Some(Piece::Step(step)) => match text.strip_prefix("+ ") {
                    Some(more) if step.expected.is_empty() => step.command.push(more.to_owned()),
                    _ => step.expected.push(text.to_owned()),
                },
                _ => bail!("line {line} belongs to no command: {text}"),
            }
        }
        Ok(Self(pieces))
    }

    pub(crate) fn steps_mut(&mut self) -> impl Iterator<Item = &mut Step> {
        self.0.iter_mut().filter_map(|piece| match piece {
            Piece::Step(step) => Some(step),
            Piece::Prose(_) => None,
        })
    }
}

impl fmt::Display for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for piece in &self.0 {
            match piece {
                Piece::Prose(text) => writeln!(f, "{text}")?,
                Piece::Step(step) => {
                    writeln!(f, "> {}", step.command.join("\n+ "))?;
                    step.expected.iter().try_for_each(|line| writeln!(f, "{line}"))?;
                }
            }
        }
        Ok(())
    }
}

/// What was expected and what came out, `-` and `+` where they differ.
pub(crate) fn difference(expected: &[String], came_out: &[String]) -> String {
    let mut text = String::new();
    let mut rest = came_out;
    for line in expected {
        match rest.iter().position(|other| other == line) {
            Some(place) => {
                rest[..place].iter().for_each(|new| text.push_str(&format!("    + {new}\n")));
                text.push_str(&format!("      {line}\n"));
                rest = &rest[place + 1..];
            }
            None => text.push_str(&format!("    - {line}\n")),
        }
    }
    rest.iter().for_each(|new| text.push_str(&format!("    + {new}\n")));
    text
}
