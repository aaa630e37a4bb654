"use strict";

/** A text as one word for a shell, in which nothing of it means anything. */
const quoted = (text) => (/^[\w./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

/** What selects the test of that title, for a shell: runners take a title for a regular expression. */
const only = (title) => quoted(title.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));

module.exports = { only, quoted };
