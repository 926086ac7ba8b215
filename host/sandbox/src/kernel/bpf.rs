//! Writes the little programs that the kernel runs at each system call of a caged process.
//!
//! A program is a list of rules; the first one that fits decides, and the caller says what becomes
//! of a call that no rule names. Whatever comes through another door than the processor's own (32-bit calls, x32
//! numbers) ends the process: the numbers mean other calls there. Numbers that this program
//! has never heard of are answered as if the kernel were older.

use libc::sock_filter;

/// What becomes of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    Allow,
    /// The call fails with this error number.
    Fail(u16),
    /// The doorman decides.
    Ask,
}

/// A condition on the lower half of one argument. The kernel itself looks at no more than
/// that half of flags, modes, families and commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Condition {
    pub(crate) argument: u8,
    pub(crate) mask: u32,
    pub(crate) test: Test,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Test {
    Is(u32),
    IsNot(u32),
}

/// One line of the list: all conditions must hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rule {
    pub(crate) call: i64,
    pub(crate) when: Vec<Condition>,
    pub(crate) then: Action,
}

/// The processor whose numbers the rules use, as the kernel names it.
#[cfg(target_arch = "x86_64")]
pub(crate) const ARCHITECTURE: Option<u32> = Some(0xc000_003e);
#[cfg(target_arch = "aarch64")]
pub(crate) const ARCHITECTURE: Option<u32> = Some(0xc000_00b7);
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(crate) const ARCHITECTURE: Option<u32> = None;

/// The newest number that this program knows (`file_setattr`, Linux 6.17).
const NEWEST_CALL: u32 = 469;
/// From here on a number of the same processor means the x32 form of a call.
const X32: u32 = 0x4000_0000;

const KILL: u32 = 0x8000_0000;
const ALLOW: u32 = 0x7fff_0000;
const ERRNO: u32 = 0x0005_0000;
const NOTIFY: u32 = 0x7fc0_0000;

// Offsets in what the kernel shows to the program.
const NUMBER: u32 = 0;
const ARCH: u32 = 4;
const ARGUMENTS: u32 = 16;

const LOAD: u16 = 0x20;
const AND: u16 = 0x54;
const JUMP_EQUAL: u16 = 0x15;
const JUMP_GREATER: u16 = 0x25;
const JUMP_AT_LEAST: u16 = 0x35;
const RETURN: u16 = 0x06;

/// The program for a list of rules, or `None` on a processor that is not known here.
pub(crate) fn compile(rules: &[Rule], otherwise: Action) -> Option<Vec<sock_filter>> {
    let mut code = vec![
        step(LOAD, ARCH, 0, 0),
        step(JUMP_EQUAL, ARCHITECTURE?, 1, 0),
        step(RETURN, KILL, 0, 0),
        step(LOAD, NUMBER, 0, 0),
        step(JUMP_AT_LEAST, X32, 0, 1),
        step(RETURN, KILL, 0, 0),
        step(JUMP_GREATER, NEWEST_CALL, 0, 1),
        step(RETURN, answer(Action::Fail(libc::ENOSYS as u16)), 0, 0),
    ];
    for rule in rules {
        code.extend(one(rule));
    }
    code.push(step(RETURN, answer(otherwise), 0, 0));
    Some(code)
}

fn one(rule: &Rule) -> Vec<sock_filter> {
    // Behind the comparison: three steps a condition, the answer, and the number again,
    // which conditions overwrite.
    let restore = usize::from(!rule.when.is_empty());
    let length = rule.when.len() * 3 + 1 + restore;
    let mut code = vec![step(JUMP_EQUAL, rule.call as u32, 0, offset(length))];
    for (index, condition) in rule.when.iter().enumerate() {
        // To the step that loads the number again.
        let miss = offset((rule.when.len() - index - 1) * 3 + 1);
        let (value, hit, other) = match condition.test {
            Test::Is(value) => (value, 0, miss),
            Test::IsNot(value) => (value, miss, 0),
        };
        let place = ARGUMENTS + 8 * u32::from(condition.argument);
        code.push(step(LOAD, place, 0, 0));
        code.push(step(AND, condition.mask, 0, 0));
        code.push(step(JUMP_EQUAL, value, hit, other));
    }
    code.push(step(RETURN, answer(rule.then), 0, 0));
    if restore == 1 {
        code.push(step(LOAD, NUMBER, 0, 0));
    }
    code
}

