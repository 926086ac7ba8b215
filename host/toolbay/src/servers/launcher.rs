//! Starts servers in cages: each has its own roots, hosts and variables.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, ReadBuf};
use tokio::sync::Mutex;
use toolbay_contract::{BoxFuture, RulesNow};
use toolbay_mcp::client::config::StdioConfig;
use toolbay_mcp::client::{Instance, Launched, Launcher};
use toolbay_sandbox::cage::{
    self, CageError, Command, Enclosure, Ended, GitAccess, Hosts, How, Limits, Profile, Programs,
    Streams,
};

use super::Working;
use super::fetched::{self, Package, Packages};
use crate::caged::{CageSetting, Extra, closed, enclose};
use crate::trust::ServerPin;

/// A server ends with its session; this is for one whose session does not.
const LIFE: Duration = Duration::from_secs(7 * 24 * 3600);

/// What a cage is built around.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Ground {
    roots: Vec<PathBuf>,
    allow_read: Vec<PathBuf>,
    package: Option<Package>,
}

/// Starts servers. A cage is looked for when the first one starts.
pub struct CagedServers {
    setting: CageSetting,
    cwd: PathBuf,
    packages: Packages,
    /// What is closed to a server is what these close when it starts.
    rules: RulesNow,
    /// What the project's servers ran when the user looked at them.
    pins: BTreeMap<String, Arc<ServerPin>>,
    enclosures: Arc<Mutex<HashMap<Ground, Enclosure>>>,
    working: Option<Working>,
}

impl CagedServers {
    pub fn new(setting: CageSetting, cwd: PathBuf, packages: Packages) -> Self {
        Self {
            setting,
            cwd,
            packages,
            rules: RulesNow::default(),
            pins: BTreeMap::new(),
            enclosures: Arc::default(),
            working: None,
        }
    }

    /// Tells of what takes a while.
    #[must_use]
    pub fn telling(mut self, working: Option<Working>) -> Self {
        self.working = working;
        self
    }

    /// Starts these servers only as long as they run what they ran when the user looked at them.
    #[must_use]
    pub fn pinned(mut self, pins: BTreeMap<String, Arc<ServerPin>>) -> Self {
        self.pins = pins;
        self
    }

    /// Closes to servers what these rules close to commands.
    #[must_use]
    pub fn ruled(mut self, rules: RulesNow) -> Self {
        self.rules = rules;
        self
    }

    fn ground(&self, config: &StdioConfig, package: Option<&Package>) -> Ground {
        let roots = config.sandbox.roots.clone();
        Ground {
            roots: roots.unwrap_or_else(|| self.setting.roots.clone()),
            allow_read: config.sandbox.allow_read.clone(),
            package: package.cloned(),
        }
    }

    /// The cage that a server runs in.
    async fn enclosure(&self, ground: Ground) -> Result<Enclosure, String> {
        let mut known = self.enclosures.lock().await;
        if let Some(enclosure) = known.get(&ground) {
            return Ok(enclosure.clone());
        }
        let enclosure = self.build(&ground, Vec::new()).await?;
        known.insert(ground, enclosure.clone());
        Ok(enclosure)
    }

    async fn build(&self, ground: &Ground, deny_read: Vec<PathBuf>) -> Result<Enclosure, String> {
        let mut setting = self.setting.clone();
        setting.roots = ground.roots.clone();
        setting.sandbox.allow_read.extend(ground.allow_read.clone());
        // What commands of the session may write to is not for strangers.
        setting.sandbox.allow_write.clear();
        let packages = self.packages.folder().to_path_buf();
        // Hidden from commands; a server must see its own part, and change no other.
        setting.own.retain(|path| !packages.starts_with(path));
        let extra = Extra {
            own: ground.package.iter().map(Package::files).collect(),
            protect: vec![packages],
            deny_read,
        };
        let built = tokio::task::spawn_blocking(move || enclose(&setting, extra)).await;
        built.map_err(|error| error.to_string())?
    }

