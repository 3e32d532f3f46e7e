import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import https from 'node:https';
import { join } from 'node:path';
import { runTool } from '../../scripts/rigs/run-tool.ts';
import { rig } from './rig.ts';

/** Where a cluster is, and how an administrator reaches it. */
export interface KubeAddress {
  /** URL of the API server. */
  readonly server: string;
  /** Bearer token of a member of `system:masters`. */
  readonly token: string;
  /** PEM file with the CA of the API server. */
  readonly caFile: string;
  readonly kubeconfig: string;
  /** Folder with the state and the logs; deleted at the end. */
  readonly folder: string;
}

/** An administrator of a cluster. */
export interface KubeClient extends KubeAddress {
  /** Runs kubectl; `input` is its standard input. @throws Error with its output */
  kubectl(args: readonly string[], input?: string): Promise<string>;
  /** One request with the token; `body` is sent as JSON. */
  request(
    method: string,
    path: string,
    body?: unknown,
    contentType?: string,
  ): Promise<{ status: number; body: unknown }>;
  /** Creates a namespace, without a process. @throws Error with the answer */
  createNamespace(name: string): Promise<void>;
}

/** Path of the rig's program; its first argument names the component. @throws Error when the rig is missing */
export function kubeProgram(): string {
  const found = rig('kube');
  if ('missing' in found) throw new Error(found.missing);
  return join(found.folder, 'kube');
}

/** The administrator of a cluster that runs, or that starts. */
export function kubeClient(address: KubeAddress): KubeClient {
  const { server, token, caFile, kubeconfig, folder } = address;
  const request: KubeClient['request'] = (method, path, body, contentType = 'application/json') =>
    new Promise((resolve, reject) => {
      const text = body === undefined ? undefined : JSON.stringify(body);
      const headers = {
        authorization: `Bearer ${token}`,
        ...(text === undefined ? {} : { 'content-type': contentType }),
      };
      const ca = existsSync(caFile) ? readFileSync(caFile) : undefined;
      const sent = https.request(server + path, { method, headers, agent: false, ca }, (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk) => chunks.push(chunk));
        answer.on('end', () => {
          const read = Buffer.concat(chunks).toString();
          const isJson = answer.headers['content-type']?.includes('json') === true;
          resolve({ status: answer.statusCode ?? 0, body: isJson ? JSON.parse(read) : read });
        });
      });
      sent.on('error', reject);
      sent.end(text);
    });
  return {
    ...address,
    request,
    kubectl(args, input) {
      const file = join(folder, `input-${randomBytes(4).toString('hex')}.yaml`);
      if (input !== undefined) writeFileSync(file, input);
      const named = input === undefined ? args : [...args, '-f', file];
      const connection = [`--kubeconfig=${kubeconfig}`, `--cache-dir=${join(folder, 'cache')}`];
      return runTool(kubeProgram(), ['kubectl', ...connection, ...named]);
    },
    async createNamespace(name) {
      const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
      const { status, body } = await request('POST', '/api/v1/namespaces', namespace);
      if (status !== 201) throw new Error(`the namespace ${name} was not created: ${JSON.stringify(body)}`);
    },
  };
}
