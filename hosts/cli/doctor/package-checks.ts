import { createRequire } from 'node:module';
import { type Check, type Finding, ok, warn } from './checks.ts';

/** Packages that only some features need. */
const OPTIONAL = {
  '@cedar-policy/cedar-wasm': 'policies in Cedar',
  '@huggingface/transformers': 'embeddings on this machine',
  '@jitl/quickjs-wasmfile-release-sync': 'tool scripts',
  '@kubernetes/client-node': 'the operator',
  '@aws-sdk/client-sts': 'credentials of AWS',
  ioredis: 'Redis',
  dockerode: 'containers',
  '@napi-rs/keyring': 'the keyring of the system',
} as const;

/** Optional packages, and the terminal. */
export function packageChecks(env: NodeJS.ProcessEnv): readonly Check[] {
  return [
    { name: 'optional packages', run: async () => packageFindings() },
    { name: 'terminal', run: async () => terminalFinding(env) },
  ];
}

function packageFindings(): readonly Finding[] {
  const { resolve } = createRequire(import.meta.url);
  const missing = Object.entries(OPTIONAL).filter(([name]) => !isThere(resolve, name));
  const count = Object.keys(OPTIONAL).length - missing.length;
  return [
    ok(`${count} of ${Object.keys(OPTIONAL).length} are installed`),
    ...missing.map(([name, what]) =>
      warn(`${name} is not installed: ${what}`, `if you need that: npm install -g ${name}`),
    ),
  ];
}

function isThere(resolve: NodeJS.RequireResolve, name: string): boolean {
  try {
    resolve(name);
    return true;
  } catch (cause) {
    // a package for `import` only is there too
    return (cause as NodeJS.ErrnoException).code === 'ERR_PACKAGE_PATH_NOT_EXPORTED';
  }
}

function terminalFinding(env: NodeJS.ProcessEnv): Finding {
  const { isTTY, columns } = process.stdout;
  if (isTTY !== true) return ok('output is not a terminal: no colours');
  if (columns !== undefined && columns < MIN_COLUMNS)
    return warn(`only ${columns} columns wide`, `make it at least ${MIN_COLUMNS} columns wide; tables are wrapped`);
  return ok(`${columns} columns${env.NO_COLOR ? ', NO_COLOR is set' : ''}`);
}

const MIN_COLUMNS = 60;
