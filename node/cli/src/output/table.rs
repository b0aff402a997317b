//! Tables that fit the terminal, and colours that only repeat what a word says (CLI-5).

use comfy_table::{Attribute, Cell, Color, ColumnConstraint, ContentArrangement, Table, presets::NOTHING};

use super::Style;

/// Columns that hold one short word or number: they are never broken, so that the others give way.
const UNBROKEN: [&str; 13] = [
    "STATUS", "FOR", "STATE", "ROLE", "ID", "TTL", "SWITCHED", "REVISION", "PRIORITY", "WEIGHT", "ROUTING",
    "APPLIED", "AGE",
];

/// A table without lines, under capital headings.
pub(crate) fn table(style: &Style, headings: &[&str]) -> Table {
    let mut table = blank(style);
    table.set_header(headings.iter().map(|heading| emphasized(heading, style)).collect::<Vec<_>>());
    for (at, _) in headings.iter().enumerate().filter(|(_, heading)| UNBROKEN.contains(heading)) {
        if let Some(column) = table.column_mut(at) {
            column.set_constraint(ColumnConstraint::ContentWidth);
        }
    }
    table
}

fn blank(style: &Style) -> Table {
    let mut table = Table::new();
    table.load_style(NOTHING);
    if style.is_terminal {
        table.set_content_arrangement(ContentArrangement::Dynamic);
    } else {
        // Whoever reads by program wants one line a row.
        table.force_no_tty();
    }
    table
}

/// The table as text, without blanks at the ends of lines.
pub(crate) fn finish(mut table: Table) -> String {
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    table.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

/// Pairs of a word and what it stands for, one a line.
pub(crate) fn pairs(style: &Style, pairs: &[(&str, String)]) -> String {
    let mut table = blank(style);
    for (word, value) in pairs {
        table.add_row([emphasized(word, style), Cell::new(value)]);
    }
    if let Some(column) = table.column_mut(0) {
        column.set_constraint(ColumnConstraint::ContentWidth);
    }
    finish(table)
}

/// Most values of a list that a column has room for.
const FEW: usize = 3;

/// The first of `values`: a column is no place for hundreds.
pub(crate) fn few(values: &[String]) -> String {
    let more = if values.len() > FEW { " and more" } else { "" };
    format!("{}{more}", values[..values.len().min(FEW)].join(", "))
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
        let text = finish(shown);
        assert_eq!(text.lines().count(), 2, "{text}");
        assert!(!text.contains('\u{1b}') && text.contains("Degraded"), "{text}");
    }

    #[test]
    fn cli_5_a_table_fits_and_keeps_its_words_whole() {
        let style = Style { color: false, is_terminal: true };
        let mut shown = table(&style, &["TARGET", "STATUS", "REGIONS"]);
        shown.add_row([
            "some-long-name.example.com",
            "CheckingEndpoint",
            "eu unknown, us unknown, ap unknown",
        ]);
        shown.set_width(50);
        let text = finish(shown);
        assert!(text.lines().all(|line| line.chars().count() <= 50), "{text}");
        assert!(text.contains("CheckingEndpoint"), "{text}");
    }

    #[test]
    fn cli_5_colour_comes_on_top_of_the_word() {
        let style = Style { color: true, is_terminal: false };
        let mut shown = table(&style, &["STATUS"]);
        shown.add_row([judged("Online", &style)]);
        shown.enforce_styling();
        let text = finish(shown);
        assert!(text.contains('\u{1b}') && text.contains("Online"), "{text:?}");
    }
}
