//! Refusing stand-ins for powers that are not linked.
//!
//! Many languages import networks without using them, so a component that merely
//! imports `wasi:http` or `wasi:sockets` must load. Whatever it then calls is a
//! refused power: the answer is an error value where the function has one, and
//! the audit log hears of it. The granted, allow-listed `wasi:http` will be linked
//! in place of its stand-in.

use std::collections::HashSet;

use wasmtime::component::types::{ComponentFunc, ComponentItem, Type};
use wasmtime::component::{
    Component, Linker, LinkerInstance, Resource, ResourceAny, ResourceType, Val,
};
use wasmtime::{AsContextMut, Engine, StoreContextMut};
use wasmtime_wasi::p2::{DynInputStream, DynOutputStream, DynPollable};

use crate::state::State;

/// Packages that are refused instead of being reported as missing.
const REFUSED: [&str; 2] = ["wasi:http/", "wasi:sockets/"];

/// Names of error cases that say "you may not", in order of preference.
const DENIALS: [&str; 4] = [
    "HTTP-request-denied",
    "access-denied",
    "not-permitted",
    "not-supported",
];

/// What functions are called that only get a request ready.
const PREPARING: [&str; 3] = ["[constructor]", "[resource-drop]", ".set-"];

/// What a refused resource is: nothing.
struct Nothing;

/// Whether an import is one of the refused powers.
pub(crate) fn is_refused(import: &str) -> bool {
    REFUSED.iter().any(|package| import.starts_with(package))
}

/// Defines a stand-in for every refused import of the component. Says whether
/// there was one.
pub(crate) fn stand_ins(
    linker: &mut Linker<State>,
    engine: &Engine,
    component: &Component,
) -> wasmtime::Result<bool> {
    let mut any = false;
    for (name, item) in component.component_type().imports(engine) {
        let ComponentItem::ComponentInstance(instance) = item.ty else {
            continue;
        };
        if !is_refused(name) {
            continue;
        }
        any = true;
        let mut into = linker.instance(name)?;
        let mut resources = HashSet::new();
        for (export, item) in instance.exports(engine) {
            match item.ty {
                ComponentItem::Resource(_) => {
                    if resources.insert(export.to_owned()) {
                        into.resource(export, resource_type(export), |_, _| Ok(()))?;
                    }
                }
                ComponentItem::ComponentFunc(_) => refuse(&mut into, name, export)?,
                ComponentItem::CoreFunc(_)
                | ComponentItem::Module(_)
                | ComponentItem::Component(_)
                | ComponentItem::ComponentInstance(_)
                | ComponentItem::Type(_) => {}
            }
        }
    }
    Ok(any)
}

/// Interfaces name again the resources that they use from `wasi:io`; those must be
/// the real ones. All others are ours, and nothing.
fn resource_type(name: &str) -> ResourceType {
    match name {
        "pollable" => ResourceType::host::<DynPollable>(),
        "input-stream" => ResourceType::host::<DynInputStream>(),
        "output-stream" => ResourceType::host::<DynOutputStream>(),
        "error" | "io-error" => ResourceType::host::<wasmtime_wasi_io::streams::Error>(),
        _ => ResourceType::host::<Nothing>(),
    }
}

fn refuse(
    into: &mut LinkerInstance<'_, State>,
    interface: &str,
    function: &str,
) -> wasmtime::Result<()> {
    let power = format!("{interface}.{function}");
    into.func_new(
        function,
        move |mut store: StoreContextMut<'_, State>, ty: ComponentFunc, given, results| {
            given.iter().for_each(|value| release(&mut store, value));
            // Preparing a request reaches nobody; sending it is what is refused.
            let prepares = PREPARING.iter().any(|part| power.contains(part));
            if !prepares {
                store
                    .data()
                    .refuse(&power, "the call was granted no network");
            }
            for (slot, ty) in results.iter_mut().zip(ty.results()) {
                *slot = match &ty {
                    Type::Result(result) if prepares && result.ok().is_none() => {
                        Val::Result(Ok(None))
                    }
                    _ => answer(&mut store, &ty).ok_or_else(|| {
                        wasmtime::format_err!("refused power: {power}; no network was granted")
                    })?,
                };
            }
            Ok(())
        },
    )
}

