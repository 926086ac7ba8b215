//! Everyday commands to begin with: the cases and flags of the tables.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// What all tables hold together.
#[derive(Default)]
pub struct Corpus {
    /// Read-only, as the tables say.
    pub ok: Vec<String>,
    pub no: Vec<String>,
    pub commands: Vec<Known>,
    /// Places in `commands`, by the program: one with many sub-commands is still one.
    pub programs: BTreeMap<String, Vec<usize>>,
    /// Words with a dash from all cases: flags that some command has, good and bad ones.
    pub dashed: Vec<String>,
}

/// A command with the flags that its table lists.
pub struct Known {
    pub flags: Vec<String>,
    /// Its own cases that are read-only.
    pub ok: Vec<String>,
}

impl Corpus {
    /// Reads the folder as it is now, in the order of the names.
    pub fn read() -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tables");
        let entries = std::fs::read_dir(&folder).expect("the tables are there");
        let mut files: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
        files.sort();
        let mut corpus = Self::default();
        for file in files {
            let text = std::fs::read_to_string(&file).expect("a table is text");
            let table: toml::Table = match text.parse() {
                Ok(table) => table,
                Err(error) => panic!("{}: {error}", file.display()),
            };
            for (name, value) in &table {
                if !name.starts_with(':') {
                    corpus.add(value);
                }
            }
        }
        let words = corpus.ok.iter().chain(&corpus.no);
        let dashed: BTreeSet<String> = words
            .flat_map(|case| case.split_whitespace())
            .filter(|word| word.starts_with('-') && word.len() < 30)
            .map(str::to_owned)
            .collect();
        corpus.dashed = dashed.into_iter().collect();
        assert!(corpus.ok.len() > 30, "the tables have hardly any cases");
        corpus
    }

    /// Every case as a file of its own, for the fuzzers to begin with.
    pub fn write(&self, folder: &Path) {
        std::fs::create_dir_all(folder).expect("a folder for the seeds");
        for (number, case) in self.ok.iter().chain(&self.no).enumerate() {
            std::fs::write(folder.join(format!("{number:05}")), case).expect("a seed");
        }
    }

    fn add(&mut self, value: &toml::Value) {
        let Some(table) = value.as_table() else {
            return;
        };
        let texts = |key: &str| -> Vec<String> {
            let list = table.get(key).and_then(toml::Value::as_array);
            list.into_iter()
                .flatten()
                .filter_map(|text| text.as_str().map(str::to_owned))
                .collect()
        };
        let flags = table.get("flags").and_then(toml::Value::as_str);
        let known = Known {
            flags: flags
                .unwrap_or_default()
                .split_whitespace()
                .map(str::to_owned)
                .collect(),
            ok: texts("ok"),
        };
        self.ok.extend(known.ok.iter().cloned());
        self.no.extend(texts("no"));
        if let Some(program) = known
            .ok
            .first()
            .and_then(|case| case.split_whitespace().next())
        {
            let places = self.programs.entry(program.to_owned()).or_default();
            places.push(self.commands.len());
            self.commands.push(known);
        }
        for below in table.values() {
            self.add(below);
        }
    }
}
