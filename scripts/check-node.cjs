// Runs before every npm script, on the same Node. The repo brings its own Node 24 where npm has a package
// for it; elsewhere the machine's Node is used, and this reports if that is too old.
// Written in old JavaScript, so that an old Node can parse it.
"use strict";

var found = process.versions.node;
var platform = process.platform + "-" + process.arch;

if (parseInt(found, 10) < 24) {
  console.error("Rondo needs Node 24 or newer, but this script runs on Node " + found + " from");
  console.error(process.execPath);
  console.error("");
  console.error("npm normally installs the repo's own Node. Either there is no such package for this");
  console.error("platform (" + platform + "), or optional dependencies were left out of the install.");
  console.error("");
  console.error("What to do: `npm ci --include=optional`; if that does not help, install Node 24 or newer.");
  process.exit(1);
}
