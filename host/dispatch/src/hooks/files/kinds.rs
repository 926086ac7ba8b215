//! Which programs run the files that they are given, and which files are scripts by their names.

use std::path::Path;

/// Run the file that follows them; versions may follow their names.
const INTERPRETERS: &[&str] = &[
    ".",
    "source",
    "sh",
    "bash",
    "dash",
    "zsh",
    "ksh",
    "mksh",
    "ash",
    "busybox",
    "fish",
    "csh",
    "tcsh",
    "elvish",
    "nu",
    "xonsh",
    "python",
    "pypy",
    "ipython",
    "node",
    "nodejs",
    "deno",
    "bun",
    "ruby",
    "jruby",
    "perl",
    "raku",
    "php",
    "lua",
    "luajit",
    "tsx",
    "ts-node",
    "pwsh",
    "make",
    "gmake",
    "just",
    "java",
    "jshell",
    "wasmtime",
    "wasmer",
    "tclsh",
    "wish",
    "expect",
    "R",
    "Rscript",
    "julia",
    "groovy",
    "elixir",
    "iex",
    "erl",
    "escript",
    "clojure",
    "clj",
    "bb",
    "lein",
    "guile",
    "racket",
    "chicken",
    "csi",
    "scheme",
    "sbcl",
    "clisp",
    "ecl",
    "emacs",
    "swipl",
    "gprolog",
    "octave",
    "octave-cli",
    "gnuplot",
    "dotnet",
    "fsi",
    "mono",
    "go",
    "swift",
    "dart",
    "kotlin",
    "kotlinc",
    "scala",
    "scala-cli",
    "amm",
    "nix",
    "nix-shell",
    "nix-instantiate",
    "nix-build",
    "osascript",
    "m4",
    "sqlite",
    "runghc",
    "runhaskell",
    "ocaml",
    "crystal",
    "nim",
    "zig",
    "rust-script",
    "qjs",
    "d8",
    "run-parts",
];

/// Run a file behind an option; what else they are given is data, and that is most of what hooks do with
/// them.
const FILTERS: &[&str] = &["awk", "gawk", "mawk", "nawk", "sed", "gsed", "jq", "gojq"];
/// Those whose next words were always taken for what they run.
const OLD_FILTERS: &[&str] = &["awk", "gawk", "jq"];

/// Run what they read, if they are given no file.
const READERS: &[&str] = &[
    "sh",
    "bash",
    "dash",
    "zsh",
    "ksh",
    "mksh",
    "ash",
    "busybox",
    "fish",
    "csh",
    "tcsh",
    "nu",
    "elvish",
    "xonsh",
    "python",
    "pypy",
    "ipython",
    "node",
    "nodejs",
    "deno",
    "bun",
    "ruby",
    "jruby",
    "perl",
    "raku",
    "php",
    "lua",
    "luajit",
    "tsx",
    "ts-node",
    "pwsh",
    "tclsh",
    "expect",
    "R",
    "Rscript",
    "julia",
    "groovy",
    "guile",
    "racket",
    "sbcl",
    "swipl",
    "octave",
    "osascript",
    "source",
    ".",
];

/// Shells: their flags without a value are known, and a text that they are given is a command.
const SHELLS: &[&str] = &["sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish"];
const PYTHONS: &[&str] = &["python", "pypy"];
const SHELL_SWITCHES: &str = "aefhiklmnpstuvxBCEHPT";
const PYTHON_SWITCHES: &str = "bBdEhiIOPqsSuvVx";

/// Take their script behind an option as well.
const BY_OPTION: &[&str] = &["make", "gmake", "java", "just", "expect"];
const SCRIPT_OPTIONS: &[&str] = &["-f", "--file", "--from-file", "-jar", "-m"];

