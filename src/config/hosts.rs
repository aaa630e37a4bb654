//! Which hosts a proxy leaves alone.

use regex::{Regex, RegexBuilder};

use crate::error::{Error, Result};

/// What the proxy does with some hosts: `[proxy]` of a `retape.toml`.
#[derive(Debug, Clone, Default)]
pub struct Hosts {
    passed: Vec<Regex>,
    refused: Vec<Regex>,
}

/// What the proxy does with a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HostRule {
    /// Record and replay it.
    Recorded,
    /// Pass it on untouched, in every mode.
    Passed,
    /// Refuse it.
    Refused,
}

impl HostRule {
    /// The key whose list holds hosts of that rule.
    pub(super) const WORDS: [(&'static str, Self); 2] =
        [("pass", Self::Passed), ("refuse", Self::Refused)];
}

impl Hosts {
    /// What is done with a host, which may have a port. What is refused is refused whatever else is said.
    pub fn rule(&self, authority: &str) -> HostRule {
        let fits = |patterns: &[Regex]| patterns.iter().any(|it| it.is_match(authority));
        match (fits(&self.refused), fits(&self.passed)) {
            (true, _) => HostRule::Refused,
            (_, true) => HostRule::Passed,
            _ => HostRule::Recorded,
        }
    }

    /// Adds a host, in which `*` stands for anything. Without a port every port is meant.
    pub(super) fn put(&mut self, rule: HostRule, pattern: &str) -> Result<()> {
        let refused = |why| {
            Error::rule(pattern, why)
                .with_hint("a host is `api.example.com`, `*.example.com` or `localhost:8080`")
        };
        if pattern.is_empty() || pattern.contains(['/', '@', ' ']) {
            return Err(refused("is not the name of a host"));
        }
        let is_port = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit() || byte == b'*');
        let has_port = pattern.rsplit_once(':').is_some_and(|(_, port)| is_port(port));
        let port = if has_port { "" } else { "(:[0-9]*)?" };
        let expression = format!("^{}{port}$", regex::escape(pattern).replace("\\*", ".*"));
        let expression = RegexBuilder::new(&expression).case_insensitive(true).build();
        let expression = expression.map_err(|error| refused("is too long").because(error))?;
        match rule {
            HostRule::Recorded => {}
            HostRule::Passed => self.passed.push(expression),
            HostRule::Refused => self.refused.push(expression),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_passed_refused_or_recorded() {
        let mut hosts = Hosts::default();
        for pattern in ["*.example.com", "localhost:8080", "[::1]"] {
            hosts.put(HostRule::Passed, pattern).unwrap();
        }
        hosts.put(HostRule::Refused, "bad.example.com").unwrap();

        for (authority, expected) in [
            ("a.b.example.com", HostRule::Passed),
            ("A.EXAMPLE.com:443", HostRule::Passed),
            ("example.com", HostRule::Recorded),
            ("aexample.com", HostRule::Recorded),
            ("bad.example.com:443", HostRule::Refused),
            ("localhost:8080", HostRule::Passed),
            ("localhost:8081", HostRule::Recorded),
            ("[::1]:1", HostRule::Passed),
        ] {
            assert_eq!(hosts.rule(authority), expected, "{authority}");
        }
        assert!(hosts.put(HostRule::Passed, "http://a").is_err());
    }
}
