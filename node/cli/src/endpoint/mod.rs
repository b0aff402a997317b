//! `waymark endpoint`: the places that a profile can answer with.

mod calls;
mod flags;
mod overrides;
mod shown;

use clap::Subcommand;
use waymark_proto::admin::v1::OverrideKind;

use crate::failure::Failure;
use crate::session::Session;
use flags::Change;
use overrides::{Lifting, Overriding};
pub(crate) use shown::{Item, items_table};

/// What is done to endpoints.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Add an endpoint to a profile.
    #[command(
        mut_arg("target", |target| target.required_unless_present_any(["nested", "service"])),
        after_help = "Examples:\n  waymark endpoint add web eu --target 192.0.2.10 --priority 1\n  \
waymark endpoint add web us --target us.example.net --weight 20 --header 'Host: web.example.org'"
    )]
    Add(Change),
    /// Change what is named of an endpoint.
    #[command(after_help = "Examples:\n  waymark endpoint update web eu --weight 50\n  \
waymark endpoint update web eu --always-serve on --unset location")]
    Update(Change),
    /// List the endpoints of a profile.
    #[command(after_help = "Examples:\n  waymark endpoint list web\n  waymark endpoint list web -o json")]
    List {
        /// The profile's name.
        profile: String,
    },
    /// Show one endpoint.
    #[command(
        after_help = "Examples:\n  waymark endpoint show web eu\n  waymark endpoint show web eu -o json"
    )]
    Show {
        /// The profile's name.
        profile: String,
        /// The endpoint's name.
        name: String,
    },
    /// Switch an endpoint on.
    #[command(
        after_help = "Examples:\n  waymark endpoint enable web eu\n  waymark endpoint enable web eu --wait all"
    )]
    Enable(Named),
    /// Switch an endpoint off: it is neither probed nor answered with.
    #[command(after_help = "Examples:\n  waymark endpoint disable web eu\n  \
waymark endpoint disable web eu --if-revision 12")]
    Disable(Named),
    /// Keep endpoints out of every answer, but go on probing them.
    #[command(after_help = "Examples:\n  waymark endpoint drain web/eu --for 30m --reason 'a move'\n  \
waymark endpoint drain '*/eu-*' --reason 'the room is closed' --yes")]
    Drain(Overriding),
    /// Have endpoints count as Online, whatever probes find.
    #[command(
        after_help = "Examples:\n  waymark endpoint force-up web/eu --for 2h --reason 'probes are wrong'\n  \
waymark endpoint force-up 'web/*' --for 1d --reason 'probes are wrong'"
    )]
    ForceUp(Overriding),
    /// Have endpoints count as Degraded, whatever probes find.
    #[command(after_help = "Examples:\n  waymark endpoint force-down web/eu --for 30m --reason 'slow'\n  \
waymark endpoint force-down 'web/eu-?' --reason 'slow' -o json")]
    ForceDown(Overriding),
    /// End the overrides of endpoints, made by drain, force-up or force-down.
    #[command(after_help = "Examples:\n  waymark endpoint lift web/eu --reason 'moved'\n  \
waymark endpoint lift '*/*' --reason 'all is well'")]
    Lift(Lifting),
    /// Take an endpoint out of its profile.
    #[command(
        after_help = "Examples:\n  waymark endpoint remove web eu\n  waymark endpoint remove web eu --yes"
    )]
    Remove(Named),
}

/// An endpoint, perhaps with its profile at a revision.
#[derive(clap::Args, Debug)]
pub(crate) struct Named {
    /// The profile's name.
    profile: String,
    /// The endpoint's name.
    name: String,
    /// Only if the profile is at this revision.
    #[arg(long, value_name = "R", value_parser = crate::flags::revision)]
    if_revision: Option<u64>,
}

/// Carries the verb out.
pub(crate) async fn run(verb: Verb, session: &Session) -> Result<String, Failure> {
    match verb {
        Verb::Add(change) => calls::add(change, session).await,
        Verb::Update(change) => calls::update(change, session).await,
        Verb::List { profile } => calls::list(profile, session).await,
        Verb::Show { profile, name } => calls::show(profile, name, session).await,
        Verb::Enable(named) => calls::switch(named, true, session).await,
        Verb::Disable(named) => calls::switch(named, false, session).await,
        Verb::Drain(overriding) => overrides::put(OverrideKind::Drain, overriding, session).await,
        Verb::ForceUp(overriding) => overrides::put(OverrideKind::ForceUp, overriding, session).await,
        Verb::ForceDown(overriding) => overrides::put(OverrideKind::ForceDown, overriding, session).await,
        Verb::Lift(lifting) => overrides::lift(lifting, session).await,
        Verb::Remove(named) => calls::remove(named, session).await,
    }
}
