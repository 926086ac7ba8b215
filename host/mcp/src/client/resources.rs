//! What servers offer to be read.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rmcp::model::{
    ClientRequest, ListResourcesRequest, PaginatedRequestParams, ReadResourceRequest,
    ReadResourceRequestParams, ResourceContents, ServerResult,
};
use toolbay_contract::{
    HostFailure, KillSwitch, PowerFuture, Resource, ResourceBody, ResourcePart, Resources,
};

use super::bounds;
use super::launch::Instance;
use super::link::{CallError, Conversation, Link};
use super::remote::Remote;
use super::servers::Servers;
use super::text::clean;

const LONGEST_ADDRESS: usize = 8_192;

impl Resources for Servers {
    fn list(&self, server: Option<String>) -> PowerFuture<'_, Vec<Resource>> {
        let remotes: Vec<Arc<Remote>> = match &server {
            None => self.remotes().to_vec(),
            Some(name) => self.named(name).into_iter().cloned().collect(),
        };
        Box::pin(async move {
            if let (Some(name), true) = (&server, remotes.is_empty()) {
                return Err(unknown(name));
            }
            let asked = remotes.iter().map(|remote| list(remote.clone()));
            let answers = futures_util::future::join_all(asked).await;
            if server.is_some() {
                return answers.into_iter().next().unwrap_or(Ok(Vec::new()));
            }
            // One that cannot be asked hides nothing of the others.
            Ok(answers.into_iter().flatten().flatten().collect())
        })
    }

    fn read(&self, server: String, uri: String) -> PowerFuture<'_, Vec<ResourcePart>> {
        let remote = self.named(&server).cloned();
        Box::pin(async move {
            let remote = remote.ok_or_else(|| unknown(&server))?;
            let link = connected(&remote).await?;
            let params = ReadResourceRequestParams::new(uri);
            let request = ClientRequest::ReadResourceRequest(ReadResourceRequest::new(params));
            match ask(&remote, &link, request).await? {
                ServerResult::ReadResourceResult(read) => {
                    Ok(read.contents.into_iter().filter_map(part).collect())
                }
                _ => Err(strange(&remote)),
            }
        })
    }
}

async fn list(remote: Arc<Remote>) -> Result<Vec<Resource>, HostFailure> {
    let link = connected(&remote).await?;
    let info = link.peer().peer_info();
    if info.is_none_or(|info| info.capabilities.resources.is_none()) {
        return Ok(Vec::new());
    }
    let (mut all, mut cursor) = (Vec::new(), None);
    for _ in 0..bounds::PAGES {
        let page = PaginatedRequestParams::default().with_cursor(cursor.take());
        let request = ListResourcesRequest::with_param(page);
        let request = ClientRequest::ListResourcesRequest(request);
        let ServerResult::ListResourcesResult(page) = ask(&remote, &link, request).await? else {
            return Err(strange(&remote));
        };
        let resource = |one: rmcp::model::Resource| Resource {
            server: remote.config.name.clone(),
            uri: one.uri,
            name: clean(&one.name, 200),
            description: one.description.map(|text| clean(&text, 500)),
            mime: one.mime_type.map(|mime| clean(&mime, 100)),
        };
        // An address that must be cut could not be read.
        let fits = |one: &rmcp::model::Resource| one.uri.len() <= LONGEST_ADDRESS;
        all.extend(page.resources.into_iter().filter(fits).map(resource));
        if all.len() >= bounds::RESOURCES {
            all.truncate(bounds::RESOURCES);
            return Ok(all);
        }
        match page.next_cursor {
            Some(next) => cursor = Some(next),
            None => break,
        }
    }
    Ok(all)
}

fn part(contents: ResourceContents) -> Option<ResourcePart> {
    match contents {
        ResourceContents::TextResourceContents {
            uri,
            mime_type,
            text,
            ..
        } => Some(ResourcePart {
            uri: clean(&uri, LONGEST_ADDRESS),
            mime: mime_type.map(|mime| clean(&mime, 100)),
            body: ResourceBody::Text(text),
        }),
        ResourceContents::BlobResourceContents {
            uri,
            mime_type,
            blob,
            ..
        } => Some(ResourcePart {
            uri: clean(&uri, LONGEST_ADDRESS),
            mime: mime_type.map(|mime| clean(&mime, 100)),
            body: match STANDARD.decode(blob) {
                Ok(bytes) => ResourceBody::Bytes(bytes),
                Err(_) => ResourceBody::Text("(bytes that are no base64)".into()),
            },
        }),
        _ => None,
    }
}

async fn connected(remote: &Arc<Remote>) -> Result<Arc<Link>, HostFailure> {
    let link = remote.link(Instance::Main).await;
    link.map_err(HostFailure::Unavailable)
}

/// Whoever asked may stop waiting at any time, which the server is then told.
async fn ask(
    remote: &Remote,
    link: &Link,
    request: ClientRequest,
) -> Result<ServerResult, HostFailure> {
    let with = Conversation {
        call_id: "",
        progress: Arc::new(|_, _| {}),
        kill: &KillSwitch::new(),
        timeout: remote.config.timeout.min(Duration::from_secs(600)),
    };
    let name = &remote.config.name;
    link.ask(request, &with).await.map_err(|error| match error {
        CallError::Killed => HostFailure::Cancelled,
        CallError::TimedOut(_) => HostFailure::TimedOut,
        CallError::Gone(why) => HostFailure::Failed(remote.note_gone(&why)),
        CallError::NeedsAuth(why) => HostFailure::Unavailable(remote.note_needs_auth(&why)),
        CallError::Refused(why) => {
            HostFailure::Failed(format!("the MCP server `{name}` says: {why}"))
        }
    })
}

fn strange(remote: &Remote) -> HostFailure {
    let name = &remote.config.name;
    HostFailure::Failed(format!(
        "the MCP server `{name}` answered with something else than was asked for"
    ))
}

fn unknown(name: &str) -> HostFailure {
    HostFailure::Failed(format!("there is no MCP server `{}`", clean(name, 100)))
}
