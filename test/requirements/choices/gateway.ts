import type { Section } from '../section.ts';

/** Decisions about configuration, standalone use and the hazards of ordering. */
export const gatewayChoices = [
  {
    source: 'choice: general',
    says: {
      'choice.general.unknown-key-refused': 'an unknown key is refused and the nearest known one is named',
      'choice.general.unknown-flag-refused': 'an unknown flag is refused and the nearest known one is named',
      'choice.general.never-ignored': 'a setting either works or is refused with the reason',
      'choice.general.durations-at-edge': 'durations are Go duration strings at every edge',
      'choice.general.secrets-by-reference':
        'files hold references to secrets; plain secrets that the contract allows cause a warning',
      'choice.general.secrets-redacted': 'secrets are redacted in every read, log and error',
      'choice.general.no-phoning-home': 'nothing is reported to anyone',
      'choice.general.paths': 'files live in XDG folders named toolmgr',
      'choice.general.one-order': 'one order of stages holds for all hosts',
      'choice.general.extension-keys': 'extensions have plugin keys of their own and change no meaning of a spec key',
    },
  },
  {
    source: 'ask: no unreported end of the process',
    says: {
      'choice.process.rejection-heard': 'an unhandled promise rejection is logged and does not end the gateway',
      'choice.process.conflict-stays-up':
        'a gateway whose tool names collide at the start reports that and keeps running',
    },
  },
  {
    source: 'choice: standalone',
    says: {
      'choice.standalone.yaml-is-config': 'the YAML file is the shape of spec.config at top level',
      'choice.standalone.required-sections': 'name, groupRef, incomingAuth, outgoingAuth and aggregation are required',
      'choice.standalone.order-free': 'the order of sections is free',
      'choice.standalone.env-name-unset': 'an environment name that is unset or empty stops the start and names it',
      'choice.standalone.discovered-refused': 'source discovered outside a cluster is refused',
      'choice.standalone.static-or-group':
        'backends make the list static, and without them the workloads of the group are discovered',
      'choice.standalone.group-change-seen': 'a workload that joins or leaves the group reaches the endpoint',
    },
  },
  {
    source: 'choice: lists at the start',
    says: {
      'choice.first-lists.wait':
        'the first lists wait, bounded, for the first snapshot of every source and the first answer of every backend',
      'choice.first-lists.after-reload':
        'lists wait in the same way for backends that a change of the configuration adds',
      'choice.first-lists.bounded': 'a slow backend delays the lists of others by limits.discoveryMs at most',
      'choice.first-lists.below-clients':
        'with the defaults lists are answered before common clients end the request, which some do after 5 s',
      'choice.first-lists.incomplete':
        'a list that lacks backends names them in its _meta or is refused by their names, and a notification follows',
    },
  },
  {
    source: 'choice: the age of lists',
    says: {
      'choice.list-age.ttl':
        'lists of a backend that announces no changes are read again after their ttlMs, those of 2025-11-25 after a minute, when a client lists; a change is announced',
      'choice.list-age.bounded':
        'such a list is read at most once within limits.listTtlMs and at least once a day, one whose changes are announced is not',
      'choice.list-age.calls': 'a call of a name that no list has waits while an old list is read again',
      'choice.list-age.own':
        'lists for 2026-07-28 clients have limits.listTtlMs as ttlMs, less when a backend without announcements says so, 0 when a backend is missing, and are private',
    },
  },
  {
    source: 'choice: logs of a stdio backend of 2026-07-28 (docs/decisions/057)',
    says: {
      'choice.logs.nothing-lost':
        'every log message of overlapping calls of one caller arrives on the stream of one of them',
      'choice.logs.level': 'it arrives on the first call that named a level which it reaches',
      'choice.logs.no-stranger': 'calls of another caller that name a level run in another program meanwhile',
      'choice.logs.bounded':
        'there are no more programs than limits.processesPerBackend, then such a call is made without a log level; a backend without the capability needs none',
    },
  },
  {
    source: 'choice: names that no list has',
    says: {
      'choice.unlisted.waits':
        'a call of a name that no list has waits, for limits.helloMs at most, for the lists that are being read',
      'choice.unlisted.named':
        'then its error names the backends whose lists are not known, and why: starting, away, credentials, an account to connect',
      'choice.unlisted.credentials-changed':
        'when a plugin says that the credentials of a caller changed, the lists of the caller are read again at once, and its sessions are notified',
    },
  },
  {
    source: 'choice: first start of programs',
    says: {
      'choice.first-start.minutes': 'the first start of a program may take five minutes, or what is set',
      'choice.first-start.not-killed':
        'a program that is being installed is not ended for its silence, in either revision',
      'choice.first-start.absent':
        'a package that its registry does not have is started once for each try, with pauses from 10 s to 10 min',
      'choice.first-start.bounded': 'a first start that takes longer than its time is ended and tried again',
      'choice.first-start.calls':
        'calls during the start fail with the message that it is still starting, and for how many seconds',
      'choice.first-start.later':
        'a later start of a program, for a session, may take a multiple of what the earlier starts took',
      'choice.first-start.told': 'the terminal shows what is still starting, and when each is ready or why it failed',
      'choice.first-start.one-install':
        'one package is never installed twice at a time into one cache, by backends, workloads or gateways',
    },
  },
  {
    source: 'choice: command line',
    says: {
      'choice.cli.foreground-exit-code': 'run -f ends when the program ends by itself, with its exit code',
      'choice.cli.own-flags': 'flags of the product are never read by Node',
      'choice.cli.person-folder': 'relative paths are relative to the folder of the user, also through npm --prefix',
    },
  },
  {
    source: 'choice: systems (docs/project/support.md)',
    says: {
      'choice.windows.scripts':
        'npx and other scripts are found on the PATH and started on Windows, and never from the working folder',
      'choice.windows.quoting': 'on Windows no argument of a server is read by the shell that starts its script',
      'choice.windows.tree': 'on Windows a server is ended with all processes that it has started',
      'choice.windows.refused': 'on Windows a workload is refused before anything is made',
      'choice.windows.environment': 'on Windows programs inherit the path and the folders of the system',
    },
  },
  {
    source: 'choice: networks',
    says: {
      'choice.network.inherited':
        'programs inherit proxy and CA variables and settings of package runners, and nothing that names a secret',
      'choice.network.runner-speaks': 'npx below `npm run -s` still says why it cannot install a package',
      'choice.network.explained': 'explain prints which variables a program inherits, by name',
      'choice.network.proxy-backends':
        'remote backends are reached through the proxy of the environment, https by CONNECT',
      'choice.network.no-proxy': 'NO_PROXY and this machine are reached directly',
      'choice.network.proxy-secret': 'credentials of a proxy are sent only to the proxy and are not logged',
      'choice.network.proxy-services': 'OIDC and OTLP go through the proxy of the environment',
    },
  },
  {
    source: 'choice: ordering hazards',
    says: {
      'choice.order.rename-decided-again':
        'a rewrite that changes the tool name resolves and authorises again under the new name',
      'choice.order.headers-after-rewrite': 'headers to the backend follow the rewritten call',
      'choice.order.list-and-call-agree': 'the same decision serves the list and the call',
      'choice.order.refusal-everywhere': 'a refusal of a plugin applies to every transport, method and inner call',
      'choice.order.calls-tell-no-more-than-lists':
        'a call of a hidden name is answered like a call of an unknown name',
      'choice.order.look-alike-arguments':
        'arguments that differ only by case from each other or from declared ones answer -32602 after policy has decided',
      'choice.order.completion-by-template': 'a completion is decided on the template that it is sent for',
      'choice.order.no-buffering': 'no hook forces a stream to be buffered',
      'choice.order.denied-spends-nothing': 'a denied call spends no token of a limit',
      'choice.order.settle-always': 'every call settles, also a refused and a failed one',
    },
  },
  {
    source: 'choice: audit trail',
    says: {
      'choice.audit.every-type': 'every type of audit event is written when its event happens',
      'choice.audit.denials':
        'requests refused for their caller, Host or Origin, limited calls and calls of unknown tools are recorded',
      'choice.audit.type-not-chosen': 'no header of a refused request chooses the type it is recorded under',
      'choice.audit.client-address': 'the recorded address is the socket; what headers claim is recorded as claimed',
      'choice.audit.one-id': 'one id joins the audit lines of a request, its calls, inner calls and workflow steps',
      'choice.audit.secrets': 'no token, credential or member with a sensitive name is in an audit line',
      'choice.audit.overload': 'a blocked sink delays no reply; dropped lines are counted and reported',
      'choice.audit.stop': 'a stop writes all pending lines',
      'choice.audit.broken-sink': 'a full disk or a closed stdout neither ends nor blocks the gateway nor tears a line',
      'choice.audit.file': 'the audit file is created with mode 0600, and created again after it was moved',
    },
  },
  {
    source: 'choice: request records',
    says: {
      'choice.told.every-request': 'every HTTP request is reported once, whether it was served, refused or abandoned',
      'choice.told.one-id': 'a request and the calls it makes have one correlation id',
      'choice.told.untapped-free': 'no record of a request is made without a listener',
    },
  },
  {
    source: 'choice: hot reload',
    says: {
      'choice.reload.on-change': 'a changed file or SIGHUP reloads the configuration',
      'choice.reload.plugin-code':
        'a reload loads plugins anew whose file changed, or a file that they import by a relative path, and logs these files',
      'choice.reload.plugin-code-on-save':
        'a file that is saved with the same text is reloaded when the code of plugins changed, and only then',
      'choice.reload.plugin-packages':
        'a reload keeps the packages that plugins import, and logs which of them changed and that a restart uses them',
      'choice.reload.keeps-call': 'a call keeps the plugins it started with when the configuration is reloaded',
      'choice.reload.session-moves': 'a client session continues under the new configuration',
      'choice.reload.shared-session': 'a session that replicas share is shared after a reload',
      'choice.reload.streams-prove':
        'streams are opened again when the configuration of authenticating plugins changes',
      'choice.reload.no-leak': 'replaced gateways are released',
      'choice.reload.owner': 'a session that moved is bound to its caller as before',
      'choice.reload.backend-stays': 'an unchanged backend is not opened or started again',
      'choice.reload.health-stays': 'a backend keeps its health status over a reload',
      'choice.reload.stream-stays': 'event streams stay open when the configuration is reloaded',
      'choice.reload.list-changed': 'clients get one notification about lists that differ after a reload',
      'choice.reload.subscription': 'subscriptions continue after a reload when the new policy allows them',
      'choice.reload.cancels': 'a call that began before a reload can be cancelled after it',
      'choice.reload.parked': 'a call that waits for an answer of its client continues after a reload',
      'choice.reload.not-fitting': 'sessions that do not fit the new configuration end, and the log says why',
      'choice.reload.failed': 'a configuration that cannot be used changes nothing',
      'choice.stop.calls-end': 'a stop lets calls in flight end within limits.stopMs',
      'choice.stop.pods-drain':
        'a pod that stops serves until its clients have moved to other pods, so that a rolling update loses no call',
      'choice.stop.not-ready-first':
        'a gateway that stops is not ready from the start of it, and refuses new requests with 503',
    },
  },
  {
    source: 'choice: health',
    says: {
      'choice.health.probe-cheap':
        'a probe is one ping, or one server/discover of a revision without ping, over the connection that is there',
      'choice.health.no-false-alarm':
        'a JSON-RPC error, HTTP 405, 429 or another refusal of the probe itself is a sign of life',
      'choice.health.set-aside':
        'an unhealthy backend gets no call, and its lists leave after limits.listGraceMs with one notification',
      'choice.health.transitions':
        'the first failures leave a status as it is, the threshold makes unhealthy or unauthenticated, a success after failures degraded once',
      'choice.health.breaker-transitions':
        'an open breaker allows one probe after its timeout: success closes it, failure opens it for the same time again',
      'choice.health.breaker-callers':
        'the failed calls of one caller open no breaker while a probe or a call of another is answered; a failed probe confirms them',
      'choice.health.breaker-refusal':
        'a call to an open breaker fails at once with BACKEND_CIRCUIT_OPEN and is not sent',
      'choice.health.users-credentials':
        'a backend that refuses the probe counts as alive where an outgoing-auth strategy brings credentials of callers',
      'choice.health.slow': 'an answer to a probe after more than 5 s makes a backend degraded',
      'choice.health.one-probe':
        'a backend has one probe at a time, all together a bounded number, spread over the interval',
      'choice.health.return':
        'a backend that answers any request is served again immediately, unless its breaker is open',
      'choice.health.flapping':
        'the lists of a flapping backend leave and come back at most once per limits.listGraceMs',
      'choice.health.isolation': 'while one backend fails, calls to others are answered within their own time',
      'choice.health.off': 'without a section about health nothing is probed',
      'choice.health.stop': 'a stop ends probes at once',
    },
  },
  {
    source: 'choice: printed plan',
    says: {
      'choice.plan.masked':
        'a printed plan hides the values of program arguments and of URL queries, and credentials in URLs',
    },
  },
  {
    source: 'choice: partial failure',
    says: {
      'choice.partial-failure.default': 'a vmcp file without operational.failureHandling has partialFailureMode fail',
      'choice.partial-failure.fail': 'fail answers an error that names the backend for lists that would be incomplete',
      'choice.partial-failure.best-effort': 'best_effort serves what is there',
      'choice.partial-failure.healthy-calls': 'calls to healthy backends always work',
      'choice.partial-failure.health-both': 'probes and live calls both count for the health of a backend',
    },
  },
  {
    source: 'choice: inner calls',
    says: {
      'choice.inner-calls.questions':
        'a server request in an inner call reaches the client of the outer call, in either era',
      'choice.inner-calls.natural': 'the result of an inner call reaches its maker as the server gave it',
    },
  },
  {
    source: 'choice: composite tools',
    says: {
      'choice.composite.names': 'names are 1 to 64 lower-case letters, digits, - and _',
      'choice.composite.for-each-keys': 'itemVar is an identifier and not index',
      'choice.composite.templates-at-start': 'a template with a syntax error is refused at the start',
      'choice.composite.known-roots': 'a template with an unknown root is refused at the start',
      'choice.composite.nested-templates': 'strings nested in objects and arrays are expanded too',
      'choice.composite.parallel-without-depends': 'steps without dependsOn run at once, ten at most',
      'choice.composite.missing-depends': 'a template that reads a step that is no ancestor is refused at the start',
      'choice.composite.no-circles': 'composite tools that call each other in a circle are refused at the start',
      'choice.composite.policy-once':
        'policy and limit apply to the composite once, and its steps run without a decision of their own',
      'choice.composite.authorize-steps': 'authorizeSteps true decides each step as well',
      'choice.composite.only-while-routable': 'a composite is listed only while every tool of its steps can be reached',
      'choice.composite.starting': 'a composite over a backend that has no lists so far causes no warning',
      'choice.composite.tool-names': 'a step never reaches a tool of another backend that is named like workload.tool',
      'choice.composite.shadow': 'a composite hides a tool of the same name, which its steps still reach',
      'choice.composite.annotations': 'the hints of a composite hold for all of its steps',
      'choice.composite.parameters-checked': 'arguments that do not fit parameters are answered with -32602',
      'choice.composite.coercion': 'strings are converted to the types of the called tool, also of hidden tools',
      'choice.composite.failure-texts': 'a failed workflow says Workflow execution failed, the step and the cause',
      'choice.composite.progress': 'a client that requests progress gets it after each step',
      'choice.composite.retry':
        'retries wait twice as long each time, spread, at most 60 times the first delay, ten at most',
      'choice.composite.skip-remaining': 'skip_remaining skips what has not begun; the workflow completes',
      'choice.composite.cannot-be-asked':
        'an elicitation fails the step when the client does not support it; a modern client gets the missing capability',
      'choice.composite.answers-checked':
        'an answer that is too large, too deep or does not fit the form fails the step',
      'choice.composite.question-time':
        'a question that is not answered in time counts as onCancel says; ten minutes at most',
      'choice.composite.suspended':
        'a modern client gets elicitations as a result, with a sealed state that is valid once and only for its caller',
      'choice.composite.any-replica': 'a waiting workflow continues on any replica when sessions are in Redis',
      'choice.composite.for-each-output':
        'a forEach step leaves one record per item in the order of the list, and counts',
      'choice.composite.own-step-types': 'a plugin can register a step type that a file uses by name',
      'choice.composite.told': 'audit and telemetry record the begin and end of each workflow and step',
      'choice.composite.bounded':
        'values from callers are never evaluated as templates, and the data of a workflow is limited',
      'choice.composite.run': 'vmcp workflow run runs one definition against live backends and prints each step',
      'choice.composite.graph': 'vmcp workflow graph draws the steps of a definition, for terminals and as Mermaid',
      'choice.composite.validate': 'vmcp validate reports every problem of a definition with file and line',
    },
  },
  {
    source: 'decision 078',
    says: {
      'choice.decision-point.calls':
        'a policy server decides about each call; it gets no claim that the file does not name',
      'choice.decision-point.lists': 'lists are filtered by its answers, which are used again for a time',
      'choice.decision-point.arguments': 'it gets arguments only where the file says so, up to 64 KiB',
      'choice.decision-point.dispatched': 'it is asked about the tools that call_tool calls',
      'choice.decision-point.default-deny': 'without a decision calls are refused and lists are errors',
      'choice.decision-point.token': 'the token of the gateway for it is a secret, and needs https or this machine',
    },
  },
  {
    source: 'decision 025',
    says: {
      'choice.optimizer.with-policy': 'only permitted tools are found and callable',
      'choice.optimizer.metrics':
        'tokens are estimated as bytes of JSON by four; the baseline is what the caller may use',
      'choice.optimizer.lean-answer': 'found tools come without outputSchema and execution, which no call needs',
      'choice.optimizer.said-once':
        'the text of a search does not repeat its structuredContent; clients of revisions without it get all as text',
      'choice.optimizer.call-unchanged': 'call_tool forwards arguments and results as bytes',
      'choice.optimizer.slips': 'unambiguous mistakes of models are corrected',
      'choice.optimizer.errors': 'errors of the two tools are failed tool results',
      'choice.optimizer.direct-path': 'optimizer.directPath serves the list of all tools at a second path',
      'choice.optimizer.always-listed':
        'optimizer.alwaysListed names tools, also composites, that are listed beside find_tool and call_tool',
      'choice.optimizer.limits':
        'the two tools are limited like others; what call_tool calls takes from its own buckets, not from the server again',
      'choice.optimizer.chosen-names':
        'call_tool reaches what a list would show its caller, by its listed name, and neither of the two tools',
      'choice.optimizer.with-elicitation': 'a composite that asks its user does so also through call_tool and scripts',
      'choice.optimizer.audit-chain':
        'calls through call_tool, scripts and composites are audited one by one, under one id',
      'choice.optimizer.with-scripts':
        'scripts are found like any tool, and reach all tools of their caller but find_tool and call_tool',
      'choice.optimizer.bounded-questions': 'a search text has at most 4000 characters and 32 keywords',
      'choice.optimizer.degrades':
        'without a working embedder the keyword search is used, the result says so, and it recovers by itself',
      'choice.optimizer.unread-script':
        'a search in a script that the embedding model does not support uses keywords; the support is checked once per model and script',
      'choice.optimizer.words-only-said-once':
        'without an embedder only keywords count, which is logged once at the start',
      'choice.optimizer.cache': 'vectors are kept by content hash over restarts, mode 0600, bounded',
      'choice.optimizer.embedder-bounds': 'embedders batch, limit, check and retry their requests',
      'choice.optimizer.vector-json':
        'vectors are read from the bytes of an answer as they come, exactly as JSON.parse reads them, and bounded',
      'choice.optimizer.local-model': 'provider local runs a model from a folder and says what is missing',
    },
  },
  {
    source: 'choice: run',
    says: {
      'choice.run.booleans': 'boolean options take --x and --x=false and never the next word',
      'choice.run.engine-order': 'the container engine is DOCKER_HOST, else docker, else podman',
      'choice.run.containers-owner':
        'an installation changes no container of another one on the same engine, and refuses a workload whose name the other uses',
      'choice.run.containers-limits':
        'a container has limits of memory, processors and processes: 2 GiB, 2 and 1024, or what --memory, --cpus and --pids-limit say',
      'choice.run.no-engine': 'without an engine the message names the fix and --runtime process',
      'choice.run.no-engine-client':
        'without the optional client of the engines packages run as processes with a warning, and what needs a container is refused',
    },
  },
  {
    source: 'choice: run',
    says: {
      'choice.run.supervised': 'the manager restarts what should run, also after a reboot',
    },
  },
  {
    source: 'choice: run',
    says: {
      'choice.run.step-up':
        'a 403 insufficient_scope of a remote server names the command that logs in with its scopes and those of the last login',
      'choice.run.runtime-process':
        '--runtime process runs a workload without an engine and says that it isolates nothing',
      'choice.run.npx-needs-no-engine': 'npx:// on the process runtime needs no container engine',
      'choice.run.url-needs-no-engine': 'a URL needs no container engine',
      'choice.run.damaged-status': 'a workload whose status file is damaged is stopped and removed with its proxy',
      'choice.run.full-disk': 'a workload can be stopped while the disk is full',
      'choice.run.moved-port': 'a start that could not take the port of the last one says so',
      'choice.run.one-process-per-proxy': 'the detached proxy is one process per workload',
    },
  },
  {
    source: 'choice: manager API',
    says: {
      'choice.manager.endpoint-timeout':
        'a call at an endpoint of the manager has ten minutes for each answer, as at the workload itself',
      'choice.manager.problem-json': 'errors are RFC 9457 problem documents with type, title, status, detail and code',
      'choice.manager.token': 'a local bearer token is needed on TCP and none on the unix socket',
      'choice.manager.if-match':
        'of edits at once with one If-Match exactly one is made, and the others are refused with 412',
      'choice.manager.stop-continued': 'a stop that a killed manager did not end is ended by the next one',
      'choice.manager.mcp-asks':
        'tools that overwrite or delete what toolmgr did not write are annotated as destructive, ask a person and are refused to clients that cannot ask',
      'choice.manager.foreign-exports':
        'exports of other implementations import: nanoseconds, members without a value, and middleware without parameters',
      'choice.skills.git-resolve-failure': 'a git server without the repository is answered with 502',
      'choice.skills.own-registry':
        'skills of a registry that is a file, or may lead to private addresses, may be at private addresses themselves',
      'choice.skills.confirmed':
        'skill sync and skill upgrade ask before they change something; without a terminal and --yes they are refused with exit code 4',
      'choice.manager.package-upgrades':
        'a package without a registry entry is compared with the newest release of its package registry, and upgraded to it',
      'choice.manager.package-upgrade-tools':
        'an applied upgrade of a running workload answers with the diff of its tools',
      'choice.manager.package-upgrade-back':
        'a package whose newer release does not start goes back to the release that ran',
      'choice.manager.upgrade-to':
        'an upgrade to a named version runs that version, newer or older; one that is not exact or of another repository is refused',
      'choice.manager.operations': '202 answers carry Location of an operation',
      'choice.manager.events': 'events travel over SSE',
    },
  },
  {
    source: 'choice: operator',
    says: {
      'choice.operator.failed-events': 'each object that becomes Failed gets a Warning event with the cause',
      'choice.operator.phase-owner': 'the operator alone writes phase',
    },
  },
] as const satisfies readonly Section[];
