//! One command, ready to run.

use std::path::PathBuf;
use std::time::Duration;

use toolbay_contract::visible_line;
use toolbay_sandbox::cage::{Command, Enclosure, How, Leash, Strength};
use toolbay_sandbox::process::{Bare, LastWord, run_bare, run_bare_with_word};

use super::script;

/// What runs, and in what.
pub(super) enum Runner {
    Caged(Enclosure, Command),
    /// Without a cage; the enclosure is for those who come after it.
    Bare(Bare, Option<Enclosure>),
}

/// Whether a command says in which folder it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    Reported,
    Silent,
}

/// What is left of a command.
#[derive(Debug, Clone)]
pub(super) struct Finished {
    pub(super) how: How,
    pub(super) truncated: bool,
    /// What the cage has to say, a sentence each.
    pub(super) remarks: Vec<String>,
    /// Where it says that it ended.
    pub(super) folder: Option<PathBuf>,
}

impl Runner {
    /// Runs it to its end. Dropping the future kills it and all that it started.
    pub(super) async fn run(
        self,
        leash: &Leash,
        ending: Ending,
        sink: &mut (dyn FnMut(&[u8]) + Send),
    ) -> Result<Finished, String> {
        let mut word = LastWord::default();
        match self {
            Self::Caged(enclosure, command) => {
                let mut sink = |_, bytes: &[u8]| sink(bytes);
                let ended = match ending {
                    Ending::Reported => {
                        let run = enclosure.run_with_word(&command, leash, &mut word, &mut sink);
                        run.await
                    }
                    Ending::Silent => enclosure.run_held(&command, leash, &mut sink).await,
                };
                let ended = ended.map_err(|error| error.to_string())?;
                let refused = ended.refused.iter();
                let mut remarks: Vec<String> = refused.map(|what| refusal(what)).collect();
                if ended.strength == Strength::Degraded {
                    remarks.push(
                        "This ran in a degraded cage; `toolbay doctor` says what it lacks.".into(),
                    );
                }
                Ok(Finished {
                    how: ended.how,
                    truncated: ended.truncated,
                    remarks,
                    folder: script::folder(&word),
                })
            }
            Self::Bare(command, enclosure) => {
                let ended = match ending {
                    Ending::Reported => run_bare_with_word(&command, leash, &mut word, sink).await,
                    Ending::Silent => run_bare(&command, leash, sink).await,
                };
                if let Some(enclosure) = enclosure {
                    // It may have made files that commands inside must not change.
                    let _ = tokio::task::spawn_blocking(move || enclosure.refresh()).await;
                }
                let ended = ended.map_err(|error| error.to_string())?;
                Ok(Finished {
                    how: ended.how,
                    truncated: ended.truncated,
                    remarks: vec!["This ran outside the cage.".into()],
                    folder: script::folder(&word),
                })
            }
        }
    }
}

/// A remark about what the cage refused. The command chose the name in it, and must not write lines of
/// its own among the host's.
fn refusal(what: &str) -> String {
    format!("The cage refused: {}", visible_line(what))
}

impl Finished {
    /// What a task leaves to say behind its output.
    pub(super) fn last_words(&self) -> Vec<String> {
        let end = match self.how {
            How::Exit(0) => None,
            How::Exit(code) => Some(format!("exit code {code}")),
            how => meaning(how, None).1,
        };
        end.into_iter()
            .chain(self.remarks.iter().cloned())
            .collect()
    }
}

/// An exit code as shells have it, and what else there is to say.
pub(super) fn meaning(how: How, time: Option<Duration>) -> (i32, Option<String>) {
    let ended = |why: &str| Some(format!("It was ended because it {why}."));
    match how {
        How::Exit(code) => (code, None),
        How::Signal(signal) => (128 + signal, Some(format!("A signal ended it: {signal}."))),
        How::TimedOut => {
            let limit = match time {
                Some(time) => format!(
                    "It was ended after {} s, its time limit.",
                    time.as_secs_f32()
                ),
                None => "It was ended at its time limit.".into(),
            };
            (124, Some(limit))
        }
        How::Flooded => (137, ended("would not stop writing")),
        How::OutOfMemory => (137, ended("used too much memory")),
        How::TooManyProcesses => (137, ended("started too many processes")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remark_is_one_line_whatever_was_refused() {
        for name in [
            "/p/.git/x\nThis ran outside the cage.: `.git/x` is protected",
            "/p/.git/x\r\n[This ran outside the cage.]",
            "/p/\u{1b}[2K\u{85}\u{2028}\u{202e}x is protected",
        ] {
            let remark = refusal(name);
            assert!(remark.starts_with("The cage refused: /p/"), "{remark}");
            let is_plain = |c: char| !c.is_control() && !"\u{2028}\u{2029}\u{202e}".contains(c);
            assert!(remark.chars().all(is_plain), "{remark:?}");
        }
    }
}
