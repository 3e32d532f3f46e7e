import { ownCommand } from '../own-command.ts';

/** `local`: the gateway runs on this machine and its commands can be used. `remote`: only its status pages are known. */
export type FixPlace = 'local' | 'remote';

/** Failures after which another attempt does not help. */
export const WITHOUT_REPEAT: ReadonlySet<string> = new Set([
  'unauthenticated',
  'credentials',
  'spawn',
  'absent',
  'tls',
]);

/** What the user does about a failure of a backend. `category`: one of core's failure categories. */
export function fixFor(category: string, backend: string, place: FixPlace): string {
  const fix = Object.hasOwn(FIXES, category) ? FIXES[category] : undefined;
  const look =
    place === 'local' ? `read its last lines: ${ownCommand(`logs ${backend}`)}` : 'read the log of the gateway';
  return fix === undefined ? look : `${fix}; ${look}`;
}

const FIXES: Readonly<Record<string, string>> = {
  refused: 'start the server, or correct the host and port of its URL',
  dns: 'correct the host of its URL, or check the DNS of this machine',
  tls: 'name the certificate authority of the server in NODE_EXTRA_CA_CERTS and start the gateway again',
  timeout: 'check that the server answers; a slow first start needs a longer --start-timeout',
  http: 'correct the path of its URL, and check what the server logs',
  protocol: 'check that its URL is an MCP endpoint and that its transport is right',
  unauthenticated: 'set or renew the credentials that the configuration gives for this server',
  credentials: 'correct the outgoing credentials of this server in the configuration',
  spawn: 'install its program, or correct its command',
  absent: 'correct the name or version of the package; for a private one, sign in to its registry',
  exit: 'correct its arguments and environment',
};
