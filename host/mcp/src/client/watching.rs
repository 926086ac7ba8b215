//! Addresses that somebody wants to hear of when what stands there changes.

// Servers of the older protocol are told in its words.
#![allow(deprecated)]

use std::sync::Arc;

use rmcp::model::{
    ClientRequest, ServerNotification, SubscribeRequest, SubscribeRequestParams,
    SubscriptionFilter, UnsubscribeRequest, UnsubscribeRequestParams,
};
use tokio::task::AbortHandle;
use tokio::time::timeout;

use super::asked::{answer, connected};
use super::bounds;
use super::launch::Instance;
use super::link::Link;
use super::remote::Remote;
use super::servers::Servers;

/// One address is watched as long as this lives.
pub(crate) struct Watching {
    uri: String,
    way: Way,
}

enum Way {
    /// The server was told, and is told when it is over.
    Told(Arc<Remote>, Arc<Link>),
    /// A stream of its own.
    Listening(AbortHandle),
}

impl Drop for Watching {
    fn drop(&mut self) {
        match &self.way {
            Way::Listening(task) => task.abort(),
            Way::Told(remote, link) => {
                let Ok(runtime) = tokio::runtime::Handle::try_current() else {
                    return;
                };
                let (remote, link) = (remote.clone(), link.clone());
                let params = UnsubscribeRequestParams::new(std::mem::take(&mut self.uri));
                let request = ClientRequest::UnsubscribeRequest(UnsubscribeRequest::new(params));
                runtime.spawn(async move {
                    // A server that is gone watches nothing.
                    let _ = answer(&remote, &link, request).await;
                });
            }
        }
    }
}

impl Servers {
    /// Has whoever owns an address tell of changes; they come with all other news.
    pub(crate) async fn watch(&self, uri: &str) -> Result<Watching, String> {
        let owner = self.owner(uri).await;
        let owner = owner.ok_or("no server has such a resource")?;
        if !owner.offers().subscriptions {
            let name = &owner.config.name;
            return Err(format!(
                "the MCP server `{name}` does not tell when something changes"
            ));
        }
        let link = connected(&owner, Instance::Main).await;
        let link = link.map_err(|error| error.to_string())?;
        let way = match link.is_modern() {
            true => Way::Listening(listen(&owner, &link, uri).await?),
            false => {
                let params = SubscribeRequestParams::new(uri);
                let request = ClientRequest::SubscribeRequest(SubscribeRequest::new(params));
                let told = answer(&owner, &link, request).await;
                told.map_err(|error| error.to_string())?;
                Way::Told(owner, link)
            }
        };
        let uri = uri.to_owned();
        Ok(Watching { uri, way })
    }
}

async fn listen(owner: &Arc<Remote>, link: &Link, uri: &str) -> Result<AbortHandle, String> {
    let filter = SubscriptionFilter::builder()
        .resource_subscriptions([uri])
        .build();
    let listening = timeout(bounds::CONNECT, link.peer().listen(filter)).await;
    let listening = listening.map_err(|_| "the server did not answer in time")?;
    let mut listening = listening.map_err(|error| error.to_string())?;
    let news = owner.news().clone();
    let task = tokio::spawn(async move {
        while let Ok(Some(told)) = listening.next().await {
            if let ServerNotification::ResourceUpdatedNotification(told) = told {
                news.updated(&told.params.uri);
            }
        }
    });
    Ok(task.abort_handle())
}
