//! The tables that are built in: every file of `tables/`. A test compares.

/// The name of each file, and its text.
pub(super) const FILES: &[(&str, &str)] = &[
    ("cloud.toml", include_str!("../../tables/cloud.toml")),
    (
        "containers.toml",
        include_str!("../../tables/containers.toml"),
    ),
    (
        "coreutils.toml",
        include_str!("../../tables/coreutils.toml"),
    ),
    ("data.toml", include_str!("../../tables/data.toml")),
    ("files.toml", include_str!("../../tables/files.toml")),
    ("git.toml", include_str!("../../tables/git.toml")),
    (
        "javascript.toml",
        include_str!("../../tables/javascript.toml"),
    ),
    (
        "languages.toml",
        include_str!("../../tables/languages.toml"),
    ),
    ("python.toml", include_str!("../../tables/python.toml")),
    ("rust.toml", include_str!("../../tables/rust.toml")),
    ("search.toml", include_str!("../../tables/search.toml")),
    ("system.toml", include_str!("../../tables/system.toml")),
    ("text.toml", include_str!("../../tables/text.toml")),
];
