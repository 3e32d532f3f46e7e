// Imported before a program: writes the URL of every module it loads to stderr, and at its end Node's own ones.
import { registerHooks } from 'node:module';

registerHooks({
  load: (url, context, next) => {
    process.stderr.write(`module ${url}\n`);
    return next(url, context);
  },
});
/** Node's own modules that were run, e.g. `NativeModule internal/deps/undici/undici`; not in its types. */
const { moduleLoadList } = process as unknown as { readonly moduleLoadList: readonly string[] };
process.on('exit', () => process.stderr.write(moduleLoadList.map((name) => `module ${name}\n`).join('')));
