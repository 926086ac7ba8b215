//! Trees with everything that makes searching hard, grown from a seed.

use std::fs;
use std::path::{Path, PathBuf};

pub const WORDS: [&str; 14] = [
    "alpha",
    "Beta",
    "gamma",
    "delta",
    "fn",
    "struct",
    "Result",
    "error",
    "straße",
    "Ωμέγα",
    "needle",
    "ERROR",
    "let",
    "impl",
];

/// Folders that searches start from.
pub const FOLDERS: [&str; 6] = ["src", "src/deep", "docs", "vendor", ".hidden", "sub"];

/// Text files that searches name directly.
pub const TEXTS: [&str; 4] = ["top.txt", "src/main.rs", "vendor/lib.rs", "crlf.txt"];

/// A file whose NUL byte comes late.
pub const LATE_BINARY: &str = "late.txt";

/// Numbers that are the same for the same seed.
pub struct Seed(u64);

impl Seed {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % end.max(1)
    }

    /// True once in `times`.
    pub fn chance(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }
}

/// A tree on disk that goes away with this value.
pub struct Tree {
    pub root: PathBuf,
}

impl Drop for Tree {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}

impl Tree {
    pub fn grow(seed: &mut Seed) -> Self {
        let root = super::temporary_folder();
        let _ = fs::remove_dir_all(&root);
        let tree = Self { root };
        tree.plain(seed);
        tree.ignored(seed);
        tree.odd(seed);
        tree.links();
        tree
    }

    fn plain(&self, seed: &mut Seed) {
        for (folder, extension, count) in [
            ("src", "rs", 12),
            ("src/deep", "rs", 6),
            ("src/deep/er", "txt", 4),
            ("docs", "md", 8),
            ("docs/more", "json", 4),
            ("sub/one/two/three", "py", 5),
            ("sub", "txt", 5),
            (".hidden", "txt", 3),
            ("src/.secret", "rs", 3),
        ] {
            for number in 0..count {
                let lines = seed.below(120);
                let name = format!("{}{number}.{extension}", seed.pick(&["a", "m", "z"]));
                self.write(
                    &format!("{folder}/{name}"),
                    text(seed, lines, "\n").as_bytes(),
                );
            }
        }
        for name in ["top.txt", "src/main.rs", "docs/readme.md", ".dot.txt"] {
            self.write(name, text(seed, 60, "\n").as_bytes());
        }
    }

    fn ignored(&self, seed: &mut Seed) {
        // Ignore-files of git count only in a repository.
        fs::create_dir_all(self.root.join(".git/info")).unwrap();
        self.write(".git/info/exclude", b"excluded.txt\n");
        self.write(".gitignore", b"*.log\n!keep.log\n/vendor/\nbuild/\n");
        self.write("src/.gitignore", b"gen_*\n!gen_kept.rs\n");
        self.write("docs/.ignore", b"draft.md\n");
        self.write("sub/.rgignore", b"skipped.txt\n");
        for name in [
            "one.log",
            "keep.log",
            "src/two.log",
            "vendor/lib.rs",
            "vendor/deep/more.txt",
            "build/out.txt",
            "src/build/out.rs",
            "src/gen_a.rs",
            "src/gen_kept.rs",
            "docs/draft.md",
            "sub/skipped.txt",
            "excluded.txt",
        ] {
            self.write(name, text(seed, 30, "\n").as_bytes());
        }
    }

    fn odd(&self, seed: &mut Seed) {
        self.write("empty.txt", b"");
        self.write("newlines.txt", b"\n\n\n");
        self.write("crlf.txt", text(seed, 50, "\r\n").as_bytes());
        let unended = text(seed, 20, "\n");
        self.write("unended.txt", unended.trim_end().as_bytes());
        self.write("src/unended.rs", b"no line end, one needle");

        let mut binary = text(seed, 20, "\n").into_bytes();
        binary.extend_from_slice(b"\0\x01\x02 needle\n");
        self.write("binary.bin", &binary);
        // The NUL byte lies behind the first blocks.
        let mut late = text(seed, 6_000, "\n").into_bytes();
        late.extend_from_slice(b"\0 needle\n");
        self.write(LATE_BINARY, &late);

        let wide = text(seed, 40, "\n");
        self.write("utf16le.txt", &utf16(&wide, u16::to_le_bytes));
        self.write("utf16be.txt", &utf16(&wide, u16::to_be_bytes));
        self.write("bom.txt", format!("\u{feff}{wide}").as_bytes());
        self.write(
            "latin.txt",
            b"caf\xe9 needle\nerror \xff\xfe alpha\nstra\xdfe\n",
        );

        let long = text(seed, 4_000, " ");
        self.write(
            "long.txt",
            format!("short alpha\n{long}\nend needle\n").as_bytes(),
        );
        // Several blocks, with lines over their borders.
        self.write("large.rs", text(seed, 12_000, "\n").as_bytes());
        self.write("large_crlf.txt", text(seed, 5_000, "\r\n").as_bytes());
        self.write("with space-and:colon.txt", text(seed, 20, "\n").as_bytes());
    }

    fn links(&self) {
        use std::os::unix::fs::symlink;
        symlink(self.root.join("src"), self.root.join("link_to_folder")).unwrap();
        symlink(
            self.root.join("top.txt"),
            self.root.join("link_to_file.txt"),
        )
        .unwrap();
        symlink("nowhere", self.root.join("dangling")).unwrap();
        symlink("..", self.root.join("src/deep/loop")).unwrap();
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        let path = self.root.join(name);
        fs::create_dir_all(path.parent().unwrap_or(Path::new("/"))).unwrap();
        fs::write(path, bytes).unwrap();
    }
}

fn utf16(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    std::iter::once(0xFEFF)
        .chain(text.encode_utf16())
        .flat_map(bytes)
        .collect()
}

fn text(seed: &mut Seed, lines: u64, end: &str) -> String {
    let mut text = String::new();
    for _ in 0..lines {
        for _ in 0..seed.below(8) {
            if seed.chance(3) {
                text.push_str(seed.pick(&WORDS));
            } else {
                text.push_str(seed.pick(&["the", "Call(x)", "1234", "_", "};", "ordinary", "\t"]));
            }
            text.push(' ');
        }
        text.push_str(end);
    }
    text
}
