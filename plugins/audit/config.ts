import { z } from 'zod';

/** Types of the events that are written now: calls. Source: vmcp spec §2 audit `eventTypes`. */
export const RECORDED_TYPES = [
  'mcp_tool_call',
  'mcp_prompt_get',
  'mcp_resource_read',
  'mcp_completion',
  'mcp_request',
] as const;

/** A type that is written now. */
export type RecordedType = (typeof RECORDED_TYPES)[number];

/** Known types whose events are not written yet: naming one as wanted is refused, naming it as unwanted is harmless. */
const LATER_TYPES = [
  'mcp_initialize',
  'sse_connection',
  'mcp_tools_list',
  'mcp_resources_list',
  'mcp_prompts_list',
  'mcp_notification',
  'mcp_ping',
  'mcp_logging',
  'mcp_roots_list_changed',
  'http_request',
  'vmcp_workflow_started',
  'vmcp_workflow_completed',
  'vmcp_workflow_failed',
  'vmcp_workflow_timed_out',
  'vmcp_workflow_step_started',
  'vmcp_workflow_step_completed',
  'vmcp_workflow_step_failed',
  'vmcp_workflow_step_skipped',
] as const;

const anyType = z.enum([...RECORDED_TYPES, ...LATER_TYPES]);

/** Defaults and ranges of the contract; what is not built yet is known and refused. */
export const auditConfig = z.strictObject({
  component: z.string().default('toolmgr-vmcp').describe('name of this server in every line'),
  detectApplicationErrors: z
    .boolean()
    .default(true)
    .describe('a JSON-RPC error of a backend is the outcome `application_error`; otherwise `success`, as HTTP says'),
  eventTypes: z
    .array(anyType)
    .default([])
    .superRefine((types, context) => {
      types.forEach((type, index) => {
        if (isRecorded(type)) return;
        context.addIssue({
          code: 'custom',
          path: [index],
          message: `${type} is not recorded yet: it comes with the complete audit plugin (recorded now: ${RECORDED_TYPES.join(', ')})`,
        });
      });
    })
    .describe('only these types; empty means all that are recorded'),
  excludeEventTypes: z.array(anyType).default([]).describe('never these types; wins over eventTypes'),
  includeRequestData: notYet('includeRequestData'),
  includeResponseData: notYet('includeResponseData'),
  logFile: z.string().default('').describe('file to append to, made with mode 0600; empty means stdout'),
  maxDataSize: z.int().min(0).default(1024).describe('bytes of request and response data kept; none is kept yet'),
  maxDelegationDepth: z.int().min(1).default(10).describe('actors kept of a nested RFC 8693 `act` claim'),
});

/** What the plugin was told. */
export type AuditConfig = z.output<typeof auditConfig>;

function isRecorded(type: string): type is RecordedType {
  return (RECORDED_TYPES as readonly string[]).includes(type);
}

function notYet(key: string) {
  return z
    .boolean()
    .default(false)
    .refine((wanted) => !wanted, `${key} is not available yet: it comes with the complete audit plugin`)
    .describe('not available yet; only false');
}