/// Endings of files that are run by giving them to another program.
const SCRIPTS: &[&str] = &[
    "sh",
    "bash",
    "zsh",
    "ksh",
    "fish",
    "csh",
    "py",
    "pyw",
    "pyz",
    "js",
    "mjs",
    "cjs",
    "ts",
    "mts",
    "cts",
    "rb",
    "pl",
    "php",
    "lua",
    "ps1",
    "awk",
    "sed",
    "mk",
    "jq",
    "jar",
    "wasm",
    "tcl",
    "exp",
    "exs",
    "escript",
    "groovy",
    "bb",
    "csx",
    "fsx",
    "kts",
    "scpt",
    "applescript",
    "jl",
    "raku",
];
/// Endings of source files: scripts where an interpreter gets them, and else what is worked on.
const SOURCES: &[&str] = &[
    "r", "go", "swift", "dart", "kt", "scala", "sc", "nix", "ex", "erl", "clj", "cljs", "cljc",
    "scm", "rkt", "lisp", "el", "vim", "m", "java", "class", "hs", "ml", "cr", "nim", "zig", "tsx",
    "jsx", "gp", "m4", "sql", "pm",
];

/// What stands for the rest of a name where an interpreter adds it.
pub(super) const COMPLETIONS: &[&str] = &[
    "",
    ".py",
    ".js",
    "/__main__.py",
    "/__init__.py",
    "/index.js",
];
/// The same for words that an interpreter gets.
pub(super) const MORE_COMPLETIONS: &[&str] =
    &[".ts", ".mjs", ".cjs", ".rb", ".lua", ".class", "/index.ts"];

/// The name of a program without its folder and version.
fn program(word: &str) -> &str {
    let name = word.rsplit('/').next().unwrap_or(word);
    if INTERPRETERS.contains(&name) {
        return name;
    }
    name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-')
}

/// Whether the next words may be run by this one.
pub(super) fn is_interpreter(word: &str) -> bool {
    let name = program(word);
    INTERPRETERS.contains(&name) || OLD_FILTERS.contains(&name)
}

/// Whether a command has an option for a script among its words.
pub(super) fn has_script_option(words: &[&str]) -> bool {
    let is_short =
        |flag: &str| flag.starts_with('-') && !flag.starts_with("--") && flag.contains('f');
    let mut words = words.iter();
    words.any(|word| is_short(word) || word.starts_with("--f"))
}

/// Whether a command with this word runs what it is given.
pub(super) fn runs_files(word: &str, has_script_option: bool) -> bool {
    let name = program(word);
    INTERPRETERS.contains(&name) || FILTERS.contains(&name) && has_script_option
}

pub(super) fn is_reader(word: &str) -> bool {
    READERS.contains(&program(word))
}

pub(super) fn is_python(word: &str) -> bool {
    PYTHONS.contains(&program(word))
}

pub(super) fn is_shell(word: &str) -> bool {
    SHELLS.contains(&program(word)) || matches!(word, "eval" | "env" | "ssh" | "su")
}

pub(super) fn takes_script_by_option(word: &str) -> bool {
    BY_OPTION.contains(&program(word)) || FILTERS.contains(&program(word))
}

pub(super) fn is_script_option(word: &str) -> bool {
    SCRIPT_OPTIONS.contains(&word)
}

/// A flag that takes no value for certain, so that the script may follow it.
pub(super) fn is_switch(interpreter: &str, flag: &str) -> bool {
    let switches = match program(interpreter) {
        name if SHELLS.contains(&name) => SHELL_SWITCHES,
        name if PYTHONS.contains(&name) => PYTHON_SWITCHES,
        _ => "",
    };
    let letters = flag.trim_start_matches('-');
    flag == "--" || !flag.starts_with("--") && letters.chars().all(|c| switches.contains(c))
}

pub(super) fn is_script(path: &Path) -> bool {
    has_ending(path, SCRIPTS)
}

/// Whether a file that an interpreter gets would be a script by its name.
pub(super) fn is_source(path: &Path) -> bool {
    has_ending(path, SCRIPTS) || has_ending(path, SOURCES)
}

fn has_ending(path: &Path, endings: &[&str]) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str());
    ending.is_some_and(|ending| endings.contains(&&*ending.to_ascii_lowercase()))
}
