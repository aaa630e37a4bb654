//! Which names tell that their value is a secret.

mod endings;
mod keys;

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use foldhash::fast::FixedState;

use self::endings::may_tell;
pub(super) use self::keys::is_key;
use super::value::{self, is_in};

/// Last words that tell whatever stands before them.
const HEADS: &str = "\
    password passwd pwd passphrase secret bearer authorization credential cookie";

/// The same for several.
const PLURAL_HEADS: &str = "passwords secrets credentials cookies";

/// Last two words that tell only together.
const PAIRS: &str = "\
    apikey secretkey privatekey accesskey authkey encryptionkey signingkey masterkey sharedkey \
    accountkey subscriptionkey servicekey sessionkey licensekey storagekey sshkey deploykey \
    aeskey accesstoken refreshtoken idtoken authtoken apitoken bearertoken sessiontoken \
    securitytoken csrftoken xsrftoken oauthtoken servicetoken bottoken secrettoken privatetoken \
    jwttoken webhooktoken registrationtoken verificationtoken resettoken deploytoken basicauth \
    bearerauth httpauth codeverifier clientassertion secretvalue secretstring";

/// The same for several.
const PLURAL_PAIRS: &str = "\
    apikeys secretkeys privatekeys accesskeys accesstokens refreshtokens apitokens bearertokens";

/// Names of what holds secrets among other things.
const HOLDERS: &str = "\
    env envs envvars environmentvariables customheaders extraheaders authheaders";

/// Names that tell only if the value looks like a credential.
const PERHAPS: &str = "token key auth code jwt pass assertion";

/// Last words that tell beside those above, in further languages and by further abbreviations, and last
/// two words. Their values go whatever they are.
const COMPOSED: &str = "\
    passwort kennwort contrasena contraseña senha motdepasse пароль 密码 パスワード wachtwoord parola \
    openaikey anthropickey lettakey llmkey geminikey pineconekey rapidapikey functionskey \
    applicationkey appkey consumerkey userkey hapikey clientkeydata samlresponse recoverycodes \
    recoverycode devicecode authorizationcode authcode connectionstring databaseurl authheader \
    authheadervalue jwtassertion smtppass dbpass userpass ftppass mailpass oidcdata customerkey accesspat ghpat \
    githubpat gitlabpat jsessionid phpsessid sessioncookie authcookie webhookurl webhooksecret backupcodes \
    backupcode secretbinary amzsignature secretcode seedphrase recoveryphrase honeycombteam identityheader artapi \
    mfacode otpcode onetimepassword passcode securitycode cvv pw clave haslo hasło heslo mdp jelszo şifre sifre \
    lösenord losenord adgangskode salasana privkey psk secretkeybase becomepass sshpass sudopass adminpass rootpass dbpw creds";

/// Words behind such a name that say which of several it is, or how it is written: `api_key_live`.
const QUALIFIERS: &str = "\
    value string text raw plain live test prod production staging dev sandbox old new current previous \
    primary secondary main default base64 base b64 hex pem encoded";

/// The same, but only if the value looks like a credential.
const COMPOSED_PERHAPS: &str = "\
    pat otp pin pincode sid refresh access dsn jwt auth authentication auxiliary bearer \
    authvalue tokenvalue accesskeyid csrf xsrf";

/// Words before `key` that make it one of a table, a list or a protocol.
const PLAIN_KEYS: &str = "\
    public publishable idempotency cache foreign partition sort object row surrogate routing websocket map \
    index group prompt unique order parent hash lookup dedup deduplication safety item field column \
    storage range entity composite natural translation i18n message react state query result output \
    page next previous prev continuation cursor start end last evaluated issue";

/// Last words that say only how a value is kept, or that it is said once more.
const TAILS: &str = "enc encrypted plaintext confirmation confirm again repeat";

/// Names of variables and header fields whose values are no secrets.
const PLAIN_ENTRIES: &str = "\
    path home pwd user shell lang tz term hostname host port node_env mode debug log_level accept \
    accept-encoding accept-language content-type content-length connection user-agent cache-control \
    origin referer te via host";

/// Words before `token` that make it the place in a list, a piece of text, or the name of a lock (RFC 4918).
const PLAIN_TOKENS: &str = "\
    page next previous prev continuation progress sync cursor pagination resume start stop begin \
    end bos eos eot pad unk sep cls mask first last per image special max min num forward \
    backward delta skip buy sell lock";

/// What names end in that are several words in one: those of header fields have no capitals on the wire.
const JOINED: &str = "\
    token password passwd passphrase secret credential apikey secretkey privatekey accesskey";

