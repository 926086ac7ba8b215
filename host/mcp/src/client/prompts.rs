//! Prompts of servers: texts that somebody wrote for a model to work by. Here they are skills.

use std::sync::Arc;

use rmcp::model::{
    ClientRequest, GetPromptResult, JsonObject, ListPromptsRequest, PaginatedRequestParams, Prompt,
    Role, ServerResult,
};
use serde_json::Value;
use toolbay_contract::{
    HostFailure, PowerFuture, Skill, SkillArgument, SkillMessage, SkillRole, Skills, Tool,
};

use super::asked::{answer, connected, conversation, failed, strange};
use super::bounds;
use super::definition::Definition;
use super::remote::Remote;
use super::result::block;
use super::servers::Servers;
use super::text::clean;
use super::tool::ForeignTool;
use crate::name::ToolName;

/// Messages of one prompt. What is over is left out, and said.
const MOST_MESSAGES: usize = 500;

/// A prompt that a server offers now.
#[derive(Clone)]
pub(crate) struct Offered {
    remote: Arc<Remote>,
    /// What it is called here, and in rules.
    pub(crate) name: ToolName,
    /// What its server says of it. The texts were cleaned, the name was not.
    pub(crate) prompt: Prompt,
}

impl Offered {
    fn of(remote: &Arc<Remote>, prompt: Prompt) -> Option<Self> {
        Some(Self {
            name: ToolName::new(&remote.config.name, &prompt.name)?,
            prompt: cleaned(prompt),
            remote: remote.clone(),
        })
    }

    pub(super) fn remote(&self) -> &Arc<Remote> {
        &self.remote
    }

    pub(crate) fn server(&self) -> &str {
        &self.remote.config.name
    }

    /// The prompt as something that is permitted, run and logged like a tool.
    pub(crate) fn as_tool(&self) -> Result<Arc<dyn Tool>, String> {
        let definition = Definition::of_prompt(self.server(), &self.prompt)?;
        let tool = ForeignTool::new(self.remote.clone(), Arc::new(definition));
        Ok(Arc::new(tool))
    }

    fn skill(self) -> Skill {
        let argument = |one: &rmcp::model::PromptArgument| SkillArgument {
            name: one.name.clone(),
            description: one.description.clone().or_else(|| one.title.clone()),
            required: one.required == Some(true),
        };
        let arguments = self.prompt.arguments.as_deref().unwrap_or_default();
        Skill {
            name: self.name.to_string(),
            source: format!("the MCP server `{}`", clean(self.server(), 64)),
            arguments: arguments.iter().map(argument).collect(),
            description: self.prompt.description.or(self.prompt.title),
        }
    }
}

impl Servers {
    /// Every prompt that servers offer now, unless a rule closes it. One that cannot be asked
    /// hides nothing of the others.
    pub(crate) async fn prompts(&self) -> Vec<Offered> {
        let asked = self.remotes().iter().map(|remote| list(remote.clone()));
        let answers = futures_util::future::join_all(asked).await;
        let all = answers.into_iter().flatten().flatten();
        all.filter(|one| !self.is_closed(&one.name)).collect()
    }

    /// A prompt by the name under which clients see it: its own where no other server has a
    /// prompt of that name, else the one with the server in it, which always does.
    pub(crate) async fn prompt_called(&self, name: &str) -> Option<Offered> {
        let all = self.prompts().await;
        let found = shown(&all).into_iter().find(|(shown, _)| shown == name);
        let whole = || all.iter().find(|one| one.name.to_string() == name);
        found.map(|(_, one)| one).or_else(whole).cloned()
    }

    async fn prompt(&self, name: &str) -> Result<Offered, HostFailure> {
        let none = || HostFailure::Failed(format!("there is no skill `{}`", clean(name, 100)));
        let remote = self.of_tool(name).cloned().ok_or_else(none)?;
        let all = list(remote).await?;
        let is_it = |one: &Offered| one.name.to_string() == name && !self.is_closed(&one.name);
        all.into_iter().find(is_it).ok_or_else(none)
    }
}

/// Prompts with the names under which clients see them.
pub(crate) fn shown(all: &[Offered]) -> Vec<(String, &Offered)> {
    let same = |name: &str| all.iter().filter(|one| one.prompt.name == name).count();
    let name = |one: &Offered| match same(&one.prompt.name) {
        1 if can_stand_alone(&one.prompt.name) => one.prompt.name.clone(),
        _ => one.name.to_string(),
    };
    all.iter().map(|one| (name(one), one)).collect()
}

/// Whether a name can be shown as its server wrote it, and is nobody else's.
fn can_stand_alone(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    name.len() <= 64 && name.chars().all(is_plain) && !name.starts_with("mcp__")
}

