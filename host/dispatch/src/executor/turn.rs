//! One turn: the schedule, and the tasks that do what it says.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::mpsc;
use tokio::task::{Id, JoinError, JoinSet};
use toolbay_contract::{KillReason, KillSwitch, Modifier, ProgressSink, ResultLimit, ToolUse};

use super::schedule::{Action, Manners, Schedule, Why};
use super::{Budget, Command, Event, TurnSetting};
use crate::begin::Begin;
use crate::dispatch::Dispatch;
use crate::result::ToolResult;
use crate::results::{MESSAGE_CHARS, MessagePart};

pub(super) struct Turn {
    dispatch: Arc<Dispatch>,
    setting: TurnSetting,
    kill: KillSwitch,
    events: mpsc::UnboundedSender<Event>,
    schedule: Schedule,
    calls: Vec<Tracked>,
    work: JoinSet<Done>,
    /// Which task does what for which call.
    tasks: HashMap<Id, Task>,
    /// The first call whose result is not handed out.
    next: usize,
    /// Characters of results that are handed out already.
    spent: usize,
    stop: Option<String>,
    over: bool,
}

/// A call, and what is known of it.
struct Tracked {
    block: ToolUse,
    kill: KillSwitch,
    begin: Begin,
    /// Its result is made up, so what it still reports is of no interest.
    muted: Arc<AtomicBool>,
    result: Option<ToolResult>,
    /// It has, or had, a result: the first one counts.
    answered: bool,
    /// What its own outcome asks of the session.
    wishes: Vec<Modifier>,
}

#[derive(Clone, Copy)]
enum Task {
    Asks(usize),
    Runs(usize),
}

/// What a task came back with.
enum Done {
    Arrived(Manners),
    Ended(Box<ToolResult>),
}

impl Turn {
    pub(super) fn new(
        dispatch: Arc<Dispatch>,
        setting: TurnSetting,
        kill: KillSwitch,
        events: mpsc::UnboundedSender<Event>,
    ) -> Self {
        Self {
            dispatch,
            kill,
            events,
            schedule: Schedule::new(setting.cap),
            setting,
            calls: Vec::new(),
            work: JoinSet::new(),
            tasks: HashMap::new(),
            next: 0,
            spent: 0,
            stop: None,
            over: false,
        }
    }

    pub(super) async fn run(mut self, mut orders: mpsc::UnboundedReceiver<Command>) {
        let mut listening = true;
        let mut killed = false;
        while !self.over {
            let actions = tokio::select! {
                biased;
                () = self.kill.thrown(), if !killed => {
                    killed = true;
                    self.schedule.discard()
                }
                () = self.events.closed(), if !killed => {
                    // Nobody will ever read a result.
                    killed = true;
                    self.schedule.discard()
                }
                order = orders.recv(), if listening => match order {
                    Some(order) => self.obey(order),
                    None => {
                        listening = false;
                        self.schedule.close()
                    }
                },
                Some(done) = self.work.join_next_with_id() => self.take(done),
            };
            for action in actions {
                self.perform(action);
            }
        }
    }

    fn obey(&mut self, order: Command) -> Vec<Action> {
        match order {
            Command::Add(block) => self.add(block),
            Command::Interrupt => {
                let calls = &self.calls;
                self.schedule.interrupt(|number| calls[number].begin.end())
            }
            Command::Discard => self.schedule.discard(),
            Command::Close => self.schedule.close(),
        }
    }

    fn add(&mut self, block: ToolUse) -> Vec<Action> {
        let number = self.calls.len();
        let dispatch = self.dispatch.clone();
        let asked = block.clone();
        let asking = async move { Done::Arrived(dispatch.manners(&asked).await) };
        let task = self.work.spawn(asking).id();
        self.tasks.insert(task, Task::Asks(number));
        self.calls.push(Tracked {
            block,
            kill: self.kill.below(),
            begin: Begin::default(),
            muted: Arc::default(),
            result: None,
            answered: false,
            wishes: Vec::new(),
        });
        self.schedule.add()
    }

    /// A task has come to its end, one way or the other.
    fn take(&mut self, done: Result<(Id, Done), JoinError>) -> Vec<Action> {
        let id = match &done {
            Ok((id, _)) => *id,
            Err(error) => error.id(),
        };
        let Some(task) = self.tasks.remove(&id) else {
            return Vec::new();
        };
        match (task, done) {
            (Task::Asks(number), Ok((_, Done::Arrived(manners)))) => {
                self.schedule.arrived(number, manners)
            }
            (Task::Runs(number), Ok((_, Done::Ended(result)))) => self.ended(number, *result),
            // The code around the tool broke, which is our fault and no reason to
            // lose a result.
            (Task::Asks(number), broken) => {
                complain(broken.err());
                self.schedule.arrived(number, Manners::STRICT)
            }
            (Task::Runs(number), broken) => {
                complain(broken.err());
                let block = &self.calls[number].block;
                let text = "<tool_use_error>Error: toolbay itself broke while it ran the call; \
                            whether the call did anything is unknown</tool_use_error>";
                let result = ToolResult::made_up(block.id.clone(), block.name.clone(), text.into());
                self.ended(number, result)
            }
        }
    }

