//! What a component could use at most, read off its imports.

use toolbay_policy::Reach;

/// Reads the reach off a component's import names.
pub(crate) fn reach_of<'a>(imports: impl Iterator<Item = &'a str>) -> Reach {
    let mut reach = Reach::default();
    for import in imports {
        let interface = import.split('@').next().unwrap_or(import);
        match interface {
            "wasi:filesystem/types" | "wasi:filesystem/preopens" | "toolbay:host/files" => {
                reach.files = true;
            }
            "toolbay:host/search" => reach.search = true,
            "toolbay:host/shell" => reach.shell = true,
            "toolbay:host/ask-user" => reach.ask_user = true,
            "toolbay:host/tasks" => reach.tasks = true,
            "toolbay:host/agents" => reach.agents = true,
            "toolbay:host/session" => reach.session = true,
            // Servers may be anywhere, and are told what is read or filled in.
            "toolbay:host/resources" | "toolbay:host/skills" => reach.network = true,
            _ if crate::refuse::is_refused(interface) => reach.network = true,
            _ => {}
        }
    }
    reach
}

/// What the imports rule out, in words for people. Said of what follows from a capability, too: a
/// command opens files and hosts, and an agent has tools of its own.
pub fn ruled_out(reach: &Reach) -> Vec<&'static str> {
    let mut all = Vec::new();
    let mut say = |can: bool, sentence: &'static str| {
        if !can {
            all.push(sentence);
        }
    };
    let runs = reach.shell || reach.agents;
    say(reach.network || runs, "can never use the network");
    say(
        reach.files || reach.search || runs,
        "can never see or touch a file",
    );
    say(reach.files || runs, "can never write a file");
    say(runs, "can never run a command");
    say(reach.agents, "can never start an agent");
    say(reach.tasks, "can never touch background tasks");
    say(reach.ask_user, "can never ask you a question");
    say(reach.session, "keeps nothing between calls");
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_bound_what_a_component_can_do() {
        let reach = reach_of(
            [
                "wasi:filesystem/types@0.2.6",
                "wasi:http/types@0.2.0",
                "wasi:cli/stdout@0.2.6",
                "toolbay:host/session@0.1.0",
            ]
            .into_iter(),
        );
        assert!(reach.files && reach.network && reach.session);
        assert!(!reach.shell && !reach.agents && !reach.search);
        assert!(ruled_out(&reach).contains(&"can never run a command"));
        assert!(!ruled_out(&reach).contains(&"can never use the network"));
        assert!(ruled_out(&Reach::default()).contains(&"can never see or touch a file"));
    }

    #[test]
    fn what_follows_from_a_capability_is_not_ruled_out() {
        for (import, possible) in [
            (
                "toolbay:host/shell@0.1.0",
                &["network", "touch a file", "write a file", "command"][..],
            ),
            (
                "toolbay:host/agents@0.1.0",
                &[
                    "network",
                    "touch a file",
                    "write a file",
                    "command",
                    "agent",
                ],
            ),
            ("toolbay:host/search@0.1.0", &["touch a file"]),
        ] {
            let all = ruled_out(&Reach::default());
            let left = ruled_out(&reach_of([import].into_iter()));
            let gone = all.iter().filter(|sentence| !left.contains(sentence));
            let gone: Vec<_> = gone.collect();
            assert_eq!(gone.len(), possible.len(), "{import}: {gone:?}");
            for (sentence, word) in gone.iter().zip(possible) {
                assert!(sentence.contains(word), "{import}: {sentence}");
            }
        }
    }

    #[test]
    fn what_only_looks_on_reaches_nothing() {
        let imports = ["toolbay:host/context@0.1.0", "toolbay:host/tools@0.1.0"];
        assert_eq!(reach_of(imports.into_iter()), Reach::default());
    }
}
