//! Power loss: the file system under a member is shut down in the middle of writes, as if its disk had gone: what was not flushed is lost. After
//! another mount, what was acknowledged is there (CLU-2). Takes root, loop devices, and the programs that make and mount file systems.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use clap::ValueEnum;
use harness::chance::Chance;
use harness::eventually::let_pass;
use harness::{Caller, Cluster, Member, eventually};

use crate::Outcome;
use crate::writers::Writers;

/// Of the file system's image: XFS wants 300 MB at least.
const IMAGE_BYTES: u64 = 400 << 20;

/// Shuts a mounted file system down, without a flush of its own log (FS_IOC_SHUTDOWN, 2). Perl is part of every Debian.
const SHUT_DOWN: &str = "use Fcntl; sysopen(my $directory, $ARGV[0], O_RDONLY | O_DIRECTORY) or die \"$ARGV[0]: $!\"; \
    my $flag = pack('I', 2); ioctl($directory, 0x8004587d, $flag) or die \"shutdown: $!\";";

/// Kinds of file systems.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    Ext4,
    Xfs,
}

/// Of a member that is alone.
pub(crate) fn alone(kind: Kind, rounds: u32, chance: &mut Chance) -> Outcome {
    let outcome = Outcome::new(format!("power loss of a single member on {kind:?}"));
    run(kind, Vec::new(), rounds, chance, outcome)
}

/// Of the leader of three: a majority goes on, and the leader is one of them again when it comes back (CLU-2).
pub(crate) fn of_the_leader(kind: Kind, rounds: u32, chance: &mut Chance) -> Outcome {
    let outcome = Outcome::new(format!("power loss of the leader of three on {kind:?}"));
    run(kind, vec!["m2", "m3"], rounds, chance, outcome)
}

fn run(kind: Kind, others: Vec<&str>, rounds: u32, chance: &mut Chance, mut outcome: Outcome) -> Outcome {
    let directory = tempfile::tempdir().expect("a directory can be made");
    let disk = Disk::make(kind, directory.path());
    let member = Member::new("m1", directory.path());
    // Its data is on that disk, below what the file system keeps there for itself.
    std::fs::create_dir(disk.mount.join("data")).expect("a directory can be made");
    std::os::unix::fs::symlink(disk.mount.join("data"), member.data()).expect("a link can be made");
    let others: Vec<Member> = others.into_iter().map(|name| Member::new(name, directory.path())).collect();
    let mut cluster = Cluster::found(directory, std::iter::once(member).chain(others).collect());
    let callers: Vec<Caller> = cluster.members.iter().map(Member::caller).collect();
    let mut writers = Writers::new(&cluster, Chance::from_seed(chance.draw()));
    for round in 1..=rounds {
        if callers.len() > 1 {
            eventually("the member on that disk leads", || {
                let told = cluster.cli().run("cluster transfer-leader m1");
                if told.code == 0 { Ok(()) } else { Err(told.stderr) }
            });
        }
        writers.start(&callers);
        let_pass(Duration::from_millis(50 + chance.below(800)), "power goes at a moment of its own");
        disk.shut_down();
        writers.stop();
        cluster.members[0].kill();
        for caller in &callers[1..] {
            outcome
                .note(round, eventually("the others tell what they know", || writers.check(caller, false)));
        }
        disk.unmount();
        disk.mount();
        let started = Instant::now();
        cluster.members[0].start();
        cluster.members[0].listens();
        for (nth, caller) in callers.iter().enumerate() {
            let told = eventually("the member tells what it knows", || writers.check(caller, false));
            if nth == 0 {
                outcome.recovered(started.elapsed());
            }
            outcome.note(round, told);
        }
    }
    cluster.members.iter_mut().for_each(Member::kill);
    disk.unmount();
    outcome.ended(rounds, writers.acknowledged());
    outcome
}

/// A file with a file system in it.
struct Disk {
    image: PathBuf,
    mount: PathBuf,
}

impl Disk {
    fn make(kind: Kind, directory: &Path) -> Self {
        let disk = Self { image: directory.join("image"), mount: directory.join("disk") };
        let file = std::fs::File::create(&disk.image).expect("a file can be made");
        file.set_len(IMAGE_BYTES).expect("it can be made as large");
        std::fs::create_dir(&disk.mount).expect("a directory can be made");
        let program = match kind {
            Kind::Ext4 => "mkfs.ext4",
            Kind::Xfs => "mkfs.xfs",
        };
        succeed(Command::new(program).arg("-q").arg(&disk.image));
        disk.mount();
        disk
    }

    fn mount(&self) {
        succeed(Command::new("mount").args(["-o", "loop"]).arg(&self.image).arg(&self.mount));
    }

    fn shut_down(&self) {
        succeed(Command::new("perl").args(["-e", SHUT_DOWN]).arg(&self.mount));
    }

    /// Once nobody has a file open there any more.
    fn unmount(&self) {
        eventually("the file system is not in use", || {
            let output = Command::new("umount").arg(&self.mount).output().expect("umount starts");
            match output.status.success() {
                true => Ok(()),
                false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
            }
        });
    }
}

impl Drop for Disk {
    /// After a panic as well: a mount would outlive the process. Else there is none any more, and the complaint is of no use.
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(&self.mount).output();
    }
}

fn succeed(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}
