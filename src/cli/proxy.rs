//! What lets the command go through the proxy and trust it.

use std::fs::{self, DirBuilder};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustls_native_certs::load_native_certs;

use crate::error::{Error, Result};
use crate::serve::recorder::{BUNDLES, bundles};
use crate::session::Session;

/// Where PHP reads further settings.
const PHP_FOLDERS: &str = "PHP_INI_SCAN_DIR";

/// The certificates to trust, in a folder of our own, as long as the command runs.
#[derive(Debug)]
pub(super) struct Trust {
    folder: PathBuf,
}

impl Trust {
    /// Writes the certificates that this machine trusts, those that the environment names, and that of
    /// the session's authority.
    pub(super) fn new(session: &Session) -> Result<Self> {
        let mut roots: Vec<Vec<u8>> =
            load_native_certs().certs.into_iter().map(|it| it.to_vec()).collect();
        roots.extend(session.proxy_certificate().map(<[u8]>::to_vec));
        let trust = Self { folder: private_folder()? };
        let mut pem: String = roots.iter().map(|root| to_pem(root)).collect();
        // What the person trusts by such a variable is trusted beside.
        for text in bundles().iter().filter_map(|file| fs::read_to_string(file).ok()) {
            pem.push_str(text.trim_end());
            pem.push('\n');
        }
        write(&trust.bundle(), pem.as_bytes())?;
        write(&trust.store(), &key_store(&roots))?;
        trust.write_php()?;
        Ok(trust)
    }

    /// The environment of a command that is to ask through the session.
    pub(super) fn variables(&self, session: &Session) -> Vec<(&'static str, String)> {
        let address = session.address();
        let url = session.url();
        let mut variables: Vec<(&'static str, String)> = Vec::new();
        for name in
            ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"]
        {
            variables.push((name, url.clone()));
        }
        // Every host goes through us: `[proxy]` of a retape.toml says which ones pass.
        variables.extend(["NO_PROXY", "no_proxy"].map(|name| (name, String::new())));
        variables.push(("NODE_USE_ENV_PROXY", "1".to_owned()));
        let bundle = self.bundle().display().to_string();
        variables.extend(BUNDLES.map(|name| (name, bundle.clone())));
        let (host, port, store) = (address.ip(), address.port(), self.store());
        let mut java = std::env::var("JAVA_TOOL_OPTIONS").unwrap_or_default();
        for scheme in ["http", "https"] {
            java.push_str(&format!(" -D{scheme}.proxyHost={host} -D{scheme}.proxyPort={port}"));
        }
        java.push_str(&format!(
            " -Dhttp.nonProxyHosts= -Djavax.net.ssl.trustStore={} -Djavax.net.ssl.trustStoreType=jks",
            store.display()
        ));
        variables.push(("JAVA_TOOL_OPTIONS", java.trim_start().to_owned()));
        // An empty folder stands for those that PHP was built with.
        let php = std::env::var(PHP_FOLDERS).unwrap_or_default();
        let separator = if cfg!(windows) { ';' } else { ':' };
        variables.push((PHP_FOLDERS, format!("{php}{separator}{}", self.php().display())));
        variables
    }

    /// Settings for PHP, whose `curl` reads no variable. A text in such quotes means itself.
    fn write_php(&self) -> Result<()> {
        let folder = self.php();
        fs::create_dir(&folder).map_err(|source| Error::io("create folder", &folder, source))?;
        let bundle = self.bundle();
        let bundle = bundle.display();
        let settings = format!("curl.cainfo = '{bundle}'\nopenssl.cafile = '{bundle}'\n");
        write(&folder.join("retape.ini"), settings.as_bytes())
    }

    fn php(&self) -> PathBuf {
        self.folder.join("php")
    }

    fn bundle(&self) -> PathBuf {
        self.folder.join("certificates.pem")
    }

    fn store(&self) -> PathBuf {
        self.folder.join("certificates.jks")
    }
}

impl Drop for Trust {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// A folder in which nobody else can put anything.
fn private_folder() -> Result<PathBuf> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    let name = format!("retape-proxy-{}-{now}", std::process::id());
    let folder = std::env::temp_dir().join(name);
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(&folder).map_err(|source| Error::io("create folder", &folder, source))?;
    Ok(folder)
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let written = fs::File::create_new(path).and_then(|mut file| file.write_all(bytes));
    written.map_err(|source| Error::io("create file", path, source))
}

fn to_pem(certificate: &[u8]) -> String {
    let text = STANDARD.encode(certificate);
    let mut pem = "-----BEGIN CERTIFICATE-----\n".to_owned();
    for line in text.as_bytes().chunks(64) {
        pem.push_str(&String::from_utf8_lossy(line));
        pem.push('\n');
    }
    pem + "-----END CERTIFICATE-----\n"
}

/// The certificates as Java reads them. Its digest is that of a password, which nobody asks for where
/// there are no keys, so it stands empty.
fn key_store(certificates: &[Vec<u8>]) -> Vec<u8> {
    let length = |bytes: &[u8]| u32::try_from(bytes.len()).unwrap_or_default().to_be_bytes();
    let text = |text: &str| {
        let length = u16::try_from(text.len()).unwrap_or_default();
        [&length.to_be_bytes()[..], text.as_bytes()].concat()
    };
    let mut store = [0xfeed_feed_u32, 2].map(u32::to_be_bytes).concat();
    store.extend(u32::try_from(certificates.len()).unwrap_or_default().to_be_bytes());
    for (number, certificate) in certificates.iter().enumerate() {
        store.extend(2_u32.to_be_bytes());
        store.extend(text(&format!("retape-{number}")));
        store.extend(0_u64.to_be_bytes());
        store.extend(text("X.509"));
        store.extend(length(certificate));
        store.extend(certificate);
    }
    store.extend([0; 20]);
    store
}
