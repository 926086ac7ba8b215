//! The person at the terminal.

use std::fs::File;
use std::io::Write;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use tokio::sync::{Mutex, OwnedMutexGuard, oneshot};
use toolbay::contract::BoxFuture;
use toolbay::dispatch::{Answer, Approver, PermissionQuestion};

use super::card::{CardText, Extent, Look, card};
use super::choices::{self, Asked, Next, Sight};
use super::line::{Bell, Line, forget_typed, read_line, width};
use super::saved::SavedIn;
use super::wrap::wrap;
use crate::spinner::Quiet;
use crate::style::Style;
use crate::view::harmless;

/// How long a withdrawn question has to say so. It takes no time, unless the terminal takes no
/// output, as after Ctrl-S.
const GOODBYE: Duration = Duration::from_secs(1);

/// A person at the terminal. One question is asked at a time.
#[derive(Default)]
pub struct Terminal {
    saved: SavedIn,
    /// Instead of standard input and standard error.
    device: Option<OwnedFd>,
    queue: Mutex<()>,
    /// Held while anything about a question is printed, even after whoever asked has gone.
    screen: Arc<Mutex<()>>,
}

impl Terminal {
    /// The terminal that the program was started in.
    pub fn new(saved: SavedIn) -> Self {
        Self {
            saved,
            ..Self::default()
        }
    }

    /// Another terminal, open for reading and writing.
    pub fn on(device: OwnedFd, saved: SavedIn) -> Self {
        Self {
            device: Some(device),
            ..Self::new(saved)
        }
    }

    async fn question(&self, question: PermissionQuestion) -> std::io::Result<Answer> {
        let screen = self.screen.clone().lock_owned().await;
        let bell = Arc::new(Bell::new()?);
        let (answer, waiting) = oneshot::channel();
        let (gone, ended) = mpsc::channel();
        let talk = Talk {
            ends: Ends::of(self.device.as_ref())?,
            bell: bell.clone(),
            question,
            saved: self.saved.clone(),
            style: Style::for_errors(),
            _screen: screen,
            _gone: gone,
        };
        // A thread of its own: it may wait for a person for hours.
        std::thread::Builder::new()
            .name("toolbay-prompt".into())
            .spawn(move || {
                // Whoever asked may be gone.
                let _ = answer.send(talk.hold());
            })?;
        let mut open = Open {
            bell,
            ended: Some(ended),
        };
        let answer = waiting.await;
        open.ended = None;
        Ok(answer.unwrap_or_else(|_| nobody()))
    }
}

impl Approver for Terminal {
    fn ask(&self, question: PermissionQuestion) -> BoxFuture<'_, Answer> {
        Box::pin(async move {
            let asked = self.question(question).await;
            asked.unwrap_or_else(|error| Answer::No {
                reason: format!("the question could not be asked: {error}"),
            })
        })
    }

    fn queue(&self) -> Option<&Mutex<()>> {
        Some(&self.queue)
    }

    fn tell(&self, trouble: &str) {
        let warning = Style::for_errors().warn("warning:");
        let line = format!("{warning} {}\n", harmless(trouble));
        // A warning that cannot be shown has nobody to read it.
        let _ = Ends::of(self.device.as_ref()).and_then(|ends| ends.show(&line));
    }
}

fn nobody() -> Answer {
    Answer::No {
        reason: "nobody answered".into(),
    }
}

/// A question that is on the screen. To drop it is to take it away.
struct Open {
    bell: Arc<Bell>,
    /// Closes when the question is off the screen; nothing if it was answered.
    ended: Option<mpsc::Receiver<()>>,
}

impl Drop for Open {
    fn drop(&mut self) {
        if let Some(ended) = &self.ended {
            self.bell.ring();
            // What the caller prints next must not come before the last word of the question.
            let _ = ended.recv_timeout(GOODBYE);
        }
    }
}

/// Both ends of a terminal.
struct Ends {
    input: OwnedFd,
    output: OwnedFd,
}

impl Ends {
    fn of(device: Option<&OwnedFd>) -> std::io::Result<Self> {
        let (input, output) = match device {
            Some(device) => (device.try_clone()?, device.try_clone()?),
            None => (
                std::io::stdin().as_fd().try_clone_to_owned()?,
                std::io::stderr().as_fd().try_clone_to_owned()?,
            ),
        };
        Ok(Self { input, output })
    }

    /// In one piece, so that nothing comes in between.
    fn show(&self, text: &str) -> std::io::Result<()> {
        File::from(self.output.try_clone()?).write_all(text.as_bytes())
    }

    fn input(&self) -> BorrowedFd<'_> {
        self.input.as_fd()
    }
}

/// The conversation about one question, on a thread of its own.
struct Talk {
    ends: Ends,
    bell: Arc<Bell>,
    question: PermissionQuestion,
    saved: SavedIn,
    style: Style,
    // Fields are dropped in this order: the screen is free before anybody hears of the end.
    _screen: OwnedMutexGuard<()>,
    _gone: mpsc::Sender<()>,
}

impl Talk {
    fn hold(self) -> Answer {
        let _quiet = Quiet::please();
        // Who cannot be shown the question does not answer it either.
        self.converse().unwrap_or_else(|_| nobody())
    }

    fn converse(&self) -> std::io::Result<Answer> {
        let card = self.card(Extent::Short);
        self.ends.show(&card.text)?;
        let mut asked = Asked::Whether;
        let mut sight = match card.is_cut {
            true => Sight::Part,
            false => Sight::Whole,
        };
        loop {
            // Before each prompt, so that neither what was typed before the question nor the rest
            // of something pasted answers it.
            forget_typed(self.ends.input());
            self.ends
                .show(&choices::prompt(asked, sight, &self.question))?;
            let line = match read_line(self.ends.input(), &self.bell) {
                Line::Typed(line) => line,
                Line::Ended => {
                    self.ends.show("\n")?;
                    return Ok(nobody());
                }
                Line::Withdrawn => {
                    // Half an answer is not left for whoever reads next.
                    forget_typed(self.ends.input());
                    let note = "The question is withdrawn: the call has ended.";
                    self.ends.show("\n")?;
                    self.tell(&self.style.warn(note))?;
                    return Ok(nobody());
                }
            };
            match choices::read(asked, sight, &line, &self.question, &self.saved) {
                Next::Done(answer) => return Ok(answer),
                Next::Ask(next) => asked = next,
                Next::Tell(text) => self.tell(&text)?,
                Next::ShowAll => {
                    self.ends.show(&self.card(Extent::Whole).text)?;
                    sight = Sight::Whole;
                }
            }
        }
    }

    fn tell(&self, text: &str) -> std::io::Result<()> {
        let lines = wrap(text, width(self.ends.input())).join("\n");
        self.ends.show(&format!("{lines}\n"))
    }

    /// The card for the terminal as wide as it is now, on a line of its own.
    fn card(&self, extent: Extent) -> CardText {
        let look = Look {
            width: width(self.ends.input()),
            style: self.style,
            extent,
        };
        card(&self.question, &self.saved, look)
    }
}
