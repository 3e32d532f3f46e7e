import type { Catalogue } from '@toolmgr/core';
import { clusterPlugins, completeKind } from '../kinds/cluster-plugins.ts';
import { KINDS } from '../kinds/index.ts';
import { API_GROUP, API_VERSION, CATEGORY, type KindDefinition } from '../kinds/kind.ts';
import { jsonSchemaOf } from './json-schema.ts';
import { type FindSchema, fileSchema, finder } from './section-schemas.ts';
import { type Structural, structural } from './structural.ts';

/** Schemas of one kind. */
export interface KindSchema {
  readonly definition: KindDefinition;
  /** The whole object, with `spec` and `status`. */
  readonly schema: Structural;
}

/**
 * The schemas of every kind, made from the schemas of the kinds and of all plugins. Takes about 1 s. For `acceptsMissing` see
 * `fileSchema`; CRDs are made without it.
 */
export async function kindSchemas(catalogue: Catalogue, acceptsMissing = false): Promise<readonly KindSchema[]> {
  const find = finder(await fileSchema(catalogue, acceptsMissing), await clusterPlugins());
  const kinds = await Promise.all(KINDS.map(completeKind));
  return kinds.map((definition) => ({ definition, schema: schemaOfKind(definition, find) }));
}

function schemaOfKind({ summary, spec, status }: KindDefinition, find: FindSchema): Structural {
  const ofSpec = structural(jsonSchemaOf(spec), find);
  const ofStatus = structural(jsonSchemaOf(status), find);
  const isSpecRequired = (ofSpec.required ?? []).length > 0;
  const hasInitial = Object.values(ofStatus.properties ?? {}).some((member) => member.default !== undefined);
  return {
    description: summary,
    type: 'object',
    ...(isSpecRequired ? { required: ['spec'] } : {}),
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { type: 'object' },
      spec: isSpecRequired ? ofSpec : { ...ofSpec, default: {} },
      // so that an object without a status has its initial phase
      status: hasInitial ? { ...ofStatus, default: {} } : ofStatus,
    },
  };
}

/** A CustomResourceDefinition. Source: Kubernetes `apiextensions.k8s.io/v1`. */
export function crdOf({ definition, schema }: KindSchema): object {
  const { kind, plural, singular, shortNames, columns } = definition;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${API_GROUP}`, labels: { 'app.kubernetes.io/part-of': 'toolmgr' } },
    spec: {
      group: API_GROUP,
      names: { kind, listKind: `${kind}List`, plural, singular, shortNames, categories: [CATEGORY] },
      scope: 'Namespaced',
      versions: [
        {
          name: API_VERSION,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: schema },
          subresources: { status: {} },
          additionalPrinterColumns: columns,
        },
      ],
    },
  };
}

/** Name of the file of a CRD. */
export function crdFile({ plural }: KindDefinition): string {
  return `${API_GROUP}_${plural}.yaml`;
}
