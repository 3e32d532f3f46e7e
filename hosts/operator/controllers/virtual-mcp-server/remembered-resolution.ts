import { type KubeObject, keyOf, keyText, type ObjectKey, type ResourceType } from '@toolmgr/plugins/kit/kubernetes';
import type { VirtualMcpServer } from '../../kinds/virtual-mcp-server.ts';
import type { Caches } from '../../machinery/controller.ts';
import { configMaps, secrets } from '../../objects/built-in-kinds.ts';
import type { GroupMembers, Related } from '../../resolve/related.ts';
import type { Resolution } from '../../resolve/resolution.ts';

/** Resolutions of the last time, for reconciles in which only pods or their reports changed: these are most of them. */
export interface RememberedResolutions {
  /** The last result if nothing that it was made from has changed; else a new one. @throws what resolving throws */
  resolve(
    server: VirtualMcpServer,
    related: Related,
    caches: Caches,
    make: (related: Related) => Promise<Resolution>,
  ): Promise<Resolution>;
  forget(key: ObjectKey): void;
}

interface Remembered {
  readonly of: string;
  /** Reads a version now, and the one that was used. */
  readonly inputs: ReadonlyMap<string, { readonly version: string; read(related: Related, caches: Caches): string }>;
  readonly resolution: Resolution;
}

/** Larger results, and those without lookups, are made again each time. In characters. */
const MAX_KEPT = 65_536;

/** One per controller. */
export function createRememberedResolutions(): RememberedResolutions {
  const remembered = new Map<string, Remembered>();
  return {
    async resolve(server, related, caches, make) {
      const key = keyText(keyOf(server));
      const of = fingerprint(server);
      const last = remembered.get(key);
      if (
        last?.of === of &&
        [...last.inputs.values()].every((input) => input.read(related, caches) === input.version)
      ) {
        return last.resolution;
      }
      remembered.delete(key);
      const inputs = new Map<string, { version: string; read(related: Related, caches: Caches): string }>();
      const note = (name: string, read: (related: Related, caches: Caches) => string): void => {
        if (!inputs.has(name)) inputs.set(name, { version: read(related, caches), read });
      };
      const { namespace } = keyOf(server);
      const noteObject = (type: ResourceType, name: string): void =>
        note(`${type.kind}/${name}`, (_related, now) => versionOf(now.of(type).get({ namespace, name })));
      const resolution = await make({
        get<T extends KubeObject>(type: ResourceType<T>, name: string) {
          noteObject(type, name);
          return related.get(type, name);
        },
        members(group) {
          note(`members/${group}`, (now) => membersVersion(now.members(group)));
          return related.members(group);
        },
        sharing(field, value) {
          note(`${field}/${value}`, (now) => now.sharing(field, value).map(ageOf).join());
          return related.sharing(field, value);
        },
        configMap(name) {
          noteObject(configMaps, name);
          return related.configMap(name);
        },
        secret(name) {
          noteObject(secrets, name);
          return related.secret(name);
        },
      });
      const { configYaml = '', documentJson = '' } = resolution.pod ?? {};
      const isSmall = configYaml.length + documentJson.length <= MAX_KEPT;
      if (isSmall && inputs.size > 0) remembered.set(key, { of, inputs, resolution });
      return resolution;
    },
    forget: (key) => void remembered.delete(keyText(key)),
  };
}

/** What is read of the object itself. */
function fingerprint({ metadata: { uid, generation }, status }: VirtualMcpServer): string {
  return JSON.stringify([uid, generation, status?.conditions]);
}

function membersVersion({ servers, entries, proxies }: GroupMembers): string {
  return [servers, entries, proxies].map((members) => members.map(versionOf).join()).join(';');
}

/** What decides which of two servers is older. Their status changes often. */
function ageOf({ metadata: { uid, deletionTimestamp = '' } }: KubeObject): string {
  return `${uid}/${deletionTimestamp}`;
}

function versionOf(object: KubeObject | undefined): string {
  return object === undefined ? '' : `${object.metadata.uid}/${object.metadata.resourceVersion}`;
}
