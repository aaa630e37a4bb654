//! Passwords with any signs, in the texts in which people and programs write them.

use super::{body, password};

/// Signs that end a word in prose or in code, and a part of no word in a password.
const SIGNS: &[u8] = b"&<|(){}[];,\\#^*@";

/// Passwords in which letters and signs stand anywhere but at the beginning.
fn passwords() -> impl Iterator<Item = String> {
    (0..200_u32).map(|seed| {
        let chance = *blake3::hash(&seed.to_be_bytes()).as_bytes();
        let letters = password(&seed.to_string());
        let length = 10 + usize::from(chance[31] % 9);
        let sign = |at: usize| char::from(SIGNS[usize::from(chance[at]) % SIGNS.len()]);
        letters
            .chars()
            .take(length)
            .enumerate()
            .map(
                |(at, letter)| {
                    if at > 0 && chance[at].is_multiple_of(4) { sign(at + 1) } else { letter }
                },
            )
            .collect()
    })
}

/// How many of the passwords are there, at least in part, behind a text in which `$` is one.
fn left(spelling: &str, written: impl Fn(&str) -> String) -> Vec<String> {
    let remains = |secret: &String| {
        let after = body("text/plain", &spelling.replace('$', &written(secret)));
        let quoted = serde_json::json!({ "content": spelling.replace('$', &written(secret)) });
        let within = body("application/json", &quoted.to_string());
        let within = serde_json::from_str::<serde_json::Value>(&within).expect("still JSON");
        let mut parts =
            secret.as_bytes().windows(5).map(|part| written(&String::from_utf8_lossy(part)));
        parts.any(|part| {
            after.contains(&part) || within["content"].as_str().expect("text").contains(&part)
        })
    };
    passwords().filter(remains).collect()
}

#[test]
fn passwords_are_whole_whatever_their_signs_are() {
    for spelling in [
        "DB_PASSWORD=$\nNEXT=1\n",
        "HOST=h\nDB_PASSWORD=$",
        "export DB_PASSWORD=$\nrun",
        "[db]\nuser = x\npassword = $\nport = 1\n",
        "db:\n  password: $\n  user: x\n",
        "users:\n  - password: $\n    user: x\n",
        "password: |\n  $\nuser: x\n",
        "user: x, password: $\n",
        "user: x, password: $, host: h",
        "| user | x |\n| password | $ |\n",
        "Server=h;User=sa;Password=$;Encrypt=true",
        "Driver={x};Uid=sa;Pwd={$};Encrypt=true",
        "host=h password=$ dbname=x",
        "mysql --user=x --password=$ db",
        "docker run -e DB_PASSWORD=$ image",
        "docker run --env DB_PASSWORD=$ image",
        "run --password \"$\" x",
        "run --password '$' x",
        "run --password=\"$\" x",
        "connect(password=\"$\", user=\"x\")",
        "connect(password='$', user='x')",
        "password = `$`",
        "{\"user\" => \"x\", \"password\" => \"$\"}",
        "['user' => 'x', 'password' => '$']",
        "{:user => \"x\", :password => \"$\"}",
        "Config { user: \"x\", password: Some(\"$\") }",
        "os.environ[\"DB_PASSWORD\"] = \"$\"",
        "os.Setenv(\"DB_PASSWORD\", \"$\")",
        "define( 'DB_PASSWORD', '$' );",
        "ConvertTo-SecureString \"$\" -AsPlainText -Force",
    ] {
        // What ends a value in its notation is written otherwise in it.
        let plain = |secret: &str| {
            let secret = match spelling.contains(['"', '\'', '`']) {
                true => secret.replace('\\', "/"),
                false => secret.to_owned(),
            };
            match spelling {
                _ if spelling.contains(";Password=") => secret.replace(';', "+"),
                _ if spelling.starts_with('|') => secret.replace('|', "+"),
                _ if spelling.contains(";Pwd=") => secret.replace('}', "+"),
                _ => secret,
            }
        };
        let left = left(spelling, plain);
        assert!(left.len() <= 6, "{spelling}: {} of 200: {left:?}", left.len());
    }
}

