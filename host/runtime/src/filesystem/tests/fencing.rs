//! What the fence answers, and what it reports.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use toolbay_contract::{AuditEvent, RulesNow};
use toolbay_policy::{Anchors, Capability, Closed, PathRules, Reach, Rule, Rules, Zone, Zones};
use wasmtime_wasi::p2::bindings::filesystem::types::ErrorCode;

use super::super::fence::{Fence, Wish};
use super::folder::TestFolder;
use super::session::Recorder;
use crate::gate::CapabilityGate;

fn rules(unreadable: &str) -> RulesNow {
    let closed = Closed {
        unreadable: vec![unreadable.into()],
        ..Closed::default()
    };
    RulesNow::fixed(Arc::new(PathRules::default().and_closed(&closed)))
}

fn roots(roots: &[&Path]) -> Arc<[PathBuf]> {
    roots.iter().map(|root| root.to_path_buf()).collect()
}

#[test]
fn refusals_are_reported_with_path_power_and_reason() {
    let recorder = Arc::new(Recorder::default());
    let fence = Fence::reading(roots(&[Path::new("/p")]), rules("/p/secret"))
        .with_zones(Zones::new(vec![
            Zone::Folder("/p/docs".into()),
            Zone::File("/q/named".into()),
        ]))
        .reporting(recorder.clone(), "tool".into(), "call-1".into());
    for (path, wish, wanted) in [
        ("/p/a", Wish::Read, None),
        ("/q/named", Wish::Read, None),
        ("/q/beside", Wish::Read, Some("outside what was granted")),
        ("/p/secret/key", Wish::Read, Some("closed by")),
        ("/p/secret/key", Wish::Write, Some("closed by")),
        ("/p/secret/x", Wish::MakeFolder, Some("closed by")),
        ("/p/docs/a", Wish::Write, None),
        ("/p/docs/a", Wish::MakeFolder, None),
        ("/p/a", Wish::Write, Some("not permitted to write")),
        ("/p/a", Wish::MakeFolder, Some("not permitted to write")),
        ("/p/docs/.git", Wish::Write, Some("`.git` is protected")),
        ("/proc/1/environ", Wish::Read, Some("kernel")),
        ("/dev/null", Wish::Write, Some("kernel")),
    ] {
        let answer = fence.check(Path::new(path), wish, "poke");
        let reported = recorder.take();
        let Some(reason) = wanted else {
            assert_eq!((answer, reported), (Ok(()), vec![]), "{path} {wish:?}");
            continue;
        };
        assert_eq!(answer, Err(ErrorCode::Access), "{path} {wish:?}");
        let [
            AuditEvent::PowerRefused {
                power,
                detail,
                path: at,
                ..
            },
        ] = &reported[..]
        else {
            panic!("{path} {wish:?}: {reported:?}");
        };
        assert_eq!(power, "files: poke");
        assert_eq!(at.as_deref(), Some(Path::new(path)));
        assert!(detail.contains(reason), "{path} {wish:?}: {detail}");
    }
}

#[test]
fn walkers_that_pass_by_report_nothing() {
    let recorder = Arc::new(Recorder::default());
    let fence = Fence::reading(roots(&[Path::new("/p")]), RulesNow::default()).reporting(
        recorder.clone(),
        "tool".into(),
        "call-1".into(),
    );
    assert!(fence.may_read(Path::new("/p/a")));
    assert!(!fence.may_read(Path::new("/q/a")));
    assert_eq!(recorder.take(), []);
}

#[test]
fn a_call_without_zones_is_read_only_in_every_way() {
    let fence = Fence::reading(roots(&[Path::new("/p")]), RulesNow::default());
    assert!(fence.is_read_only() && !fence.has_rules());
    for wish in [Wish::Write, Wish::MakeFolder] {
        let answer = fence.check(Path::new("/p/a"), wish, "poke");
        assert_eq!(answer, Err(ErrorCode::ReadOnly), "{wish:?}");
    }
    let fence = Fence::reading(roots(&[Path::new("/p")]), rules("/p/secret"))
        .with_zones(Zones::new(vec![Zone::File("/p/a".into())]));
    assert!(!fence.is_read_only() && fence.has_rules());
    assert_eq!(fence.roots(), [PathBuf::from("/p")]);
}

