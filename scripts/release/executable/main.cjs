'use strict';
// The first script of the single executable. It unpacks the product into the user's cache once, and starts it from there.
//
// The product starts Node programs with `process.execPath`, which is this executable. So it also takes these forms:
//   toolmgr /absolute/path/of/a/script ARGS                                       as `node SCRIPT ARGS`
//   toolmgr [--max-old-space-size=N] --input-type=module -e CODE [--] ARGS        as `node` with the same arguments
// No command of the product is an absolute path or begins so. Everything else is the command line of the product.
const fs = require('node:fs');
const { homedir, uptime } = require('node:os');
const { basename, dirname, isAbsolute, join } = require('node:path');

const KEPT_MS = 90 * 86_400_000; // trees of other versions that were not started for so long are removed
const UNFINISHED = '.unfinished-';
const UNFINISHED_MS = 3_600_000;
/** In a tree: during which run of the machine it was unpacked, or that its files were on the disk after a restart. */
const CHECKED = '.checked';
const ON_DISK = 'on disk';
const CLOCK_S = 30; // so far clocks are adjusted
/** The mode of folders that only their user may read. */
const OWN = 0o700;

const args = process.argv.slice(2);
try {
  if (isScript(args[0])) runScript(args[0], args.slice(1));
  else if (!runCode(args)) runScript(join(unpackedTree(), 'node_modules', 'toolmgr', 'bin', 'toolmgr.js'), args);
} catch (cause) {
  console.error(`toolmgr: ${cause instanceof Error ? cause.message : cause}`);
  process.exitCode = 1;
}

function isScript(first) {
  return first !== undefined && isAbsolute(first) && (fs.statSync(first, { throwIfNoEntry: false })?.isFile() ?? false);
}

/** Runs a file as the main module: CommonJS or ESM, as Node decides. */
function runScript(file, rest) {
  process.argv.splice(1, process.argv.length, file, ...rest);
  require('node:module').runMain();
}

