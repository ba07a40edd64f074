//! Mistakes in putting a stack together do not compile, and the compiler names what is at fault.
//!
//! Each file in `tests/compile_fail/` is compiled twice. As it is, it must fail, and for each of its
//! `Says:` there must be a line in the message with all those words; with `--cfg fixed` it must
//! compile, so that it fails for that reason alone. Whole messages are not compared, since they change
//! with every compiler. `SHOW=1` in the environment prints them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// Crates that the files name.
const CRATES: &[&str] = &["http", "hyper", "portcullis", "schemars", "serde", "tower"];

#[test]
fn mistakes_do_not_compile_and_the_message_names_them() {
    let compiler = Compiler::find();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/compile_fail");
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|it| it.unwrap().path())
        .collect();
    files.sort();
    assert!(files.len() >= 9, "the files were not found");
    // Two at a time: each is a process that waits for no other.
    let (odd, even): (Vec<_>, Vec<_>) = (0..).zip(&files).partition(|(n, _)| n % 2 == 1);
    let wrong = std::thread::scope(|scope| {
        let halves = [odd, even].map(|half| {
            let compiler = &compiler;
            scope.spawn(move || {
                half.iter()
                    .filter_map(|(_, file)| compiler.judge(file).err())
                    .collect::<Vec<_>>()
            })
        });
        halves.map(|half| half.join().unwrap()).concat()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The compiler, and the crates this very test was built with.
struct Compiler {
    dependencies: PathBuf,
    crates: BTreeMap<String, PathBuf>,
}

impl Compiler {
    /// Asks cargo, which has built everything already.
    fn find() -> Self {
        let test = std::env::current_exe().unwrap();
        let dependencies = test.parent().unwrap().to_owned();
        let target = dependencies.ancestors().nth(2).unwrap();
        let mut cargo = Command::new(option_env!("CARGO").unwrap_or("cargo"));
        cargo
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .args(["test", "--test", "compile_fail", "--no-run", "--offline"])
            .args(["--message-format", "json", "--target-dir"])
            .arg(target);
        if !cfg!(debug_assertions) {
            cargo.arg("--release");
        }
        if cfg!(feature = "arbitrary-precision") {
            cargo.args(["--features", "arbitrary-precision"]);
        }
        let told = cargo.output().unwrap();
        assert!(
            told.status.success(),
            "{}",
            String::from_utf8_lossy(&told.stderr)
        );
        let mut crates = BTreeMap::new();
        for line in String::from_utf8(told.stdout).unwrap().lines() {
            let message: Value = serde_json::from_str(line).unwrap();
            let name = message["target"]["name"]
                .as_str()
                .unwrap_or_default()
                .replace('-', "_");
            let library = message["filenames"].as_array().into_iter().flatten();
            let library = library
                .filter_map(Value::as_str)
                .find(|name| Path::new(name).extension().is_some_and(|it| it == "rlib"));
            if let (true, Some(library)) = (CRATES.contains(&&*name), library) {
                crates.insert(name, PathBuf::from(library));
            }
        }
        assert_eq!(crates.len(), CRATES.len(), "found {crates:?}");
        Self {
            dependencies,
            crates,
        }
    }

    fn compile(&self, file: &Path, fixed: bool) -> Output {
        let mut rustc = Command::new(option_env!("RUSTC").unwrap_or("rustc"));
        rustc
            .args([
                "--edition",
                "2024",
                "--crate-type",
                "bin",
                "--emit",
                "metadata",
            ])
            .args(["--cap-lints", "allow", "--color", "never"])
            .args(["--out-dir", env!("CARGO_TARGET_TMPDIR"), "-L"])
            .arg(format!("dependency={}", self.dependencies.display()));
        for (name, library) in &self.crates {
            rustc
                .arg("--extern")
                .arg(format!("{name}={}", library.display()));
        }
        if fixed {
            rustc.args(["--cfg", "fixed"]);
        }
        rustc.arg(file).output().unwrap()
    }

    /// What is wrong with a file.
    fn judge(&self, file: &Path) -> Result<(), String> {
        let name = file.file_name().unwrap().to_string_lossy();
        let text = fs::read_to_string(file).unwrap();
        let says: Vec<_> = text
            .lines()
            .filter_map(|line| line.strip_prefix("//! Says: "))
            .collect();
        if says.is_empty() {
            return Err(format!("{name}: says nothing"));
        }
        let fixed = self.compile(file, true);
        if !fixed.status.success() {
            let told = String::from_utf8_lossy(&fixed.stderr);
            return Err(format!("{name}: does not compile when it is fixed\n{told}"));
        }
        let broken = self.compile(file, false);
        let told = String::from_utf8_lossy(&broken.stderr);
        if broken.status.success() {
            return Err(format!("{name}: compiles"));
        }
        if std::env::var_os("SHOW").is_some() {
            eprintln!("--- {name}\n{told}");
        }
        // The lines that quote the source would name it in any case.
        let quotes = |line: &str| line.trim_start().starts_with(|c: char| c.is_ascii_digit());
        let lines: Vec<_> = told.lines().filter(|line| !quotes(line)).collect();
        let names = |words: &str, line: &str| words.split(' ').all(|word| line.contains(word));
        let silent = says
            .iter()
            .find(|words| !lines.iter().any(|line| names(words, line)));
        silent.map_or(Ok(()), |words| {
            Err(format!("{name}: {words:?} stands on no line of\n{told}"))
        })
    }
}
