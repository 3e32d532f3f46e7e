/** npm's limit of a name with its scope. */
const MAX_NAME = 214;
const MAX_VERSION = 256;

const NAME = /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/i;
/** A version, a range or a tag. A range may have several comparators: `>=1 <2`. */
const VERSION = /^[A-Za-z0-9^~<>=*][A-Za-z0-9^~<>=*.+ |_-]*$/;

/** npm reads these as archives in the current folder. */
const FILE = /\.(tgz|tar|tar\.gz)$/i;

/** The package of `npx://…`; `undefined` when it is no name of the npm registry: a path, an address, an option. */
export function readNpmPackage(
  text: string,
): { readonly scheme: 'npx'; readonly name: string; readonly version?: string } | undefined {
  const at = text.indexOf('@', 1);
  const name = at < 0 ? text : text.slice(0, at);
  const version = at < 0 ? undefined : text.slice(at + 1);
  if (name.length > MAX_NAME || !NAME.test(name) || name.startsWith('-') || FILE.test(text)) return undefined;
  if (version === undefined) return { scheme: 'npx', name };
  if (version.length > MAX_VERSION || !VERSION.test(version)) return undefined;
  return { scheme: 'npx', name, version };
}
