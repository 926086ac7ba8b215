//! Compiling components, in a process that is not this one.
//!
//! A compiler that reads hostile input can take any amount of memory, and cannot be interrupted. This
//! crate starts no processes, so whoever composes the host brings one: it runs `compile_component`
//! with the two files that it is handed, bounded and confined, and nothing else. What that process
//! writes is native code that this program will run, as what the compiler in this program writes.

use std::fs::File;
use std::io::{self, Read, Seek, Write};

use toolbay_contract::BoxFuture;

use crate::cache::{Code, memory_file, seal};
use crate::engine;
use crate::load::MAX_COMPONENT;

/// The most that a component may compile to: several times what the largest one allowed does.
pub const MAX_COMPILED: u64 = 512 << 20;

/// Compiles components where their cost is bounded.
pub trait ComponentCompiler: Send + Sync {
    /// Runs `compile_component` on these files in another process, and waits until that is gone.
    /// An error says what became of it instead. Dropping the future ends the process.
    fn compile(&self, input: File, output: File) -> BoxFuture<'_, Result<(), String>>;
}

/// The other process's side: reads a component, and writes what it compiles to. An error is a
/// sentence about the component.
pub fn compile_component(input: &mut dyn Read, output: &mut dyn Write) -> Result<(), String> {
    let mut bytes = Vec::new();
    let read = input.take(MAX_COMPONENT).read_to_end(&mut bytes);
    read.map_err(|error| format!("it cannot be read: {error}"))?;
    let engine = engine::compiling().map_err(|error| format!("no compiler: {error:#}"))?;
    let code = engine
        .precompile_component(&bytes)
        .map_err(|error| format!("{error:#}"))?;
    output
        .write_all(&code)
        .map_err(|error| format!("its code cannot be written: {error}"))
}

/// Has a component compiled elsewhere. What comes back cannot change any more.
pub(crate) async fn compile_elsewhere(
    compiler: &dyn ComponentCompiler,
    bytes: &[u8],
) -> Result<Code, String> {
    let failed = |error: io::Error| format!("its code cannot be kept in memory: {error}");
    let (input, output) = files(bytes).map_err(failed)?;
    let ours = output.try_clone().map_err(failed)?;
    compiler.compile(input, output).await?;
    let code = Code::of_compiler(ours).map_err(failed)?;
    match code.length().map_err(failed)? {
        0 => Err("the compiler ended without a word and without code".into()),
        _ => Ok(code),
    }
}

/// The component, sealed, and room for its code: files without a name.
fn files(bytes: &[u8]) -> io::Result<(File, File)> {
    let mut input = memory_file()?;
    input.write_all(bytes)?;
    input.rewind()?;
    seal(&input)?;
    Ok((input, memory_file()?))
}
