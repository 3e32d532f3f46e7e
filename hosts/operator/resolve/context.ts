import type { z } from 'zod';
import type { virtualMcpServer } from '../kinds/virtual-mcp-server.ts';
import type { Findings } from './findings.ts';
import type { Lookups } from './lookups.ts';
import type { PodParts } from './pod-parts.ts';
import type { Defaults } from './related.ts';

/** The spec of a VirtualMCPServer with its defaults. */
export type ServerSpec = z.output<typeof virtualMcpServer.spec>;

/** What every part of resolving works with. */
export interface Context {
  readonly name: string;
  readonly namespace: string;
  readonly spec: ServerSpec;
  readonly lookups: Lookups;
  readonly findings: Findings;
  readonly pod: PodParts;
  readonly defaults: Defaults;
}

/** A section of the vmcp file as an object. */
export type Section = Readonly<Record<string, unknown>>;

/** URL of the Service of the aggregator, without the path of the endpoint. */
export function serviceUrl({ name, namespace, defaults }: Pick<Context, 'name' | 'namespace' | 'defaults'>): string {
  return `http://vmcp-${name}.${namespace}.svc.${defaults.clusterDomain ?? 'cluster.local'}:4483`;
}
