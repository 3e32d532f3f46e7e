import { type FileFacts, nearest } from '@toolmgr/core';
import type { VmcpConfig } from './config-schema.ts';
import { givenKeys } from './host-keys.ts';
import type { Problem } from './problem.ts';

/** Settings of the host that this version does not support; they are refused instead of ignored. */
export function unsupportedSettings(config: VmcpConfig, facts: FileFacts): Problem[] {
  const problems: Problem[] = [];
  const refuse = (path: Problem['path'], message: string): void => void problems.push({ path, message });
  for (const [key, { refused }] of givenKeys(config)) if (refused !== undefined) refuse([key], refused);
  if (config.outgoingAuth.source === 'discovered' && !facts.discovers) {
    refuse(
      ['outgoingAuth', 'source'],
      'discovered works only under the operator; write the strategies and source: inline',
    );
  }
  if (config.outgoingAuth.source === 'inline' && facts.discovers) {
    refuse(
      ['outgoingAuth', 'source'],
      'inline would ignore the credentials of discovered backends; expected discovered',
    );
  }
  for (const [path, where] of pathsOf(config)) {
    if (config.statusPages === undefined || path === undefined || !PAGES.has(path)) continue;
    refuse(['endpoint', ...where], `is the path of a status page, which statusPages protects; expected another path`);
  }
  return [...problems, ...credentialsOfPrograms(config, facts)];
}

/** The paths of the endpoint with their keys. */
function pathsOf({ endpoint }: VmcpConfig): readonly (readonly [string | undefined, readonly string[]])[] {
  return [
    [endpoint?.path, ['path']],
    [endpoint?.sse?.path, ['sse', 'path']],
    [endpoint?.sse?.messagesPath, ['sse', 'messagesPath']],
  ];
}

const PAGES: ReadonlySet<string> = new Set(['/status', '/api/backends/health', '/metrics', '/api/explain']);

/** Credentials for stdio programs have no effect. The default strategy is allowed, because it is for other backends. */
function credentialsOfPrograms({ outgoingAuth }: VmcpConfig, { backends }: FileFacts): Problem[] {
  return Object.entries(outgoingAuth.backends ?? {}).flatMap(([name, { type }]) => {
    const isProgram = backends.some((backend) => backend.name === name && backend.isProgram);
    if (!isProgram || type === 'unauthenticated') return [];
    const message = `${type} has no effect on a program (transport stdio); pass credentials in command.env`;
    return [{ path: ['outgoingAuth', 'backends', name, 'type'], message }];
  });
}

/** Unknown backend names in credentials and timeouts, when the file lists the backends. */
export function unknownBackends(config: VmcpConfig, { backends }: FileFacts): Problem[] {
  const names = backends.map(({ name }) => name);
  if (names.length === 0) return [];
  const places: [Problem['path'], string[]][] = [
    [['outgoingAuth', 'backends'], Object.keys(config.outgoingAuth.backends ?? {})],
    [['operational', 'timeouts', 'perWorkload'], Object.keys(config.operational?.timeouts?.perWorkload ?? {})],
  ];
  return places.flatMap(([path, given]) =>
    given
      .filter((backend) => !names.includes(backend))
      .map((backend) => {
        const hint = nearest(backend, names);
        const advice = hint === undefined ? ` (backends: ${names.join(', ')})` : `, did you mean "${hint}"?`;
        return { path: [...path, backend], message: `no backend is named "${backend}"${advice}` };
      }),
  );
}

/** What is probably a mistake in keys of the host. */
export function hostWarnings(config: VmcpConfig, facts: FileFacts): Problem[] {
  return givenKeys(config).flatMap(([key, { warning }]) => {
    const message = warning?.(facts);
    return message === undefined ? [] : [{ path: [key], message }];
  });
}
