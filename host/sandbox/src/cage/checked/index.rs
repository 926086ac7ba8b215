//! The paths in git's index, which git itself looks at only when it puts them there.
//!
//! Versions 2 to 4, read strictly: whatever two readers could understand in two ways is refused.

use std::collections::BTreeSet;

use super::{ObjectNames, check_path};

const SIGNATURE: &[u8] = b"DIRC";
/// Times, device, number, mode, owner, group and size, before the name of the object.
const STATUS: usize = 40;
/// Where the mode is among these.
const MODE: usize = 24;
const SPARSE_FOLDER: u32 = 0o040_000;
/// In the flags: there are more flags; how long the path is.
const HAS_MORE: u16 = 0x4000;
const LENGTH: u16 = 0x0fff;

/// Parts behind the entries. git refuses unknown ones in small letters and skips the others; both are
/// nothing that it writes.
const FOLDERS: &[u8] = b"TREE";
const UNDONE: &[u8] = b"REUC";
const SHARED: &[u8] = b"link";
const END: &[u8] = b"EOIE";
const BLOCKS: &[u8] = b"IEOT";
const OTHERS: [&[u8]; 4] = [FOLDERS, b"UNTR", b"FSMN", b"sdir"];

/// The error is what git would not have written.
pub(super) fn check(content: &[u8], names: ObjectNames) -> Result<(), String> {
    let body = content.len().checked_sub(names.bytes());
    let body = body.and_then(|length| content.get(..length));
    let body = body.ok_or("it is too short for an index")?;
    let mut reader = Reader { body, at: 0 };
    if reader.take(SIGNATURE.len())? != SIGNATURE {
        return Err("it does not begin like an index".into());
    }
    let version = reader.number()?;
    if !(2..=4).contains(&version) {
        return Err(format!(
            "it is an index of version {version}, which is not known here"
        ));
    }
    let count = reader.number()?;
    let mut entries = Entries::default();
    for _ in 0..count {
        entries.next(&mut reader, version, names)?;
    }
    let extensions = extensions(&mut reader, names)?;
    if entries.is_nameless && !extensions.is_shared {
        return Err("it lists an empty path".into());
    }
    if extensions.end.is_some_and(|end| end != entries.end as u64) {
        return Err("it says two things about where its entries end".into());
    }
    match extensions.blocks {
        Some(blocks) => entries.fit(&blocks),
        None => Ok(()),
    }
}

#[derive(Default)]
struct Entries {
    path: Vec<u8>,
    is_nameless: bool,
    /// Where each one begins, and those among them that need the one before.
    starts: Vec<usize>,
    dependent: BTreeSet<usize>,
    end: usize,
}

impl Entries {
    fn next(
        &mut self,
        reader: &mut Reader<'_>,
        version: u32,
        names: ObjectNames,
    ) -> Result<(), String> {
        let start = reader.at;
        let status = reader.take(STATUS)?;
        let mode = u32::from_be_bytes([
            status[MODE],
            status[MODE + 1],
            status[MODE + 2],
            status[MODE + 3],
        ]);
        reader.take(names.bytes())?;
        let flags = reader.short()?;
        if flags & HAS_MORE != 0 {
            if version < 3 {
                return Err("an entry has flags that its version does not know".into());
            }
            reader.short()?;
        }
        let mut path = Vec::new();
        if version == 4 {
            let dropped = reader.varying()?;
            let kept = self.path.len().checked_sub(dropped);
            let kept = kept.ok_or("an entry drops more of a path than there is")?;
            path.extend_from_slice(&self.path[..kept]);
            if kept > 0 {
                self.dependent.insert(start);
            }
        }
        path.extend_from_slice(reader.text()?);
        let told = usize::from(flags & LENGTH);
        let is_long = told == usize::from(LENGTH);
        if if is_long {
            path.len() < told
        } else {
            path.len() != told
        } {
            return Err("an entry's path is not as long as it says".into());
        }
        if version < 4 {
            reader.pad(start)?;
        }
        self.starts.push(start);
        self.end = reader.at;
        match path.as_slice() {
            [] => self.is_nameless = true,
            path if mode == SPARSE_FOLDER => check_path(path.strip_suffix(b"/").unwrap_or(path))?,
            path => check_path(path)?,
        }
        self.path = path;
        Ok(())
    }

