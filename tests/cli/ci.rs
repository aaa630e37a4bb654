//! What runs on build servers: the GitHub action and the GitLab template, step by step, with the hosts'
//! own tools replaced by ones that note what they are asked.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use saphyr::{LoadableYamlNode as _, YamlOwned};

use crate::retape::{Stage, recorded, said, told};

/// Lists the comments, takes one, or refuses to.
const GH: &str = r#"#!/usr/bin/env bash
echo "$*" >> "$FAKE/asked"
[ ! -e "$FAKE/refuses" ] || { echo "gh: Resource not accessible by integration" >&2; exit 1; }
for word; do
    case $word in
        --jq) cat "$FAKE/earlier" 2> /dev/null || true ;;
        body=@*) cp "${word#body=@}" "$FAKE/comment" ;;
    esac
done
"#;

const CURL: &str = r#"#!/usr/bin/env bash
echo "$*" >> "$FAKE/asked"
[ ! -e "$FAKE/refuses" ] || { echo "curl: (22) 403" >&2; exit 22; }
for word; do
    case $word in
        body@*) cp "${word#body@}" "$FAKE/comment" ;;
        *\&page=1) cat "$FAKE/notes" ;;
        *\&page=*) echo '[]' ;;
    esac
done
"#;

/// What `jq` would find: the number of the first note with the mark.
const JQ: &str = r#"#!/usr/bin/env bash
grep -o '{"id":[0-9]*,"body":"[^"]*<!-- retape-report -->' | head -n 1 | grep -o '[0-9]*' | head -n 1 || true
"#;

/// Installs nothing.
const CARGO: &str = r#"#!/usr/bin/env bash
echo "cargo $*" >> "$FAKE/asked"
"#;

/// A repository in which a branch has been worked on.
struct Repository {
    stage: Stage,
    fake: PathBuf,
}

/// How a job ended.
struct Job {
    status: Option<i32>,
    /// What its steps said.
    log: String,
}

impl Repository {
    /// One whose branch changes nothing yet.
    fn new() -> Self {
        let stage = Stage::new();
        let fake = stage.folder().join("fake");
        let repository = Self { stage, fake };
        for (name, script) in [("gh", GH), ("curl", CURL), ("jq", JQ), ("cargo", CARGO)] {
            repository.stage.write(&format!("fake/bin/{name}"), script);
            let file = repository.fake.join("bin").join(name);
            let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
            std::fs::set_permissions(file, executable).unwrap();
        }
        repository.stage.write("fake/notes", "[]");
        for name in ["approve_tokens", "deny_tokens"] {
            repository.stage.write(&format!("work/cassettes/{name}.json"), &recorded(name));
        }
        repository.git(&["init", "--quiet", "--initial-branch=main"]);
        assert!(
            repository
                .stage
                .retape(&["accept"])
                .current_dir(repository.work())
                .output()
                .unwrap()
                .status
                .success()
        );
        repository.commit("Record");
        repository.git(&["update-ref", "refs/remotes/origin/main", "HEAD"]);
        repository.git(&["switch", "--quiet", "--create", "branch"]);
        repository
    }

