/** Runs in the builder stage: makes `/app/run` of the bin that npx would choose. Its argument is the name of the package. */
export const NODE_ENTRY = [
  'const fs = require("fs"), path = require("path");',
  'const name = process.argv[1], folder = path.join("/app/node_modules", name);',
  'const { bin } = JSON.parse(fs.readFileSync(path.join(folder, "package.json"), "utf8"));',
  'const bare = name.split("/").pop();',
  'const bins = typeof bin === "string" ? { [bare]: bin } : bin || {};',
  'const all = Object.keys(bins);',
  'const key = new Set(Object.values(bins)).size === 1 ? all[0] : bare in bins ? bare : undefined;',
  'if (!key) {',
  '  const why = all.length ? "has several programs, none named " + bare + ": " + all.join(", ") : "has no program";',
  '  console.error("the package " + name + " " + why);',
  '  process.exit(1);',
  '}',
  'const file = path.join(folder, bins[key]);',
  'if (fs.readFileSync(file, "latin1").startsWith("#!")) {',
  '  fs.chmodSync(file, 0o755);',
  '  fs.symlinkSync(file, "/app/run");',
  '} else {',
  '  fs.writeFileSync("/app/run", "#!/bin/sh\\nexec node " + JSON.stringify(file) + " \\"$@\\"\\n", { mode: 0o755 });',
  '}',
].join('\n');

/** Runs in the builder stage: makes `/app/run` of the program that is named like the package, or of its only one. */
export const PYTHON_ENTRY = [
  'import os, re, sys',
  'plain = lambda text: re.sub(r"[-_.]+", "-", text).lower()',
  'name = sys.argv[1]',
  'have = sorted(os.listdir("/app/bin"))',
  'fits = [one for one in have if plain(one) == plain(name)] or (have if len(have) == 1 else [])',
  'if not fits:',
  '    sys.exit("the package " + name + " has several programs, none named like it: " + ", ".join(have))',
  'os.symlink("/app/bin/" + fits[0], "/app/run")',
].join('\n');
