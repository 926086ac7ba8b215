//! `toolbay policy explain|check|test|lint`: the rules on their own, without running anything.

mod explain;

use std::collections::HashMap;
use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;
use serde_json::{Value, json};
use toolbay::contract::Tool;
use toolbay::dispatch::{links_on_disk, path_subject, real_path};
use toolbay::policy::{
    Checker, Claims, KnownTool, Lint, Policy, Reach, SubjectKind, TestFile, lint,
};
use toolbay::runtime::Runtime;

use super::call::read_input;
use super::{CALL_FAILED, COMMAND_FAILED, print_json, print_line};
use crate::args::{Common, PolicyCommand};
use crate::options::{options, origins};
use crate::places;
use crate::style::Style;
use crate::view::harmless_line;
use toolbay::compiler::runtime_options;
use toolbay::compose::{PluginStart, open_tools};
use toolbay::settings::{Settings, own_files};

/// Tests are written by hand.
const LONGEST_TESTS: u64 = 16 << 20;

/// What decisions are made from.
struct Desk {
    settings: Settings,
    policy: Policy,
    anchors: toolbay::policy::Anchors,
    tools: HashMap<String, Arc<dyn Tool>>,
}

pub(super) async fn run(common: Common, command: PolicyCommand) -> anyhow::Result<ExitCode> {
    let desk = Desk::open(&common).await?;
    match command {
        PolicyCommand::Explain { tool, input } => desk.explain(common.json, &tool, &input),
        PolicyCommand::Check { .. } => desk.check_lines(),
        PolicyCommand::Test { file } => desk.test(common.json, &file),
        PolicyCommand::Lint => desk.lint(common.json),
    }
}

impl Desk {
    /// Settings as a session here would have them. The folder need not exist: nothing is run.
    async fn open(common: &Common) -> anyhow::Result<Self> {
        let absolute = |path: &Path| {
            let path = std::path::absolute(path);
            path.map(|path| path.canonicalize().unwrap_or(path))
        };
        let here = PathBuf::from(".");
        let cwd = absolute(common.cwd.as_ref().unwrap_or(&here)).context("--cwd")?;
        let places = places::from_environment()?;
        let origins = origins(common, &cwd, &places);
        let options = options(common, origins.clone());
        let settings = origins.load()?;
        let more = options
            .add_dirs
            .iter()
            .chain(&settings.additional_directories);
        let more = more.map(|folder| real_path(&cwd.join(folder)));
        let roots = std::iter::once(cwd.clone()).chain(more).collect();
        let policy = settings.session_policy(roots, own_files(&places), places.home.as_deref());
        let policy = policy.with_links(links_on_disk());
        let runtime = Runtime::new(runtime_options(&places, &options.helper, None))?;
        let mut problems = settings.problems.clone();
        let tools = open_tools(
            &runtime,
            &options,
            &settings,
            false,
            PluginStart::Compiling,
            &mut problems,
        )
        .await?;
        let style = Style::for_errors();
        for problem in problems {
            eprintln!("{} {}", style.warn("warning:"), harmless_line(&problem));
        }
        let mut named = HashMap::new();
        for tool in tools {
            let info = tool.info();
            for name in std::iter::once(&info.name).chain(&info.aliases) {
                named.entry(name.clone()).or_insert_with(|| tool.clone());
            }
        }
        Ok(Self {
            settings,
            policy,
            anchors: origins.anchors(),
            tools: named,
        })
    }

    /// What a tool says about an input. One that is not installed is judged by its input alone.
    fn known(&self, tool: &str, input: &Value) -> Option<KnownTool> {
        let tool = self.tools.get(tool)?;
        let input: Arc<str> = input.to_string().into();
        let (claims, reach) = tokio::task::block_in_place(|| {
            tokio::runtime::Handle::current()
                .block_on(async { (tool.claims(&input).await, tool.reach().await) })
        });
        let subjects = tool.info().subjects.iter();
        Some(KnownTool {
            subjects: subjects.map(|at| (at.kind, at.pointer.clone())).collect(),
            claims: claims.unwrap_or(Claims::STRICT),
            reach: reach.unwrap_or(Reach::ALL),
        })
    }