#[test]
fn passwords_are_found_as_pages_and_documents_escape_them() {
    let escaped = |secret: &str| secret.replace('&', "&amp;").replace('<', "&lt;");
    for spelling in [
        "{&quot;user&quot;: &quot;x&quot;, &quot;password&quot;: &quot;$&quot;}",
        "{&#34;password&#34;:&#34;$&#34;,&#34;a&#34;:1}",
        "<db>\n  <user>x</user>\n  <password>\n    $\n  </password>\n</db>",
        "<db><password>$</password></db>",
        "<db password=\"$\" user=\"x\"/>",
    ] {
        let left = left(spelling, escaped);
        assert!(left.len() <= 6, "{spelling}: {} of 200: {left:?}", left.len());
    }
}

/// Keys as programs make them, in the spellings of code, of labels and of commands; as text, in a string of JSON, and in
/// one within that.
#[test]
fn keys_are_found_in_code_labels_elements_and_commands() {
    for spelling in [
        "password: str = \"$\"",
        "api_key: Optional[str] = \"$\"",
        "const apiKey: string = '$';",
        "const API_KEY: &str = \"$\";",
        "const apiKey string = \"$\"",
        "char password[] = \"$\";",
        "#define API_KEY \"$\"",
        "ds.setPassword(\"$\");",
        ".apiKey(\"$\")",
        "new UsernamePasswordCredentials(\"bob\", \"$\")",
        "API key: $",
        "Secret Access Key: $",
        "**API key:** $",
        "**Password**: $",
        "- **Client secret**: `$`",
        "ansible_become_pass: $",
        "psk=$",
        "- name: DB_PASSWORD\n  value: \"$\"",
        "<r><accessToken>$</accessToken></r>",
        "<r><DB_PASS>$</DB_PASS></r>",
        "<entry key=\"password\">$</entry>",
        "<property name=\"password\" value=\"$\"/>",
        "<key>password</key>\n<string>$</string>",
        "<member><name>password</name><value><string>$</string></value></member>",
        "sshpass -p $ ssh h",
        "docker login -u bob -p $ r.io",
        "mysql -u root -p$ db",
        "curl -ubob:$ x",
        "curl --proxy-user bob:$ x",
        "http -a bob:$ x",
        "redis-cli -a $ ping",
        "set -gx API_KEY $",
        "setx API_KEY \"$\"",
        "aws configure set aws_secret_access_key $",
        "gh secret set API_KEY --body \"$\"",
        "tool --passphrase $ x",
        "tool --refresh-token \"$\" x",
    ] {
        let key = password("c0");
        let said = spelling.replace('$', &key);
        let quoted = serde_json::json!({ "content": said }).to_string();
        let twice = serde_json::json!({ "arguments": quoted }).to_string();
        for (media, body_of) in
            [("text/plain", &said), ("application/json", &quoted), ("application/json", &twice)]
        {
            let after = body(media, body_of);
            assert!(!after.contains(&key), "{spelling} in {media}: {after}");
        }
    }
}

