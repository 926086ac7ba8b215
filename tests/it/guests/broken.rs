//! Files that are no components, components that are no tools, tools of another
//! time: always a clear error, never a panic.

use std::sync::Arc;

use serde_json::json;
use toolbay_runtime::{Runtime, RuntimeOptions};
use toolbay_tests::bay::TestBay;
use toolbay_tests::guests;

use super::{assert_no_slot_lost, assert_still_serves, own_bay, rogue_bay};

/// What it is, its bytes, and parts of the error.
type Case = (&'static str, Arc<[u8]>, &'static [&'static str]);

/// What comes of the bytes: the error when they are opened or called, or `None` for
/// a tool that works.
async fn outcome_of(runtime: &Runtime, bytes: Arc<[u8]>) -> Option<String> {
    let bay = TestBay::with_runtime(runtime.clone()).bytes(bytes).await;
    if let [problem] = bay.problems() {
        return Some(problem.to_string());
    }
    let running = bay.start();
    let name = running.dispatch.pool().names().remove(0);
    let result = running.call(&name, json!({"text": "x"})).await;
    assert_no_slot_lost(&running);
    result.is_error.then(|| result.sentence())
}

/// An error in words: it names the plugin, and is no wall of text.
fn assert_clear(error: &str, case: &str) {
    let named = error.starts_with("plugin ")
        || error.starts_with("invalid input: plugin ")
        || error.starts_with("denied: ");
    assert!(named, "{case}: {error}");
    assert!(error.len() < 2_000, "{case}: {} bytes", error.len());
    assert!(
        error.is_char_boundary(error.len()) && !error.contains('\u{1b}'),
        "{case}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_tool_is_told_so() {
    let wat = |name: &str| -> Arc<[u8]> {
        let path = toolbay_tests::workspace().join("tests/guests").join(name);
        wat::parse_file(path).unwrap().into()
    };
    let elf: &[u8] = b"\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00";
    let cases: [Case; 10] = [
        ("nothing", Arc::new([]), &["empty"]),
        (
            "a text",
            b"#!/bin/sh\necho hi\n".to_vec().into(),
            &["not WebAssembly"],
        ),
        ("a program", elf.into(), &["not WebAssembly"]),
        (
            "a header alone",
            b"\0asm\x0d\0\x01\0".to_vec().into(),
            &["does not export toolbay:tool/tool"],
        ),
        (
            "a core module",
            wat("core-module.wat"),
            &["core module, not a component"],
        ),
        (
            "no tool",
            wat("no-tool.wat"),
            &["does not export toolbay:tool/tool"],
        ),
        (
            "a later contract",
            wat("future-version.wat"),
            &["version 0.2.0", "knows 0.1."],
        ),
        (
            "an unknown import",
            wat("unknown-import.wat"),
            &["imports acme:thing/stuff@1.0.0"],
        ),
        (
            "a later host function",
            guests::NEEDS_FUTURE_FUNCTION.into(),
            &["toolbay:host/context@0.1.0", "teleport"],
        ),
        (
            "a folder of zeroes",
            vec![0; 4096].into(),
            &["not WebAssembly"],
        ),
    ];
    let bay = own_bay();
    let runtime = bay.start().runtime;
    for (case, bytes, parts) in cases {
        let error = outcome_of(&runtime, bytes).await.expect(case);
        println!("{case}: {error}");
        assert_clear(&error, case);
        assert!(error.contains("cannot be loaded: "), "{case}: {error}");
        for part in parts {
            assert!(error.contains(part), "{case}: no {part:?} in {error}");
        }
    }
    let running = rogue_bay().await.ready().await;
    assert_still_serves(&running).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_component_cut_off_anywhere_is_refused() {
    let runtime = uncached();
    let whole = guests::ROGUE;
    let lengths = (0..64).chain((64..whole.len()).step_by(whole.len() / 200));
    for length in lengths {
        let error = outcome_of(&runtime, whole[..length].into()).await;
        let error = error.unwrap_or_else(|| panic!("{length} bytes are served"));
        assert_clear(&error, &format!("the first {length} bytes"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_component_with_flipped_bytes_is_refused_or_works() {
    let runtime = uncached();
    let mut random = Random(0x5eed_cafe);
    let (mut served, mut refused) = (0, 0);
    for round in 0..60 {
        let mut bytes = guests::TRIVIAL.to_vec();
        let mut flips = Vec::new();
        for _ in 0..=random.below(3) {
            // Half of the flips go where structure is dense.
            let end = if random.below(2) == 0 {
                2_000
            } else {
                bytes.len()
            };
            let at = random.below(end);
            bytes[at] ^= 1 << random.below(8);
            flips.push(at);
        }
        match outcome_of(&runtime, bytes.into()).await {
            None => served += 1,
            Some(error) => {
                refused += 1;
                assert_clear(&error, &format!("round {round}, flips at {flips:?}"));
            }
        }
    }
    println!("flipped bytes: {refused} refused, {served} served");
    assert!(refused > 0);
}

/// Compiles anew each time: what is tried here must not fill the tests' cache.
fn uncached() -> Runtime {
    Runtime::new(RuntimeOptions::default()).unwrap()
}

/// A generator that gives the same numbers in each run (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }
}
