//! The fast way and the complete way answer the same bytes: a million queries at random (DNS-3, DNS-6, DNS-8, DNS-10, DNS-11).

use std::collections::BTreeMap;
use std::net::IpAddr;

use waymark_core::state::View;
use waymark_process::chance;

use super::packets::*;
use crate::config::AnswerSettings;
use crate::dns::ahead::Alone;
use crate::dns::draws::Draws;
use crate::dns::fuzzing::zones::{METHODS, SECRET, view};
use crate::dns::prepared::Replies;
use crate::dns::respond::{Arrival, Condition, Transport, Verdict, respond};

/// Stands for all names whose answers have no records.
const NODATA: &[u8] = b"NODATA";

const QUERIES: usize = 1_000_000;
const NOW_S: u32 = 1_700_000_000;

/// A generator of queries that are mostly usual and sometimes not.
struct Asker<'n> {
    draws: Draws,
    names: &'n [String],
}

impl Asker<'_> {
    fn below(&mut self, end: u64) -> usize {
        (self.draws.next() % end) as usize
    }

    fn one_in(&mut self, odds: u64) -> bool {
        self.below(odds) == 0
    }

    fn source(&mut self) -> IpAddr {
        let bits = self.draws.next();
        match bits % 3 {
            0 => IpAddr::from((u128::from(self.draws.next()) << 64 | u128::from(bits)).to_be_bytes()),
            1 => IpAddr::from([10 + (bits >> 8) as u8 % 4, 1, 2, 3]),
            _ => IpAddr::from((bits as u32).to_be_bytes()),
        }
    }

    fn name(&mut self) -> Vec<u8> {
        let mut name = wire(&self.names[self.below(self.names.len() as u64)]);
        if self.one_in(50) {
            let labels = self.below(40);
            name = (0..labels).flat_map(|_| *b"\x01a").chain(name).take(253).collect();
        }
        let letters = self.draws.next();
        for (at, byte) in name.iter_mut().enumerate() {
            if letters >> (at % 64) & 1 == 1 {
                *byte = byte.to_ascii_uppercase();
            }
        }
        name
    }

    fn options(&mut self, source: IpAddr) -> Vec<u8> {
        let mut options = Vec::new();
        for _ in 0..self.below(4) {
            let (code, data): (u16, Vec<u8>) = match self.below(9) {
                0..=2 => (8, self.subnet()),
                3 | 4 => (10, self.cookie(source)),
                5 => (3, Vec::new()),
                6 => (11, vec![0; self.below(3)]),
                7 => (12, vec![0; self.below(20)]),
                _ => (65_001, vec![9; self.below(5)]),
            };
            options.extend(code.to_be_bytes());
            options.extend((data.len() as u16).to_be_bytes());
            options.extend(data);
        }
        options
    }

    fn subnet(&mut self) -> Vec<u8> {
        let (family, bits) = if self.one_in(3) { (2, 128) } else { (1, 32) };
        let prefix = self.below(bits + 1);
        let mut address = self.source_bytes(family == 2);
        address.truncate(prefix.div_ceil(8));
        if let Some(last) = address.last_mut()
            && !prefix.is_multiple_of(8)
        {
            *last &= 0xff << (8 - prefix % 8);
        }
        let scope = u8::from(self.one_in(40));
        [vec![0, family, prefix as u8, scope], address].concat()
    }

    fn source_bytes(&mut self, is_v6: bool) -> Vec<u8> {
        match is_v6 {
            true if self.one_in(2) => {
                vec![0x20, 1, 0x0d, 0xb8, 0, self.below(5) as u8, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7]
            }
            true => [self.draws.next().to_be_bytes(), self.draws.next().to_be_bytes()].concat(),
            false => vec![10 + self.below(5) as u8, 7, 7, 7],
        }
    }

    fn cookie(&mut self, source: IpAddr) -> Vec<u8> {
        let client = [self.draws.next().to_be_bytes()[0]; 8];
        match self.below(4) {
            0 => client.to_vec(),
            1 => vec![1; self.below(45)],
            _ => {
                let secrets =
                    waymark_core::state::CookieSecrets { current: Some(SECRET), ..Default::default() };
                let made_s = NOW_S - self.below(4_000) as u32;
                let asked = crate::dns::cookie::Cookie::read(&client).expect("eight bytes");
                asked.for_next_time(&secrets, source, made_s).expect("a secret").to_vec()
            }
        }
    }

    fn packet(&mut self, source: IpAddr) -> Vec<u8> {
        let kind = match self.below(16) {
            0..=7 => A,
            8..=11 => 28,
            12 => 65,
            13 => 5,
            14 => [2, 6, 16, 43, 255, 251][self.below(6)],
            _ => self.draws.next() as u16,
        };
        let flags = [0, RD, RD | CD, AD | RD, TC | Z, 0x2800][if self.one_in(9) { self.below(6) } else { 1 }];
        let class = if self.one_in(99) { 3 } else { IN };
        let question = [self.name(), kind.to_be_bytes().to_vec(), class.to_be_bytes().to_vec()].concat();
        if self.one_in(4) {
            return [header(flags, [1, 0, 0, 0]), question].concat();
        }
        let payload = [0, 512, 700, 1232, 4096][self.below(5)];
        let version = u8::from(self.one_in(99));
        let flag_bits = if self.one_in(2) { 0x8000 } else { 0x0123 };
        let options = self.options(source);
        let mut packet =
            [header(flags, [1, 0, 0, 1]), question, opt_at(&[0], payload, version, flag_bits, &options)]
                .concat();
        if self.one_in(99) {
            let end = self.below(packet.len() as u64);
            packet.truncate(end);
        }
        packet
    }
}

