//! Memory for what is sent.

use memmap2::MmapMut;

/// A piece of memory that is filled from its beginning on.
///
/// # Rationale
///
/// Where a large cassette lies in pages of 4 KiB, the way to an answer takes as long as to fetch it: the
/// processor remembers where a thousand or two of them are. The system is asked for larger pages. Where it
/// has none, or there is too little to be worth one, it is memory like any other.
#[derive(Debug)]
pub(super) struct Block {
    memory: Memory,
    filled: usize,
}

#[derive(Debug)]
enum Memory {
    Small(Vec<u8>),
    Large(MmapMut),
}

/// The size of a large page.
const PAGE: usize = 2 * 1024 * 1024;

impl Default for Block {
    fn default() -> Self {
        Self { memory: Memory::Small(Vec::new()), filled: 0 }
    }
}

impl Block {
    /// A block with room for so many bytes.
    pub(super) fn new(size: usize) -> Self {
        let memory = if size < PAGE { None } else { large(size) };
        Self { memory: memory.unwrap_or_else(|| Memory::Small(vec![0; size])), filled: 0 }
    }

    /// How much is not filled.
    pub(super) fn room(&self) -> usize {
        self.memory.all().len() - self.filled
    }

    /// The next bytes that are not filled.
    pub(super) fn take(&mut self, length: usize) -> &mut [u8] {
        let start = self.filled;
        self.filled += length;
        let all = match &mut self.memory {
            Memory::Small(bytes) => &mut **bytes,
            Memory::Large(map) => &mut **map,
        };
        &mut all[start..start + length]
    }
}

fn large(size: usize) -> Option<Memory> {
    let map = MmapMut::map_anon(size).ok()?;
    #[cfg(target_os = "linux")]
    let _ = map.advise(memmap2::Advice::HugePage);
    Some(Memory::Large(map))
}

impl Memory {
    fn all(&self) -> &[u8] {
        match self {
            Self::Small(bytes) => bytes,
            Self::Large(map) => map,
        }
    }
}

/// What is filled.
impl AsRef<[u8]> for Block {
    fn as_ref(&self) -> &[u8] {
        &self.memory.all()[..self.filled]
    }
}
