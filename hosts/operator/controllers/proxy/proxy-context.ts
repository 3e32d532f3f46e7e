import type { z } from 'zod';
import type { proxyFields } from '../../kinds/workload.ts';
import type { Context, Section } from '../../resolve/context.ts';
import type { Findings } from '../../resolve/findings.ts';

/** What the resolving of a proxy works with: that of VirtualMCPServers without the spec. */
export type ProxyContext = Omit<Context, 'spec'>;

/** Findings whose messages name the fields of a proxy where VirtualMCPServers have others. */
export function namedAsProxy(findings: Findings, kind: string): Findings {
  const text = (message: string): string => TEXTS.reduce((all, [from, to]) => all.replaceAll(from, to(kind)), message);
  return {
    tell: (type, status, reason, message) => findings.tell(type, status, reason, text(message)),
    fail: (type, reason, message, event) => findings.fail(type, reason, text(message), event),
    wait: (type, reason, message) => findings.wait(type, reason, text(message)),
    warn: (reason, message) => findings.warn(reason, text(message)),
    get hasFailed() {
      return findings.hasFailed;
    },
    result: () => findings.result(),
  };
}

const TEXTS: readonly (readonly [string, (kind: string) => string])[] = [
  ['spec.incomingAuth.', () => 'spec.'],
  ['spec.incomingAuth', () => 'spec'],
  ['spec.authServerConfig', () => 'spec.embeddedAuthServer of the MCPExternalAuthConfig'],
  ['VirtualMCPServer', (kind) => kind],
];

/** The part of a spec that all proxies have, with its defaults. */
export type ProxySpec = z.output<z.ZodObject<typeof proxyFields>>;

/** What the run configuration of a proxy has beside what its kind adds. */
export interface ProxyFacts {
  readonly spec: ProxySpec;
  /** What is run, and how it speaks. */
  readonly target: Section;
  /** URL of the endpoint for clients. */
  readonly url: string;
  /** How many proxies run. */
  readonly replicas: number | undefined;
}

/** Hashes of referenced configurations, for the status. */
export type Hashes = Readonly<Record<string, string>>;