    fn ended(&mut self, number: usize, result: ToolResult) -> Vec<Action> {
        // Bad input and a denial are no failure of what ran, for nothing ran.
        let ran = result.outcome.is_some() || result.stage == Some(crate::Stage::Call);
        let failed = result.is_error && ran;
        let call = &mut self.calls[number];
        if !call.answered {
            if let Some(outcome) = &result.outcome {
                call.wishes.clone_from(&outcome.modifiers);
            }
            call.answer(result);
        }
        self.schedule.ended(number, failed)
    }

    fn perform(&mut self, action: Action) {
        match action {
            Action::Start(number) => self.start(number),
            Action::End(number, why) => {
                let text = self.explain(why, true);
                let call = &mut self.calls[number];
                call.muted.store(true, Ordering::Release);
                call.kill.throw(KillReason::Cancelled);
                call.make_up(text);
            }
            Action::Skip(number, why) => {
                let text = self.explain(why, false);
                self.calls[number].make_up(text);
            }
            Action::Apply(numbers) => {
                for number in numbers {
                    let wishes = std::mem::take(&mut self.calls[number].wishes);
                    self.dispatch.apply(&wishes);
                }
            }
            Action::Yield(number) => {
                if self.setting.budget == Budget::AsTheyCome {
                    self.fit();
                    self.hand_out(number);
                }
            }
            Action::Over => self.end(),
        }
    }

    fn start(&mut self, number: usize) {
        let call = &self.calls[number];
        let (id, tool) = (call.block.id.clone(), call.block.name.clone());
        self.tell(Event::Started { id, tool });
        let call = &self.calls[number];
        let events = self.events.clone();
        let muted = call.muted.clone();
        let progress: ProgressSink = Arc::new(move |id, progress| {
            if !muted.load(Ordering::Acquire) {
                let id = id.to_owned();
                let _ = events.send(Event::Progress { id, progress });
            }
        });
        let dispatch = self.dispatch.clone();
        let (block, kill) = (call.block.clone(), call.kill.clone());
        let begin = call.begin.clone();
        let running = async move {
            let result = dispatch.live(block, kill, Some(progress), begin).await;
            Done::Ended(Box::new(result))
        };
        let task = self.work.spawn(running).id();
        self.tasks.insert(task, Task::Runs(number));
    }

    fn end(&mut self) {
        if self.setting.budget == Budget::Together {
            self.fit();
            for number in 0..self.calls.len() {
                self.hand_out(number);
            }
        }
        self.over = true;
        let stop = self.stop.take();
        self.tell(Event::Over { stop });
    }

    /// Makes the results that wait to be handed out fit into what is left of the
    /// message's budget. While all of them fit anyway, only the next one is looked at.
    fn fit(&mut self) {
        let waiting = self.calls[self.next..].iter();
        let sizes = waiting.filter_map(|call| call.result.as_ref().map(ToolResult::size));
        let fits = self.spent + sizes.sum::<usize>() <= MESSAGE_CHARS;
        let end = match self.setting.budget {
            Budget::AsTheyCome if fits => self.next + 1,
            Budget::AsTheyCome | Budget::Together => self.calls.len(),
        };
        let dispatch = self.dispatch.clone();
        let wishes = |name: &str| {
            let found = dispatch.pool().find(name);
            found.map_or((ResultLimit::Standard, None), |found| {
                let info = found.tool.info();
                (info.limit, info.keep())
            })
        };
        let mut parts: Vec<MessagePart<'_>> = self.calls[self.next..end]
            .iter_mut()
            .filter_map(|call| {
                let result = call.result.as_mut()?;
                let (limit, keep) = wishes(&call.block.name);
                Some(MessagePart {
                    call_id: &call.block.id,
                    limit,
                    keep,
                    content: &mut result.content,
                })
            })
            .collect();
        dispatch.results().fit_rest(self.spent, &mut parts);
    }

    fn hand_out(&mut self, number: usize) {
        self.next = number + 1;
        let Some(result) = self.calls[number].result.take() else {
            return;
        };
        self.spent += result.text().chars().count();
        if self.stop.is_none() {
            self.stop.clone_from(&result.stop);
        }
        self.tell(Event::Result(Box::new(result)));
    }

    fn tell(&self, event: Event) {
        // Whoever does not listen any more is noticed where the turn waits.
        let _ = self.events.send(event);
    }

    fn explain(&self, why: Why, started: bool) -> String {
        let effect = if started {
            "It was cancelled while it ran; it may have done a part of its work."
        } else {
            "It was not run."
        };
        match why {
            Why::Interrupted => format!("The person stopped this turn. {effect}"),
            Why::Discarded => {
                format!("The answer that this call was a part of was thrown away. {effect}")
            }
            Why::Sibling(other) => {
                let other = &self.calls[other].block;
                format!(
                    "The call {} of {} that ran beside this one failed. {effect}",
                    other.id, other.name
                )
            }
        }
    }
}

impl Tracked {
    fn make_up(&mut self, text: String) {
        let (id, tool) = (self.block.id.clone(), self.block.name.clone());
        let text = format!("<tool_use_error>{text}</tool_use_error>");
        self.answer(ToolResult::made_up(id, tool, text));
    }

    fn answer(&mut self, result: ToolResult) {
        self.answered = true;
        self.result = Some(result);
    }
}

fn complain(error: Option<JoinError>) {
    if let Some(error) = error {
        tracing::error!(%error, "a task of the executor broke");
    }
}
