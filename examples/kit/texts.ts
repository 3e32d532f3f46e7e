// Parts of the kit that need no network.
import assert from 'node:assert/strict';

// region: settings
import { durationMs, goDuration } from '@toolmgr/plugins/kit/settings';
import { z } from 'zod';

const config = z.strictObject({ every: goDuration });
assert.equal(config.parse({ every: '1m30s' }).every, 90_000);
assert.equal(durationMs('2h'), 7_200_000);

// endregion

// region: secrets
import { redactedText, secretOf, secretReference } from '@toolmgr/plugins/kit/secrets';

const password = secretOf('hunter2');
assert.equal(JSON.stringify({ password }).includes('hunter2'), false);
assert.equal(password.reveal(), 'hunter2');
assert.match(redactedText('Authorization: Bearer eyJhbGciOiJIUzI1NiJ9.e30.c2ln'), /^Authorization: (?!.*eyJ)/);
assert.equal(secretReference.safeParse({ env: 'PASSWORD' }).success, true);

// endregion

// region: addresses
import { remoteUrlProblem } from '@toolmgr/plugins/kit/safe-http/addresses';

assert.equal(remoteUrlProblem('https://example.com/hook', {}), undefined);
assert.match(remoteUrlProblem('https://10.0.0.1/hook', {}) ?? '', /private/);

// endregion

// region: cel
import { compileMatcher, matcherProblem } from '@toolmgr/plugins/kit/cel';

const rule = 'claims.department == "sales" && "read" in claims.scopes';
assert.equal(matcherProblem(rule, 1_000), undefined);
assert.equal(compileMatcher(rule)({ department: 'sales', scopes: ['read'] }), true);

// endregion

// region: redis
import { hostAndPort, redisAddress } from '@toolmgr/plugins/kit/redis';

assert.equal(hostAndPort.safeParse('redis://cache:6379').success, false);
assert.deepEqual(redisAddress('cache'), { host: 'cache', port: 6379 });

// endregion

// region: oci
import { imageByDigest, parseImageReference } from '@toolmgr/plugins/kit/oci';

assert.equal(parseImageReference('ghcr.io/org/server:1.2')?.tag, '1.2');
const digest = `sha256:${'0'.repeat(64)}`;
assert.equal(imageByDigest('ghcr.io/org/server:1.2', digest), `ghcr.io/org/server@${digest}`);

// endregion

// region: schemes
import { isFloating, readScheme } from '@toolmgr/plugins/kit/workloads/schemes';

const read = readScheme('npx://server@1.2.3');
assert.equal(read?.kind === 'target' && isFloating(read.target), false);

// endregion

// region: permissions
import { compileEgressRules } from '@toolmgr/plugins/kit/workloads/permissions';

const outbound = { insecure_allow_all: false, allow_host: ['.example.com'], allow_port: [443] };
const mayConnect = compileEgressRules({ outbound, allowGateway: false, gatewayAddresses: [] });
assert.equal(mayConnect('api.example.com', 443).isAllowed, true);
assert.equal(mayConnect('elsewhere.org', 443).isAllowed, false);

// endregion

// region: workloads
import { workloadName } from '@toolmgr/plugins/kit/workloads';

assert.equal(workloadName.safeParse('github').success, true);
assert.equal(workloadName.safeParse('../github').success, false);

// endregion

// region: audit-chain
import { createAuditChain, createChainChecks } from '@toolmgr/plugins/kit/audit-chain';

const chain = createAuditChain({ next: 0, previous: '' }, 'team', undefined);
const lines = ['{"msg":"audit_event"}\n', '{"msg":"audit_event"}\n'].map((line) => chain.add(line));
const checks = createChainChecks(undefined);
for (const [index, line] of lines.entries()) checks.add('audit.log', index + 1, Buffer.from(line.trimEnd()));
assert.deepEqual(checks.report().problems, []);

// endregion

// region: confirm
import { RawObject } from '@toolmgr/core';
import { questionAbout } from '@toolmgr/plugins/kit/confirm';

const asked = { arguments: { path: '/tmp' }, members: RawObject.empty() };
assert.equal(questionAbout('Remove files', asked), 'Remove files: path "/tmp"?');

// endregion

// region: tool-pins
import { scan } from '@toolmgr/plugins/kit/tool-pins';

assert.deepEqual(scan({ name: 'add', description: 'Adds two numbers' }), []);
// endregion
