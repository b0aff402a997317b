//! One word per concept: what GLOSSARY.md says never to call a thing of ours.

use super::tree;

/// Those of the glossary's words that can only be meant for a thing of ours. The others (record, server, connection, …)
/// name things of other people's as well.
const BANNED: [(&str, &str); 14] = [
    ("backend", "endpoint"),
    ("upstream", "endpoint, or member"),
    ("origin", "endpoint"),
    ("domain", "zone"),
    ("prober", "agent"),
    ("checker", "agent"),
    ("site", "region"),
    ("datacenter", "region"),
    ("replica", "node, or member"),
    ("job", "assignment"),
    ("mutation", "command"),
    ("database", "state"),
    ("rng", "draw"),
    ("pick", "decision"),
];

const DEFINES: [&str; 8] = ["fn", "struct", "enum", "trait", "mod", "const", "type", "static"];

#[test]
fn nothing_of_ours_has_a_banned_name() {
    for (banned, rather) in BANNED {
        let advice = format!("'{banned}' is not our word: say {rather}");
        tree::report(
            &advice,
            |file| defined(&file.text).any(|name| parts(name).any(|part| part == banned)),
            |file| {
                defined(&file.text).filter(|name| parts(name).any(|part| part == banned)).collect::<String>()
            },
        );
    }
}

fn defined(text: &str) -> impl Iterator<Item = &str> {
    let words = || text.split_whitespace();
    words()
        .zip(words().skip(1))
        .filter(|(word, _)| DEFINES.contains(word))
        .map(|(_, name)| name.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default())
}

/// The words that an identifier is made of, in lower case.
fn parts(name: &str) -> impl Iterator<Item = String> + '_ {
    let mut words: Vec<String> = vec![String::new()];
    for character in name.chars() {
        if character == '_' || character.is_uppercase() {
            words.push(String::new());
        }
        if character != '_' {
            words.last_mut().expect("there is one word at least").extend(character.to_lowercase());
        }
    }
    words.into_iter()
}

#[test]
fn the_tree_tells_nothing_of_where_it_was_made() {
    // Written apart, so that this file does not find itself.
    let telling = [["/wo", "rk/"].concat(), ["/root", "/"].concat(), ["art", "ifactory"].concat()];
    let named = |file: &tree::SourceFile| telling.iter().any(|word| file.text.contains(word.as_str()));
    tree::report("a path or a host of one machine has no place here", named, |_| String::new());
}
