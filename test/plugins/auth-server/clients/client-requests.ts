/**
 * Registration requests of MCP clients as they send them, and the redirect that each uses afterwards.
 *
 * Source: the sources of VS Code (`oauth.ts`), OpenCode and the Inspector; requests of Claude, Claude Code, Codex and Cursor as
 * servers logged them in 2026.
 */
export const REGISTRATIONS = {
  Claude: {
    body: {
      client_name: 'Claude',
      redirect_uris: ['https://claude.ai/api/mcp/auth_callback'],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'client_secret_post',
    },
    redirect: 'https://claude.ai/api/mcp/auth_callback',
  },
  'Claude Code': {
    body: {
      client_name: 'Claude Code (gateway)',
      redirect_uris: ['http://localhost:3118/callback'],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      application_type: 'native',
    },
    redirect: 'http://localhost:52044/callback',
  },
  'VS Code': {
    body: {
      client_name: 'Visual Studio Code',
      client_uri: 'https://code.visualstudio.com',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      redirect_uris: [
        'https://insiders.vscode.dev/redirect',
        'https://vscode.dev/redirect',
        'http://127.0.0.1/',
        'http://127.0.0.1:33418/',
      ],
      token_endpoint_auth_method: 'none',
      application_type: 'native',
    },
    redirect: 'http://127.0.0.1:59656/',
  },
  'VS Code for the Web': {
    body: {
      client_name: 'Visual Studio Code',
      client_uri: 'https://code.visualstudio.com',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      redirect_uris: [
        'https://insiders.vscode.dev/redirect',
        'https://vscode.dev/redirect',
        'http://127.0.0.1/',
        'http://127.0.0.1:33418/',
      ],
      scope: 'openid offline_access',
      token_endpoint_auth_method: 'none',
      application_type: 'native',
    },
    redirect: 'https://vscode.dev/redirect',
  },
  Cursor: {
    body: {
      client_name: 'Cursor',
      redirect_uris: [
        'cursor://anysphere.cursor-mcp/oauth/callback',
        'https://www.cursor.com/agents/mcp/oauth/callback',
        'http://localhost:8787/callback',
      ],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    redirect: 'cursor://anysphere.cursor-mcp/oauth/callback',
  },
  Codex: {
    body: {
      application_type: 'native',
      client_name: 'Codex',
      grant_types: ['authorization_code', 'refresh_token'],
      redirect_uris: ['http://127.0.0.1:56046/callback/Ui-hkzeEt_FU'],
      response_types: ['code'],
      scope: 'openid offline_access',
      token_endpoint_auth_method: 'none',
    },
    redirect: 'http://127.0.0.1:56046/callback/Ui-hkzeEt_FU',
  },
  'MCP Inspector': {
    body: {
      redirect_uris: ['http://localhost:6274/oauth/callback', 'http://localhost:6274/oauth/callback/debug'],
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      client_name: 'MCP Inspector',
      client_uri: 'https://github.com/modelcontextprotocol/inspector',
      scope: '',
    },
    redirect: 'http://localhost:6274/oauth/callback/debug',
  },
  OpenCode: {
    body: {
      redirect_uris: ['http://127.0.0.1:19876/mcp/oauth/callback'],
      client_name: 'OpenCode',
      client_uri: 'https://opencode.ai',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    redirect: 'http://127.0.0.1:19876/mcp/oauth/callback',
  },
} as const;

/** The metadata document of VS Code, with the id of a test's server. */
export function vsCodeDocument(clientId: string) {
  return {
    client_name: 'Visual Studio Code',
    logo_uri: 'https://code.visualstudio.com/assets/branding/code-stable.png',
    grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
    application_type: 'native',
    client_id: clientId,
    client_uri: 'https://vscode.dev/product',
    redirect_uris: ['http://127.0.0.1:33418/', 'https://vscode.dev/redirect'],
  };
}

/** The metadata document of Claude Code: loopback redirects without a port. */
export function claudeCodeDocument(clientId: string) {
  return {
    client_id: clientId,
    client_name: 'Claude Code',
    redirect_uris: ['http://localhost/callback', 'http://127.0.0.1/callback'],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  };
}
