use std::path::{Path, PathBuf};

use super::*;
use crate::{Check, Place, inspect};

/// A project with links, each followed once.
struct Project;

const LINKS: &[(&str, &str)] = &[
    ("/p/notes.txt", "/etc/passwd"),
    ("/p/etc", "/etc"),
    ("/p/deep", "/p/a/b"),
    ("/p/inside.txt", "/p/src/real.txt"),
    ("/p/docs/secret.md", "/home/me/secret.md"),
];

impl FileLinks for Project {
    fn real_path(&self, path: &Path) -> PathBuf {
        for (link, target) in LINKS {
            if let Ok(rest) = path.strip_prefix(link) {
                return Path::new(target)
                    .components()
                    .chain(rest.components())
                    .collect();
            }
        }
        path.to_owned()
    }

    fn names_in(&self, folder: &Path) -> Option<Vec<String>> {
        let names: &[&str] = match folder.to_str()? {
            "/p" => &["notes.txt", "inside.txt", "plain.rs", "etc", "docs", "src"],
            "/p/docs" => &["guide.md", "secret.md"],
            "/p/src" => &["real.txt", "main.rs"],
            _ => return None,
        };
        Some(names.iter().map(|name| (*name).to_owned()).collect())
    }
}

fn place() -> Place {
    Place::new("/p")
        .with_home("/home/me")
        .with_links(LinkResolver::new(Project))
}

#[test]
fn a_function_can_say_where_links_lead() {
    let resolver = LinkResolver::new(|path: &Path| match path == Path::new("/p/a") {
        true => PathBuf::from("/etc/passwd"),
        false => path.to_owned(),
    });
    let place = Place::new("/p").with_links(resolver);
    assert!(inspect("cat a", &place).has(Check::OutsidePath));
    assert!(inspect("cat b", &place).read_only());
}

#[test]
fn a_function_knows_no_names_so_that_of_a_pattern_only_the_folder_is_followed() {
    let resolver = LinkResolver::new(|path: &Path| match path == Path::new("/p") {
        true => path.to_owned(),
        false => PathBuf::from("/etc/passwd"),
    });
    let place = Place::new("/p").with_links(resolver);
    assert!(inspect("cat *", &place).read_only());
    assert!(inspect("cat */a", &place).read_only());
    assert!(inspect("cat a/*", &place).has(Check::OutsidePath));
}

/// A folder with so many names, of which the last is a link.
struct Crowd(usize);

impl FileLinks for Crowd {
    fn real_path(&self, path: &Path) -> PathBuf {
        match path == Path::new(&format!("/p/{}", self.0)) {
            true => PathBuf::from("/etc/passwd"),
            false => path.to_owned(),
        }
    }

    fn names_in(&self, _: &Path) -> Option<Vec<String>> {
        Some((1..=self.0).map(|name| name.to_string()).collect())
    }
}

#[test]
fn one_link_among_many_names_is_followed() {
    let place = Place::new("/p").with_links(LinkResolver::new(Crowd(2_000)));
    assert!(inspect("cat *", &place).has(Check::OutsidePath));
}

/// Names that all lie where they seem to.
struct Flock(usize);

impl FileLinks for Flock {
    fn real_path(&self, path: &Path) -> PathBuf {
        path.to_owned()
    }

    fn names_in(&self, _: &Path) -> Option<Vec<String>> {
        Some((1..=self.0).map(|name| name.to_string()).collect())
    }
}

#[test]
fn what_matches_too_many_names_to_follow_may_lead_anywhere() {
    for (names, is_inside) in [(20_000, true), (20_001, false)] {
        let place = Place::new("/p").with_links(LinkResolver::new(Flock(names)));
        let report = inspect("cat *", &place);
        assert_eq!(report.read_only(), is_inside, "{names}");
        assert_eq!(report.has(Check::OutsidePath), !is_inside, "{names}");
    }
}

#[test]
fn places_are_the_same_if_the_same_links_are_followed() {
    let one = place();
    assert_eq!(one, one.clone());
    assert_ne!(one, place());
}

#[test]
fn a_link_counts_as_what_it_leads_to() {
    for (script, inside) in [
        ("cat notes.txt", false),
        ("cat ./notes.txt", false),
        ("cat etc/passwd", false),
        ("cat etc/../x", false),
        ("cat deep/../x", true),
        ("cat deep/../../../x", false),
        ("cat inside.txt", true),
        ("cat plain.rs", true),
        ("cat < notes.txt", false),
        ("cat < inside.txt", true),
        ("ls etc", false),
        ("ls etc/", false),
        ("cd etc && ls", false),
        ("cd deep && cat ../x", true),
        ("cd deep && cat ../../../x", false),
        ("rg x etc", false),
        ("grep -f notes.txt x", false),
        ("[ -f notes.txt ]", false),
        ("find etc -name x", false),
        ("cat *.txt", false),
        ("cat *.rs", true),
        ("cat ./not*", false),
        ("cat docs/*", false),
        ("cat docs/g*", true),
        ("cat */passwd", false),
        ("cat etc/*", false),
        ("cat src/*", true),
        ("head -5 missing", true),
    ] {
        let report = inspect(script, &place());
        assert_eq!(
            report.read_only(),
            inside,
            "{script}: {:?}",
            report.findings
        );
    }
    let report = inspect("cat notes.txt", &place());
    assert!(report.has(Check::OutsidePath));
    assert!(
        report.findings[0].message.contains("/etc/passwd"),
        "{report:?}"
    );
}

#[test]
fn rules_get_to_see_the_link_and_what_it_leads_to() {
    let paths = |paths: &[PathBuf]| -> Vec<String> {
        paths
            .iter()
            .map(|path| path.display().to_string())
            .collect()
    };
    let report = inspect("cat inside.txt", &place());
    assert_eq!(paths(&report.reads), ["/p/inside.txt", "/p/src/real.txt"]);
    let report = inspect("cp x inside.txt", &place());
    assert_eq!(paths(&report.writes), ["/p/inside.txt", "/p/src/real.txt"]);
    let report = inspect("ls > etc/x", &place());
    assert_eq!(paths(&report.writes), ["/p/etc/x", "/etc/x"]);
    // A pattern at the root is about the root, not about where the script starts.
    let everywhere = place().with_roots([PathBuf::from("/")]);
    let report = inspect("cat /not*", &everywhere);
    assert_eq!(paths(&report.reads), ["/not*", "/"]);
}

#[test]
fn what_follows_links_on_its_way_may_get_anywhere() {
    for (script, stays) in [
        ("rg -L x src", false),
        ("rg --follow x", false),
        ("rg x src", true),
        ("grep -R x src", false),
        ("grep -rn x src", true),
        ("grep --dereference-recursive x src", false),
        ("find -L src -name x", false),
        ("find src -follow", false),
        ("find src -name x", true),
        ("fd -L x", false),
        ("ls -RL src", false),
        ("ls -L src", false),
        ("ls -R src", true),
        ("du -L src", false),
        ("tree -l", false),
        ("tree -L 2", true),
        ("diff -r src docs", false),
        ("diff -rq src docs", true),
    ] {
        for place in [Place::new("/p"), place()] {
            let report = inspect(script, &place);
            assert_eq!(!report.has(Check::OutsidePath), stays, "{script}");
            assert_eq!(report.read_only(), stays, "{script}");
        }
        // Where everything may be read, there is no outside.
        assert!(inspect(script, &Place::anywhere()).read_only(), "{script}");
    }
}
