//! Writes WebAssembly byte by byte, also such as no compiler would.

pub type Bytes = Vec<u8>;

pub fn leb(mut value: u64) -> Bytes {
    let mut bytes = Vec::new();
    loop {
        let low = (value & 0x7f) as u8;
        value >>= 7;
        if value == 0 {
            bytes.push(low);
            return bytes;
        }
        bytes.push(low | 0x80);
    }
}

pub fn name(text: &str) -> Bytes {
    [leb(text.len() as u64), text.as_bytes().to_vec()].concat()
}

pub fn section(id: u8, content: &[u8]) -> Bytes {
    [vec![id], leb(content.len() as u64), content.to_vec()].concat()
}

/// A section of equal items.
pub fn many(id: u8, count: usize, item: &[u8]) -> Bytes {
    section(id, &[leb(count as u64), item.repeat(count)].concat())
}

/// A section of items that differ.
pub fn each(id: u8, count: usize, item: impl Fn(usize) -> Bytes) -> Bytes {
    let items: Bytes = (0..count).flat_map(item).collect();
    section(id, &[leb(count as u64), items].concat())
}

pub fn custom(title: &str, content: &[u8]) -> Bytes {
    section(0, &[name(title), content.to_vec()].concat())
}

pub fn module(sections: &[Bytes]) -> Bytes {
    [b"\0asm\x01\0\0\0".to_vec(), sections.concat()].concat()
}

pub fn component(sections: &[Bytes]) -> Bytes {
    [b"\0asm\x0d\0\x01\0".to_vec(), sections.concat()].concat()
}

/// A module with functions that take and give nothing, by their bodies.
pub fn functions(bodies: &[Bytes]) -> Bytes {
    let whole = |body: &Bytes| [leb(body.len() as u64), body.clone()].concat();
    let code: Bytes = bodies.iter().flat_map(whole).collect();
    module(&[
        many(1, 1, &[0x60, 0, 0]),
        many(3, bodies.len(), &[0]),
        section(10, &[leb(bodies.len() as u64), code].concat()),
    ])
}

/// A body with so many variables.
pub fn body(locals: u64, code: &[u8]) -> Bytes {
    [vec![1], leb(locals), vec![0x7f], code.to_vec(), vec![0x0b]].concat()
}

/// A component that names itself a tool, with more sections before its export.
pub fn tool(sections: &[Bytes]) -> Bytes {
    let info = r#"{"name": "Bomb", "summary": "Looks like a tool.", "input-schema": "{\"type\": \"object\"}"}"#;
    nameless(&[custom("toolbay:info", info.as_bytes()), sections.concat()])
}

/// One that must be compiled before anybody knows its name.
pub fn nameless(sections: &[Bytes]) -> Bytes {
    let export = [
        vec![1, 0],
        name("toolbay:tool/tool@0.1.0"),
        vec![5, 0, 0],
    ];
    component(&[
        sections.concat(),
        // An instance of nothing, exported as the contract's.
        section(5, &[1, 1, 0]),
        section(11, &export.concat()),
    ])
}

/// The same around a core module.
pub fn around(module: Bytes) -> Bytes {
    tool(&[section(1, &module)])
}
