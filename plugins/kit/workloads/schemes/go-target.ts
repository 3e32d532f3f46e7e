const MAX_PATH = 512;

const ELEMENT = /^[A-Za-z0-9_~][A-Za-z0-9._~+-]*$/;
/** A semantic version, a branch, a commit or `latest`. */
const VERSION = /^[A-Za-z0-9][A-Za-z0-9._+/-]{0,255}$/;
/** A folder has no control characters; it is never shell text, and its name reaches no Dockerfile. */
const FOLDER = /^(?:\.{1,2}(?:\/[\s\S]*)?|\/[\s\S]*)$/;

/** What `go://…` names; `undefined` when it is neither a package path with a host nor a folder. */
export function readGoTarget(
  text: string,
):
  | { readonly scheme: 'go'; readonly package: string; readonly version: string }
  | { readonly scheme: 'go'; readonly folder: string }
  | undefined {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are refused
  if (text.length > MAX_PATH || /[\u0000-\u001f\u007f]/.test(text)) return undefined;
  if (FOLDER.test(text)) return { scheme: 'go', folder: text };
  const [path = '', version = 'latest', ...rest] = text.split('@');
  if (rest.length > 0 || !isPackagePath(path) || !VERSION.test(version) || version.includes('..')) return undefined;
  return { scheme: 'go', package: path, version };
}

/** Rules of golang.org/x/mod/module CheckPath: elements without leading or trailing dot, the first one is a host. */
function isPackagePath(path: string): boolean {
  const [host = '', ...rest] = path.split('/');
  if (rest.length === 0 || !/^[a-z0-9][a-z0-9-]*(\.[a-z0-9-]+)+$/.test(host)) return false;
  return rest.every((element) => ELEMENT.test(element) && !element.endsWith('.'));
}
