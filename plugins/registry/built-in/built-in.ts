import { readRegistryValue } from '../read-document.ts';
import type { Registry } from '../registry-data.ts';
import { LOCAL_SERVERS } from './local-servers.ts';
import { PACKAGE_SERVERS } from './package-servers.ts';
import { REMOTE_SERVERS } from './remote-servers.ts';
import { SKILLS } from './skills.ts';
import { VENDOR_SERVERS } from './vendor-servers.ts';

/** The day on which the entries were checked. */
const LAST_UPDATED = '2026-11-22T00:00:00Z';

/** The registry that is shipped: well-known public servers. It passes the same checks as any other document. */
export function builtInRegistry(): Registry {
  const read = readRegistryValue({
    version: '1.0.0',
    last_updated: LAST_UPDATED,
    servers: { ...LOCAL_SERVERS, ...PACKAGE_SERVERS },
    skills: SKILLS,
    remote_servers: { ...REMOTE_SERVERS, ...VENDOR_SERVERS },
  });
  if ('problem' in read) throw new TypeError(`the built-in registry ${read.problem}`);
  return read.registry;
}
