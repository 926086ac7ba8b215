//! How a view may show a script in one word: searched, read, listed.

use crate::table::{self, Class};

/// The class of a whole script: all its commands must have one, and those that only print are
/// passed over. A script of several kinds is shown as its first.
pub(crate) fn class_of<'a>(commands: impl Iterator<Item = &'a [String]>) -> Option<Class> {
    let mut shown = None;
    for words in commands {
        match table::class(words.first()?)? {
            Class::Neutral => {}
            class => {
                shown.get_or_insert(class);
            }
        }
    }
    shown
}

/// What a script's exit status means, if it is no error. It is the last command that gives it.
pub fn exit_meaning(commands: &[crate::SimpleCommand], status: i32) -> Option<String> {
    let last = commands.last()?;
    table::exit_meaning(last.words.first()?, status)
}