/// The longest name, with what stands between it and its colon, that is looked at.
const REACH: usize = 160;

/// Whether there may be a telling name before the colon at this place, at any depth of escaping.
pub(super) fn tells_before(text: &[u8], colon: usize, known: NameSet) -> bool {
    let before = text[colon.saturating_sub(REACH)..colon].trim_ascii_end();
    let Some((b'"' | b'\'', name)) = before.split_last() else { return false };
    let escapes = name.iter().rev().take_while(|byte| **byte == b'\\').count();
    let name = &name[..name.len() - escapes];
    let start = name.iter().rposition(|byte| matches!(byte, b'"' | b'\'' | b'\n'));
    let name = &name[start.map_or(0, |at| at + 1)..];
    text[colon] == b':' && (is_escaped(name) || (may_tell(name) && may_be_known(name, known)))
}

/// Whether letters of a name are escaped, as Python writes those beyond ASCII: what it says is known once it is
/// read.
fn is_escaped(name: &[u8]) -> bool {
    name.windows(2).any(|pair| pair == b"\\u")
}

/// Whether a name, or what stands behind its last backslash, tells.
fn may_be_known(name: &[u8], known: NameSet) -> bool {
    let name = memchr::memrchr(b'\\', name).map_or(name, |at| &name[at + 1..]);
    // A long one may be cut within a letter.
    let name = String::from_utf8_lossy(name);
    field(&name) != Tells::Nothing
        || (known != NameSet::Listed && composed(&name) != Tells::Nothing)
}

/// Which names are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NameSet {
    /// Those of the first rules.
    Listed,
    /// All.
    Composed,
    /// All, also as pages and dumps show them: in a cell of a table, or in brackets.
    Shown,
}

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

type Listed = LazyLock<HashMap<&'static str, Tells, FixedState>>;

/// What the last word tells, whatever stands before it.
static LAST: Listed =
    LazyLock::new(|| listed(&[(HEADS, Tells::Secret), (PLURAL_HEADS, Tells::Secrets)]));

/// What the last word tells, or the last two together.
static EITHER: Listed = LazyLock::new(|| {
    let lists = [(PAIRS, Tells::Secret), (PLURAL_PAIRS, Tells::Secrets), (HOLDERS, Tells::Holder)];
    listed(&lists)
});

/// What the name of a JSON field tells, in any case and in snake, kebab or camel spelling.
pub(super) fn field(name: &str) -> Tells {
    if !may_tell(name.as_bytes()) {
        return Tells::Nothing;
    }
    let words = Words::of(name);
    let (last, both) = (words.last(), words.last_two());
    let listed = LAST.get(last).or_else(|| EITHER.get(last)).or_else(|| EITHER.get(&*both));
    if let Some(tells) = listed {
        *tells
    } else if last == "pass" && words.alone() {
        Tells::Secret
    } else if (is_in(PERHAPS, last) && words.alone())
        || (matches!(last, "token" | "jwt" | "pass") && !is_in(PLAIN_TOKENS, words.before()))
    {
        Tells::Perhaps
    } else {
        Tells::Nothing
    }
}

/// What names tell that [`field`] does not know: `openaiKey`, `PINECONE_KEY`, `Passwort`.
pub(super) fn composed(name: &str) -> Tells {
    if !may_tell(name.as_bytes()) {
        return Tells::Nothing;
    }
    let words = Words::of(name);
    let (last, both) = (words.last(), words.last_two());
    let three = [words.nth(2), &both].concat();
    let known = [last, &both, &three].map(|name| COMPOSED_NAMES.get(name).copied());
    if known.contains(&Some(Tells::Secret)) {
        Tells::Secret
    } else if known.contains(&Some(Tells::Perhaps))
        || (last == "key" && !words.alone() && !is_in(PLAIN_KEYS, words.before()))
    {
        Tells::Perhaps
    } else if QUALIFYING.contains(last) {
        words.qualified()
    } else if joined(last).is_some() {
        Tells::Perhaps
    } else {
        Tells::Nothing
    }
}

/// What a word ends in that is several in one, if that tells: `usertoken`, and not `pagetoken`.
fn joined(word: &str) -> Option<&'static str> {
    JOINED.split(' ').find(|end| {
        let before = word.strip_suffix(end).unwrap_or_default();
        let is_plain = |plain: &str| before.ends_with(plain);
        !before.is_empty() && (*end != "token" || !PLAIN_TOKENS.split(' ').any(is_plain))
    })
}

/// What the last one, two or three words tell.
static COMPOSED_NAMES: Listed =
    LazyLock::new(|| listed(&[(COMPOSED_PERHAPS, Tells::Perhaps), (COMPOSED, Tells::Secret)]));

