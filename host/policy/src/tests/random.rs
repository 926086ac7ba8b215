//! Random policies and calls from a seed: the same run everywhere, every time.

use crate::claims::{Claims, HookWord, Opinion, Reach, Subject};
use crate::{Anchors, Provenance, Request, Rule, Rules, Source, Study};

/// SplitMix64.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below the bound, which is not zero.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    pub fn pick<'a, T: ?Sized>(&mut self, choices: &[&'a T]) -> &'a T {
        choices[self.below(choices.len())]
    }

    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        for at in (1..list.len()).rev() {
            list.swap(at, self.below(at + 1));
        }
    }

    pub fn source(&mut self) -> Source {
        Source::ALL[self.below(Source::ALL.len())]
    }

    pub fn rule(&mut self) -> Rule {
        let tool = self.pick(&[
            "T",
            "T",
            "T",
            "U",
            "mcp__a",
            "mcp__a__*",
            "mcp__a__t",
            "*",
            "Read",
            "Edit",
        ]);
        let text = if self.below(6) == 0 {
            tool.to_owned()
        } else {
            format!("{tool}({})", self.content(tool))
        };
        self.written_anywhere(&text)
    }

    fn content(&mut self, tool: &str) -> &'static str {
        let paths = [
            "./src/**",
            "*.pem",
            ".env",
            "./a",
            "//etc/**",
            "**/secret/**",
            "~/.ssh",
            "src/*.rs",
            "./",
            "x[ab]",
        ];
        if matches!(tool, "Read" | "Edit") {
            return paths[self.below(paths.len())];
        }
        let others = [
            "git:*",
            "git push:*",
            "git push",
            "git * main",
            "npm run test*",
            "* --force",
            "*",
            "npm run:*",
            "curl:*",
            "bash:*",
            "make",
            "cat *",
            "touch x",
            "rm -rf:*",
            "g* push",
            "domain:example.com",
            "domain:*.example.com",
            "domain:*",
            "plain text",
        ];
        if self.below(3) == 0 {
            return paths[self.below(paths.len())];
        }
        others[self.below(others.len())]
    }

    fn written_anywhere(&mut self, text: &str) -> Rule {
        let anchors = Anchors {
            home: Some("/home/me".into()),
            cwd: "/p".into(),
            settings: "/p".into(),
        };
        let provenance = Provenance::of(self.source());
        Rule::parse(text, &anchors).unwrap().from(provenance)
    }

    pub fn rules(&mut self, most: usize) -> Rules {
        let mut list = || (0..self.below(most)).map(|_| self.rule()).collect();
        Rules {
            deny: list(),
            ask: list(),
            allow: list(),
        }
    }

    pub fn command(&mut self) -> &'static str {
        const COMMANDS: &[&str] = &[
            "git push",
            "git push origin main",
            "git push --force",
            "npm run test",
            "npm run test:unit",
            "npm run build",
            "curl x",
            "ls",
            "cat .env",
            "cat src/a.rs",
            "touch x",
            "make",
            "rm -rf ~",
            "rm -rf build",
            "bash x.sh",
            "'git push' main",
            "gi? push",
            "LD_PRELOAD=x curl y",
            "$X y",
            "cat /etc/passwd",
            "cat ~/.ssh/id",
            "echo hi > a",
            "env curl x",
            "bash -c 'curl x'",
        ];
        COMMANDS[self.below(COMMANDS.len())]
    }

    pub fn subject(&mut self) -> Subject {
        match self.below(6) {
            0 => {
                let url = self.pick(&[
                    "https://example.com/x",
                    "https://a.example.com",
                    "https:example.com",
                    "https://other.example",
                ]);
                Subject::Url(url.into())
            }
            1 | 2 => {
                let path = self.pick(&[
                    "/p/src/a.rs",
                    "/p/a",
                    "/p/.env",
                    "/etc/passwd",
                    "/p/k.pem",
                    "/p/secret/x",
                    "/home/me/.ssh/id",
                    "/p/xa",
                    "/p/.own/s",
                    "/q/secret/y",
                ]);
                Subject::Path(path.into())
            }
            3 => Subject::Text(self.pick(&["plain text", "*", "other"]).into()),
            _ => {
                let joint = self.pick(&["", "", " && ", "; ", " | ", "\n"]);
                let mut script = self.command().to_owned();
                if !joint.is_empty() {
                    script = format!("{script}{joint}{}", self.command());
                }
                Subject::Command(script)
            }
        }
    }

    pub fn request(&mut self) -> Request {
        let subjects: Vec<Subject> = (0..self.below(3)).map(|_| self.subject()).collect();
        self.request_about(subjects)
    }

    pub fn request_about(&mut self, subjects: Vec<Subject>) -> Request {
        let why = || "x".to_owned();
        Request {
            cage: crate::outside::CageWish::Inside,
            call_id: "1".into(),
            tool: self
                .pick(&["T", "T", "T", "U", "mcp__a__t", "mcp__b__t"])
                .into(),
            input: "{}".into(),
            subjects,
            claims: Claims {
                read_only: self.below(2) == 0,
                ..Claims::STRICT
            },
            reach: match self.below(3) {
                0 => Reach::default(),
                1 => Reach {
                    files: true,
                    ..Reach::default()
                },
                _ => Reach::ALL,
            },
            opinion: match self.below(12) {
                0 => Opinion::Allow(why()),
                1 => Opinion::Ask(why()),
                2 => Opinion::Deny(why()),
                _ => Opinion::None,
            },
            hooks: match self.below(12) {
                0 => HookWord::Allow(why()),
                1 => HookWord::Ask(why()),
                2 => HookWord::Deny(why()),
                _ => HookWord::None,
            },
            aliases: Vec::new(),
            study: Study::default(),
        }
    }
}
