//! A corpus of planted secrets, made at run time: in every place, by every name and of every look that is
//! known, and a held-out part that no rule was written for.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use retape::cassette::{Request, Response};
use retape::redact::{Live, Redactor, Secrets};

use super::compressed::gzipped;
use super::{cassette, redacted, request, response, stream, whole};

/// What is planted: the class it is counted in, the secret, and the exchange that has it.
struct Planted {
    class: &'static str,
    what: String,
    secret: String,
    exchange: (Request, Response),
}

/// Letters that nobody has chosen, and the same in each run.
struct Chance(u64);

const ALNUM: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const HEX: &str = "0123456789abcdef";
const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

impl Chance {
    fn letters(&mut self, of: &str, count: usize) -> String {
        let of = of.as_bytes();
        let mut letter = || {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            char::from(of[(self.0 >> 33) as usize % of.len()])
        };
        (0..count).map(|_| letter()).collect()
    }

    /// A pattern such as `ghp_{36}`: so many letters and digits; `{h32}` hexadecimal, `{u16}` capitals.
    fn made(&mut self, pattern: &str) -> String {
        let mut out = String::new();
        let mut rest = pattern;
        while let Some((before, behind)) = rest.split_once('{') {
            out.push_str(before);
            let (count, behind) = behind.split_once('}').expect("a pattern is closed");
            out.push_str(&match count.split_at(1) {
                ("h", count) => self.letters(HEX, count.parse().expect("a number")),
                ("u", count) => self.letters(UPPER, count.parse().expect("a number")),
                ("d", count) => self.letters("0123456789", count.parse().expect("a number")),
                _ => self.letters(ALNUM, count.parse().expect("a number")),
            });
            rest = behind;
        }
        out + rest
    }
}

/// Keys as providers give them out.
const LOOKS: &str = "\
    sk-{48} sk-proj-{60} sk-ant-api03-{80} sk-or-v1-{h64} sk-let-{40} gsk_{52} xai-{60} pplx-{48} hf_{34} \
    r8_{37} nvapi-{60} pa-{43} tvly-{32} fc-{h32} e2b_{h40} bb_live_{27} pcsk_{60} lsv2_pt_{h32}_{h10} fw_{22} \
    AKIA{u16} ASIA{u16} ABSK{80} ghp_{36} gho_{36} ghs_{36} ghu_{36} github_pat_{22}_{59} glpat-{20} \
    xoxb-{d12}-{d12}-{24} xoxp-{d12}-{d12}-{d12}-{h32} xapp-1-A{10}-{d12}-{h40} sk_live_{24} sk_test_{24} \
    rk_live_{24} whsec_{32} AIza{35} ya29.{60} GOCSPX-{28} SG.{22}.{43} SK{h32} key-{h32} {h32}-us12 npm_{36} \
    pypi-{80} rubygems_{h48} dckr_pat_{27} dop_v1_{h64} ntn_{46} figd_{40} ATATT3{60} shpat_{h32} \
    sq0atp-{22} dapi{h32} dp.pt.{43} dt0c01.{u24}.{u64} hvs.{90} {14}.atlasv1.{60} pscale_tkn_{40} sbp_{h40} \
    PMAK-{h24}-{h34} pnu_{36} pul-{h40} sntryu_{h64} NRAK-{u27} glsa_{32}_{h8} phx_{40} squ_{h40} nfp_{40} \
    rnd_{28} re_{8}_{24} AGE-SECRET-KEY-1{u58} sha256~{43} bkua_{h40} rdme_{h70} tfp_{59} \
    xkeysib-{h64}-{16} EZAK{54} shippo_live_{h40} duffel_live_{43} {3}8Q~{34} lin_api_{40} \
    napi_{h40} secret_{43} sb_secret_{31} CCIPAT_{22}_{h40} pat{14}.{h64} 1//0{60} vcp_{40} \
    FLWSECK_TEST-{h32}-X fio-u-{64} live_{40} pat.{22}.{h24}.{20} HRKU-AA{58} pat-na1-{h8}-{h4}-{h4}-{h4}-{h12} \
    ico-{32} s-s4t2ud-{h64} AKCp{69} cmVmd{59} api-{h8}-{h4}-{h4}-{h4}-{h12} csk-{48} tgp_v1_{43} CFPAT-{43} \
    ATTA{h64} sl.{135} EAAC{150} live_pub_{h31} access-sandbox-{h8}-{h4}-{h4}-{h4}-{h12} cio{32} doo_v1_{h64} \
    glrt-{20} dor_v1_{h64} gldt-{20} shpss_{h32} hvb.{140} sqp_{h40} xoxe-1-{146} sk-lf-{h8}-{h4}-{h4}-{h4}-{h12} \
    pk.{60}.{22} sgp_{h40} API-{u26} LTAI{20} p8e-{32} AQVN{38} t1.{40}.{86} ops_eyJ{260} \
    1/1{d15}:{h32} {52}JQQJ99{26} {76}AZDO{4} {44}AzFu{8} pk_{d8}_{u32} 4b1d{38} CLOJARS_{60} dbtc_{40} ddp_{36} \
    essu_{60} GR1348941{20} hcaik_{40} dG9rO{60} jina_{60} {6}_{29}_mmk mdb_sa_sk_{40} nsec1{h58} oy2{h43} \
    rzp_live_{14} tk-us-{48} sm_aat_{16} secret-{43} tskey-auth-{40} {d9}:AA{33} xprv{107} ck_{h40} m0-{40} \
    glffct-{20} fo1_{43} bedrock-api-key-{60} ek_{h32} xoxc-{d12}-{d12}-{h64} xoxd-{120} cfut_{48} cfat_{48} crsr_{h64} \
    dtn_{h64} rootly_{h64} rpa_{46} wandb_v1_{77} polar_oat_{42} tr_prod_{24} signkey-prod-{h64} alcht_{30} glwt-{20} \
    glrtr-{20} dp.scim.{43} AQ.Ab{48} IQoJb3JpZ2luX2Vj{300} FwoGZXIvYXdz{240} v4.local.{160} \
    AGE-SECRET-KEY-PQ-1{u58} IGQV{160} 00D{12}!AQ{90} as-{22}";

