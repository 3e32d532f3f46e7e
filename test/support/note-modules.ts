// Imported before a program: prints the URL of every loaded module to stderr, and at the end Node's internal modules.
import { registerHooks } from 'node:module';

registerHooks({
  load: (url, context, next) => {
    process.stderr.write(`module ${url}\n`);
    return next(url, context);
  },
});
/** Node's internal modules that were loaded, e.g. `NativeModule internal/deps/undici/undici`; not in Node's types. */
const { moduleLoadList } = process as unknown as { readonly moduleLoadList: readonly string[] };
process.on('exit', () => process.stderr.write(moduleLoadList.map((name) => `module ${name}\n`).join('')));
