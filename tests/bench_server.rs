//! Keeps the server that is measured honest: it is the default stack, with nothing switched off.

use std::env;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use portcullis::{Mode, Registry, Stack};

#[test]
fn the_measured_server_is_the_default_stack_in_plain_mode() {
    let stack = || Stack::new(Registry::builder().build().unwrap());
    let plain = stack().mode(Mode::Plain).build().unwrap();
    let default = stack().build().unwrap();
    let server = bench_server();
    for options in [&[][..], &["--schemas"]] {
        let described = description(Command::new(&server).args(options));
        assert_eq!(described, plain.describe());
        let default = default.describe();
        assert_eq!(described, default.replace("mode(compact)", "mode(plain)"));
    }
}

/// What the server prints when it starts.
fn description(server: &mut Command) -> String {
    let server = server.args(["http", "0", "3"]).stderr(Stdio::piped());
    let mut server = Stopped(server.spawn().unwrap());
    let lines = BufReader::new(server.0.stderr.take().unwrap()).lines();
    let mut description = Vec::new();
    for line in lines.map(Result::unwrap) {
        description.push(line);
        if description[description.len() - 1].starts_with("limits:") {
            break;
        }
    }
    description.join("\n")
}

/// Builds the example as this test was built, which is nothing to do if all tests are run.
fn bench_server() -> PathBuf {
    // …/target/debug/deps/bench_server-0123456789abcdef
    let this = env::current_exe().unwrap();
    let folder = this.ancestors().nth(2).unwrap();
    let profile = match folder.file_name().unwrap().to_str().unwrap() {
        "debug" => "dev",
        profile => profile,
    };
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .args(["build", "--quiet", "--example", "bench_server"])
        .args(["--profile", profile])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("CARGO_TARGET_DIR", folder.parent().unwrap());
    // What cargo tells tests about their package, build scripts would take for theirs.
    for (name, _) in env::vars().filter(|(name, _)| name.starts_with("CARGO_PKG_")) {
        cargo.env_remove(name);
    }
    cargo.env_remove("CARGO_MANIFEST_DIR");
    assert!(cargo.status().unwrap().success());
    let name = format!("bench_server{}", env::consts::EXE_SUFFIX);
    folder.join("examples").join(name)
}

/// A process that does not outlive the test.
struct Stopped(Child);

impl Drop for Stopped {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