fn answer(action: Action) -> u32 {
    match action {
        Action::Allow => ALLOW,
        Action::Fail(error) => ERRNO | u32::from(error),
        Action::Ask => NOTIFY,
    }
}

/// A jump that does not fit would land elsewhere; the longest rule has four conditions.
fn offset(steps: usize) -> u8 {
    u8::try_from(steps).unwrap_or(u8::MAX)
}

fn step(code: u16, k: u32, jt: u8, jf: u8) -> sock_filter {
    sock_filter { code, jt, jf, k }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Runs a program as the kernel would.
    fn run(code: &[sock_filter], arch: u32, call: u32, arguments: [u32; 6]) -> u32 {
        let (mut at, mut a) = (0, 0);
        loop {
            let now = code[at];
            at += 1;
            match now.code {
                LOAD if now.k == ARCH => a = arch,
                LOAD if now.k == NUMBER => a = call,
                LOAD => a = arguments[((now.k - ARGUMENTS) / 8) as usize],
                AND => a &= now.k,
                RETURN => return now.k,
                jump => {
                    let holds = match jump {
                        JUMP_EQUAL => a == now.k,
                        JUMP_GREATER => a > now.k,
                        _ => a >= now.k,
                    };
                    at += usize::from(if holds { now.jt } else { now.jf });
                }
            }
        }
    }

    fn rules() -> Vec<Rule> {
        let when = |argument, mask, test| Condition {
            argument,
            mask,
            test,
        };
        vec![
            Rule {
                call: 7,
                when: vec![when(0, u32::MAX, Test::Is(2)), when(1, 0xf, Test::IsNot(3))],
                then: Action::Allow,
            },
            Rule {
                call: 7,
                when: vec![],
                then: Action::Fail(1),
            },
            Rule {
                call: 9,
                when: vec![when(2, 0o100, Test::IsNot(0))],
                then: Action::Ask,
            },
        ]
    }

    #[test]
    fn the_first_rule_that_fits_decides() {
        let code = compile(&rules(), Action::Allow).unwrap();
        let arch = ARCHITECTURE.unwrap();
        for (call, arguments, expected) in [
            (7, [2, 0x11, 0, 0, 0, 0], ALLOW),
            (7, [2, 0x13, 0, 0, 0, 0], ERRNO | 1),
            (7, [1, 0, 0, 0, 0, 0], ERRNO | 1),
            (9, [0, 0, 0o1101, 0, 0, 0], NOTIFY),
            (9, [0, 0, 0o1001, 0, 0, 0], ALLOW),
            (8, [0; 6], ALLOW),
        ] {
            assert_eq!(run(&code, arch, call, arguments), expected, "{call}");
        }
    }

    #[test]
    fn what_no_rule_names_gets_what_the_caller_says() {
        let arch = ARCHITECTURE.unwrap();
        for (otherwise, expected) in [(Action::Allow, ALLOW), (Action::Fail(13), ERRNO | 13)] {
            let code = compile(&rules(), otherwise).unwrap();
            assert_eq!(run(&code, arch, 8, [0; 6]), expected);
            // The condition does not hold.
            assert_eq!(run(&code, arch, 9, [0; 6]), expected);
        }
    }

    #[test]
    fn other_doors_kill_and_unknown_numbers_are_not_there() {
        let code = compile(&rules(), Action::Allow).unwrap();
        let arch = ARCHITECTURE.unwrap();
        let i386 = 0x4000_0003;
        assert_eq!(run(&code, i386, 7, [0; 6]), KILL);
        assert_eq!(run(&code, arch, X32 | 8, [0; 6]), KILL);
        let absent = ERRNO | libc::ENOSYS as u32;
        assert_eq!(run(&code, arch, NEWEST_CALL + 1, [0; 6]), absent);
    }
}
