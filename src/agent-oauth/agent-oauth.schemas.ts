import { Type } from '@sinclair/typebox'
import { clientAuthMethods, grantTypes } from './protocol.ts'

/** What is said of the OAuth endpoints: their errors are those of OAuth, not of the API (RFC 6749 §5.2). */
const OAuthError = Type.Object({ error: Type.String(), error_description: Type.Optional(Type.String()) })

export const ServerMetadata = Type.Object(
  {
    issuer: Type.String(),
    authorization_endpoint: Type.String(),
    token_endpoint: Type.String(),
    registration_endpoint: Type.String(),
    revocation_endpoint: Type.String(),
    jwks_uri: Type.String(),
    response_types_supported: Type.Array(Type.String()),
    response_modes_supported: Type.Array(Type.String()),
    grant_types_supported: Type.Array(Type.String()),
    scopes_supported: Type.Array(Type.String()),
    code_challenge_methods_supported: Type.Array(Type.String()),
    token_endpoint_auth_methods_supported: Type.Array(Type.String()),
    revocation_endpoint_auth_methods_supported: Type.Array(Type.String()),
    authorization_response_iss_parameter_supported: Type.Boolean(),
    client_id_metadata_document_supported: Type.Boolean(),
  },
  { additionalProperties: false },
)

export const ResourceMetadata = Type.Object(
  {
    resource: Type.String(),
    resource_name: Type.String(),
    authorization_servers: Type.Array(Type.String()),
    scopes_supported: Type.Array(Type.String()),
    bearer_methods_supported: Type.Array(Type.String()),
  },
  { additionalProperties: false },
)

/** Client metadata (RFC 7591 §2). Other fields are ignored, as the RFC has it. */
export const ClientMetadata = Type.Object(
  {
    redirect_uris: Type.Array(Type.String({ maxLength: 2048 }), { minItems: 1, maxItems: 20 }),
    client_name: Type.Optional(Type.String({ maxLength: 200 })),
    client_uri: Type.Optional(Type.String({ maxLength: 2048 })),
    logo_uri: Type.Optional(Type.String({ maxLength: 2048 })),
    token_endpoint_auth_method: Type.Optional(Type.String({ enum: [...clientAuthMethods] })),
    grant_types: Type.Optional(Type.Array(Type.String(), { maxItems: 20 })),
    response_types: Type.Optional(Type.Array(Type.String(), { maxItems: 20 })),
    scope: Type.Optional(Type.String({ maxLength: 2048 })),
    software_id: Type.Optional(Type.String({ maxLength: 200 })),
    software_version: Type.Optional(Type.String({ maxLength: 200 })),
  },
  { additionalProperties: true },
)

const tag = ['agentOAuth']

export const registerClient = {
  operationId: 'agentOAuth.register',
  tags: tag,
  summary: 'Register an agent as an OAuth client',
  description:
    'Dynamic client registration (RFC 7591). The answer is 201 with the client as it was registered.',
  body: ClientMetadata,
}

export const issueToken = {
  operationId: 'agentOAuth.token',
  tags: tag,
  summary: 'Exchange a code or a refresh token for tokens',
  description:
    'The token endpoint of OAuth (RFC 6749 §3.2), with PKCE (RFC 7636) and resource indicators (RFC 8707).',
  consumes: ['application/x-www-form-urlencoded'],
  body: Type.Object({
    grant_type: Type.String({ enum: [...grantTypes] }),
    code: Type.Optional(Type.String()),
    code_verifier: Type.Optional(Type.String()),
    redirect_uri: Type.Optional(Type.String()),
    refresh_token: Type.Optional(Type.String()),
    client_id: Type.Optional(Type.String()),
    client_secret: Type.Optional(Type.String()),
    resource: Type.Optional(Type.String()),
    scope: Type.Optional(Type.String()),
  }),
  response: {
    200: Type.Object({
      access_token: Type.String(),
      token_type: Type.Literal('Bearer'),
      expires_in: Type.Integer(),
      refresh_token: Type.Optional(Type.String()),
      scope: Type.Optional(Type.String()),
    }),
    400: OAuthError,
    401: OAuthError,
  },
}

export const revokeToken = {
  operationId: 'agentOAuth.revoke',
  tags: tag,
  summary: 'Revoke a token',
  description: 'Token revocation (RFC 7009). Revoking a refresh token ends the grant.',
  consumes: ['application/x-www-form-urlencoded'],
  body: Type.Object({
    token: Type.String(),
    token_type_hint: Type.Optional(Type.String()),
    client_id: Type.Optional(Type.String()),
    client_secret: Type.Optional(Type.String()),
  }),
}

export const getJwks = {
  operationId: 'agentOAuth.jwks',
  tags: tag,
  summary: 'Read the keys that access tokens are signed with',
}

export const getServerMetadata = {
  operationId: 'agentOAuth.serverMetadata',
  tags: tag,
  summary: 'Discover the authorization server (RFC 8414)',
  response: { 200: ServerMetadata },
}

export const getResourceMetadata = {
  operationId: 'agentOAuth.resourceMetadata',
  tags: tag,
  summary: 'Discover the protected resource (RFC 9728)',
  response: { 200: ResourceMetadata },
}
