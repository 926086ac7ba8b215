//! `toolbay tour`: a scripted turn through the real executor, on a folder made
//! for it and removed afterwards.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context;
use serde_json::json;
use toolbay::agent::run_turn;
use toolbay::contract::{AuditEvent, KillSwitch, View};
use toolbay::dispatch::ToolResult;

use super::{open_with, print_json, print_line, wishes};
use crate::args::Common;
use crate::style::Style;
use crate::tour::{SCRIPT, Step, project};
use crate::view::{draw, harmless};
use toolbay::compose::{Bay, Wishes};
use toolbay::session_file;

pub(super) async fn run(common: Common) -> anyhow::Result<ExitCode> {
    let started = Instant::now();
    let folder = Folder::make()?;
    project::write(&folder.path)?;
    let given = Common {
        json: common.json,
        cwd: Some(folder.path.clone()),
        deny: project::DENY.map(str::to_owned).to_vec(),
        allow: project::ALLOW.map(str::to_owned).to_vec(),
        plugins: Vec::new(),
        ..Common::default()
    };
    let kill = KillSwitch::new();
    let bay = open_with(
        given,
        session_file::fresh()?,
        kill.clone(),
        Wishes {
            demos: true,
            needs_cage: true,
            session_folder: Some(folder.session()),
            ..wishes()
        },
    )
    .await?;

    let show = Show {
        json: common.json,
        style: Style::for_output(),
        root: folder.path.display().to_string(),
        session: folder.session().display().to_string(),
    };
    show.opening(&bay, started.elapsed())?;
    for step in SCRIPT {
        let before = Instant::now();
        let blocks = step.blocks(&folder.path);
        let inputs: Vec<Arc<str>> = blocks
            .iter()
            .map(|block| block.input.to_string().into())
            .collect();
        let results = run_turn(&bay.dispatch, blocks, &kill).await;
        let took = before.elapsed();
        let events = bay.events.take();
        show.step(&bay, step, &inputs, &results, &events, took)
            .await?;
    }
    let changed = project::changes(&folder.path)?;
    show.ending(&changed, started.elapsed())?;
    Ok(ExitCode::SUCCESS)
}

/// How the tour is shown.
struct Show {
    json: bool,
    style: Style,
    root: String,
    session: String,
}

impl Show {
    fn opening(&self, bay: &Bay, took: Duration) -> anyhow::Result<()> {
        let names = bay.dispatch.pool().names();
        if self.json {
            return print_json(
                &json!({"step": "start", "tools": names, "took_ms": took.as_secs_f64() * 1e3}),
            );
        }
        let style = self.style;
        print_line(&style.bold("Toolbay: tools that need not be trusted"))?;
        print_line(&format!(
            "{} tools, each a WebAssembly component: {}",
            names.len(),
            names.join(", ")
        ))?;
        print_line(&style.dim(&format!(
            "listed in {} without compiling one; a first use compiles, once for this machine",
            milliseconds(took)
        )))
    }

