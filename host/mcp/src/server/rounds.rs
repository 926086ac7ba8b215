//! Calls of a protocol without requests of ours: a question ends the client's request, and the
//! answer comes with the next one. The call itself waits here meanwhile.
//!
//! What the client brings back is sealed, good for one question of one call with this very input,
//! once, and for a while. The answer to a question about permission counts with it alone.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::model::{
    CreateMessageResult, ElicitResult, InputRequest, InputRequiredResult, ListRootsRequest,
    RequestStateCodec, SealOptions,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::Value;
use tokio::sync::mpsc;
use toolbay_contract::{KillReason, KillSwitch, Tool};
use toolbay_dispatch::{Dispatch, ToolResult};

use super::asking::PERMISSION;
use super::call::{Round, Wanted, has_roots, run};
use super::client::{Client, Folders};
use super::roots;
use super::routes::{Asked, Opened, Way};

/// How long a question waits for its answer.
const PATIENCE: Duration = Duration::from_secs(600);
/// Calls of one client that may wait for an answer.
const MOST_WAITING: usize = 32;

/// The calls that wait for an answer, by question.
#[derive(Default)]
pub(super) struct Rounds {
    waiting: Mutex<HashMap<String, Waiting>>,
}

struct Waiting {
    running: Running,
    asked: Asked,
}

/// A call under way. To drop it is to end it.
struct Running {
    id: String,
    /// What it is about, as its state says.
    about: String,
    input: Value,
    round: u32,
    questions: mpsc::Receiver<Asked>,
    ended: mpsc::Receiver<ToolResult>,
    kill: KillSwitch,
    dispatch: Arc<Dispatch>,
    _route: Opened,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill.throw(KillReason::Cancelled);
    }
}

/// What comes next in a call's life.
enum Next {
    Asked(Asked),
    Ended(ToolResult),
    Gone,
}

/// Under this name a client tells its folders, and this is what its state says then.
const ROOTS: &str = "roots";

impl Client {
    /// Begins a call, or goes on with one whose question was answered.
    pub(super) async fn in_rounds(
        self: &Arc<Self>,
        seal: &RequestStateCodec,
        mut wanted: Wanted,
        context: RequestContext<RoleServer>,
    ) -> Result<Round, ErrorData> {
        let given = std::mem::take(&mut wanted.given);
        let question = match wanted.state.take() {
            Some(state) => Some(opened(seal, &state, &wanted)?),
            None => None,
        };
        match question.as_deref() {
            None => self.begin(seal, wanted, None, given, context).await,
            Some(ROOTS) => {
                let mut given = given;
                let roots = given.remove(ROOTS).map(roots::told).transpose()?;
                self.begin(seal, wanted, roots, given, context).await
            }
            Some(question) => match self.take_up(question, &wanted, given, &context)? {
                TakenUp::Answered(waiting, answer) => {
                    let Waiting { running, asked } = *waiting;
                    tokio::select! {
                        () = running.dispatch.resume(&running.id) => {}
                        () = context.ct.cancelled() => {
                            return Ok(Round::Refused("the call was cancelled".into()));
                        }
                    }
                    // A call that has ended meanwhile needs no answer.
                    let _ = asked.answer.send(answer);
                    let nothing = BTreeMap::new();
                    self.follow(seal, running, nothing, context).await
                }
                TakenUp::AskAgain(waiting) => Ok(self.wait(seal, *waiting)),
            },
        }
    }

    async fn begin(
        self: &Arc<Self>,
        seal: &RequestStateCodec,
        mut wanted: Wanted,
        roots: Option<Vec<String>>,
        given: BTreeMap<String, Value>,
        context: RequestContext<RoleServer>,
    ) -> Result<Round, ErrorData> {
        let has_roots = has_roots(context.client_capabilities().as_ref());
        let folders = match roots {
            Some(told) => Folders::Told(told),
            None if has_roots && self.wants_roots() => return Ok(ask_for_roots(seal, &wanted)),
            // Another one behind the same token may have folders.
            None if self.routes.has_no_session => Folders::Told(Vec::new()),
            None => Folders::Last,
        };
        let session = match self.session(folders).await {
            Ok(session) => session,
            Err(why) => return Ok(Round::Refused(why)),
        };
        let beside = wanted.find(&session).await?;
        let running = self.start(session.dispatch, beside, wanted, &context);
        self.follow(seal, running, given, context).await
    }

    fn start(
        self: &Arc<Self>,
        dispatch: Arc<Dispatch>,
        beside: Option<Arc<dyn Tool>>,
        wanted: Wanted,
        context: &RequestContext<RoleServer>,
    ) -> Running {
        let (asked, questions) = mpsc::channel(1);
        let block = wanted.block(self.call_id());
        let kill = self.kill.below();
        let (sender, ended) = mpsc::channel(1);
        let running = Running {
            id: block.id.clone(),
            about: wanted.about,
            input: wanted.input,
            round: 0,
            questions,
            ended,
            kill: kill.clone(),
            dispatch: dispatch.clone(),
            _route: self.routes.open(&block.id, Way::Rounds(asked), context),
        };
        tokio::spawn(async move {
            let result = run(&dispatch, beside, block, kill).await;
            // Whoever waited may have given up.
            let _ = sender.send(result).await;
        });
        running
    }

