//! Files as they come from strangers: links, pipes and devices may stand where a file is expected.

use std::fs;
use std::io::{Error, ErrorKind, Result};
use std::path::Path;

use crate::cassette::Name;
use crate::error;

/// Reads a file. A pipe would be waited for, and a device may have no end.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>> {
    if !is_readable(path)? {
        return Err(Error::new(ErrorKind::InvalidInput, "it is a pipe or a device, not a file"));
    }
    fs::read(path)
}

/// The same of a text.
pub(crate) fn read_text(path: &Path) -> Result<String> {
    let text = String::from_utf8(read(path)?);
    text.map_err(|source| Error::new(ErrorKind::InvalidData, source))
}

/// Reads a file that belongs to another one. A link may lead to what is not meant to be shown.
pub(super) fn read_own(path: &Path) -> Result<Vec<u8>> {
    refuse_link(path)?;
    read(path)
}

/// Refuses a link, whether what it leads to is there or not.
pub(super) fn refuse_link(path: &Path) -> Result<()> {
    match fs::symlink_metadata(path) {
        Ok(data) if data.is_symlink() => {
            Err(Error::new(ErrorKind::InvalidInput, "it is a link, and may lead anywhere"))
        }
        _ => Ok(()),
    }
}

/// Refuses a place for a cassette that a link leads out of its folder. The folder itself may be a link.
pub(super) fn refuse_linked(folder: &Path, name: &Name) -> error::Result<()> {
    let mut path = folder.to_owned();
    let (above, _) = name.as_str().rsplit_once('/').unwrap_or_default();
    for part in above.split('/').filter(|part| !part.is_empty()) {
        path.push(part);
        refuse_link(&path).map_err(|source| {
            error::Error::io("write below folder", &path, source).with_hint(
                "replace the link by a folder, or name what it leads to: `--cassettes DIR`",
            )
        })?;
    }
    Ok(())
}

/// Whether it can be read to its end. What a folder is says who reads it.
fn is_readable(path: &Path) -> Result<bool> {
    let kind = fs::metadata(path)?.file_type();
    Ok(kind.is_file() || kind.is_dir())
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_device_is_not_read_and_no_link_is_written_through() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        symlink("/dev/zero", at("endless")).unwrap();
        fs::write(at("victim"), "before").unwrap();
        symlink(at("victim"), at("link")).unwrap();

        assert_eq!(read(&at("endless")).unwrap_err().kind(), ErrorKind::InvalidInput);
        assert_eq!(read(&at("link")).unwrap(), b"before");
        assert_eq!(read_own(&at("link")).unwrap_err().kind(), ErrorKind::InvalidInput);
        drop(crate::store::disk::create(&at("link")).unwrap());
        assert_eq!(fs::read(at("victim")).unwrap(), b"before");
        assert!(fs::symlink_metadata(at("link")).unwrap().is_file());
    }
}
