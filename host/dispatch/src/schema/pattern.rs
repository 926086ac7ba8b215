//! How heavy a pattern is.
//!
//! The engine's time grows with the text times the states of the compiled pattern, and
//! counted repetitions make those as many as one likes. States are counted here, on the
//! safe side, so that the walk can charge for them.

use regex_syntax::ast::parse::Parser;
use regex_syntax::ast::{Ast, ClassSet, ClassSetItem, Literal, RepetitionKind, RepetitionRange};

/// What a pattern counts that this parser cannot read, should the engine have another
/// opinion.
const UNREADABLE: usize = 10_000;
/// States of any character beyond ASCII.
const ANY: usize = 12;
/// States of a class by a property such as `\p{L}`, which is hundreds of ranges.
const PROPERTY: usize = 2_500;
/// States of a class such as `\d`.
const SHORTHAND: usize = 4;

/// The states that a pattern compiles to, about.
pub(super) fn states(pattern: &str) -> usize {
    match Parser::new().parse(pattern) {
        // Both cases of a letter are two.
        Ok(ast) if pattern.contains("(?") => of(&ast).saturating_mul(2),
        Ok(ast) => of(&ast),
        Err(_) => UNREADABLE,
    }
}

fn of(ast: &Ast) -> usize {
    match ast {
        Ast::Empty(_) | Ast::Flags(_) | Ast::Assertion(_) => 1,
        Ast::Literal(literal) => of_literal(literal),
        Ast::Dot(_) => ANY,
        Ast::ClassUnicode(_) => PROPERTY,
        Ast::ClassPerl(_) => SHORTHAND,
        Ast::ClassBracketed(class) => {
            let negated = if class.negated { ANY } else { 0 };
            of_set(&class.kind).saturating_add(negated)
        }
        Ast::Group(group) => of(&group.ast),
        Ast::Alternation(alternation) => sum(&alternation.asts),
        Ast::Concat(concat) => sum(&concat.asts),
        Ast::Repetition(repetition) => {
            let times = match &repetition.op.kind {
                RepetitionKind::ZeroOrOne
                | RepetitionKind::ZeroOrMore
                | RepetitionKind::OneOrMore => 1,
                RepetitionKind::Range(
                    RepetitionRange::Exactly(most)
                    | RepetitionRange::AtLeast(most)
                    | RepetitionRange::Bounded(_, most),
                ) => usize::try_from(*most).unwrap_or(usize::MAX),
            };
            of(&repetition.ast).saturating_mul(times).saturating_add(1)
        }
    }
}

fn sum(all: &[Ast]) -> usize {
    all.iter().map(of).fold(1, usize::saturating_add)
}

fn of_set(set: &ClassSet) -> usize {
    match set {
        ClassSet::Item(item) => of_item(item),
        ClassSet::BinaryOp(both) => of_set(&both.lhs).saturating_add(of_set(&both.rhs)),
    }
}

fn of_item(item: &ClassSetItem) -> usize {
    match item {
        ClassSetItem::Empty(_) => 1,
        ClassSetItem::Literal(literal) => of_literal(literal),
        ClassSetItem::Range(range) if range.end.c.is_ascii() => 1,
        ClassSetItem::Range(_) => ANY,
        ClassSetItem::Ascii(_) | ClassSetItem::Perl(_) => SHORTHAND,
        ClassSetItem::Unicode(_) => PROPERTY,
        ClassSetItem::Bracketed(class) => {
            let negated = if class.negated { ANY } else { 0 };
            of_set(&class.kind).saturating_add(negated)
        }
        ClassSetItem::Union(union) => union
            .items
            .iter()
            .map(of_item)
            .fold(0, usize::saturating_add),
    }
}

fn of_literal(literal: &Literal) -> usize {
    literal.c.len_utf8()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetitions_multiply_and_the_rest_adds_up() {
        for (pattern, least, most) in [
            ("", 1, 1),
            ("abc", 3, 5),
            ("^[a-z]+$", 1, 10),
            ("^\\d{4}-\\d{2}$", 24, 40),
            ("[ab]{3000}", 6_000, 7_000),
            ("(a{100}){100}", 10_000, 12_000),
            ("((a{1000}){1000}){1000}", 1_000_000_000, usize::MAX),
            (
                "(((((((a{9999}){9999}){9999}){9999}){9999}){9999}){9999})",
                1 << 60,
                usize::MAX,
            ),
            ("\\p{L}{10}", 25_000, 30_000),
            ("(?=a)", UNREADABLE, UNREADABLE),
            ("(", UNREADABLE, UNREADABLE),
        ] {
            let states = states(pattern);
            assert!((least..=most).contains(&states), "{pattern}: {states}");
        }
    }
}
