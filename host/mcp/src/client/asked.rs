//! Requests to servers that are no calls of tools: what a power asks on behalf of one.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use rmcp::model::{ClientRequest, ServerResult};
use toolbay_contract::{HostFailure, KillSwitch};

use super::launch::Instance;
use super::link::{CallError, Conversation, Link};
use super::remote::Remote;
use super::text::clean;

const LONGEST: Duration = Duration::from_secs(600);

pub(super) async fn connected(
    remote: &Arc<Remote>,
    instance: Instance,
) -> Result<Arc<Link>, HostFailure> {
    let link = remote.link(instance).await;
    link.map_err(HostFailure::Unavailable)
}

/// For whoever may stop waiting at any time, which the server is then told.
pub(super) fn conversation(remote: &Remote) -> Conversation<'static> {
    static NEVER: LazyLock<KillSwitch> = LazyLock::new(KillSwitch::new);
    Conversation {
        call_id: "",
        progress: Arc::new(|_, _| {}),
        kill: &NEVER,
        timeout: remote.config.timeout.min(LONGEST),
    }
}

/// One question, one answer.
pub(super) async fn answer(
    remote: &Remote,
    link: &Link,
    request: ClientRequest,
) -> Result<ServerResult, HostFailure> {
    let asked = link.ask(request, &conversation(remote)).await;
    asked.map_err(|error| failed(remote, error))
}

pub(super) fn failed(remote: &Remote, error: CallError) -> HostFailure {
    let name = &remote.config.name;
    match error {
        CallError::Killed => HostFailure::Cancelled,
        CallError::TimedOut(_) => HostFailure::TimedOut,
        CallError::Gone(why) => HostFailure::Failed(remote.note_gone(&why)),
        CallError::NeedsAuth(why) => HostFailure::Unavailable(remote.note_needs_auth(&why)),
        CallError::Refused(why) => {
            HostFailure::Failed(format!("the MCP server `{name}` says: {why}"))
        }
    }
}

pub(super) fn strange(remote: &Remote) -> HostFailure {
    let name = &remote.config.name;
    HostFailure::Failed(format!(
        "the MCP server `{name}` answered with something else than was asked for"
    ))
}

pub(super) fn unknown(name: &str) -> HostFailure {
    HostFailure::Failed(format!("there is no MCP server `{}`", clean(name, 100)))
}
