//! What servers offer to be read.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures_util::future::join_all;
use rmcp::model::{
    ClientRequest, CompleteRequest, CompleteRequestParams, CompleteResult,
    ListResourceTemplatesRequest, ListResourcesRequest, PaginatedRequestParams, Reference,
    Resource as Listed, ResourceContents, ResourceTemplate, ServerResult,
};
use toolbay_contract::{
    HostFailure, PowerFuture, Resource, ResourceBody, ResourcePart, Resources, Tool,
};

use super::asked::{answer, connected, conversation, failed, strange, unknown};
use super::bounds;
use super::definition::{Definition, RESOURCES};
use super::launch::Instance;
use super::remote::Remote;
use super::servers::Servers;
use super::template::fits;
use super::text::clean;
use super::tool::ForeignTool;
use crate::name::ToolName;

const LONGEST_ADDRESS: usize = 8_192;

impl Resources for Servers {
    fn list(&self, server: Option<String>) -> PowerFuture<'_, Vec<Resource>> {
        let mut remotes = self.readable();
        if let Some(name) = &server {
            remotes.retain(|remote| remote.config.name == *name);
        }
        Box::pin(async move {
            if let (Some(name), true) = (&server, remotes.is_empty()) {
                return Err(unknown(name));
            }
            let asked = remotes.iter().map(|remote| async {
                let all = list(remote.clone()).await?;
                let of = |one| resource(&remote.config.name, one);
                Ok(all.into_iter().map(of).collect::<Vec<Resource>>())
            });
            let answers = join_all(asked).await;
            if server.is_some() {
                return answers.into_iter().next().unwrap_or(Ok(Vec::new()));
            }
            // One that cannot be asked hides nothing of the others.
            let answers = answers.into_iter().filter_map(Result::ok);
            Ok(answers.flatten().collect())
        })
    }

    fn read(&self, server: String, uri: String) -> PowerFuture<'_, Vec<ResourcePart>> {
        let mut remotes = self.readable();
        remotes.retain(|remote| remote.config.name == server);
        let remote = remotes.pop();
        Box::pin(async move {
            let remote = remote.ok_or_else(|| unknown(&server))?;
            let link = connected(&remote, Instance::Main).await?;
            let read = link.read(&uri, &conversation(&remote)).await;
            let read = read.map_err(|error| failed(&remote, error))?;
            Ok(read.contents.into_iter().filter_map(part).collect())
        })
    }
}

