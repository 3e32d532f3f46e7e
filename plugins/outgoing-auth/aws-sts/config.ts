import { matcherProblem } from '@toolmgr/plugins/kit/cel';
import { z } from 'zod';

const MAX_MATCHER = 2_000; // characters

const REGION = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/; // becomes a label of the host name
const SERVICE = /^[a-z0-9][a-z0-9-]{0,62}$/;
const ROLE_ARN = /^arn:aws[a-z-]*:iam::\d{12}:role\/[\w+=,.@/-]{1,575}$/;
const MAX_MAPPINGS = 256;

const roleArn = z.string().regex(ROLE_ARN, 'expected the ARN of a role, arn:aws:iam::ACCOUNT:role/NAME');

const roleMapping = z
  .strictObject({
    roleArn: roleArn.describe('role of callers that match'),
    claim: z.string().min(1).optional().describe('value that roleClaim must have or contain'),
    matcher: z
      .string()
      .superRefine((expression, context) => {
        const message = matcherProblem(expression, MAX_MATCHER);
        if (message !== undefined) context.addIssue({ code: 'custom', message });
      })
      .optional()
      .describe('CEL expression over `claims`; an expression that fails does not match'),
    priority: z
      .int()
      .min(-2_147_483_648)
      .max(2_147_483_647)
      .optional()
      .describe('lower first; mappings without one come last, in their order'),
  })
  .refine(({ claim, matcher }) => (claim === undefined) !== (matcher === undefined), {
    message: 'set exactly one of claim and matcher',
  });

/** Options of `aws_sts`. Source: vmcp spec §2 outgoingAuth `awsSts`. */
export const awsStsOptions = z
  .strictObject({
    region: z
      .string()
      .regex(REGION, 'expected an AWS region such as eu-central-1')
      .describe('AWS region of STS and of the signature'),
    roleMappings: z
      .array(roleMapping)
      .max(MAX_MAPPINGS)
      .default([])
      .describe('which role a caller gets; the first match wins'),
    fallbackRoleArn: roleArn.optional().describe('role of callers without a match; without it they are refused'),
    roleClaim: z.string().min(1).default('groups').describe('claim that `claim` of a mapping is compared with'),
    service: z
      .string()
      .regex(SERVICE, 'expected a signing name such as execute-api')
      .default('aws-mcp')
      .describe('service name of the signature'),
    sessionDuration: z.int().min(900).max(43_200).default(3600).describe('lifetime of the credentials in seconds'),
    sessionNameClaim: z.string().min(1).default('sub').describe('claim that names the role session in AWS logs'),
    subjectProviderName: z
      .string()
      .min(1, 'expected the name of an upstream provider')
      .optional()
      .describe(
        "upstream provider whose token is the web identity token, and whose claims choose the role; default: the token of the first one of the authorization server, without a server the caller's own token, and the claims of the request",
      ),
  })
  .refine(({ roleMappings, fallbackRoleArn }) => roleMappings.length > 0 || fallbackRoleArn !== undefined, {
    message: 'set roleMappings, fallbackRoleArn or both: without them no caller gets a role',
  });

/** The parsed options. */
export type AwsStsOptions = z.output<typeof awsStsOptions>;