    async fn step(
        &self,
        bay: &Bay,
        step: &Step,
        inputs: &[Arc<str>],
        results: &[ToolResult],
        events: &[AuditEvent],
        took: Duration,
    ) -> anyhow::Result<()> {
        if self.json {
            let blocks: Vec<_> = results.iter().map(ToolResult::to_block).collect();
            return print_json(&json!({
                "step": step.title, "results": blocks, "audit": events,
                "took_ms": took.as_secs_f64() * 1e3,
            }));
        }
        let style = self.style;
        print_line(&format!("\n{}", style.bold(step.title)))?;
        print_line(&style.dim(step.about))?;
        for (result, input) in results.iter().zip(inputs) {
            let call = match bay.dispatch.pool().find(&result.tool) {
                Some(found) => match found.tool.render_use(input).await {
                    // The diff comes with the result.
                    View::Diff(_) => result.tool.clone(),
                    view @ (View::Plain(_) | View::Markdown(_) | View::Rows(_)) => {
                        draw(&view, Style::PLAIN)
                    }
                },
                None => result.tool.clone(),
            };
            let mark = if result.is_error {
                style.bad("✗")
            } else {
                style.good("✓")
            };
            let call = call.lines().next().unwrap_or_default().to_owned();
            print_line(&format!("{mark} {}", style.note(&self.local(&call))))?;
            let text = self.picture(bay, result, input).await;
            print_line(&self.cut(&self.local(&text), step.shown_lines))?;
        }
        let refused = events.iter().filter_map(|event| match event {
            AuditEvent::PowerRefused { power, detail, .. } => Some((power, detail)),
            AuditEvent::Ended { .. }
            | AuditEvent::ModifierDropped { .. }
            | AuditEvent::Decided(_)
            | AuditEvent::Called(_) => None,
        });
        for (power, detail) in refused {
            print_line(&format!(
                "  {} {} ({})",
                style.warn("audit: refused"),
                harmless(power),
                harmless(detail)
            ))?;
        }
        print_line(&style.dim(&format!("  {}", milliseconds(took))))
    }

    /// The result as a person would like to see it: a diff if there is one.
    async fn picture(&self, bay: &Bay, result: &ToolResult, input: &Arc<str>) -> String {
        if let (Some(outcome), Some(found)) =
            (&result.outcome, bay.dispatch.pool().find(&result.tool))
            && let view @ View::Diff(_) = found.tool.render_result(input, outcome).await
        {
            return draw(&view, self.style);
        }
        harmless(&result.text())
    }

    /// Paths of the tour's folders, shortened; also where a rule anchors one at `//`.
    fn local(&self, text: &str) -> String {
        let root = &self.root;
        let text = text.replace(&self.session, "session");
        text.replace(&format!("/{root}/"), "./")
            .replace(&format!("{root}/"), "")
            .replace(root, ".")
    }

    fn cut(&self, text: &str, most: usize) -> String {
        let lines: Vec<&str> = text.trim_end().lines().collect();
        let mut shown: Vec<String> = lines
            .iter()
            .take(most)
            .map(|line| {
                let short: String = line.chars().take(140).collect();
                format!("    {short}")
            })
            .collect();
        if lines.len() > most {
            let more = format!("    … {} lines more", lines.len() - most);
            shown.push(self.style.dim(&more));
        }
        shown.join("\n")
    }

    fn ending(&self, changed: &[String], took: Duration) -> anyhow::Result<()> {
        if self.json {
            return print_json(
                &json!({"step": "end", "changed": changed, "took_ms": took.as_secs_f64() * 1e3}),
            );
        }
        let style = self.style;
        print_line(&format!(
            "\n{} changed on disk: {}. {}",
            style.bold("In the end"),
            changed.join(", "),
            style.dim(&format!("The tour took {}.", milliseconds(took)))
        ))
    }
}

fn milliseconds(took: Duration) -> String {
    format!("{:.1} ms", took.as_secs_f64() * 1e3)
}

/// A folder that is removed when the tour ends.
struct Folder {
    base: PathBuf,
    /// The project that the tools work on.
    path: PathBuf,
}

impl Folder {
    fn make() -> anyhow::Result<Self> {
        let mut random = [0; 8];
        getrandom::fill(&mut random).map_err(|error| anyhow::anyhow!("{error}"))?;
        let base = std::env::temp_dir();
        let base = base.join(format!("toolbay-tour-{:016x}", u64::from_le_bytes(random)));
        let path = base.join("project");
        std::fs::create_dir_all(&path).with_context(|| path.display().to_string())?;
        let path = path.canonicalize()?;
        Ok(Self { base, path })
    }

    /// Where results go that are too long.
    fn session(&self) -> PathBuf {
        self.base.join("session")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        remove(&self.base);
    }
}

fn remove(path: &Path) {
    if let Err(error) = std::fs::remove_dir_all(path) {
        eprintln!("{} could not be removed: {error}", path.display());
    }
}
