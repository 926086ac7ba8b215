//! Commands whose arguments are programs of their own, each in a file: what may stand
//! in them and still only read.

mod awk;
mod find;
mod git;
mod jq;
mod man;
mod sed;
mod test;

use crate::check::Finding;
use crate::reading::Word;

pub(crate) use sed::script_is_harmless as sed_script_is_harmless;

/// What a command's arguments come to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Use {
    /// The words that name what is read. Whether they lie inside is not this module's
    /// question.
    pub(crate) reads: Vec<Word>,
    /// It follows links that it finds on the way.
    pub(crate) follows: bool,
}

/// A function that looks at all arguments of a command, its name left out.
pub(crate) type Judge = fn(&[Word]) -> Result<Use, Finding>;

/// The function of this name, as the key `check` of a table gives it.
pub(crate) fn named(name: &str) -> Option<Judge> {
    Some(match name {
        "awk" => awk::judge,
        "find" => find::judge,
        git if git.starts_with("git") => return git::named(git),
        "jq" => jq::judge,
        "man" => man::judge,
        "sed" => sed::judge,
        "test" => test::judge,
        "double-test" => test::judge_double,
        _ => return None,
    })
}