    /// Whether blocks, each an offset and a count, are just these entries: threads read them one by
    /// one, without what is before them.
    fn fit(&self, blocks: &[(u64, u64)]) -> Result<(), String> {
        let mut first = 0_usize;
        for (offset, count) in blocks {
            let is_there = self.starts.get(first).map(|start| *start as u64) == Some(*offset);
            let depends = usize::try_from(*offset).is_ok_and(|at| self.dependent.contains(&at));
            if !is_there || depends {
                return Err("its blocks are not its entries".into());
            }
            first = usize::try_from(*count)
                .ok()
                .and_then(|count| first.checked_add(count))
                .ok_or("its blocks are not its entries")?;
        }
        match first == self.starts.len() {
            true => Ok(()),
            false => Err("its blocks are not its entries".into()),
        }
    }
}

#[derive(Default)]
struct Extensions {
    is_shared: bool,
    end: Option<u64>,
    blocks: Option<Vec<(u64, u64)>>,
}

fn extensions(reader: &mut Reader<'_>, names: ObjectNames) -> Result<Extensions, String> {
    let mut found = Extensions::default();
    while reader.at < reader.body.len() {
        let kind = reader.take(4)?;
        let size = reader.number()? as usize;
        let body = reader.take(size)?;
        let mut inside = Reader { body, at: 0 };
        if kind == UNDONE {
            undone(&mut inside, names)?;
        } else if kind == SHARED {
            found.is_shared = true;
        } else if kind == END {
            found.end = Some(inside.number()?.into());
        } else if kind == BLOCKS {
            inside.number()?;
            let mut blocks = Vec::new();
            while inside.at < body.len() {
                blocks.push((inside.number()?.into(), inside.number()?.into()));
            }
            found.blocks = Some(blocks);
        } else if !OTHERS.contains(&kind) {
            let kind = String::from_utf8_lossy(kind);
            return Err(format!(
                "it has a part `{}`, which is not known here",
                kind.escape_debug()
            ));
        }
    }
    Ok(found)
}

/// Conflicts that were resolved and can be made anew: a path, three modes, and the names of objects.
fn undone(reader: &mut Reader<'_>, names: ObjectNames) -> Result<(), String> {
    while reader.at < reader.body.len() {
        check_path(reader.text()?)?;
        let mut objects = 0;
        for _ in 0..3 {
            objects += usize::from(reader.text()? != b"0");
        }
        reader.take(objects * names.bytes())?;
    }
    Ok(())
}

struct Reader<'a> {
    body: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], String> {
        let end = self.at.checked_add(count);
        let taken = end.and_then(|end| self.body.get(self.at..end));
        let taken = taken.ok_or("it ends in the middle")?;
        self.at += count;
        Ok(taken)
    }

    fn short(&mut self) -> Result<u16, String> {
        let bytes = self.take(2)?;
        Ok(u16::from_be_bytes([bytes[0], bytes[1]]))
    }

    fn number(&mut self) -> Result<u32, String> {
        let bytes = self.take(4)?;
        Ok(u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    /// A number of seven bits a byte, each further byte adding one.
    fn varying(&mut self) -> Result<usize, String> {
        let mut byte = self.take(1)?[0];
        let mut value = usize::from(byte & 0x7f);
        while byte & 0x80 != 0 {
            byte = self.take(1)?[0];
            let next = value
                .checked_add(1)
                .and_then(|value| value.checked_mul(0x80));
            let next = next.filter(|next| *next <= self.body.len());
            value = next.ok_or("a number in it is too large")? + usize::from(byte & 0x7f);
        }
        Ok(value)
    }

    /// Up to the next zero byte, which is taken too.
    fn text(&mut self) -> Result<&'a [u8], String> {
        let rest = self.body.get(self.at..).unwrap_or_default();
        let length = rest.iter().position(|byte| *byte == 0);
        let text = self.take(length.ok_or("it ends in the middle")?)?;
        self.at += 1;
        Ok(text)
    }

    /// Zero bytes until the length of an entry is a multiple of eight. One was taken with the path.
    fn pad(&mut self, start: usize) -> Result<(), String> {
        while !(self.at - start).is_multiple_of(8) {
            if self.take(1)? != [0] {
                return Err("an entry's path goes on behind its end".into());
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