    /// One whose branch has a recording in which a stream ends too early.
    fn broken() -> Self {
        let repository = Self::new();
        let file = "work/cassettes/approve_tokens.json";
        let whole = repository.stage.read(file);
        let kept: Vec<&str> =
            whole.lines().filter(|line| !line.contains(r#""usage_statistics""#)).collect();
        assert!(kept.len() < whole.lines().count());
        repository.stage.write(file, &kept.join("\n"));
        repository.commit("Record anew");
        repository
    }

    fn work(&self) -> PathBuf {
        self.stage.folder().join("work")
    }

    fn git(&self, arguments: &[&str]) {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=test", "-c", "user.email=test@localhost"]);
        let output = git.args(arguments).current_dir(self.work()).output().unwrap();
        assert!(output.status.success(), "{}", said(&output));
    }

    fn commit(&self, message: &str) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", message]);
    }

    /// What the host was asked, a line each.
    fn asked(&self) -> String {
        std::fs::read_to_string(self.fake.join("asked")).unwrap_or_default()
    }

    /// The comment that was written.
    fn comment(&self) -> Option<String> {
        std::fs::read_to_string(self.fake.join("comment")).ok()
    }

    /// Runs a script as the hosts do.
    fn bash(&self, script: &str, variables: &BTreeMap<String, String>) -> Output {
        let binary = Path::new(env!("CARGO_BIN_EXE_retape")).parent().unwrap();
        let path = std::env::var("PATH").unwrap();
        let path = format!("{}:{}:{path}", self.fake.join("bin").display(), binary.display());
        let mut bash = Command::new("bash");
        bash.args(["--noprofile", "--norc", "-e", "-o", "pipefail", "-c", script]);
        bash.env("PATH", path).env("FAKE", &self.fake).env("CI", "true");
        bash.envs(variables).current_dir(self.work()).output().unwrap()
    }

    /// Runs the action for a pull request, with these inputs.
    fn action(&self, inputs: &[(&str, &str)]) -> Job {
        let mut context = BTreeMap::from([
            ("github.action_path".to_owned(), env!("CARGO_MANIFEST_DIR").to_owned()),
            ("github.base_ref".to_owned(), "main".to_owned()),
            ("github.event.pull_request.number".to_owned(), "7".to_owned()),
            ("github.repository".to_owned(), "owner/name".to_owned()),
            ("github.token".to_owned(), "of-the-run".to_owned()),
            ("runner.temp".to_owned(), self.stage.folder().join("temp").display().to_string()),
        ]);
        let action = yaml("action.yml");
        for (name, input) in members(&action["inputs"]) {
            let given = inputs.iter().find(|(given, _)| *given == name);
            let default = resolved(text(&input["default"]), &context);
            let value = given.map_or(default, |(_, value)| (*value).to_owned());
            context.insert(format!("inputs.{name}"), value);
        }
        let mut job = Job { status: Some(0), log: String::new() };
        for step in action["runs"]["steps"].as_sequence().unwrap() {
            self.step(step, &mut context, &mut job);
        }
        job
    }

    fn step(&self, step: &YamlOwned, context: &mut BTreeMap<String, String>, job: &mut Job) {
        let condition = step.as_mapping_get("if").map_or("success()", text);
        if !holds(condition, context, job.status == Some(0)) {
            return;
        }
        if step.as_mapping_get("uses").is_some() {
            let kept = resolved(text(&step["with"]["path"]), context);
            job.log.push_str(&format!("kept {}\n", files(Path::new(&kept)).join(" ")));
            return;
        }
        let mut variables = BTreeMap::new();
        for (name, value) in step.as_mapping_get("env").map(members).unwrap_or_default() {
            variables.insert(name, resolved(text(value), context));
        }
        for file in ["GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"] {
            self.stage.write(&format!("fake/{file}"), "");
            variables.insert(file.to_owned(), self.fake.join(file).display().to_string());
        }
        let output = self.bash(text(&step["run"]), &variables);
        job.log.push_str(&told(&output));
        job.log.push_str(&said(&output));
        job.log.push_str(&self.stage.read("fake/GITHUB_STEP_SUMMARY"));
        if !output.status.success() {
            job.status = output.status.code();
        }
        let Some(id) = step.as_mapping_get("id").map(text) else { return };
        for line in self.stage.read("fake/GITHUB_OUTPUT").lines() {
            let (name, value) = line.split_once('=').unwrap();
            context.insert(format!("steps.{id}.outputs.{name}"), value.to_owned());
        }
    }

    /// Runs the template for a merge request, with these variables.
    fn template(&self, given: &[(&str, &str)]) -> Job {
        let template = yaml("ci/gitlab.yml");
        let job = &template[".retape"];
        let variables = members(&job["variables"]).into_iter();
        let mut variables: BTreeMap<String, String> =
            variables.map(|(name, value)| (name, text(value).to_owned())).collect();
        let work = self.work().display().to_string();
        for (name, value) in [
            ("CI_PROJECT_DIR", work.as_str()),
            ("CI_PROJECT_ID", "12"),
            ("CI_API_V4_URL", "https://host/api/v4"),
            ("CI_MERGE_REQUEST_IID", "7"),
            ("CI_MERGE_REQUEST_DIFF_BASE_SHA", "origin/main"),
        ] {
            variables.insert(name.to_owned(), value.to_owned());
        }
        variables
            .extend(given.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        let lines: Vec<&str> = job["script"].as_sequence().unwrap().iter().map(text).collect();
        let output = self.bash(&lines.join("\n"), &variables);
        let kept = files(&self.work().join("retape-report")).join(" ");
        let log = format!("{}{}kept {kept}\n", told(&output), said(&output));
        Job { status: output.status.code(), log }
    }
}

/// A file of this repository.
fn yaml(file: &str) -> YamlOwned {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap();
    YamlOwned::load_from_str(&text).unwrap().remove(0)
}

fn members(mapping: &YamlOwned) -> Vec<(String, &YamlOwned)> {
    let members = mapping.as_mapping().unwrap().iter();
    members.map(|(name, value)| (text(name).to_owned(), value)).collect()
}

fn text(value: &YamlOwned) -> &str {
    value.as_str().unwrap()
}

/// A text with its expressions replaced; each is a name that the context has.
fn resolved(text: &str, context: &BTreeMap<String, String>) -> String {
    let mut parts = text.split("${{ ");
    let mut resolved = parts.next().unwrap().to_owned();
    for part in parts {
        let (name, rest) = part.split_once(" }}").unwrap();
        resolved.push_str(context.get(name).unwrap_or_else(|| panic!("what is `{name}`?")));
        resolved.push_str(rest);
    }
    resolved
}

/// Whether a condition holds: names, comparisons, `always()`, joined by `&&`.
fn holds(condition: &str, context: &BTreeMap<String, String>, so_far: bool) -> bool {
    let value = |name: &str| context.get(name).map_or("", String::as_str).to_owned();
    let is_true = |term: &str| match term.split_once(" == ") {
        Some((name, literal)) => value(name) == literal.trim_matches('\''),
        None => matches!(term, "always()" | "success()") || !value(term).is_empty(),
    };
    (so_far || condition.contains("always()")) && condition.split(" && ").all(is_true)
}

fn files(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

const FIRST_LINE: &str = "ends after `stop_reason`";
const KEPT: &str = "kept misses.json report.html report.json report.md report.sarif report.xml\n";

#[test]
fn the_action_installs_a_version_unless_it_is_there() {
    let repository = Repository::new();

    repository.action(&[("version", env!("CARGO_PKG_VERSION")), ("comment", "false")]);
    let asked = repository.asked();
    repository.action(&[("version", "99.0.0"), ("comment", "false")]);

    assert_eq!(asked, "");
    assert_eq!(repository.asked(), "cargo install --locked --force retape --version 99.0.0\n");
}

#[test]
fn the_action_tells_a_breaking_change_everywhere_and_fails() {
    let repository = Repository::broken();

    let job = repository.action(&[("run", "retape replay -- true")]);

    assert_eq!(job.status, Some(1), "{}", job.log);
    assert!(job.log.contains("::error "), "{}", job.log);
    assert!(job.log.contains("<!-- retape-report -->"), "{}", job.log);
    let comment = repository.comment().unwrap();
    assert!(comment.lines().next().unwrap().contains(FIRST_LINE), "{comment}");
    let asked = repository.asked();
    assert!(asked.contains("repos/owner/name/issues/7/comments?per_page=100"), "{asked}");
    assert!(asked.contains("--method POST repos/owner/name/issues/7/comments "), "{asked}");
}

#[test]
fn the_action_updates_the_comment_that_is_there() {
    let repository = Repository::broken();
    repository.stage.write("fake/earlier", "4711\n4712\n");

    repository.action(&[("run", "true")]);

    let asked = repository.asked();
    assert!(asked.contains("--method PATCH repos/owner/name/issues/comments/4711 "), "{asked}");
    assert!(!asked.contains("POST"), "{asked}");
}

#[test]
fn the_action_is_silent_where_nothing_changed_but_mends_an_earlier_comment() {
    let repository = Repository::new();

    let job = repository.action(&[]);
    assert_eq!((job.status, repository.comment()), (Some(0), None), "{}", job.log);

    repository.stage.write("fake/earlier", "4711\n");
    let job = repository.action(&[]);
    assert_eq!(job.status, Some(0), "{}", job.log);
    assert!(repository.comment().unwrap().contains("nothing changed"));
}

#[test]
fn a_cassette_that_cannot_be_read_becomes_a_comment() {
    let repository = Repository::new();
    repository.stage.write("work/cassettes/approve_tokens.json", "<<<<<<< HEAD\n");

    let job = repository.action(&[("run", "true")]);

    assert_eq!(job.status, Some(2), "{}", job.log);
    let comment = repository.comment().unwrap();
    assert!(comment.contains("1 cassette could not be read: `cassettes/approve"), "{comment}");
}

#[test]
fn the_action_ends_as_the_command_does_and_keeps_the_reports() {
    let repository = Repository::broken();

    let run = "retape run nothing -- sh -c 'exit 7'";
    let job = repository.action(&[("run", run), ("comment", "false")]);

    assert_eq!(job.status, Some(7), "{}", job.log);
    assert!(
        job.log.contains("report.html report.json report.md report.sarif report.xml\n"),
        "{}",
        job.log
    );
    assert_eq!(repository.asked(), "");
}

#[test]
fn the_action_goes_on_where_it_may_not_comment() {
    let repository = Repository::broken();
    repository.stage.write("fake/refuses", "");

    let job = repository.action(&[]);

    assert_eq!(job.status, Some(1), "{}", job.log);
    assert!(job.log.contains("::warning::the report could not become a comment"), "{}", job.log);
}

#[test]
fn the_action_fetches_the_base_into_a_shallow_clone() {
    let repository = Repository::broken();
    repository.git(&["branch", "--force", "main", "origin/main"]);
    let url = format!("file://{}", repository.work().display());
    let clone = repository.stage.folder().join("clone");
    let clone = clone.to_str().unwrap();
    repository.git(&["clone", "--quiet", "--depth=1", "--branch=branch", &url, clone]);
    std::fs::rename(repository.work(), repository.stage.folder().join("origin")).unwrap();
    std::fs::rename(clone, repository.work()).unwrap();
    let origin = format!("file://{}", repository.stage.folder().join("origin").display());
    repository.git(&["remote", "set-url", "origin", &origin]);

    let job = repository.action(&[("run", "true")]);

    assert_eq!(job.status, Some(1), "{}", job.log);
    assert!(repository.comment().unwrap().contains(FIRST_LINE));
}

#[test]
fn the_template_tells_a_breaking_change_and_fails() {
    let repository = Repository::broken();

    let given = [("RETAPE_RUN", "retape replay -- true"), ("RETAPE_TOKEN", "of-the-project")];
    let job = repository.template(&given);

    assert_eq!(job.status, Some(1), "{}", job.log);
    assert!(job.log.ends_with(&KEPT.replace("report.sarif ", "")), "{}", job.log);
    assert!(repository.comment().unwrap().contains(FIRST_LINE));
    let asked = repository.asked();
    let notes = "https://host/api/v4/projects/12/merge_requests/7/notes";
    assert!(asked.contains("PRIVATE-TOKEN: of-the-project"), "{asked}");
    assert!(asked.contains("--request POST") && asked.trim_end().ends_with(notes), "{asked}");
}

#[test]
fn the_template_updates_the_note_that_is_there() {
    let repository = Repository::broken();
    let notes = r#"[{"id":3,"body":"well"},{"id":4711,"body":"old <!-- retape-report -->"}]"#;
    repository.stage.write("fake/notes", notes);

    repository.template(&[("RETAPE_TOKEN", "of-the-project")]);

    let asked = repository.asked();
    assert!(asked.contains("--request PUT") && asked.trim_end().ends_with("notes/4711"), "{asked}");
}

#[test]
fn the_template_needs_no_token_and_ends_as_the_command_does() {
    let repository = Repository::new();

    let job = repository.template(&[("RETAPE_RUN", "exit 7")]);

    assert_eq!(job.status, Some(7), "{}", job.log);
    assert!(job.log.contains("report.md"), "{}", job.log);
    assert_eq!(repository.asked(), "");
}
