//! Nested endpoints: SET-19, SET-22, SET-23.

use super::*;

/// Puts `child` below `parent`, as an endpoint of the child's name.
fn nest(parent: &str, child: &str) -> Action {
    let fields = EndpointPatch { nested: Edit::Set(child.into()), ..EndpointPatch::default() };
    Action::AddEndpoint { profile: parent.into(), name: child.into(), fields, if_revision: None }
}

#[test]
fn set_19_minima() {
    fn nested(new: &mut NewEndpoint) {
        new.fields.target = Edit::Keep;
        new.fields.nested = Edit::Set("child".into());
    }
    let mut good = NewEndpoint::good();
    nested(&mut good);
    check(
        &furnished(),
        &good,
        NewEndpoint::action,
        &[
            ("missing", |_| {}, TAKEN),
            (
                "too low",
                |new| new.fields.endpoints_min = Edit::Set(0),
                "endpoints_min: 0 is too low; at least 1 endpoint of the child must be available",
            ),
            ("lowest", |new| new.fields.endpoints_min = Edit::Set(1), TAKEN),
            ("lowest of IPv4", |new| new.fields.endpoints_min_v4 = Edit::Set(0), TAKEN),
            ("lowest of IPv6", |new| new.fields.endpoints_min_v6 = Edit::Set(0), TAKEN),
            ("highest", |new| new.fields.endpoints_min = Edit::Set(u32::MAX), TAKEN),
            ("highest of IPv4", |new| new.fields.endpoints_min_v4 = Edit::Set(u32::MAX), TAKEN),
            ("highest of IPv6", |new| new.fields.endpoints_min_v6 = Edit::Set(u32::MAX), TAKEN),
        ],
    );
    check(
        &furnished(),
        &NewEndpoint::good(),
        NewEndpoint::action,
        &[(
            "on an external endpoint",
            |new| {
                new.fields.endpoints_min = Edit::Set(1);
                new.fields.endpoints_min_v4 = Edit::Set(2);
                new.fields.endpoints_min_v6 = Edit::Set(3);
            },
            "endpoints_min: 1 is given, but only a nested endpoint has a child to count in\n\
             endpoints_min_v4: 2 is given, but only a nested endpoint has a child to count in\n\
             endpoints_min_v6: 3 is given, but only a nested endpoint has a child to count in",
        )],
    );
    let mut cluster = furnished();
    cluster.apply(good.action()).unwrap();
    let child = cluster.profile("web").endpoints[1].child().unwrap().clone();
    let minima = (
        child.effective_endpoints_min(),
        child.effective_endpoints_min_v4(),
        child.effective_endpoints_min_v6(),
    );
    assert_eq!(minima, (1, 0, 0), "missing");
}

#[test]
fn set_23_no_loops() {
    let mut cluster = Cluster::new();
    for name in ["a", "b", "c", "d"] {
        cluster.apply(create_profile(name, name, vec![])).unwrap();
    }
    cluster.apply(nest("a", "b")).unwrap();
    cluster.apply(nest("b", "c")).unwrap();
    check(
        &cluster,
        &("c", "d"),
        |(parent, child)| nest(parent, child),
        &[
            ("a leaf", |_| {}, TAKEN),
            ("itself", |pair| *pair = ("c", "c"), "nested: 'c' would make a loop: c → c"),
            ("its parent", |pair| *pair = ("c", "b"), "nested: 'b' would make a loop: c → b → c"),
            ("the uppermost", |pair| *pair = ("c", "A"), "nested: 'a' would make a loop: c → a → b → c"),
            ("a grandchild", |pair| *pair = ("a", "c"), TAKEN),
            ("one that is not there", |pair| *pair = ("c", "gone"), "nested: there is no profile 'gone'"),
        ],
    );
    // Two wishes that were each good when they were made: the second is judged by what the first left.
    cluster.apply(nest("c", "d")).unwrap();
    assert_eq!(faults(cluster.apply(nest("d", "a"))), ["nested: 'a' would make a loop: d → a → b → c → d"]);
    let delete = Action::DeleteProfile { name: "c".into(), if_revision: None };
    assert_eq!(cluster.apply(delete).unwrap_err().to_string(), "the profile 'c' is in use by profile 'b'");
    let own = EndpointPatch { nested: Edit::Set("new".into()), ..EndpointPatch::default() };
    assert_eq!(
        faults(cluster.apply(create_profile("new", "new", vec![("e1".into(), own)]))),
        ["endpoints[0].nested: 'new' would make a loop: new → new"]
    );
}

/// Eleven profiles below each other are ten nestings; the last but one joins what has both an above and a below.
#[test]
fn set_23_ten_nestings() {
    let mut cluster = Cluster::new();
    for number in 0..=11 {
        let name = format!("p{number}");
        cluster.apply(create_profile(&name, &name, vec![])).unwrap();
    }
    for number in [1, 2, 3, 4, 6, 7, 8, 9, 10, 5] {
        cluster.apply(nest(&format!("p{number}"), &format!("p{}", number + 1))).unwrap();
    }
    check(
        &cluster,
        &("p2", "p0"),
        |(parent, child)| nest(parent, child),
        &[
            ("the tenth", |pair| *pair = ("p10", "p0"), TAKEN),
            (
                "one more above",
                |pair| *pair = ("p0", "p1"),
                "nested: 'p1' would make 11 nestings one below the other; at most 10 are allowed",
            ),
            (
                "one more below",
                |pair| *pair = ("p11", "p0"),
                "nested: 'p0' would make 11 nestings one below the other; at most 10 are allowed",
            ),
        ],
    );
}
