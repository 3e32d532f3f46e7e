import type { Backend } from '@toolmgr/core';
import { isLoopbackHost } from '../http/listen.ts';

/** Why a server of a client file would make toolmgr serve itself in a loop; `undefined` for any other. */
export function ownEntry(
  { command, url }: Pick<Backend, 'command' | 'url'>,
  port: number | undefined,
): string | undefined {
  if (command !== undefined && startsGateway([command.file, ...(command.args ?? [])]))
    return 'it starts toolmgr itself';
  if (url !== undefined && port !== undefined && isAt(url, port))
    return `it is the address of this gateway, port ${port}`;
  return undefined;
}

function startsGateway(words: readonly string[]): boolean {
  const at = words.findIndex(isProgram);
  return at !== -1 && words.slice(at + 1).some((word) => SERVING.has(word));
}

/** The program, its package, or the script of a clone. */
function isProgram(word: string): boolean {
  const name = word.replaceAll('\\', '/').split('/').at(-1) ?? '';
  return (
    /^toolmgr(?:@[^/]*)?(?:\.(?:js|cmd|exe|ps1))?$/.test(name) ||
    /hosts[\\/](?:dist[\\/])?cli[\\/]main\.[jt]s$/.test(word)
  );
}

function isAt(url: string, port: number): boolean {
  const { hostname, port: given, protocol } = new URL(url);
  const asked = given === '' ? (protocol === 'https:' ? 443 : 80) : Number(given);
  return asked === port && (isLoopbackHost(hostname) || hostname === '0.0.0.0');
}

const SERVING: ReadonlySet<string> = new Set(['up', 'start', 'serve', 'vmcp']);
