import { createVirtualMcpServerController } from '../../hosts/operator/controllers/virtual-mcp-server/controller.ts';
import { INFORMERS } from '../../hosts/operator/controllers/virtual-mcp-server/watches.ts';
import type { VirtualMcpServer } from '../../hosts/operator/kinds/virtual-mcp-server.ts';
import type { Controller } from '../../hosts/operator/machinery/controller.ts';
import type { PodInputs, Resolution } from '../../hosts/operator/resolve/resolution.ts';
import { type OperatorRounds, operatorRounds, type RoundsOptions } from './operator-rounds.ts';

/** A result of resolving that tests change. */
export interface Resolved {
  config: string;
  /** Backends document; without it the mode is inline. */
  document: string | undefined;
  checksum: string;
  secretNames: readonly string[];
  backends: readonly string[];
  more: Partial<Resolution>;
}

export function resolved(change: Partial<Resolved> = {}): Resolved {
  return {
    config: 'name: a\n',
    document: '{"checksum":"d1","backends":[],"secrets":{}}',
    checksum: 'c1',
    secretNames: ['header'],
    backends: ['search'],
    more: {},
    ...change,
  };
}

/** The inputs of pods of a result. */
export function podInputs({ config, document, checksum, secretNames }: Resolved): PodInputs {
  return {
    config: {} as PodInputs['config'],
    configYaml: config,
    ...(document === undefined ? {} : { document: JSON.parse(document), documentJson: document }),
    env: [{ name: 'CLIENT_SECRET', valueFrom: { secretKeyRef: { name: 'oidc', key: 'secret' } } }],
    volumes: [
      {
        name: 'ca-bundle-search',
        configMap: { name: 'search-ca', items: [{ key: 'ca.crt', path: 'ca.crt' }], defaultMode: 0o444 },
      },
    ],
    volumeMounts: [{ name: 'ca-bundle-search', mountPath: '/etc/toolmgr/ca-bundles/search', readOnly: true }],
    secretNames,
    checksum,
  };
}

/** The full result. */
export function resolutionOf(now: Resolved, { spec }: VirtualMcpServer): Resolution {
  return {
    outcome: { result: 'ready' },
    conditions: [{ type: 'GroupRefValidated', status: 'True', reason: 'GroupRefIsValid', message: '' }],
    events: [],
    hashes: {},
    effective: now.backends.map((name) => ({ name, url: `http://${name}/mcp`, authType: 'unauthenticated' })),
    pod: podInputs(now),
    imagePullSecrets: (spec.imagePullSecrets ?? []).map(({ name = '' }) => ({ name })),
    references: { secrets: [], configMaps: [] },
    ...now.more,
  };
}

/** An operator with the controller of VirtualMCPServers, for which resolving gives `now`. */
export function serverRounds(
  options: Pick<RoundsOptions, 'api' | 'namespace' | 'dies'>,
  now: Resolved,
): OperatorRounds {
  const controller = createVirtualMcpServerController({
    pods: { image: 'example.test/toolmgr:1' },
    defaults: {},
    resolve: async (server) => resolutionOf(now, server as VirtualMcpServer),
  });
  return operatorRounds({ ...options, controller: controller as unknown as Controller, informers: INFORMERS });
}
