//! The command line.

mod given;
mod mcp;

use std::path::PathBuf;

pub use self::given::given;
pub use self::mcp::{McpAdd, McpLogin, McpQuotas, McpServe, ServerKind, ServerScope};

use clap::{Args as ClapArgs, Parser, Subcommand};
use toolbay::policy::Mode;

/// Tools for AI coding agents, none of which has to be trusted.
#[derive(Debug, Parser)]
#[command(name = "toolbay", version, max_term_width = 100)]
pub struct Args {
    #[command(flatten)]
    pub common: Common,
    #[command(subcommand)]
    pub command: Command,
}

/// Options of every command.
#[derive(Debug, Clone, Default, ClapArgs)]
pub struct Common {
    /// Print JSON for programs instead of text for people
    #[arg(long, global = true)]
    pub json: bool,
    /// Work as if started in this folder; it is the first root that tools may see
    #[arg(long, global = true, value_name = "DIR")]
    pub cwd: Option<PathBuf>,
    /// Another folder that tools may see; may be given several times
    #[arg(long = "add-dir", global = true, value_name = "DIR")]
    pub add_dirs: Vec<PathBuf>,
    /// A third-party tool (a .wasm file) or a folder of them
    #[arg(long = "plugin", global = true, value_name = "FILE")]
    pub plugins: Vec<PathBuf>,
    /// Allow what this rule covers, such as 'Name' or 'Name(./src/**)'
    #[arg(long, global = true, value_name = "RULE")]
    pub allow: Vec<String>,
    /// Ask about what this rule covers
    #[arg(long, global = true, value_name = "RULE")]
    pub ask: Vec<String>,
    /// Deny what this rule covers
    #[arg(long, global = true, value_name = "RULE")]
    pub deny: Vec<String>,
    /// Grant a third-party tool what it requests: 'Name', or 'Name=files,shell' for some of it
    #[arg(long, global = true, value_name = "GRANT")]
    pub grant: Vec<String>,
    /// How to treat what no rule decides: default, plan, acceptEdits, dontAsk or
    /// bypassPermissions
    #[arg(long, global = true, value_name = "MODE", value_parser = mode)]
    pub permission_mode: Option<Mode>,
    /// One more settings file, stronger than the person's and the project's
    #[arg(long, global = true, value_name = "FILE")]
    pub settings: Option<PathBuf>,
    /// Further MCP servers: a file like .mcp.json, or its content
    #[arg(long, global = true, value_name = "FILE|JSON")]
    pub mcp_config: Vec<String>,
    /// Let everything in this project's own settings count, this once; `toolbay trust` does so
    /// until they change
    #[arg(long, global = true)]
    pub trust_project: bool,
    /// Run the hooks in this project's own settings too; they are commands that whoever
    /// wrote the project chose, so look at them first
    #[arg(long, global = true)]
    pub project_hooks: bool,
    /// Offer the few tools that every coding task needs, and no others
    #[arg(long, global = true)]
    pub simple: bool,
    /// Write what each stage of each call decided and how long it took to this file
    #[arg(long, global = true, value_name = "FILE")]
    pub trace: Option<PathBuf>,
}

fn mode(word: &str) -> Result<Mode, String> {
    Mode::parse(word).ok_or_else(|| {
        let known = Mode::ALL.map(Mode::word).join(", ");
        format!("one of {known}")
    })
}

/// What comes in on standard input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum StreamForm {
    /// One JSON object a line
    Lines,
    /// The events of a model's own stream, with JSON lines in between
    Sse,
}

