//! The bombs: what each is, how it is made, and a part of the sentence that it must end in.

use crate::wasm::{
    Bytes, around, body, component, custom, each, functions, leb, many, module, name, nameless,
    section, tool,
};

pub struct Bomb {
    pub what: &'static str,
    pub make: fn() -> Bytes,
    pub says: &'static str,
}

const fn bomb(what: &'static str, make: fn() -> Bytes, says: &'static str) -> Bomb {
    Bomb { what, make, says }
}

const MANY: usize = 1_000_000;

/// Each of the variables is read and written, with a branch between.
fn busy(locals: u64) -> Bytes {
    let code: Bytes = (0..locals)
        .flat_map(|index| {
            let at = leb(index);
            [
                vec![0x20],
                at.clone(),
                vec![0x0d, 0, 0x20],
                at.clone(),
                vec![0x41, 1, 0x6a, 0x21],
                at,
            ]
            .concat()
        })
        .collect();
    body(locals, &code)
}

/// So many levels of something that holds one more of itself.
fn levels(opening: &[u8], count: usize, innermost: &[u8]) -> Bytes {
    [opening.repeat(count), innermost.to_vec()].concat()
}

fn nested_components(depth: usize) -> Bytes {
    (0..depth).fold(component(&[]), |inner, _| component(&[section(4, &inner)]))
}

