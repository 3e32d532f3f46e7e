import { VERSION } from '../shared/version.ts';

/** Address of the JSON Schema of the vmcp file of this version. It is a file of the npm package. */
export const VMCP_SCHEMA_URL = `https://unpkg.com/toolmgr@${VERSION}/schemas/vmcp.schema.json`;

/**
 * First line of a vmcp file, without a line break. Editors with yaml-language-server then complete and check the file.
 * Source: https://github.com/redhat-developer/yaml-language-server#using-inlined-schema
 */
export function schemaComment(address = VMCP_SCHEMA_URL): string {
  return `# yaml-language-server: $schema=${address}`;
}
