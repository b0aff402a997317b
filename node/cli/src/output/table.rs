//! Tables that fit the terminal, and colours that only repeat what a word says (CLI-5).

use comfy_table::{Attribute, Cell, Color, ContentArrangement, Table, presets::NOTHING};

use super::Style;

/// A table without lines, under capital headings.
pub(crate) fn table(style: &Style, headings: &[&str]) -> Table {
    let mut table = Table::new();
    table
        .load_style(NOTHING)
        .set_header(headings.iter().map(|heading| emphasized(heading, style)).collect::<Vec<_>>());
    if style.is_terminal {
        table.set_content_arrangement(ContentArrangement::Dynamic);
    } else {
        // Whoever reads by program wants one line a row.
        table.force_no_tty();
    }
    table
}

/// The table as text, without blanks at the ends of lines.
pub(crate) fn finish(table: &Table) -> String {
    table.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

/// Pairs of a word and what it stands for, one a line.
pub(crate) fn pairs(style: &Style, pairs: &[(&str, String)]) -> String {
    let mut table = Table::new();
    table.load_style(NOTHING);
    if style.is_terminal {
        table.set_content_arrangement(ContentArrangement::Dynamic);
    } else {
        table.force_no_tty();
    }
    for (word, value) in pairs {
        table.add_row([emphasized(word, style), Cell::new(value)]);
    }
    finish(&table)
}

/// A cell that stands out.
pub(crate) fn emphasized(text: &str, style: &Style) -> Cell {
    if style.color { Cell::new(text).add_attribute(Attribute::Bold) } else { Cell::new(text) }
}

/// A status or a verdict, coloured by what it means.
pub(crate) fn judged(text: &str, style: &Style) -> Cell {
    let color = match text {
        "Online" | "Unmonitored" | "up" => Some(Color::Green),
        "Degraded" | "down" => Some(Color::Red),
        "CheckingEndpoint" | "CheckingEndpoints" | "lost" => Some(Color::Yellow),
        "Disabled" | "Inactive" | "Stopped" => Some(Color::DarkGrey),
        _ => None,
    };
    match color {
        Some(color) if style.color => Cell::new(text).fg(color),
        _ => Cell::new(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cli_5_without_a_terminal_there_are_no_colours_and_one_line_a_row() {
        let style = Style::default();
        let mut shown = table(&style, &["NAME", "STATUS"]);
        shown.add_row([Cell::new("a".repeat(300)), judged("Degraded", &style)]);
        let text = finish(&shown);
        assert_eq!(text.lines().count(), 2, "{text}");
        assert!(!text.contains('\u{1b}') && text.contains("Degraded"), "{text}");
    }

    #[test]
    fn cli_5_colour_comes_on_top_of_the_word() {
        let style = Style { color: true, is_terminal: false };
        let mut shown = table(&style, &["STATUS"]);
        shown.add_row([judged("Online", &style)]);
        shown.enforce_styling();
        let text = finish(&shown);
        assert!(text.contains('\u{1b}') && text.contains("Online"), "{text:?}");
    }
}
