import type { Section } from '../section.ts';

/** The two commands of a fresh clone and what the hosts offer a person. */
export const commands = [
  {
    source: 'issue 2 §1 the two commands',
    says: {
      'ask.start.installs': 'npm start on a fresh clone installs what is missing',
      'ask.start.three-servers': 'npm start starts the everything, filesystem and memory servers from npm as workloads',
      'ask.start.scratch-folder': 'the filesystem server of npm start works on a scratch folder',
      'ask.start.waits': 'npm start waits until the three servers answer',
      'ask.start.serves': 'npm start serves vmcp on 127.0.0.1:4483/mcp',
      'ask.start.one-call': 'npm start makes one tool call itself',
      'ask.start.prints-url': 'npm start prints the URL',
      'ask.start.prints-tools': 'npm start prints the tools per server',
      'ask.start.prints-client-configuration': 'npm start prints a client configuration that is ready to paste',
      'ask.start.prints-how-to-stop': 'npm start prints how to stop',
      'ask.start.ctrl-c': 'Ctrl-C stops everything and leaves no process behind',
      'ask.start.taken-port': 'a taken port gives a clear sentence and a way out',
      'ask.start.no-network': 'a missing network gives a clear sentence and a way out',
      'ask.start.missing-tool': 'a missing tool gives a clear sentence and a way out',
      'ask.start.second-start': 'the second start serves the endpoint in under 5 seconds',
      'ask.start.any-user': 'npm start works for root and for another user',
      'ask.test.installs': 'npm test on a fresh clone installs what is missing',
      'ask.test.checks': 'npm test type-checks, lints and runs every test with the real parts',
      'ask.test.summary': 'npm test ends with the summary of the runner itself',
      'ask.test.ci': '.ci/run calls exactly npm test',
      'ask.node.pinned': 'the Node of a clone comes through npm by optional platform packages',
      'ask.node.old-node-enough': 'both commands work where only Node 20 is installed',
      'ask.node.engines': 'published packages state the oldest Node that gets security fixes as engines, and run on it',
      'ask.node.decision-note': 'how and why Node is pinned stands in a decision note',
    },
  },
  {
    source: 'issue 2 §4 hosts',
    says: {
      'ask.vmcp.serve-config': 'toolmgr vmcp serve -c FILE serves the file',
      'ask.vmcp.serve-group': 'toolmgr vmcp serve --group NAME serves the workloads of the group',
      'ask.vmcp.serve-needs-one': 'vmcp serve without file and group is an error',
      'ask.vmcp.serve-config-wins': 'vmcp serve takes the file when both are given',
      'ask.vmcp.serve-flags': 'vmcp serve takes --host, --port, --session-ttl, --enable-audit and --debug',
      'ask.vmcp.session-ttl-flag': 'a --session-ttl of 0 means 30m and a negative one is an error',
      'ask.vmcp.group-loopback-only': 'vmcp serve --group refuses a host that is not loopback',
      'ask.vmcp.group-quick-mode':
        'vmcp serve --group is anonymous, unauthenticated, with prefix strategy and the name of the group',
      'ask.vmcp.validate':
        'vmcp validate prints name, group, incoming type, outgoing source, backend count, strategy and composite count',
      'ask.vmcp.validate-exit': 'vmcp validate exits non-zero on an error',
      'ask.vmcp.validate-all-problems': 'vmcp validate names each problem with its path',
      'ask.vmcp.init': 'vmcp init -g GROUP writes the YAML of the running workloads of the group',
      'ask.vmcp.init-mode': 'vmcp init writes its file with mode 0600, or to stdout',
      'ask.vmcp.init-round-trip': 'a file of vmcp init is served as it is',
      'ask.vmcp.plan': 'vmcp plan prints the Plan of a file as YAML',
      'ask.vmcp.explain': 'vmcp explain TOOL names backend, original name and override',
      'ask.vmcp.explain-plugin': 'vmcp explain TOOL names the plugin that shaped the tool or would refuse it',
      'ask.vmcp.explain-call':
        'vmcp explain call TOOL ARGUMENTS decides a call of a person as a gateway would, and sends nothing',
      'ask.vmcp.simulate': 'vmcp simulate names the calls of an audit file that a file would decide in another way',
      'ask.audit.chain':
        'audit.chain numbers lines and names the hash of the line before each, and audit verify finds what was changed, removed or moved',
      'ask.audit.on-failure': 'audit.onFailure refuse answers calls with 503 while audit lines cannot be written',
      'ask.audit.sinks':
        'audit lines are also sent to a syslog server, an OpenTelemetry collector and a webhook, each with a queue of its own',
      'ask.audit.sign-ins':
        'audit has an event for each sign-in, connected account, consent, registration and ended session',
      'ask.audit.query': 'audit query prints the events that match its options, over rotated parts',
      'ask.vmcp.exit-codes': 'flags, defaults and exit codes are as the reference says',
      'ask.vmcp.yaml-near-miss': 'an unknown key of the file is refused with the nearest known key',
      'ask.vmcp.yaml-plugins': 'the key plugins adds to what the file gives or replaces it',
      'ask.run.npx': 'toolmgr run npx://pkg starts the package as a workload',
      'ask.run.command': 'toolmgr run starts a local command as a workload',
      'ask.run.url': 'toolmgr run URL starts a remote server as a workload',
      'ask.run.options': 'run takes --name, --group, --transport, --proxy-port, --host, --env and --foreground',
      'ask.run.later-options-refused': 'every option that is not built yet is refused by its name',
      'ask.run.forms-inspected': 'every form of run is called by the command line of the MCP Inspector',
      'ask.run.forms-both-revisions': 'every form of run serves clients of 2025-11-25 and of 2026-07-28',
      'ask.run.transports-both-revisions':
        'servers over stdio, sse and streamable HTTP serve clients of both revisions',
      'ask.run.http-sse-apart': 'a message for one client of HTTP+SSE is never sent to another',
      'ask.run.list': 'toolmgr list shows the workloads',
      'ask.run.stop': 'toolmgr stop stops a workload',
      'ask.run.rm': 'toolmgr rm removes a workload',
      'ask.run.logs': 'toolmgr logs shows the output of a workload',
      'ask.run.state-atomic': 'the state on disk is written atomically',
      'ask.run.state-survives-kill': 'the state on disk survives a kill at any moment',
      'ask.run.state-lock':
        'a change that was reported as stored is not lost when others write, are suspended or are killed',
      'ask.up.serves-file': 'toolmgr up FILE serves an existing client configuration as it is',
      'ask.up.commands': 'commands of mcpServers become process workloads',
      'ask.up.urls': 'URLs of mcpServers become remotes',
      'ask.up.one-endpoint': 'toolmgr up puts one endpoint in front',
      'ask.up.shapes': 'toolmgr up reads the shapes that Claude, Cursor and VS Code write',
      'ask.up.watch': 'toolmgr up --watch follows edits',
      'ask.up.timeout':
        'toolmgr up gives a call the timeout of the client file, else that of --timeout, else 10 minutes; progress starts it again',
      'ask.up.lists-of-last-time':
        'a server that has not answered when a client lists is listed as it was last time, and a change is announced; never with the lists of other credentials',
      'ask.cli.tools': 'toolmgr tools lists the tools of a running endpoint',
      'ask.cli.call-json': 'toolmgr call TOOL --args JSON calls a tool of a running endpoint',
      'ask.cli.call-pairs': 'toolmgr call TOOL key=value calls a tool of a running endpoint',
      'ask.cli.two-commands': 'the first real call takes two commands and under a minute',
      'ask.embedding.plain-node':
        'the core alone runs in a plain Node HTTP server, shown by an example that checks itself',
      'ask.embedding.fastify':
        'the core alone runs in a Fastify app of someone else, shown by an example that checks itself',
      'ask.embedding.express':
        'the core alone runs in an Express app that parses bodies, shown by an example that checks itself',
      'ask.embedding.hono':
        'the core alone runs in a Hono app of someone else by web-standard requests, shown by an example that checks itself',
      'ask.embedding.types':
        'apps of Express, Fastify and Hono typecheck with the packed core under TypeScript 5.9 and 7, and answer a call',
      'ask.embedding.page':
        'the page about embedding has every step from an empty folder to a server that answers calls and stops',
      'ask.embedding.fetch-leaves':
        'fetch answers, ends its stream and stops the call when request.signal is aborted or the body of the response is cancelled',
      'ask.embedding.fetch-address':
        'fetch takes the address of the client, and believes trusted proxies as handle does',
      'ask.embedding.body': 'handle takes a body that the host has read: bytes, text or the JSON value',
      'ask.embedding.body-consumed':
        'a body that was read and not handed over is an immediate error that says what to do',
      'ask.embedding.vmcp-file':
        'loadVmcpFile gives the plan of a vmcp file to an app, and every problem with its line',
      'ask.embedding.vmcp-file-plugins':
        'loadVmcpFile runs the plugins that a file names only when the app asks for it, and refuses the file otherwise',
      'ask.embedding.mount-path': 'handle finds the endpoint when a framework has taken a mount path off the URL',
      'ask.api.report': 'the exports of the packages are listed in report files that a test compares',
      'ask.api.deprecated': 'each deprecated declaration names the version that marked it and the replacement',
      'ask.testing.kit': '@toolmgr/core/testing gives a gateway in memory with fake backends and a client',
      'ask.testing.clock': 'the test kit has a fake clock',
      'ask.testing.token-issuer': 'the test kit has a local token issuer',
      'ask.testing.boot': 'the test kit boots a gateway in under 150 ms',
      'ask.testing.no-sockets': 'the test kit opens no socket unless asked',
      'ask.testing.scaffold': 'toolmgr plugin new NAME writes typed configuration, test and README',
      'ask.plugin.page':
        "the guide to plugins has every step from an empty folder to a gateway that serves a plugin of one's own",
      'ask.testing.scaffold-old-node': 'the tests of a new plugin say when Node is too old for them',
      'ask.testing.scaffold-green': 'a new plugin is green in under a minute',
    },
  },
  {
    source: 'ask: names in a file',
    says: {
      'ask.vmcp.unknown-step-tool':
        'a composite step that names an unknown tool of static backends is reported by validate and warned of at the start',
      'ask.vmcp.unknown-limited-tool':
        'a rateLimiting.tools entry that names no tool is reported by validate and warned of at the start',
      'ask.vmcp.serve-optimizer':
        'vmcp serve --optimizer serves find_tool and call_tool, for a file and for a group, with the settings of the file if it has any',
      'ask.vmcp.validate-connect': 'vmcp validate --connect opens the backends once and reports names that do not fit',
    },
  },
  {
    source: 'ask: custom plugins and starts that fail',
    says: {
      'ask.custom-plugin.told-with-line':
        'a custom plugin that cannot be loaded or configured is told with the line of the file by validate, plan and serve',
      'ask.custom-plugin.by-package': 'use takes the name of an installed package',
      'ask.custom-plugin.own-section':
        'a custom plugin with a contractKey has a section at top level of the vmcp file, read with line and nearest key',
      'ask.custom-plugin.own-core':
        'errors of a plugin with its own copy of the core mean the same as ours, and a plugin of another version of the interface is refused with what to update',
      'ask.custom-plugin.not-run-by-checks':
        'validate and plan load the files and packages under plugins only with --load-plugins, manifests never; the output names what was not loaded',
      'ask.custom-plugin.not-called-valid':
        'validate and doctor call no file valid whose plugins they did not load, and validate lists who knows callers as not checked',
      'ask.operator.hostile-objects':
        'no VirtualMCPServer runs code in the operator, ends it, or keeps it from the objects of other namespaces',
      'ask.operator.own-plugins':
        'plugins that are not of the catalogue are loaded by the pods only, and the status has what the pods say of them',
      'ask.operator.plugin-image':
        'the documented image with a plugin of your own runs in a cluster; when new pods cannot load the plugin, the old ones serve',
      'ask.token.rejected-logged':
        'a token that is rejected is logged with the reason, and no flood of them fills the log',
      'ask.token.client-told': 'toolmgr tools prints the error_description of a 401',
      'ask.start.cause-shown': 'a start that fails shows why, down to the first cause',
      'ask.start.bare-manager':
        'toolmgr serve starts without optional packages, and it and toolmgr doctor --all name each function that is missing, with one command that installs its packages',
      'ask.doctor.files':
        'doctor checks files of clients, vmcp files and manifests as what they are, one problem per line',
      'ask.hints.own-command':
        'commands in hints begin as the user started the program: npx, pnpm, Yarn, Bun, npm run in a clone, or toolmgr alone',
      'ask.hints.port-owner': 'a taken port names who of toolmgr has it, with pid and URL, and how to use or stop it',
      'ask.page.cancelled-call': 'the page says of a cancelled call that it was cancelled',
      'ask.start.confirms-end': 'a server that was stopped confirms its end',
      'ask.hints.nearest-tool':
        'an unknown tool is answered with the nearest names, also with, without or with another prefix of a backend',
      'ask.call.exit-codes':
        'call exits with 5 when the tool failed or the call was refused, with 12 when there is no such tool, and with 10 while it may still come',
      'ask.start.failing-quiet':
        'a program that fails again and again has one message per event, its last lines once, and a count of the repeats',
      'ask.start.absent-package':
        'a package that its registry does not have is named in one line, with a fix that fits',
      'ask.install.tarballs':
        'the tarballs of npm run pack are installed by npm as the page says (by pnpm and Yarn in npm run proof), without a registry that has them, and plugin new makes a plugin that npm installs there',
      'ask.start.peer-install': 'an optional package that is missing is named with the command that installs it',
    },
  },
] as const satisfies readonly Section[];
