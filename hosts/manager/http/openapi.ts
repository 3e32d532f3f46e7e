import type { Operation } from '@toolmgr/plugins/management';

/** The OpenAPI 3.1 document of the operations. */
export function openApiDocument(
  operations: readonly Operation[],
  _open: readonly Operation[],
  version: string,
): object {
  return {
    openapi: '3.1.0',
    info: { title: 'toolmgr', version },
    paths: Object.fromEntries(operations.map((o) => [o.path, {}])),
  };
}
