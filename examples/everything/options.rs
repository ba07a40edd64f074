//! What the command line asks for.

use std::net::SocketAddr;

use portcullis::ConfigError;
use portcullis::layers::Mode;

/// What to do.
#[derive(Debug)]
pub(crate) enum Wish {
    Help,
    Serve(Options),
}

/// How to serve.
#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) transport: Transport,
    pub(crate) mode: Mode,
    /// Whether the tools, resources and prompts for hostile tests are there too.
    pub(crate) fixtures: bool,
    /// Whether a layer that does nothing is added on every plane.
    pub(crate) identity_layers: bool,
}

/// Where clients are.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Transport {
    Http(SocketAddr),
    Stdio,
}

pub(crate) const USAGE: &str = "\
Usage: everything [--listen ADDRESS:PORT | --stdio] [--mode NAME] [--fixtures] [--identity-layers]

  --listen ADDRESS:PORT  serve HTTP here, at /mcp (default: 127.0.0.1:3001)
  --stdio                serve stdin and stdout instead
  --mode NAME            how operations are shown: plain (default), direct or compact
  --fixtures             add what hostile tests need
  --identity-layers      add a layer that does nothing on every plane: no byte changes by it
  --help                 show this

Logs go to stderr; RUST_LOG chooses what is logged (default: warn).";

impl Wish {
    /// Reads the arguments behind the name of the program.
    pub(crate) fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Self, String> {
        let mut arguments = arguments.into_iter();
        let mut transport = None;
        let mut mode = None;
        let mut fixtures = None;
        let mut identity_layers = None;
        while let Some(flag) = arguments.next() {
            let mut value = || arguments.next().ok_or(format!("{flag} needs a value"));
            let again = match flag.as_str() {
                "--help" | "-h" => return Ok(Self::Help),
                "--listen" => transport
                    .replace(Transport::Http(address(&value()?)?))
                    .is_some(),
                "--stdio" => transport.replace(Transport::Stdio).is_some(),
                "--mode" => mode.replace(mode_named(&value()?)?).is_some(),
                "--fixtures" => fixtures.replace(true).is_some(),
                "--identity-layers" => identity_layers.replace(true).is_some(),
                _ => return Err(format!("there is no {flag}")),
            };
            if again {
                return Err(format!(
                    "{flag} contradicts or repeats what stands before it"
                ));
            }
        }
        Ok(Self::Serve(Options {
            transport: transport.unwrap_or(Transport::Http(DEFAULT.into())),
            mode: mode.unwrap_or(Mode::Plain),
            fixtures: fixtures.unwrap_or(false),
            identity_layers: identity_layers.unwrap_or(false),
        }))
    }
}

fn address(text: &str) -> Result<SocketAddr, String> {
    let address = text.parse();
    address.map_err(|_| format!("`{text}` is not an address and a port, such as 127.0.0.1:3001"))
}

fn mode_named(name: &str) -> Result<Mode, String> {
    name.parse().map_err(|error: ConfigError| error.to_string())
}

const DEFAULT: ([u8; 4], u16) = ([127, 0, 0, 1], 3001);
