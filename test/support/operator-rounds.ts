import {
  type Api,
  type KubeObject,
  keyOf,
  keyText,
  type ObjectKey,
  type ResourceType,
} from '@toolmgr/plugins/kit/kubernetes';
import { REFERENCES, referencesIndex } from '../../hosts/operator/controllers/references.ts';
import { KINDS } from '../../hosts/operator/kinds/index.ts';
import { typeOfKind } from '../../hosts/operator/kinds/kind.ts';
import type {
  Caches,
  Controller,
  EventText,
  InformerSpec,
  Outcome,
} from '../../hosts/operator/machinery/controller.ts';

/** An operator whose rounds a test starts: each reads all objects of a namespace, then reconciles one object. */
export interface OperatorRounds {
  /** Writes of the API, such as `apply Deployment a`, `apply status VirtualMCPServer a`. */
  readonly writes: string[];
  readonly reads: string[];
  /** Each transition once, as the recorder reports it. */
  readonly events: (EventText & { readonly name: string })[];
  /** Time of the next rounds; real time when undefined. */
  now: number | undefined;
  reconcile(name: string): Promise<Outcome | void>;
  /** Reconciles with the caches of the last round, as when watches are slow. */
  reconcileStale(name: string): Promise<Outcome | void>;
}

export interface RoundsOptions {
  readonly api: Api;
  readonly namespace: string;
  readonly controller: Controller;
  readonly informers: readonly InformerSpec[];
  /** The process dies before or after the write with this number, which begins at 1. */
  readonly dies?: { readonly at: number; readonly when: 'before' | 'after' };
}

/** The process died at a write. */
export class Died extends Error {}

/** Creates an operator without state, as after a start. */
export function operatorRounds({ api, namespace, controller, informers, dies }: RoundsOptions): OperatorRounds {
  const writes: string[] = [];
  const reads: string[] = [];
  const events: OperatorRounds['events'] = [];
  let read: Caches | undefined;
  // one object, like that of an operator: what is derived from it is kept over rounds
  const caches: Caches = {
    of(type) {
      if (read === undefined) throw new Error('no round has read the caches yet');
      return read.of(type);
    },
  };
  let isDead = false;
  const write = async <T>(text: string, send: () => Promise<T>): Promise<T> => {
    if (isDead) throw new Died();
    const isLast = dies?.at === writes.length + 1;
    isDead = isLast;
    if (isLast && dies?.when === 'before') throw new Died();
    writes.push(text);
    const answer = await send();
    if (isLast) throw new Died();
    return answer;
  };
  const textOf = (verb: string, { kind }: ResourceType, name: string, part = ''): string =>
    [verb, part, kind, name].filter((each) => each !== '').join(' ');
  const counted: Api = {
    get(type, key) {
      reads.push(textOf('get', type, key.name));
      return api.get(type, key);
    },
    list(type, options) {
      reads.push(textOf('list', type, ''));
      return api.list(type, options);
    },
    watch: (type, options) => api.watch(type, options),
    apply: (type, object, options) =>
      write(textOf('apply', type, object.metadata.name, options.subresource), () => api.apply(type, object, options)),
    create: (type, object) => write(textOf('create', type, object.metadata.name), () => api.create(type, object)),
    patch: (type, key, patch, options) =>
      write(textOf('patch', type, key.name, options?.subresource), () => api.patch(type, key, patch, options)),
    replace: (type, object, part) =>
      write(textOf('replace', type, object.metadata.name, part), () => api.replace(type, object, part)),
    remove: (type, key, options) => write(textOf('remove', type, key.name), () => api.remove(type, key, options)),
  };
  const rounds: OperatorRounds = {
    ...{ writes, reads, events, now: undefined },
    async reconcile(name) {
      read = await readCaches(api, namespace, informers);
      return rounds.reconcileStale(name);
    },
    async reconcileStale(name) {
      return controller.reconcile(
        { namespace, name },
        {
          api: counted,
          caches,
          events: {
            emit(_object, event) {
              const isKnown = events.some(
                (each) => each.reason === event.reason && each.transition === event.transition,
              );
              if (!isKnown) events.push({ ...event, name });
            },
          },
          log: { info() {}, warn() {}, error() {} },
          now: () => rounds.now ?? Date.now(),
          signal: AbortSignal.timeout(60_000),
        },
      );
    },
  };
  return rounds;
}

async function readCaches(api: Api, namespace: string, informers: readonly InformerSpec[]): Promise<Caches> {
  const own = KINDS.map((kind) => ({ type: typeOfKind(kind), indexes: referencesIndex(kind.kind) }));
  const specs = [...own, ...informers] as readonly InformerSpec[];
  const read = await Promise.all(
    specs.map(async ({ type, labelSelector, metadataOnly, strip, indexes }) => {
      const list = await api.list(type, {
        namespace,
        ...(labelSelector === undefined ? {} : { labelSelector }),
        ...(metadataOnly === undefined ? {} : { metadataOnly }),
      });
      const items = list.items.map((item) => (strip === undefined ? item : strip(item)));
      return [type.kind, { items, indexes }] as const;
    }),
  );
  const byKind = new Map(read);
  return {
    of<T extends KubeObject>({ kind }: ResourceType<T>) {
      const found = byKind.get(kind);
      if (found === undefined) throw new Error(`no informer follows ${kind}`);
      const items = found.items as readonly KubeObject[] as unknown as readonly T[];
      return {
        get: (key: ObjectKey) => items.find((item) => keyText(keyOf(item)) === keyText(key)),
        list: (wanted?: string) => (wanted === undefined || wanted === namespace ? items : []),
        byIndex(index: string, value: string) {
          const valuesOf = found.indexes?.[index];
          if (valuesOf === undefined && index !== REFERENCES) throw new Error(`${kind} has no index ${index}`);
          return items.filter((item) => [...(valuesOf?.(item) ?? [])].includes(value));
        },
      };
    },
  };
}
