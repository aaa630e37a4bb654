//! Which names tell that their value is a secret.

mod lists;
mod words;

use std::sync::LazyLock;

use regex::bytes::Regex;

use self::lists::{
    ENDS, HEADS, HOLDERS, PAIRS, PERHAPS, PLAIN_HEADERS, PLAIN_TOKENS, PLURAL_HEADS, PLURAL_PAIRS,
    PROSE,
};
use self::words::Words;

/// The longest name, with what stands between it and its colon, that is looked at.
const REACH: usize = 160;

/// Whether there may be a telling name before the colon at this place, at any depth of escaping.
///
/// Only what stands before a quote and a colon is looked at: to search a large binary body for the
/// expression takes seconds.
pub(super) fn tells_before(text: &[u8], colon: usize) -> bool {
    let before = text[colon.saturating_sub(REACH)..colon].trim_ascii_end();
    let Some((b'"' | b'\'', name)) = before.split_last() else { return false };
    let escapes = name.iter().rev().take_while(|byte| **byte == b'\\').count();
    text[colon] == b':'
        && may_tell(&name[..name.len() - escapes])
        && TELLING.is_match(&text[colon.saturating_sub(REACH)..=colon])
}

static TELLING: LazyLock<Regex> = LazyLock::new(|| {
    let ends = "key|token|secret|passw(or)?d|pwd|passphrase|passcode|bearer|authorization|credential\
        |cookie|auth|verifier|assertion|value|string|env|vars|variable|header|code|jwt|pass";
    let tail = r"([_\-]?(enc|encrypted|plaintext|[0-9]+))*";
    Regex::new(&format!(r#"(?i-u)({ends})s?{tail}\\*["']\s*:"#))
        .expect("the expression is fixed and tested")
});

/// What a name says of its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tells {
    /// Nothing.
    Nothing,
    /// A secret if it looks like one: `token`, `key`, `code`.
    Perhaps,
    /// A secret: `api_key`, `password`.
    Secret,
    /// Several secrets: `credentials`, `api_keys`.
    Secrets,
    /// Secrets if it holds other values: `env`, `custom_headers`.
    Holder,
}

/// What the name of a JSON field tells, in any case and in snake, kebab or camel spelling.
pub(super) fn field(name: &str) -> Tells {
    if !may_tell(name.as_bytes()) {
        return Tells::Nothing;
    }
    let words = Words::of(name);
    let (last, both) = (words.last(), words.last_two());
    let either = |list: &[&str]| list.contains(&last) || list.contains(&both.as_str());
    if HEADS.contains(&last) || either(PAIRS) {
        Tells::Secret
    } else if PLURAL_HEADS.contains(&last) || either(PLURAL_PAIRS) {
        Tells::Secrets
    } else if either(HOLDERS) {
        Tells::Holder
    } else if (PERHAPS.contains(&last) && words.alone())
        || (matches!(last, "token" | "jwt" | "pass") && !PLAIN_TOKENS.contains(&words.before()))
    {
        Tells::Perhaps
    } else {
        Tells::Nothing
    }
}

/// Whether a name ends as one that tells: most are settled so, without a look at their words.
fn may_tell(name: &[u8]) -> bool {
    let lower = |back: usize| name.len().checked_sub(back).map(|at| name[at].to_ascii_lowercase());
    let last = if lower(1) == Some(b's') { 2 } else { 1 };
    match (lower(last + 1), lower(last)) {
        (_, Some(b'0'..=b'9')) | (_, None) => true,
        (Some(before), Some(last))
            if before.is_ascii_alphanumeric() && last.is_ascii_alphabetic() =>
        {
            ENDS.contains(&[before, last])
        }
        _ => true,
    }
}

/// What the name of a query parameter or a form field tells.
pub(super) fn parameter(name: &str) -> Tells {
    let words = Words::of(name);
    match field(name) {
        _ if matches!(words.last(), "sig" | "signature") => Tells::Secret,
        Tells::Perhaps if words.alone() && matches!(words.last(), "token" | "auth" | "jwt") => {
            Tells::Secret
        }
        Tells::Holder => Tells::Nothing,
        tells => tells,
    }
}

/// What a name tells that is followed by a value in prose, where `key` and `code` are words.
pub(super) fn assigned(name: &str) -> Tells {
    match field(name) {
        Tells::Perhaps if PROSE.contains(&Words::of(name).last()) => Tells::Nothing,
        Tells::Secrets | Tells::Holder => Tells::Nothing,
        tells => tells,
    }
}

/// Whether a header field of that name holds a credential. Cookies are not meant.
pub(super) fn header(name: &str) -> bool {
    // Most fields are settled by their last letter, without a look at their words.
    if !name.ends_with(|last: char| "dersnyhlteDERSNYHLTE".contains(last)) {
        return false;
    }
    let plain =
        |start: &&str| name.get(..start.len()).is_some_and(|s| s.eq_ignore_ascii_case(start));
    if PLAIN_HEADERS.iter().any(plain) {
        return false;
    }
    match field(name) {
        Tells::Secret | Tells::Secrets => true,
        Tells::Perhaps => !matches!(Words::of(name).last(), "key" | "code" | "assertion"),
        Tells::Nothing | Tells::Holder => false,
    }
}

/// Whether a field that stands among secrets describes them and is none itself.
fn describes(name: &str) -> bool {
    const DESCRIBING: &[&str] =
        &["id", "type", "description", "title", "object", "scheme", "format", "in", "$ref"];
    DESCRIBING.contains(&name) || name.ends_with("_id") || name.ends_with("_at")
}

/// Where a string stands below a name that tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spot<'a> {
    /// In an array.
    Element,
    /// In an object whose keys the user chose: `"secrets": {"API_KEY": …}`.
    Entry(&'a str),
    /// In an object that describes one of several: `"secrets": [{"key": "API_KEY", "value": …}]`.
    Column(&'a str),
}

/// What a string below `holder` is to be called, if it is a secret.
pub(super) fn below<'a>(holder: &'a str, spot: Spot<'a>) -> Option<&'a str> {
    match spot {
        Spot::Element => Some(holder),
        Spot::Entry(key) | Spot::Column(key) if describes(key) => None,
        Spot::Column("key" | "name") => None,
        Spot::Column("value") => Some(holder),
        Spot::Entry(key) | Spot::Column(key) => Some(key),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_in_any_spelling() {
        for name in [
            "api_key",
            "apiKey",
            "API_KEY",
            "x-api-key",
            "apikey",
            "OPENAI_API_KEY",
            "OpenAIApiKey",
            "access_token",
            "accessToken",
            "refresh_token",
            "id_token",
            "client_secret",
            "password",
            "userPassword",
            "passwd",
            "secret",
            "private_key",
            "privateKey",
            "authorization",
            "auth_token",
            "bearer",
            "secret_key",
            "AWS_SECRET_ACCESS_KEY",
            "api_key_enc",
            "password2",
            "credential",
        ] {
            assert_eq!(field(name), Tells::Secret, "{name}");
        }
        for name in ["secrets", "credentials", "api_keys"] {
            assert_eq!(field(name), Tells::Secrets, "{name}");
        }
        for name in ["env", "custom_headers", "tool_exec_environment_variables", "envVars"] {
            assert_eq!(field(name), Tells::Holder, "{name}");
        }
        for name in ["token", "key", "auth", "code", "github_token", "HF_TOKEN"] {
            assert_eq!(field(name), Tells::Perhaps, "{name}");
        }
    }

    #[test]
    fn names_that_only_look_alike_do_not_tell() {
        for name in [
            "max_tokens",
            "prompt_tokens",
            "stream_tokens",
            "token_count",
            "token_type",
            "tokens",
            "next_page_token",
            "progressToken",
            "pageToken",
            "tool_call_id",
            "public_key",
            "secret_code_tool",
            "idempotency_key",
            "primary_key",
            "cache_key",
            "secret_name",
            "eos_token",
            "access_key_id",
            "signature",
            "session_id",
            "monkey",
            "environment",
            "",
        ] {
            assert_eq!(field(name), Tells::Nothing, "{name}");
        }
    }

    #[test]
    fn what_tells_ends_as_the_short_look_expects() {
        let lists =
            [HEADS, PLURAL_HEADS, PAIRS, PLURAL_PAIRS, HOLDERS, PERHAPS, &["token", "jwt", "pass"]];
        for name in lists.concat() {
            for name in
                [name.to_owned(), format!("{name}_enc"), format!("{name}_2"), format!("{name}_")]
            {
                assert_ne!(field(&name), Tells::Nothing, "{name}");
            }
            for tail in ["Encrypted", "-plaintext", "2", "ENC"] {
                let name = format!("{name}{tail}");
                assert!(may_tell(name.as_bytes()), "{name}");
                let text = format!(r#"{{\\"{name}\\" :"#);
                assert!(tells_before(text.as_bytes(), text.len() - 1), "{name}");
            }
        }
    }

    #[test]
    fn header_fields_with_credentials_are_known() {
        for name in [
            "Authorization",
            "Proxy-Authorization",
            "X-API-Key",
            "api-key",
            "x-goog-api-key",
            "X-BARE-PASSWORD",
            "x-auth-token",
            "x-amz-security-token",
            "x-session-key",
            "x-token",
            "x-vault-token",
            "x-client-secret",
        ] {
            assert!(header(name), "{name}");
        }
        for name in [
            "mcp-session-id",
            "x-ratelimit-remaining-tokens",
            "sec-websocket-key",
            "content-type",
            "idempotency-key",
            "access-control-allow-credentials",
            "user_id",
            "x-request-id",
            "access-control-allow-headers",
            "www-authenticate",
            "surrogate-key",
        ] {
            assert!(!header(name), "{name}");
        }
    }

    #[test]
    fn parameters_tell_more_than_fields() {
        for name in ["sig", "X-Amz-Signature", "token", "access_token", "X-Amz-Credential"] {
            assert_eq!(parameter(name), Tells::Secret, "{name}");
        }
        assert_eq!(parameter("key"), Tells::Perhaps);
        assert_eq!(parameter("page_token"), Tells::Nothing);
        assert_eq!(parameter("env"), Tells::Nothing);
    }
}
