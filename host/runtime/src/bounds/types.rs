//! Counts the types of a component without following them down the call stack.
//!
//! Types of components and instances hold declarations, which hold types. The parser reads them by
//! recursion without an end, so that three bytes a level end the process. Here they are read with a
//! list of what is still open; everything that cannot nest goes to the parser.

use wasmparser::{
    BinaryReader, ComponentAlias, ComponentExternName, ComponentImport, ComponentType,
    ComponentTypeRef, CoreType, SectionLimited,
};

use super::{Bound, BoundsError, Tally};

const COMPONENT: u8 = 0x41;
const INSTANCE: u8 = 0x42;

const CORE_TYPE: u8 = 0x00;
const TYPE: u8 = 0x01;
const ALIAS: u8 = 0x02;
const IMPORT: u8 = 0x03;
const EXPORT: u8 = 0x04;

/// Core types at the top of a component.
pub(super) fn core(
    section: &SectionLimited<'_, CoreType<'_>>,
    tally: &mut Tally,
) -> Result<(), BoundsError> {
    tally.at_most(Bound::CoreTypes, section.count().into())?;
    for ty in section.clone() {
        count_core(&ty?, tally)?;
    }
    Ok(())
}

fn count_core(ty: &CoreType<'_>, tally: &mut Tally) -> Result<(), BoundsError> {
    let parts = match ty {
        CoreType::Rec(group) => group.types().len(),
        CoreType::Module(declarations) => declarations.len(),
    };
    tally.add(Bound::CoreTypes, parts as u64)
}

/// Types of a component, and all that are declared inside them.
pub(super) fn component(
    section: &SectionLimited<'_, ComponentType<'_>>,
    bytes: &[u8],
    tally: &mut Tally,
) -> Result<(), BoundsError> {
    tally.add(Bound::ComponentTypes, section.count().into())?;
    // Behind the number of types.
    let range = section.original_position()..section.range().end;
    let content = bytes
        .get(range.clone())
        .ok_or_else(|| BoundsError::Damaged("a section of types is cut off".into()))?;
    let mut reader = BinaryReader::new(content, range.start);
    for _ in 0..section.count() {
        one(&mut reader, tally)?;
    }
    Ok(())
}

/// One type. `open` has how many declarations are still to come at each level.
fn one(reader: &mut BinaryReader<'_>, tally: &mut Tally) -> Result<(), BoundsError> {
    let mut open: Vec<u32> = Vec::new();
    definition(reader, &mut open, tally)?;
    while let Some(left) = open.last_mut() {
        if *left == 0 {
            open.pop();
            continue;
        }
        *left -= 1;
        tally.add(Bound::ComponentTypes, 1)?;
        match reader.read_u8()? {
            CORE_TYPE => count_core(&reader.read::<CoreType<'_>>()?, tally)?,
            TYPE => definition(reader, &mut open, tally)?,
            ALIAS => {
                reader.read::<ComponentAlias<'_>>()?;
            }
            IMPORT => {
                let name = reader.read::<ComponentImport<'_>>()?.name.name;
                tally.at_most(Bound::NameLength, name.len() as u64)?;
            }
            EXPORT => {
                let name = reader.read::<ComponentExternName<'_>>()?.name;
                tally.at_most(Bound::NameLength, name.len() as u64)?;
                reader.read::<ComponentTypeRef>()?;
            }
            other => {
                return Err(BoundsError::Damaged(format!(
                    "a type declares something of the unknown kind {other:#04x}"
                )));
            }
        }
    }
    Ok(())
}

/// The beginning of a type that has declarations, or the whole of one that has none.
fn definition(
    reader: &mut BinaryReader<'_>,
    open: &mut Vec<u32>,
    tally: &mut Tally,
) -> Result<(), BoundsError> {
    let mut ahead = reader.clone();
    match ahead.read_u8()? {
        COMPONENT | INSTANCE => {
            open.push(ahead.read_var_u32()?);
            tally.at_most(Bound::TypeDepth, open.len() as u64)?;
            *reader = ahead;
        }
        _ => {
            reader.read::<ComponentType<'_>>()?;
        }
    }
    Ok(())
}
