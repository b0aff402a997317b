//! How the cluster is shown.

use comfy_table::Cell;
use serde::Serialize;
use waymark_proto::admin::v1 as wire;

use crate::output::{Shown, Style, table, words};

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Founded {
    pub(super) cluster_id: String,
    pub(super) member: Option<Member>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Member {
    id: u64,
    name: String,
    role: String,
    grpc: String,
    dns: String,
    http: String,
    /// Null if the member did not answer.
    applied: Option<u64>,
    /// Why it takes no part in the cluster although it answers; null if it does.
    trouble: Option<String>,
    /// How old what it answers from may be at most; null if the member did not answer.
    age_ms: Option<u64>,
    /// The highest apply level that it supports; null if the member did not answer.
    apply_level_max: Option<u32>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ClusterStatus {
    /// Null while the member belongs to no cluster.
    cluster_id: Option<String>,
    answered_by: String,
    /// Null if the member knows of no leader.
    leader_id: Option<u64>,
    term: u64,
    last_log: u64,
    applied: u64,
    quorum_age_ms: Option<u64>,
    counter: u64,
    apply_level: u32,
    members: Vec<Member>,
}

impl From<wire::Member> for Member {
    fn from(message: wire::Member) -> Self {
        let wire::Member { id, name, role, grpc, dns, http, applied, trouble, age_ms, apply_level_max } =
            message;
        let trouble = Some(trouble).filter(|text| !text.is_empty());
        Self { id, name, role: words::role(role), grpc, dns, http, applied, trouble, age_ms, apply_level_max }
    }
}

impl From<wire::ClusterStatus> for ClusterStatus {
    fn from(message: wire::ClusterStatus) -> Self {
        let wire::ClusterStatus {
            cluster_id,
            answered_by,
            leader_id,
            term,
            last_log,
            applied,
            members,
            quorum_age_ms,
            counter,
            apply_level,
        } = message;
        Self {
            cluster_id: Some(cluster_id).filter(|id| !id.is_empty()),
            answered_by,
            leader_id: Some(leader_id).filter(|id| *id != 0),
            term,
            last_log,
            applied,
            quorum_age_ms,
            counter,
            apply_level,
            members: members.into_iter().map(Into::into).collect(),
        }
    }
}

impl Shown for Founded {
    const KIND: &'static str = "ClusterFounded";

    fn names(&self) -> Vec<String> {
        vec![self.cluster_id.clone()]
    }

    fn text(&self, _: &Style) -> String {
        let member =
            self.member.as_ref().map(|member| format!(" with member {} '{}'", member.id, member.name));
        let next = "take in others with 'waymark cluster add URL'";
        format!("cluster {} founded{}; {next}\n", self.cluster_id, member.unwrap_or_default())
    }
}

impl Shown for Member {
    const KIND: &'static str = "Member";

    fn names(&self) -> Vec<String> {
        vec![self.name.clone()]
    }

    fn text(&self, _: &Style) -> String {
        format!("member {} '{}' at {} is in the cluster as {}\n", self.id, self.name, self.grpc, self.role)
    }
}

/// A member to which something was done.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub(super) struct Changed {
    member: Member,
    #[serde(skip)]
    done: &'static str,
}

impl Changed {
    pub(super) fn new(member: wire::Member, done: &'static str) -> Self {
        Self { member: member.into(), done }
    }
}

impl Shown for Changed {
    const KIND: &'static str = "Member";

    fn names(&self) -> Vec<String> {
        vec![self.member.name.clone()]
    }

    fn text(&self, _: &Style) -> String {
        let Member { id, name, .. } = &self.member;
        format!("member {id} '{name}' {}\n", self.done)
    }
}

/// The apply level of the cluster, after it was raised.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Upgraded {
    /// The level that the cluster goes by, or could.
    pub(super) apply_level: u32,
    /// Nothing was raised; it could be.
    pub(super) dry_run: bool,
}

impl Shown for Upgraded {
    const KIND: &'static str = "ClusterUpgraded";

    fn names(&self) -> Vec<String> {
        vec![self.apply_level.to_string()]
    }

    fn text(&self, _: &Style) -> String {
        let is = if self.dry_run { "could be" } else { "is" };
        format!(
            "the cluster {is} at apply level {}, the highest that its members support\n",
            self.apply_level
        )
    }
}

/// A file that was written.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Backup {
    pub(super) file: String,
    pub(super) bytes: u64,
}

impl Shown for Backup {
    const KIND: &'static str = "Backup";

    fn names(&self) -> Vec<String> {
        vec![self.file.clone()]
    }

    fn text(&self, _: &Style) -> String {
        format!("{} bytes are in {}\n", self.bytes, self.file)
    }
}

