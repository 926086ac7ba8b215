//! The command line.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Parser, Subcommand};

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
    },
    /// Say what a component is and what it could do at most
    Inspect { file: PathBuf },
    /// What does this bash text do? The validator on its own
    Shell {
        #[command(subcommand)]
        command: ShellCommand,
    },
    /// Run commands in a cage
    #[cfg(target_os = "linux")]
    Sandbox {
        #[command(subcommand)]
        command: SandboxCommand,
    },
    /// Say what this machine offers, and what is wrong
    Doctor,
    /// Print completions for a shell
    Completions { shell: clap_complete::Shell },
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

#[cfg(target_os = "linux")]
#[derive(Debug, Subcommand)]
pub enum SandboxCommand {
    /// Run a command in the cage and exit as it does
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
