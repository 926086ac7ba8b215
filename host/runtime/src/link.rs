//! What a component can link against, and nothing more.
//!
//! Base WASI is linked with an empty context: no arguments, no environment, no
//! input; prints go to the log. Files are ours. Networks are not linked at all:
//! a component that imports them gets refusing stand-ins (see `refuse`).

use wasmtime::Engine;
use wasmtime::component::{HasData, Linker, ResourceTable};
use wasmtime_wasi::WasiView;
use wasmtime_wasi::cli::{WasiCli, WasiCliView};
use wasmtime_wasi::clocks::{WasiClocks, WasiClocksView};
use wasmtime_wasi::p2::bindings::{cli, clocks, filesystem, random};
use wasmtime_wasi::random::WasiRandom;
use wasmtime_wasi_io::bindings::wasi::io;

use crate::capability;
use crate::filesystem::Filesystem;
use crate::state::State;

struct Io;

impl HasData for Io {
    type Data<'a> = &'a mut ResourceTable;
}

/// The linker that every component starts from.
pub(crate) fn linker(engine: &Engine) -> wasmtime::Result<Linker<State>> {
    let mut linker = Linker::<State>::new(engine);
    let l = &mut linker;

    io::error::add_to_linker::<State, Io>(l, |state| &mut state.table)?;
    io::poll::add_to_linker::<State, Io>(l, |state| &mut state.table)?;
    io::streams::add_to_linker::<State, Io>(l, |state| &mut state.table)?;

    clocks::wall_clock::add_to_linker::<State, WasiClocks>(l, State::clocks)?;
    clocks::monotonic_clock::add_to_linker::<State, WasiClocks>(l, State::clocks)?;

    random::random::add_to_linker::<State, WasiRandom>(l, |state| state.ctx().ctx.random())?;
    random::insecure::add_to_linker::<State, WasiRandom>(l, |state| state.ctx().ctx.random())?;
    random::insecure_seed::add_to_linker::<State, WasiRandom>(l, |state| state.ctx().ctx.random())?;

    cli::exit::add_to_linker::<State, WasiCli>(l, State::cli)?;
    cli::environment::add_to_linker::<State, WasiCli>(l, State::cli)?;
    cli::stdin::add_to_linker::<State, WasiCli>(l, State::cli)?;
    cli::stdout::add_to_linker::<State, WasiCli>(l, State::cli)?;
    cli::stderr::add_to_linker::<State, WasiCli>(l, State::cli)?;
    cli::terminal_input::add_to_linker::<State, WasiCli>(l, State::cli)?;
    cli::terminal_output::add_to_linker::<State, WasiCli>(l, State::cli)?;
    cli::terminal_stdin::add_to_linker::<State, WasiCli>(l, State::cli)?;
    cli::terminal_stdout::add_to_linker::<State, WasiCli>(l, State::cli)?;
    cli::terminal_stderr::add_to_linker::<State, WasiCli>(l, State::cli)?;

    filesystem::preopens::add_to_linker::<State, Filesystem>(l, State::filesystem)?;
    filesystem::types::add_to_linker::<State, Filesystem>(l, State::filesystem)?;

    capability::add_to_linker(l)?;
    Ok(linker)
}