    fn with_checker<T>(&self, work: impl FnOnce(&Checker<'_>) -> T) -> T {
        let known = |tool: &str, input: &Value| self.known(tool, input);
        let checker = Checker::new(self.policy.clone(), self.anchors.clone(), &known);
        work(&checker.with_paths(&path_subject))
    }

    fn explain(&self, json: bool, tool: &str, input: &str) -> anyhow::Result<ExitCode> {
        let input = read_input(input)?;
        let request = self.with_checker(|checker| checker.request(&self.policy, tool, &input));
        let explanation = self.policy.explain(&request);
        if json {
            let mut value = serde_json::to_value(&explanation)?;
            value["tool"] = tool.into();
            value["mode"] = self.policy.mode().word().into();
            value["ignored"] = explain::ignored(&self.policy);
            value["hooks_not_run"] = self.settings.hooks.count().into();
            print_json(&value)?;
        } else {
            explain::print(&explanation, &self.policy, tool)?;
            match self.settings.hooks.count() {
                0 => {}
                1 => print_line(
                    "1 hook is configured; it is not run here, and may decide otherwise",
                )?,
                some => print_line(&format!(
                    "{some} hooks are configured; none is run here, and each may decide otherwise"
                ))?,
            }
        }
        Ok(ExitCode::SUCCESS)
    }

    fn check_lines(&self) -> anyhow::Result<ExitCode> {
        let mut out = std::io::BufWriter::new(std::io::stdout().lock());
        let mut bad = 0;
        self.with_checker(|checker| -> anyhow::Result<()> {
            for (at, line) in std::io::stdin().lock().lines().enumerate() {
                let line = line.context("standard input")?;
                if line.trim().is_empty() {
                    continue;
                }
                match checker.check(&line) {
                    Ok(answer) => writeln!(out, "{}", serde_json::to_string(&answer)?)?,
                    Err(error) => {
                        bad += 1;
                        let id = serde_json::from_str::<Value>(&line)
                            .map_or(Value::Null, |value| value["id"].clone());
                        let told = json!({"id": id, "line": at + 1, "error": error.to_string()});
                        writeln!(out, "{told}")?;
                    }
                }
                // Whoever asks line by line waits for each answer.
                out.flush()?;
            }
            Ok(())
        })?;
        Ok(match bad {
            0 => ExitCode::SUCCESS,
            _ => ExitCode::from(COMMAND_FAILED),
        })
    }

    fn test(&self, json: bool, file: &Path) -> anyhow::Result<ExitCode> {
        let about = || file.display().to_string();
        let text =
            toolbay::contract::regular_file::read_text(file, LONGEST_TESTS).with_context(about)?;
        let tests: TestFile = serde_json::from_str(&text).with_context(about)?;
        let outcomes = self.with_checker(|checker| tests.run(checker));
        let outcomes = outcomes.with_context(about)?;
        let failed = outcomes.iter().filter(|outcome| !outcome.passed).count();
        if json {
            print_json(&json!({
                "passed": outcomes.len() - failed, "failed": failed, "tests": outcomes,
            }))?;
        } else {
            let style = Style::for_output();
            for outcome in &outcomes {
                let name = harmless_line(&outcome.name);
                match &outcome.problem {
                    None => print_line(&format!("{} {name}", style.good("✓")))?,
                    Some(problem) => {
                        let problem = harmless_line(problem);
                        print_line(&format!("{} {name}: {problem}", style.bad("✗")))?;
                    }
                }
            }
            print_line(&format!(
                "{} passed, {failed} failed",
                outcomes.len() - failed
            ))?;
        }
        // A file without tests proves nothing.
        Ok(match failed == 0 && !outcomes.is_empty() {
            true => ExitCode::SUCCESS,
            false => ExitCode::from(CALL_FAILED),
        })
    }

    fn lint(&self, json: bool) -> anyhow::Result<ExitCode> {
        let kind_of = |name: &str| -> Option<SubjectKind> {
            Some(self.tools.get(name)?.info().subjects.first()?.kind)
        };
        let mut found = lint(&self.settings.rules, &kind_of);
        for (effect, rule, why) in &self.settings.misread_rules {
            found.push(Lint::misplaced(
                *effect,
                rule,
                format!("counts elsewhere: {why}"),
            ));
        }
        if json {
            print_json(&json!({ "findings": found, "ignored": explain::ignored(&self.policy) }))?;
        } else {
            let style = Style::for_output();
            for ignored in self.policy.ignored() {
                let ignored = harmless_line(&ignored.to_string());
                print_line(&format!("{} {ignored}", style.warn("!")))?;
            }
            for finding in &found {
                let finding = harmless_line(&finding.to_string());
                print_line(&format!("{} {finding}", style.warn("!")))?;
            }
            let rules = &self.settings.rules;
            let count = rules.allow.len() + rules.ask.len() + rules.deny.len();
            let files = self.settings.sources.len();
            print_line(&style.dim(&format!(
                "{count} rules of {files} files and the command line, {} findings",
                found.len() + self.policy.ignored().len()
            )))?;
        }
        Ok(match found.is_empty() {
            true => ExitCode::SUCCESS,
            false => ExitCode::from(CALL_FAILED),
        })
    }
}