    /// Closes what rules close to commands of the session, too, as the disk is now. The doorman holds
    /// it at each open, whatever is replaced or made while the server runs.
    async fn closing(&self, enclosure: Enclosure, ground: &Ground) -> Result<Enclosure, String> {
        let (rules, roots) = (self.rules.clone(), ground.roots.clone());
        let looking = tokio::task::spawn_blocking(move || {
            let closed = closed::by(&rules.get(), &roots)?;
            let closing = enclosure.closing(&closed);
            closing.map_err(|error| error.to_string())
        });
        looking.await.map_err(|error| error.to_string())?
    }

    /// The variables that every server sees.
    fn surroundings(&self, config: &StdioConfig) -> Vec<(OsString, OsString)> {
        let host = &self.setting.environment;
        let mut environment = cage::allowed(host.iter().cloned());
        let wanted = &config.sandbox.env;
        let named = |name: &OsString| wanted.iter().any(|wanted| name == wanted.as_str());
        environment.extend(host.iter().filter(|(name, _)| named(name)).cloned());
        environment
    }

    fn command(
        &self,
        config: &StdioConfig,
        instance: Instance,
        package: Option<&Package>,
    ) -> Result<Command, String> {
        let sandbox = &config.sandbox;
        let mut environment = self.surroundings(config);
        environment.extend(package.into_iter().flat_map(Package::variables));
        let folder = config.cwd.clone();
        let folder = folder.or_else(|| sandbox.roots.as_ref()?.first().cloned());
        let git = match sandbox.git_writes {
            true => GitAccess::Writes,
            false => GitAccess::ReadOnly,
        };
        let (profile, hosts) = match instance {
            Instance::Main => {
                let hosts = self.hosts("allowedHosts", &sandbox.allowed_hosts)?;
                (Profile::Workspace { git }, hosts)
            }
            Instance::ReadOnly => (Profile::ReadOnly, Hosts::default()),
        };
        if package.is_some() || hosts.is_empty() {
            let offline = fetched::OFFLINE.iter();
            environment.extend(offline.map(|(name, value)| (name.into(), value.into())));
        }
        let own = config.env.iter();
        environment.extend(own.map(|(name, value)| (name.into(), value.0.clone().into())));
        Ok(Command {
            arguments: arguments(config),
            folder: folder.unwrap_or_else(|| self.cwd.clone()),
            environment,
            profile,
            hosts,
            limits: Limits {
                time: LIFE,
                ..Limits::default()
            },
            programs: Programs::Any,
            streams: Streams::Apart,
        })
    }

    fn hosts(&self, key: &str, allowed: &[String]) -> Result<Hosts, String> {
        let allowed = allowed.iter().map(String::as_str);
        let denied = self.setting.sandbox.denied_hosts.iter();
        let hosts = Hosts::new(allowed, denied.map(String::as_str));
        hosts.map_err(|error| format!("`sandbox.{key}`: {error}"))
    }

    /// Fetches a server that is not here yet. What came of it is told if it does not start then.
    async fn fetch(
        &self,
        server: &str,
        config: &StdioConfig,
        package: &Package,
    ) -> Result<Option<String>, String> {
        let ground = self.ground(config, Some(package));
        let hidden = [ground.roots.as_slice(), self.setting.roots.as_slice()].concat();
        if let Some(root) = hidden.iter().find(|root| package.files().starts_with(root)) {
            return Err(format!(
                "it cannot be fetched here: that is done without sight of {}, in which {} lies; \
                 work in a folder below, or set XDG_DATA_HOME",
                root.display(),
                self.packages.folder().display()
            ));
        }
        let beginning = package.clone();
        let alone = tokio::task::spawn_blocking(move || beginning.begin()).await;
        let alone = alone.map_err(|error| error.to_string())?;
        let _alone = alone.map_err(|error| format!("{error:#}"))?;
        if package.is_fetched() {
            return Ok(None);
        }
        let without = Ground {
            roots: Vec::new(),
            ..ground
        };
        let enclosure = self.build(&without, hidden).await?;
        let enclosure = self.closing(enclosure, &without).await?;
        let mut environment = self.surroundings(config);
        let is_for_runners = |name: &OsString| {
            let name = name.to_str();
            name.is_some_and(fetched::is_for_runners)
        };
        let harmless = cage::allowed(environment.iter().cloned());
        environment.retain(|pair| harmless.contains(pair) || is_for_runners(&pair.0));
        environment.extend(package.variables());
        let own = config.env.iter();
        let own = own.map(|(name, value)| (name.into(), value.0.clone().into()));
        environment.extend(own.filter(|(name, _)| is_for_runners(name)));
        let command = Command {
            arguments: arguments(config),
            folder: package.files(),
            environment,
            profile: Profile::Workspace {
                git: GitAccess::ReadOnly,
            },
            hosts: self.hosts("fetchFrom", &config.sandbox.fetch_from)?,
            limits: Limits {
                time: fetched::TIME,
                ..Limits::default()
            },
            programs: Programs::Any,
            streams: Streams::Apart,
        };
        let label = format!("fetching the MCP server {server}");
        let _working = self.working.as_ref().map(|working| working(label));
        match fetched::fetch(&enclosure, &command).await {
            Ok(()) => {
                package.settle();
                Ok(None)
            }
            Err(why) => Ok(Some(why)),
        }
    }
}

