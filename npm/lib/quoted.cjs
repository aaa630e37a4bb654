"use strict";

/** A text as one word for a shell, in which nothing of it means anything. */
const quoted = (text) => (/^[\w./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

/** What selects the test of that title, for a shell: runners take a title for a regular expression. One that begins
 *  with `-` they take for an option, and one that begins with `/` for an expression with flags. */
const only = (title) => quoted(title.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&").replace(/^[-/]/, "[$&]"));

/** What selects a file, where the runner takes a path for a regular expression: a dot may stand for itself. */
const onlyFile = (path) => quoted(path.replace(/[\\^$*+?()[\]{}|]/g, "\\$&"));

module.exports = { only, onlyFile, quoted };
