//! How a server on this machine is started. The cage is built where the program is composed.

use tokio::io::{AsyncRead, AsyncWrite};
use toolbay_contract::BoxFuture;

use super::config::StdioConfig;

/// Which process of a server. Those tools that say of themselves that they only read are served
/// by one that cannot write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Instance {
    Main,
    ReadOnly,
}

/// A server that runs.
pub struct Launched {
    /// What it reads.
    pub input: Box<dyn AsyncWrite + Send + Unpin>,
    /// What it writes.
    pub output: Box<dyn AsyncRead + Send + Unpin>,
    pub errors: Box<dyn AsyncRead + Send + Unpin>,
    /// Ends when the server has ended, with how it did. To drop it is to kill the server and
    /// everything that it started.
    pub life: BoxFuture<'static, String>,
}

/// Starts servers in cages.
pub trait Launcher: Send + Sync {
    fn launch<'a>(
        &'a self,
        server: &'a str,
        config: &'a StdioConfig,
        instance: Instance,
    ) -> BoxFuture<'a, Result<Launched, String>>;
}

/// Starts none: for sessions without servers of this machine.
pub struct NoLauncher;

impl Launcher for NoLauncher {
    fn launch<'a>(
        &'a self,
        _server: &'a str,
        _config: &'a StdioConfig,
        _instance: Instance,
    ) -> BoxFuture<'a, Result<Launched, String>> {
        Box::pin(async { Err("no processes are started here".to_owned()) })
    }
}
