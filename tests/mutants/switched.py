"""All mutants of some files in one build: each is an arm that a number in the environment switches on.

cargo-mutants builds the crate anew for each mutant, which is most of its time. Here it only lists them; the
sources are rewritten once so that `a == b` becomes, in effect, `if mutant 17 is on { a != b } else { a == b }`.
What cannot be switched (constants, omitted fields, what does not compile beside the others) is returned, and is
tried the other way.

Unlike a change of the operator's text, a switched operator keeps its place in the tree: `a || b || c` with the second
one changed is `(a || b) && c`.
"""

import dataclasses
import json

import tree_sitter
import tree_sitter_rust

SWITCH = "__mutant"
COMPARISONS = {"==", "!=", "<", "<=", ">", ">="}
# Where an expression is computed by the compiler, nothing can be switched.
CONSTANT = {"const_item", "static_item", "const_block", "array_type", "enum_variant", "attribute_item"}

ROOT = """
static __MUTANT: std::sync::LazyLock<u32> = std::sync::LazyLock::new(|| {
    std::env::var("TOOLBAY_MUTANT").ok().and_then(|id| id.parse().ok()).unwrap_or(0)
});
pub(crate) fn __mutant(id: u32) -> bool {
    *__MUTANT == id
}
"""


@dataclasses.dataclass
class Mutant:
    """One entry of the list of cargo-mutants, with the number that switches it on."""

    id: int
    name: str
    file: str
    genre: str
    replacement: str
    start: tuple[int, int]
    end: tuple[int, int]

    def applied(self, source: bytes) -> bytes:
        """The text with this one alone."""
        offsets = Offsets(source)
        return source[: offsets.of(*self.start)] + self.replacement.encode() + b" " + source[offsets.of(*self.end) :]


class Offsets:
    """From a line and a column, both counted from one, to a byte."""

    def __init__(self, source: bytes):
        self.lines = source.split(b"\n")
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line) + 1)

    def of(self, line: int, column: int) -> int:
        return self.starts[line - 1] + len(self.lines[line - 1].decode()[: column - 1].encode())


def parse_list(text: str) -> list[Mutant]:
    return [
        Mutant(id, one["name"], one["file"], one["genre"], one["replacement"], place(one["span"]["start"]), place(one["span"]["end"]))
        for id, one in enumerate(json.loads(text), 1)
    ]


def place(found: dict[str, int]) -> tuple[int, int]:
    return found["line"], found["column"]


