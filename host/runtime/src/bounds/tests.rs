use super::*;

fn leb(mut value: u64) -> Vec<u8> {
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

fn section(id: u8, content: &[u8]) -> Vec<u8> {
    [vec![id], leb(content.len() as u64), content.to_vec()].concat()
}

fn many(id: u8, count: u64, item: &[u8]) -> Vec<u8> {
    section(id, &[leb(count), item.repeat(count as usize)].concat())
}

fn component(sections: &[u8]) -> Vec<u8> {
    [b"\0asm\x0d\0\x01\0", sections].concat()
}

fn in_module(sections: &[u8]) -> Vec<u8> {
    component(&section(1, &[b"\0asm\x01\0\0\0", sections].concat()))
}

fn with_body(content: &[u8]) -> Vec<u8> {
    let body = [leb(content.len() as u64), content.to_vec()].concat();
    let sections = [
        many(1, 1, &[0x60, 0, 0]),
        many(3, 1, &[0]),
        section(10, &[vec![1], body].concat()),
    ];
    in_module(&sections.concat())
}

fn with_locals(count: u64) -> Vec<u8> {
    with_body(&[vec![1], leb(count), vec![0x7f, 0x0b]].concat())
}

fn with_blocks(depth: u64) -> Vec<u8> {
    let (open, close) = ([0x02, 0x40], [0x0b]);
    let depth = depth as usize;
    // The body is the first of its blocks.
    let code = [open.repeat(depth - 1), close.repeat(depth)].concat();
    with_body(&[vec![0], code].concat())
}

fn with_type_depth(depth: u64) -> Vec<u8> {
    let levels = [0x42, 1, 1].repeat(depth as usize);
    component(&section(7, &[vec![1], levels, vec![0x7f]].concat()))
}

fn with_nesting(depth: u64) -> Vec<u8> {
    (1..depth).fold(component(&[]), |inner, _| component(&section(4, &inner)))
}

fn with_branches(targets: u64) -> Vec<u8> {
    let table = [leb(targets), vec![0; targets as usize + 1]].concat();
    with_body(&[vec![0, 0x41, 0, 0x0e], table, vec![0x0b]].concat())
}

fn with_name(length: u64) -> Vec<u8> {
    let name = [leb(length), vec![b'a'; length as usize]].concat();
    in_module(&section(7, &[vec![1], name, vec![0, 0]].concat()))
}

/// Makes a component that has so many of something.
type MakeWith = fn(u64) -> Vec<u8>;

/// What makes a component of a size, and the bound that stops it.
const AT_THE_BOUND: [(Bound, MakeWith); 11] = [
    (Bound::Locals, with_locals),
    (Bound::BlockDepth, with_blocks),
    (Bound::BranchTargets, with_branches),
    (Bound::TypeDepth, with_type_depth),
    (Bound::Nesting, with_nesting),
    (Bound::NameLength, with_name),
    (Bound::CoreTypes, |count| {
        in_module(&many(1, count, &[0x60, 0, 0]))
    }),
    (Bound::ComponentTypes, |count| {
        component(&many(7, count, &[0x7f]))
    }),
    (Bound::Functions, |count| {
        in_module(&[many(3, count, &[0]), many(10, count, &[2, 0, 0x0b])].concat())
    }),
    (Bound::Globals, |count| {
        in_module(&many(6, count, &[0x7f, 0, 0x41, 0, 0x0b]))
    }),
    (Bound::Aliases, |count| {
        component(&many(6, count, &[3, 2, 0, 0]))
    }),
];

#[test]
fn a_bound_is_the_last_number_that_is_accepted() {
    for (bound, make) in AT_THE_BOUND {
        let most = bound.most();
        assert_eq!(outline(&make(most)).map(drop), Ok(()), "{bound:?}");
        let seen = most + 1;
        let refused = outline(&make(seen)).map(drop);
        assert_eq!(
            refused,
            Err(BoundsError::Exceeded { bound, seen }),
            "{bound:?}"
        );
    }
}

#[test]
fn a_refusal_says_what_was_seen_what_is_accepted_and_what_helps() {
    let error = outline(&with_locals(40_000)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "it has too many local variables in one function: 40000; at most 10000 are accepted. \
         Its author can split that function, or build with optimisation"
    );
}

#[test]
fn types_are_counted_however_deep_they_lie() {
    // An instance type that declares a component type that declares three more.
    let inner = [&[0x41, 3][..], &[1, 0x7f].repeat(3)].concat();
    let content = [&[1, 0x42, 1, 1][..], &inner].concat();
    assert_eq!(
        outline(&component(&section(7, &content))),
        Ok(Outline::default())
    );
    // A million levels end with an error, not with the call stack.
    let error = outline(&with_type_depth(1_000_000)).unwrap_err();
    assert!(error.to_string().contains("types inside types"), "{error}");
}

#[test]
fn only_the_outermost_component_shows_its_imports() {
    let import = |name: &str| {
        let name = [&[0, name.len() as u8][..], name.as_bytes()].concat();
        // A function of the first type.
        section(10, &[vec![1], name, vec![1, 0]].concat())
    };
    let inner = section(4, &component(&import("inner")));
    let found = outline(&component(&[inner, import("outer")].concat())).unwrap();
    assert_eq!(found.imports, ["outer"]);
}

#[test]
fn what_is_damaged_is_refused_where_it_is() {
    let whole = with_locals(3);
    for length in 9..whole.len() {
        let part = &whole[..length];
        // The walk over the sections, which comes first, knows how long each must be.
        let refused = crate::sections::read(part).is_err() || outline(part).is_err();
        assert!(refused, "the first {length} bytes");
    }
}
