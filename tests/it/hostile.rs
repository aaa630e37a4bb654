//! Folders of cassettes that a stranger has prepared.

use std::os::unix::fs::symlink;
use std::path::Path;

use crate::stage::Stage;
use crate::support::client::get;
use crate::support::upstream::Upstream;

fn files(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_link_leads_no_recording_out_of_its_folder() {
    let (stage, outside) = (Stage::new(), tempfile::tempdir().unwrap());
    symlink(outside.path(), stage.folder().join("linked")).unwrap();
    let upstream = Upstream::json(|_| "{}".to_owned());
    let session = stage.record(&upstream).await;

    let answer = get(&format!("{}/linked/evil/-/a", session.url()));
    let error = session.finish().await.unwrap_err();

    assert_eq!(files(outside.path()), [""; 0]);
    assert!(answer.text().contains("it is a link"), "{answer:?}");
    assert!(format!("{error:?}").contains("it is a link"), "{error:?}");
    assert_eq!(upstream.asked().len(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bodies_are_not_written_to_where_a_link_leads() {
    let (stage, outside) = (Stage::new(), tempfile::tempdir().unwrap());
    let old = outside.path().join("0".repeat(32));
    std::fs::write(&old, "not a body of ours").unwrap();
    symlink(outside.path(), stage.folder().join("tape.bodies")).unwrap();
    let upstream = Upstream::json(|_| format!("[\"{}\"]", "long ".repeat(20_000)));
    let session = stage.record(&upstream).await;

    get(&format!("{}/a", session.url()));
    let error = session.finish().await.unwrap_err();

    assert!(format!("{error:?}").contains("it is a link"), "{error:?}");
    assert_eq!(files(outside.path()), ["0".repeat(32)]);
    assert!(stage.file("tape.json.part").contains("long long"), "the journal is lost");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_journal_that_is_not_ours_is_never_touched() {
    let stage = Stage::new();
    let (victim, part) = (stage.folder().join("victim"), stage.folder().join("tape.json.part"));
    let upstream = Upstream::json(|_| "{}".to_owned());
    let check = || async {
        let session = stage.record(&upstream).await;
        let answer = get(&format!("{}/a", session.url()));
        session.finish().await.unwrap_err();
        assert!(answer.text().contains("journal"), "{answer:?}");
    };

    for text in ["keep me", "keep me\n", "{\"retape\":1}"] {
        std::fs::write(&part, text).unwrap();
        check().await;
        assert_eq!(std::fs::read_to_string(&part).unwrap(), text);
    }
    for text in ["", "keep me"] {
        std::fs::remove_file(&part).unwrap();
        std::fs::write(&victim, text).unwrap();
        symlink(&victim, &part).unwrap();
        check().await;
        assert_eq!(std::fs::read_to_string(&victim).unwrap(), text);
    }
}
