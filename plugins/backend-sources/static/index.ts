import { type Backend, definePlugin } from '@toolmgr/core';
import { headerName, headerValue } from '@toolmgr/plugins/kit/credentials';
import { readSecret, type SecretSlots } from '@toolmgr/plugins/kit/secrets';
import { z } from 'zod';

const ADDRESS = 'backend-sources/static';

const httpUrl = z
  .string()
  .regex(/^https?:\/\//, { error: 'url must begin with http:// or https://', abort: true })
  .refine((text) => URL.canParse(text), 'url must begin with http:// or https:// and a host')
  .refine((text) => !URL.canParse(text) || new URL(text).password === '', 'url must not contain a password');

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;

const commandSchema = z.strictObject({
  file: z.string().min(1).describe('path of the program, or its name on PATH'),
  args: z.array(z.string()).default([]).describe('exact arguments, without a shell'),
  env: z.record(z.string(), z.string()).default({}).describe('variables in addition to the minimal environment'),
  envFrom: z
    .record(z.string().regex(VARIABLE, 'expected the name of an environment variable'), z.string().min(1))
    .optional()
    .describe('the same with the names of the environment variables of toolmgr that hold the values'),
  cwd: z.string().optional().describe('working directory of the program'),
});

/** One backend: the keys of the contract's `backends[]`, and the extensions `command`, `era` and `sessions`. */
const backend = z
  .strictObject({
    name: z.string().min(1).describe('name of the backend in tool prefixes, logs and settings'),
    url: httpUrl.optional().describe('URL of an HTTP backend; without a password'),
    transport: z.enum(['sse', 'streamable-http', 'stdio']).describe('transport of the backend'),
    type: z.enum(['entry', '']).optional().describe('`entry` = a remote server that is connected directly'),
    caBundlePath: z.string().optional().describe('PEM file; only for type `entry`'),
    clientCertificate: z
      .strictObject({
        certPath: z.string().min(1).describe('PEM file: the certificate and its chain'),
        keyPath: z.string().min(1).describe('PEM file: its key, without a passphrase'),
      })
      .optional()
      .describe('presented to a server that demands a client certificate (mutual TLS); only for https (extension)'),
    addresses: z
      .enum(['public', 'network'])
      .optional()
      .describe(
        'where the host of the URL may lead: to public addresses, or to private ones too; without it, anywhere (extension)',
      ),
    metadata: z.record(z.string(), z.string()).optional().describe('labels of the operator'),
    command: commandSchema.optional().describe('the program of a stdio backend (an extension of the contract)'),
    era: z
      .enum(['auto', 'legacy', 'modern'])
      .optional()
      .describe('MCP revision of the backend; auto negotiates it (extension)'),
    sessions: z.enum(['perClient', 'shared']).optional().describe('one backend session per client, or one (extension)'),
    headers: z
      .record(headerName, headerValue)
      .optional()
      .describe('headers of every request, with values that are no secrets; they win over the strategy (extension)'),
    headersEnv: z
      .record(headerName, z.string().min(1))
      .optional()
      .describe('the same with the names of the environment variables that hold the values (extension)'),
  })
  .superRefine((read, context) => {
    const addIssue = (path: string, message: string): void =>
      context.addIssue({ code: 'custom', path: [path], message });
    const isStdio = read.transport === 'stdio';
    if (isStdio && read.command === undefined) addIssue('command', 'transport stdio needs a command');
    if (isStdio && read.url !== undefined) addIssue('url', 'transport stdio has a command and no url');
    if (!isStdio && read.url === undefined) addIssue('url', `transport ${read.transport} needs a url`);
    if (!isStdio && read.command !== undefined) addIssue('command', 'a command needs transport stdio');
    const named = Object.keys(read.headers ?? {}).map((name) => name.toLowerCase());
    if (Object.keys(read.headersEnv ?? {}).some((name) => named.includes(name.toLowerCase()))) {
      addIssue('headersEnv', 'a header is in headers too; remove one of the two');
    }
    for (const key of ['headers', 'headersEnv'] as const) {
      if (isStdio && read[key] !== undefined) addIssue(key, 'a program gets no headers; remove them');
    }
    if (read.clientCertificate !== undefined && read.url?.startsWith('https:') !== true) {
      addIssue('clientCertificate', 'clientCertificate needs a url that begins with https://');
    }
    if (read.caBundlePath !== undefined && read.type !== 'entry') {
      addIssue('caBundlePath', 'caBundlePath applies only to backends of type entry');
    }
  });

const config = z
  .strictObject({
    group: z
      .string()
      .optional()
      .describe('sets `metadata.group` of every backend, also when the backend has another value'),
    backends: z.array(backend).describe('the backends, with unique names'),
  })
  .superRefine(({ backends }, context) => {
    const seen = new Set<string>();
    for (const [index, { name }] of backends.entries()) {
      if (seen.has(name)) {
        context.addIssue({ code: 'custom', path: ['backends', index, 'name'], message: `name ${name} is a duplicate` });
      }
      seen.add(name);
    }
  });

type Listed = z.output<typeof backend>;

/** The values of `envFrom`. @throws GatewayFault SECRET_MISSING with the setting and the name */
async function secretsOf({ command, name: backend }: Listed, slots: SecretSlots): Promise<Environment> {
  const read = async ([variable, name]: [string, string]): Promise<[string, string]> => {
    const setting = `backends: ${backend}: command.envFrom.${variable}`;
    return [variable, (await readSecret(slots, name, setting)).reveal()];
  };
  return Object.fromEntries(await Promise.all(Object.entries(command?.envFrom ?? {}).map(read)));
}

type Environment = Readonly<Record<string, string>>;

/** Serves the configured backends. */
export default definePlugin({
  address: ADDRESS,
  stability: 'stable',
  summary: 'Serves the backends in its configuration.',
  contractKey: 'backends',
  config,
  apply(core, { group, backends }) {
    // headers are part of the strategy: see contract.ts
    const backendFrom = (
      { headers: _, headersEnv: __, command, ...listed }: Listed,
      env: Environment = {},
    ): Backend => ({
      ...listed,
      ...(command === undefined ? {} : { command: commandWith(command, env) }),
      ...(group === undefined ? {} : { metadata: { ...listed.metadata, group } }),
    });
    let snapshot: readonly Backend[] = backends.map((listed) => backendFrom(listed));
    if (backends.some(({ command }) => command?.envFrom !== undefined)) {
      core.hooks.starting.tapPromise(ADDRESS, async () => {
        const withSecrets = async (listed: Listed) => backendFrom(listed, await secretsOf(listed, core.slots));
        snapshot = await Promise.all(backends.map(withSecrets));
      });
    }
    core.slots.backendSources.register(ADDRESS, {
      async watch(push, signal) {
        push(snapshot);
        if (!signal.aborted)
          await new Promise<void>((end) => signal.addEventListener('abort', () => end(), { once: true }));
      },
    });
  },
});

function commandWith(
  { envFrom: _, ...command }: z.output<typeof commandSchema>,
  secrets: Environment,
): NonNullable<Backend['command']> {
  return { ...command, env: { ...command.env, ...secrets } };
}