#[test]
fn a_password_goes_wherever_the_answer_says_it_again() {
    for secret in ["xlcjyuqgkaoy", "NlkdGExnmlGC", "BlueESts!420"] {
        let said =
            format!(r#"{{"password":"{secret}","error":"Wrong password {secret} for bob"}}"#);
        let after = body("application/json", &said);
        assert!(!after.contains(secret), "{after}");
    }
    // Words are none, wherever else they stand.
    let said = r#"{"password":"production","mode":"production"}"#;
    assert!(body("application/json", said).contains(r#""mode":"production""#));
}

#[test]
fn what_only_describes_secrets_stays() {
    for text in [
        r#"{"bearerAuth":{"type":"http","scheme":"bearer","bearerFormat":"JWT"}}"#,
        r#"{"api_key":{"type":"apiKey","name":"X-Api-Key-2","in":"header"}}"#,
        r#"{"secrets":[{"name":"A1","createTime":"2026-11-28T04:37:15Z","state":"ENABLED"}]}"#,
        r#"{"credentials":{"expiration":"2026-11-28T04:37:15Z","status":"active"}}"#,
        r#"{"pin_code":"400001","city":"Mumbai"}"#,
        r#"{"password":"********","api_key":"sk-…1234"}"#,
        r#"{"webhook_url":"http://127.0.0.1:8000/hook","n":1}"#,
        "run --password-file /run/secrets/db1 --token-budget 50000 x",
        "client.get_secret(\"prod-db-1\") getToken('session-name-12')",
        "Public key: ssh-ed25519AAAAC3Nza1. Sort key: users2024abc, the API key: is required",
    ] {
        super::check_untouched(text);
    }
}

#[test]
fn what_may_be_masked_or_public_is_a_secret_where_its_place_says_so() {
    let mut request = super::request("/login", &[], r#"{"password":"ab***cd12"}"#.to_owned());
    retape::redact::Redactor::standard().request(&mut request);
    assert_eq!(request.body, r#"{"password":"[redacted:password]"}"#);
    let hook = format!("https://hooks.example/catch/{}", password("e5"));
    let after = body("application/json", &format!(r#"{{"webhook_url":"{hook}"}}"#));
    assert_eq!(after, r#"{"webhook_url":"[redacted:webhook_url]"}"#);
}

#[test]
fn what_ends_a_value_in_code_and_prose_still_does() {
    for text in [
        "password = get_password(user2)\n  token = tokens[12]\nsecret: Option<String2>\n",
        "  api_key = settings.keys2[0],\n  password=hash2(password1),\n",
        "PASSWORD=<your-password-1>\nAPI_KEY=${KEY_2}\nTOKEN=$(get token2)\n",
        "password=\"{password1}\" key='<your key 1>' secret=\"${SECRET_1}\" pass=\"$PASS_12345\"",
        "|password | string2 |\n|---|---|\ncookie: name2; path=/1; password",
        "set(\"password\", \"required\") get('token', 'none') f(\"api_key\", \"<your-key-1>\") env TOKEN of2",
        "The password is required. A token is about4 letters. password is the2nd word, secret is safe",
        "rows2[0].password = rows12345[0].password2; token: tokens12[1](x)",
        "  user: String2, password: String2)\n  key: &str2, password: Option<String2>) {\nuser: x, password: hash2(b), a",
        "| password | varchar(255) |\n| token | `YOUR_TOKEN_1` | x |\n| secret | required |",
        "if (password === password2) { secret => hash2(secret) } password: Some(password2)",
    ] {
        super::check_untouched(text);
    }
    let key = password("c3");
    for (before, after) in [
        ("password=$&user=ada1", "password=[redacted:password]&user=ada1"),
        ("password: $</p><p>next1", "password: [redacted:password]</p><p>next1"),
        ("call(\n  password=$)\nf(x)", "call(\n  password=[redacted:password])\nf(x)"),
        ("My password is $, and", "My password is [redacted:password], and"),
        ("the secret is `$`.", "the secret is `[redacted:secret]`."),
        ("ENV DB_PASSWORD $\n", "ENV DB_PASSWORD [redacted:DB_PASSWORD]\n"),
        ("h:5432:db:ada:$\n", "h:5432:db:ada:[redacted:pgpass]\n"),
        ("a=1;password=$;b=2", "a=1;password=[redacted:password];b=2"),
        ("user: x1, password: $, host: h1", "user: x1, password: [redacted:password], host: h1"),
        ("|password | `$` |", "|password | `[redacted:password]` |"),
        ("it's password='$ and it's", "it's password='[redacted:password] and it's"),
    ] {
        assert_eq!(body("text/plain", &before.replace('$', &key)), after);
    }
}
