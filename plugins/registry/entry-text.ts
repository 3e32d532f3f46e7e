/** Control characters, and those that reorder or hide text on a terminal. Line feeds are allowed. */
const UNSHOWN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is found
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/;
const ALL_UNSHOWN = new RegExp(UNSHOWN, 'g');

/** Text of a foreign document that is only shown: without characters that change a terminal or hide text. */
export function shownText(text: string): string {
  return text.replace(ALL_UNSHOWN, '');
}

/** Whether a text that is used, and not only shown, has characters that are not visible. */
export function hasControlCharacters(text: string): boolean {
  return UNSHOWN.test(text);
}

/** Names of entries: as in `server.json` (`io.github.org/name`), or one part. No `..`, so that a name is no path. */
export function isEntryName(name: string): boolean {
  return name.length <= 200 && NAME.test(name) && !name.includes('..');
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*(\/[A-Za-z0-9][A-Za-z0-9._-]*)?$/;

/** `npx://`, `uvx://` or `go://` with a published package: no local path, no option, no shell text. */
export function isPackageTarget(target: string): boolean {
  const [, scheme, name = ''] = /^(npx|uvx|go):\/\/(.+)$/.exec(target) ?? [];
  if (scheme === undefined || target.length > 300 || name.includes('..')) return false;
  return PACKAGES[scheme]?.test(name) === true;
}

const VERSION = '(@[A-Za-z0-9][A-Za-z0-9._+-]*)?$';
const PACKAGES: Readonly<Record<string, RegExp>> = {
  npx: new RegExp(`^(@[a-z0-9][a-z0-9._~-]*/)?[a-z0-9][a-z0-9._~-]*${VERSION}`, 'i'),
  uvx: new RegExp(`^[a-z0-9][a-z0-9._-]*(\\[[a-z0-9,._-]+\\])?${VERSION}`, 'i'),
  go: new RegExp(`^[a-z0-9][a-z0-9-]*(\\.[a-z0-9-]+)+(/[a-z0-9._~-]+)*${VERSION}`, 'i'),
};

/**
 * Whether a registry may give a variable a value: not one that changes which code is loaded, which programs are found or where
 * network traffic goes.
 */
export function isSettableVariable(name: string): boolean {
  return !RESERVED.test(name);
}

const RESERVED = new RegExp(
  [
    '^(LD_|DYLD_|NPM_CONFIG_|PIP_|UV_|TOOLMGR_|DOCKER_|GIT_|MCP_TRANSPORT$|GLIBC_TUNABLES$)',
    '^(PATH|HOME|SHELL|ENV|BASH_ENV|IFS|PS4|CDPATH|PROMPT_COMMAND|GCONV_PATH|OPENSSL_(CONF|MODULES|ENGINES)|BROWSER)$',
    '^(HTTP|HTTPS|ALL|NO|FTP)_PROXY$',
    '^(NODE_(OPTIONS|PATH|EXTRA_CA_CERTS|TLS_REJECT_UNAUTHORIZED|REPL_EXTERNAL_MODULE)|SSL_CERT_(FILE|DIR))$',
    '^(PYTHON(PATH|HOME|STARTUP|INSPECT|BREAKPOINT|USERBASE|WARNINGS)|PERL5(LIB|OPT|DB)|PERLLIB|RUBY(OPT|LIB))$',
    '^(GO(FLAGS|PROXY|PRIVATE|SUMDB|NOSUMDB|NOSUMCHECK|TOOLCHAIN|ENV)|(_)?JAVA_(TOOL_)?OPTIONS|JDK_JAVA_OPTIONS)$',
    '^(REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE)$',
  ].join('|'),
  'i',
);
