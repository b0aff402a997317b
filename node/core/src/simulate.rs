//! Who would answer how many clients, by the function that answers queries: a fair sample of the clients that there could
//! be.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};

use crate::answer::{Query, RecordType};
use crate::explain::explain;
use crate::model::{Name, ProfileId};
use crate::routing::mix;
use crate::state::View;

/// Most clients in a sample: some seconds of work.
pub const CLIENTS_MAX: u32 = 10_000;

/// How often another network is drawn for a client until one is found of which it is known where it is.
const ATTEMPTS_MAX: u32 = 64;

/// Who answered how many of the clients: by the endpoint that was chosen in the end, as `profile/endpoint`, or by what was
/// answered in its place, a response code or `NODATA`. Where an answer names several endpoints, each of them counts.
pub type Shares = BTreeMap<String, u32>;

/// Asks for `name` on behalf of `clients` clients, each with a draw of its own, all drawn from `seed`: the first addresses of
/// IPv4 networks of 24 bits, each as likely as any other of which the geo table knows where it is.
pub fn sample(view: &View, name: &Name, record_type: RecordType, clients: u32, seed: u64) -> Shares {
    let mut shares = Shares::new();
    for number in 0..clients {
        let source = client(view, seed, number);
        let query = Query { name: name.clone(), record_type, source, subnet: None };
        let explained = explain(view, &query, mix(seed, number, ProfileId(0), ATTEMPTS_MAX));
        let mut count = |label: String| *shares.entry(label).or_default() += 1;
        if explained.answer.answers.is_empty() {
            let rcode = explained.answer.rcode.as_str();
            count(if rcode == "NOERROR" { "NODATA".to_owned() } else { rcode.to_owned() });
            continue;
        }
        // The last profile that chose is the one whose endpoints are in the answer.
        match explained.profiles.iter().rfind(|profile| !profile.chosen.is_empty()) {
            None => count(format!("records of {name}")),
            Some(last) => {
                let names = last.chosen.iter().filter_map(|at| last.plan.endpoints.get(*at));
                names.for_each(|chosen| {
                    count(format!("{}/{}", last.plan.profile.name, chosen.endpoint.name));
                });
            }
        }
    }
    shares
}

fn client(view: &View, seed: u64, number: u32) -> IpAddr {
    let network = |attempt| {
        let bits = mix(seed, number, ProfileId(1), attempt) as u32;
        IpAddr::V4(Ipv4Addr::from_bits(bits & 0xffff_ff00))
    };
    let located = (0..ATTEMPTS_MAX).map(network).find(|address| view.locator.locate(*address).is_some());
    located.unwrap_or_else(|| network(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{add_profile, example_state, name, view};
    use crate::health::EndpointStatus;
    use crate::model::Routing;

    #[test]
    fn rte_6_shares_are_those_of_the_weights_and_a_seed_repeats_them() {
        let mut state = example_state();
        let statuses = [("e1", EndpointStatus::Online), ("e2", EndpointStatus::Online)];
        let id = add_profile(&mut state, "example.com", "web", &statuses);
        let profile = std::sync::Arc::make_mut(state.profiles.get_mut(&id).expect("it was added"));
        profile.routing = Routing::Weighted;
        profile.endpoints[0].weight = Some(3);
        let view = view(state);
        let shares = |seed| sample(&view, &name("web.example.com"), RecordType::A, 4_000, seed);
        let counts = shares(7);
        assert_eq!(counts.values().sum::<u32>(), 4_000);
        let first = counts.iter().find(|(label, _)| label.ends_with("/e1")).map(|(_, count)| *count);
        assert!(first.is_some_and(|first| (2_850..3_150).contains(&first)), "{counts:?}");
        assert_eq!(shares(7), counts);
        assert_ne!(shares(8), counts);
        let missing = sample(&view, &name("no.example.com"), RecordType::A, 10, 7);
        assert_eq!(missing, [("NXDOMAIN".to_owned(), 10)].into());
    }
}