impl Launcher for CagedServers {
    fn launch<'a>(
        &'a self,
        server: &'a str,
        config: &'a StdioConfig,
        instance: Instance,
    ) -> BoxFuture<'a, Result<Launched, String>> {
        Box::pin(async move {
            if let Some(pin) = self.pins.get(server).cloned() {
                let looking = tokio::task::spawn_blocking(move || pin.check());
                looking.await.map_err(|error| error.to_string())??;
            }
            let package = self.packages.of(config);
            let fetched = match &package {
                Some(package) if !package.is_fetched() => {
                    self.fetch(server, config, package).await?
                }
                _ => None,
            };
            let command = self.command(config, instance, package.as_ref())?;
            let ground = self.ground(config, package.as_ref());
            let enclosure = self.enclosure(ground.clone()).await?;
            let enclosure = self.closing(enclosure, &ground).await?;
            let opened = enclosure.open(&command).await;
            let talk = opened.map_err(|error| not_started(&error, &command))?;
            let mut life = talk.life;
            let heard = Arc::new(AtomicBool::new(false));
            let output = Heard {
                inner: talk.output,
                heard: heard.clone(),
                package: package.clone(),
            };
            let program = config.command.clone();
            Ok(Launched {
                input: Box::new(talk.input),
                output: Box::new(output),
                errors: Box::new(talk.errors),
                life: Box::pin(async move {
                    let mut text = match life.ended().await {
                        Ok(ended) => how(&ended, "it was ended after a week"),
                        Err(error) => not_started(&error, &command),
                    };
                    if !heard.load(Ordering::Acquire) {
                        text.push_str(&hint(&program, package.as_ref(), fetched));
                    }
                    text
                }),
            })
        })
    }
}

fn arguments(config: &StdioConfig) -> Vec<OsString> {
    let args = config.args.iter().map(OsString::from);
    std::iter::once(config.command.clone().into())
        .chain(args)
        .collect()
}

/// How a command ended.
pub(super) fn how(ended: &Ended, timed_out: &str) -> String {
    let mut text = match ended.how {
        How::Exit(code) => format!("it ended with the code {code}"),
        How::Signal(signal) => format!("a signal ended it: {signal}"),
        How::TimedOut => timed_out.into(),
        How::Flooded => "it was ended because it would not stop writing".into(),
        How::OutOfMemory => "it was ended because it used too much memory".into(),
        How::TooManyProcesses => "it was ended because it started too many processes".into(),
    };
    for refused in ended.refused.iter().take(3) {
        let refused = toolbay_contract::visible_line(refused);
        text.push_str(&format!("; the cage refused: {refused}"));
    }
    text
}

/// What may help a server that ended without a word.
fn hint(program: &str, package: Option<&Package>, fetched: Option<String>) -> String {
    match (package, fetched) {
        (Some(package), Some(why)) => {
            package.doubt();
            format!("; while it was fetched: {why}")
        }
        (Some(package), None) => {
            package.doubt();
            String::new()
        }
        (None, _) if fetched::is_runner(program) => format!(
            "; `{program}` fetches what it runs, and there is no host that this server may come \
             from: name your registry's with `--fetch-from` or `\"sandbox\": {{\"fetchFrom\": \
             [\"…\"]}}`"
        ),
        (None, _) => String::new(),
    }
}

