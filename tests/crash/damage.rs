//! One bit flipped, or the tail cut, in any file of one of three members that lies still: it opens and knows what it must, or it is refused with a
//! reason, and the cluster has lost nothing (CLU-2, CLU-3).

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use harness::chance::Chance;
use harness::eventually::{claim, let_pass};
use harness::{Caller, Cluster, Member, eventually, within};

use crate::Outcome;
use crate::writers::Writers;

/// How long a member may take to be refused, or to be back.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long writers write before each damage.
const WRITING: Duration = Duration::from_millis(200);

pub(crate) fn run(rounds: u32, chance: &mut Chance) -> Outcome {
    let mut cluster = Cluster::start(3);
    let callers: Vec<Caller> = cluster.members.iter().map(Member::caller).collect();
    let mut writers = Writers::new(&cluster, Chance::from_seed(chance.draw()));
    let mut outcome = Outcome::new("a flipped bit or a cut tail in one of three members".to_owned());
    for round in 1..=rounds {
        let at = chance.below(3) as usize;
        let alive = &callers[(at + 1) % 3];
        writers.start(std::slice::from_ref(alive));
        let_pass(WRITING, "there is something to lose");
        cluster.members[at].kill();
        let intact = tempfile::tempdir().expect("a directory can be made");
        copy(&cluster.members[at].data(), intact.path());
        let damage = Damage::draw(&cluster.members[at].data(), chance);
        damage.inflict();
        cluster.members[at].start();
        let started = Instant::now();
        let fate = fate(&mut cluster.members[at]);
        outcome.recovered(started.elapsed());
        writers.stop();
        match fate {
            Fate::Back => outcome.count("opened all the same"),
            Fate::Refused(reason) => {
                outcome.count("refused with a reason");
                outcome.note(round, claim(!reason.is_empty(), format!("{damage:?}: refused without a word")));
                put_back(&mut cluster.members[at], intact.path());
            }
            Fate::Neither(seen) => {
                outcome.note(round, Err(format!("{damage:?}: neither back nor refused: {seen}")));
                cluster.members[at].kill();
                put_back(&mut cluster.members[at], intact.path());
            }
        }
        let told = eventually("the cluster tells what it knows", || writers.check(alive, false));
        outcome.note(round, told.map_err(|wrong| format!("{damage:?}: {wrong}")));
        // It catches up; what it says by itself is then right.
        let own = within(PATIENCE, || writers.check(&callers[at], true).and_then(|told| told));
        outcome.note(round, own.map_err(|wrong| format!("{damage:?}: the member itself: {wrong}")));
    }
    outcome.ended(rounds, writers.acknowledged());
    outcome
}

/// What became of a member that was started with a damaged file.
enum Fate {
    Back,
    /// What it said last.
    Refused(String),
    /// What was seen last.
    Neither(String),
}

fn fate(member: &mut Member) -> Fate {
    let decided = within(PATIENCE, || {
        if !member.is_running() {
            return Ok(true);
        }
        let ready = reqwest::blocking::get(format!("http://{}/readyz", member.http));
        let ready = ready.map_err(|error| error.to_string())?;
        claim(ready.status().is_success(), ready.text().unwrap_or_default()).map(|()| false)
    });
    match decided {
        Ok(false) => Fate::Back,
        Ok(true) => {
            let succeeded = member.process().ended().is_some_and(|status| status.success());
            let log = member.process().log();
            let last = log.lines().last().unwrap_or_default();
            Fate::Refused(if succeeded { String::new() } else { last.to_owned() })
        }
        Err(seen) => Fate::Neither(seen),
    }
}

/// Gives a member that does not run the files back that it had, and waits until it is back.
fn put_back(member: &mut Member, intact: &Path) {
    fs::remove_dir_all(member.data()).expect("the data of a test can be removed");
    copy(intact, &member.data());
    member.start();
    member.ready();
}

/// What happens to a file.
#[derive(Debug)]
enum Damage {
    Bit { file: PathBuf, at: u64, bit: u8 },
    Tail { file: PathBuf, left: u64 },
}

impl Damage {
    /// Of any file below `directory` that holds something.
    fn draw(directory: &Path, chance: &mut Chance) -> Self {
        let files = files(directory);
        let file = chance.one_of(&files).expect("a member has files").clone();
        let length = fs::metadata(&file).expect("it is there").len();
        let at = chance.below(length);
        match chance.one_in(3) {
            true => Self::Tail { file, left: at },
            false => Self::Bit { file, at, bit: chance.below(8) as u8 },
        }
    }

    fn inflict(&self) {
        match self {
            Self::Bit { file, at, bit } => {
                let mut bytes = fs::read(file).expect("it can be read");
                bytes[*at as usize] ^= 1 << bit;
                fs::write(file, bytes).expect("it can be written");
            }
            Self::Tail { file, left } => {
                let file = fs::File::options().write(true).open(file).expect("it can be opened");
                file.set_len(*left).expect("it can be cut");
            }
        }
    }
}

/// All files below `directory` that hold something, in order.
fn files(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).expect("it can be read").flatten() {
        let metadata = entry.metadata().expect("it is there");
        if metadata.is_dir() {
            found.extend(files(&entry.path()));
        } else if metadata.is_file() && metadata.len() > 0 {
            found.push(entry.path());
        }
    }
    found.sort();
    found
}

/// Copies all files below `from` to the same places below `to`.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a directory can be made");
    let rights = fs::metadata(from).expect("it is there").permissions();
    fs::set_permissions(to, rights).expect("rights can be set");
    for entry in fs::read_dir(from).expect("it can be read").flatten() {
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type().expect("it is there");
        if kind.is_dir() {
            copy(&from, &to);
        } else if kind.is_file() {
            fs::copy(from, to).expect("it can be copied");
        }
    }
}
