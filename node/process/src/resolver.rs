//! Asking DNS: a resolver that is named, or those of the system.

use std::net::SocketAddr;
use std::time::Duration;

use hickory_resolver::config::{
    ConnectionConfig, NameServerConfig, ResolveHosts, ResolverConfig, ResolverOpts,
};
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::{TokioResolver, system_conf};

/// How long one try may take.
const TRY_TIMEOUT: Duration = Duration::from_secs(2);
/// Further tries, so that one lost datagram fails no question.
const RETRIES_MAX: usize = 2;

/// One that asks `server`, or else the resolvers of the system, and nothing but DNS; `tune` has the last word on how.
///
/// # Errors
/// Why there is none, in words.
pub fn resolver(
    server: Option<SocketAddr>,
    tune: impl FnOnce(&mut ResolverOpts),
) -> Result<TokioResolver, String> {
    let (config, mut options) = match server {
        Some(server) => (config_of(server), ResolverOpts::default()),
        None => system_conf::read_system_conf().map_err(|error| error.to_string())?,
    };
    options.timeout = TRY_TIMEOUT;
    options.attempts = RETRIES_MAX;
    options.use_hosts_file = ResolveHosts::Never;
    tune(&mut options);
    let mut builder = TokioResolver::builder_with_config(config, TokioRuntimeProvider::default());
    *builder.options_mut() = options;
    builder.build().map_err(|error| error.to_string())
}

fn config_of(server: SocketAddr) -> ResolverConfig {
    let with_port = |mut connection: ConnectionConfig| {
        connection.port = server.port();
        connection
    };
    let connections = vec![with_port(ConnectionConfig::udp()), with_port(ConnectionConfig::tcp())];
    ResolverConfig::from_name_servers(vec![NameServerConfig::new(server.ip(), true, connections)])
}