impl Skills for Servers {
    fn list(&self) -> PowerFuture<'_, Vec<Skill>> {
        Box::pin(async move {
            Ok(self
                .prompts()
                .await
                .into_iter()
                .map(Offered::skill)
                .collect())
        })
    }

    fn load(
        &self,
        name: String,
        arguments: Vec<(String, String)>,
    ) -> PowerFuture<'_, Vec<SkillMessage>> {
        Box::pin(async move {
            let offered = self.prompt(&name).await?;
            check(&offered.prompt, &arguments)?;
            let remote = &offered.remote;
            // To ask for a text is to read, so the process that can do nothing else is asked.
            let link = connected(remote, remote.reader()).await?;
            let arguments: JsonObject = arguments
                .into_iter()
                .map(|(name, value)| (name, Value::String(value)))
                .collect();
            let with = conversation(remote);
            let told = link.prompt(&offered.prompt.name, arguments, &with).await;
            let told = told.map_err(|error| failed(remote, error))?;
            Ok(messages(told))
        })
    }
}

async fn list(remote: Arc<Remote>) -> Result<Vec<Offered>, HostFailure> {
    let link = connected(&remote, super::launch::Instance::Main).await?;
    if !link.offers().prompts {
        return Ok(Vec::new());
    }
    let (mut all, mut cursor) = (Vec::<Offered>::new(), None);
    for _ in 0..bounds::PAGES {
        let page = PaginatedRequestParams::default().with_cursor(cursor.take());
        let request = ClientRequest::ListPromptsRequest(ListPromptsRequest::with_param(page));
        let ServerResult::ListPromptsResult(page) = answer(&remote, &link, request).await? else {
            return Err(strange(&remote));
        };
        for prompt in page.prompts {
            let Some(offered) = Offered::of(&remote, prompt) else {
                continue;
            };
            // Of two with one name nobody could say which is meant.
            if all.iter().all(|one| one.name != offered.name) {
                all.push(offered);
            }
        }
        if all.len() >= bounds::PROMPTS {
            all.truncate(bounds::PROMPTS);
            break;
        }
        match page.next_cursor {
            Some(next) => cursor = Some(next),
            None => break,
        }
    }
    Ok(all)
}

/// A prompt whose texts can be shown, with as many arguments as anybody fills in.
fn cleaned(prompt: Prompt) -> Prompt {
    let text = |text: Option<String>, most| {
        let text = text.map(|text| clean(&text, most));
        text.filter(|text| !text.is_empty())
    };
    let mut arguments = prompt.arguments.unwrap_or_default();
    arguments.truncate(bounds::ARGUMENTS);
    for argument in &mut arguments {
        argument.title = text(argument.title.take(), 100);
        argument.description = text(argument.description.take(), 500);
    }
    let mut clean = Prompt::new(
        prompt.name,
        text(prompt.description, bounds::DESCRIPTION),
        Some(arguments),
    );
    clean.title = text(prompt.title, 100);
    clean
}

/// Says what a server would say less clearly, or not at all.
fn check(prompt: &Prompt, given: &[(String, String)]) -> Result<(), HostFailure> {
    let known = prompt.arguments.as_deref().unwrap_or_default();
    let names = || {
        let names: Vec<&str> = known.iter().map(|one| one.name.as_str()).collect();
        match names.is_empty() {
            true => "it takes none".to_owned(),
            false => format!("it takes {}", clean(&names.join(", "), 500)),
        }
    };
    for (name, _) in given {
        if known.iter().all(|one| one.name != *name) {
            let name = clean(name, 100);
            let text = format!("the skill has no argument `{name}`; {}", names());
            return Err(HostFailure::Failed(text));
        }
    }
    for wanted in known.iter().filter(|one| one.required == Some(true)) {
        if given.iter().all(|(name, _)| *name != wanted.name) {
            let name = clean(&wanted.name, 100);
            let text = format!("the skill needs the argument `{name}`; {}", names());
            return Err(HostFailure::Failed(text));
        }
    }
    Ok(())
}

fn messages(told: GetPromptResult) -> Vec<SkillMessage> {
    let count = told.messages.len();
    let message = |one: rmcp::model::PromptMessage| SkillMessage {
        role: match one.role {
            Role::Assistant => SkillRole::Assistant,
            _ => SkillRole::User,
        },
        content: block(one.content),
    };
    let mut all: Vec<SkillMessage> = told
        .messages
        .into_iter()
        .take(MOST_MESSAGES)
        .map(message)
        .collect();
    if count > MOST_MESSAGES {
        let more = count - MOST_MESSAGES;
        let text = format!("({more} more messages were left out)");
        all.push(SkillMessage {
            role: SkillRole::User,
            content: toolbay_contract::Content::Text(text),
        });
    }
    all
}
