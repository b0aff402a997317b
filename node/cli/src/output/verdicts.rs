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
    /// The class of its last outcome that changed something.
    pub(crate) last_outcome: Option<String>,
    /// The HTTP status code in it.
    pub(crate) last_status_code: Option<u32>,
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
        let wire::AgentVerdict { name, verdict, failures, last_outcome } = message;
        Self {
            name,
            verdict: words::verdict(verdict),
            failures,
            last_outcome: last_outcome.as_ref().map(|outcome| words::outcome_class(outcome.class)),
            last_status_code: last_outcome.and_then(|outcome| outcome.status),
        }
    }
}

impl Agent {
    /// Why it is not simply up: `timeout`, `status 503`, `2 failures: refused`.
    fn trouble(&self) -> Option<String> {
        if self.failures == 0 {
            return None;
        }
        let outcome = self.last_outcome.as_deref().unwrap_or_default();
        let outcome =
            self.last_status_code.map_or_else(|| outcome.to_owned(), |code| format!("{outcome} {code}"));
        Some(format!("{} × {outcome}", self.failures))
    }
}

/// All of them in one line: `eu up, us down (4 × timeout)`.
pub(crate) fn line(regions: &[Region]) -> String {
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
        assert_eq!(line(&regions), "eu up, us down (4 × status 503), ap unknown");
    }
}
