// Makes the root file system of the image: Node.js, the libraries it needs, CA certificates and the application.
// Arguments: folder of the repository, built and with production packages only; folder to write.
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import tls from 'node:tls';
import { removeUnusedFiles } from './unused-files.ts';

const USER = 65_532;
/** Packages that no command loads. */
const UNUSED_PACKAGES = ['@types', 'undici-types'];

const [repository = '', root = ''] = process.argv.slice(2);

copyNode();
copyApplication();
writeSystemFiles();

function copyNode(): void {
  const into = join(root, 'usr/bin/node');
  copy(process.execPath, into);
  execFileSync('strip', [into], { stdio: 'inherit' });
  const libraries = execFileSync('ldd', [process.execPath], { encoding: 'utf8' }).match(/\/\S+/g) ?? [];
  for (const library of libraries) copy(library, join(root, library));
}

function copyApplication(): void {
  const app = join(root, 'app');
  const keep = (path: string): void => {
    const from = join(repository, path);
    if (existsSync(from)) cpSync(from, join(app, path), { recursive: true, verbatimSymlinks: true });
  };
  for (const workspace of ['core', 'plugins', 'hosts']) {
    for (const part of ['package.json', 'dist', 'bin', 'node_modules']) keep(join(workspace, part));
  }
  for (const path of ['package.json', 'LICENSE', 'node_modules']) keep(path);
  removeUnusedFiles(app);
  for (const name of UNUSED_PACKAGES) rmSync(join(app, 'node_modules', name), { recursive: true, force: true });
  const bin = join(app, 'hosts/bin/toolmgr.js');
  // there is no `env` in the image
  writeFileSync(bin, readFileSync(bin, 'utf8').replace(/^#!.*/, '#!/usr/bin/node'));
  chmodSync(bin, 0o755);
  symlinkSync('../../app/hosts/bin/toolmgr.js', join(root, 'usr/bin/toolmgr'));
  copyFileSync(join(import.meta.dirname, 'health.mjs'), join(app, 'health.mjs'));
}

function writeSystemFiles(): void {
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  write(
    'etc/passwd',
    `root:x:0:0:root:/:/sbin/nologin\nnonroot:x:${USER}:${USER}:nonroot:/home/nonroot:/sbin/nologin\n`,
  );
  write('etc/group', `root:x:0:\nnonroot:x:${USER}:\n`);
  write('etc/nsswitch.conf', 'passwd: files\ngroup: files\nhosts: files dns\n');
  write('etc/ssl/certs/ca-certificates.crt', `${tls.rootCertificates.join('\n')}\n`);
  mkdirSync(join(root, 'home/nonroot'), { recursive: true });
  execFileSync('chown', [`${USER}:${USER}`, join(root, 'home/nonroot')]);
  mkdirSync(join(root, 'tmp'));
  chmodSync(join(root, 'tmp'), 0o1777);
}

function copy(from: string, into: string): void {
  mkdirSync(dirname(into), { recursive: true });
  copyFileSync(from, into);
  chmodSync(into, 0o755);
}
