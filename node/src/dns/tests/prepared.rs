//! Replies that were prepared are never told once the answer is another.

use waymark_core::model::{Edit, LogIndex, OverrideKind, ProfilePatch, Timestamp, ZonePatch};
use waymark_core::state::{Action, Command, Context, View, apply};
use waymark_process::chance;

use super::packets::*;
use crate::config::AnswerSettings;
use crate::dns::ahead::Alone;
use crate::dns::draws::Draws;
use crate::dns::fuzzing::zones::{METHODS, view};
use crate::dns::prepared::Replies;
use crate::dns::respond::{Arrival, Condition, Transport, respond};

const STEPS: u64 = 400;
const QUERIES_PER_STEP: usize = 100;
const AAAA: u16 = 28;

/// Something that changes answers, or nothing.
fn action(draws: &mut Draws) -> Action {
    let mut below = |end: usize| (draws.next() % end as u64) as usize;
    let word = METHODS[below(METHODS.len())].0;
    let zone = ["example.com", "plain.test"][below(2)];
    let (own_zone, reason) = (zone.replace('.', "-"), "a test".to_owned());
    let pattern = format!("*-{word}-{own_zone}/e{}", below(4));
    let name = format!("v4-{word}-{own_zone}");
    match below(6) {
        0 => Action::LiftOverrides { pattern, reason },
        1 | 2 => {
            let kind = [OverrideKind::Drain, OverrideKind::ForceDown, OverrideKind::ForceUp][below(3)];
            Action::OverrideEndpoints { pattern, kind, reason, span_ms: None, even_last: true }
        }
        3 => {
            let fields = ProfilePatch { ttl: Edit::Set(below(5) as u32 + 1), ..ProfilePatch::default() };
            Action::UpdateProfile { name, fields, if_revision: None }
        }
        4 => {
            let fields = ProfilePatch { enabled: Edit::Set(below(2) == 0), ..ProfilePatch::default() };
            Action::UpdateProfile { name, fields, if_revision: None }
        }
        _ => {
            let fields = ZonePatch { ecs: Edit::Set(below(2) == 0), ..ZonePatch::default() };
            Action::UpdateZone { name: zone.to_owned(), fields, if_revision: None }
        }
    }
}

fn changed(view: &View, index: u64, action: Action) -> View {
    let context = Context { index: LogIndex(index), at: Timestamp(index) };
    let command = Command { id: None, author: "operator".to_owned(), note: None, action };
    let applied = apply(&view.state, context, &command);
    view.after(applied.state, &applied.changes, LogIndex(index))
}

/// DNS-23, OBJ-5: whatever changes between two batches, the second is answered out of what is so then.
#[test]
fn dns_23_what_was_prepared_is_never_told_too_late() {
    let seed =
        std::env::var("WAYMARK_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or_else(chance::draw);
    let mut draws = Draws::from_seed(seed);
    let (mut view, names) = view();
    let (settings, mut fast) = (AnswerSettings::default(), Alone::new(Replies::of_one_among(1)));
    let (mut complete, mut quick, mut answered, mut editions) = (Vec::new(), [0; 1_232], 0, 0);
    for step in 0..STEPS {
        let before = view.edition().clone();
        view = changed(&view, step + 10, action(&mut draws));
        editions += u64::from(*view.edition() != before);
        for _ in 0..QUERIES_PER_STEP {
            let name = &names[(draws.next() % names.len() as u64) as usize];
            let record_type = [A, AAAA][(draws.next() % 2) as usize];
            let subnet = [0, 8, 0, 7, 0, 1, 24, 0, 198, 51, 100];
            let opt = opt_at(&[0], 1_232, 0, 0, &subnet);
            let packet = [header(RD, [1, 0, 0, 1]), question(name, record_type, IN), opt].concat();
            let arrival = Arrival {
                packet: &packet,
                transport: Transport::Udp,
                source: [192, 0, 2, 7].into(),
                draw: draws.next(),
                now_s: 1_700_000_000,
                condition: Condition::default(),
            };
            let Some(written) = fast.respond(&view, &arrival, &mut quick) else { continue };
            respond(&view, &settings, &arrival, &mut complete);
            let told = format!("WAYMARK_SEED={seed}, step {step}: {name}, {record_type}");
            assert_eq!(quick[..written.length], complete[..], "{told}");
            answered += 1;
        }
    }
    assert!(editions > STEPS / 4, "{editions} of {STEPS} steps changed answers");
    assert!(answered > STEPS * QUERIES_PER_STEP as u64 / 4, "{answered} were answered the fast way");
}
