//! The live table, and the keys that break and heal things.

use std::io::{IsTerminal, Write, stdout};
use std::time::{Duration, Instant};

use comfy_table::Table;
use comfy_table::presets::UTF8_HORIZONTAL_ONLY;
use crossterm::event::{Event, KeyCode, KeyEventKind, KeyModifiers, poll, read};
use crossterm::{cursor, execute, terminal};
use serde_json::Value;
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};

use crate::stage::{Stage, ZONE};

/// How often the table is drawn.
const PACE: Duration = Duration::from_millis(500);

/// Is there a terminal on both ends?
pub(crate) fn is_possible() -> bool {
    stdout().is_terminal() && std::io::stdin().is_terminal()
}

/// Shows the table and obeys keys until `q`, Ctrl-C, TERM or the deadline.
pub(crate) fn show(mut stage: Stage, runtime: &Runtime, deadline: Option<Instant>) {
    let _guard = runtime.enter();
    let mut term = signal(SignalKind::terminate()).expect("signals can be listened for");
    let terminal = RawTerminal::enter();
    let mut note = String::from("everything is up");
    loop {
        draw(&mut stage, &note);
        let told =
            runtime.block_on(async { tokio::time::timeout(Duration::ZERO, term.recv()).await }).is_ok();
        if told || deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            break;
        }
        match key(PACE) {
            Some('q') => break,
            Some(key) => note = obey(&mut stage, key).unwrap_or(note),
            None => {}
        }
    }
    drop(terminal);
}

/// The terminal in raw mode, and back again when it goes.
struct RawTerminal;

impl RawTerminal {
    fn enter() -> Self {
        terminal::enable_raw_mode().expect("a terminal has a raw mode");
        let _ = execute!(stdout(), terminal::EnterAlternateScreen, cursor::Hide);
        Self
    }
}

impl Drop for RawTerminal {
    fn drop(&mut self) {
        let _ = execute!(stdout(), cursor::Show, terminal::LeaveAlternateScreen);
        let _ = terminal::disable_raw_mode();
    }
}

/// The key that is pressed within `patience`; Ctrl-C counts as `q`.
fn key(patience: Duration) -> Option<char> {
    if !poll(patience).unwrap_or(false) {
        return None;
    }
    match read() {
        Ok(Event::Key(key)) if key.kind == KeyEventKind::Press => match key.code {
            KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => Some('q'),
            KeyCode::Char(character) => Some(character),
            _ => None,
        },
        _ => None,
    }
}

/// Does what a key asks for and says so.
fn obey(stage: &mut Stage, key: char) -> Option<String> {
    match key {
        '1'..='9' => {
            let placed = stage.endpoints.get_mut(usize::try_from(key.to_digit(10)?).ok()?.checked_sub(1)?)?;
            let is_up = placed.server.is_up();
            if is_up {
                placed.server.stop()
            } else {
                placed.server.heal()
            }
            Some(format!(
                "{}/{} was {}",
                placed.profile,
                placed.name,
                if is_up { "broken" } else { "healed" }
            ))
        }
        'k' => {
            let leader = stage.cluster.leader();
            stage.cluster.members[leader].kill();
            Some(format!(
                "{}, the leader, was killed (kill -9); r brings it back",
                stage.cluster.members[leader].name
            ))
        }
        'r' => {
            let mut back = Vec::new();
            for member in &mut stage.cluster.members {
                if !member.is_running() {
                    member.start();
                    back.push(member.name.clone());
                }
            }
            stage.tell_keeper();
            Some(if back.is_empty() {
                "nobody is missing".into()
            } else {
                format!("{} is back", back.join(", "))
            })
        }
        _ => None,
    }
}

fn draw(stage: &mut Stage, note: &str) {
    let text = [
        format!("Waymark demo — zone {ZONE}\n"),
        endpoint_table(stage).to_string(),
        member_table(stage).to_string(),
        "keys: 1–5 break or heal an endpoint · k kill the leader · r bring members back · q end".to_owned(),
        format!("last: {note}"),
    ];
    let mut out = stdout();
    let _ = execute!(out, cursor::MoveTo(0, 0), terminal::Clear(terminal::ClearType::All));
    // Raw mode does not return the carriage by itself.
    let _ = write!(out, "{}", text.join("\n").replace('\n', "\r\n"));
    let _ = out.flush();
}

fn endpoint_table(stage: &Stage) -> Table {
    let mut table = Table::new();
    table.load_style(UTF8_HORIZONTAL_ONLY).set_header(["key", "endpoint", "target", "status", "regions"]);
    let output = stage.cluster.cli().run("status --stale --timeout 2s -o json");
    let status: Value = serde_json::from_str(&output.stdout).unwrap_or_default();
    let profiles = status["profiles"].as_array().cloned().unwrap_or_default();
    for (at, placed) in stage.endpoints.iter().enumerate() {
        let endpoint = profiles
            .iter()
            .filter(|profile| profile["name"] == placed.profile)
            .flat_map(|profile| profile["endpoints"].as_array().cloned().unwrap_or_default())
            .find(|endpoint| endpoint["name"] == placed.name)
            .unwrap_or_default();
        let regions = endpoint["regions"].as_array().cloned().unwrap_or_default();
        let regions: Vec<String> =
            regions.iter().map(|r| format!("{} {}", text(&r["region"]), text(&r["verdict"]))).collect();
        table.add_row([
            (at + 1).to_string(),
            format!("{}/{}", placed.profile, placed.name),
            placed.server.ip().to_string(),
            text(&endpoint["status"]),
            regions.join(", "),
        ]);
    }
    table
}

fn member_table(stage: &mut Stage) -> Table {
    let status = stage.cluster.cli().run("cluster status --timeout 2s -o json");
    let status: Value = serde_json::from_str(&status.stdout).unwrap_or_default();
    let roles = status["members"].as_array().cloned().unwrap_or_default();
    let mut table = Table::new();
    table.load_style(UTF8_HORIZONTAL_ONLY).set_header(["member", "DNS", "role", "applied", "web", "api"]);
    for member in &mut stage.cluster.members {
        let known =
            roles.iter().find(|known| known["name"] == member.name.as_str()).cloned().unwrap_or_default();
        let is_running = member.is_running();
        let ask = |name: &str| {
            if is_running {
                harness::dns::short(member.dns, &format!("{name}.{ZONE}"), "A")
            } else {
                "–".into()
            }
        };
        let role = if is_running { text(&known["role"]) } else { "killed".into() };
        let answers = (ask("web"), ask("api"));
        table.add_row([
            member.name.clone(),
            member.dns.to_string(),
            role,
            text(&known["applied"]),
            answers.0,
            answers.1,
        ]);
    }
    table
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| if value.is_null() { "–".into() } else { value.to_string() }, str::to_owned)
}
