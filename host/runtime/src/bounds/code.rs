//! Counts what is in one function.

use wasmparser::{FunctionBody, Operator, OperatorsReader};

use super::{Bound, BoundsError, Tally};

pub(super) fn check(body: &FunctionBody<'_>, tally: &Tally) -> Result<(), BoundsError> {
    let range = body.range();
    tally.at_most(Bound::BodyBytes, range.len() as u64)?;
    let mut locals = body.get_locals_reader()?;
    let mut variables: u64 = 0;
    for _ in 0..locals.get_count() {
        let (group, _) = locals.read()?;
        variables = variables.saturating_add(group.into());
        tally.at_most(Bound::Locals, variables)?;
    }
    let mut operators = OperatorsReader::new(locals.get_binary_reader());
    let (mut depth, mut targets): (u64, u64) = (1, 0);
    while !operators.eof() {
        match operators.read()? {
            Operator::Block { .. }
            | Operator::Loop { .. }
            | Operator::If { .. }
            | Operator::TryTable { .. } => {
                depth += 1;
                tally.at_most(Bound::BlockDepth, depth)?;
            }
            Operator::End => depth = depth.saturating_sub(1),
            Operator::BrTable { targets: table } => {
                targets = targets.saturating_add(table.len().into());
                tally.at_most(Bound::BranchTargets, targets)?;
            }
            _ => {}
        }
    }
    Ok(())
}
