//! Fields that were not there before: told, and no break for who ignores what it does not know.

use serde_json::json;

use super::edit::{ServerChange, objects};
use super::set::Set;
use crate::dice::Random;

pub fn field(set: &Set, random: &mut Random) -> Vec<ServerChange> {
    let mut keys: Vec<_> = set.fields.iter().collect();
    keys.dedup_by_key(|(key, _)| (&key.endpoint, &key.tag, &key.place));
    let made = keys.into_iter().map(|(key, field)| {
        let sites = match random.chance(50) {
            true => field.sites.clone(),
            false => vec![field.sites[random.below(field.sites.len())].clone()],
        };
        let value = [json!(1), json!("new"), json!({"a": [true]}), json!(null)];
        let value = value[random.below(4)].clone();
        let what = format!("{} {}/added {value}", key.tag, key.place);
        let edit = move |all: &mut _| {
            objects(all, &sites, |object, _| {
                object.insert("added_by_the_server".to_owned(), value.clone());
            });
        };
        ServerChange::new(what, edit).at(&key.endpoint)
    });
    made.collect()
}
