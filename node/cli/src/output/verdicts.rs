//! What regions and their agents say of an endpoint.

use serde::Serialize;
use waymark_proto::admin::v1 as wire;

use super::words;

/// A region's verdict.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Region {
    pub(crate) region: String,
    pub(crate) verdict: String,
    pub(crate) agents: Vec<Agent>,
}

/// An agent's verdict.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Agent {
    pub(crate) name: String,
    pub(crate) verdict: String,
    pub(crate) failures: u32,
    /// The class of its last outcome, of successes the last that changed something.
    pub(crate) last_outcome: Option<String>,
    /// The HTTP status code in it.
    pub(crate) last_status_code: Option<u32>,
    /// Why it was no success, in one line, where the member that holds the agent's stream has told it.
    pub(crate) last_reason: Option<String>,
    /// None of its canary targets is there, so that it abstains (PRB-14).
    pub(crate) blind: bool,
}

impl From<wire::RegionalVerdict> for Region {
    fn from(message: wire::RegionalVerdict) -> Self {
        let wire::RegionalVerdict { region, verdict, agents } = message;
        Self {
            region,
            verdict: words::verdict(verdict),
            agents: agents.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<wire::AgentVerdict> for Agent {
    fn from(message: wire::AgentVerdict) -> Self {
        let wire::AgentVerdict { name, verdict, failures, last_outcome, detail, blind } = message;
        Self {
            name,
            verdict: words::verdict(verdict),
            failures,
            last_outcome: last_outcome.as_ref().map(|outcome| words::outcome_class(outcome.class)),
            last_status_code: last_outcome.and_then(|outcome| outcome.status),
            last_reason: Some(detail).filter(|detail| !detail.is_empty()),
            blind,
        }
    }
}

impl Agent {
    /// Why it is not simply up: `4 × timeout`, `4 × status 503`, `eu-1 cannot probe it: REASON`.
    fn trouble(&self) -> Option<String> {
        if self.blind {
            return Some(format!("{} is blind", self.name));
        }
        let outcome = self.last_outcome.as_deref().unwrap_or_default();
        if outcome == OWN_TROUBLE {
            let reason = self.last_reason.as_deref().unwrap_or("its log has more");
            return Some(format!("{} cannot probe it: {reason}", self.name));
        }
        if self.failures == 0 {
            return None;
        }
        let outcome =
            self.last_status_code.map_or_else(|| outcome.to_owned(), |code| format!("{outcome} {code}"));
        Some(format!("{} × {outcome}", self.failures))
    }

    /// Everything about it in one line.
    fn line(&self) -> String {
        if self.blind {
            return format!("{}: blind; it abstains until it sees a canary target", self.name);
        }
        let outcome = self.last_outcome.as_deref().unwrap_or("nothing found yet");
        let code = self.last_status_code.map(|code| format!(" {code}")).unwrap_or_default();
        let reason = self.last_reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
        let failures = if self.failures == 0 { String::new() } else { format!("{} × ", self.failures) };
        format!("{}: {}; {failures}{outcome}{code}{reason}", self.name, self.verdict)
    }
}

/// The class of trouble of an agent's own, which never counts (PRB-9).
const OWN_TROUBLE: &str = "agent";

/// What stands in the place of the regions of an endpoint that no agent probes (PRB-11).
pub(crate) const NOT_PROBED: &str = "not probed";

/// One line for each agent, with its region in front: what `endpoint show` has room for.
pub(crate) fn lines(regions: &[Region]) -> Vec<(String, String)> {
    let of_region = |region: &Region| -> Vec<(String, String)> {
        let heading = format!("{} {}", region.region, region.verdict);
        match region.agents.as_slice() {
            [] => vec![(heading, "no agent has found anything yet".to_owned())],
            agents => agents.iter().map(|agent| (heading.clone(), agent.line())).collect(),
        }
    };
    regions.iter().flat_map(of_region).collect()
}

/// All of them in one line: `eu up, us down (4 × timeout)`.
pub(crate) fn line(regions: &[Region], is_probed: bool) -> String {
    if !is_probed {
        return NOT_PROBED.to_owned();
    }
    let region = |region: &Region| {
        let troubles: Vec<String> = region.agents.iter().filter_map(Agent::trouble).collect();
        let troubles =
            if troubles.is_empty() { String::new() } else { format!(" ({})", troubles.join("; ")) };
        format!("{} {}{troubles}", region.region, region.verdict)
    };
    regions.iter().map(region).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_tells_who_says_what_and_why() {
        let agent = |failures, class: wire::OutcomeClass, status| wire::AgentVerdict {
            name: "a".into(),
            verdict: wire::Verdict::Down.into(),
            failures,
            last_outcome: Some(wire::Outcome { class: class.into(), status }),
            detail: String::new(),
            blind: false,
        };
        let region = |name: &str, verdict: wire::Verdict, agents| wire::RegionalVerdict {
            region: name.into(),
            verdict: verdict.into(),
            agents,
        };
        let regions = [
            region("eu", wire::Verdict::Up, vec![agent(0, wire::OutcomeClass::Ok, Some(200))]),
            region("us", wire::Verdict::Down, vec![agent(4, wire::OutcomeClass::Status, Some(503))]),
            region("ap", wire::Verdict::Unspecified, vec![]),
        ]
        .map(Region::from);
        assert_eq!(line(&[], false), "not probed");
        assert_eq!(line(&regions, true), "eu up, us down (4 × status 503), ap unknown");
    }

    #[test]
    fn prb_14_a_blind_agent_is_named() {
        let agent = wire::AgentVerdict { name: "eu-1".into(), blind: true, ..Default::default() };
        let region = wire::RegionalVerdict { region: "eu".into(), agents: vec![agent], ..Default::default() };
        let regions = [Region::from(region)];
        assert_eq!(line(&regions, true), "eu unknown (eu-1 is blind)");
        assert!(lines(&regions)[0].1.starts_with("eu-1: blind"), "{:?}", lines(&regions));
    }

    #[test]
    fn prb_9_trouble_of_an_agents_own_is_shown_with_its_reason() {
        let refused = "this agent does not probe 127.0.0.1: it is a loopback address";
        let agent = wire::AgentVerdict {
            name: "eu-1".into(),
            last_outcome: Some(wire::Outcome { class: wire::OutcomeClass::Agent.into(), status: None }),
            detail: refused.into(),
            ..Default::default()
        };
        let region = wire::RegionalVerdict { region: "eu".into(), agents: vec![agent], ..Default::default() };
        let regions = [Region::from(region)];
        assert_eq!(line(&regions, true), format!("eu unknown (eu-1 cannot probe it: {refused})"));
        let told = ("eu unknown".to_owned(), format!("eu-1: unknown; agent ({refused})"));
        assert_eq!(lines(&regions), [told]);
    }
}
