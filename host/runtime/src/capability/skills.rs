//! `toolbay:host/skills`: texts that somebody wrote for a model to work by.

use std::sync::Arc;

use toolbay_contract::{
    CallEnvironment, Content, HostFailure, Skill, SkillMessage, SkillRole, Skills,
};

use super::unless_killed;
use crate::bindings::toolbay::host::errors::HostError;
use crate::bindings::toolbay::host::skills::{
    Argument, Blob, Entry, Host, Link, Message, Part, Speaker,
};
use crate::state::State;

fn skills_of(environment: &CallEnvironment) -> Result<Arc<dyn Skills>, HostFailure> {
    let lent = environment.powers.skills.clone();
    lent.ok_or_else(|| HostFailure::Unavailable("nobody offers skills to this session".into()))
}

impl Host for State {
    async fn entries(&mut self) -> wasmtime::Result<Result<Vec<Entry>, HostError>> {
        let skills = match self.acting("skills.entries").and_then(skills_of) {
            Ok(skills) => skills,
            Err(failure) => return Ok(Err(failure.into())),
        };
        let listed = unless_killed(self.kill.clone(), skills.list()).await;
        Ok(listed
            .map(|all| all.into_iter().map(entry).collect())
            .map_err(Into::into))
    }

    async fn load(
        &mut self,
        name: String,
        arguments: Vec<(String, String)>,
    ) -> wasmtime::Result<Result<Vec<Message>, HostError>> {
        let skills = match self.changing("skills.load").and_then(skills_of) {
            Ok(skills) => skills,
            Err(failure) => return Ok(Err(failure.into())),
        };
        let loaded = unless_killed(self.kill.clone(), skills.load(name, arguments)).await;
        Ok(loaded
            .map(|all| all.into_iter().map(message).collect())
            .map_err(Into::into))
    }
}

fn entry(skill: Skill) -> Entry {
    let argument = |one: toolbay_contract::SkillArgument| Argument {
        name: one.name,
        description: one.description,
        required: one.required,
    };
    Entry {
        name: skill.name,
        source: skill.source,
        description: skill.description,
        arguments: skill.arguments.into_iter().map(argument).collect(),
    }
}

fn message(message: SkillMessage) -> Message {
    let blob = |blob: toolbay_contract::Blob| Blob {
        mime: blob.mime,
        data: blob.data,
    };
    Message {
        speaker: match message.role {
            SkillRole::User => Speaker::User,
            SkillRole::Assistant => Speaker::Assistant,
        },
        part: match message.content {
            Content::Text(text) => Part::Text(text),
            Content::Image(image) => Part::Image(blob(image)),
            Content::Document(document) => Part::Document(blob(document)),
            Content::Link(link) => Part::Link(Link {
                uri: link.uri,
                name: link.name,
                mime: link.mime,
            }),
        },
    }
}
