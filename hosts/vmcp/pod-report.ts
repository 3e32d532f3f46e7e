import { createHash } from 'node:crypto';
import { z } from 'zod';

/**
 * What one pod of an aggregator sees. Each pod writes its own key, its pod name, of one config map; the operator joins the
 * reports into the status of the VirtualMCPServer.
 *
 * Shape: JSON text; times are RFC 3339. Field names and values of backends: vmcp spec §2 `status.discoveredBackends[]`.
 */
export const podReport = z.object({
  /** Checksum of the configuration that the pod has loaded. */
  configChecksum: z.string(),
  /** Checksum of the backends document that the pod has loaded; absent when the configuration lists the backends. */
  backendsChecksum: z.string().optional(),
  reportedAt: z.string(),
  backends: z.array(
    z.object({
      name: z.string(),
      url: z.string().optional(),
      status: z.enum(['ready', 'degraded', 'unavailable', 'unauthenticated', 'unknown']),
      message: z.string().optional(),
      authType: z.string().optional(),
      authConfigRef: z.string().optional(),
      circuitBreakerState: z.enum(['closed', 'open', 'half-open']).optional(),
      circuitLastChanged: z.string().optional(),
      consecutiveFailures: z.int().min(0).optional(),
      lastHealthCheck: z.string().optional(),
      mcpRevision: z.string().optional(),
      /** Number of tools that the backend lists. */
      tools: z.int().min(0).optional(),
    }),
  ),
});

/** A parsed report. */
export type PodReport = z.output<typeof podReport>;

/** Prefix of the annotations of the config map that change with what a pod reports, but not with times alone. */
export const REPORT_ANNOTATIONS = 'report.toolmgr.dev/';

/** The annotation of one pod. A hash, because names of pods may be longer than those of annotations. */
export function reportAnnotation(pod: string): string {
  return REPORT_ANNOTATIONS + shortHash(pod);
}

/** Value of an annotation for a report without its times. */
export function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}
