import { z } from 'zod';
import { headerDef, text } from './body-values.ts';
import { type RowOfRun, RUN_OPTIONS } from './options.ts';
import { runtimeEnv } from './package-values.ts';
import type { BodyOf, WorkloadField } from './run-option.ts';

/** What runs: the TARGET of the command. */
const TARGET_FIELDS = [
  {
    body: {
      name: 'image',
      says: 'name of a registry entry, image, or package: `uvx://`, `npx://`, `go://`',
      accepts: text,
      shows: z.string().describe('image, package or program; empty for a remote server'),
      own: true,
    },
  },
  {
    stored: 'remote_url',
    hidden: 'url',
    body: {
      name: 'url',
      says: 'URL of a remote server',
      shows: z.string().describe('URL of a remote server, without values of its query'),
    },
  },
  {
    body: {
      name: 'registry',
      says: 'registry of `server`',
      accepts: z.enum(['', 'default'], { error: 'expected default' }),
      shows: z.string().describe('`default` for a server of the registry'),
      own: true,
    },
  },
  {
    stored: 'registry_server_name',
    body: {
      name: 'server',
      says: 'name of a registry entry, which fills what is not given',
      shows: z.string().describe('its entry in the registry'),
      own: true,
    },
  },
  { stored: 'cmd_args', hidden: 'list', body: { name: 'cmd_arguments', says: 'arguments of the server', own: true } },
] as const satisfies readonly WorkloadField[];

/** Fields that no option sets. */
const FURTHER_FIELDS = [
  {
    stored: 'runtime_config.runtime_env',
    hidden: 'map',
    body: { name: 'runtime_config.runtime_env', says: 'variables of the image', accepts: runtimeEnv },
  },
  {
    stored: 'remote_auth_config.use_pkce',
    body: {
      name: 'oauth_config.use_pkce',
      says: 'PKCE is always used',
      accepts: z.literal(true, { error: 'expected true: there is no login without PKCE' }),
      shows: z.boolean(),
      empty: true,
      own: true,
    },
  },
  {
    stored: 'remote_auth_config.oauth_params',
    hidden: 'map',
    body: { name: 'oauth_config.oauth_params', says: 'more parameters of the authorization request' },
  },
  {
    stored: 'remote_headers',
    body: {
      name: 'headers',
      says: 'headers that a remote server needs',
      accepts: z.array(headerDef).max(64),
      shows: z.array(headerDef),
    },
  },
] as const satisfies readonly WorkloadField[];

/** Objects of a body. */
export const SECTIONS: Readonly<Record<string, string>> = {
  runtime_config: 'how the image of a package is made',
  oidc: 'who may call the endpoint',
  header_forward: 'headers of requests to a remote server',
  oauth_config: 'login at a remote server',
};

type Field = (typeof TARGET_FIELDS)[number] | RowOfRun | (typeof FURTHER_FIELDS)[number];

/** Every field of a workload: what is derived of it is one row here or in the options. */
export const FIELDS: readonly WorkloadField[] = [
  ...TARGET_FIELDS,
  ...Object.values<readonly WorkloadField[]>(RUN_OPTIONS).flat(),
  ...FURTHER_FIELDS,
];

/** What a body says about a workload. */
export type FieldsOfBody = BodyOf<Field>;
