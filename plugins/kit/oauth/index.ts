/** OAuth 2.0 as a client: metadata, registration, authorization requests, tokens and introspection, through guarded HTTP. */
export { authorizationRequest, readAuthorizationResponse } from './authorization-request.ts';
export { type BackendTokens, bearerFrom, createBackendTokens } from './backend-tokens.ts';
export { type Challenge, challengesIn } from './bearer-challenge.ts';
export { OauthRefusal } from './library-options.ts';
export { plainIssuer, requestIntrospection, requestToken } from './oauth-requests.ts';
export { type RegisteredClient, registerClient } from './register-client.ts';
export { type ResourceMetadata, requestResourceMetadata, resourceMetadataUrls } from './resource-metadata.ts';
export { discoverServer, type OauthServer } from './server-metadata.ts';
export { clientProblem, filled, scopes, tokenUrl, tokenUrlProblem } from './token-endpoint-options.ts';
