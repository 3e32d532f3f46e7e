import { nearest } from '@toolmgr/core';
import type { VmcpConfig } from './config-schema.ts';
import { refusedStrategies } from './outgoing-auth.ts';
import type { Problem } from './problem.ts';

/**
 * What the file asks for and this version cannot do, each by its name: nothing is read and then ignored.
 * A value that means "off" is not a wish and passes.
 */
export function unavailable(config: VmcpConfig): Problem[] {
  const problems: Problem[] = [];
  const refuse = (path: Problem['path'], message: string): void => void problems.push({ path, message });

  const { incomingAuth } = config;
  if (incomingAuth?.type === 'oidc' && incomingAuth.oidc === undefined) {
    refuse(['incomingAuth'], 'type oidc needs oidc');
  } else if (incomingAuth !== undefined && incomingAuth.type !== 'oidc' && incomingAuth.oidc !== undefined) {
    refuse(['incomingAuth', 'oidc'], `has no effect with type ${incomingAuth.type}; remove it, or set type: oidc`);
  }

  if (config.compositeToolRefs?.length) {
    refuse(['compositeToolRefs'], 'refers to cluster resources and works only under the operator');
  }
  if (config.outgoingAuth.source === 'discovered') {
    refuse(
      ['outgoingAuth', 'source'],
      'discovered works only under the operator; write the strategies and source: inline',
    );
  }
  const path = config.endpoint?.path ?? '';
  if (config.statusPages !== undefined && PAGES.has(path)) {
    refuse(['endpoint', 'path'], `is the path of a status page, which statusPages guards; expected another path`);
  }
  problems.push(...refusedStrategies(config));
  return problems;
}

const PAGES: ReadonlySet<string> = new Set(['/status', '/api/backends/health', '/metrics', '/api/explain']);

/** Names that no backend of a static list has, where a slip would send the wrong credentials or wait the wrong time. */
export function unknownWorkloads(config: VmcpConfig): Problem[] {
  const names = config.backends?.map((backend) => backend.name) ?? [];
  if (names.length === 0) return [];
  const places: [Problem['path'], string[]][] = [
    [['outgoingAuth', 'backends'], Object.keys(config.outgoingAuth.backends ?? {})],
    [['operational', 'timeouts', 'perWorkload'], Object.keys(config.operational?.timeouts?.perWorkload ?? {})],
  ];
  return places.flatMap(([path, given]) =>
    given
      .filter((workload) => !names.includes(workload))
      .map((workload) => {
        const hint = nearest(workload, names);
        const advice = hint === undefined ? ` (backends: ${names.join(', ')})` : `, did you mean "${hint}"?`;
        return { path: [...path, workload], message: `no backend is named "${workload}"${advice}` };
      }),
  );
}
