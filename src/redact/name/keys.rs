//! Header fields that hold the key of a client, whatever it looks like.

use super::{PLAIN_KEYS, Words, is_in};

/// Words before `key` in a header field that make it the key of something else than a client.
const OF_OTHERS: &str = "\
    socket correlation idempotence request trace span transaction tenant device job task event lock replay retry \
    operation record document resource affinity shard region namespace organization org team workspace batch";

/// The word of [`PLAIN_KEYS`] that says in a header field what the key is good for.
const QUERY: &str = "query";

/// Whether a header field of that name holds a key: `Key`, `X-Query-Key`, and not `X-Correlation-Key`.
pub(in crate::redact) fn is_key(name: &str) -> bool {
    // A name in a URL or in JSON may be that of a key in a table.
    if !name.get(name.len().saturating_sub(3)..).is_some_and(|end| end.eq_ignore_ascii_case("key"))
    {
        return false;
    }
    let words = Words::of(name);
    let before = words.before();
    words.last() == "key"
        && (before == QUERY || !(is_in(PLAIN_KEYS, before) || is_in(OF_OTHERS, before)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_clients_are_told_from_other_keys() {
        for name in "Key X-Query-Key X-Insert-Key X-Acme-Key x-key".split(' ') {
            assert!(is_key(name), "{name}");
        }
        for name in "\
            Idempotency-Key X-Idempotency-Key X-Correlation-Key Surrogate-Key X-Cache-Key X-Request-Key \
            X-Partition-Key Sec-WebSocket-Key X-Key-Id monkey X-Tenant-Key"
            .split_whitespace()
        {
            assert!(!is_key(name), "{name}");
        }
    }
}
