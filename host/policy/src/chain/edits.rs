//! What counts as an edit that a mode may let through.

use crate::claims::Subject;
use crate::decide::{Policy, Request};

/// Whether the call changes files that it names, inside the roots, and can do nothing beside
/// that. A tool that can start commands, tasks or agents could do anything under the name of an
/// edit, and a protected name is more than an edit.
pub(super) fn is_edit(policy: &Policy, request: &Request) -> bool {
    let reach = &request.reach;
    let is_file = |subject: &Subject| match subject {
        Subject::Path(path) | Subject::Folder(path) => {
            policy.is_inside(path) && policy.protected_part(path).is_none()
        }
        Subject::Command(_) | Subject::Url(_) | Subject::Text(_) => false,
    };
    let mut aliases = request.aliases.iter();
    let is_another_name = aliases.any(|alias| policy.protected_part(alias).is_some());
    let could_do_more = reach.shell || reach.tasks || reach.agents;
    let names_files = request.subjects.iter().all(is_file) && !request.subjects.is_empty();
    names_files && !is_another_name && !could_do_more
}
