//! `toolbay doctor`: what this machine offers, and what is wrong.

use std::process::ExitCode;

use serde_json::json;
use toolbay::runtime::{Runtime, RuntimeOptions};

use super::{CALL_FAILED, print_json, print_line};
use crate::args::Common;
use crate::options::{origins, working_directory};
use crate::places;
use crate::style::Style;
use crate::view::harmless_line;
use toolbay::PLUGINS;
use toolbay::Places;

/// One thing that was looked at.
struct Check {
    name: &'static str,
    state: State,
    detail: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Good,
    /// Missing, but everything else works without it.
    Absent,
    Bad,
}

pub(super) async fn run(common: Common) -> anyhow::Result<ExitCode> {
    let checks = checks(&common);
    let sick = checks.iter().any(|check| check.state == State::Bad);
    if common.json {
        let all: Vec<_> = checks
            .iter()
            .map(|check| {
                let state = match check.state {
                    State::Good => "good",
                    State::Absent => "absent",
                    State::Bad => "bad",
                };
                json!({"name": check.name, "state": state, "detail": check.detail})
            })
            .collect();
        print_json(&json!({ "checks": all, "healthy": !sick }))?;
    } else {
        let style = Style::for_output();
        for check in &checks {
            let mark = match check.state {
                State::Good => style.good("✓"),
                State::Absent => style.dim("–"),
                State::Bad => style.bad("✗"),
            };
            let detail = harmless_line(&check.detail);
            print_line(&format!("{mark} {:<18} {detail}", check.name))?;
        }
    }
    Ok(if sick {
        ExitCode::from(CALL_FAILED)
    } else {
        ExitCode::SUCCESS
    })
}

fn checks(common: &Common) -> Vec<Check> {
    let mut all = vec![Check {
        name: "program",
        state: State::Good,
        detail: format!(
            "toolbay {} with {} built-in plugins",
            env!("CARGO_PKG_VERSION"),
            PLUGINS.len()
        ),
    }];
    let places = places::from_environment();
    match &places {
        Ok(places) => all.push(engine(places)),
        Err(error) => all.push(bad("folders", format!("{error:#}"))),
    }
    if let Ok(places) = &places {
        all.push(settings(common, places));
    }
    for ability in toolbay::sandbox::probe() {
        all.push(Check {
            name: ability.name,
            state: if ability.available {
                State::Good
            } else {
                State::Absent
            },
            detail: ability.detail,
        });
    }
    #[cfg(target_os = "linux")]
    all.extend(cages());
    all
}

/// Each kind of cage, tried out.
#[cfg(target_os = "linux")]
fn cages() -> Vec<Check> {
    use toolbay::sandbox::cage::{Demands, Kind, offers};

    let demands = Demands {
        search_path: crate::places::search_path(),
        ..Demands::default()
    };
    offers(&demands)
        .into_iter()
        .map(|offer| {
            let (state, detail) = match offer.cage {
                Ok(cage) if cage.lacks().is_empty() => (State::Good, "can be built".into()),
                Ok(cage) => (
                    State::Good,
                    format!("can be built, but {}", cage.lacks().join("; ")),
                ),
                Err(reason) => (State::Absent, reason),
            };
            Check {
                name: match offer.kind {
                    Kind::Namespaces => "cage",
                    Kind::Bubblewrap => "cage-bubblewrap",
                    Kind::Degraded => "cage-degraded",
                },
                state,
                detail,
            }
        })
        .collect()
}

fn engine(places: &Places) -> Check {
    let runtime = Runtime::new(RuntimeOptions {
        cache: Some((places.cache.join("compiled"), places.state.clone())),
        ..RuntimeOptions::default()
    });
    match runtime {
        Err(error) => bad("engine", error.to_string()),
        Ok(runtime) => {
            let cache = runtime.cache().map(|cache| {
                let (files, bytes) = cache.usage();
                format!(
                    "; {files} compiled components ({} KiB) in {}",
                    bytes / 1024,
                    cache.folder().display()
                )
            });
            Check {
                name: "engine",
                state: State::Good,
                detail: format!(
                    "{} slots free{}",
                    runtime.free_slots(),
                    cache.unwrap_or_default()
                ),
            }
        }
    }
}

fn settings(common: &Common, places: &Places) -> Check {
    let loaded = working_directory(common).and_then(|cwd| origins(common, &cwd, places).load());
    match loaded {
        Err(error) => bad("settings", format!("{error:#}")),
        Ok(settings) if !settings.lost_directories.is_empty() => {
            bad("settings", settings.lost_directories.join("; "))
        }
        Ok(settings) if settings.sources.is_empty() => Check {
            name: "settings",
            state: State::Absent,
            detail: "no settings file; the defaults hold".into(),
        },
        Ok(settings) => {
            let files: Vec<String> = settings
                .sources
                .iter()
                .map(|file| file.display().to_string())
                .collect();
            Check {
                name: "settings",
                state: State::Good,
                detail: files.join(", "),
            }
        }
    }
}

fn bad(name: &'static str, detail: String) -> Check {
    Check {
        name,
        state: State::Bad,
        detail,
    }
}