/// Gives back what the guest lent: a call that keeps a borrowed handle is trapped.
fn release(store: &mut StoreContextMut<'_, State>, value: &Val) {
    match value {
        Val::Resource(handle) => {
            let handle = *handle;
            // One of these is its type, and only that one takes it. What it was is
            // of no interest; the store has it until the call ends.
            let _ = handle.try_into_resource::<Nothing>(&mut *store).is_ok()
                || handle.try_into_resource::<DynPollable>(&mut *store).is_ok()
                || handle
                    .try_into_resource::<DynInputStream>(&mut *store)
                    .is_ok()
                || handle
                    .try_into_resource::<DynOutputStream>(&mut *store)
                    .is_ok();
        }
        Val::List(values) | Val::Tuple(values) | Val::FixedLengthList(values) => {
            values.iter().for_each(|value| release(store, value));
        }
        Val::Record(fields) => fields.iter().for_each(|(_, value)| release(store, value)),
        Val::Option(Some(value))
        | Val::Variant(_, Some(value))
        | Val::Result(Ok(Some(value)) | Err(Some(value))) => release(store, value),
        // Nothing else can hold a handle.
        _ => {}
    }
}

/// A value of the type that says no, or says nothing; none if there is no such
/// value, and then the guest is trapped.
fn answer(store: &mut StoreContextMut<'_, State>, ty: &Type) -> Option<Val> {
    Some(match ty {
        Type::Bool => Val::Bool(false),
        Type::S8 => Val::S8(0),
        Type::U8 => Val::U8(0),
        Type::S16 => Val::S16(0),
        Type::U16 => Val::U16(0),
        Type::S32 => Val::S32(0),
        Type::U32 => Val::U32(0),
        Type::S64 => Val::S64(0),
        Type::U64 => Val::U64(0),
        Type::Float32 => Val::Float32(0.0),
        Type::Float64 => Val::Float64(0.0),
        Type::Char => Val::Char(' '),
        Type::String => Val::String(String::new()),
        Type::List(_) => Val::List(Vec::new()),
        Type::Option(_) => Val::Option(None),
        Type::Flags(_) => Val::Flags(Vec::new()),
        Type::Tuple(tuple) => Val::Tuple(
            tuple
                .types()
                .map(|ty| answer(store, &ty))
                .collect::<Option<_>>()?,
        ),
        Type::Enum(cases) => Val::Enum(denial(cases.names())?.to_owned()),
        Type::Variant(variant) => {
            let name = denial(
                variant
                    .cases()
                    .filter(|case| case.ty.is_none())
                    .map(|case| case.name),
            )?;
            Val::Variant(name.to_owned(), None)
        }
        // A constructor or a setter may succeed at nothing; what can fail, fails.
        Type::Result(result) => match result.err() {
            Some(err) => Val::Result(Err(Some(Box::new(answer(store, &err)?)))),
            None => Val::Result(Err(None)),
        },
        Type::Own(ty) => {
            // A stream or a pollable of a network that is not there cannot be made up.
            if *ty != ResourceType::host::<Nothing>() {
                return None;
            }
            let nothing = Resource::<Nothing>::new_own(0);
            Val::Resource(ResourceAny::try_from_resource(nothing, store.as_context_mut()).ok()?)
        }
        Type::Map(_)
        | Type::Record(_)
        | Type::Borrow(_)
        | Type::Future(_)
        | Type::Stream(_)
        | Type::ErrorContext
        | Type::FixedLengthList(_) => return None,
    })
}

fn denial<'a>(cases: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let cases: Vec<&str> = cases.collect();
    DENIALS
        .iter()
        .find_map(|wanted| cases.iter().find(|case| *case == wanted))
        .or(cases.first())
        .copied()
}
