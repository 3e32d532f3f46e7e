// The test kit for plugin authors and our own tests; named exports only.
export { type FakeClock, fakeClock } from './fake-clock.ts';
export { type FakeAnswer, type FakeContext, type FakeResult, FakeServer, fakeServer, text } from './fake-server.ts';
export { type PushSource, pushSource } from './push-source.ts';
export { type TestClient, type TestClientOptions, type TestReply, testClient } from './test-client.ts';
export { type TestBackends, type TestGateway, type TestGatewayOptions, testGateway } from './test-gateway.ts';
export { type TokenIssuer, tokenIssuer } from './token-issuer.ts';
