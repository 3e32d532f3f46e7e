// Node does not find the package that the variable HIDDEN names, as where it is not installed.
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';

registerHooks({
  resolve(specifier, context, next) {
    const name = process.env.HIDDEN;
    if (specifier !== name && !specifier.startsWith(`${name}/`)) return next(specifier, context);
    const cause = new Error(
      `Cannot find package '${name}' imported from ${fileURLToPath(context.parentURL ?? 'file:///')}`,
    );
    throw Object.assign(cause, { code: 'ERR_MODULE_NOT_FOUND' });
  },
});
