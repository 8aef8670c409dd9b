// Runs before every npm script, on whatever Node the script got. The repo brings its own Node 24 where
// npm has a package for it; elsewhere the machine's Node is used, and this says so when that is too old.
// Written in old JavaScript, because a Node that is too old must still be able to parse it.
"use strict";

var NEEDED = 24;
var found = process.versions.node;

if (parseInt(found, 10) < NEEDED) {
  console.error(
    [
      "Rondo needs Node " + NEEDED + " or newer, but this script runs on Node " + found + " (" + process.execPath + ").",
      "",
      "npm normally installs a Node of the repo's own. Either it has none for this platform (" +
        process.platform +
        "-" +
        process.arch +
        "),",
      "or optional dependencies were left out of the install.",
      "",
      "What to do: run `npm ci --include=optional`; if the message stays, install Node " +
        NEEDED +
        " or newer (https://nodejs.org).",
    ].join("\n"),
  );
  process.exit(1);
}
