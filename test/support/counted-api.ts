import type { Api } from '@toolmgr/plugins/kit/kubernetes';

/** One write that the API accepted or refused. */
export interface Write {
  readonly verb: 'apply' | 'create' | 'patch' | 'replace' | 'remove';
  readonly kind: string;
  readonly name: string;
  readonly subresource?: string;
}

/** An API that notes its writes, and can die after one of them. */
export interface CountedApi {
  readonly api: Api;
  /** `verb kind/name` in order, with the subresource; without events. */
  readonly writes: readonly string[];
  /** Requests that are no write: get and list. */
  reads(): number;
  /** Resolves when the last allowed write is done; the process that uses the API gets no answer any more. */
  readonly died: Promise<void>;
}

/**
 * Wraps an API. `diesAfter`: number of writes that reach the server; the answer of the last one is lost, and no later request is
 * sent, as when the process is killed. Events do not count.
 */
export function countedApi(api: Api, diesAfter = Number.POSITIVE_INFINITY): CountedApi {
  const writes: string[] = [];
  const death = Promise.withResolvers<void>();
  const never = new Promise<never>(() => {});
  let reads = 0;
  let isDead = false;
  const write = async <T>({ verb, kind, name, subresource }: Write, send: () => Promise<T>): Promise<T> => {
    if (isDead) return never;
    if (kind === 'Event') return send();
    if (writes.length >= diesAfter) return never;
    writes.push(`${verb} ${kind}/${name}${subresource === undefined ? '' : ` ${subresource}`}`);
    const isLast = writes.length >= diesAfter;
    const sent = send();
    if (!isLast) return sent;
    isDead = true;
    await sent.catch(() => undefined);
    death.resolve();
    return never;
  };
  const read = async <T>(send: () => Promise<T>): Promise<T> => {
    if (isDead) return never;
    reads++;
    return send();
  };
  return {
    writes,
    reads: () => reads,
    died: death.promise,
    api: {
      get: (type, key) => read(() => api.get(type, key)),
      list: (type, options) => read(() => api.list(type, options)),
      watch: (type, options) => api.watch(type, options),
      apply: (type, object, options) =>
        write({ verb: 'apply', kind: type.kind, name: object.metadata.name, ...only(options.subresource) }, () =>
          api.apply(type, object, options),
        ),
      create: (type, object) =>
        write({ verb: 'create', kind: type.kind, name: object.metadata.name }, () => api.create(type, object)),
      patch: (type, key, patch, options) =>
        write({ verb: 'patch', kind: type.kind, name: key.name, ...only(options?.subresource) }, () =>
          api.patch(type, key, patch, options),
        ),
      replace: (type, object, subresource) =>
        write({ verb: 'replace', kind: type.kind, name: object.metadata.name, ...only(subresource) }, () =>
          api.replace(type, object, subresource),
        ),
      remove: (type, key, options) =>
        write({ verb: 'remove', kind: type.kind, name: key.name }, () => api.remove(type, key, options)),
    },
  };
}

function only(subresource: string | undefined): { subresource?: string } {
  return subresource === undefined ? {} : { subresource };
}
