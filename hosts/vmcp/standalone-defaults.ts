import { basename } from 'node:path';
import { isObject, type JsonObject } from '@toolmgr/core';

/**
 * A standalone file needs only `backends`. The other required sections get defaults: the name of the file, anonymous callers,
 * no credentials for backends, tool names with the backend as prefix.
 *
 * Shape: `assumesAnonymous` says that the file does not choose how callers are known; such a file is served on loopback only. A
 * file without `backends` is unchanged, and so are the sections that a file has. A file with plugins of its own gets no default for
 * `incomingAuth`, because a plugin may authenticate callers.
 */
export function withStandaloneDefaults(given: unknown, file: string): { given: unknown; assumesAnonymous: boolean } {
  if (!isObject(given) || !Array.isArray(given.backends)) return { given, assumesAnonymous: false };
  const name = typeof given.name === 'string' ? given.name : nameFrom(file);
  const hasPlugins = Array.isArray(given.plugins) && given.plugins.length > 0;
  const assumesAnonymous = given.incomingAuth === undefined && !hasPlugins;
  const defaults: JsonObject = {
    name,
    groupRef: name,
    outgoingAuth: { source: 'inline' },
    aggregation: {},
    ...(assumesAnonymous ? { incomingAuth: { type: 'anonymous' } } : {}),
  };
  return { given: { ...defaults, ...given }, assumesAnonymous };
}

/** `vmcp` of `/etc/toolmgr/vmcp.yaml`. */
export function nameFrom(file: string): string {
  const plain = basename(file)
    .replace(/^\.+/, '')
    .replace(/\.[^.]*$/, '');
  return plain.replace(/[^A-Za-z0-9._-]+/g, '-').replace(/^[^A-Za-z0-9]+|-+$/g, '') || 'vmcp';
}
