//! The options of `toolbay mcp`.

use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use toolbay::mcp::HttpQuotas;

/// How to serve.
#[derive(Debug, Default, clap::Args)]
pub struct McpServe {
    /// Serve over HTTP at this address, such as 127.0.0.1:8930; port 0 takes a free one
    #[arg(long, value_name = "ADDR")]
    pub http: Option<SocketAddr>,
    /// Take the tokens of clients from this file, one a line; each is a client of its own.
    /// Without it a token is made and written where only you can read it
    #[arg(long, value_name = "FILE", requires = "http")]
    pub token_file: Option<PathBuf>,
    /// Take the token from this variable
    #[arg(
        long,
        value_name = "NAME",
        requires = "http",
        conflicts_with = "token_file"
    )]
    pub token_env: Option<String>,
    /// Serve everybody on this machine, without a token; only on a loopback address
    #[arg(long, requires = "http", conflicts_with_all = ["token_file", "token_env"])]
    pub no_token: bool,
    /// A name under which clients reach this server, beside those of this machine; may be given
    /// several times
    #[arg(long = "allow-host", value_name = "HOST", requires = "http")]
    pub allow_hosts: Vec<String>,
    /// A web page that may speak to this server, such as http://localhost:6274; may be given
    /// several times
    #[arg(long = "allow-origin", value_name = "ORIGIN", requires = "http")]
    pub allow_origins: Vec<String>,
    /// List tools of MCP servers by their own names where no other tool has them (`create_issue`, not
    /// `mcp__github__create_issue`); rules and questions have the whole names all the same
    #[arg(long)]
    pub plain_names: bool,
    /// Ask clients without sessions (MCP 2026-07-28) for their folders with each call, and hold them
    /// to these. Those with sessions, and on standard input, are asked anyway
    #[arg(long, requires = "http")]
    pub client_roots: bool,
    #[command(flatten)]
    pub quotas: McpQuotas,
}

/// What one client may use. A client is a token; what is not given here is as `mcpServe` in the
/// settings says.
#[derive(Debug, Default, Clone, Copy, clap::Args)]
pub struct McpQuotas {
    /// Requests in a second that one client (one token) may make, over time [default: 1000]
    #[arg(long, value_name = "N", requires = "http", value_parser = rate())]
    pub requests_per_second: Option<u32>,
    /// Requests that one client may make at once before that counts [default: 2000]
    #[arg(long, value_name = "N", requires = "http", value_parser = rate())]
    pub request_burst: Option<u32>,
    /// Requests of one client that are under way, streams that it listens to included [default: 256]
    #[arg(long, value_name = "N", requires = "http", value_parser = count())]
    pub max_requests: Option<u32>,
    /// Sessions of one client; idle ones end to make room for new ones [default: 64]
    #[arg(long, value_name = "N", requires = "http", value_parser = count())]
    pub max_sessions: Option<u32>,
    /// Connections of one client; idle ones end to make room for new ones [default: 320]
    #[arg(long, value_name = "N", requires = "http", value_parser = count())]
    pub max_connections: Option<u32>,
}

fn rate() -> clap::builder::RangedI64ValueParser<u32> {
    ranged(HttpQuotas::RATES)
}

fn count() -> clap::builder::RangedI64ValueParser<u32> {
    ranged(HttpQuotas::COUNTS)
}

fn ranged(range: RangeInclusive<u32>) -> clap::builder::RangedI64ValueParser<u32> {
    let range = i64::from(*range.start())..=i64::from(*range.end());
    clap::builder::RangedI64ValueParser::new().range(range)
}

/// How to log in.
#[derive(Debug, clap::Args)]
pub struct McpLogin {
    /// The server, by the name that `toolbay mcp list` shows
    pub name: String,
    /// Ask for this right as well; may be given several times
    #[arg(long = "scope", value_name = "SCOPE")]
    pub scopes: Vec<String>,
    /// Only print the address. If the browser runs on another machine, paste the address that it
    /// ends at, which begins with http://127.0.0.1
    #[arg(long)]
    pub no_browser: bool,
}

/// A server to add.
#[derive(Debug, clap::Args)]
pub struct McpAdd {
    /// What it is called here; its tools are mcp__NAME__tool
    pub name: String,
    /// Who gets it: local (you, in this project), project (everybody, in .mcp.json) or user
    #[arg(long, value_enum, default_value = "local", value_name = "SCOPE")]
    pub scope: ServerScope,
    /// How it is reached; a command by default, http for an address
    #[arg(long, value_enum, value_name = "KIND")]
    pub transport: Option<ServerKind>,
    /// A variable for its process
    #[arg(long, value_name = "NAME=VALUE")]
    pub env: Vec<String>,
    /// A header for its requests
    #[arg(long, value_name = "NAME: VALUE")]
    pub header: Vec<String>,
    /// A host that its process may reach
    #[arg(long = "allow-host", value_name = "HOST")]
    pub allow_hosts: Vec<String>,
    /// A host from which `npx`, `uvx` and the like may fetch it. That happens once, in a cage that
    /// does not see this project; the server then runs without that host
    #[arg(long = "fetch-from", value_name = "HOST")]
    pub fetch_from: Vec<String>,
    /// A folder that its process may read although it lies in a folder for temporary files
    #[arg(long = "allow-read", value_name = "DIR")]
    pub allow_read: Vec<String>,
    /// A folder that its process may write to; without any, those of the session
    #[arg(long = "root", value_name = "DIR")]
    pub roots: Vec<String>,
    /// The address, or the command and its arguments after `--`
    #[arg(required = true, value_name = "URL | -- COMMAND")]
    pub place: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum ServerScope {
    Local,
    Project,
    User,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum ServerKind {
    Stdio,
    Http,
    Sse,
    Ws,
}
