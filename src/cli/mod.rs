//! The `retape` command, one file per subcommand.

mod accept;
mod arguments;
mod check;
mod child;
mod completions;
mod conduct;
mod contracts;
mod coverage;
mod demo;
mod diff;
mod export;
mod import;
mod list;
mod matrix;
mod mcp;
mod new;
mod proxy;
mod record;
mod recover;
mod replay;
mod review;
mod run;
mod scan;
mod serve;
mod show;
mod tell;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::error::Result;

/// Record a server once, replay it for ever, and review what changed.
#[derive(Debug, Parser)]
#[command(name = "retape", version, max_term_width = 100, after_help = AFTER_HELP)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Record(record::Record),
    Replay(replay::Replay),
    Run(run::Run),
    Matrix(matrix::Matrix),
    Mcp(mcp::Mcp),
    Show(show::Show),
    Check(check::Check),
    Accept(accept::Accept),
    Review(review::Review),
    Diff(diff::Diff),
    Coverage(coverage::Coverage),
    List(list::List),
    New(new::New),
    Import(import::Import),
    Export(export::Export),
    Recover(recover::Recover),
    Scan(scan::Scan),
    Demo(demo::Demo),
    Completions(completions::Completions),
    Man(completions::Man),
}

const AFTER_HELP: &str = "\
Start here:
  retape demo                                            record and replay a small agent server
  retape record --upstream http://127.0.0.1:8283 letta/hello -- python hello.py
  retape replay letta/hello -- python hello.py           the same, with no server
  retape show letta/hello                                what was asked and what came back
  retape check                                           is what the server promised still kept?
  retape diff --base origin/main                         what changed, and does it break a client?

The command finds retape's address in RETAPE_URL and takes it as its base address. A client names a
cassette of its own in the path: $RETAPE_URL/letta/hello/-/v1/agents asks the cassette letta/hello
for /v1/agents. Exit status: 0 all is well, 1 something was found (a miss), 2 it could not run.";

/// How a subcommand ended, where nothing kept it from running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Exit {
    /// All is well.
    Agrees,
    /// Something was found: a miss, or something that was not played.
    Findings,
    /// The wrapped command failed with this status.
    Command(u8),
}

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    let cli = Cli::try_parse().unwrap_or_else(|error| with_tip(error).exit());
    match dispatch(cli.command) {
        Ok(Exit::Agrees) => ExitCode::SUCCESS,
        Ok(Exit::Findings) => ExitCode::from(1),
        Ok(Exit::Command(status)) => ExitCode::from(status),
        Err(error) => {
            tell::error(&error);
            ExitCode::from(2)
        }
    }
}

/// Names what people usually mean: a command without `--` before it, or a revision to compare with.
fn with_tip(mut error: clap::Error) -> clap::Error {
    use clap::error::{ContextKind, ContextValue, ErrorKind};
    let words = std::env::args_os().skip(1);
    let words: Vec<String> = words.map(|word| word.to_string_lossy().into_owned()).collect();
    let is_word = matches!(
        error.get(ContextKind::InvalidArg),
        Some(ContextValue::String(word)) if !word.starts_with('-')
    );
    let has_command = words.iter().any(|word| word == "--");
    let has_base = words.iter().any(|word| word.starts_with("--base"));
    let tip = match (words.first().map_or("", String::as_str), error.kind()) {
        (name @ ("record" | "replay" | "run" | "matrix"), ErrorKind::UnknownArgument)
            if is_word && !has_command =>
        {
            format!("the command to run stands behind `--`: `retape {name} NAME -- COMMAND`")
        }
        ("diff", ErrorKind::MissingRequiredArgument) if !has_base => {
            "to compare with a revision of git, say `retape diff --base origin/main`".to_owned()
        }
        (_, ErrorKind::UnknownArgument) => {
            // Nobody means a cassette that is called like an option.
            error.remove(ContextKind::Suggested);
            return error;
        }
        _ => return error,
    };
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    error
}

fn dispatch(command: Command) -> Result<Exit> {
    match command {
        Command::Record(record) => record.run(),
        Command::Replay(replay) => replay.run(),
        Command::Run(run) => run.run(),
        Command::Matrix(matrix) => matrix.run(),
        Command::Mcp(mcp) => mcp.run(),
        Command::Show(show) => show.run(),
        Command::Check(check) => check.run(),
        Command::Accept(accept) => accept.run(),
        Command::Review(review) => review.run(),
        Command::Diff(diff) => diff.run(),
        Command::Coverage(coverage) => coverage.run(),
        Command::List(list) => list.run(),
        Command::New(new) => new.run(),
        Command::Import(import) => import.run(),
        Command::Export(export) => export.run(),
        Command::Recover(recover) => recover.run(),
        Command::Scan(scan) => scan.run(),
        Command::Demo(demo) => demo.run(),
        Command::Completions(completions) => completions.run(),
        Command::Man(man) => man.run(),
    }
}
