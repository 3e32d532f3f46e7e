import { explainIssues } from '@toolmgr/core';
import type { KubeObject } from '@toolmgr/plugins/kit/kubernetes';
import type { z } from 'zod';
import type { KindDefinition } from '../kinds/kind.ts';
import { mcpRemoteProxy } from '../kinds/mcp-remote-proxy.ts';
import { mcpServer } from '../kinds/mcp-server.ts';
import { mcpServerEntry } from '../kinds/mcp-server-entry.ts';
import { entryUrlProblem } from './entry-url.ts';
import type { GroupMembers } from './related.ts';

/** A member of the group as a backend, before its credentials. */
export interface Candidate {
  readonly kind: string;
  readonly name: string;
  readonly url?: string;
  readonly transport: 'sse' | 'streamable-http';
  readonly isEntry: boolean;
  readonly metadata: Readonly<Record<string, string>>;
  /** Its own MCPExternalAuthConfig. */
  readonly authConfigRef?: string;
  /** Where its URL may lead. Only entries. */
  readonly addresses?: 'public' | 'network';
  /** Only entries. */
  readonly headerForward?: NonNullable<z.output<typeof mcpServerEntry.spec>['headerForward']>;
  readonly caBundle?: { readonly name: string; readonly key: string };
  /** Why it cannot be a backend. */
  readonly problem?: string;
  /** It has no URL yet, and will have one. */
  readonly isStarting?: boolean;
}

/** A name that two kinds use. */
export interface NameConflict {
  readonly name: string;
  readonly winner: string;
  readonly losers: readonly string[];
}

/**
 * The members of a group as backends, sorted by name. One name is one backend: when several kinds have it, MCPServer comes before
 * MCPRemoteProxy and MCPServerEntry.
 */
export function candidatesOf(members: GroupMembers): {
  readonly candidates: readonly Candidate[];
  readonly conflicts: readonly NameConflict[];
} {
  const all = [
    ...members.servers.map(serverCandidate),
    ...members.proxies.map(proxyCandidate),
    ...members.entries.map(entryCandidate),
  ];
  const byName = new Map<string, Candidate[]>();
  for (const candidate of all) byName.set(candidate.name, [...(byName.get(candidate.name) ?? []), candidate]);
  const names = [...byName.keys()].sort();
  return {
    candidates: names.flatMap((name) => byName.get(name)?.[0] ?? []),
    conflicts: names.flatMap((name) => {
      const [winner, ...losers] = byName.get(name) ?? [];
      if (winner === undefined || losers.length === 0) return [];
      return [{ name, winner: winner.kind, losers: losers.map(({ kind }) => kind) }];
    }),
  };
}

function serverCandidate(object: GroupMembers['servers'][number]): Candidate {
  return read(mcpServer, object, (spec) => ({
    ...inCluster(object.status?.url),
    transport: spec.transport === 'stdio' ? spec.proxyMode : spec.transport,
    ...authOf(spec),
  }));
}

function proxyCandidate(object: GroupMembers['proxies'][number]): Candidate {
  return read(mcpRemoteProxy, object, (spec) => ({
    ...inCluster(object.status?.url),
    transport: spec.transport,
    metadata: { remote_url: spec.remoteUrl },
    ...authOf(spec),
  }));
}

function entryCandidate(object: GroupMembers['entries'][number]): Candidate {
  return read(mcpServerEntry, object, (spec) => {
    const problem = entryUrlProblem(spec);
    const bundle = spec.caBundleRef?.configMapRef;
    return {
      url: spec.remoteUrl,
      transport: spec.transport,
      isEntry: true,
      addresses: spec.allowPrivateEndpoint ? 'network' : 'public',
      metadata: { remote_url: spec.remoteUrl },
      ...authOf(spec),
      ...(spec.headerForward === undefined ? {} : { headerForward: spec.headerForward }),
      ...(bundle === undefined ? {} : { caBundle: bundle }),
      ...(problem === undefined ? {} : { problem: `spec.remoteUrl ${problem}` }),
    };
  });
}

function inCluster(url: string | undefined): Partial<Candidate> {
  if (url !== undefined && url !== '') return { url };
  return { problem: 'it has no URL yet', isStarting: true };
}

function authOf({
  externalAuthConfigRef: ref,
}: {
  readonly externalAuthConfigRef?: { readonly name: string } | undefined;
}) {
  return ref === undefined ? {} : { authConfigRef: ref.name };
}

const TYPES: Readonly<Record<string, string>> = {
  MCPServer: 'mcp_server',
  MCPRemoteProxy: 'remote_proxy',
  MCPServerEntry: 'server_entry',
};

function read<K extends KindDefinition>(
  kind: K,
  object: KubeObject & { readonly spec: unknown },
  parts: (spec: z.output<K['spec']>) => Partial<Candidate>,
): Candidate {
  const { name, namespace = '' } = object.metadata;
  const base = { kind: kind.kind, name, transport: 'streamable-http', isEntry: false } as const;
  const metadata = {
    ...annotationsOf(object),
    tool_type: 'mcp',
    workload_type: TYPES[kind.kind] ?? '',
    namespace,
  };
  // the API server refuses such names, a file may have them
  if (!DNS_SUBDOMAIN.test(name)) return { ...base, metadata, problem: 'its name is no DNS subdomain' };
  const parsed = kind.spec.safeParse(object.spec);
  if (!parsed.success) {
    return { ...base, metadata, problem: explainIssues('spec', kind.spec, parsed.error).join('; ') };
  }
  const own = parts(parsed.data as z.output<K['spec']>);
  return { ...base, ...own, metadata: { ...metadata, ...own.metadata } };
}

const DNS_SUBDOMAIN = /^(?=.{1,253}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const MAX_ANNOTATION = 1024;
const MAX_ANNOTATIONS = 32;
const OF_TOOLS = /^([^/]+\.)?(kubernetes|k8s|helm|toolmgr)\.(io|sh|dev)\//;

/** Annotations of the user; those of tools are left out. */
function annotationsOf({ metadata: { annotations = {} } }: KubeObject): Readonly<Record<string, string>> {
  const own = Object.entries(annotations).filter(
    ([key, value]) => !OF_TOOLS.test(key) && value.length <= MAX_ANNOTATION && key !== '__proto__',
  );
  return Object.fromEntries(own.sort(([a], [b]) => (a < b ? -1 : 1)).slice(0, MAX_ANNOTATIONS));
}