class File:
    """A source file and the mutants in it. `render` leaves out those that are named."""

    def __init__(self, path: str, source: bytes, mutants: list[Mutant]):
        self.path = path
        self.source = source
        parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_rust.language()))
        self.tree = parser.parse(source)
        self.by_start: dict[tuple[int, str], list[Mutant]] = {}
        offsets = Offsets(source)
        for mutant in mutants:
            self.by_start.setdefault((offsets.of(*mutant.start), mutant.genre), []).append(mutant)

    def render(self, dropped: set[int]) -> tuple[bytes, list[tuple[int, int, list[int]]], set[int]]:
        """The text, its regions as (start, end, ids), and the ids in it."""
        self.dropped = dropped
        self.used: set[int] = set()
        text = self.node(self.tree.root_node, constant=False)
        return (*self.unmarked(text), self.used)

    def take(self, offset: int, genre: str) -> list[Mutant]:
        found = [one for one in self.by_start.get((offset, genre), []) if one.id not in self.dropped]
        self.used.update(one.id for one in found)
        return found

    # Regions are marked in the text while it is made, with two characters that no source holds.
    @staticmethod
    def marked(mutants: list[Mutant], text: bytes) -> bytes:
        ids = ",".join(str(one.id) for one in mutants)
        return b"\x01" + ids.encode() + b"\x02" + text + b"\x03"

    @staticmethod
    def unmarked(text: bytes) -> tuple[bytes, list[tuple[int, int, list[int]]]]:
        out, regions, open_regions, at = bytearray(), [], [], 0
        while at < len(text):
            byte = text[at]
            if byte == 1:
                end = text.index(b"\x02", at)
                open_regions.append((len(out), [int(id) for id in text[at + 1 : end].split(b",")]))
                at = end + 1
            elif byte == 3:
                start, ids = open_regions.pop()
                regions.append((start, len(out), ids))
                at += 1
            else:
                out.append(byte)
                at += 1
        return bytes(out), regions

    def node(self, node, constant: bool) -> bytes:
        kind = node.type
        if kind in CONSTANT or (kind == "function_item" and is_const(node)):
            constant = True
        if constant:
            return self.plain(node, True)
        if kind == "binary_expression":
            return self.binary(node)
        if kind == "compound_assignment_expr":
            return self.assignment(node)
        if kind == "unary_expression":
            return self.unary(node)
        if kind == "match_pattern":
            return self.pattern(node)
        if kind == "function_item":
            return self.function(node)
        return self.plain(node, False)

    def plain(self, node, constant: bool, replaced: dict[int, bytes] | None = None) -> bytes:
        """The node with its children rewritten; the text between them stays."""
        out, at = [], node.start_byte
        for child in node.children:
            out.append(self.source[at : child.start_byte])
            mine = (replaced or {}).get(child.id)
            out.append(mine if mine is not None else self.node(child, constant))
            at = child.end_byte
        out.append(self.source[at : node.end_byte])
        return b"".join(out)

    def binary(self, node) -> bytes:
        operator = node.child_by_field_name("operator")
        mutants = self.take(operator.start_byte, "BinaryOperator")
        if not mutants:
            return self.plain(node, False)
        sign = operator.type
        left = self.node(node.child_by_field_name("left"), False)
        right = self.node(node.child_by_field_name("right"), False)
        if sign in ("&&", "||"):
            one = b" || ".join(on(mutant) for mutant in mutants)
            branches = b"{ %s } else { __l }" if sign == "&&" else b"{ __l } else { %s }"
            body = b"{ let __l: bool = (%s); if __l ^ (%s) %s }" % (left, one, branches % right)
        elif sign in COMPARISONS:
            body = b"match (&(%s), &(%s)) { (__l, __r) => %s }" % (left, right, arms(mutants, b"*__l %s *__r", sign))
        else:
            body = b"match ((%s), (%s)) { (__l, __r) => %s }" % (left, right, arms(mutants, b"__l %s __r", sign))
        return self.marked(mutants, b"(" + body + b")")

    def assignment(self, node) -> bytes:
        operator = node.child_by_field_name("operator")
        mutants = self.take(operator.start_byte, "BinaryOperator")
        if not mutants:
            return self.plain(node, False)
        left = self.plain(node.child_by_field_name("left"), True)
        right = self.node(node.child_by_field_name("right"), False)
        body = b"match (%s) { __r => %s }" % (right, arms(mutants, left.replace(b"%", b"%%") + b" %s __r", operator.type))
        return self.marked(mutants, b"(" + body + b")")

    def unary(self, node) -> bytes:
        mutants = self.take(node.start_byte, "UnaryOperator")
        if not mutants:
            return self.plain(node, False)
        sign = node.children[0].type.encode()
        operand = self.node(node.children[1], False)
        body = b"match (%s) { __v => if %s { __v } else { %s__v } }" % (operand, on(mutants[0]), sign)
        return self.marked(mutants, b"(" + body + b")")

    def pattern(self, node) -> bytes:
        condition = node.child_by_field_name("condition")
        deleted = self.take(node.parent.start_byte, "MatchArm")
        if condition is None:
            text = self.plain(node, False)
            if not deleted:
                return text
            return text + self.marked(deleted, b" if !" + on(deleted[0]))
        if condition.type in ("let_condition", "let_chain"):
            return self.plain(node, False)
        guard = self.take(condition.start_byte, "MatchArmGuard")
        text = self.node(condition, False)
        for mutant in guard:
            form = b"(%s || (%s))" if mutant.replacement == "true" else b"(!%s && (%s))"
            text = form % (on(mutant), text)
        for mutant in deleted:
            text = b"(!%s && (%s))" % (on(mutant), text)
        both = guard + deleted
        if both:
            text = self.marked(both, text)
        return self.plain(node, False, {condition.id: text})

    def function(self, node) -> bytes:
        body = node.child_by_field_name("body")
        if body is None:
            return self.plain(node, False)
        first = next((child for child in body.children[1:] if child.type not in ("line_comment", "block_comment")), None)
        mutants = self.take(first.start_byte, "FnValue") if first is not None else []
        text = self.node(body, False)
        if mutants:
            early = b"".join(self.marked([one], b" if %s { return %s; }" % (on(one), one.replacement.encode())) for one in mutants)
            # Behind inner attributes nothing else may stand; there are none in function bodies here.
            text = b"{" + early + text[1:]
        return self.plain(node, False, {body.id: text})


def on(mutant: Mutant) -> bytes:
    return b"crate::%s(%d)" % (SWITCH.encode(), mutant.id)


def arms(mutants: list[Mutant], form: bytes, sign: str) -> bytes:
    changed = b"".join(b"if %s { %s } else " % (on(one), form % one.replacement.encode()) for one in mutants)
    return changed + b"{ %s }" % (form % sign.encode())


def is_const(function) -> bool:
    modifiers = next((child for child in function.children if child.type == "function_modifiers"), None)
    return modifiers is not None and b"const" in modifiers.text.split()


def blamed(text: bytes, regions: list[tuple[int, int, list[int]]], start: int, end: int) -> set[int]:
    """The ids of the innermost region around an error, or else of those in the smallest syntax around it that has any."""
    around = [region for region in regions if region[0] <= start and end <= region[1]]
    if around:
        return set(min(around, key=lambda region: region[1] - region[0])[2])
    tree = tree_sitter.Parser(tree_sitter.Language(tree_sitter_rust.language())).parse(text)
    node = tree.root_node.descendant_for_byte_range(start, end)
    while node is not None:
        inside = {id for region in regions if node.start_byte <= region[0] and region[1] <= node.end_byte for id in region[2]}
        # All of a file would be too much to blame.
        if inside and node.parent is not None:
            return inside
        node = node.parent
    return set()