/// All pages of what can be read, as far as they may go. The texts are cleaned.
async fn list(remote: Arc<Remote>) -> Result<Vec<Listed>, HostFailure> {
    let link = connected(&remote, Instance::Main).await?;
    if !link.offers().resources {
        return Ok(Vec::new());
    }
    let (mut all, mut cursor) = (Vec::new(), None);
    for _ in 0..bounds::PAGES {
        let page = PaginatedRequestParams::default().with_cursor(cursor.take());
        let request = ListResourcesRequest::with_param(page);
        let request = ClientRequest::ListResourcesRequest(request);
        let ServerResult::ListResourcesResult(page) = answer(&remote, &link, request).await? else {
            return Err(strange(&remote));
        };
        // An address that must be cut could not be read.
        let fits = |one: &Listed| one.uri.len() <= LONGEST_ADDRESS;
        all.extend(page.resources.into_iter().filter(fits).map(cleaned));
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

/// What can be read under addresses that have something to fill in. One page is enough for
/// anybody.
async fn templates(remote: Arc<Remote>) -> Result<Vec<ResourceTemplate>, HostFailure> {
    let link = connected(&remote, Instance::Main).await?;
    if !link.offers().resources {
        return Ok(Vec::new());
    }
    let request = ListResourceTemplatesRequest::with_param(PaginatedRequestParams::default());
    let request = ClientRequest::ListResourceTemplatesRequest(request);
    let ServerResult::ListResourceTemplatesResult(page) = answer(&remote, &link, request).await?
    else {
        return Err(strange(&remote));
    };
    let fits = |one: &ResourceTemplate| one.uri_template.len() <= LONGEST_ADDRESS;
    let clean = |one: ResourceTemplate| {
        let mut clean_one = ResourceTemplate::new(one.uri_template, clean(&one.name, 200));
        clean_one.title = one.title.map(|text| clean(&text, 200));
        clean_one.description = one.description.map(|text| clean(&text, 500));
        clean_one.mime_type = one.mime_type.map(|mime| clean(&mime, 100));
        clean_one
    };
    let all = page.resource_templates.into_iter().filter(fits);
    Ok(all.take(bounds::RESOURCES).map(clean).collect())
}

fn cleaned(one: Listed) -> Listed {
    let mut clean_one = Listed::new(one.uri, clean(&one.name, 200));
    clean_one.title = one.title.map(|text| clean(&text, 200));
    clean_one.description = one.description.map(|text| clean(&text, 500));
    clean_one.mime_type = one.mime_type.map(|mime| clean(&mime, 100));
    clean_one.size = one.size;
    clean_one
}

impl Servers {
    /// The servers whose resources no rule closes.
    fn readable(&self) -> Vec<Arc<Remote>> {
        let is_open = |remote: &&Arc<Remote>| {
            let name = ToolName::new(&remote.config.name, RESOURCES);
            name.is_some_and(|name| !self.is_closed(&name))
        };
        self.remotes().iter().filter(is_open).cloned().collect()
    }

    /// What all servers offer to be read, as the protocol has it.
    pub(crate) async fn resources(&self) -> Vec<Listed> {
        let remotes = self.readable();
        let answers = join_all(remotes.into_iter().map(list)).await;
        answers.into_iter().flatten().flatten().collect()
    }

    pub(crate) async fn resource_templates(&self) -> Vec<ResourceTemplate> {
        let remotes = self.readable();
        let answers = join_all(remotes.into_iter().map(templates)).await;
        answers.into_iter().flatten().flatten().collect()
    }

    /// Whatever stands at an address, as something that is permitted, run and logged like a tool;
    /// nothing if no server says that it has such an address.
    pub(crate) async fn resource(&self, uri: &str) -> Option<Arc<dyn Tool>> {
        let owner = self.owner(uri).await?;
        let definition = Definition::of_resources(&owner.config.name).ok()?;
        Some(Arc::new(ForeignTool::new(owner, Arc::new(definition))))
    }

    /// The first server that has this address, by its list or by a template.
    pub(super) async fn owner(&self, uri: &str) -> Option<Arc<Remote>> {
        let remotes = self.readable();
        let listed = join_all(remotes.iter().cloned().map(list)).await;
        let has = |(_, all): &(&Arc<Remote>, Result<Vec<Listed>, HostFailure>)| {
            let all = all.as_deref().unwrap_or_default();
            all.iter().any(|one| one.uri == uri)
        };
        if let Some((remote, _)) = remotes.iter().zip(listed).find(has) {
            return Some(remote.clone());
        }
        let templates = join_all(remotes.iter().cloned().map(templates)).await;
        let mut all = remotes.iter().zip(templates);
        let owner = all.find(|(_, all)| {
            let all = all.as_deref().unwrap_or_default();
            all.iter().any(|one| fits(&one.uri_template, uri))
        });
        owner.map(|(remote, _)| remote.clone())
    }

    /// How what was begun may go on, in the words of the server that knows. One that might do
    /// more with it than answer is not told.
    pub(crate) async fn complete(
        &self,
        mut asked: CompleteRequestParams,
    ) -> Result<CompleteResult, String> {
        let owner = match &mut asked.r#ref {
            Reference::Prompt(prompt) => {
                let found = self.prompt_called(&prompt.name).await;
                let found = found.ok_or("there is no such prompt")?;
                prompt.name = found.prompt.name.clone();
                found.remote().clone()
            }
            Reference::Resource(resource) => {
                let remotes = self.readable();
                let known = join_all(remotes.iter().cloned().map(templates)).await;
                let mut all = remotes.into_iter().zip(known);
                let found = all.find(|(_, all)| {
                    let all = all.as_deref().unwrap_or_default();
                    all.iter().any(|one| one.uri_template == resource.uri)
                });
                found.ok_or("there is no such template")?.0
            }
            _ => return Err("only arguments of prompts and templates can be completed".into()),
        };
        let is_believed = owner.config.trusted || owner.has_reading_instance();
        if !is_believed || !owner.offers().completions {
            return Ok(CompleteResult::default());
        }
        let link = connected(&owner, owner.reader()).await;
        let link = link.map_err(|error| error.to_string())?;
        asked.meta = None;
        let request = ClientRequest::CompleteRequest(CompleteRequest::new(asked));
        match answer(&owner, &link, request).await {
            Ok(ServerResult::CompleteResult(completed)) => Ok(completed),
            Ok(_) => Err(strange(&owner).to_string()),
            Err(error) => Err(error.to_string()),
        }
    }
}

fn resource(server: &str, one: Listed) -> Resource {
    Resource {
        server: server.to_owned(),
        uri: one.uri,
        name: one.name,
        description: one.description,
        mime: one.mime_type,
    }
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
