//! Output that goes on: redrawn in place on a terminal, appended elsewhere (CLI-5).

use std::io::{ErrorKind, Write};
use std::ops::ControlFlow;

use crate::failure::{Exit, Failure};

/// The terminal's control sequences (ECMA-48): to the upper left, erase all, erase to the line's and to the screen's end.
const HOME: &str = "\u{1b}[H";
const ERASE_ALL: &str = "\u{1b}[2J";
const ERASE_LINE: &str = "\u{1b}[K";
const ERASE_REST: &str = "\u{1b}[J";

/// Where watching goes to.
#[derive(Debug, Default)]
pub(crate) struct Screen {
    has_drawn: bool,
}

impl Screen {
    /// Puts `text` in the place of what was drawn before; what does not fit is counted in the last line.
    pub(crate) fn redraw(&mut self, text: &str) -> Result<ControlFlow<()>, Failure> {
        let height = crossterm::terminal::size().map_or(usize::MAX, |(_, height)| usize::from(height));
        let mut frame = if self.has_drawn { String::new() } else { ERASE_ALL.to_owned() };
        self.has_drawn = true;
        frame.push_str(HOME);
        for line in fitted(text, height) {
            frame.push_str(&line);
            frame.push_str(ERASE_LINE);
            frame.push('\n');
        }
        frame.push_str(ERASE_REST);
        append(&frame)
    }
}

/// Puts `text` behind what is there; breaks off when nobody reads any more.
pub(crate) fn append(text: &str) -> Result<ControlFlow<()>, Failure> {
    let mut stdout = std::io::stdout();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Ok(()) => Ok(ControlFlow::Continue(())),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(ControlFlow::Break(())),
        Err(error) => Err(Failure::new(Exit::Refused, format!("the output can't be written: {error}"))),
    }
}

/// The lines of `text` for a screen of `height` lines, of which the last stays free for the cursor.
fn fitted(text: &str, height: usize) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let room = height.saturating_sub(1).max(2);
    if lines.len() <= room {
        return lines.into_iter().map(str::to_owned).collect();
    }
    let shown = lines[..room - 1].iter().map(|line| (*line).to_owned());
    let more = format!("… {} more lines", lines.len() - (room - 1));
    shown.chain([more]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cli_5_what_does_not_fit_is_counted() {
        assert_eq!(fitted("a\nb\n", 10), ["a", "b"]);
        assert_eq!(fitted("a\nb\nc\nd\ne\n", 4), ["a", "b", "… 3 more lines"]);
        assert_eq!(fitted("a\nb\nc\n", 0).len(), 2, "a screen without lines");
    }
}
