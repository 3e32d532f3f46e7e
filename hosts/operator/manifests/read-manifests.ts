import { explainCause, GatewayFault, isObject } from '@toolmgr/core';
import type { KubeObject } from '@toolmgr/plugins/kit/kubernetes';
import { LineCounter, parseAllDocuments } from 'yaml';

const MAX_OBJECTS = 1000;
const MAX_ALIASES = 100; // of YAML anchors; more would be an attack by exponential expansion

/** An object with the line where its document begins. */
export interface Manifest {
  readonly object: KubeObject;
  readonly line: number;
}

/** Whether a text is manifests and no vmcp file: it has `apiVersion` and `kind` at top level, as YAML or JSON. */
export function isManifest(text: string): boolean {
  if (/^\s*\{/.test(text)) return /"apiVersion"\s*:/.test(text) && /"kind"\s*:/.test(text);
  return /^["']?apiVersion["']?:\s*\S/m.test(text) && /^["']?kind["']?:\s*\S/m.test(text);
}

/**
 * The objects of a YAML text with several documents; a `List` is its items.
 * @throws GatewayFault PLAN_INVALID with `file:line: what is wrong`
 */
export function readManifests(text: string, file: string): readonly Manifest[] {
  const lines = new LineCounter();
  const documents = parseAllDocuments(text, { lineCounter: lines, prettyErrors: false });
  const all = Array.isArray(documents) ? documents : [];
  const objects: Manifest[] = [];
  for (const document of all) {
    const line = lines.linePos(document.contents?.range?.[0] ?? document.range[0]).line;
    const fail = (message: string): never => {
      throw new GatewayFault('PLAN_INVALID', `${file}:${line}: ${message}`);
    };
    const [error] = document.errors;
    if (error !== undefined) {
      throw new GatewayFault('PLAN_INVALID', `${file}:${lines.linePos(error.pos[0]).line}: ${error.message}`);
    }
    let given: unknown;
    try {
      given = document.toJS({ maxAliasCount: MAX_ALIASES });
    } catch (cause) {
      fail(explainCause(cause));
    }
    if (given === null || given === undefined) continue; // an empty document
    for (const each of itemsOf(given)) {
      const wrong = problemOf(each);
      if (wrong !== undefined) fail(wrong);
      if (objects.length >= MAX_OBJECTS) fail(`expected at most ${MAX_OBJECTS} objects`);
      objects.push({ object: each as KubeObject, line });
    }
  }
  return objects;
}

function problemOf(given: unknown): string | undefined {
  if (!isObject(given) || typeof given.apiVersion !== 'string' || typeof given.kind !== 'string') {
    return 'expected an object with apiVersion and kind';
  }
  const isNamed = isObject(given.metadata) && typeof given.metadata.name === 'string';
  return isNamed ? undefined : `${given.kind}: metadata.name: missing, expected a name`;
}

function itemsOf(given: unknown): readonly unknown[] {
  return isObject(given) && given.kind === 'List' && Array.isArray(given.items) ? given.items : [given];
}
