//! The commands that a script may give. `[…]` may be left out; `key=` clears a field.
//!
//! ```text
//! scene                                           regions r1 to r3, agents a1 to a3 in them, the zone example.com
//! at 30s                                          the time of what follows
//! as NAME COMMAND …                               another author than `operator`
//! found ID
//! zone create|update NAME [ns=NAME[=ADDRESS,…] …] [mailbox=M] [ecs=on|off]   zone delete NAME
//!     [soa-ttl=S] [soa-refresh=S] [soa-retry=S] [soa-expire=S] [negative-ttl=S] [ns-ttl=S]
//! region set NAME [latitude=E6] [longitude=E6]                          region delete NAME
//! record set ZONE NAME TYPE DATA … [ttl=300]    record delete ZONE NAME TYPE    DATA: address, alias's target or hex digits
//! profile create NAME zone=Z [relative-name=NAME] routing=priority …    its endpoints on `+ NAME target=…` lines
//! profile update NAME [routing=R] [ttl=S] [max-return=N] [flatten=on|off] [max-removal=PERCENT] [removal-window=30s]
//!     [enabled=on|off] [protocol=P] [port=N] [path=/] [interval=30s] [timeout=10s] [tolerated=3] [recovery=1] [expect=200-299 …] [header='K: V' …]
//! profile enable|disable|delete NAME
//! endpoint add|update PROFILE/NAME [target=T|nested=PROFILE|service=NAME] [enabled=on|off] [priority=N] [weight=N]
//!     [location=REGION] [geo=CODE …] [subnet=NETWORK|RANGE …] [min=N] [min4=N] [min6=N] [always-serve=on|off]
//!     [header='K: V' …]
//! endpoint enable|disable|remove PROFILE/NAME
//! drain|force-up|force-down PATTERN [reason=TEXT] [for=30s] [even-last=on]    lift PATTERN [reason=TEXT]
//! end ENDPOINT [revision=N]                                              the time of its override is up
//! release PROFILE [up-to=REVISION]                                       the window of its brake is over
//! level N                                                               the apply level is raised
//! service register NAME [target=T] [location=REGION]                    service start|stop|delete NAME
//! agent open NAME region=R [run=1] [member=1] [version=V] [blind=on|off]               agent forget NAME
//! report AGENT ENDPOINT ok|fail|CLASS|STATUS[*N] … [run=N] [seq=N] [age=10s] [check=old]
//! resolve ENDPOINT NAME ADDRESS …                                        what the leader found
//! expire AGENT ENDPOINT … [session=N|old]                               lose AGENT [session=N|old]
//! blind AGENT [session=N|old]                                          sees AGENT [session=N|old]
//! show PROFILE            its status, its endpoints' and what they come from
//! settings PROFILE        what the operator set       revisions [PROFILE]
//! zone show NAME          agents                      regions
//! events [PROFILE]
//! ask NAME [TYPE] [draw=N] [from=ADDRESS]
//! count NAME [TYPE] draws=N                               how often each answer comes out of the draws 0 … N-1
//! explain NAME [TYPE] [draw=N] [from=ADDRESS]
//! ```
//!
//! Every command that alters the state also takes `mark=N`, the client's mark for retries, and those of operators
//! `if-revision=N`. A command comes to `ok`, to `no change`, or to a line for each reason why it is refused; then to a
//! line for each warning and each event.

use anyhow::{Result, bail};

use crate::arguments::{Arguments, read_duration};
use crate::perform;
use crate::world::World;
use crate::{ask, show};
use waymark_core::model::Timestamp;

/// Does what `command` says, and tells what it comes to.
pub(crate) fn obey(world: &mut World, command: &[String]) -> Result<Vec<String>> {
    let Some((first, more)) = command.split_first() else { bail!("an empty command") };
    let mut arguments = Arguments::parse(first)?;
    let mut verb = arguments.next("the command")?;
    let mut author = "operator".to_owned();
    if verb == "as" {
        author = arguments.next("the author")?;
        verb = arguments.next("the command")?;
    }
    let lines = match verb.as_str() {
        "at" => {
            world.at = Timestamp(read_duration(&arguments.next("the time")?)?);
            Vec::new()
        }
        "scene" => scene(world)?,
        "show" => show::health(world, &arguments.next("the profile")?)?,
        "settings" => show::settings(world, &arguments.next("the profile")?)?,
        "revisions" => show::revisions(world, arguments.rest().first())?,
        "agents" => show::agents(world),
        "regions" => show::regions(world),
        "events" => show::events(world, arguments.rest().first())?,
        "ask" => ask::ask(world, &mut arguments)?,
        "count" => ask::count(world, &mut arguments)?,
        "explain" => ask::explain(world, &mut arguments)?,
        verb => {
            let mark = arguments.number("mark")?;
            match perform::read(world, verb, &mut arguments, more)? {
                perform::Wish::Show(lines) => lines,
                perform::Wish::Do(action) => {
                    let is_retry = world.remembers(mark);
                    let before = world.state.counter;
                    let applied = world.apply(mark, &author, *action);
                    show::applied(before, is_retry, &applied)
                }
            }
        }
    };
    arguments.finish()?;
    Ok(lines)
}

/// The set-up that most stories begin with.
fn scene(world: &mut World) -> Result<Vec<String>> {
    let mut lines = vec!["zone create example.com ns=ns1.example.com=192.0.2.53".to_owned()];
    for number in 1..=3 {
        lines.push(format!("region set r{number}"));
        lines.push(format!("agent open a{number} region=r{number}"));
    }
    for line in lines {
        obey(world, &[line])?;
    }
    Ok(Vec::new())
}