/// Whether a variable or a header field of that name is none that holds a secret.
pub(super) fn is_plain_entry(name: &str) -> bool {
    is_in(PLAIN_ENTRIES, &name.to_ascii_lowercase()) || name.starts_with("LC_")
}

fn listed(lists: &[(&'static str, Tells)]) -> HashMap<&'static str, Tells, FixedState> {
    let words = lists.iter().flat_map(|(list, tells)| list.split(' ').map(|word| (word, *tells)));
    words.collect()
}

/// The same words, for names that stand everywhere.
static QUALIFYING: LazyLock<HashSet<&str, FixedState>> =
    LazyLock::new(|| QUALIFIERS.split(' ').collect());

/// Whether a name only says which of several it is, or how it is written.
pub(super) fn is_qualifier(name: &str) -> bool {
    QUALIFYING.contains(name)
}

/// What the name of a query parameter or a form field tells.
pub(super) fn parameter(name: &str) -> Tells {
    let words = Words::of(name);
    match field(name) {
        _ if matches!(words.last(), "sig" | "signature") => Tells::Secret,
        // Beside a user only.
        _ if words.last() == "pass" && words.alone() => Tells::Perhaps,
        Tells::Perhaps if words.alone() && matches!(words.last(), "token" | "auth" | "jwt") => {
            Tells::Secret
        }
        Tells::Holder => Tells::Nothing,
        tells => tells,
    }
}

/// Whether a value of such a name says where a server is, and may say a password in it, rather than being a secret.
pub(super) fn is_address(name: &str, value: &str) -> bool {
    let says_where = value.contains("://") || (value.contains('=') && value.contains(';'));
    let is_of_server = |name: &str| match Words::of(name).last_two().as_ref() {
        "connectionstring" | "databaseurl" => true,
        // Who knows a part that was generated may send there.
        "webhookurl" => !value.split(['/', '?', '=', '&']).any(value::is_credential),
        _ => false,
    };
    says_where && is_of_server(name)
}

/// Whether a parameter says who logs in.
pub(super) fn is_of_user(name: &str) -> bool {
    is_in("user username login email uid account", &name.to_ascii_lowercase())
}

/// What the name of a variable of the environment tells: few of them are anything but what they end in.
pub(super) fn variable(name: &str) -> Tells {
    let ends = || joined(Words::of(name).last()).is_some_and(|end| end != "token");
    match (field(name), composed(name)) {
        (tells @ (Tells::Secret | Tells::Secrets), _) => tells,
        (_, Tells::Secret) => Tells::Secret,
        _ if ends() => Tells::Secret,
        (Tells::Nothing, tells) | (tells, _) => tells,
    }
}

/// What a name tells that is followed by a value in prose, where `key` and `code` are words.
pub(super) fn assigned(name: &str) -> Tells {
    match field(name) {
        Tells::Perhaps if !matches!(Words::of(name).last(), "token" | "jwt") => Tells::Nothing,
        Tells::Secrets | Tells::Holder => Tells::Nothing,
        tells => tells,
    }
}

/// Whether a header field of that name holds a credential. Cookies are not meant.
pub(super) fn header(name: &str) -> bool {
    // Most fields are settled by their last letter, without a look at their words.
    if !name.ends_with(|last: char| "dersnyhlteDERSNYHLTE0123456789".contains(last)) {
        return false;
    }
    // Those of CORS name fields and hold none.
    if name.get(..15).is_some_and(|start| start.eq_ignore_ascii_case("access-control-")) {
        return false;
    }
    match field(name) {
        Tells::Secret | Tells::Secrets => true,
        Tells::Perhaps => !matches!(Words::of(name).last(), "key" | "code" | "assertion"),
        Tells::Nothing if may_tell(name.as_bytes()) => {
            joined(Words::of(name).last()).is_some_and(|end| end != "token")
        }
        Tells::Nothing | Tells::Holder => false,
    }
}

/// Whether the look of a value decides what such a name tells.
pub(crate) fn is_weak(name: &str) -> bool {
    match field(name) {
        Tells::Nothing => composed(name) == Tells::Perhaps || is_key(name),
        tells => tells == Tells::Perhaps,
    }
}

/// Whether a field that stands among secrets describes them and is none itself.
fn describes(name: &str) -> bool {
    const LAST: &str = "\
        id type description title object scheme format in ref name at time date expiration expires \
        status state visibility kind version region provider prefix suffix last4 masked hint";
    is_in(LAST, Words::of(name).last())
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

/// The words of a name in lower case.
struct Words {
    text: String,
}

impl Words {
    fn of(name: &str) -> Self {
        // A secret in a name tells nothing, and so does what stands in its place.
        let name = value::with_word(name, "x");
        let mut text = String::with_capacity(name.len() + 4);
        let mut chars = name.chars().peekable();
        let mut before = ' ';
        while let Some(c) = chars.next() {
            if !c.is_alphanumeric() {
                space(&mut text);
            } else {
                let next_is_lower = chars.peek().is_some_and(|next| next.is_lowercase());
                if c.is_uppercase() && (!before.is_uppercase() || next_is_lower) {
                    space(&mut text);
                }
                text.push(c.to_ascii_lowercase());
            }
            before = c;
        }
        let mut words = Self { text };
        words.drop_tail();
        words
    }

    /// Drops what only numbers the name or says how its value is kept: `2`, `_2`, `_enc`.
    fn drop_tail(&mut self) {
        loop {
            let numbered = |c: char| c == ' ' || c.is_ascii_digit();
            let name = self.text.trim_end_matches(numbered);
            if !name.is_empty() {
                self.text.truncate(name.len());
            }
            let is_tail = is_in(TAILS, self.last());
            if !is_tail || self.alone() {
                return;
            }
            self.text.truncate(self.text.len() - self.last().len());
        }
    }

    fn last(&self) -> &str {
        self.text.rsplit(' ').next().unwrap_or_default()
    }

    fn before(&self) -> &str {
        self.nth(1)
    }

    /// A word counted from the end.
    fn nth(&self, back: usize) -> &str {
        self.text.rsplit(' ').nth(back).unwrap_or_default()
    }

    fn last_two(&self) -> String {
        [self.before(), self.last()].concat()
    }

    /// What the name tells without its last word, at most that a value may be a secret.
    fn qualified(&self) -> Tells {
        let Some((name, _)) = self.text.rsplit_once(' ') else { return Tells::Nothing };
        match field(name) {
            Tells::Secret | Tells::Secrets | Tells::Perhaps => Tells::Perhaps,
            Tells::Holder | Tells::Nothing => Tells::Nothing,
        }
    }

    fn alone(&self) -> bool {
        !self.text.contains(' ')
    }
}

fn space(text: &mut String) {
    if !text.is_empty() && !text.ends_with(' ') {
        text.push(' ');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_in_any_spelling() {
        for name in "\
            api_key apiKey API_KEY x-api-key apikey OPENAI_API_KEY OpenAIApiKey access_token \
            accessToken refresh_token id_token client_secret password userPassword passwd \
            secret private_key privateKey authorization auth_token bearer secret_key \
            AWS_SECRET_ACCESS_KEY api_key_enc password2 credential password_confirmation \
            passwordConfirm password-again"
            .split(' ')
        {
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
        for name in "\
            max_tokens prompt_tokens stream_tokens token_count token_type tokens \
            next_page_token progressToken pageToken lock_token tool_call_id public_key secret_code_tool \
            idempotency_key primary_key cache_key next_key last_evaluated_key issue_key \
            secret_name eos_token access_key_id \
            signature session_id monkey environment"
            .split(' ')
            .chain([""])
        {
            assert_eq!(field(name), Tells::Nothing, "{name}");
        }
    }

    #[test]
    fn header_fields_with_credentials_are_known() {
        for name in "\
            Authorization Proxy-Authorization X-API-Key api-key x-goog-api-key X-BARE-PASSWORD \
            x-auth-token x-amz-security-token x-session-key x-token x-vault-token x-client-secret \
            x-newsecret x-rootpassword x-newapikey x-apikey1 x-password1 x-password-2 x-new-token"
            .split(' ')
        {
            assert!(header(name), "{name}");
        }
        for name in "\
            mcp-session-id x-ratelimit-remaining-tokens sec-websocket-key content-type \
            idempotency-key access-control-allow-credentials user_id x-request-id \
            access-control-allow-headers www-authenticate surrogate-key lock-token x-usertoken x-pagetoken x-monkey"
            .split(' ')
        {
            assert!(!header(name), "{name}");
        }
    }

    #[test]
    fn words_that_are_joined_tell_by_their_end_if_their_values_do() {
        for name in "usertoken x-newtoken x-rootpassword X-NEWAPIKEY devicetoken2".split(' ') {
            assert_eq!(composed(name), Tells::Perhaps, "{name}");
        }
        for name in "pagetoken nexttoken maxtoken usertokens max_new_tokens token monkey".split(' ')
        {
            assert_eq!(composed(name), Tells::Nothing, "{name}");
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
