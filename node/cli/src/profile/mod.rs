//! `waymark profile`: names that are answered with one of several endpoints.

mod calls;
mod flags;
mod shown;

use clap::Subcommand;

use crate::failure::Failure;
use crate::session::Session;
use flags::Change;

/// What is done to profiles.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Create a profile; its endpoints are added afterwards.
    #[command(
        mut_arg("zone", |zone| zone.required(true)),
        mut_arg("relative_name", |name| name.required(true)),
        mut_arg("routing", |routing| routing.required(true)),
        // What is not there yet has no revision and no field to send back; the API refuses both.
        mut_arg("if_revision", |revision| revision.hide(true)),
        mut_arg("unset", |unset| unset.hide(true)),
        after_help = "Examples:\n  \
waymark profile create web --zone tm.example.com --relative-name web --routing priority --path /health\n  \
waymark profile create db --zone tm.example.com --relative-name db --routing weighted --protocol tcp --port 5432"
    )]
    Create(Change),
    /// Change what is named of a profile; endpoints have commands of their own.
    #[command(after_help = "Examples:\n  waymark profile update web --ttl 60 --interval 10s\n  \
waymark profile update web --unset path --if-revision 12\n\n\
--timeout is the monitor's here; to bound the command, put it in front: waymark --timeout 5s profile update …")]
    Update(Change),
    /// List all profiles.
    #[command(after_help = "Examples:\n  waymark profile list\n  waymark profile list -o name")]
    List,
    /// Show one profile with its endpoints.
    #[command(after_help = "Examples:\n  waymark profile show web\n  waymark profile show web -o json")]
    Show {
        /// The profile's name.
        name: String,
    },
    /// Switch a profile on.
    #[command(
        after_help = "Examples:\n  waymark profile enable web\n  waymark profile enable web --wait all"
    )]
    Enable(Named),
    /// Switch a profile off: its name does not exist until it is switched on again.
    #[command(
        after_help = "Examples:\n  waymark profile disable web\n  waymark profile disable web --if-revision 12"
    )]
    Disable(Named),
    /// Remove a profile and its endpoints.
    #[command(after_help = "Examples:\n  waymark profile delete web\n  waymark profile delete web --yes")]
    Delete(Named),
}

/// A profile, perhaps at a revision.
#[derive(clap::Args, Debug)]
pub(crate) struct Named {
    /// The profile's name.
    name: String,
    /// Only if it is at this revision.
    #[arg(long, value_name = "R", value_parser = crate::flags::revision)]
    if_revision: Option<u64>,
}

/// Carries the verb out.
pub(crate) async fn run(verb: Verb, session: &Session) -> Result<String, Failure> {
    match verb {
        Verb::Create(change) => calls::create(change, session).await,
        Verb::Update(change) => calls::update(change, session).await,
        Verb::List => calls::list(session).await,
        Verb::Show { name } => calls::show(name, session).await,
        Verb::Enable(named) => calls::switch(named, true, session).await,
        Verb::Disable(named) => calls::switch(named, false, session).await,
        Verb::Delete(named) => calls::delete(named, session).await,
    }
}
