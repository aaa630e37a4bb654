//! The program that runs: the texts that people wrote into it stand there as they are.

use std::collections::HashSet;
use std::fs::File;
use std::io::Read;

use memchr::memmem;

/// It is read in pieces of so many bytes.
const PIECE: usize = 1 << 20;

/// Those of these values that stand in the program. None, if it cannot be read.
pub(crate) fn written(values: &HashSet<String>) -> HashSet<String> {
    let path = std::env::current_exe();
    let program = path.and_then(|path| File::open(&path));
    program.map(|program| found(values, program)).unwrap_or_default()
}

fn found(values: &HashSet<String>, mut program: impl Read) -> HashSet<String> {
    let longest = values.iter().map(String::len).max().unwrap_or_default();
    let mut left: Vec<(memmem::Finder<'_>, &String)> =
        values.iter().map(|value| (memmem::Finder::new(value), value)).collect();
    let mut found = HashSet::new();
    let (mut text, mut kept) = (vec![0; PIECE + longest], 0);
    while !left.is_empty() {
        let Ok(count @ 1..) = program.read(&mut text[kept..]) else { break };
        let end = kept + count;
        let here = left.extract_if(.., |(finder, _)| finder.find(&text[..end]).is_some());
        found.extend(here.map(|(_, value)| value.clone()));
        // A value may go on in the next piece.
        kept = end.min(longest);
        text.copy_within(end - kept..end, 0);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_into_the_program_is_found_there() {
        let at_run_time = blake3::hash(b"no literal").to_hex().to_string();
        let values = HashSet::from(["a literal of this test".to_owned(), at_run_time]);

        assert_eq!(written(&values), HashSet::from(["a literal of this test".to_owned()]));
    }

    #[test]
    fn a_value_on_the_edge_of_two_pieces_is_found() {
        let values = HashSet::from(["needle".to_owned(), "another".to_owned()]);
        for before in PIECE - 8..PIECE + 8 {
            let text = [&vec![b'x'; before][..], b"needle", &[b'x'; 40]].concat();

            assert_eq!(found(&values, &*text), HashSet::from(["needle".to_owned()]), "{before}");
        }
    }
}
