import type { FromCluster, Resource, ResourceType } from '@toolmgr/plugins/kit/kubernetes';
import { z } from 'zod';

/** API group of all kinds. */
export const API_GROUP = 'toolmgr.dev';
export const API_VERSION = 'v1beta1';

/**
 * A kind of the API group. Its schemas yield the TypeScript types, the CRD, the reference page and the check of manifests.
 *
 * Shape: schemas are not recursive and have no transforms that change the shape of the input.
 */
export interface KindDefinition<Spec extends z.ZodType = z.ZodType, Status extends z.ZodType = z.ZodType> {
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  /** One sentence for the CRD and the reference page. */
  readonly summary: string;
  readonly spec: Spec;
  /** Makes the spec of what plugins say of it; `spec` is then {@link OF_PLUGIN}. See `completeKind`. */
  readonly specOf?: (plugins: readonly ClusterPlugin[]) => Spec;
  readonly status: Status;
  readonly columns: readonly PrinterColumn[];
}

/** A plugin of the catalogue with what it says of objects of a cluster. */
export interface ClusterPlugin {
  readonly address: string;
  readonly contractKey?: string;
  /** Name in the slot `authStrategies`, of a strategy. */
  readonly strategy?: string;
  readonly fromCluster: FromCluster;
}

/** The spec of a kind that plugins declare, until it is completed: it accepts nothing. */
export const OF_PLUGIN = z.never() as unknown as z.ZodType<PluginSpec, PluginSpec>;

type PluginSpec = Readonly<Record<string, unknown>>;

/** A kind with the types of its schemas. */
export function defineKind<Spec extends z.ZodType, Status extends z.ZodType>(
  definition: KindDefinition<Spec, Status>,
): KindDefinition<Spec, Status> {
  return definition;
}

/** A column of `kubectl get`. */
export interface PrinterColumn {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'date' | 'boolean';
  readonly jsonPath: string;
  /** Shown only with `-o wide` when greater than 0. */
  readonly priority?: number;
  readonly description?: string;
}

/** Objects of a kind. */
export type ObjectOf<K extends KindDefinition> = Resource<z.input<K['spec']>, z.input<K['status']>>;

/** `kubectl get CATEGORY` lists all kinds. */
export const CATEGORY = 'toolmgr';

/** Columns of several kinds. */
export const COLUMNS = {
  phase: { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
  ready: { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
  valid: { name: 'Valid', type: 'string', jsonPath: '.status.conditions[?(@.type=="Valid")].status' },
  type: { name: 'Type', type: 'string', jsonPath: '.spec.type' },
  url: { name: 'URL', type: 'string', jsonPath: '.status.url' },
  message: { name: 'Message', type: 'string', jsonPath: '.status.message', priority: 1 },
  age: { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
} as const satisfies Readonly<Record<string, PrinterColumn>>;

/** Where the API serves a kind. */
export function typeOfKind<K extends KindDefinition>({ kind, plural }: K): ResourceType<ObjectOf<K>> {
  return { apiVersion: `${API_GROUP}/${API_VERSION}`, kind, plural };
}