/// Compares both ways on `queries` queries. Returns how many of each name's were answered the fast way.
fn compare(view: &View, names: &[String], seed: u64, queries: usize) -> BTreeMap<Vec<u8>, u64> {
    let mut asker = Asker { draws: Draws::from_seed(seed), names };
    let settings = AnswerSettings::default();
    let (mut complete, mut quick) = (Vec::new(), [0xee; 1_232]);
    // One for all, as in a listener: nothing of an earlier query may show.
    let mut deciding = Alone::new(Replies::none());
    let mut preparing = Alone::new(Replies::of_one_among(1));
    let mut answered = BTreeMap::new();
    for nth in 0..queries {
        let source = asker.source();
        let packet = asker.packet(source);
        let arrival = Arrival {
            packet: &packet,
            transport: Transport::Udp,
            source,
            draw: asker.draws.next(),
            now_s: NOW_S,
            condition: Condition::default(),
        };
        let decided = deciding.respond(view, &arrival, &mut quick);
        let Some(written) = decided else {
            assert_eq!(preparing.respond(view, &arrival, &mut quick), None, "seed {seed}, query {nth}");
            continue;
        };
        let verdict = respond(view, &settings, &arrival, &mut complete);
        let told = format!("seed {seed}, query {nth} from {source}: {packet:02x?}");
        let Verdict::Reply { code, is_proven, .. } = verdict else { panic!("{told}") };
        assert_eq!((code, is_proven), (NO_ERROR, written.is_proven), "{told}");
        let is_alike = |quick: &[u8]| {
            assert!(quick == &complete[..], "{told}\nfast {quick:02x?}\nslow {complete:02x?}");
        };
        is_alike(&quick[..written.length]);
        assert_eq!(preparing.respond(view, &arrival, &mut quick), Some(written), "{told}");
        is_alike(&quick[..written.length]);
        if quick[7] == 0 {
            *answered.entry(NODATA.to_vec()).or_default() += 1;
        }
        let name_end = 12 + packet[12..].iter().position(|byte| *byte == 0).expect("a name ends");
        *answered.entry(packet[12..name_end].to_ascii_lowercase()).or_default() += 1;
    }
    answered
}

#[test]
fn dns_3_both_ways_answer_the_same_bytes() {
    let seed =
        std::env::var("WAYMARK_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or_else(chance::draw);
    let (view, names) = view();
    let (view, names) = (&view, &names);
    let threads = 2;
    let found = std::thread::scope(|scope| {
        let of = |nth| {
            scope.spawn(move || compare(view, names, seed.wrapping_add(nth), QUERIES / threads as usize))
        };
        let running: Vec<_> = (0..threads).map(of).collect();
        running.into_iter().map(|thread| thread.join()).collect::<Vec<_>>()
    });
    let mut answered: BTreeMap<Vec<u8>, u64> = BTreeMap::new();
    for part in found {
        let part = part.unwrap_or_else(|_| panic!("WAYMARK_SEED={seed}"));
        part.into_iter().for_each(|(name, count)| *answered.entry(name).or_default() += count);
    }
    // What is usual must not be left to the other way.
    let total: u64 = answered.values().sum();
    assert!(total > QUERIES as u64 / 4, "{total} of {QUERIES} were answered the fast way");
    let empty = answered.get(NODATA).copied().unwrap_or_default();
    assert!(empty > QUERIES as u64 / 20, "{empty} of {QUERIES} were NODATA the fast way");
    // Of how often each name is asked, at least a sixteenth: some have nobody for most clients.
    let count_min = QUERIES as u64 / names.len() as u64 / 16;
    for (word, _) in METHODS {
        for zone in ["example.com", "plain.test"] {
            let name = wire(&format!("both-{word}.{zone}"));
            let count = answered.get(&name[..name.len() - 1]).copied().unwrap_or_default();
            assert!(count > count_min, "{word} in {zone}: {count} is not above {count_min}");
        }
    }
    for name in ["out.example.com", "near.example.com", "out.plain.test"] {
        let name = wire(name);
        assert!(answered.get(&name[..name.len() - 1]).is_some_and(|count| *count > count_min));
    }
}
