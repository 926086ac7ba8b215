//! Calls of a protocol without requests of ours: a question ends the client's request, and the
//! answer comes with the next one. The call itself waits here meanwhile.
//!
//! What the client brings back is sealed, good for one question of one call with this very input,
//! once, and for a while. The answer to a question about permission counts with it alone.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ElicitRequest, ElicitResult, InputRequest,
    InputRequiredResult, RequestStateCodec, SealOptions,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::Value;
use tokio::sync::mpsc;
use toolbay_contract::{KillReason, KillSwitch};
use toolbay_dispatch::{Dispatch, ToolResult};

use super::asking::PERMISSION;
use super::call::{block, can_ask, input, run};
use super::client::Client;
use super::result;
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
    tool: String,
    input: Value,
    round: u32,
    questions: mpsc::Receiver<Asked>,
    ended: mpsc::Receiver<ToolResult>,
    kill: KillSwitch,
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

impl Client {
    /// Begins a call, or goes on with one whose question was answered.
    pub(super) async fn in_rounds(
        self: &Arc<Self>,
        seal: &RequestStateCodec,
        mut request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let given = request.input_responses.take().unwrap_or_default();
        let state = request.request_state.take();
        let (running, given) = match state {
            Some(state) => match self.take_up(seal, &state, &request, given, &context)? {
                TakenUp::Running(running) => (running, BTreeMap::new()),
                TakenUp::AskAgain(waiting) => return self.wait(seal, *waiting),
            },
            None => {
                let dispatch = match self.dispatch(None).await {
                    Ok(dispatch) => dispatch,
                    Err(why) => return Ok(result::refused(&why).into()),
                };
                (self.begin(dispatch, &request, &context), given)
            }
        };
        self.follow(seal, running, given, context).await
    }

    fn begin(
        self: &Arc<Self>,
        dispatch: Arc<Dispatch>,
        request: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Running {
        let (asked, questions) = mpsc::channel(1);
        let way = match can_ask(context.client_capabilities().as_ref()) {
            true => Way::Rounds(asked),
            false => Way::Nobody,
        };
        let block = block(self.call_id(), request);
        let kill = self.kill.below();
        let (sender, ended) = mpsc::channel(1);
        let running = Running {
            id: block.id.clone(),
            tool: block.name.clone(),
            input: block.input.clone(),
            round: 0,
            questions,
            ended,
            kill: kill.clone(),
            _route: self.routes.open(&block.id, way, context),
        };
        tokio::spawn(async move {
            let result = run(&dispatch, block, kill).await;
            // Whoever waited may have given up.
            let _ = sender.send(result).await;
        });
        running
    }

    /// Finds the call that a client's state speaks of, and hands it the answer.
    fn take_up(
        &self,
        seal: &RequestStateCodec,
        state: &str,
        request: &CallToolRequestParams,
        mut given: BTreeMap<String, Value>,
        context: &RequestContext<RoleServer>,
    ) -> Result<TakenUp, ErrorData> {
        let refuse = |why: &str| ErrorData::invalid_params(why.to_owned(), None);
        let question = seal.open_with(state, request.name.as_bytes());
        let question = question.map_err(|error| refuse(&format!("requestState: {error}")))?;
        let question = String::from_utf8_lossy(&question).into_owned();
        let unknown = "requestState: this question is no longer open; call the tool again";
        let mut waiting = self.rounds.all();
        let found = waiting.get(&question).ok_or_else(|| refuse(unknown))?;
        if found.running.input != input(request) {
            let why = "requestState: it belongs to a call with other arguments";
            return Err(refuse(why));
        }
        let answer = given.remove(&found.asked.key);
        let answer = answer.map(serde_json::from_value::<ElicitResult>);
        let answer = answer
            .transpose()
            .map_err(|error| refuse(&format!("inputResponses.{}: {error}", found.asked.key)))?;
        let Some(Waiting { mut running, asked }) = waiting.remove(&question) else {
            return Err(refuse(unknown));
        };
        drop(waiting);
        let Some(answer) = answer else {
            // Other answers than the one that was asked for: ask again.
            return Ok(TakenUp::AskAgain(Box::new(Waiting { running, asked })));
        };
        let way = match can_ask(context.client_capabilities().as_ref()) {
            true => {
                let (asked, questions) = mpsc::channel(1);
                running.questions = questions;
                Way::Rounds(asked)
            }
            false => Way::Nobody,
        };
        self.routes.lead(&running.id, way, context);
        // A call that has ended meanwhile needs no answer.
        let _ = asked.answer.send(answer);
        Ok(TakenUp::Running(running))
    }

    /// Waits for the end of the call or its next question.
    async fn follow(
        self: &Arc<Self>,
        seal: &RequestStateCodec,
        mut running: Running,
        mut given: BTreeMap<String, Value>,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        loop {
            let next = tokio::select! {
                next = running.next() => next,
                // Dropping the call ends it.
                () = context.ct.cancelled() => Next::Gone,
            };
            match next {
                Next::Ended(ended) => return self.told(&ended),
                Next::Gone => return Ok(result::refused("the call was cancelled").into()),
                Next::Asked(asked) => {
                    // What a tool asks may be answered beforehand; a permission never.
                    let known = (asked.key != PERMISSION).then(|| given.remove(&asked.key));
                    let known = known.flatten().map(serde_json::from_value::<ElicitResult>);
                    if let Some(Ok(answer)) = known {
                        let _ = asked.answer.send(answer);
                        continue;
                    }
                    return self.wait(seal, Waiting { running, asked });
                }
            }
        }
    }

    /// Lets the call wait, and tells the client what for.
    fn wait(
        self: &Arc<Self>,
        seal: &RequestStateCodec,
        mut waiting: Waiting,
    ) -> Result<CallToolResponse, ErrorData> {
        waiting.running.round += 1;
        let Running {
            id, tool, round, ..
        } = &waiting.running;
        let question = format!("{id}.{round}");
        let options = SealOptions::new()
            .associated_data(tool.as_bytes())
            .ttl(PATIENCE);
        let state = seal.seal_with(question.as_bytes(), &options);
        let request = InputRequest::Elicitation(ElicitRequest::new(waiting.asked.params.clone()));
        let requests = BTreeMap::from([(waiting.asked.key.clone(), request)]);
        {
            let mut all = self.rounds.all();
            if all.len() >= MOST_WAITING {
                return Ok(result::refused(&format!(
                    "{MOST_WAITING} calls wait for answers already; answer or leave those first"
                ))
                .into());
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
        Ok(InputRequiredResult::new(Some(requests), Some(state)).into())
    }
}

enum TakenUp {
    Running(Running),
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
