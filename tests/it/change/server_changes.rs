//! Changes of real recordings whose meaning is known are called by their names.

use crate::server_changes::score;

/// One of each kind; `cargo bench -- "server changes"` makes all of them.
#[test]
fn no_breaking_change_of_a_server_is_hidden_and_few_alarms_are_false() {
    let score = score(1);

    assert!(score.holds(), "{score}");
}
