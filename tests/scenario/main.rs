//! Stories about the pure core, told in `scripts/*.txt`: commands, each followed by what they come to. One test runs
//! them all. `SCRIPT=NAME` runs those whose file name contains NAME, `UPDATE_SCRIPTS=1` writes what came out into the
//! scripts, to be read as a diff. The commands are listed in `words.rs`.

mod arguments;
mod ask;
mod perform;
mod records;
mod script;
mod show;
mod words;
mod world;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use script::Script;
use world::World;

#[test]
fn every_script_tells_the_truth() -> Result<()> {
    let wanted = std::env::var("SCRIPT").unwrap_or_default();
    let is_update = std::env::var_os("UPDATE_SCRIPTS").is_some();
    let mut complaints = Vec::new();
    let mut count = 0;
    for path in scripts()? {
        if !path.to_string_lossy().contains(&wanted) {
            continue;
        }
        count += 1;
        let complaint = run(&path, is_update).with_context(|| path.display().to_string())?;
        complaints.extend((!complaint.is_empty()).then_some(complaint));
    }
    ensure!(count > 0, "no script matches '{wanted}'");
    ensure!(
        complaints.is_empty(),
        "{}\n{} of {count} scripts differ; UPDATE_SCRIPTS=1 accepts what came out",
        complaints.join("\n"),
        complaints.len()
    );
    Ok(())
}

fn scripts() -> Result<Vec<PathBuf>> {
    // Asked when it runs: worktrees that share a target directory share the binary, too.
    let package = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_else(|_| env!("CARGO_MANIFEST_DIR").into());
    let folder = Path::new(&package).join("scenario/scripts");
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        paths.extend(path.extension().is_some_and(|end| end == "txt").then_some(path));
    }
    paths.sort();
    Ok(paths)
}

/// Runs one script; returns where it differs, nothing if it does not.
fn run(path: &Path, is_update: bool) -> Result<String> {
    let text = std::fs::read_to_string(path)?;
    let mut script = Script::parse(&text)?;
    let mut world = World::default();
    let mut complaint = String::new();
    for step in script.steps_mut() {
        let came_out = words::obey(&mut world, &step.command)
            .with_context(|| format!("line {}: > {}", step.line, step.command.join("\n+ ")))?;
        if came_out != step.expected {
            complaint.push_str(&format!("\n{}:{}: > {}\n", path.display(), step.line, step.command[0]));
            complaint.push_str(&script::difference(&step.expected, &came_out));
        }
        step.expected = came_out;
    }
    if is_update && !complaint.is_empty() {
        std::fs::write(path, script.to_string())?;
        return Ok(String::new());
    }
    Ok(complaint)
}
