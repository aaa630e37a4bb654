//! The words that names are judged by.

/// Last words that tell whatever stands before them.
pub(super) const HEADS: &[&str] = &[
    "password",
    "passwd",
    "pwd",
    "passphrase",
    "secret",
    "bearer",
    "authorization",
    "credential",
    "cookie",
];

/// The same for several.
pub(super) const PLURAL_HEADS: &[&str] = &["passwords", "secrets", "credentials", "cookies"];

/// Last two words that tell only together.
pub(super) const PAIRS: &[&str] = &[
    "apikey",
    "secretkey",
    "privatekey",
    "accesskey",
    "authkey",
    "encryptionkey",
    "signingkey",
    "masterkey",
    "sharedkey",
    "accountkey",
    "subscriptionkey",
    "servicekey",
    "sessionkey",
    "licensekey",
    "storagekey",
    "sshkey",
    "deploykey",
    "aeskey",
    "accesstoken",
    "refreshtoken",
    "idtoken",
    "authtoken",
    "apitoken",
    "bearertoken",
    "sessiontoken",
    "securitytoken",
    "csrftoken",
    "xsrftoken",
    "oauthtoken",
    "servicetoken",
    "bottoken",
    "secrettoken",
    "privatetoken",
    "jwttoken",
    "webhooktoken",
    "registrationtoken",
    "verificationtoken",
    "resettoken",
    "deploytoken",
    "basicauth",
    "bearerauth",
    "httpauth",
    "codeverifier",
    "clientassertion",
    "secretvalue",
    "secretstring",
];

/// The same for several.
pub(super) const PLURAL_PAIRS: &[&str] = &[
    "apikeys",
    "secretkeys",
    "privatekeys",
    "accesskeys",
    "accesstokens",
    "refreshtokens",
    "apitokens",
    "bearertokens",
];

/// Names of what holds secrets among other things.
pub(super) const HOLDERS: &[&str] = &[
    "env",
    "envs",
    "envvars",
    "environmentvariables",
    "customheaders",
    "extraheaders",
    "authheaders",
];

/// Names that tell only if the value looks like a credential.
pub(super) const PERHAPS: &[&str] = &["token", "key", "auth", "code", "jwt", "pass", "assertion"];

/// Those of them that are words of any text.
pub(super) const PROSE: &[&str] = &["key", "auth", "code", "pass", "assertion"];

/// Words before `token` that make it the place in a list or a piece of text.
pub(super) const PLAIN_TOKENS: &[&str] = &[
    "page",
    "next",
    "previous",
    "prev",
    "continuation",
    "progress",
    "sync",
    "cursor",
    "pagination",
    "resume",
    "start",
    "stop",
    "begin",
    "end",
    "bos",
    "eos",
    "eot",
    "pad",
    "unk",
    "sep",
    "cls",
    "mask",
    "first",
    "last",
    "per",
    "image",
    "special",
    "new",
    "max",
    "min",
    "num",
    "forward",
    "backward",
];

/// The last letters of all of these, and of what only says how a value is kept, without the `s` of
/// several.
pub(super) const ENDS: &[[u8; 2]] = &[
    *b"al", *b"as", *b"de", *b"ed", *b"en", *b"er", *b"et", *b"ey", *b"ie", *b"le", *b"nc", *b"ng",
    *b"nv", *b"on", *b"rd", *b"se", *b"th", *b"ue", *b"ar", *b"wd", *b"wt", *b"xt",
];

/// Header fields that end like a secret and are none.
pub(super) const PLAIN_HEADERS: &[&str] = &["access-control-"];
