//! One name, asked for both families.

use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

use hickory_resolver::TokioResolver;
use hickory_resolver::net::{DnsError, NetError};
use hickory_resolver::proto::rr::{Name as DnsName, RecordType};
use waymark_core::model::Name;
use waymark_process::resolver::resolver;

/// Looks names up, each anew: what others keep for us is theirs to keep.
#[derive(Debug)]
pub(super) struct Resolver(TokioResolver);

/// What a name was found to stand for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Lookup {
    pub(super) v4: Found,
    pub(super) v6: Found,
}

/// The addresses of one family.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// These, for so long.
    Addresses(Vec<IpAddr>, Duration),
    /// There are none.
    Nothing,
    /// Nobody can say, for this reason.
    Failure(String),
}

impl Resolver {
    /// Asks `server`, or else the resolvers of the system.
    pub(super) fn new(server: Option<SocketAddr>) -> Result<Self, String> {
        resolver(server, |options| options.cache_size = 0).map(Self)
    }

    /// Both families of `name`, at once.
    pub(super) async fn look_up(&self, name: &Name) -> Lookup {
        let name = match DnsName::from_labels(name.labels()) {
            Ok(name) => name,
            Err(error) => {
                let failure = Found::Failure(error.to_string());
                return Lookup { v4: failure.clone(), v6: failure };
            }
        };
        let (v4, v6) = tokio::join!(self.ask(&name, RecordType::A), self.ask(&name, RecordType::AAAA));
        Lookup { v4, v6 }
    }

    async fn ask(&self, name: &DnsName, record_type: RecordType) -> Found {
        match self.0.lookup(name.clone(), record_type).await {
            Ok(lookup) => {
                // A chain of aliases comes with records of other types.
                let of_type = lookup.answers().iter().filter(|record| record.record_type() == record_type);
                let addresses: Vec<IpAddr> = of_type.filter_map(|record| record.data.ip_addr()).collect();
                let lifetime = lookup.valid_until().saturating_duration_since(Instant::now());
                if addresses.is_empty() { Found::Nothing } else { Found::Addresses(addresses, lifetime) }
            }
            Err(NetError::Dns(DnsError::NoRecordsFound(_))) => Found::Nothing,
            Err(error) => Found::Failure(error.to_string()),
        }
    }
}

impl Lookup {
    /// Why there is no address, if there is none or not everything could be asked.
    pub(super) fn trouble(&self) -> Option<String> {
        match (&self.v4, &self.v6) {
            (Found::Failure(reason), _) | (_, Found::Failure(reason)) => Some(reason.clone()),
            (Found::Nothing, Found::Nothing) => Some("it has no address".to_owned()),
            _ => None,
        }
    }

    /// How long its addresses hold, the shortest of them; `None` if there are none.
    pub(super) fn lifetime(&self) -> Option<Duration> {
        let lifetimes = [&self.v4, &self.v6].into_iter().filter_map(|found| match found {
            Found::Addresses(_, lifetime) => Some(*lifetime),
            Found::Nothing | Found::Failure(_) => None,
        });
        lifetimes.min()
    }
}
