//! `man`: pages by name. A word with a slash names a file instead, and a page from the project may
//! make the formatter read others.

use super::Use;
use crate::check::{Check, Finding};
use crate::reading::Word;

pub(super) fn judge(arguments: &[Word]) -> Result<Use, Finding> {
    match arguments.iter().find(|word| word.text.contains('/')) {
        Some(file) => {
            let message = format!("`{}` is a file, not the name of a page", file.text);
            Err(Check::UnsafeProgram.found(message))
        }
        None if arguments.is_empty() => {
            Err(Check::UnsafeProgram.found("`man` lacks the name of a page"))
        }
        None => Ok(Use::default()),
    }
}
