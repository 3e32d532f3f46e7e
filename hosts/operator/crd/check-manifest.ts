import { type Catalogue, isObject, nearest } from '@toolmgr/core';
import { API_GROUP, API_VERSION } from '../kinds/kind.ts';
import { checkRules } from './check-rules.ts';
import { checkValue } from './check-value.ts';
import { type KindSchema, kindSchemas } from './crd.ts';
import type { ManifestProblem } from './manifest-problem.ts';

/** Checks one object. */
export type CheckManifest = (object: unknown) => readonly ManifestProblem[];

/**
 * Makes the check that the API server does when an object is created with `fieldValidation=Strict`: with the schemas of the CRDs
 * and their rules, and without a cluster. Objects of other API groups have no problems. Takes about 1 s.
 * A section whose plugin needs an optional package that is not installed is not checked here; a VirtualMCPServer that uses it is
 * refused when its configuration is read.
 */
export async function createManifestCheck(catalogue: Catalogue): Promise<CheckManifest> {
  const kinds = await kindSchemas(catalogue, true);
  return (object) => checkManifest(kinds, object);
}

function checkManifest(kinds: readonly KindSchema[], object: unknown): readonly ManifestProblem[] {
  if (!isObject(object)) return [{ path: '', message: 'expected an object with apiVersion, kind and metadata' }];
  const { apiVersion, kind } = object;
  const [group, version] = typeof apiVersion === 'string' ? apiVersion.split('/') : [];
  if (group === undefined) return [{ path: 'apiVersion', message: 'is required' }];
  if (group !== API_GROUP) return [];
  if (version !== API_VERSION) {
    return [{ path: 'apiVersion', message: `expected ${API_GROUP}/${API_VERSION}, got ${apiVersion}` }];
  }
  const found = kinds.find(({ definition }) => definition.kind === kind);
  if (found === undefined) return [{ path: 'kind', message: unknownKind(String(kind), kinds) }];
  const { metadata, ...rest } = object;
  const { value, problems } = checkValue(found.schema, rest, '');
  const all = [...metadataProblems(metadata), ...problems];
  return all.length > 0 ? all : checkRules(found.schema, value, '');
}

function unknownKind(kind: string, kinds: readonly KindSchema[]): string {
  const known = kinds.map(({ definition }) => definition.kind);
  const hint = nearest(kind, known);
  return `${API_GROUP} has no kind ${kind}${hint === undefined ? `; it has ${known.join(', ')}` : `, did you mean "${hint}"?`}`;
}

const DNS_SUBDOMAIN = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;
const MAX_NAME = 253;

function metadataProblems(metadata: unknown): readonly ManifestProblem[] {
  if (!isObject(metadata)) return [{ path: 'metadata', message: 'is required' }];
  const { name } = metadata;
  if (name === undefined || name === '') return [{ path: 'metadata.name', message: 'is required' }];
  if (typeof name === 'string' && name.length <= MAX_NAME && DNS_SUBDOMAIN.test(name)) return [];
  const message = `expected at most ${MAX_NAME} lower-case letters, digits, "-" and "." (a DNS subdomain)`;
  return [{ path: 'metadata.name', message }];
}
