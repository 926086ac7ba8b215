//! The floor: the same component on the same engine, with nothing of ours around it.

use wasmtime::component::{Component, Linker, ResourceTable};
use wasmtime::{Engine, Store};
use wasmtime_wasi::{WasiCtx, WasiCtxBuilder, WasiCtxView, WasiView};

#[allow(clippy::all)]
mod bindings {
    wasmtime::component::bindgen!({
        path: "../wit/0.1",
        world: "toolbay:tool/minimal",
        exports: { default: async },
    });
}

struct State {
    wasi: WasiCtx,
    table: ResourceTable,
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView {
            ctx: &mut self.wasi,
            table: &mut self.table,
        }
    }
}

/// A component that can be called, and that is all.
pub struct Bare {
    engine: Engine,
    pre: bindings::MinimalPre<State>,
}

impl Bare {
    /// Compiles for an engine of its own, set up as the runtime's is.
    pub fn new(component: &[u8]) -> Self {
        let engine = Engine::new(&toolbay_runtime::engine::config()).unwrap();
        let component = Component::new(&engine, component).unwrap();
        let mut linker = Linker::new(&engine);
        wasmtime_wasi::p2::add_to_linker_async(&mut linker).unwrap();
        let pre = linker.instantiate_pre(&component).unwrap();
        Self {
            pre: bindings::MinimalPre::new(pre).unwrap(),
            engine,
        }
    }

    /// A fresh instance, one call, and its end.
    pub async fn call(&self, input: &String) {
        let state = State {
            wasi: WasiCtxBuilder::new().build(),
            table: ResourceTable::new(),
        };
        let mut store = Store::new(&self.engine, state);
        store.set_epoch_deadline(1);
        store.epoch_deadline_async_yield_and_update(1);
        let instance = self.pre.instantiate_async(&mut store).await.unwrap();
        let outcome = instance
            .toolbay_tool_tool()
            .call_call(&mut store, input)
            .await
            .unwrap();
        assert!(outcome.is_ok());
    }
}
