//! `waymark service`: what a platform runs, and whether it does (OBJ-6).

use clap::Subcommand;
use comfy_table::Cell;
use prost_types::FieldMask;
use serde::Serialize;
use waymark_proto::RESPONSE_BYTES_MAX;
use waymark_proto::admin::v1::services_client::ServicesClient;
use waymark_proto::admin::v1::{
    self as wire, DeleteRequest, GetRequest, ListRequest, RegisterServiceRequest, SwitchServiceRequest,
};

use crate::client::Attempt;
use crate::failure::Failure;
use crate::flags::Mask;
use crate::output::{Shown, Style, table};
use crate::session::Session;

/// What is done to services.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Register a service, or change the fields that are named of one.
    #[command(
        after_help = "Examples:\n  waymark service register shop-eu --target shop.eu.example.net --location eu-central\n  \
waymark service register shop-eu --target 192.0.2.10 --unset location"
    )]
    Register {
        /// The service's name.
        name: String,
        /// A DNS name, an IPv4 or an IPv6 address.
        #[arg(long)]
        target: Option<String>,
        /// The region in which it runs.
        #[arg(long, value_name = "REGION")]
        location: Option<String>,
        /// A field that goes back to its default.
        #[arg(long, value_name = "FIELD", value_parser = UNSET.map(|(word, _)| word))]
        unset: Vec<String>,
        /// Only if it is at this revision.
        #[arg(long, value_name = "R")]
        if_revision: Option<u64>,
    },
    /// List all services.
    #[command(after_help = "Examples:\n  waymark service list\n  waymark service list -o json")]
    List,
    /// Show a service.
    #[command(
        after_help = "Examples:\n  waymark service show shop-eu\n  waymark service show shop-eu -o json"
    )]
    Show {
        /// The service's name.
        name: String,
    },
    /// Say that a service runs.
    #[command(
        after_help = "Examples:\n  waymark service start shop-eu\n  waymark service start shop-eu --wait all"
    )]
    Start(Name),
    /// Say that a service has stopped: its endpoints are answered no more.
    #[command(
        after_help = "Examples:\n  waymark service stop shop-eu\n  waymark service stop shop-eu --wait all"
    )]
    Stop(Name),
    /// Remove a service that no endpoint stands for.
    #[command(
        after_help = "Examples:\n  waymark service delete shop-eu\n  waymark service delete shop-eu --if-revision 7"
    )]
    Delete(Name),
}

const UNSET: [(&str, &str); 1] = [("location", "location")];

/// A service by its name.
#[derive(clap::Args, Debug)]
pub(crate) struct Name {
    /// The service's name.
    name: String,
    /// Only if it is at this revision.
    #[arg(long, value_name = "R")]
    if_revision: Option<u64>,
}

/// Carries the verb out.
pub(crate) async fn run(verb: Verb, session: &Session) -> Result<String, Failure> {
    match verb {
        Verb::Register { name, target, location, unset, if_revision } => {
            let mut mask = Mask::default();
            let service = wire::Service {
                name,
                target: mask.take("target", target).unwrap_or_default(),
                location: mask.take("location", location),
                ..wire::Service::default()
            };
            mask.unset(&unset, &UNSET)?;
            register(service, mask, if_revision, session).await
        }
        Verb::List => list(session).await,
        Verb::Show { name } => show(name, session).await,
        Verb::Start(name) => switch(name, true, session).await,
        Verb::Stop(name) => switch(name, false, session).await,
        Verb::Delete(name) => delete(name, session).await,
    }
}

async fn register(
    service: wire::Service,
    mask: Mask,
    if_revision: Option<u64>,
    session: &Session,
) -> Result<String, Failure> {
    let name = service.name.clone();
    let update_mask: Option<FieldMask> = mask.finish().map_err(|_| {
        let advice =
            "a new service needs --target; of one that is there name at least one field, or --unset one";
        Failure::usage(format!("nothing to register: {advice}"))
    })?;
    let request =
        RegisterServiceRequest { service: Some(service), update_mask, write: session.write(if_revision) };
    let call = async |at: Attempt| {
        let request = at.request(&request);
        ServicesClient::new(at.channel).register_service(request).await
    };
    Ok(session.written("service", &name, "registered", session.client.write(call).await?))
}

async fn switch(name: Name, is_running: bool, session: &Session) -> Result<String, Failure> {
    let Name { name, if_revision } = name;
    let request = SwitchServiceRequest { name: name.clone(), write: session.write(if_revision) };
    let call = async |at: Attempt| {
        let request = at.request(&request);
        let mut client = ServicesClient::new(at.channel);
        if is_running { client.start_service(request).await } else { client.stop_service(request).await }
    };
    let done = if is_running { "started" } else { "stopped" };
    Ok(session.written("service", &name, done, session.client.write(call).await?))
}

async fn delete(name: Name, session: &Session) -> Result<String, Failure> {
    let Name { name, if_revision } = name;
    let request = DeleteRequest { name: name.clone(), write: session.write(if_revision) };
    let call = async |at: Attempt| {
        let request = at.request(&request);
        ServicesClient::new(at.channel).delete_service(request).await
    };
    Ok(session.written("service", &name, "deleted", session.client.write(call).await?))
}

async fn show(name: String, session: &Session) -> Result<String, Failure> {
    let service = get(&name, session).await?;
    Ok(session.show(&ServiceList { services: vec![service.into()] }))
}

/// The service of that name.
pub(crate) async fn get(name: &str, session: &Session) -> Result<wire::Service, Failure> {
    let request = GetRequest { name: name.to_owned(), read: session.read() };
    let call = async |at: Attempt| {
        let request = at.request(&request);
        ServicesClient::new(at.channel).get_service(request).await
    };
    session.client.read(call).await
}

async fn list(session: &Session) -> Result<String, Failure> {
    let services = session
        .pages(async |page| {
            let request = ListRequest { page: Some(page), read: session.read() };
            let call = async |at: Attempt| {
                let request = at.request(&request);
                ServicesClient::new(at.channel)
                    .max_decoding_message_size(RESPONSE_BYTES_MAX)
                    .list_services(request)
                    .await
            };
            let wire::ListServicesResponse { services, next_page_token } = session.client.read(call).await?;
            Ok((services, next_page_token))
        })
        .await?;
    Ok(session.show(&ServiceList { services: services.into_iter().map(Into::into).collect() }))
}

#[derive(Debug, Serialize)]
struct Service {
    name: String,
    target: String,
    location: Option<String>,
    running: bool,
    revision: u64,
}

#[derive(Debug, Serialize)]
struct ServiceList {
    services: Vec<Service>,
}

impl From<wire::Service> for Service {
    fn from(message: wire::Service) -> Self {
        let wire::Service { name, target, location, running, revision } = message;
        Self { name, target, location, running, revision }
    }
}

impl Shown for ServiceList {
    const KIND: &'static str = "ServiceList";

    fn names(&self) -> Vec<String> {
        self.services.iter().map(|service| service.name.clone()).collect()
    }

    fn text(&self, style: &Style) -> String {
        let mut shown = table::table(style, &["SERVICE", "TARGET", "LOCATION", "RUNS", "REVISION"]);
        for Service { name, target, location, running, revision } in &self.services {
            shown.add_row([
                Cell::new(name),
                Cell::new(target),
                Cell::new(location.as_deref().unwrap_or("-")),
                Cell::new(if *running { "yes" } else { "no" }),
                Cell::new(revision),
            ]);
        }
        table::finish(shown)
    }
}
