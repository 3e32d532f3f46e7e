import { existsSync, globSync, readFileSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileAt, packageOf, resolved } from './resolve-import.ts';

const CODE = /\.[cm]?js$/;
/** `import x from 'y'`, `import 'y'`, `export … from 'y'`, `import('y')` */
const IMPORTS = /(?:\bfrom|\bimport\s*\(?)\s*(['"])([^'"\n]+)\1/g;
/** `require('y')` and `require.resolve('y')`, also with other names of `require` */
const REQUIRES = /\w*[rR]equire(?:\.resolve)?\s*\(\s*(['"`])([^'"`\n]+)\1/g;
const TEXTS = /(['"`])([@\w.][\w.@/-]{1,99})\1/g;
/** Programs that compute what they load. */
const COMPUTED = /\b_*(?:require|import)\(\s*(?!\/\*)[\w`]/;

/**
 * Removes the programs of a tree of packages that no program of the packages `roots` reaches, and packages without any
 * that is reached.
 *
 * It keeps more than is loaded: each text in a program that could be the name of a file or of a package counts as an
 * import, and a package that computes the names of its imports stays whole.
 *
 * @param modules a folder `node_modules`
 */
export function removeUnreached(modules: string, roots: readonly string[]): void {
  const reached = reachedFrom(roots.flatMap((name) => programsOf(join(modules, name))));
  for (const folder of packagesBelow(modules)) {
    const programs = programsOf(folder);
    const unused = programs.filter((file) => !reached.has(file));
    if (programs.length > 0 && unused.length === programs.length) removePackage(folder);
    else for (const file of unused) rmSync(file);
  }
}

/** A package may contain others, which are reached or not by themselves. */
function removePackage(folder: string): void {
  if (!existsSync(join(folder, 'node_modules'))) rmSync(folder, { recursive: true });
  else for (const file of programsOf(folder)) rmSync(file);
}

function reachedFrom(start: readonly string[]): ReadonlySet<string> {
  const reached = new Set(start);
  const whole = new Set<string>();
  for (const file of reached) {
    const text = readFileSync(file, 'utf8');
    const own = packageOf(file);
    const requires = /\brequire\(/.test(text) && !/^import\s/m.test(text);
    const add = (path: string | undefined): void => void (path && CODE.test(path) && reached.add(path));
    for (const [, , name = ''] of text.matchAll(IMPORTS)) add(resolved(name, file, 'import'));
    for (const [, , name = ''] of text.matchAll(REQUIRES)) add(resolved(name, file, 'require'));
    for (const [, , name = ''] of text.matchAll(TEXTS)) {
      add(fileAt(join(dirname(file), name)));
      if (CODE.test(name) && !name.includes('/'))
        for (const path of programsOf(own)) if (basename(path) === basename(name)) add(path);
      if (isPackageName(name)) add(resolved(name, file, requires ? 'require' : 'import'));
    }
    if (!COMPUTED.test(text) || whole.has(own)) continue;
    whole.add(own);
    for (const path of programsOf(own)) add(path);
  }
  return reached;
}

function isPackageName(text: string): boolean {
  return /^(?:@[\w.-]+\/)?\w[\w.-]*$/.test(text) && !CODE.test(text);
}

/** The packages of a folder `node_modules`, and those inside of them. */
function packagesBelow(modules: string): readonly string[] {
  const folders = globSync(['*/package.json', '@*/*/package.json'], { cwd: modules });
  return folders.flatMap((path) => {
    const folder = join(modules, dirname(path));
    const inner = join(folder, 'node_modules');
    return [folder, ...(existsSync(inner) ? packagesBelow(inner) : [])];
  });
}

const programs = new Map<string, readonly string[]>();
/** The programs of a package, without those of packages inside of it. */
function programsOf(folder: string): readonly string[] {
  const known = programs.get(folder);
  if (known !== undefined) return known;
  const found = globSync('**/*.{js,cjs,mjs}', { cwd: folder, exclude: (path) => path === 'node_modules' });
  const files = found.map((path) => join(folder, path));
  programs.set(folder, files);
  return files;
}