pub const BOMBS: &[Bomb] = &[
    // Functions.
    bomb(
        "one function of forty thousand variables",
        || around(functions(&[busy(40_000)])),
        "local variables in one function: 40000; at most",
    ),
    bomb(
        "four billion variables in a few bytes",
        || around(functions(&[body(u32::MAX.into(), &[])])),
        "local variables in one function",
    ),
    bomb(
        "three megabytes of nothing in one function",
        || around(functions(&[body(0, &[1].repeat(3 << 20))])),
        "bytes in one function",
    ),
    bomb(
        "blocks a hundred thousand deep",
        || {
            let code = [[0x02, 0x40].repeat(100_000), [0x0b].repeat(100_000)].concat();
            around(functions(&[body(0, &code)]))
        },
        "blocks inside blocks",
    ),
    bomb(
        "half a million branch targets",
        || {
            let code = [vec![0x41, 0, 0x0e], leb(500_000), vec![0; 500_001]].concat();
            around(functions(&[body(0, &code)]))
        },
        "branch targets",
    ),
    bomb(
        "a million functions without bodies",
        || around(module(&[many(1, 1, &[0x60, 0, 0]), many(3, MANY, &[0])])),
        "functions in all",
    ),
    // Types.
    bomb(
        "a million core types",
        || around(module(&[many(1, MANY, &[0x60, 0, 0])])),
        "core types",
    ),
    bomb(
        "a million core types in one group",
        || {
            let group = [vec![1, 0x4e], leb(MANY as u64), [0x60, 0, 0].repeat(MANY)].concat();
            around(module(&[section(1, &group)]))
        },
        "core types",
    ),
    bomb(
        "a million types",
        || tool(&[many(7, MANY, &[0x7f])]),
        "types in all",
    ),
    bomb(
        "component types inside each other",
        || {
            tool(&[section(
                7,
                &[vec![1], levels(&[0x41, 1, 1], 300_000, &[0x7f])].concat(),
            )])
        },
        "types inside types",
    ),
    bomb(
        "instance types inside each other",
        || {
            tool(&[section(
                7,
                &[vec![1], levels(&[0x42, 1, 1], 300_000, &[0x7f])].concat(),
            )])
        },
        "types inside types",
    ),
    bomb(
        "a type that doubles sixty times",
        || {
            tool(&[each(7, 60, |level| match level {
                0 => vec![0x7f],
                level => [vec![0x6f, 2], leb(level as u64 - 1), leb(level as u64 - 1)].concat(),
            })])
        },
        "cannot be loaded",
    ),
    bomb(
        "a type that is an alias of itself",
        || tool(&[section(7, &[1, 0x42, 1, 2, 3, 2, 1, 0])]),
        "cannot be loaded",
    ),
    // Structure.
    bomb(
        "components a thousand deep",
        || tool(&[section(4, &nested_components(1_000))]),
        "components inside components",
    ),
    bomb(
        "two thousand components beside each other",
        || tool(&[section(4, &component(&[])).repeat(2_000)]),
        "nested components",
    ),
    bomb(
        "a thousand modules",
        || tool(&[section(1, &module(&[])).repeat(1_000)]),
        "core modules",
    ),
    bomb(
        "a hundred thousand sections",
        || tool(&[custom("x", &[]).repeat(100_000)]),
        "sections",
    ),
    bomb(
        "a million instances",
        || tool(&[many(2, MANY, &[1, 0])]),
        "instances",
    ),
    bomb(
        "two hundred thousand aliases",
        || tool(&[many(6, 200_000, &[0x03, 0x02, 0, 0])]),
        "aliases",
    ),
    bomb(
        "instances that export each other",
        || tool(&[section(5, &[2, 0, 1, 0, 0, 0, 0])]),
        "cannot be loaded",
    ),
    // Imports, exports, names.
    bomb(
        "a hundred thousand imports of a module",
        || {
            around(module(&[
                many(1, 1, &[0x60, 0, 0]),
                many(2, 100_000, &[0, 0, 0, 0]),
            ]))
        },
        "imports in all",
    ),
    bomb(
        "a hundred thousand exports of a module",
        || {
            around(module(&[
                many(1, 1, &[0x60, 0, 0]),
                many(3, 1, &[0]),
                each(7, 100_000, |number| {
                    [name(&number.to_string()), vec![0, 0]].concat()
                }),
            ]))
        },
        "exports in all",
    ),
    bomb(
        "a hundred thousand exports",
        || {
            tool(&[each(11, 100_000, |number| {
                [vec![0], name(&format!("a{number}")), vec![5, 0, 0]].concat()
            })])
        },
        "exports in all",
    ),
    bomb(
        "a name of fifty thousand letters",
        || {
            around(module(&[section(
                7,
                &[vec![1], name(&"a".repeat(50_000)), vec![0, 0]].concat(),
            )]))
        },
        "a name of too many bytes",
    ),
    bomb(
        "a name that is no text",
        || around(module(&[section(7, &[1, 2, 0xff, 0xfe, 0, 0])])),
        "damaged",
    ),
    // Tables, memories, segments.
    bomb(
        "four billion table elements",
        || {
            around(module(&[section(
                4,
                &[vec![1, 0x70, 0], leb(u32::MAX.into())].concat(),
            )]))
        },
        "table elements",
    ),
    bomb(
        "four gigabytes of memory",
        || around(module(&[section(5, &[vec![1, 0], leb(65_536)].concat())])),
        "bytes of memory",
    ),
    bomb(
        "more memory than there are addresses",
        || around(module(&[section(5, &[vec![1, 4], leb(1 << 48)].concat())])),
        "bytes of memory",
    ),
    bomb(
        "ten thousand memories",
        || around(module(&[many(5, 10_000, &[0, 0])])),
        "memories",
    ),
    bomb(
        "two hundred thousand globals",
        || around(module(&[many(6, 200_000, &[0x7f, 0, 0x41, 0, 0x0b])])),
        "global variables",
    ),
    bomb(
        "two million elements",
        || {
            around(module(&[section(
                9,
                &[vec![1, 1, 0], leb(2_000_000), vec![0; 2_000_000]].concat(),
            )]))
        },
        "elements in element segments",
    ),
    bomb(
        "a billion elements in a few bytes",
        || {
            around(module(&[section(
                9,
                &[vec![1, 1, 0], leb(1_000_000_000)].concat(),
            )]))
        },
        "cannot be loaded",
    ),
    bomb(
        "fifty thousand element segments",
        || around(module(&[many(9, 50_000, &[1, 0, 0])])),
        "element segments",
    ),
    bomb(
        "a hundred thousand data segments",
        || around(module(&[many(11, 100_000, &[1, 0])])),
        "data segments",
    ),
    bomb(
        "forty megabytes of data",
        || {
            around(module(&[section(
                11,
                &[vec![1, 1], leb(40 << 20), vec![7; 40 << 20]].concat(),
            )]))
        },
        "cannot be loaded",
    ),
    bomb(
        "data at the far end of a large memory",
        || {
            around(module(&[
                section(5, &[vec![1, 0], leb(32_767)].concat()),
                section(
                    11,
                    &[
                        2, 0, 0x41, 0, 0x0b, 1, 7, 0, 0x41, 0xf0, 0xff, 0xff, 0xff, 0x07, 0x0b, 1,
                        7,
                    ],
                ),
            ]))
        },
        "cannot be loaded",
    ),
    // Files.
    bomb(
        "more than is read of a file",
        || tool(&[custom("x", &vec![0; 65 << 20])]),
        "too large",
    ),
    bomb(
        "sixty megabytes that nobody reads",
        || tool(&[custom("x", &vec![0; 60 << 20])]),
        "cannot be loaded",
    ),
    bomb(
        "an info of two megabytes",
        || component(&[custom("toolbay:info", &vec![b' '; 2 << 20])]),
        "toolbay:info is 2097152 bytes long",
    ),
    bomb(
        "a section that is cut off",
        || {
            let whole = around(functions(&[busy(100)]));
            whole[..whole.len() / 2].to_vec()
        },
        "damaged",
    ),
    bomb(
        "a length that does not end",
        || tool(&[vec![1, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]]),
        "damaged",
    ),
    bomb(
        "a start function without an end",
        || {
            let endless = [0x03, 0x40, 0x0c, 0, 0x0b];
            let mut bytes = functions(&[body(0, &endless)]);
            // Behind the functions, before their bodies.
            let at = bytes.windows(2).position(|pair| pair == [3, 2]).unwrap() + 4;
            bytes.splice(at..at, section(8, &[0]));
            tool(&[section(1, &bytes), section(2, &[1, 0, 0, 0])])
        },
        "cannot be loaded",
    ),
];

/// Within every bound, and more than a compiler can do in its time or memory.
pub const TOUGH: Bomb = bomb(
    "twenty functions at every bound",
    || around(functions(&vec![busy(10_000); 20])),
    "compiling it takes",
);

/// The same, of which nothing is known before.
pub fn tough_and_nameless() -> Bytes {
    let module = functions(&vec![busy(10_000); 20]);
    nameless(&[section(1, &module)])
}