    /// Finds the call that a client's state speaks of, and hands it the answer.
    fn take_up(
        &self,
        question: &str,
        wanted: &Wanted,
        mut given: BTreeMap<String, Value>,
        context: &RequestContext<RoleServer>,
    ) -> Result<TakenUp, ErrorData> {
        let refuse = |why: &str| ErrorData::invalid_params(why.to_owned(), None);
        let unknown = "requestState: this question is no longer open; call the tool again";
        let mut waiting = self.rounds.all();
        let found = waiting.get(question).ok_or_else(|| refuse(unknown))?;
        if found.running.input != wanted.input {
            let why = "requestState: it belongs to a call with other arguments";
            return Err(refuse(why));
        }
        let answer = given.remove(&found.asked.key);
        if let Some(answer) = &answer {
            let fits = fits(&found.asked.request, answer);
            fits.map_err(|error| refuse(&format!("inputResponses.{}: {error}", found.asked.key)))?;
        }
        let Some(Waiting { mut running, asked }) = waiting.remove(question) else {
            return Err(refuse(unknown));
        };
        drop(waiting);
        let Some(answer) = answer else {
            // Other answers than the one that was asked for: ask again.
            return Ok(TakenUp::AskAgain(Box::new(Waiting { running, asked })));
        };
        let (sender, questions) = mpsc::channel(1);
        running.questions = questions;
        self.routes.lead(&running.id, Way::Rounds(sender), context);
        let waiting = Box::new(Waiting { running, asked });
        Ok(TakenUp::Answered(waiting, answer))
    }

    /// Waits for the end of the call or its next question.
    async fn follow(
        self: &Arc<Self>,
        seal: &RequestStateCodec,
        mut running: Running,
        mut given: BTreeMap<String, Value>,
        context: RequestContext<RoleServer>,
    ) -> Result<Round, ErrorData> {
        loop {
            let next = tokio::select! {
                next = running.next() => next,
                // Dropping the call ends it.
                () = context.ct.cancelled() => Next::Gone,
            };
            match next {
                Next::Ended(ended) => return Ok(Round::Ended(Box::new(ended))),
                Next::Gone => return Ok(Round::Refused("the call was cancelled".into())),
                Next::Asked(asked) => {
                    // What a tool asks may be answered beforehand; a permission never.
                    let known = (asked.key != PERMISSION).then(|| given.remove(&asked.key));
                    let known = known.flatten();
                    if let Some(answer) = known.filter(|known| fits(&asked.request, known).is_ok())
                    {
                        let _ = asked.answer.send(answer);
                        continue;
                    }
                    return Ok(self.wait(seal, Waiting { running, asked }));
                }
            }
        }
    }

    /// Lets the call wait, and tells the client what for.
    fn wait(self: &Arc<Self>, seal: &RequestStateCodec, mut waiting: Waiting) -> Round {
        // The client may never come back.
        waiting.running.dispatch.pause(&waiting.running.id);
        waiting.running.round += 1;
        let Running {
            id, about, round, ..
        } = &waiting.running;
        let question = format!("{id}.{round}");
        let state = sealed(seal, &question, about);
        let requests = BTreeMap::from([(waiting.asked.key.clone(), waiting.asked.request.clone())]);
        {
            let mut all = self.rounds.all();
            if all.len() >= MOST_WAITING {
                return Round::Refused(format!(
                    "{MOST_WAITING} calls wait for answers already; answer or leave those first"
                ));
            }
            all.insert(question.clone(), waiting);
        }
        let client = Arc::downgrade(self);
        tokio::spawn(async move {
            tokio::time::sleep(PATIENCE).await;
            if let Some(client) = client.upgrade() {
                client.rounds.all().remove(&question);
            }
        });
        Round::Asked(InputRequiredResult::new(Some(requests), Some(state)))
    }
}

/// Has the client say what its folders are before anything runs.
fn ask_for_roots(seal: &RequestStateCodec, wanted: &Wanted) -> Round {
    let request = InputRequest::ListRoots(ListRootsRequest::default());
    let requests = BTreeMap::from([(ROOTS.to_owned(), request)]);
    let state = sealed(seal, ROOTS, &wanted.about);
    Round::Asked(InputRequiredResult::new(Some(requests), Some(state)))
}

/// A state that is good for one question about one thing, for a while.
fn sealed(seal: &RequestStateCodec, question: &str, about: &str) -> String {
    let options = SealOptions::new()
        .associated_data(about.as_bytes())
        .ttl(PATIENCE);
    seal.seal_with(question.as_bytes(), &options)
}

fn opened(seal: &RequestStateCodec, state: &str, wanted: &Wanted) -> Result<String, ErrorData> {
    let question = seal.open_with(state, wanted.about.as_bytes());
    let question = question
        .map_err(|error| ErrorData::invalid_params(format!("requestState: {error}"), None))?;
    Ok(String::from_utf8_lossy(&question).into_owned())
}

/// Whether an answer is of the kind that was asked for.
fn fits(request: &InputRequest, answer: &Value) -> Result<(), String> {
    let read = match request {
        InputRequest::CreateMessage(_) => {
            serde_json::from_value::<CreateMessageResult>(answer.clone()).map(drop)
        }
        _ => serde_json::from_value::<ElicitResult>(answer.clone()).map(drop),
    };
    read.map_err(|error| error.to_string())
}

enum TakenUp {
    Answered(Box<Waiting>, Value),
    AskAgain(Box<Waiting>),
}

impl Running {
    async fn next(&mut self) -> Next {
        tokio::select! {
            biased;
            ended = self.ended.recv() => ended.map_or(Next::Gone, Next::Ended),
            Some(asked) = self.questions.recv() => Next::Asked(asked),
        }
    }
}

impl Rounds {
    fn all(&self) -> MutexGuard<'_, HashMap<String, Waiting>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
