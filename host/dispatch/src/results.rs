//! What of a result the model gets to see: limits, files for what is too long, references
//! for what it has seen. Once replaced, always replaced: a view that changes later costs
//! the conversation behind it. So each decision is written down before it is used, and
//! found again by the call's id and the content, also after a restart.

mod blocks;
mod decision;
mod decisions;
mod digest;
mod error;
mod folder;
mod log;
mod message;
mod names;
mod plan;
mod recent;
mod repeats;
mod saving;
#[cfg(test)]
mod tests;
mod truncate;
mod wording;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use toolbay_contract::{Content, Keep, ResultLimit};

use blocks::TextSize;
use decision::Decision;
use decisions::{Decided, Decisions};
use digest::Digest;
use error::StoreError;
use folder::Folder;
use plan::Plan;
use repeats::Repeats;

pub(crate) use self::plan::MESSAGE_CHARS;
pub use message::MessagePart;
pub use truncate::truncate;

/// The results of one session. Its functions wait for the disk.
#[derive(Debug)]
pub struct Results {
    folder: Option<Folder>,
    decisions: Mutex<Decisions>,
    repeats: Mutex<Repeats>,
}

/// The call that a result belongs to.
#[derive(Debug, Clone, Copy)]
pub struct KeptCall<'a> {
    pub call_id: &'a str,
    pub limit: ResultLimit,
    /// The part that its tool wants to be kept.
    pub keep: Option<Keep>,
    pub is_error: bool,
}

/// What became of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    pub content: Vec<Content>,
    /// The file with the whole text; without one, that with the first image or document.
    pub persisted: Option<PathBuf>,
    pub original_bytes: usize,
    /// The earlier call that gave the same.
    pub repeated_of: Option<String>,
}

impl Results {
    /// A session without a folder: what is too long is cut.
    pub fn in_memory() -> Self {
        Self::new(None, Decisions::in_memory())
    }

    /// A session's folder, and what is wrong with what is in it. Nothing is made before
    /// it is needed.
    pub fn open(session_folder: &Path) -> (Self, Vec<String>) {
        let folder = Folder::new(session_folder);
        let (decisions, problems) = Decisions::read(folder.clone());
        (Self::new(Some(folder), decisions), problems)
    }

    /// Brings one result within its limit.
    pub fn keep(&self, call: &KeptCall<'_>, content: Vec<Content>) -> Kept {
        let original_bytes = content.iter().map(Content::size).sum();
        let size = TextSize::of(&content);
        let original = Digest::of_content(&content);
        let key = original.in_call(call.call_id);
        let can_repeat = !call.is_error && Repeats::is_worthwhile(size.chars, call.call_id);

        let known = self.decisions().find(key, &content);
        let decision = known
            .or_else(|| {
                let earlier = can_repeat
                    .then(|| self.repeats().earlier(original, call.call_id))
                    .flatten()?;
                self.refer(call.call_id, key, &content, earlier)
            })
            .or_else(|| {
                let plan = Plan::for_result(&content, size, call.limit, call.keep);
                (!plan.is_empty()).then(|| self.carry_out(call.call_id, key, &content, plan))
            });

        let Some(decision) = decision else {
            if can_repeat {
                self.repeats().kept(call.call_id, original, original);
            }
            return Kept {
                content,
                persisted: None,
                original_bytes,
                repeated_of: None,
            };
        };
        let content = decision.apply(content);
        match decision {
            Decision::Replaced { file, repeats, .. } => {
                if can_repeat && repeats.is_none() {
                    let shown = Digest::of_content(&content);
                    self.repeats().kept(call.call_id, original, shown);
                }
                Kept {
                    content,
                    persisted: self
                        .folder
                        .as_ref()
                        .zip(file)
                        .map(|(folder, file)| folder.file_path(&file)),
                    original_bytes,
                    repeated_of: repeats,
                }
            }
            // What was cut is seen nowhere as a whole: nothing may refer to it.
            Decision::Cut { .. } => Kept {
                content,
                persisted: None,
                original_bytes,
                repeated_of: None,
            },
        }
    }

    fn new(folder: Option<Folder>, decisions: Decisions) -> Self {
        Self {
            folder,
            decisions: Mutex::new(decisions),
            repeats: Mutex::new(Repeats::new()),
        }
    }

    fn refer(
        &self,
        call_id: &str,
        key: Digest,
        content: &[Content],
        earlier: String,
    ) -> Option<Decision> {
        let recorded = self.decisions().record(Decided {
            call_id,
            key,
            content,
            decision: Decision::repeats(earlier),
        });
        // Without a record the next run would not know: the result stays as it is.
        recorded.ok()
    }

    /// Replaces what the plan names: by files, or by its cut start and end.
    fn carry_out(&self, call_id: &str, key: Digest, content: &[Content], plan: Plan) -> Decision {
        let saved = self
            .folder
            .as_ref()
            .ok_or(StoreError::NoFolder)
            .and_then(|folder| saving::save(folder, call_id, content, &plan))
            .and_then(|decision| {
                self.decisions().record(Decided {
                    call_id,
                    key,
                    content,
                    decision,
                })
            });
        saved.unwrap_or_else(|error| {
            tracing::warn!(%error, "a result is cut, because it could not be saved");
            let cut = Decision::Cut {
                plan,
                reason: error.to_string(),
            };
            let recorded = self.decisions().record(Decided {
                call_id,
                key,
                content,
                decision: cut.clone(),
            });
            recorded.unwrap_or(cut)
        })
    }

    // A panic while a lock is held cannot leave either half-changed.
    fn decisions(&self) -> MutexGuard<'_, Decisions> {
        self.decisions
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn repeats(&self) -> MutexGuard<'_, Repeats> {
        self.repeats.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
