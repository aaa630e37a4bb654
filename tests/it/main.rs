//! What retape does, through its public interface.

mod format;
