//! What a lookup means for an endpoint, beside what is known of it.

use std::net::IpAddr;

use waymark_core::model::{EndpointId, Flattened, Name, RecordType, Target, Timestamp};
use waymark_core::state::{FoundAddresses, State};

use super::lookup::{Found, Lookup};

/// The addresses that `endpoint` has by `lookup`, if they are other ones than `state` knows.
///
/// | a family's lookup | its addresses |
/// |---|---|
/// | found some | these |
/// | found none | none; but if neither family has any, nothing changes |
/// | failed | those that are known |
pub(super) fn found(
    state: &State,
    endpoint: EndpointId,
    name: &Name,
    lookup: &Lookup,
) -> Option<FoundAddresses> {
    let known = state.health.get(&endpoint)?.flattened.as_deref().filter(|known| known.name() == name);
    let family = |found: &Found, record_type| match found {
        Found::Addresses(addresses, _) => addresses.clone(),
        Found::Nothing => Vec::new(),
        Found::Failure(_) => {
            known.iter().flat_map(|known| known.answers(record_type)).filter_map(address).collect()
        }
    };
    let addresses = [family(&lookup.v4, RecordType::A), family(&lookup.v6, RecordType::AAAA)].concat();
    let flattened = Flattened::new(name.clone(), &addresses, Timestamp(0))?;
    let is_other = known.is_none_or(|known| !known.is_like(&flattened));
    is_other.then(|| FoundAddresses {
        endpoint,
        name: name.clone(),
        addresses: flattened.addresses().iter().filter_map(address).collect(),
    })
}

fn address(target: &Target) -> Option<IpAddr> {
    match target {
        Target::V4(address) => Some((*address).into()),
        Target::V6(address) => Some((*address).into()),
        Target::Name(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use waymark_core::model::{Edit, EndpointPatch, LogIndex, ProfilePatch, Routing, ZonePatch};
    use waymark_core::state::{Action, Command, Context, apply};

    use super::*;

    fn carry_out(state: &State, action: Action) -> State {
        let command = Command { id: None, author: "operator".into(), note: None, action };
        let applied = apply(state, Context { index: LogIndex(1), at: Timestamp(1) }, &command);
        applied.reply.expect("it is taken");
        applied.state
    }

    fn name() -> Name {
        Name::parse("www.example.net").unwrap()
    }

    /// A flattened profile with one endpoint, and that endpoint.
    fn scene() -> (State, EndpointId) {
        let servers = Edit::Set(vec![("ns.example.net".into(), Vec::new())]);
        let fields = ZonePatch { name_servers: servers, ..ZonePatch::default() };
        let state = carry_out(&State::default(), Action::CreateZone { name: "example.com".into(), fields });
        let fields = ProfilePatch {
            routing: Edit::Set(Routing::Priority),
            flatten: Edit::Set(true),
            ..ProfilePatch::default()
        };
        let target =
            EndpointPatch { target: Edit::Set("www.example.net".into()), ..EndpointPatch::default() };
        let state = carry_out(
            &state,
            Action::CreateProfile {
                name: "web".into(),
                zone: "example.com".into(),
                relative_name: "@".into(),
                fields,
                endpoints: vec![("e1".into(), target)],
            },
        );
        let endpoint = *state.health.keys().next().expect("one endpoint");
        (state, endpoint)
    }

    fn some(texts: &[&str]) -> Found {
        Found::Addresses(texts.iter().map(|text| text.parse().unwrap()).collect(), Duration::from_secs(60))
    }

    fn texts(found: Option<FoundAddresses>) -> Option<Vec<String>> {
        found.map(|found| found.addresses.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn dns_16_only_other_addresses_are_proposed_and_the_last_good_ones_are_kept() {
        let (mut state, endpoint) = scene();
        let (failure, nothing) = (Found::Failure("late".into()), Found::Nothing);
        let told = |state: &State, v4: &Found, v6: &Found| {
            texts(found(state, endpoint, &name(), &Lookup { v4: v4.clone(), v6: v6.clone() }))
        };
        let (first, second) = (some(&["192.0.2.2", "192.0.2.1"]), some(&["2001:db8::1"]));
        assert_eq!(told(&state, &failure, &nothing), None, "nothing is known yet");
        assert_eq!(told(&state, &first, &failure), Some(vec!["192.0.2.1".into(), "192.0.2.2".into()]));
        let all = found(&state, endpoint, &name(), &Lookup { v4: first.clone(), v6: second.clone() });
        state = carry_out(&state, Action::FlattenTargets { found: all.into_iter().collect() });
        for (v4, v6) in [(&first, &second), (&failure, &second), (&first, &failure), (&nothing, &nothing)] {
            assert_eq!(told(&state, v4, v6), None, "{v4:?} {v6:?}: nothing else is known");
        }
        assert_eq!(told(&state, &failure, &nothing), Some(vec!["192.0.2.1".into(), "192.0.2.2".into()]));
        assert_eq!(told(&state, &nothing, &second), Some(vec!["2001:db8::1".into()]));
        let bad = some(&["0.0.0.0"]);
        assert_eq!(told(&state, &bad, &nothing), None, "what no endpoint could have is no address");
    }
}
