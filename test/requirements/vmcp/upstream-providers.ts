import type { Section } from '../section.ts';

/** The upstream identity providers of the embedded authorization server. */
export const upstreamProviders = [
  {
    source: 'vmcp spec §2 upstreamProviders',
    says: {
      'vmcp.upstream.name': 'upstream name is a required, unique DNS label of 1 to 63 characters',
      'vmcp.upstream.type': 'upstream type is required and oidc or oauth2',
      'vmcp.upstream.oauth2-config': 'oauth2Config is required for type oauth2 and absent for oidc',
      'vmcp.upstream.oidc-config': 'oidcConfig is required for type oidc and absent for oauth2',
      'vmcp.upstream.oauth2.authorization-endpoint': 'authorizationEndpoint is a required http or https URL',
      'vmcp.upstream.oauth2.token-endpoint': 'tokenEndpoint is a required http or https URL',
      'vmcp.upstream.oauth2.client-id': 'clientId must be empty when dcrConfig is set',
      'vmcp.upstream.oauth2.client-secret-ref':
        'clientSecretRef holds name and key and is optional for public PKCE clients',
      'vmcp.upstream.oauth2.scopes': 'scopes is string[]',
      'vmcp.upstream.oauth2.forbidden-params':
        'additionalAuthorizationParams refuses response_type, client_id, redirect_uri, scope, state, code_challenge, code_challenge_method and nonce',
      'vmcp.upstream.dcr.discovery-url':
        'dcrConfig.discoveryUrl is an https URL without trailing slash of at most 2048 characters',
      'vmcp.upstream.dcr.discovery-exclusive': 'discoveryUrl and registrationEndpoint exclude each other',
      'vmcp.upstream.dcr.registration-endpoint': 'registrationEndpoint is https of at most 2048 characters',
      'vmcp.upstream.dcr.registration-endpoint-needs':
        'registrationEndpoint needs the endpoints and explicit scopes of the parent',
      'vmcp.upstream.dcr.software-id': 'softwareId has at most 255 characters',
      'vmcp.upstream.dcr.software-statement': 'softwareStatement has at most 16384 characters',
      'vmcp.upstream.identity.subject-path': 'subjectPath is required with 1 to 256 characters',
      'vmcp.upstream.identity.name-and-email-path': 'namePath and emailPath have 1 to 256 characters',
      'vmcp.upstream.token-response.access-token-path': 'accessTokenPath is required with at least 1 character',
      'vmcp.upstream.user-info.endpoint-url': 'userInfo.endpointUrl is a required http or https URL',
      'vmcp.upstream.user-info.http-method': 'userInfo.httpMethod is GET or POST, GET by default',
      'vmcp.upstream.user-info.additional-headers': 'userInfo.additionalHeaders is a string map',
      'vmcp.upstream.user-info.subject-fields': 'fieldMapping.subjectFields is [sub] by default',
      'vmcp.upstream.user-info.name-fields': 'fieldMapping.nameFields is [name] by default',
      'vmcp.upstream.user-info.email-fields': 'fieldMapping.emailFields is [email] by default',
      'vmcp.upstream.oidc.client-id': 'clientId is required',
      'vmcp.upstream.oidc.client-secret-ref': 'clientSecretRef holds name and key',
      'vmcp.upstream.oidc.scopes': 'scopes is [openid, offline_access] by default',
      'vmcp.upstream.oidc.forbidden-params': 'additionalAuthorizationParams refuses the same keys as for oauth2',
      'vmcp.upstream.oidc.subject-claim':
        'subjectClaim is letters, digits and underscore, no leading digit, at most 128 characters',
      'vmcp.upstream.oidc.subject-claim-default': 'an empty subjectClaim means sub',
      'vmcp.upstream.oidc.user-info-override': 'userInfoOverride has the shape of userInfo',
      'vmcp.upstream.oidc.issuer-url': 'issuerUrl is a required https URL that is discovered',
      'vmcp.upstream.oidc.redirect-uri':
        'the redirectUri of an oidc provider is {resourceUrl}/oauth/callback by default',
      'vmcp.upstream.oidc.additional-params-sent':
        'additionalAuthorizationParams of an oidc provider are sent with the authorization request',
      'vmcp.upstream.oauth2.redirect-uri':
        'the redirectUri of an oauth2 provider is {resourceUrl}/oauth/callback by default',
      'vmcp.upstream.oauth2.additional-params-sent':
        'additionalAuthorizationParams of an oauth2 provider are sent with the authorization request',
      'vmcp.upstream.oauth2.synthesis-mode':
        'without userInfo and identityFromToken the subject is derived from the access token, without name or email',
      'vmcp.upstream.dcr.discovery-url-one-get':
        'discoveryUrl is read with one GET that gives endpoints, auth methods and scopes',
      'vmcp.upstream.dcr.initial-access-token':
        'initialAccessTokenRef holds name and key and is sent as bearer on registration',
      'vmcp.upstream.identity.skips-userinfo':
        'identityFromToken reads the identity from the token response and skips the userinfo call',
      'vmcp.upstream.identity.upstreamjwt':
        'the modifier @upstreamjwt decodes a JWT payload without verifying its signature',
      'vmcp.upstream.identity.omitted': 'a path that does not resolve to a string omits the value',
      'vmcp.upstream.token-response.expires-in-path': 'expiresInPath is expires_in by default',
      'vmcp.upstream.token-response.refresh-token-path': 'refreshTokenPath is refresh_token by default',
      'vmcp.upstream.token-response.scope-path': 'scopePath is scope by default',
      'vmcp.upstream.token-response.direct-call': 'with tokenResponseMapping the token exchange call is made directly',
      'vmcp.upstream.user-info.first-wins': 'each field mapping is an ordered list whose first non-empty value wins',
    },
  },
] as const satisfies readonly Section[];
