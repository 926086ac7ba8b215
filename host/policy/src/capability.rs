//! What a host lends to a component, one by one and as a set.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::claims::Reach;

/// Something that a component may import, its manifest request, and a user grant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Capability {
    Files,
    Search,
    Network,
    Shell,
    AskUser,
    Tasks,
    Agents,
    Session,
}

impl Capability {
    pub const ALL: [Self; 8] = [
        Self::Files,
        Self::Search,
        Self::Network,
        Self::Shell,
        Self::AskUser,
        Self::Tasks,
        Self::Agents,
        Self::Session,
    ];

    /// Its name in manifests, settings and on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::Files => "files",
            Self::Search => "search",
            Self::Network => "network",
            Self::Shell => "shell",
            Self::AskUser => "ask-user",
            Self::Tasks => "tasks",
            Self::Agents => "agents",
            Self::Session => "session",
        }
    }

    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.word() == word)
    }

    /// What a component with it can do, for the user who is asked to grant it. Each call is still
    /// decided by itself.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Files => {
                "read files of the project, and change those that a call is permitted to"
            }
            Self::Search => "search the files of the project",
            Self::Network => "reach MCP servers and hosts that are allowed",
            Self::Shell => {
                "run commands in a cage, each decided like a call of its own: files and allowed hosts, too"
            }
            Self::AskUser => "ask you questions",
            Self::Tasks => "see and stop background tasks",
            Self::Agents => "start agents",
            Self::Session => "keep values as long as the session",
        }
    }
}

impl fmt::Display for Capability {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.word())
    }
}

impl Reach {
    pub fn has(&self, capability: Capability) -> bool {
        match capability {
            Capability::Files => self.files,
            Capability::Search => self.search,
            Capability::Network => self.network,
            Capability::Shell => self.shell,
            Capability::AskUser => self.ask_user,
            Capability::Tasks => self.tasks,
            Capability::Agents => self.agents,
            Capability::Session => self.session,
        }
    }

    #[must_use]
    pub fn with(mut self, capability: Capability) -> Self {
        let field = match capability {
            Capability::Files => &mut self.files,
            Capability::Search => &mut self.search,
            Capability::Network => &mut self.network,
            Capability::Shell => &mut self.shell,
            Capability::AskUser => &mut self.ask_user,
            Capability::Tasks => &mut self.tasks,
            Capability::Agents => &mut self.agents,
            Capability::Session => &mut self.session,
        };
        *field = true;
        self
    }

    /// What both have.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        self.iter().filter(|one| other.has(*one)).collect()
    }

    /// What one of them has.
    #[must_use]
    pub fn or(&self, other: &Self) -> Self {
        self.iter().chain(other.iter()).collect()
    }

    pub fn iter(&self) -> impl Iterator<Item = Capability> {
        Capability::ALL.into_iter().filter(|one| self.has(*one))
    }
}

impl FromIterator<Capability> for Reach {
    fn from_iter<I: IntoIterator<Item = Capability>>(all: I) -> Self {
        all.into_iter().fold(Self::default(), Self::with)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_capability_has_one_name_and_one_place_in_a_set() {
        assert_eq!(Capability::ALL.into_iter().collect::<Reach>(), Reach::ALL);
        for one in Capability::ALL {
            let alone = Reach::default().with(one);
            assert_eq!(alone.iter().collect::<Vec<_>>(), [one]);
            assert_eq!(Capability::parse(one.word()), Some(one));
            let json = serde_json::to_string(&one).unwrap();
            assert_eq!(json, format!("\"{one}\""));
        }
        assert_eq!(Capability::parse("Files"), None);
    }

    #[test]
    fn each_capability_is_explained_in_words_of_its_own() {
        let mut all: Vec<&str> = Capability::ALL.map(Capability::meaning).to_vec();
        assert!(all.iter().all(|words| words.contains(' ')), "{all:?}");
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), Capability::ALL.len());
    }

    #[test]
    fn only_what_changes_nothing_outside_a_component_is_harmless() {
        use Capability::{Agents, AskUser, Files, Network, Search, Session, Shell, Tasks};
        assert!(Reach::default().is_harmless());
        assert!(!Reach::ALL.is_harmless());
        for one in Capability::ALL {
            let wanted = match one {
                Search | AskUser | Session => true,
                Files | Network | Shell | Tasks | Agents => false,
            };
            assert_eq!(Reach::default().with(one).is_harmless(), wanted, "{one}");
        }
    }

    #[test]
    fn sets_meet_and_join() {
        let one = Reach::default()
            .with(Capability::Files)
            .with(Capability::Shell);
        let other = Reach::default()
            .with(Capability::Shell)
            .with(Capability::Tasks);
        assert_eq!(one.and(&other), Reach::default().with(Capability::Shell));
        assert_eq!(one.or(&other), one.with(Capability::Tasks));
    }
}
