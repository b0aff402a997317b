//! In which order an agent tries the members. Pure.

use std::hash::Hasher;

use http::Uri;
use siphasher::sip::SipHasher13;

/// Keys of the hash: fixed, so that an agent begins with the same member in every run and version.
const HASH_KEYS: (u64, u64) = (0x7761_796d_6172_6b21, 0x6d65_6d62_6572_735f);

/// `members` in the order in which `agent` tries them: around the ring that the list is, beginning at a place that a hash of
/// the name gives, without case. So many agents with one list spread over the members.
pub fn in_turn(mut members: Vec<Uri>, agent: &str) -> Vec<Uri> {
    let mut hasher = SipHasher13::new_with_keys(HASH_KEYS.0, HASH_KEYS.1);
    hasher.write(agent.to_ascii_lowercase().as_bytes());
    if let Some(first) = hasher.finish().checked_rem(members.len() as u64) {
        members.rotate_left(usize::try_from(first).expect("below the number of members"));
    }
    members
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members() -> Vec<Uri> {
        (1..=3).map(|number| format!("http://m{number}:7400").parse().unwrap()).collect()
    }

    #[test]
    fn agents_spread_over_the_members_and_go_on_around_the_ring() {
        let mut firsts = [0; 3];
        for number in 0..300 {
            let turns = in_turn(members(), &format!("agent-{number}"));
            let first = members().iter().position(|member| *member == turns[0]).unwrap();
            firsts[first] += 1;
            let ring: Vec<Uri> = members().into_iter().cycle().skip(first).take(3).collect();
            assert_eq!(turns, ring);
        }
        assert!(firsts.iter().all(|agents| (70..=130).contains(agents)), "{firsts:?}");
    }

    #[test]
    fn an_agent_begins_with_the_same_member_each_time() {
        assert_eq!(in_turn(members(), "eu-1"), in_turn(members(), "EU-1"));
        assert_eq!(in_turn(Vec::new(), "eu-1"), Vec::<Uri>::new());
    }
}
