//! The loop between lines and events: one turn after the other.

use std::collections::VecDeque;
use std::sync::Arc;

use serde_json::json;
use tokio::sync::mpsc;
use toolbay::contract::{KillSwitch, ToolUse};
use toolbay::dispatch::{Event, Events, Executor, TurnSetting};

use super::answers::{Answers, Permission};
use super::input::{Incoming, Line};
use super::output::Output;
use crate::view::Faces;
use toolbay::compose::Bay;
use toolbay::session_file::SessionFile;

pub(super) struct Turns {
    bay: Bay,
    file: SessionFile,
    answers: Arc<Answers>,
    output: Output,
    setting: TurnSetting,
    kill: KillSwitch,
    turn: Option<Turn>,
    /// Lines that belong to the turn after the one that is ending.
    later: VecDeque<Line>,
    /// A turn was ended by an interrupt, and its `turn_end` may still come.
    end_owed: bool,
    faces: Faces,
    /// Why the session could not be written, if it could not.
    unsaved: Option<String>,
}

/// The turn under way.
struct Turn {
    executor: Executor,
    events: Events,
    phase: Phase,
    results: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Open,
    /// The model has made its last call.
    Closed,
    /// The person stopped it; the model's side may not know yet.
    Interrupted,
}

impl Turns {
    pub(super) fn new(
        bay: Bay,
        file: SessionFile,
        answers: Arc<Answers>,
        output: Output,
        cap: usize,
        kill: KillSwitch,
    ) -> Self {
        Self {
            bay,
            file,
            answers,
            output,
            setting: TurnSetting {
                cap,
                ..TurnSetting::default()
            },
            kill,
            turn: None,
            later: VecDeque::new(),
            end_owed: false,
            faces: Faces::default(),
            unsaved: None,
        }
    }

    /// Runs until the input has ended and the last turn with it.
    pub(super) async fn run(mut self, mut lines: mpsc::UnboundedReceiver<Incoming>) {
        let mut ended = false;
        loop {
            if self.kill.is_thrown() || (ended && self.turn.is_none()) {
                self.save();
                return;
            }
            tokio::select! {
                () = self.kill.thrown() => {}
                incoming = lines.recv(), if !ended => match incoming {
                    Some(Incoming::Line(number, line)) => self.take(Some(number), line),
                    Some(Incoming::Bad { number, problem, answers }) => {
                        let problem = match answers {
                            Some(request) => self.answers.unusable(&request, problem),
                            None => problem,
                        };
                        self.output.bad_line(Some(number), &problem);
                    }
                    None => {
                        ended = true;
                        self.answers.close();
                        self.end_of_input();
                    }
                },
                event = next(&mut self.turn) => self.show(event).await,
            }
        }
    }

    /// `number` is that of a line that has just come.
    fn take(&mut self, number: Option<u64>, line: Line) {
        match (line, self.turn.as_mut().map(|turn| turn.phase)) {
            (
                Line::PermissionResponse {
                    request_id,
                    behavior,
                    message,
                    scope,
                    rules,
                },
                _,
            ) => {
                let given = Permission {
                    behavior,
                    message,
                    scope,
                    rules,
                };
                let answered = self.answers.permission(&request_id, given);
                self.tell(number, answered);
            }
            (
                Line::UserResponse {
                    request_id,
                    answers,
                },
                _,
            ) => {
                let answered = self.answers.user(&request_id, answers);
                self.tell(number, answered);
            }
            (
                Line::SamplingResponse {
                    request_id,
                    result,
                    error,
                },
                _,
            ) => {
                let answered = self.answers.sampling(&request_id, result, error);
                self.tell(number, answered);
            }
            // What comes behind the end belongs to the next turn.
            (line @ (Line::ToolUse { .. } | Line::TurnEnd), Some(Phase::Closed)) => {
                self.later.push_back(line);
            }
            (Line::ToolUse { id, name, input }, _) => {
                self.end_owed = false;
                let block = ToolUse { id, name, input };
                if self.output.is_human() {
                    let dispatch = &self.bay.dispatch;
                    let cwd = dispatch.working_directory();
                    self.faces.call(dispatch.pool(), &block, &cwd);
                }
                self.begun().executor.add(block);
            }
            (Line::TurnEnd, Some(Phase::Open | Phase::Interrupted)) => {
                let turn = self.begun();
                turn.phase = Phase::Closed;
                turn.executor.close();
            }
            (Line::TurnEnd, None) => {
                if !std::mem::take(&mut self.end_owed) {
                    self.end_of_turn(0, None);
                }
            }
            (Line::Interrupt, Some(phase)) => {
                let turn = self.begun();
                turn.executor.interrupt();
                // Nothing starts any more, so nothing is worth waiting for.
                turn.executor.close();
                if phase == Phase::Open {
                    turn.phase = Phase::Interrupted;
                }
            }
            (Line::Discard, Some(_)) => self.begun().executor.discard(),
            (Line::Interrupt | Line::Discard, None) => {}
        }
    }

