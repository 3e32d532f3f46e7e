import { readFile } from 'node:fs/promises';
import { fieldPath } from '@toolmgr/core';
import { z } from 'zod';

/** Characters that a shell or an engine's option could read as more than a path. */
const UNSAFE = /[$&;|`\0]/;
const MAX_PROFILE_BYTES = 1_048_576;

const mountEntry = z
  .string()
  .min(1)
  .refine((text) => !UNSAFE.test(text), 'a mount must not contain $, &, ;, |, a backtick or NUL');
const host = z
  .string()
  .min(1)
  .regex(
    /^(\*?\.)?[A-Za-z0-9]([A-Za-z0-9.:/_-]*[A-Za-z0-9])?$/,
    'expected a host name, .domain, *.domain, address or network',
  )
  .transform((text) => text.toLowerCase());

const hostHeader = z
  .string()
  .regex(/^[A-Za-z0-9]([A-Za-z0-9.:_-]*[A-Za-z0-9])?$/, 'expected a host name, with or without a port')
  .transform((text) => text.toLowerCase());

/**
 * What a container may use of this machine and of the network.
 *
 * Source: HTTP API spec §2 "Permissions", with the members of the file form in reference run-command §4.7.
 */
export const permissionProfile = z.strictObject({
  name: z.string().optional().describe('name of the profile, for people'),
  read: z.array(mountEntry).default([]).describe('paths that the container may read: `path` or `host:container`'),
  write: z.array(mountEntry).default([]).describe('paths that it may read and write'),
  network: z
    .strictObject({
      mode: z.string().optional().describe('network mode of the engine; `--network` overrides it'),
      outbound: z
        .strictObject({
          insecure_allow_all: z.boolean().default(false).describe('any host and port'),
          allow_host: z
            .array(host)
            .default([])
            .describe('hosts that may be reached; `.domain` and `*.domain` include subdomains'),
          allow_port: z.array(z.int().min(1).max(65_535)).default([]).describe('ports that may be reached'),
        })
        .optional()
        .describe('without it everything may be reached'),
      inbound: z
        .strictObject({
          allow_host: z
            .array(hostHeader)
            .default([])
            .describe('`Host` names that requests to the endpoint may have, beside those of this machine'),
        })
        .optional()
        .describe('who may reach the server'),
    })
    .optional()
    .describe('network of the container'),
  privileged: z.boolean().default(false).describe('all rights of this machine'),
});

/** A permission profile with its defaults. */
export type PermissionProfile = z.infer<typeof permissionProfile>;

/** The profiles that have a name. `stdio` is an older name of `none`. */
export const BUILT_IN_PROFILES: Readonly<Record<string, PermissionProfile>> = {
  none: permissionProfile.parse({ name: 'none', network: { outbound: {} } }),
  stdio: permissionProfile.parse({ name: 'none', network: { outbound: {} } }),
  network: permissionProfile.parse({ name: 'network', network: { outbound: { insecure_allow_all: true } } }),
};

/** A profile, or why there is none. */
export type ProfileRead = { readonly profile: PermissionProfile } | { readonly reason: string };

/** The profile that `--permission-profile` names: `none`, `network`, or the path of a JSON file. */
export async function readProfile(nameOrPath: string): Promise<ProfileRead> {
  const builtIn = Object.hasOwn(BUILT_IN_PROFILES, nameOrPath) ? BUILT_IN_PROFILES[nameOrPath] : undefined;
  if (builtIn !== undefined) return { profile: builtIn };
  let text: string;
  try {
    text = await readFile(nameOrPath, 'utf8');
  } catch {
    return {
      reason: `there is no permission profile or file ${nameOrPath}; expected none, network or the path of a JSON file`,
    };
  }
  if (text.length > MAX_PROFILE_BYTES) return { reason: `${nameOrPath} is larger than ${MAX_PROFILE_BYTES} bytes` };
  return profileFromJson(nameOrPath, text);
}

function profileFromJson(path: string, text: string): ProfileRead {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    // the message of the parser quotes the file, and a request may name any file of the user
    const [place = ''] = / at position \d+/.exec((cause as Error).message) ?? [];
    return { reason: `${path} is not JSON${place}` };
  }
  const read = permissionProfile.safeParse(value);
  if (read.success) return { profile: read.data };
  const [issue] = read.error.issues;
  return { reason: `${path}: ${fieldPath(issue?.path ?? []) || 'the profile'}: ${issue?.message}` };
}
