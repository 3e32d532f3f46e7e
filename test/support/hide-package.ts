import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Environment of Node.js processes that do not find a package, as where it is not installed. `folder` gets the hook. */
export async function hidePackage(folder: string, name: string): Promise<Readonly<Record<string, string>>> {
  const file = join(folder, 'hide.mjs');
  await writeFile(file, HOOK);
  return { HIDDEN: name, NODE_OPTIONS: `--import ${file}` };
}

const HOOK = `import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
const name = process.env.HIDDEN;
registerHooks({ resolve(specifier, context, next) {
  if (specifier !== name && !specifier.startsWith(name + '/')) return next(specifier, context);
  const from = fileURLToPath(context.parentURL);
  throw Object.assign(new Error("Cannot find package '" + name + "' imported from " + from), { code: 'ERR_MODULE_NOT_FOUND' });
} });
`;