    fn tell(&self, number: Option<u64>, answered: Result<(), String>) {
        if let Err(problem) = answered {
            self.output.bad_line(number, &problem);
        }
    }

    /// The turn under way; begins one if there is none.
    fn begun(&mut self) -> &mut Turn {
        self.turn.get_or_insert_with(|| {
            let (executor, events) =
                Executor::start(self.bay.dispatch.clone(), self.setting, self.kill.below());
            Turn {
                executor,
                events,
                phase: Phase::Open,
                results: 0,
            }
        })
    }

    /// Nothing comes any more: the last turn ends here, whether somebody said so or
    /// not.
    fn end_of_input(&mut self) {
        if !matches!(self.later.back(), None | Some(Line::TurnEnd)) {
            self.later.push_back(Line::TurnEnd);
        }
        if let Some(turn) = &mut self.turn {
            turn.phase = Phase::Closed;
            turn.executor.close();
        }
    }

    /// Writes the session. That it cannot be kept is told, once, and is no reason to
    /// stop working.
    fn save(&mut self) {
        if let Err(error) = self.file.save(&self.bay.session) {
            let problem = format!("the session cannot be kept: {error:#}");
            if self.unsaved.as_ref() != Some(&problem) {
                self.output.bad_line(None, &problem);
                self.unsaved = Some(problem);
            }
        }
    }

    async fn show(&mut self, event: Event) {
        match event {
            Event::Started { id, tool } => {
                let line = json!({"type": "started", "tool_use_id": id, "tool_name": tool});
                self.output.send(line);
            }
            Event::Progress { id, progress } => self.output.progress(&id, &progress),
            Event::Result(result) => {
                if let Some(turn) = &mut self.turn {
                    turn.results += 1;
                }
                if self.output.is_human() {
                    let pool = self.bay.dispatch.pool();
                    if let Some(text) = self.faces.result(pool, *result).await {
                        self.output.print(text);
                    }
                } else {
                    self.output.result(&result);
                }
                // What a call changed in the session outlives the program from here on.
                self.save();
            }
            Event::Over { stop } => {
                let Some(turn) = self.turn.take() else {
                    return;
                };
                if let Some(text) = self.faces.rest(self.bay.dispatch.pool()).await {
                    self.output.print(text);
                }
                self.end_owed = turn.phase == Phase::Interrupted;
                self.end_of_turn(turn.results, stop);
                for line in std::mem::take(&mut self.later) {
                    self.take(None, line);
                }
            }
        }
    }

    fn end_of_turn(&self, results: usize, stop: Option<String>) {
        let pool = self.bay.dispatch.pool();
        self.output.send(json!({
            "type": "turn_end",
            "results": results,
            "stop": stop,
            "loaded_tools": pool.loaded(),
        }));
    }
}

/// The next event of the turn; never, while there is none.
async fn next(turn: &mut Option<Turn>) -> Event {
    let event = match turn {
        Some(turn) => turn.events.recv().await,
        None => std::future::pending().await,
    };
    // A turn always says that it is over; should it break, it is.
    event.unwrap_or(Event::Over { stop: None })
}
