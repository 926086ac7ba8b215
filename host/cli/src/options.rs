//! From the command line to what a session is made from.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use toolbay::Places;
use toolbay::compose::BayOptions;
use toolbay::sandbox::cage::Helper;
use toolbay::settings::{CommandLine, Origins};

use crate::args::Common;
use crate::places;

/// The folder to work in, real.
pub fn working_directory(common: &Common) -> anyhow::Result<PathBuf> {
    let given = match &common.cwd {
        Some(path) => path.clone(),
        None => std::env::current_dir().context("the current folder is gone")?,
    };
    let real = given
        .canonicalize()
        .with_context(|| format!("--cwd {}", given.display()))?;
    if !real.is_dir() {
        bail!("{} is not a folder", given.display());
    }
    Ok(real)
}

/// What settings are made from.
pub fn origins(common: &Common, cwd: &Path, places: &Places) -> Origins {
    Origins {
        cwd: cwd.to_path_buf(),
        places: places.clone(),
        process: places::this_process(),
        given: CommandLine {
            allow: common.allow.clone(),
            ask: common.ask.clone(),
            deny: common.deny.clone(),
            grant: common.grant.clone(),
            mode: common.permission_mode,
            settings: common.settings.clone(),
            project_hooks: common.project_hooks,
            trust_project: common.trust_project,
        },
    }
}

/// What every session of this program is made from.
pub fn options(common: &Common, origins: Origins) -> BayOptions {
    BayOptions {
        origins,
        add_dirs: common.add_dirs.clone(),
        plugins: common.plugins.clone(),
        mcp_config: common.mcp_config.clone(),
        simple: common.simple,
        helper: Helper::ThisProgram,
    }
}
