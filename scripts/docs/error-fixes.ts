import type { GatewayFault } from '@toolmgr/core';
import type { CODE } from '../../core/mcp/errors.ts';

/** What to do about each fault. Its cause is in `core/errors.ts`. */
export const FAULT_FIXES: Readonly<Record<GatewayFault['code'], string>> = {
  PLUGIN_FAILED: 'read the cause in the log, which names the plugin; remove the plugin or mend it',
  PLUGIN_TAPPED_TWICE: 'list the plugin once, or give each use an address of its own',
  PLUGIN_TAPPED_LATE: 'use hooks only inside of `apply`, before it returns',
  PLUGIN_INVALID:
    'export the value of `definePlugin` as default; `toolmgr vmcp validate -c FILE --load-plugins` names what is missing',
  PLUGIN_UNKNOWN: 'correct the address; a path begins with `./`, and a package has to be installed beside the file',
  PLAN_INVALID: 'correct the value at the path and line of the message; `toolmgr vmcp validate` lists all of them',
  PLAN_INCOMPLETE: 'add the setting that the message names',
  SLOT_UNKNOWN: 'correct the name, or add the plugin that registers it; [slots](slots.md) lists both',
  SLOT_TAKEN: 'remove one of the two plugins, or give one another name',
  ROUTE_TAKEN: 'give one of the two plugins another path',
  AUTH_STRATEGY_INVALID: 'correct the options of the strategy under `outgoingAuth`',
  AUTH_STRATEGY_FAILED:
    'read the cause in the log: often a client secret, a role or an address of the token service is wrong',
  AUTH_STRATEGY_REFUSED:
    'the person signs in again; if it repeats, compare audience and scopes with what the backend expects',
  USER_ACTION_REQUIRED: 'the person opens the link of the answer and repeats the call',
  CATALOG_CONFLICT: 'set `aggregation.conflictResolution` to `prefix`, or rename one tool under `aggregation.tools`',
  BACKEND_UNREACHABLE:
    'check that the server runs and that its address is right; the log has the error of the connection or the last lines of the program',
  BACKEND_STARTING: 'call again later; `--start-timeout` and `limits.startTimeoutMs` bound the wait',
  BACKEND_TIMEOUT:
    'raise `operational.timeouts`, or `--timeout`, if the server needs longer; otherwise look at the server',
  BACKEND_PROTOCOL:
    'check that the address is that of an MCP endpoint and that a program writes only messages to its output',
  BACKEND_UNAUTHENTICATED: 'configure the credentials of the backend under `outgoingAuth`, or renew them',
  BACKEND_TOO_LARGE: 'ask the server for less, or raise the limit that the message names',
  BACKEND_BUSY: 'call again later, or raise the limits of calls in flight',
  BACKEND_CIRCUIT_OPEN:
    'mend the backend; it is tried again after `operational.failureHandling.circuitBreaker.timeout`',
  BACKEND_UNKNOWN: 'list the tools again; the backend was removed by a reload',
  STORE_UNAVAILABLE: 'check address, password and reachability of the store, such as Redis',
  STORE_FULL: 'raise the maximum of keys of the store, or use Redis',
  REMOTE_REFUSED:
    'use an https address that is public; private addresses are allowed only by the option that the message names',
  REMOTE_UNAVAILABLE: 'check the address and whether the service answers from this machine, also through its proxy',
  SECRET_MISSING: 'set the secret or the variable that the message names',
  SECRETS_UNAVAILABLE:
    'give the password by the keyring or `TOOLMGR_SECRETS_PASSWORD`; without it: `toolmgr secret reset-keyring`',
  WORKLOAD_FAILED: 'read `toolmgr logs NAME`; start it again with `toolmgr start NAME`',
  REQUEST_REFUSED: 'add the origin to the option that the message names, or the host name to `endpoint.allowedHosts`',
  REQUEST_AMBIGUOUS: 'send the path as the target, and each header once',
  ROUTE_UNKNOWN: 'correct the path; the endpoint is `/mcp` unless `endpoint.path` says something else',
  METHOD_UNKNOWN: 'use the method that MCP uses: POST for messages, GET for streams, DELETE to end a session',
  BODY_TOO_SLOW: 'send the body faster, or raise `limits.bodyTimeoutMs`',
  BODY_TOO_LARGE: 'send less, or raise `limits.bodyBytes`',
  BODY_UNSUPPORTED: 'send the body without `Content-Encoding`',
  BODY_CONSUMED: 'call the gateway before the body parser, or pass the parsed body to `handle`',
  MEMORY_SPENT:
    'send the request again later; where it happens often, give the gateway more memory, or raise `limits.memoryBudgetBytes` (`--memory-budget`)',
  GATEWAY_STOPPING: 'send the request again to another replica, or after the restart',
  LISTEN_FAILED: 'choose another `--port`, or stop the program that uses this one',
};

/** What to do about each JSON-RPC code. */
export const CODE_FIXES: Readonly<Record<keyof typeof CODE, string>> = {
  parseError: 'send JSON',
  invalidRequest: 'send one JSON-RPC request, and no batch; the message names a limit',
  methodNotFound: 'use a method of the revision that was negotiated',
  invalidParams: 'list again: the name may have changed; the message names the wrong parameter',
  internalError: 'read the log of the gateway, which has the cause',
  legacyResourceNotFound: 'list the resources again',
  legacyUrlElicitationRequired: 'the person opens the link; the client repeats the call',
  headerMismatch: 'send headers that equal the body, as the 2026-07-28 revision demands; a proxy may have changed them',
  missingCapability: 'declare the capability in the request, or use a client that has it',
  unsupportedVersion: 'use 2025-11-25 or 2026-07-28',
};