/// Why a command does not start. One that is there for us and not in the cage is told so.
fn not_started(error: &CageError, command: &Command) -> String {
    let text = error.to_string();
    let (CageError::NotStarted(_), Some(program)) = (error, command.arguments.first()) else {
        return text;
    };
    let path = command.environment.iter().rfind(|(name, _)| name == "PATH");
    let folders: Vec<PathBuf> = match (Path::new(program).components().count(), path) {
        (1, Some((_, path))) => std::env::split_paths(path).collect(),
        _ => vec![command.folder.clone()],
    };
    let found = folders.iter().map(|folder| folder.join(program));
    match found.into_iter().find(|path| path.is_file()) {
        Some(path) => format!(
            "{text}; it is at {}, which the cage does not show: `--allow-read DIR` or `\"sandbox\": \
             {{\"allowRead\": [\"…\"]}}` with its folder, and that of what it needs, would",
            path.display()
        ),
        None => text,
    }
}

/// Notes whether a server ever said anything: then nothing of it is missing.
struct Heard<R> {
    inner: R,
    heard: Arc<AtomicBool>,
    package: Option<Package>,
}

impl<R: AsyncRead + Unpin> AsyncRead for Heard<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.inner).poll_read(context, buffer);
        if buffer.filled().len() > before && !self.heard.swap(true, Ordering::AcqRel) {
            let package = self.package.take();
            if let Some(package) = package.filter(|package| !package.is_fetched()) {
                package.settle();
            }
        }
        read
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use toolbay_mcp::client::config::{Hidden, ServerSandbox};
    use toolbay_sandbox::cage::Helper;

    use super::*;
    use crate::caged::Sandbox;

    fn launcher() -> CagedServers {
        let host = ["PATH", "AWS_SECRET", "WANTED", "LD_PRELOAD"];
        let setting = CageSetting {
            roots: vec!["/project".into()],
            home: None,
            own: Vec::new(),
            helper: Helper::ThisProgram,
            sandbox: Sandbox {
                allowed_hosts: vec!["session.example".into()],
                ..Sandbox::default()
            },
            move_after: None,
            environment: host.map(|name| (name.into(), "host".into())).into(),
        };
        CagedServers::new(
            setting,
            "/project/sub".into(),
            Packages::new("/data/servers".into()),
        )
    }

    fn config() -> StdioConfig {
        StdioConfig {
            command: "node".into(),
            args: vec!["a b".into()],
            env: BTreeMap::from([("OWN".to_owned(), Hidden("given".into()))]),
            cwd: None,
            sandbox: ServerSandbox {
                env: vec!["WANTED".into()],
                allowed_hosts: vec!["server.example".into()],
                ..ServerSandbox::default()
            },
        }
    }

    #[test]
    fn a_server_sees_the_variables_that_it_was_given() {
        let command = launcher().command(&config(), Instance::Main, None).unwrap();
        let pair = |name: &str, value: &str| (OsString::from(name), OsString::from(value));
        let wanted = [
            pair("PATH", "host"),
            pair("WANTED", "host"),
            pair("OWN", "given"),
        ];
        assert_eq!(command.environment, wanted);
        assert_eq!(command.arguments, ["node", "a b"]);
        assert_eq!(command.folder, PathBuf::from("/project/sub"));
    }

    #[test]
    fn one_that_reads_has_no_hosts_and_none_has_those_of_the_session() {
        let launcher = launcher();
        let main = launcher.command(&config(), Instance::Main, None).unwrap();
        assert!(!main.hosts.is_empty());
        assert_eq!(
            main.profile,
            Profile::Workspace {
                git: GitAccess::ReadOnly
            }
        );
        let reading = launcher
            .command(&config(), Instance::ReadOnly, None)
            .unwrap();
        assert!(reading.hosts.is_empty());
        assert_eq!(reading.profile, Profile::ReadOnly);
        let mut none = config();
        none.sandbox.allowed_hosts.clear();
        assert!(
            launcher
                .command(&none, Instance::Main, None)
                .unwrap()
                .hosts
                .is_empty()
        );
        none.sandbox.allowed_hosts.push("no host".into());
        assert!(launcher.command(&none, Instance::Main, None).is_err());
    }
}
