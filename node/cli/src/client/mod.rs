//! The cluster as seen from outside: any member takes any call, so the others are tried when one does not (CLI-4).

mod member;
mod pursuit;
mod stream;
#[cfg(test)]
mod tests;

use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, timeout};
use tonic::transport::Channel;
use tonic::{Code, Request, Response, Status};
use waymark_process::identity::Identity;
use waymark_process::tls::Credentials;

use crate::failure::Failure;
use member::Member;
use pursuit::{Pursuit, Trouble};
pub(crate) use stream::Heard;

/// What the member is told beyond the time that this side waits, so that this side ends the call and knows why.
const GRACE: Duration = Duration::from_millis(200);

/// What may happen to a call that was sent and not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It may be asked again.
    Read,
    /// It may be sent again, as it carries a mark; whether it was carried out must be told.
    Write,
    /// It carries no mark and must not be sent twice.
    Once,
}

/// Members to talk to.
pub(crate) struct Client {
    members: Vec<Member>,
    credentials: Option<Arc<Credentials>>,
    timeout: Duration,
    /// The place of the member that answered last: it is asked first.
    first: Cell<usize>,
}

/// One try of a call at one member.
pub(crate) struct Attempt {
    /// The member.
    pub(crate) channel: Channel,
    limit: Duration,
}

impl Attempt {
    /// The message, with the time that this try may take.
    pub(crate) fn request<M: Clone>(&self, message: &M) -> Request<M> {
        let mut request = Request::new(message.clone());
        request.set_timeout(self.limit + GRACE);
        request
    }
}

impl Client {
    /// A client of the members at `urls`, which are told who asks by `credentials`; each call ends within `timeout`.
    /// Nothing is connected yet.
    pub(crate) fn new(
        urls: &[String],
        credentials: Option<Arc<Credentials>>,
        timeout: Duration,
    ) -> Result<Self, Failure> {
        let members = urls.iter().map(|url| Member::new(url, credentials.as_ref()));
        let members = members.collect::<Result<Vec<_>, _>>()?;
        if members.is_empty() {
            return Err(Failure::usage("no endpoint is given; write --endpoint https://ADDRESS:PORT"));
        }
        Ok(Self { members, credentials, timeout, first: Cell::new(0) })
    }

    /// The same, for the member at `url` alone.
    pub(crate) fn at(&self, url: &str) -> Result<Self, Failure> {
        Self::new(&[url.to_owned()], self.credentials.clone(), self.timeout)
    }

    /// The same with another bound on each call.
    pub(crate) fn within(&self, timeout: Duration) -> Self {
        let (members, credentials) = (self.members.clone(), self.credentials.clone());
        Self { members, credentials, timeout, first: self.first.clone() }
    }

    /// Who asks; nobody in plain text.
    pub(crate) fn identity(&self) -> Option<Identity> {
        self.credentials.as_ref().map(|credentials| credentials.identity())
    }

    /// The URLs of the members, in order.
    pub(crate) fn urls(&self) -> impl Iterator<Item = &str> {
        self.members.iter().map(|member| member.url.as_str())
    }

    /// How long a call may take.
    pub(crate) fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Asks; any member may answer, and may be asked twice.
    pub(crate) async fn read<T>(
        &self,
        call: impl AsyncFn(Attempt) -> Result<Response<T>, Status>,
    ) -> Result<T, Failure> {
        self.call(Kind::Read, &call).await
    }

    /// Wishes for a change, which carries its mark.
    pub(crate) async fn write<T>(
        &self,
        call: impl AsyncFn(Attempt) -> Result<Response<T>, Status>,
    ) -> Result<T, Failure> {
        self.call(Kind::Write, &call).await
    }

    /// Wishes for a change that has no mark.
    pub(crate) async fn once<T>(
        &self,
        call: impl AsyncFn(Attempt) -> Result<Response<T>, Status>,
    ) -> Result<T, Failure> {
        self.call(Kind::Once, &call).await
    }

    async fn call<T>(
        &self,
        kind: Kind,
        call: &impl AsyncFn(Attempt) -> Result<Response<T>, Status>,
    ) -> Result<T, Failure> {
        let mut pursuit = Pursuit::new(kind, self.timeout, self.members.len());
        loop {
            for turn in 0..self.members.len() {
                let place = (self.first.get() + turn) % self.members.len();
                let member = &self.members[place];
                let Some(limit) = pursuit.limit() else { return Err(pursuit.give_up()) };
                let asked = Instant::now();
                match ask(member, limit, call).await {
                    Ok(response) => {
                        self.first.set(place);
                        return Ok(response.into_inner());
                    }
                    Err(trouble) => pursuit.note(&member.url, trouble, asked.elapsed(), limit)?,
                }
            }
            pursuit.pause().await?;
        }
    }
}

async fn ask<T>(
    member: &Member,
    limit: Duration,
    call: &impl AsyncFn(Attempt) -> Result<Response<T>, Status>,
) -> Result<Response<T>, Trouble> {
    let started = Instant::now();
    let channel = member.channel(limit).await?;
    let limit = limit.saturating_sub(started.elapsed());
    match timeout(limit, call(Attempt { channel, limit })).await {
        Ok(Ok(response)) => Ok(response),
        Ok(Err(status)) => Err(trouble_of(member, status)),
        Err(_) => {
            member.forget_channel();
            Err(Trouble::Unknown(format!("no answer within {limit:.1?}")))
        }
    }
}

/// How tonic words an answer that is HTTP/2, but no gRPC: as of a member's HTTP port.
const NO_GRPC_STATUS: &str = "grpc-status header missing";

/// | status | made by | trouble |
/// |---|---|---|
/// | any | this side: the connection broke | unknown, or unsent if the peer speaks no gRPC |
/// | any, without `grpc-status` | a web server's: it knows no such page | unsent |
/// | UNAVAILABLE, RESOURCE_EXHAUSTED | the member: nothing was proposed | not now |
/// | DEADLINE_EXCEEDED, CANCELLED | the member | unknown |
/// | any other | the member | refused |
fn trouble_of(member: &Member, status: Status) -> Trouble {
    if std::error::Error::source(&status).is_some() {
        member.forget_channel();
        return member::broken(&status);
    }
    if status.message().starts_with(NO_GRPC_STATUS) {
        return member::no_grpc();
    }
    match status.code() {
        Code::Unavailable | Code::ResourceExhausted => Trouble::NotNow(status.message().to_owned()),
        Code::DeadlineExceeded | Code::Cancelled => Trouble::Unknown(status.message().to_owned()),
        _ => Trouble::Refused(status),
    }
}
