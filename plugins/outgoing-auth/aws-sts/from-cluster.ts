import { type FromCluster, int32, kube, text } from '@toolmgr/plugins/kit/kubernetes';
import { z } from 'zod';

const claim = text(253);

const roleArn = z
  .string()
  .min(20)
  .max(2048)
  .regex(/^arn:(aws|aws-cn|aws-us-gov):iam::\d{12}:role\/[\w+=,.@/-]+$/, 'expected the ARN of an IAM role');

const roleMapping = kube(
  z.strictObject({
    claim: claim.optional().describe('value in the role claim that gives the role'),
    matcher: text(4096).optional().describe('CEL expression over `claims` that gives the role'),
    roleArn: roleArn.describe('the role'),
    priority: int32().optional().describe('lower ones first'),
  }),
  {
    rules: [
      {
        rule: 'has(self.claim) != has(self.matcher)',
        message: 'exactly one of claim and matcher must be set',
        fieldPath: '.claim',
      },
    ],
  },
);

const schema = kube(
  z.strictObject({
    region: text(63)
      .regex(/^[a-z]{2}(-[a-z]+)+-\d+$/, 'expected a region such as eu-central-1')
      .describe('region of STS and of the signature'),
    service: text(63).default('aws-mcp').describe('service name of the signature'),
    fallbackRoleArn: roleArn.optional().describe('role when no mapping matches'),
    roleMappings: z.array(roleMapping).max(200).optional().describe('roles by claims'),
    roleClaim: claim.default('groups').describe('claim that mappings with claim read'),
    sessionDuration: kube(z.int().min(900).max(43_200), { format: 'int32' })
      .default(3600)
      .describe('lifetime of credentials in seconds'),
    sessionNameClaim: claim.default('sub').describe('claim with the session name'),
    subjectProviderName: text(63).optional().describe('upstream provider whose token is the web identity token'),
  }),
  {
    rules: [
      {
        rule: 'has(self.fallbackRoleArn) || (has(self.roleMappings) && size(self.roleMappings) > 0)',
        message: 'fallbackRoleArn or roleMappings must be set',
        fieldPath: '.fallbackRoleArn',
        reason: 'FieldValueRequired',
      },
    ],
  },
);

export const externalAuth: FromCluster['externalAuth'] = {
  awsSts: {
    order: 6,
    needsInjection: true,
    schema: schema.describe('signs requests with AWS credentials for the caller'),
  },
};
