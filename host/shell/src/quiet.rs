//! What keeps reading programs from keeping notes of their own.

/// Variables for whoever runs a command because it was judged read-only. Some programs write
/// although they are only asked something: git refreshes its index, others look for a newer version
/// of themselves or keep a log. And what a repository's own settings could start is switched off.
pub const QUIET: &[(&str, &str)] = &[
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_PAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_CONFIG_COUNT", "10"),
    ("GIT_CONFIG_KEY_0", "core.fsmonitor"),
    ("GIT_CONFIG_VALUE_0", "false"),
    ("GIT_CONFIG_KEY_1", "core.hooksPath"),
    ("GIT_CONFIG_VALUE_1", "/dev/null"),
    ("GIT_CONFIG_KEY_2", "diff.autoRefreshIndex"),
    ("GIT_CONFIG_VALUE_2", "false"),
    ("GIT_CONFIG_KEY_3", "gpg.program"),
    ("GIT_CONFIG_VALUE_3", "/bin/false"),
    ("GIT_CONFIG_KEY_4", "core.sshCommand"),
    ("GIT_CONFIG_VALUE_4", "/bin/false"),
    ("GIT_CONFIG_KEY_5", "protocol.ext.allow"),
    ("GIT_CONFIG_VALUE_5", "never"),
    ("GIT_CONFIG_KEY_6", "log.showSignature"),
    ("GIT_CONFIG_VALUE_6", "false"),
    ("GIT_CONFIG_KEY_7", "core.untrackedCache"),
    ("GIT_CONFIG_VALUE_7", "false"),
    ("GIT_CONFIG_KEY_8", "core.pager"),
    ("GIT_CONFIG_VALUE_8", "cat"),
    // A folder of the project that looks like a repository without a work tree is none.
    ("GIT_CONFIG_KEY_9", "safe.bareRepository"),
    ("GIT_CONFIG_VALUE_9", "explicit"),
    ("PAGER", "cat"),
    ("MANPAGER", "cat"),
    ("SYSTEMD_PAGER", "cat"),
    ("AWS_PAGER", ""),
    ("PIP_DISABLE_PIP_VERSION_CHECK", "1"),
    ("PYTHONDONTWRITEBYTECODE", "1"),
    ("CHECKPOINT_DISABLE", "1"),
    ("GH_NO_UPDATE_NOTIFIER", "1"),
    ("GOTELEMETRY", "off"),
    ("HOMEBREW_NO_AUTO_UPDATE", "1"),
    ("DOTNET_CLI_TELEMETRY_OPTOUT", "1"),
    ("DOTNET_SKIP_FIRST_TIME_EXPERIENCE", "1"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_settings_of_git_as_are_counted() {
        let value = |name: &str| {
            QUIET
                .iter()
                .find(|(key, _)| *key == name)
                .map(|(_, value)| *value)
        };
        let count: usize = value("GIT_CONFIG_COUNT").unwrap().parse().unwrap();
        for at in 0..=count {
            for part in ["KEY", "VALUE"] {
                let is_there = value(&format!("GIT_CONFIG_{part}_{at}")).is_some();
                assert_eq!(is_there, at < count, "{part} {at}");
            }
        }
    }
}