impl Shown for ClusterStatus {
    const KIND: &'static str = "ClusterStatus";

    fn names(&self) -> Vec<String> {
        self.members.iter().map(|member| member.name.clone()).collect()
    }

    fn text(&self, style: &Style) -> String {
        let Some(cluster_id) = &self.cluster_id else {
            let next =
                "'waymark cluster init' founds one, 'waymark cluster add' on a member takes this one in";
            return format!("member '{}' belongs to no cluster yet: {next}\n", self.answered_by);
        };
        let leader = self.members.iter().find(|member| Some(member.id) == self.leader_id);
        let leader = match (leader, self.leader_id) {
            (Some(leader), _) => leader.name.clone(),
            (None, Some(id)) => format!("member {id}"),
            (None, None) => "none known: a majority of the members must be up".to_owned(),
        };
        let quorum = self.quorum_age_ms.map(|age| ("majority heard", format!("{age} ms ago")));
        let mut pairs = vec![
            ("cluster", cluster_id.clone()),
            ("answered by", self.answered_by.clone()),
            ("leader", leader),
            ("term", self.term.to_string()),
            ("log", format!("entry {}, applied {}", self.last_log, self.applied)),
            ("counter", self.counter.to_string()),
            ("apply level", self.apply_level.to_string()),
        ];
        pairs.extend(quorum);
        let troubles = self.members.iter().filter_map(|member| {
            member.trouble.as_ref().map(|trouble| format!("member '{}': {trouble}\n", member.name))
        });
        let troubles: String = troubles.collect();
        format!("{}\n{}{troubles}", table::pairs(style, &pairs), members_table(&self.members, style))
    }
}

fn members_table(members: &[Member], style: &Style) -> String {
    let mut shown =
        table::table(style, &["ID", "MEMBER", "ROLE", "GRPC", "DNS", "HTTP", "APPLIED", "AGE", "LEVEL MAX"]);
    for member in members {
        let applied = match (member.applied, &member.trouble) {
            (Some(applied), _) => applied.to_string(),
            (None, Some(_)) => "-".to_owned(),
            (None, None) => "no answer".to_owned(),
        };
        shown.add_row([
            Cell::new(member.id),
            Cell::new(&member.name),
            Cell::new(&member.role),
            Cell::new(&member.grpc),
            Cell::new(&member.dns),
            Cell::new(&member.http),
            Cell::new(applied),
            Cell::new(member.age_ms.map_or("-".to_owned(), age)),
            Cell::new(member.apply_level_max.map_or("-".to_owned(), |max| max.to_string())),
        ]);
    }
    table::finish(shown)
}

/// In seconds, and tenths below ten: a member that keeps up is about one old.
fn age(age_ms: u64) -> String {
    match age_ms {
        0..10_000 => format!("{}.{}s", age_ms / 1_000, age_ms % 1_000 / 100),
        _ => format!("{}s", age_ms / 1_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::{Format, render};

    #[test]
    fn cli_7_json_has_the_contracts_fields() {
        let member = wire::Member {
            id: 1,
            name: "m1".into(),
            role: wire::Role::Follower.into(),
            grpc: "http://192.0.2.1:7400".into(),
            dns: "192.0.2.1:53".into(),
            http: "http://192.0.2.1:7401".into(),
            applied: Some(7),
            trouble: "its disk is full".into(),
            age_ms: Some(1_234),
            apply_level_max: Some(2),
        };
        let status = wire::ClusterStatus { members: vec![member], last_log: 9, ..Default::default() };
        let text = render(&ClusterStatus::from(status.clone()), Format::Json, &Style::default());
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        let wanted = serde_json::json!({
            "id": 1, "name": "m1", "role": "follower", "grpc": "http://192.0.2.1:7400", "dns": "192.0.2.1:53",
            "http": "http://192.0.2.1:7401", "applied": 7,
            "trouble": "its disk is full", "ageMs": 1_234, "applyLevelMax": 2,
        });
        assert_eq!(json["members"][0], wanted);
        let shown = ClusterStatus { cluster_id: Some("00ff".into()), ..status.clone().into() };
        let text = render(&shown, Format::Table, &Style::default());
        assert!(text.ends_with("1.2s  2\nmember 'm1': its disk is full\n"), "{text}");
        assert_eq!((&json["lastLog"], &json["leaderId"]), (&9.into(), &serde_json::Value::Null));
    }

    #[test]
    fn a_member_of_no_cluster_is_told_what_to_do() {
        let status = wire::ClusterStatus { answered_by: "m1".into(), ..Default::default() };
        let text = ClusterStatus::from(status).text(&Style::default());
        assert!(text.contains("cluster init") && text.contains("m1"), "{text}");
    }
}
