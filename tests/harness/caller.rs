//! Calls of a test's own, for what the CLI has no words for or would be too slow for.

use std::sync::Arc;
use std::time::Duration;

use tonic::transport::{Channel, Endpoint};
use waymark_process::tls::{Connector, Credentials};

/// How long a connection may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);

/// Calls one member as someone.
#[derive(Clone, Debug)]
pub struct Caller {
    endpoint: Endpoint,
    connector: Connector,
}

impl Caller {
    /// One that calls the member at `url` with `credentials`.
    ///
    /// # Panics
    /// When `url` is none.
    pub fn new(url: &str, credentials: Arc<Credentials>) -> Self {
        let endpoint = Endpoint::from_shared(url.to_owned()).expect("a member's URL");
        Self {
            endpoint: endpoint.connect_timeout(CONNECT_TIMEOUT),
            connector: Connector::new(Some(credentials)),
        }
    }

    /// A connection of its own.
    ///
    /// # Errors
    /// Why there is none.
    pub async fn connect(&self) -> Result<Channel, String> {
        self.endpoint
            .connect_with_connector(self.connector.clone())
            .await
            .map_err(|error| format!("{error:?}"))
    }

    /// A channel that is connected when it is first used, and again when its connection is lost. To be called within a
    /// tokio runtime.
    pub fn channel(&self) -> Channel {
        self.endpoint.connect_with_connector_lazy(self.connector.clone())
    }
}