/// The same of what no rule was written for: most have no sign of their own, and only a name can tell them.
const HELD_OUT_LOOKS: &str = "\
    {32} {h32} {h40} api_{30} 00{40} s.{24} {h8}-{h4}-{h4}-{h4}-{h12} {d15}-{40} \
    xyz-{40} newco_{36}";

/// Names that tell, in JSON, forms and text.
const NAMES: &str = "\
    api_key apiKey API_KEY x-api-key access_token refresh_token id_token client_secret clientSecret password \
    userPassword passwd secret private_key privateKey authorization auth_token bearer secret_key \
    AWS_SECRET_ACCESS_KEY api_key_enc password2 credential openai_key openaiKey anthropicKey llm_key \
    clientKeyData auth_header authHeaderValue connectionString database_url recovery_code device_code \
    authorization_code gh_pat serviceAccountKey masterPassword jwtSecret dbPassword root_pw clave haslo \
    api_secret_key sas_token otpSecret hmac_key license_key auth0_client_secret privKey secretAccessKey \
    oauth_token_secret adminPass db_pw userCredential apiSecret API_KEY_PROD secretKeyOld passwort kennwort contrasena senha SMTP_PASS webhook_secret sessionToken \
    session_key signing_key encryptionKey masterKey account_key accessKey csrf_token bot_token jwt \
    github_token HF_TOKEN token pinecone_key RAPIDAPI_KEY consumer_key deploy_key service_key csrf";

const HELD_OUT_NAMES: &str = "\
    stripe_webhook_signing_secret storage_account_key pin_code sessionCookie webhook_signing_key tokenForUploads \
    passwordHashed signing_cert kunci lozinka apikey_for_ci loginKey bearerValue refreshTok usr_psw";

fn header(name: &str, value: String) -> (Request, Response) {
    (request("/", &[(name, &value)], ""), response(&[], whole("ok")))
}

fn answer(kind: &str, body: impl Into<Vec<u8>>) -> (Request, Response) {
    (request("/", &[], ""), response(&[("content-type", kind)], whole(body)))
}

fn asked(kind: &str, body: impl Into<Vec<u8>>) -> (Request, Response) {
    (request("/", &[("content-type", kind)], body), response(&[], whole("ok")))
}

