//! Every rule that code and tests cite stands in docs/rules.md.

use std::collections::{BTreeMap, BTreeSet};

use super::tree;

/// What the ids of rules begin with.
const GROUPS: [&str; 11] = ["CLI", "CLU", "DNS", "OBJ", "OPS", "PRB", "RTE", "SEC", "SET", "STA", "VAL"];

#[test]
fn every_cited_rule_is_listed() {
    let page = std::fs::read_to_string(tree::root().join("docs/rules.md")).unwrap();
    let listed: BTreeSet<String> = page
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.split(' ').next())
        .map(str::to_owned)
        .collect();
    let mut cited: BTreeMap<String, String> = BTreeMap::new();
    for file in tree::sources().iter().filter(|file| file.path != file!()) {
        for id in ids(&file.text) {
            cited.entry(id).or_insert_with(|| file.path.clone());
        }
    }
    assert!(cited.len() > 80, "the ids were not found: {cited:?}");
    let missing: Vec<_> = cited.iter().filter(|(id, _)| !listed.contains(*id)).collect();
    assert!(missing.is_empty(), "docs/rules.md does not list {missing:?}");
}

/// `STA-1`, but not the case `F-STA-01`; and `sta_1` from the name of a test.
fn ids(text: &str) -> Vec<String> {
    let is_inner = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    text.split(|c: char| !is_inner(c)).filter_map(id).collect()
}

fn id(word: &str) -> Option<String> {
    let (group, rest) = word.split_once(['-', '_'])?;
    let number: String = rest.chars().take_while(char::is_ascii_digit).collect();
    let behind = rest[number.len()..].chars().next();
    let is_written = GROUPS.contains(&group) && word.as_bytes()[3] == b'-';
    let is_named = behind == Some('_') && GROUPS.contains(&group.to_uppercase().as_str());
    let is_id = !number.is_empty() && (is_written || (is_named && word.as_bytes()[3] == b'_'));
    is_id.then(|| format!("{}-{number}", group.to_uppercase()))
}

#[test]
fn ids_are_told_from_cases_and_other_words() {
    let found = ids("STA-1, (F-STA-01) fn sta_12_one() DNS-8's set_13x utf-8 RTE-2. sta_of");
    assert_eq!(found, ["STA-1", "STA-12", "DNS-8", "RTE-2"]);
}
