import type { RequestRecord } from '@toolmgr/core';
import type { WorkflowAdvanced } from '@toolmgr/plugins/kit/extension-points';

/** Every type of event, in the order of the reference page. Source: vmcp spec §2 audit `eventTypes`; those of pins, found data and sign-ins are our own. */
export const EVENT_TYPES = [
  'mcp_initialize',
  'sse_connection',
  'mcp_tool_call',
  'mcp_tools_list',
  'mcp_resource_read',
  'mcp_resources_list',
  'mcp_prompt_get',
  'mcp_prompts_list',
  'mcp_notification',
  'mcp_ping',
  'mcp_logging',
  'mcp_completion',
  'mcp_roots_list_changed',
  'mcp_request',
  'http_request',
  'vmcp_workflow_started',
  'vmcp_workflow_completed',
  'vmcp_workflow_failed',
  'vmcp_workflow_timed_out',
  'vmcp_workflow_step_started',
  'vmcp_workflow_step_completed',
  'vmcp_workflow_step_failed',
  'vmcp_workflow_step_skipped',
  'vmcp_pin_held',
  'vmcp_pin_approved',
  'vmcp_pin_rejected',
  'vmcp_data_found',
  'vmcp_sign_in',
  'vmcp_account_connected',
  'vmcp_account_disconnected',
  'vmcp_consent',
  'vmcp_client_registered',
  'vmcp_session_revoked',
] as const;

/** One of {@link EVENT_TYPES}. */
export type EventType = (typeof EVENT_TYPES)[number];

const BY_METHOD: ReadonlyMap<string, EventType> = new Map([
  ['initialize', 'mcp_initialize'],
  ['tools/call', 'mcp_tool_call'],
  ['tools/list', 'mcp_tools_list'],
  ['resources/read', 'mcp_resource_read'],
  ['resources/list', 'mcp_resources_list'],
  ['resources/templates/list', 'mcp_resources_list'],
  ['prompts/get', 'mcp_prompt_get'],
  ['prompts/list', 'mcp_prompts_list'],
  ['ping', 'mcp_ping'],
  ['logging/setLevel', 'mcp_logging'],
  ['completion/complete', 'mcp_completion'],
  ['notifications/roots/list_changed', 'mcp_roots_list_changed'],
  ['subscriptions/listen', 'sse_connection'], // like the GET stream of 2025-11-25
]);

/** The type of a JSON-RPC method. */
export function typeOfMethod(method: string): EventType {
  return BY_METHOD.get(method) ?? (method.startsWith('notifications/') ? 'mcp_notification' : 'mcp_request');
}

/**
 * The type of an HTTP request.
 *
 * A request that was refused before authentication is `mcp_request`, so that a client cannot choose the type of a failed
 * login with a header.
 */
export function typeOfRequest({ servedBy, caller, inbound, message }: RequestRecord): EventType {
  if (servedBy !== 'mcp') return 'http_request';
  if (caller === undefined) return 'mcp_request';
  if (inbound.method === 'GET') return 'sse_connection';
  return message?.method === undefined ? 'mcp_request' : typeOfMethod(message.method);
}

/** The type of a workflow's event. */
export function typeOfWorkflow(change: WorkflowAdvanced['change']): EventType {
  return `vmcp_workflow_${change}`;
}

/** Creates the filter of event types: all or the listed ones, without the excluded ones. */
export function createTypeFilter(
  only: readonly EventType[],
  never: readonly EventType[],
): (type: EventType) => boolean {
  const wanted = new Set((only.length === 0 ? EVENT_TYPES : only).filter((type) => !never.includes(type)));
  return (type) => wanted.has(type);
}
