//! Carries a plan out: what is too large goes into files, and words take its place.

use std::collections::HashMap;

use toolbay_contract::Content;

use super::blocks::text_without;
use super::decision::{Decision, assemble};
use super::error::StoreError;
use super::folder::Folder;
use super::names::FileName;
use super::plan::Plan;
use super::wording;

/// Saves what the plan names. One failure is a failure of all: a result is kept or it is
/// cut, and the model is told one story about it.
pub(super) fn save(
    folder: &Folder,
    call_id: &str,
    content: &[Content],
    plan: &Plan,
) -> Result<Decision, StoreError> {
    let mut first_file = None;
    let mut keep = |name: &FileName, bytes: &[u8]| {
        let saved = folder.save(name, bytes)?;
        let path = folder.file_path(&saved);
        first_file.get_or_insert(saved);
        match wording::path_text(&path) {
            Some(text) => Ok(text.to_owned()),
            None => Err(StoreError::NotText(path)),
        }
    };
    let text = match plan.text {
        Some(planned) => {
            let text = text_without(content, &plan.stays);
            let path = keep(&FileName::for_text(call_id, &text), text.as_bytes())?;
            let shown = wording::persisted(&text, &path, planned.preview, planned.keep);
            Some(shown)
        }
        None => None,
    };
    let mut lines = HashMap::new();
    for index in &plan.blobs {
        if let Some((kind, blob)) = content.get(*index).and_then(wording::blob_of) {
            let name = FileName::for_blob(call_id, &blob.mime, &blob.data);
            let path = keep(&name, &blob.data)?;
            lines.insert(*index, wording::saved_blob(kind, blob, &path));
        }
    }
    let blocks = assemble(content, plan, text, |index, _, _| {
        lines.get(&index).cloned().unwrap_or_default()
    });
    Ok(Decision::Replaced {
        blocks,
        file: first_file,
        repeats: None,
    })
}
