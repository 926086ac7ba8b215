//! What the probes conclude, for kernels better and worse than this one.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use super::*;

#[test]
fn every_ability_is_listed_once_and_says_why() {
    let abilities = probe();
    let names: Vec<&str> = abilities.iter().map(|ability| ability.name).collect();
    assert_eq!(
        names,
        [
            "landlock",
            "seccomp",
            "user-namespaces",
            "bubblewrap",
            "sandbox-exec"
        ]
    );
    for ability in abilities {
        assert!(!ability.detail.is_empty(), "{}", ability.name);
    }
}

#[test]
fn probing_twice_gives_the_same_answer() {
    assert_eq!(probe(), probe());
}

#[test]
fn an_empty_search_path_has_no_bubblewrap() {
    let abilities = probe_with(OsStr::new(""));
    let found = abilities
        .iter()
        .find(|ability| ability.name == "bubblewrap");
    assert!(!found.unwrap().available);
}

#[cfg(unix)]
#[test]
fn only_an_executable_file_in_an_absolute_folder_is_a_program() {
    use std::os::unix::fs::PermissionsExt;
    let root = std::env::temp_dir().join(format!("toolbay-sandbox-{}", std::process::id()));
    let folder = |name: &str| root.join(name);
    for (name, mode) in [("plain", 0o644), ("good", 0o755)] {
        std::fs::create_dir_all(folder(name)).unwrap();
        let file = folder(name).join("bwrap");
        std::fs::write(&file, "").unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
    }
    std::fs::create_dir_all(folder("folder/bwrap")).unwrap();
    let search = |names: &[&str]| {
        let path = std::env::join_paths(names.iter().map(|name| folder(name))).unwrap();
        path::find_program("bwrap", &path)
    };
    assert_eq!(search(&["plain", "folder"]), None);
    assert_eq!(
        search(&["plain", "good"]),
        Some(folder("good").join("bwrap"))
    );
    assert_eq!(path::find_program("bwrap", OsStr::new("good:.")), None);
    std::fs::remove_dir_all(root).unwrap();
}

#[cfg(target_os = "linux")]
mod on_linux {
    use std::io::Error;

    use crate::linux::{judge_landlock, judge_namespaces, judge_seccomp};

    fn refused<T>(code: i32) -> std::io::Result<T> {
        Err(Error::from_raw_os_error(code))
    }

    #[test]
    fn landlock_tells_absent_from_switched_off() {
        assert_eq!(judge_landlock(Ok(6)), Ok("ABI 6".into()));
        for (answer, part) in [
            (Ok(0), "ABI 0"),
            (refused(libc::ENOSYS), "has no Landlock"),
            (refused(libc::EOPNOTSUPP), "at boot"),
            (refused(libc::EPERM), "refuses"),
        ] {
            let reason = judge_landlock(answer).unwrap_err();
            assert!(reason.contains(part), "{reason}");
        }
    }

    #[test]
    fn seccomp_counts_only_with_filters_that_refuse() {
        assert!(judge_seccomp(Ok(0), Ok("kill_process errno allow\n".into())).is_ok());
        assert!(judge_seccomp(Ok(0), Ok("kill_thread allow".into())).is_err());
        assert!(judge_seccomp(Ok(0), refused(libc::ENOENT)).is_err());
        assert!(judge_seccomp(refused(libc::EINVAL), Ok("errno".into())).is_err());
    }

    #[test]
    fn refused_namespaces_name_the_setting_at_fault() {
        let with = |file: &'static str, value: &'static str| {
            move |asked: &str| asked.contains(file).then(|| value.to_string())
        };
        assert!(judge_namespaces(Ok(()), |_| None).is_ok());
        for (reason, part) in [
            (
                judge_namespaces(refused(libc::ENOSPC), with("max_user", "0\n")),
                "max_user_namespaces is 0",
            ),
            (
                judge_namespaces(refused(libc::EPERM), with("apparmor", "1\n")),
                "AppArmor",
            ),
            (
                judge_namespaces(refused(libc::EPERM), |_| None),
                "container",
            ),
        ] {
            let reason = reason.unwrap_err();
            assert!(reason.contains(part), "{reason}");
        }
    }
}
