import { definePlugin } from '@toolmgr/core';
import { workloadChanged, workloadRuntimes } from '@toolmgr/plugins/kit/extension-points';
import { groupName, podName, workloadName } from '@toolmgr/plugins/kit/workloads';
import { resourceLimits } from '@toolmgr/plugins/kit/workloads/permissions';
import { z } from 'zod';
import { serveWorkloads } from './serve-workloads.ts';

const ADDRESS = 'backend-sources/workloads';

const port = z.int().min(1).max(65_535);

const container = z.strictObject({
  image: z
    .string()
    .min(1)
    .describe(
      'name of the image, with a tag or digest; or a package that is made into one: `npx://`, `uvx://`, `go://`',
    ),
  build: z
    .strictObject({
      baseImage: z.string().optional().describe('base image; default: a usual one of the ecosystem'),
      packages: z.array(z.string()).default([]).describe('packages of apk or apt that are added'),
      constraints: z.array(z.string()).default([]).describe('constraints of dependencies, for `uvx://`'),
      env: z.record(z.string(), z.string()).default({}).describe('variables that the image sets'),
      caCertFile: z.string().optional().describe('PEM file with certificates that the build and the server trust'),
    })
    .optional()
    .describe('how the image of a package is made'),
  args: z.array(z.string()).default([]).describe("arguments of the image's entry point"),
  labels: z.record(z.string(), z.string()).default({}).describe('labels of the container, beside those of toolmgr'),
  network: z.string().optional().describe('network of the engine: `bridge` (default), `host`, `none` or a name'),
  isolation: z
    .strictObject({
      outbound: z
        .strictObject({
          insecure_allow_all: z.boolean().default(false).describe('any public host and port'),
          allow_host: z.array(z.string()).default([]).describe('names, `.domain`, addresses and networks'),
          allow_port: z.array(port).default([]).describe('ports'),
        })
        .optional()
        .describe('what the container may reach; without it any public host and port'),
      allowGateway: z.boolean().default(false).describe('the container may reach this machine by the gateway names'),
    })
    .optional()
    .describe('isolates the container from every network; it reaches the outside through a proxy'),
  mounts: z
    .array(
      z.strictObject({
        source: z.string().min(1).describe('absolute path on this machine'),
        target: z.string().min(1).describe('absolute path in the container'),
        readOnly: z.boolean().default(true).describe('the container cannot write there'),
      }),
    )
    .default([])
    .describe('folders and files of this machine that the container sees'),
  ignore: z
    .strictObject({
      loadGlobal: z.boolean().default(true).describe('reads the .toolmgrignore of the configuration folder too'),
      printOverlays: z.boolean().default(false).describe('writes each hidden path to the output of the workload'),
    })
    .optional()
    .describe('the file .toolmgrignore of a mounted folder hides files and folders of it'),
  publish: z
    .array(
      z.strictObject({
        hostPort: port.optional().describe('port of this machine'),
        containerPort: port.describe('port of the container'),
      }),
    )
    .default([])
    .describe('further ports that are published on this machine; without `hostPort` the engine chooses one'),
  limits: resourceLimits.optional().describe('limits of the container; 0 is no limit'),
  readOnlyRoot: z
    .boolean()
    .optional()
    .describe(
      'nothing can be written but `/tmp` and mounts; default: what the label `dev.toolmgr.read-only-root` of the image says',
    ),
  privileged: z.boolean().default(false).describe('gives the container all rights of this machine'),
});

const workload = z.strictObject({
  runtime: z
    .string()
    .min(1)
    .describe('name in the slot workloadRuntimes: `process`, `container`, `remote-url` or `kubernetes`'),
  name: workloadName.describe('name of the workload and of its backend'),
  group: groupName.default('default').describe('group of the workload'),
  transport: z.enum(['stdio', 'sse', 'streamable-http']).describe('transport of the program or remote server'),
  command: z
    .strictObject({
      file: z.string().min(1).describe('path of the program, or its name on PATH'),
      args: z.array(z.string()).default([]).describe('exact arguments, without a shell'),
    })
    .optional()
    .describe('for the runtime `process`'),
  container: container.optional().describe('for the runtime `container`'),
  url: z.string().optional().describe('for the runtime `remote-url`'),
  pod: z
    .strictObject({
      namespace: podName.describe('namespace of the pod'),
      name: podName.describe('name of the pod'),
      container: podName.describe('name of the container'),
    })
    .optional()
    .describe('for the runtime `kubernetes`'),
  env: z.record(z.string(), z.string()).default({}).describe('variables in addition to the minimal environment'),
  cwd: z.string().optional().describe('working directory of the program'),
  targetPort: z
    .int()
    .min(1)
    .max(65_535)
    .optional()
    .describe('port that the program listens on; default: a free port, passed to it'),
  targetHost: z.string().min(1).optional().describe('address on which the program listens; default: 127.0.0.1'),
  sessions: z
    .enum(['perClient', 'shared', 'single'])
    .optional()
    .describe(
      '`shared`: one session for all clients with equal capabilities, for servers without state; `single`: one for all clients, without their capabilities',
    ),
  keepFile: z
    .string()
    .optional()
    .describe(
      'file that remembers the containers of a stdio server with `sessions: shared`: they outlive the gateway, and the next one uses them',
    ),
  logFile: z.string().optional().describe('file for the output of the program'),
});

/** Starts workloads and serves them as backends. */
export default definePlugin({
  address: ADDRESS,
  stability: 'alpha',
  summary: 'Starts workloads through their runtime, serves them as backends, and stops them with the gateway.',
  config: z.strictObject({
    workloads: z.array(workload).describe('workloads to start and serve'),
    stopMs: z.int().min(0).default(5_000).describe('milliseconds for a workload to end before it is killed'),
  }),
  apply(core, { workloads, stopMs }) {
    const running = new Set<Promise<void>>();
    const stopped = new AbortController();
    core.slots.backendSources.register(ADDRESS, {
      watch(push, signal) {
        const { log } = core;
        const until = AbortSignal.any([signal, stopped.signal]);
        const serving = serveWorkloads({
          workloads,
          stopMs,
          runtimes: core.slot(workloadRuntimes),
          log,
          push,
          changed: (state) => core.hook(workloadChanged).call(state),
          now: core.now,
          signal: until,
        });
        running.add(serving);
        return serving.finally(() => running.delete(serving));
      },
    });
    // the stop waits until all processes have ended
    core.hooks.stopping.tapPromise(ADDRESS, async () => {
      stopped.abort();
      await Promise.allSettled(running);
    });
  },
});
