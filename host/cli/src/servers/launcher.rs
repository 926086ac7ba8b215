//! Starts servers in cages: each has its own roots, hosts and variables.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Mutex;
use toolbay_contract::BoxFuture;
use toolbay_mcp::client::config::StdioConfig;
use toolbay_mcp::client::{Instance, Launched, Launcher};
use toolbay_sandbox::cage::{
    self, Command, Enclosure, Ended, GitAccess, Hosts, How, Limits, Profile, Streams,
};

use crate::caged::{CageSetting, enclose};

/// A server ends with its session; this is for one whose session does not.
const LIFE: Duration = Duration::from_secs(7 * 24 * 3600);

/// What a cage is built around.
type Ground = (Vec<PathBuf>, Vec<PathBuf>);

/// Starts servers. A cage is looked for when the first one starts.
pub struct CagedServers {
    setting: CageSetting,
    cwd: PathBuf,
    enclosures: Arc<Mutex<HashMap<Ground, Enclosure>>>,
}

impl CagedServers {
    pub fn new(setting: CageSetting, cwd: PathBuf) -> Self {
        Self {
            setting,
            cwd,
            enclosures: Arc::default(),
        }
    }

    async fn enclosure(&self, config: &StdioConfig) -> Result<Enclosure, String> {
        let sandbox = &config.sandbox;
        let roots = sandbox.roots.clone();
        let roots = roots.unwrap_or_else(|| self.setting.roots.clone());
        let ground = (roots, sandbox.allow_read.clone());
        let mut known = self.enclosures.lock().await;
        if let Some(enclosure) = known.get(&ground) {
            return Ok(enclosure.clone());
        }
        let mut setting = self.setting.clone();
        setting.roots = ground.0.clone();
        setting.sandbox.allow_read.extend(ground.1.iter().cloned());
        // What commands of the session may write to is not for strangers.
        setting.sandbox.allow_write.clear();
        let built = tokio::task::spawn_blocking(move || enclose(&setting)).await;
        let enclosure = built.map_err(|error| error.to_string())??;
        known.insert(ground, enclosure.clone());
        Ok(enclosure)
    }

    fn command(&self, config: &StdioConfig, instance: Instance) -> Result<Command, String> {
        let sandbox = &config.sandbox;
        let host = &self.setting.environment;
        let mut environment = cage::allowed(host.iter().cloned());
        let named = |name: &OsString| sandbox.env.iter().any(|wanted| name == wanted.as_str());
        environment.extend(host.iter().filter(|(name, _)| named(name)).cloned());
        let own = config.env.iter();
        environment.extend(own.map(|(name, value)| (name.into(), value.0.clone().into())));
        let mut arguments: Vec<OsString> = vec![config.command.clone().into()];
        arguments.extend(config.args.iter().map(OsString::from));
        let folder = config.cwd.clone();
        let folder = folder.or_else(|| sandbox.roots.as_ref()?.first().cloned());
        let git = match sandbox.git_writes {
            true => GitAccess::Writes,
            false => GitAccess::ReadOnly,
        };
        let (profile, hosts) = match instance {
            Instance::Main => {
                let allowed = sandbox.allowed_hosts.iter().map(String::as_str);
                let denied = self.setting.sandbox.denied_hosts.iter();
                let hosts = Hosts::new(allowed, denied.map(String::as_str));
                let hosts = hosts.map_err(|error| format!("`sandbox.allowedHosts`: {error}"))?;
                (Profile::Workspace { git }, hosts)
            }
            Instance::ReadOnly => (Profile::ReadOnly, Hosts::default()),
        };
        Ok(Command {
            arguments,
            folder: folder.unwrap_or_else(|| self.cwd.clone()),
            environment,
            profile,
            hosts,
            limits: Limits {
                time: LIFE,
                ..Limits::default()
            },
            streams: Streams::Apart,
        })
    }
}

impl Launcher for CagedServers {
    fn launch<'a>(
        &'a self,
        _server: &'a str,
        config: &'a StdioConfig,
        instance: Instance,
    ) -> BoxFuture<'a, Result<Launched, String>> {
        Box::pin(async move {
            let command = self.command(config, instance)?;
            let enclosure = self.enclosure(config).await?;
            let opened = enclosure.open(&command).await;
            let talk = opened.map_err(|error| error.to_string())?;
            let mut life = talk.life;
            Ok(Launched {
                input: Box::new(talk.input),
                output: Box::new(talk.output),
                errors: Box::new(talk.errors),
                life: Box::pin(async move {
                    match life.ended().await {
                        Ok(ended) => how(&ended),
                        Err(error) => error.to_string(),
                    }
                }),
            })
        })
    }
}

fn how(ended: &Ended) -> String {
    let mut text = match ended.how {
        How::Exit(code) => format!("it ended with the code {code}"),
        How::Signal(signal) => format!("a signal ended it: {signal}"),
        How::TimedOut => "it was ended after a week".into(),
        How::Flooded => "it was ended because it would not stop writing".into(),
        How::OutOfMemory => "it was ended because it used too much memory".into(),
        How::TooManyProcesses => "it was ended because it started too many processes".into(),
    };
    for refused in ended.refused.iter().take(3) {
        text.push_str(&format!("; the cage refused: {refused}"));
    }
    text
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
        CagedServers::new(setting, "/project/sub".into())
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
        let command = launcher().command(&config(), Instance::Main).unwrap();
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
        let main = launcher.command(&config(), Instance::Main).unwrap();
        assert!(!main.hosts.is_empty());
        assert_eq!(
            main.profile,
            Profile::Workspace {
                git: GitAccess::ReadOnly
            }
        );
        let reading = launcher.command(&config(), Instance::ReadOnly).unwrap();
        assert!(reading.hosts.is_empty());
        assert_eq!(reading.profile, Profile::ReadOnly);
        let mut none = config();
        none.sandbox.allowed_hosts.clear();
        assert!(
            launcher
                .command(&none, Instance::Main)
                .unwrap()
                .hosts
                .is_empty()
        );
        none.sandbox.allowed_hosts.push("no host".into());
        assert!(launcher.command(&none, Instance::Main).is_err());
    }
}
