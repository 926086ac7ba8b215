//! `toolbay:host/ask-user`: questions to the person at the other end.

use toolbay_contract::HostFailure;

use super::unless_killed;
use crate::bindings::toolbay::host::ask_user::{Host, Question};
use crate::bindings::toolbay::host::errors::HostError;
use crate::state::State;

impl Host for State {
    async fn ask(
        &mut self,
        questions: Vec<Question>,
    ) -> wasmtime::Result<Result<Vec<Vec<String>>, HostError>> {
        let found = self.acting("ask-user").and_then(|environment| {
            environment
                .powers
                .ask_user
                .clone()
                .ok_or_else(|| HostFailure::Unavailable("there is nobody to ask".into()))
        });
        let asker = match found {
            Ok(asker) => asker,
            Err(failure) => return Ok(Err(failure.into())),
        };
        let questions = questions
            .into_iter()
            .map(|question| toolbay_contract::Question {
                header: question.header,
                text: question.text,
                options: question.options,
                multiple: question.multiple,
            })
            .collect();
        // How long a user thinks is not the component's time.
        let paused = self.clock.pause();
        let answers = unless_killed(self.kill.clone(), asker.ask(questions)).await;
        drop(paused);
        Ok(answers.map_err(Into::into))
    }
}
