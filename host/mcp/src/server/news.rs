//! Lists of servers behind this one: what a client sees of them, and that they have changed.

use std::collections::HashMap;
use std::sync::{Arc, MutexGuard, PoisonError, Weak};

use rmcp::RoleServer;
use rmcp::model::{ResourceUpdatedNotificationParam, Tool};
use rmcp::service::Peer;
use tokio::sync::broadcast::error::RecvError;

use super::client::{Client, Session};
use super::plain;
use crate::client::Servers;
use crate::client::news::Changes;
use crate::client::watching::Watching;
use crate::name::ToolName;

/// Addresses that one client may have watched.
pub(super) const MOST_WATCHED: usize = 64;

impl Client {
    /// The tools as this client sees them: those of the start, but of each server that its own
    /// session has asked, what that one says now.
    pub(super) fn list_tools(&self) -> Vec<Tool> {
        let list = self.all_tools();
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = Some(fingerprint(&list));
        match self.bays.has_plain_names() {
            true => plain::shown(list),
            false => list,
        }
    }

    /// What a tool is called here that a client calls so.
    pub(super) fn whole_name(&self, called: &str) -> Option<String> {
        match self.bays.has_plain_names() {
            true => plain::whole(&self.all_tools(), called),
            false => None,
        }
    }

    fn all_tools(&self) -> Vec<Tool> {
        match self.last_session() {
            Some(session) => self.merged(&session),
            None => self.tools.to_vec(),
        }
    }

    fn merged(&self, session: &Session) -> Vec<Tool> {
        let known = session.servers.known_prefixes();
        let is_known = |name: &str| {
            let name = ToolName::parse(name);
            name.is_some_and(|name| known.iter().any(|server| server == name.server()))
        };
        let first = self.tools.iter().filter(|tool| !is_known(&tool.name));
        let mut list: Vec<Tool> = first.cloned().collect();
        let now = session.dispatch.pool().mcp_definitions().into_iter();
        let now = now.filter_map(|tool| serde_json::from_value::<Tool>(tool).ok());
        list.extend(now.filter(|tool| is_known(&tool.name)));
        list
    }

    /// Listens to the servers of a new session.
    pub(super) fn hear(self: &Arc<Self>, servers: &Arc<Servers>) {
        if servers.is_empty() {
            return;
        }
        let (client, mut updates) = (Arc::downgrade(self), servers.updates());
        tokio::spawn(async move {
            loop {
                let told = match updates.recv().await {
                    Ok(told) => told,
                    // Too slow; what is told next is as good.
                    Err(RecvError::Lagged(_)) => continue,
                    Err(RecvError::Closed) => return,
                };
                match client.upgrade() {
                    Some(client) => drop(client.updates.send(told)),
                    None => return,
                }
            }
        });
        let (client, mut changes) = (Arc::downgrade(self), servers.changes());
        tokio::spawn(async move {
            let mut before = *changes.borrow_and_update();
            while changes.changed().await.is_ok() {
                let now = *changes.borrow_and_update();
                let Some(client) = client.upgrade() else {
                    return;
                };
                client.pass_on(before, now);
                before = now;
            }
        });
    }

    fn pass_on(&self, before: Changes, now: Changes) {
        // That a server was asked for the first time is no news to a client that saw its list.
        let tools = before.tools != now.tools && self.sees_others();
        self.news.send_if_modified(|told| {
            let was = *told;
            told.tools += u64::from(tools);
            told.prompts += u64::from(before.prompts != now.prompts);
            told.resources += u64::from(before.resources != now.resources);
            was != *told
        });
    }

    /// Whether the client would see another list of tools than it saw.
    fn sees_others(&self) -> bool {
        let Some(session) = self.last_session() else {
            return false;
        };
        let list = fingerprint(&self.merged(&session));
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.as_ref().is_some_and(|seen| *seen != list)
    }

    /// Has the client told when something else stands at an address.
    pub(super) async fn watch(&self, session: &Session, uri: &str) -> Result<(), String> {
        if self.watched().len() >= MOST_WATCHED {
            return Err(format!("{MOST_WATCHED} resources are watched already"));
        }
        let watching = session.servers.watch(uri).await?;
        self.watched().insert(uri.to_owned(), watching);
        Ok(())
    }

    pub(super) fn watched(&self) -> MutexGuard<'_, HashMap<String, Watching>> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells a client that stays, as long as it does.
    pub(super) fn tell_news(self: &Arc<Self>, peer: Peer<RoleServer>) {
        let (client, mut updates) = (Arc::downgrade(self), self.updates.subscribe());
        let other = peer.clone();
        tokio::spawn(async move {
            loop {
                let uri = match updates.recv().await {
                    Ok(uri) => uri,
                    Err(RecvError::Lagged(_)) => continue,
                    Err(RecvError::Closed) => return,
                };
                let Some(client) = client.upgrade() else {
                    return;
                };
                let is_wanted = client.watched().contains_key(&uri);
                drop(client);
                let param = ResourceUpdatedNotificationParam::new(uri);
                if is_wanted && other.notify_resource_updated(param).await.is_err() {
                    return;
                }
            }
        });
        let (client, mut news): (Weak<Self>, _) = (Arc::downgrade(self), self.news.subscribe());
        tokio::spawn(async move {
            let mut before = *news.borrow_and_update();
            while news.changed().await.is_ok() {
                let now = *news.borrow_and_update();
                let mut sent = Ok(());
                if before.tools != now.tools {
                    sent = sent.and(peer.notify_tool_list_changed().await);
                }
                if before.prompts != now.prompts {
                    sent = sent.and(peer.notify_prompt_list_changed().await);
                }
                if before.resources != now.resources {
                    sent = sent.and(peer.notify_resource_list_changed().await);
                }
                if sent.is_err() || client.strong_count() == 0 {
                    return;
                }
                before = now;
            }
        });
    }
}

/// What makes one list another.
fn fingerprint(list: &[Tool]) -> String {
    serde_json::to_string(list).unwrap_or_default()
}