#[test]
fn a_closed_fence_has_no_folders_and_opens_nothing() {
    let fence = Fence::closed();
    assert!(fence.preopens().is_empty() && fence.roots().is_empty());
    assert!(fence.is_read_only() && !fence.has_rules());
    assert!(!fence.may_read(Path::new("/")));
}

#[test]
fn a_component_without_files_finds_folders_and_is_refused_all_of_them() {
    let recorder = Arc::new(Recorder::default());
    let gate = CapabilityGate::new(Reach::default());
    let open = Fence::reading(roots(&[Path::new("/p")]), RulesNow::default())
        .with_zones(Zones::new(vec![Zone::Folder("/p/docs".into())]))
        .reporting(recorder.clone(), "tool".into(), "call-1".into());
    let fence = open.closed_by(gate.clone());
    assert_eq!(fence.preopens(), [PathBuf::from("/p")]);
    assert!(fence.is_read_only());
    assert_eq!(gate.missed(), []);
    for wish in [Wish::Read, Wish::Write, Wish::MakeFolder] {
        let answer = fence.check(Path::new("/p/docs/a"), wish, "poke");
        assert_eq!(answer, Err(ErrorCode::Access), "{wish:?}");
        let reported = recorder.take();
        let [AuditEvent::PowerRefused { detail, .. }] = &reported[..] else {
            panic!("{wish:?}: {reported:?}");
        };
        assert!(detail.contains("not granted `files`"), "{detail}");
    }
    assert_eq!(gate.missed(), [Capability::Files]);
}

#[test]
fn granted_paths_outside_the_roots_bring_their_folders() {
    let folder = TestFolder::with_files();
    let zones = vec![
        Zone::Folder(folder.at("project/docs")),
        Zone::Folder(folder.at("outside/made/later")),
    ];
    let extra = vec![
        Zone::File(folder.at("outside/o.txt")),
        Zone::File(folder.at("else/where.txt")),
    ];
    let fence = Fence::reading(roots(&[&folder.project()]), RulesNow::default())
        .with_zones(Zones::new(zones))
        .with_extra_reads(Zones::new(extra));
    let found: Vec<_> = fence.preopens();
    assert_eq!(
        found,
        [folder.project(), folder.at("outside"), folder.base.clone()]
    );
    for (path, home) in [
        ("project/docs/b.txt", Some("project")),
        ("outside/o.txt", Some("outside")),
        ("else/where.txt", Some("")),
    ] {
        let home = home.map(|home| folder.at(home));
        let found = fence.home_of(&folder.at(path));
        assert_eq!(
            found.map(|path| folder.name(&path)),
            home.map(|path| folder.name(&path)),
            "{path}"
        );
    }
    assert_eq!(fence.home_of(Path::new("/nowhere")), None);
}

#[test]
fn a_name_over_a_link_is_closed_by_a_rule_about_it() {
    let folder = TestFolder::new();
    let root = folder.project();
    for (target, link) in [("prod", ".env"), ("prod", "open"), ("real", "docs")] {
        std::os::unix::fs::symlink(target, root.join(link)).unwrap();
    }
    let anchors = Anchors {
        home: None,
        cwd: root.clone(),
        settings: root.clone(),
    };
    let deny = ["Read(.env)", "Edit(./docs/**)"];
    let deny = deny.map(|text| Rule::parse(text, &anchors).unwrap());
    let rules = PathRules::of(&Rules {
        deny: deny.into(),
        ..Rules::default()
    });
    let roots: Arc<[PathBuf]> = Arc::from([root.clone()]);
    let ruled = Fence::reading(roots.clone(), RulesNow::fixed(Arc::new(rules)));
    let free = Fence::reading(roots, RulesNow::default());
    for (name, wish, closed) in [
        (".env", Wish::Read, true),
        (".env", Wish::Write, true),
        ("open", Wish::Read, false),
        ("prod", Wish::Read, false),
        ("docs/new", Wish::Write, true),
        ("docs/new", Wish::Read, false),
    ] {
        let path = root.join(name);
        let checked = ruled.check_names(&path, wish, "test");
        assert_eq!(checked.is_err(), closed, "{name} {wish:?}");
        assert!(free.check_names(&path, wish, "test").is_ok(), "{name}");
    }
}
