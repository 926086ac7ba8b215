//! What the Linux kernel grants, and its reasons when it does not.

use std::io::{Error, Result};

use crate::{Answer, system};

const ACTIONS: &str = "/proc/sys/kernel/seccomp/actions_avail";
const NAMESPACE_LIMIT: &str = "/proc/sys/user/max_user_namespaces";
const APPARMOR_LIMIT: &str = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns";

pub(crate) fn landlock() -> Answer {
    judge_landlock(system::landlock_abi())
}

pub(crate) fn judge_landlock(abi: Result<i64>) -> Answer {
    match abi {
        Ok(abi) if abi >= 1 => Ok(format!("ABI {abi}")),
        Ok(abi) => Err(format!("the kernel answers with ABI {abi}")),
        Err(error) => Err(match error.raw_os_error() {
            Some(libc::ENOSYS) => "the kernel has no Landlock (it came with Linux 5.13)".into(),
            Some(libc::EOPNOTSUPP) => "Landlock is switched off at boot (`lsm=`)".into(),
            _ => format!("the kernel refuses: {error}"),
        }),
    }
}

pub(crate) fn seccomp() -> Answer {
    judge_seccomp(system::seccomp_mode(), std::fs::read_to_string(ACTIONS))
}

pub(crate) fn judge_seccomp(mode: Result<i32>, actions: Result<String>) -> Answer {
    mode.map_err(|error| format!("the kernel has no seccomp: {error}"))?;
    let actions = actions.map_err(|error| format!("no filters: {ACTIONS}: {error}"))?;
    // Filters that answer with an error are the kind a cage needs.
    if actions.split_whitespace().any(|action| action == "errno") {
        Ok(format!("filters with {}", actions.trim()))
    } else {
        Err(format!("filters cannot refuse, only: {}", actions.trim()))
    }
}

pub(crate) fn user_namespaces() -> Answer {
    judge_namespaces(system::try_namespaces(), |file| {
        std::fs::read_to_string(file).ok()
    })
}

pub(crate) fn judge_namespaces(
    tried: Result<()>,
    setting: impl Fn(&str) -> Option<String>,
) -> Answer {
    let Err(error) = tried else {
        return Ok("user, mount and network namespaces can be made".into());
    };
    let is = |file: &str, value: &str| setting(file).is_some_and(|text| text.trim() == value);
    Err(format!("{error}{}", {
        if is(NAMESPACE_LIMIT, "0") {
            format!("; {NAMESPACE_LIMIT} is 0")
        } else if is(APPARMOR_LIMIT, "1") {
            format!("; AppArmor restricts them ({APPARMOR_LIMIT} is 1)")
        } else if is_refusal(&error) {
            "; a container or a seccomp filter around this process may be the cause".into()
        } else {
            String::new()
        }
    }))
}

fn is_refusal(error: &Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EPERM | libc::EACCES))
}