/// Forms of tool definitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Definitions {
    /// `name`, `description`, `input_schema`; without deferred tools
    Messages,
    /// `name`, `description`, `inputSchema`, `annotations`
    Mcp,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Show what toolbay does, with real tools on a folder made for it
    Tour,
    /// List the tools
    Tools {
        /// Show the schema, the prompt and the subjects of one tool
        name: Option<String>,
        /// Print the definitions of all tools as a model's API or MCP wants them
        #[arg(long, value_enum, value_name = "FORM", conflicts_with = "name")]
        export: Option<Definitions>,
    },
    /// Call a tool
    Call {
        name: String,
        /// The input as JSON; `-` reads it from standard input
        #[arg(default_value = "{}")]
        input: String,
        /// Keep what tools remember (files read, lists) under this name between calls
        #[arg(long, value_name = "NAME")]
        session: Option<String>,
        /// End the call after so many milliseconds
        #[arg(long, value_name = "MS")]
        timeout: Option<u64>,
    },
    /// Run turns: blocks come in as lines of JSON, events go out
    Run {
        /// Keep the session under this name, or take it up again
        #[arg(long, value_name = "NAME")]
        session: Option<String>,
        /// The form of the input
        #[arg(long, value_enum, default_value = "lines", value_name = "FORM")]
        from: StreamForm,
        /// Show what happens to a person instead of a program
        #[arg(long)]
        human: bool,
        /// The caller has a model and answers `sampling_request` lines, for MCP servers that may use it
        #[arg(long)]
        sampling: bool,
    },
    /// Say what a component is and what it could do at most
    Inspect { file: PathBuf },
    /// What does this bash text do? The validator on its own
    Shell {
        #[command(subcommand)]
        command: ShellCommand,
    },
    /// What was decided and done: the log of this user
    Audit {
        #[command(subcommand)]
        command: AuditCommand,
    },
    /// May this call run? The rules on their own
    Policy {
        #[command(subcommand)]
        command: PolicyCommand,
    },
    /// Show what this project's own settings would allow, and let them, until they change
    Trust {
        /// Do not ask
        #[arg(long)]
        yes: bool,
        /// Do not trust them any more
        #[arg(long, conflicts_with = "yes")]
        revoke: bool,
    },
    /// Run commands in a cage
    #[cfg(target_os = "linux")]
    Sandbox {
        #[command(subcommand)]
        command: SandboxCommand,
    },
    /// Tools for agents that speak MCP
    Mcp {
        #[command(subcommand)]
        command: McpCommand,
    },
    /// Say what this machine offers, and what is wrong
    Doctor,
    /// Print completions for a shell
    Completions { shell: clap_complete::Shell },
}

#[derive(Debug, Subcommand)]
pub enum PolicyCommand {
    /// Say what would become of a call: every rule looked at, the winner, its file and line
    Explain {
        /// The tool's name
        #[arg(long, value_name = "NAME")]
        tool: String,
        /// The input as JSON; `-` reads it from standard input
        #[arg(long, value_name = "JSON", default_value = "{}")]
        input: String,
    },
    /// Answer lines {"id","tool","input","rules","mode"} with decisions
    Check {
        /// Read lines of JSON from standard input
        #[arg(long, required = true)]
        jsonl: bool,
    },
    /// Run the unit tests of a policy; exits with 1 if one fails
    Test {
        /// JSON: {"settings": {…}, "tests": [{"name","tool","input","expect"}, …]}
        file: PathBuf,
    },
    /// Find rules that never decide anything, or more than they should
    Lint,
}

#[derive(Debug, Subcommand)]
pub enum McpCommand {
    /// Serve the tools of this project on standard input and output, or over HTTP
    Serve(McpServe),
    /// Add a server whose tools are ours from then on
    Add(McpAdd),
    /// Forget a server
    Remove {
        name: String,
        /// Where it was said: local, project or user; without it, wherever it is
        #[arg(long, value_name = "SCOPE")]
        scope: Option<ServerScope>,
    },
    /// Connect every server and say how it went
    List,
    /// Connect one server and show its tools
    Get { name: String },
    /// Fetch a server anew that a package runner brings, such as npx or uvx; without this it stays
    /// what it was when it was first fetched
    Fetch { name: String },
    /// Log in to a server behind an address, in a browser
    Login(McpLogin),
    /// Forget a login, and tell the server's authorisation server
    Logout { name: String },
    /// Look at a server of this project, and let it be started from then on
    Approve {
        name: String,
        /// Do not ask
        #[arg(long)]
        yes: bool,
    },
}

