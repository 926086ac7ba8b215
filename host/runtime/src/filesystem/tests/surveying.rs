//! Looking at whole files, and where paths really lead.

use toolbay_contract::HostFailure;

use super::super::{Located, Sight};
use super::folder::TestFolder;
use super::session::Session;

#[test]
fn a_survey_counts_bytes_and_lines_and_names_the_content() {
    let folder = TestFolder::new();
    let session = Session::reading(&folder);
    let long = "line of text\n".repeat(20_000);
    let open_end = format!("{long}end");
    let mut digests = Vec::new();
    for (content, lines) in [
        ("", 0),
        ("\n", 1),
        ("a", 1),
        ("a\nb", 2),
        ("a\nb\n", 2),
        ("a\nb\nc", 3),
        (&long, 20_000),
        (&open_end, 20_001),
    ] {
        folder.write("project/x", content);
        let sight = Sight::open(&session.fence, &folder.at("project/x")).unwrap();
        assert_eq!(sight.bytes, content.len() as u64);
        let survey = sight.survey(7, &|| false).unwrap();
        assert_eq!((survey.bytes, survey.lines), (content.len() as u64, lines));
        digests.push(survey.digest);
        let other = Sight::open(&session.fence, &folder.at("project/x")).unwrap();
        let other = other.survey(8, &|| false).unwrap();
        assert_ne!(digests.last(), Some(&other.digest));
    }
    let mut unique = digests.clone();
    unique.sort();
    unique.dedup();
    assert_eq!(unique.len(), digests.len());
}

#[test]
fn the_digest_of_a_replacement_is_that_of_the_file() {
    let folder = TestFolder::with_files();
    let session = Session::writing(&folder);
    let at = folder.at("project/docs/b.txt");
    let survey = || {
        Sight::open(&session.fence, &at)
            .unwrap()
            .survey(7, &|| false)
    };
    let old = survey().unwrap().digest;
    let located = Located::find(&session.fence, &at).unwrap();
    let told = located.replace(&session.fence, b"fresh", 7, &|| false, |current| {
        assert_eq!(current, Some(&*old));
        Ok(())
    });
    assert_eq!(told.unwrap(), survey().unwrap().digest);
}

#[test]
fn what_cannot_be_looked_at_is_described() {
    let folder = TestFolder::with_files();
    let session = Session::writing(&folder);
    for (path, wanted) in [
        ("project/missing", "does not exist"),
        ("project/docs", "is a folder"),
        ("project/a.txt/x", "a part of the path is not a folder"),
        ("project/docs/secret/key", "access was not granted"),
    ] {
        let failure = Sight::open(&session.fence, &folder.at(path)).err();
        let Some(HostFailure::Failed(text)) = failure else {
            panic!("{path}: {failure:?}");
        };
        assert!(text.contains(wanted) && text.contains(path), "{text}");
    }
    let denied = Sight::open(&session.fence, &folder.at("outside/o.txt")).err();
    assert!(matches!(denied, Some(HostFailure::Denied(_))), "{denied:?}");
    let sight = Sight::open(&session.fence, &folder.at("project/a.txt")).unwrap();
    let stopped = sight.survey(7, &|| true).err();
    assert!(
        matches!(stopped, Some(HostFailure::Failed(_))),
        "{stopped:?}"
    );
}

#[test]
fn what_is_too_large_is_not_looked_through() {
    let folder = TestFolder::with_files();
    let session = Session::writing(&folder);
    let at = folder.at("project/docs/sparse");
    let file = std::fs::File::create(&at).unwrap();
    file.set_len(1 << 40).unwrap();
    let sight = Sight::open(&session.fence, &at).unwrap();
    let looked = std::cell::Cell::new(0);
    let counting = || {
        looked.set(looked.get() + 1);
        false
    };
    let failure = sight.survey(7, &counting).err();
    assert_eq!(failure, Some(HostFailure::TooLarge(1 << 40)));
    assert_eq!(looked.get(), 0);
    // One that grew after it was opened is given up at the bound.
    file.set_len(0).unwrap();
    let sight = Sight::open(&session.fence, &at).unwrap();
    file.set_len(1 << 40).unwrap();
    let failure = sight.survey(7, &counting).err();
    assert_eq!(failure, Some(HostFailure::TooLarge((1 << 30) + 1)));
    let located = Located::find(&session.fence, &at).unwrap();
    let replaced = located.replace(&session.fence, b"x", 7, &|| false, |_| Ok(()));
    assert!(replaced.is_err());
    assert_eq!(at.metadata().unwrap().len(), 1 << 40);
}

#[test]
fn a_path_is_found_where_it_really_leads() {
    let folder = TestFolder::with_files();
    folder.link("{}/project/docs", "project/to_docs");
    let session = Session::writing(&folder);
    for (path, wanted) in [
        ("project", Some("project")),
        ("project/docs/../a.txt", Some("project/a.txt")),
        ("project/to_docs", Some("project/docs")),
        ("project/to_docs/b.txt", Some("project/docs/b.txt")),
        ("project/docs/secret", None),
        ("project/missing", None),
    ] {
        let located = Located::find(&session.fence, &folder.at(path)).unwrap();
        let real = located.real(&session.fence).ok();
        let wanted = wanted.map(|real| (folder.at(real), folder.project()));
        assert_eq!(real, wanted, "{path}");
    }
    assert!(Located::find(&session.fence, &folder.at("outside")).is_err());
}
