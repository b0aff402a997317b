//! Holds the house in order: layers, headers, sizes, words, cited rules and what core may not know.

mod layers;
mod rules;
mod safety;
mod tree;
mod words;

use tree::SourceFile;

/// Longest file, in lines.
const FILE_LINES_MAX: usize = 400;

#[test]
fn every_file_says_what_it_is_for() {
    let silent = |file: &SourceFile| !file.text.trim_start().starts_with("//!");
    tree::report("begin with a `//!` line that says what the file is for", silent, |_| String::new());
}

#[test]
fn no_file_is_too_long() {
    let lines = |file: &SourceFile| file.text.lines().count();
    let advice = format!("split by concept: a file has at most {FILE_LINES_MAX} lines");
    tree::report(&advice, |file| lines(file) > FILE_LINES_MAX, |file| lines(file).to_string());
}

#[test]
fn module_roots_have_no_logic() {
    let has_logic = |file: &SourceFile| {
        file.path.ends_with("mod.rs") && file.path.contains("/src/") && file.text.matches("\nfn ").count() > 4
    };
    tree::report("a mod.rs with more than four functions hides a module: name it", has_logic, |_| {
        String::new()
    });
}
