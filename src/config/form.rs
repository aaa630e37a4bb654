//! How what stands in a `retape.toml` is written.

/// An example of each key, below its section. Those of `[[cassette]]` are those of `[match]`, too.
const FORMS: [(&str, &str, &str); 26] = [
    ("cassette", "name", r#""letta/*""#),
    ("match", "compare", r#""path""#),
    ("match", "repeats", r#""once""#),
    ("match", "early", r#""given""#),
    ("match", "pace", r#""recorded""#),
    ("match", "headers", r#"["x-tenant"]"#),
    ("match", "ignore", r#"["$.client.version", "query.debug"]"#),
    ("match", "patterns", r#"[{ at = "$.prompt", regex = "Today is .*" }]"#),
    ("match", "unordered", r#"["$.tools"]"#),
    ("match", "ids", r#"["$.ref"]"#),
    ("match", "not-ids", r#"["$.price"]"#),
    ("match", "optional", r#"["GET /health"]"#),
    ("protocol", "tag", r#""/type""#),
    ("protocol", "when", r#"{ "/kind" = "event" }"#),
    ("protocol", "keys", r#""/id""#),
    ("protocol", "keep-alive", r#""ping""#),
    ("diff", "new-fields", r#""breaking""#),
    ("proxy", "pass", r#"["localhost:5432"]"#),
    ("proxy", "refuse", r#"["telemetry.example.com"]"#),
    ("faults", r#""letta/*""#, r#"["POST /v1/agents: 503 x2"]"#),
    ("redact", "headers", r#"["x-tenant"]"#),
    ("redact", "query", r#"["ticket"]"#),
    ("redact", "json", r#"["pin"]"#),
    ("redact", "regexes", r#"["ACME-[0-9]{6}"]"#),
    ("redact", "replacement", r#"{ account = "ACME-000000" }"#),
    ("redact", "not-secrets", r#"["theme"]"#),
];

/// How a key is written below a section, or, if none is known, how the section is.
pub(super) fn hint(section: &str, key: Option<&str>) -> Option<String> {
    let is_below = |of: &str| of == section || (of == "match" && section == "cassette");
    let mut known = FORMS.iter().filter(|(of, ..)| is_below(of));
    // Below `[faults]` stand names of cassettes.
    let is_meant = |name: &str| key.is_none_or(|key| key == name) || section == "faults";
    let (_, name, example) = known.find(|(_, name, _)| is_meant(name))?;
    let head = match section {
        "cassette" | "protocol" => format!("[[{section}]]"),
        _ => format!("[{section}]"),
    };
    Some(match key {
        Some(_) => format!("below `{head}` it is written so: `{name} = {example}`"),
        None => format!("write `{head}`, and below it `{name} = {example}`"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, Key, redaction};

    #[test]
    fn every_example_can_be_read_where_it_stands() {
        for (section, name, example) in FORMS {
            let text = match section {
                "cassette" => format!("[[cassette]]\n{name} = {example}"),
                "protocol" => format!("[[protocol]]\ntag = \"/a\"\n{name} = {example}"),
                _ => format!("[{section}]\n{name} = {example}"),
            };
            let text = text.replace("tag = \"/a\"\ntag", "tag");
            Config::parse(&text).expect(&text);
        }
        for key in Key::WORDS {
            assert!(hint("match", Some(key)).is_some() && hint("cassette", Some(key)).is_some());
        }
        assert!(redaction::KEYS.iter().all(|key| hint("redact", Some(key)).is_some()));
    }
}