#[derive(Debug, Subcommand)]
pub enum ShellCommand {
    /// Say whether a script only reads, and why not; exits with 0 if it does, with 1 if not
    Check {
        /// The script; `-` reads it from standard input
        #[arg(required_unless_present = "jsonl")]
        script: Option<String>,
        /// Read lines {"id","command"} from standard input and answer each with a line
        #[arg(long, conflicts_with = "script")]
        jsonl: bool,
    },
    /// List all checks with their numbers
    Checks,
}

#[derive(Debug, Subcommand)]
pub enum AuditCommand {
    /// Find every line that was changed, removed, added or moved, and a log that was put back to
    /// an earlier state or removed; exits with 1 if there is one
    Verify {
        /// What `toolbay audit anchor` printed once, or a file with it: the log must still have
        /// that line
        #[arg(long, value_name = "FILE|TEXT")]
        anchor: Option<String>,
    },
    /// Print the end of the log as a line of JSON. Kept on another machine, it lets `verify` tell
    /// later whether the whole state folder was put back
    Anchor,
    /// Show records, oldest first
    Show(AuditShow),
}

/// Which records to show.
#[derive(Debug, ClapArgs)]
pub struct AuditShow {
    /// Only those of this session
    #[arg(long, value_name = "NAME")]
    pub session: Option<String>,
    /// Only those about this tool
    #[arg(long, value_name = "NAME")]
    pub tool: Option<String>,
    /// Only those about this call
    #[arg(long, value_name = "ID")]
    pub call: Option<String>,
    /// Only those of this kind, such as decision, call, refusal
    #[arg(long, value_name = "KIND")]
    pub kind: Option<String>,
    /// Only those with this decision: allow, ask or deny
    #[arg(long, value_name = "WORD")]
    pub decision: Option<String>,
    /// Only those from this time on: 2026-01-31, 2026-01-31T12:30:00Z, or 15m, 2h, 3d ago
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// Only those before this time
    #[arg(long, value_name = "TIME")]
    pub until: Option<String>,
    /// Only the last so many
    #[arg(long, value_name = "N")]
    pub last: Option<usize>,
}

#[cfg(target_os = "linux")]
#[derive(Debug, Subcommand)]
pub enum SandboxCommand {
    /// Run a command in the cage and exit as it does. Deny rules about paths hold, from settings and
    /// from --deny; other rules, modes and hooks are about calls of tools
    Run(SandboxRun),
}

#[cfg(target_os = "linux")]
#[derive(Debug, ClapArgs)]
pub struct SandboxRun {
    /// What the command may change
    #[arg(long, value_enum, default_value = "workspace", value_name = "PROFILE")]
    pub profile: SandboxProfile,
    /// A folder that it may write to; without any, the one it starts in
    #[arg(long = "root", value_name = "DIR")]
    pub roots: Vec<PathBuf>,
    /// A path that it must not change, whether it exists or not
    #[arg(long, value_name = "PATH")]
    pub protect: Vec<PathBuf>,
    /// A path that it must not read, beside keys and credentials
    #[arg(long, value_name = "PATH")]
    pub deny_read: Vec<PathBuf>,
    /// A host that it may reach, such as example.com, *.example.com or example.com:8443
    #[arg(long = "allow-host", value_name = "HOST")]
    pub allow_hosts: Vec<String>,
    /// A variable to pass on (NAME) or to set (NAME=VALUE)
    #[arg(long, value_name = "NAME[=VALUE]")]
    pub env: Vec<std::ffi::OsString>,
    /// End it after so many milliseconds
    #[arg(long, value_name = "MS")]
    pub timeout: Option<u64>,
    /// Take a weaker cage where no full one can be built
    #[arg(long)]
    pub degraded: bool,
    /// The command and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "COMMAND")]
    pub command: Vec<std::ffi::OsString>,
}

#[cfg(target_os = "linux")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum SandboxProfile {
    /// Nothing but a private folder for temporary files
    ReadOnly,
    /// The roots as well, except what is protected
    Workspace,
}