/** Runs the code of `-e`; false when the arguments have another form. */
function runCode([...rest]) {
  const flags = [];
  while (rest[0]?.startsWith('--max-old-space-size=') || rest[0] === '--input-type=module') flags.push(rest.shift());
  if (!flags.includes('--input-type=module') || rest[0] !== '-e' || rest[1] === undefined) return false;
  for (const flag of flags) if (flag.startsWith('--max')) require('node:v8').setFlagsFromString(flag);
  const [, code, ...own] = rest;
  process.argv.splice(1, process.argv.length, ...(own[0] === '--' ? own.slice(1) : own));
  const { compileFunction, constants } = require('node:vm');
  const load = compileFunction('return import(url)', ['url'], {
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  load(`data:text/javascript;base64,${Buffer.from(code).toString('base64')}`);
  return true;
}

/**
 * The folder of the unpacked product. Its name has the hash of the archive. It gets this name when it is complete, so a
 * killed or a second unpacking is harmless.
 */
function unpackedTree() {
  const { getAsset } = require('node:sea');
  const hash = getAsset('hash', 'utf8');
  const folder = ownFolder();
  const tree = join(folder, hash);
  if (fs.lstatSync(tree, { throwIfNoEntry: false }) === undefined) unpack(folder, tree);
  requireOwn(tree);
  if (!isWhole(tree)) {
    remove(folder, tree);
    unpack(folder, tree);
  }
  try {
    const now = new Date();
    fs.utimesSync(tree, now, now); // says that this version is in use
  } catch {
    // a cache that may not be written works as well
  }
  return tree;
}

/** `executable` in the cache of the user. @throws Error when another user could change what is below it */
function ownFolder() {
  const { XDG_CACHE_HOME: given } = process.env;
  const cache = given !== undefined && isAbsolute(given) ? given : join(homedir(), '.cache');
  const product = join(cache, 'toolmgr');
  const folder = join(product, 'executable');
  try {
    fs.mkdirSync(cache, { recursive: true, mode: OWN });
    for (const path of [product, folder]) fs.mkdirSync(path, { recursive: true, mode: OWN });
  } catch (cause) {
    throw new Error(`cannot make ${folder} (${cause.code}); set XDG_CACHE_HOME to a folder that you may write`);
  }
  requireSafeParent(cache);
  for (const path of [product, folder]) requireOwn(path);
  return folder;
}

/** @throws Error unless the folder is the user's and others may not write it: who writes it decides what runs */
function requireOwn(path) {
  const stats = fs.lstatSync(path);
  if (!stats.isDirectory()) throw new Error(`${path} is not a folder; remove it`);
  if (process.getuid === undefined) return; // Windows: the profile of the user is closed to others
  if (stats.uid !== process.getuid())
    throw new Error(`${path} belongs to another user; set XDG_CACHE_HOME to your folder`);
  if ((stats.mode & 0o022) !== 0) throw new Error(`${path} can be written by other users: chmod 700 ${path}`);
}

/** @throws Error when another user could replace folders in `path` */
function requireSafeParent(path) {
  if (process.getuid === undefined) return;
  const { uid, mode } = fs.statSync(path);
  const isOwned = uid === process.getuid() || uid === 0;
  if (isOwned && ((mode & 0o022) === 0 || (mode & 0o1000) !== 0)) return;
  throw new Error(`${path} can be written by other users; set XDG_CACHE_HOME to a folder that only you may write`);
}

function unpack(folder, tree) {
  if (process.stderr.isTTY) console.error(`toolmgr: unpacking into ${folder}, which is done once per version`);
  const unfinished = fs.mkdtempSync(join(folder, UNFINISHED));
  try {
    writeFiles(unfinished);
    try {
      fs.renameSync(unfinished, tree);
    } catch (cause) {
      // another start was first
      if (fs.lstatSync(tree, { throwIfNoEntry: false }) === undefined) throw cause;
    }
  } catch (cause) {
    throw new Error(`cannot unpack into ${folder} (${cause.code ?? cause.message})`);
  } finally {
    fs.rmSync(unfinished, { recursive: true, force: true });
  }
  removeOld(folder, basename(tree));
}

/**
 * Whether the files are those of the archive. After a power failure some may be empty, because nothing waits until they are on the
 * disk: that takes seconds. The first start after a restart of the machine compares them.
 */
function isWhole(tree) {
  const file = join(tree, CHECKED);
  const checked = fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : '';
  if (checked === ON_DISK || isThisBoot(checked)) return true;
  for (const { path, content } of archived()) {
    const name = join(tree, path);
    if (!fs.existsSync(name) || !content.equals(fs.readFileSync(name))) return false;
  }
  try {
    fs.writeFileSync(file, ON_DISK);
  } catch {
    // a cache that may not be written is compared again
  }
  return true;
}

/** Names the time since the last start of the machine: an identifier of Linux, elsewhere the second of the start. */
function bootName() {
  try {
    return fs.readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return String(Math.round(Date.now() / 1000 - uptime()));
  }
}

function isThisBoot(name) {
  const now = bootName();
  return name === now || Math.abs(Number(name) - Number(now)) < CLOCK_S;
}

/** Removes a tree; the rename is at once, so that another start does not use a part of it. */
function remove(folder, tree) {
  const old = fs.mkdtempSync(join(folder, UNFINISHED));
  fs.renameSync(tree, join(old, 'tree'));
  fs.rmSync(old, { recursive: true, force: true });
}

function writeFiles(into) {
  const made = new Set();
  for (const { path, content, isProgram } of archived()) {
    const file = join(into, path);
    const parent = dirname(file);
    if (!made.has(parent)) fs.mkdirSync(parent, { recursive: true, mode: OWN });
    made.add(parent);
    fs.writeFileSync(file, content, { mode: isProgram ? OWN : 0o600, flag: 'wx' });
  }
  fs.writeFileSync(join(into, CHECKED), bootName(), { mode: 0o600 });
}

/** The files of the archive: length of the index (4 bytes, big endian), index as JSON, contents; compressed by zstd. */
function* archived() {
  const { getRawAsset } = require('node:sea');
  const { zstdDecompressSync } = require('node:zlib');
  const whole = zstdDecompressSync(new Uint8Array(getRawAsset('tree')));
  let at = 4 + whole.readUInt32BE(0);
  for (const [path, size, isProgram] of JSON.parse(whole.toString('utf8', 4, at))) {
    yield { path, isProgram, content: whole.subarray(at, at + size) };
    at += size;
  }
}

/** Removes trees of versions that were not used for long, and what killed starts have left. */
function removeOld(folder, current) {
  for (const name of fs.readdirSync(folder)) {
    const path = join(folder, name);
    const limitMs = name.startsWith(UNFINISHED) ? UNFINISHED_MS : KEPT_MS;
    const changedMs = fs.lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY;
    if (name === current || Date.now() - changedMs < limitMs) continue;
    fs.rmSync(path, { recursive: true, force: true });
  }
}
