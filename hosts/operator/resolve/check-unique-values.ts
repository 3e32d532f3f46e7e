import type { KubeObject } from '@toolmgr/plugins/kit/kubernetes';
import type { Context } from './context.ts';
import type { Related } from './related.ts';
import { UNIQUE_FIELDS, uniqueValuesOf } from './unique-values.ts';

/** The older server keeps a value; the younger one fails and gets no new pods. */
export function checkUniqueValues(server: KubeObject, related: Related, { findings }: Context): void {
  for (const [field, value] of uniqueValuesOf(server)) {
    const older = related
      .sharing(field, value)
      .filter((other) => other.metadata.deletionTimestamp === undefined && isOlder(other, server))
      .sort((a, b) => (isOlder(a, b) ? -1 : 1))[0];
    if (older === undefined) continue;
    const { path, condition, reason } = UNIQUE_FIELDS[field];
    const message = `${path}: ${JSON.stringify(value)} must be unique, but VirtualMCPServer ${older.metadata.name}, which is older, has it too; change it in ${server.metadata.name}`;
    findings.fail(condition, reason, message, reason);
  }
}

/** Times are in seconds, so the name decides between equal ones. */
function isOlder(a: KubeObject, b: KubeObject): boolean {
  const [ofA, ofB] = [a, b].map(({ metadata }) => metadata.creationTimestamp ?? '');
  if (ofA !== ofB) return (ofA ?? '') < (ofB ?? '');
  return a.metadata.name < b.metadata.name;
}
