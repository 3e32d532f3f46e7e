import { explainIssues } from '@toolmgr/core';
import type { KubeObject } from '@toolmgr/plugins/kit/kubernetes';
import { embeddingObjects } from '../controllers/embedding-server/build-objects.ts';
import { serverDefinition } from '../controllers/mcp-server/part.ts';
import { namedAsProxy, type ProxySpec } from '../controllers/proxy/proxy-context.ts';
import type { ProxyDefinition } from '../controllers/proxy/proxy-controller.ts';
import { remoteProxyDefinition } from '../controllers/remote-proxy/part.ts';
import { type EmbeddingServer, embeddingServer } from '../kinds/embedding-server.ts';
import { createFindings, type Findings } from '../resolve/findings.ts';
import { createLookups } from '../resolve/lookups.ts';
import { createPodParts } from '../resolve/pod-parts.ts';
import { fileObjects } from './file-objects.ts';

/**
 * Why the operator would not run an MCPServer, an MCPRemoteProxy or an EmbeddingServer: it is built as the operator builds it. What
 * the file does not have may exist in the cluster. Needs an object that the API server accepts.
 */
export async function workloadProblems(object: KubeObject, objects: readonly KubeObject[]): Promise<readonly string[]> {
  if (object.kind === serverDefinition.kind.kind) return proxyProblems(serverDefinition, object, objects);
  if (object.kind === remoteProxyDefinition.kind.kind) return proxyProblems(remoteProxyDefinition, object, objects);
  if (object.kind !== embeddingServer.kind) return [];
  const { templateProblem } = embeddingObjects(object as EmbeddingServer);
  return templateProblem === undefined ? [] : [`spec.podTemplateSpec: ${templateProblem}`];
}

async function proxyProblems<Spec extends ProxySpec>(
  { kind, urlOf, build }: ProxyDefinition<Spec>,
  object: KubeObject,
  objects: readonly KubeObject[],
): Promise<readonly string[]> {
  const { name, namespace = 'default' } = object.metadata;
  const key = { name, namespace };
  const read = kind.spec.safeParse((object as { readonly spec?: unknown }).spec);
  if (!read.success) return explainIssues('spec', kind.spec, read.error);
  const related = fileObjects(objects, { namespace });
  const lookups = createLookups(related);
  const failed = new Set<string>();
  const findings = namedAsProxy(noting(failed), kind.kind);
  await build({
    ...{ key, spec: read.data, url: urlOf(key, read.data), image: 'toolmgr', imagePullSecrets: [], isOpenShift: false },
    context: { ...key, lookups, findings, pod: createPodParts(lookups), defaults: {} },
  });
  const absent = related.notInFile().map((each) => `there is no ${each.replace(/^ConfigMap /, 'config map ')}`);
  return [...failed].filter((message) => !absent.some((text) => message.includes(text)));
}

/** Findings that keep the messages of failed checks. */
function noting(failed: Set<string>): Findings {
  const findings = createFindings(1, []);
  return {
    ...{ tell: findings.tell, wait: findings.wait, warn: findings.warn, result: findings.result },
    fail(type, reason, message, event) {
      failed.add(message);
      findings.fail(type, reason, message, event);
    },
    get hasFailed() {
      return findings.hasFailed;
    },
  };
}
