//! The one tuned engine.
//!
//! Pooled slots that keep their pages, and no concurrency support: on our
//! machines a fresh instance costs a fifth of what the default engine takes, and
//! threads scale. FACTS behind each number are in `ARCHITECTURE.md`.

use wasmtime::{Config, Enabled, Engine, InstanceAllocationStrategy, PoolingAllocationConfig};

/// Instances that can live at once. Each call holds one at a time, and more than
/// ten calls at once are rare; a waiting call costs nothing.
pub const SLOTS: u32 = 64;

/// The largest memory that any plugin's settings may grant.
pub const MAX_MEMORY: usize = 2 << 30;

/// Stack of wasm frames. Deep recursion is a bug in a tool; 1 MiB is what native
/// threads of most languages have.
pub const MAX_STACK: usize = 1 << 20;

/// Memories in one component. Rust has one, interpreters a few.
pub const MAX_MEMORIES: u32 = 8;

/// Tables in one component.
pub const MAX_TABLES: u32 = 32;

/// Core instances in one component; adapters and shims make about five.
pub const MAX_CORE_INSTANCES: u32 = 64;

/// Elements of one table.
pub const MAX_TABLE_ELEMENTS: usize = 100_000;

/// Makes the engine.
pub fn engine() -> wasmtime::Result<Engine> {
    Engine::new(&config())
}

/// Makes an engine that compiles for ours and runs nothing: without the slots, which reserve more
/// address space than a process with a limit has.
pub(crate) fn compiling() -> wasmtime::Result<Engine> {
    Engine::new(&code_config())
}

/// The settings, for benchmarks that measure the bare engine beside ours.
pub fn config() -> Config {
    let mut pool = PoolingAllocationConfig::default();
    pool.total_component_instances(SLOTS)
        .total_core_instances(SLOTS * 16)
        .total_memories(SLOTS * 2)
        .total_tables(SLOTS * 4)
        .total_stacks(SLOTS)
        .max_memories_per_component(MAX_MEMORIES)
        .max_tables_per_component(MAX_TABLES)
        .max_core_instances_per_component(MAX_CORE_INSTANCES)
        .table_elements(MAX_TABLE_ELEMENTS)
        .max_memory_size(MAX_MEMORY)
        .linear_memory_keep_resident(2 << 20)
        .table_keep_resident(64 << 10);
    if PoolingAllocationConfig::is_pagemap_scan_available() {
        pool.pagemap_scan(Enabled::Yes);
    }
    let mut config = code_config();
    config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
    config
}

/// The part of the settings that shapes compiled code. Where instances live does not.
fn code_config() -> Config {
    let mut config = Config::new();
    config
        .epoch_interruption(true)
        // A trap is told in words, so nobody maps an address back to wasm. Without
        // the maps there is a seventh less to keep, to check and to load.
        .generate_address_map(false)
        .native_unwind_info(false)
        .wasm_backtrace_max_frames(None)
        .max_wasm_stack(MAX_STACK)
        .async_stack_size(MAX_STACK * 2);
    config
}
