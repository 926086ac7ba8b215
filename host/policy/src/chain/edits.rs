//! What counts as an edit that a person may wave through.

use std::path::Path;

use crate::claims::Subject;
use crate::decide::{Policy, Request};

/// Files and folders whose content other programs run or obey. To change one of them is more
/// than an edit, so that it is still asked about; a rule may allow it.
const OBEYED: &[&str] = &[
    ".git",
    ".hg",
    ".svn",
    ".gitconfig",
    ".gitmodules",
    ".husky",
    ".vscode",
    ".idea",
    ".devcontainer",
    ".claude",
    ".mcp.json",
    ".envrc",
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".ssh",
    ".profile",
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
];

/// Whether the call changes files that it names, inside the roots, and can do nothing beside
/// that. A tool that can start commands, tasks or agents could do anything under the name of an
/// edit.
pub(super) fn is_edit(policy: &Policy, request: &Request) -> bool {
    let reach = &request.reach;
    let is_file = |subject: &Subject| match subject {
        Subject::Path(path) => policy.is_inside(path) && !is_obeyed(path),
        Subject::Command(_) | Subject::Url(_) | Subject::Text(_) => false,
    };
    let could_do_more = reach.shell || reach.tasks || reach.agents;
    let names_files = request.subjects.iter().all(is_file) && !request.subjects.is_empty();
    names_files && !could_do_more
}

fn is_obeyed(path: &Path) -> bool {
    // Some file systems do not tell case apart.
    path.components().any(|part| {
        let name = part.as_os_str().to_string_lossy().to_ascii_lowercase();
        OBEYED.contains(&name.as_str())
    })
}