/// Where a secret stands whose look alone tells it.
fn neutral(secret: &str) -> Vec<(&'static str, (Request, Response))> {
    let json = serde_json::json!({"id": 1, "note": format!("use {secret} for it"), "n": [secret]})
        .to_string();
    let events = format!("data: {json}\n\ndata: [DONE]\n\n");
    let note = format!("see {secret}!");
    vec![
        ("prose", answer("text/plain", format!("The key is {secret}, as said.\n"))),
        ("JSON", answer("application/json", json.clone())),
        ("request", asked("application/json", json.clone())),
        ("nested", answer("application/json", serde_json::json!({"arguments": json}).to_string())),
        ("events", answer("text/event-stream", events)),
        ("field", header("x-note", note)),
        ("path", (request(&format!("/v1/things/{secret}/x"), &[], ""), response(&[], whole("ok")))),
        ("query", (request(&format!("/v1?q={secret}&n=1"), &[], ""), response(&[], whole("ok")))),
    ]
}

/// Where a secret stands that its name tells.
fn named(name: &str, secret: &str) -> Vec<(&'static str, (Request, Response))> {
    let json = serde_json::json!({"a": 1, name: secret, "b": "c"}).to_string();
    let pair = serde_json::json!([{"key": name, "value": secret}]).to_string();
    let reversed = format!(r#"[{{"value": "{secret}", "name": "{name}"}}]"#);
    let multipart = format!(
        "--b\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{secret}\r\n--b--\r\n"
    );
    let form = "application/x-www-form-urlencoded";
    vec![
        ("JSON", answer("application/json", json.clone())),
        ("nested", answer("application/json", serde_json::json!({"arguments": json}).to_string())),
        ("events", answer("text/event-stream", format!("event: x\ndata: {json}\n\n"))),
        ("lines", answer("application/x-ndjson", format!("{{\"a\":1}}\n{json}\n"))),
        ("cut", answer("application/json", json[..json.len() - 10].to_owned())),
        ("pair", answer("application/json", pair)),
        ("reversed", answer("application/json", reversed)),
        ("form", asked(form, format!("a=1&{name}={secret}&b=2"))),
        ("brackets", asked(form, format!("user[{name}]={secret}&user[b]=2"))),
        ("multipart", asked("multipart/form-data; boundary=b", multipart)),
        ("query", (request(&format!("/x?{name}={secret}&y=1"), &[], ""), response(&[], whole("")))),
        ("env", answer("text/plain", format!("A=1\nexport {name}={secret}\nB=2\n"))),
        ("yaml", answer("text/plain", format!("a: 1\n{name}: {secret}\nb: 2\n"))),
    ]
}

/// Places of their own.
fn places(chance: &mut Chance) -> Vec<Planted> {
    let mut all = Vec::new();
    let mut add = |what: &str, secret: &str, exchange| {
        all.push(Planted {
            class: "places",
            what: what.to_owned(),
            secret: secret.to_owned(),
            exchange,
        });
    };
    let fields = "\
        authorization proxy-authorization x-api-key api-key x-goog-api-key x-auth-token \
        x-amz-security-token x-openai-key x-letta-key x-pinecone-key x-rapidapi-key x-functions-key \
        dd-application-key x-amz-server-side-encryption-customer-key x-vault-token x-gitlab-token \
        private-token x-client-secret cf-access-jwt-assertion x-amzn-oidc-data";
    for field in fields.split_whitespace() {
        let secret = chance.letters(ALNUM, 32);
        add(field, &secret, header(field, secret.clone()));
    }
    for field in ["authentication", "x-ms-authorization-auxiliary", "x-custom", "x-request-headers"]
    {
        let secret = chance.letters(ALNUM, 32);
        add(field, &secret, header(field, format!("Bearer {secret}")));
        let plain = STANDARD.encode(format!("me:{}", chance.letters(ALNUM, 12)));
        add(field, &plain, header(field, format!("Basic {plain}")));
    }
    for field in ["cookie", "set-cookie"] {
        let secret = chance.letters(ALNUM, 24);
        add(field, &secret, header(field, format!("sid={secret}; Path=/")));
    }
    let part = |chance: &mut Chance| URL_SAFE_NO_PAD.encode(chance.letters(ALNUM, 30));
    for _ in 0..3 {
        let jwt = format!(
            "{}.{}.{}",
            part(chance).replacen(|_: char| true, "", 0),
            part(chance),
            part(chance)
        );
        let head = URL_SAFE_NO_PAD.encode(br#"{"alg":"HS256","typ":"JWT"}"#);
        let claims =
            URL_SAFE_NO_PAD.encode(format!(r#"{{"sub":"{}"}}"#, chance.letters(ALNUM, 12)));
        let token = format!("{head}.{claims}.{}", jwt.rsplit('.').next().unwrap_or_default());
        for (what, exchange) in neutral(&token) {
            add(&format!("jwt {what}"), &token, exchange);
        }
    }
    for kind in ["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "] {
        let lines: Vec<String> = (0..6).map(|_| chance.letters(ALNUM, 64)).collect();
        let pem = |end: &str| {
            format!(
                "-----BEGIN {kind}PRIVATE KEY-----{end}{}{end}-----END {kind}PRIVATE KEY-----{end}",
                lines.join(end)
            )
        };
        add("pem text", &lines[2], answer("text/plain", format!("cert:\n{}", pem("\n"))));
        add(
            "pem json",
            &lines[2],
            answer("application/json", serde_json::json!({"c": pem("\n")}).to_string()),
        );
        add("pem upload", &lines[2], asked("application/octet-stream", pem("\r\n")));
    }
    let s = |chance: &mut Chance| chance.letters(ALNUM, 24);
    for (what, before, behind) in [
        ("url", "see https://me:", "@db.example/x ok"),
        ("postgres", "postgres://app:", "@db:5432/x"),
        ("redis", "redis://:", "@cache:6379/0"),
        ("mongodb", "mongodb+srv://u:", "@c.example/test"),
        ("encoded url", "https://a.example/?next=https%3A%2F%2Fme%3A", "%40b.example%2F"),
        ("slack hook", "https://hooks.slack.com/services/T0AB12CD3/B0AB12CD3/", " ok"),
        ("telegram", "https://api.telegram.org/bot123456789:AAE", "abcdefgh12345/sendMessage"),
        ("curl user", "curl -u me:", " https://x"),
        ("curl header", "curl -H 'Authorization: Bearer ", "' https://x"),
        ("option", "tool --password ", " --verbose"),
        ("option is", "tool --api-key=", " run"),
        ("netrc", "machine h.example login me password ", "\n"),
        ("sql role", "CREATE ROLE app WITH LOGIN PASSWORD '", "' VALID UNTIL 'infinity'"),
        ("sql user", "alter user me identified by '", "';"),
        ("go", "	apiToken := \"", "\"\n"),
        ("python", "os.environ[\"OPENAI_API_KEY\"] = '", "'\n"),
        ("odbc", "Server=db;Uid=sa;Password=", ";Encrypt=yes"),
        ("azure", "AccountName=x;AccountKey=", "==;EndpointSuffix=y"),
        ("xml", "<user><name>me</name><password>", "</password></user>"),
        ("xml2", "<AccessKeyId>x</AccessKeyId><SecretAccessKey>", "</SecretAccessKey>"),
        ("soap", "<wsse:Password Type=\"x#PasswordText\">", "</wsse:Password></x>"),
        ("html", "<input type=hidden name=\"csrf_token\" value=\"", "\">"),
        ("config", "<add key=\"Password\" value=\"", "\" />"),
        ("attribute", "<db user=\"me\" password=\"", "\"/>"),
        ("yaml pair", "env:\n  - name: OPENAI_API_KEY\n    value: ", "\n"),
        ("jsessionid", "GET /x;jsessionid=", " ok"),
        ("reset", "https://x.example/reset-password/", " now"),
        ("python", "{'api_key': '", "', 'b': 1}"),
        ("header text", "Authorization: Bearer ", "\n"),
        ("basic text", "X-Api-Key: ", "\nHost: x\n"),
        ("pair", "[[\"Authorization\",\"Bearer ", "\"],[\"Accept\",\"*/*\"]]"),
        ("flat", "[\"Host\",\"x\",\"Authorization\",\"Bearer ", "\",\"Accept\",\"*/*\"]"),
        ("har", "{\"headers\":[{\"name\":\"X-Api-Key\",\"value\":\"", "\"}]}"),
        (
            "service bus",
            "Endpoint=sb://x.example/;SharedAccessKey=Ab3dEf6hIj9lMn2pQr5tUv8x",
            "=;Name=y",
        ),
        ("arguments", "{\"args\":[\"--password\",\"", "\"]}"),
        ("holder", "{\"env\":{\"MY_THING\":\"", "\"}}"),
        ("headers", "{\"custom_headers\":{\"X-Thing\":\"", "\"}}"),
    ] {
        for kind in ["text/plain", "application/json"] {
            let secret = s(chance);
            let text = format!("{before}{secret}{behind}");
            let is_json = text.starts_with(['{', '[']) && !what.starts_with("python");
            let body = if kind == "text/plain" || is_json {
                text
            } else {
                serde_json::json!({"t": text}).to_string()
            };
            add(what, &secret, answer(kind, body.clone()));
            let utf16: Vec<u8> = body.encode_utf16().flat_map(u16::to_le_bytes).collect();
            add(
                &format!("{what} utf-16"),
                &secret,
                answer(kind, [vec![0xff, 0xfe], utf16].concat()),
            );
            let packed = gzipped(&gzipped(body.as_bytes()));
            let headers = [("content-type", kind), ("content-encoding", "gzip, gzip")];
            add(
                &format!("{what} twice packed"),
                &secret,
                (request("/", &[], ""), response(&headers, whole(packed))),
            );
        }
    }
    for size in [1, 2, 5, 9] {
        let key = chance.made("sk-proj-{40}");
        let event = |piece: &[u8]| {
            format!("data: {}\n\n", serde_json::json!({"d": {"t": String::from_utf8_lossy(piece)}}))
        };
        let events: Vec<String> = key.as_bytes().chunks(size).map(event).collect();
        let pieces: Vec<&[u8]> = events.iter().map(|event| event.as_bytes()).collect();
        let said = response(&[("content-type", "text/event-stream")], stream(&pieces));
        add("deltas", &key, (request("/", &[("x-api-key", &key)], ""), said.clone()));
        add("deltas by look", &key, (request("/", &[], ""), said));
    }
    let key = chance.letters(ALNUM, 40);
    let mut reason = response(&[], whole("")).clone();
    reason.reason = Some(format!("no {}{key}", "sk-"));
    add("reason", &key, (request("/", &[], ""), reason));
    all
}

fn corpus(seed: u64) -> Vec<Planted> {
    let mut chance = Chance(seed);
    let mut all = places(&mut chance);
    for (class, looks) in [("looks", LOOKS), ("held out: no look", HELD_OUT_LOOKS)] {
        for pattern in looks.split_whitespace() {
            let secret = chance.made(pattern);
            let planted = neutral(&secret).into_iter().map(|(what, exchange)| Planted {
                class,
                what: format!("{pattern} {what}"),
                secret: secret.clone(),
                exchange,
            });
            all.extend(planted);
        }
    }
    for (class, names) in [("names", NAMES), ("held out: names", HELD_OUT_NAMES)] {
        for name in names.split_whitespace() {
            let secret = chance.letters(ALNUM, 28);
            let planted = named(name, &secret).into_iter().map(|(what, exchange)| Planted {
                class,
                what: format!("{name} {what}"),
                secret: secret.clone(),
                exchange,
            });
            all.extend(planted);
        }
    }
    all
}

/// Whether a secret, or most of it, is still in what is kept.
fn remains(planted: &Planted) -> bool {
    let kept = redacted(cassette(vec![planted.exchange.clone()]));
    let interaction = &kept.interactions[0];
    let said = interaction.response().expect("an answer");
    let mut text =
        format!("{} {}", interaction.request.path, said.reason.clone().unwrap_or_default())
            .into_bytes();
    for headers in [&interaction.request.headers, &said.headers] {
        headers.iter().for_each(|(_, value)| text.extend_from_slice(value));
    }
    let body = said.body.bytes();
    let unpacked = retape::cassette::coding::decode_whole("gzip", &body);
    let unpacked = unpacked.and_then(|body| retape::cassette::coding::decode_whole("gzip", &body));
    text.extend_from_slice(&unpacked.unwrap_or_default());
    text.extend(body.iter().chain(&interaction.request.body).filter(|byte| **byte != 0));
    let joined = String::from_utf8_lossy(&text).replace("\"}}\n\ndata: {\"d\":{\"t\":\"", "");
    joined.contains(&planted.secret) || stands(&text, &planted.secret)
}

fn stands(text: &[u8], secret: &str) -> bool {
    let part = &secret.as_bytes()[secret.len() / 4..];
    text.windows(part.len()).any(|run| run == part)
}

#[test]
#[expect(clippy::print_stdout, reason = "the figures are for people, with `--nocapture`")]
fn no_planted_secret_remains_that_a_rule_knows() {
    let mut left: BTreeMap<&str, (usize, Vec<String>)> = BTreeMap::new();
    for planted in corpus(7) {
        let (count, remaining) = left.entry(planted.class).or_default();
        *count += 1;
        if remains(&planted) {
            remaining.push(planted.what.clone());
        }
    }

    let total: usize = left.values().map(|(count, _)| count).sum();
    let share = |class: &str| (left[class].1.len() * 100).div_ceil(left[class].0);
    for (class, (count, remaining)) in &left {
        println!("{class}: {} of {count} remain: {remaining:?}", remaining.len());
    }
    assert!(total >= 900, "{total}");
    for class in ["places", "looks", "names"] {
        assert_eq!(left[class].1, Vec::<String>::new(), "{class}");
    }
    assert!(share("held out: names") <= 50, "{}", share("held out: names"));
}

#[test]
fn no_planted_secret_remains_whatever_its_letters_are() {
    let mut left = Vec::new();
    for seed in 0..30 {
        let planted = corpus(seed).into_iter().enumerate();
        // Another one of the places of each look and each name with each seed.
        let chosen = planted.filter(|(at, planted)| match planted.class {
            "looks" => at % 8 == seed as usize % 8,
            "names" => at % 13 == seed as usize % 13,
            _ => false,
        });
        let remaining = chosen.filter(|(_, planted)| remains(planted));
        left.extend(remaining.map(|(_, planted)| (seed, planted.what, planted.secret)));
    }

    assert_eq!(left, Vec::new());
}

#[test]
fn the_journal_hides_what_the_cassette_hides_however_it_is_cut() {
    let redactor = Redactor::standard();
    let mut left = Vec::new();
    // What only its end tells has been passed on by then.
    let is_late = |planted: &Planted| {
        ["-us12", ".atlasv1", "JQQJ99", "AZDO", "AzFu", "_mmk"]
            .iter()
            .any(|it| planted.what.contains(it))
    };
    for planted in corpus(7).iter().filter(|it| !it.class.starts_with("held") && !is_late(it)) {
        let (_, said) = &planted.exchange;
        let body = said.body.bytes();
        let is_plain =
            !said.headers.contains("content-encoding") && std::str::from_utf8(&body).is_ok();
        if !is_plain || planted.what.starts_with("deltas") || body.len() > 400 || !body.is_ascii() {
            continue;
        }
        let live = |pieces: &mut dyn Iterator<Item = &[u8]>| {
            let mut live = Live::new(&redactor, Secrets::default());
            let mut out: Vec<u8> = pieces.flat_map(|piece| live.push(piece).into_owned()).collect();
            out.extend(live.finish().0);
            out
        };
        let at_once = live(&mut std::iter::once(&body[..]));
        let by_byte = live(&mut body.chunks(1));
        let in_two = (0..body.len())
            .step_by(11)
            .map(|cut| live(&mut [&body[..cut], &body[cut..]].into_iter()));
        for out in [at_once, by_byte].into_iter().chain(in_two) {
            if stands(&out, &planted.secret) {
                left.push(planted.what.clone());
                break;
            }
        }
    }

    assert_eq!(left, Vec::<String>::new());
}

#[test]
fn harmless_values_stay() {
    let mut chance = Chance(11);
    let mut harmless: Vec<String> = Vec::new();
    for _ in 0..8 {
        let [a, b, c, d, e] = [8, 4, 4, 4, 12].map(|count| chance.letters(HEX, count));
        let uuid = format!("{a}-{b}-{c}-{d}-{e}");
        for text in [
            format!(r#"{{"id":"agent-{uuid}","run_id":"run-{uuid}"}}"#),
            format!(r#"{{"id":"msg_01{}","type":"message"}}"#, chance.letters(ALNUM, 22)),
            format!(r#"{{"tool_call_id":"call_{}"}}"#, chance.letters(ALNUM, 24)),
            format!(r#"{{"id":"chatcmpl-{}"}}"#, chance.letters(ALNUM, 29)),
            format!(r#"{{"sha256":"{}"}}"#, chance.letters(HEX, 64)),
            format!(r#"{{"commit":"{}","branch":"main"}}"#, chance.letters(HEX, 40)),
            format!(r#"{{"etag":"W/\"{}\""}}"#, chance.letters(HEX, 32)),
            format!(r#"{{"signature":"{}","thinking":"so"}}"#, chance.letters(ALNUM, 120)),
            format!(r#"{{"next_page_token":"{}"}}"#, chance.letters(ALNUM, 40)),
            format!(r#"{{"idempotency_key":"{uuid}","cache_key":"{}"}}"#, chance.letters(HEX, 32)),
            format!(r#"{{"public_key":"{}"}}"#, chance.letters(ALNUM, 44)),
            format!(r#"{{"session_id":"{uuid}","mcpSessionId":"{}"}}"#, chance.letters(HEX, 32)),
            format!(r#"{{"system_fingerprint":"fp_{}"}}"#, chance.letters(HEX, 10)),
            format!(r#"{{"image":"data:image/png;base64,{}"}}"#, chance.letters(ALNUM, 200)),
            format!("https://x.example/v1/agents/agent-{uuid}/messages?limit=1&after={uuid}"),
            format!(r#"{{"encrypted_content":"{}"}}"#, chance.letters(ALNUM, 100)),
        ] {
            harmless.push(text);
        }
    }
    let fixed = r#"{"custom_headers":{"Accept":"application/json","Content-Type":"text/plain; charset=utf-8"}}
{"credentials":"include","mode":"cors"}
{"authorization":"required"}
{"env":{"PATH":"/usr/bin:/bin","HOME":"/home/me","TZ":"Europe/Paris","MODE":"production","PORT":"8080"}}
{"max_tokens":4096,"token_count":12,"token_type":"bearer","total_tokens":99}
{"name":"password","type":"string","description":"The password of the user"}
{"required":["password","username"],"properties":{"password":{"type":"string"}}}
{"name":"get_secret","parameters":{"type":"object","properties":{"key":{"type":"string"}}}}
{"key":"value","name":"key","value":"name"}
{"name":"temperature","value":"0.7"}
{"key":"primary","value":"agent"}
Use the Authorization header with a Bearer token.
Bearer authentication is required for this endpoint.
Basic authentication works, too.
Set OPENAI_API_KEY to your key.
export OPENAI_API_KEY=$OTHER
password: str = Field(description="the password")
token = tokenizer.encode(text)
api_key: str, password=changeme
The secret of good tests is patience.
sk-learn is a library; scikit-learn-intelex-patched-version is another.
"Content-Type": "application/json", "Accept": "text/event-stream"
git@github.com:owner/name.git
https://user@example.com/path
2024-11-20T10:00:00Z
/reset-password/ is the page; /verify/ is another.
pat and patterns, patch and path/to/some/file.txt
SKILL.md, SKU-12345, re_compile(pattern), fw_update
{"status":"completed","stop_reason":"end_turn","usage":{"input_tokens":3}}
{"model":"gpt-4o-mini-2024-07-18","object":"chat.completion"}
{"error":{"code":"invalid_api_key","message":"Incorrect API key provided."}}
{"code":"ERR_MODULE_NOT_FOUND","key":"some.long.key_of_something"}
{"role":"user","content":"what is a token?"}
GET /v1/keys?limit=10
x-ratelimit-remaining-tokens: 149984
"#;
    harmless.extend(fixed.lines().map(str::to_owned));
    let questions = (0..40)
        .map(|n| format!(r#"{{"question":"How does key {n} of the token ring work?","n":{n}}}"#));
    harmless.extend(questions);

    let changed: Vec<&String> = harmless
        .iter()
        .filter(|text| {
            let kept = redacted(cassette(vec![answer("application/json", text.as_bytes())]));
            kept.interactions[0].response().expect("an answer").body.bytes() != text.as_bytes()
        })
        .collect();

    assert!(harmless.len() >= 200, "{}", harmless.len());
    assert!(changed.len() <= 5, "{changed:#?}");
}
