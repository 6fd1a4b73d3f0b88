import { Type, type Static, type TObject, type TProperties } from '@sinclair/typebox'
import { exampleInstant } from '../../http/description/examples.ts'
import { exampleOf, ref } from '../../kernel/schemas.ts'
import { serviceName } from '../../domain/service-name.ts'
import { errors } from '../../kernel/errors.ts'
import {
  agentScope,
  assertionAlgorithms,
  assertionGrantProfile,
  assertionGrantType,
  clientAuthMethods,
  grantTypes,
  offlineScope,
  paths,
  serviceGrantType,
} from './protocol.ts'

/** A named schema with possibly more fields, since OAuth clients ignore unknown ones (RFC 6749 §5.1). */
function open<P extends TProperties>(name: string, properties: P, example: Static<TObject<P>>): TObject<P> {
  return Type.Object(properties, { $id: name, examples: [example] })
}

/** A named schema without other fields, for documents that this service writes. */
function complete<P extends TProperties>(
  name: string,
  properties: P,
  example: Static<TObject<P>>,
): TObject<P> {
  return Type.Object(properties, { $id: name, examples: [example], additionalProperties: false })
}

/** The errors of the OAuth endpoints (RFC 6749 §5.2, RFC 7591 §3.2.2), which differ from the API's. */
const OAuthError = open(
  'OAuthError',
  { error: Type.String(), error_description: Type.Optional(Type.String()) },
  { error: 'invalid_grant', error_description: 'grant request is invalid' },
)

const issuer = 'https://api.example.com'

/** The metadata of the authorization server (RFC 8414 §2). `website` is the origin of the authorization endpoint. */
export function describeServer(
  issuer: string,
  website: string,
  { areDocumentsOn, areAssertionsOn }: { areDocumentsOn: boolean; areAssertionsOn: boolean },
) {
  return {
    issuer,
    authorization_endpoint: `${website}${paths.authorization}`,
    token_endpoint: `${issuer}${paths.token}`,
    registration_endpoint: `${issuer}${paths.registration}`,
    revocation_endpoint: `${issuer}${paths.revocation}`,
    jwks_uri: `${issuer}${paths.jwks}`,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: [
      ...grantTypes,
      serviceGrantType,
      ...(areAssertionsOn ? [assertionGrantType] : []),
    ],
    ...(areAssertionsOn && { authorization_grant_profiles_supported: [assertionGrantProfile] }),
    scopes_supported: [agentScope, offlineScope],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: [...clientAuthMethods],
    token_endpoint_auth_signing_alg_values_supported: [...assertionAlgorithms],
    revocation_endpoint_auth_methods_supported: [...clientAuthMethods],
    revocation_endpoint_auth_signing_alg_values_supported: [...assertionAlgorithms],
    authorization_response_iss_parameter_supported: true,
    // Clients that are told so send the URL of a document, and do not register.
    client_id_metadata_document_supported: areDocumentsOn,
  }
}

export const ServerMetadata = complete(
  'OAuthServerMetadata',
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
    token_endpoint_auth_signing_alg_values_supported: Type.Array(Type.String()),
    revocation_endpoint_auth_methods_supported: Type.Array(Type.String()),
    revocation_endpoint_auth_signing_alg_values_supported: Type.Array(Type.String()),
    authorization_response_iss_parameter_supported: Type.Boolean(),
    client_id_metadata_document_supported: Type.Boolean(),
    authorization_grant_profiles_supported: Type.Optional(
      Type.Array(Type.String(), {
        description: 'Only if the operator trusts an identity provider to let agents in by assertions.',
      }),
    ),
  },
  describeServer(issuer, 'https://app.example.com', { areDocumentsOn: true, areAssertionsOn: true }),
)

export const ResourceMetadata = complete(
  'OAuthResourceMetadata',
  {
    resource: Type.String(),
    resource_name: Type.String(),
    authorization_servers: Type.Array(Type.String()),
    scopes_supported: Type.Array(Type.String()),
    bearer_methods_supported: Type.Array(Type.String()),
  },
  {
    resource: `${issuer}${paths.mcp}`,
    resource_name: serviceName,
    authorization_servers: [issuer],
    scopes_supported: [agentScope],
    bearer_methods_supported: ['header'],
  },
)

const exampleClient = { redirect_uris: ['https://agent.example.com/callback'], client_name: 'Research agent' }

/** Client metadata (RFC 7591 §2). Unknown fields are ignored, as the RFC requires. */
export const ClientMetadata = Type.Object(
  {
    redirect_uris: Type.Array(Type.String({ maxLength: 1024 }), { minItems: 1, maxItems: 10 }),
    client_name: Type.Optional(Type.String({ maxLength: 200 })),
    client_uri: Type.Optional(Type.String({ maxLength: 1024 })),
    logo_uri: Type.Optional(Type.String({ maxLength: 1024 })),
    token_endpoint_auth_method: Type.Optional(Type.String({ enum: [...clientAuthMethods] })),
    token_endpoint_auth_signing_alg: Type.Optional(Type.String({ enum: [...assertionAlgorithms] })),
    jwks_uri: Type.Optional(
      Type.String({
        maxLength: 1024,
        description:
          'For `private_key_jwt`: an https URL of the public keys. It is fetched once somebody has allowed the client.',
      }),
    ),
    jwks: Type.Optional(
      Type.Object(
        {},
        {
          additionalProperties: true,
          description: 'For `private_key_jwt`: the public keys (RFC 7517), instead of `jwks_uri`.',
        },
      ),
    ),
    grant_types: Type.Optional(Type.Array(Type.String({ maxLength: 200 }), { maxItems: 20 })),
    response_types: Type.Optional(Type.Array(Type.String({ maxLength: 200 }), { maxItems: 20 })),
    scope: Type.Optional(Type.String({ maxLength: 2048 })),
    software_id: Type.Optional(Type.String({ maxLength: 200 })),
    software_version: Type.Optional(Type.String({ maxLength: 200 })),
  },
  { additionalProperties: true, examples: [exampleClient] },
)

/** A registered client (RFC 7591 §3.2.1). */
const RegisteredClient = open(
  'OAuthClient',
  {
    client_id: Type.String(),
    client_id_issued_at: Type.Integer({ description: 'In seconds since 1970.' }),
    client_secret: Type.Optional(
      Type.String({
        description: 'Only for clients that authenticate with a secret. It is only returned here.',
      }),
    ),
    client_secret_expires_at: Type.Optional(Type.Integer({ description: '0 means never.' })),
    redirect_uris: Type.Array(Type.String()),
    client_name: Type.Optional(Type.String()),
    token_endpoint_auth_method: Type.String({ enum: [...clientAuthMethods] }),
    grant_types: Type.Array(Type.String()),
    response_types: Type.Array(Type.String()),
  },
  {
    client_id: 'r5xA2M42kEsTgS--bHms7YmKY5Cds6W08j24cbzs8ez',
    client_id_issued_at: exampleInstant,
    ...exampleClient,
    token_endpoint_auth_method: 'none',
    grant_types: [...grantTypes],
    response_types: ['code'],
  },
)

/** RFC 6749 §5.1. */
const Tokens = open(
  'OAuthTokens',
  {
    access_token: Type.String(),
    token_type: Type.Literal('Bearer'),
    expires_in: Type.Integer({ description: 'In seconds.' }),
    refresh_token: Type.Optional(Type.String()),
    scope: Type.Optional(Type.String()),
  },
  {
    access_token:
      'eyJhbGciOiJFUzI1NiIsInR5cCI6ImF0K2p3dCJ9.eyJzY29wZSI6InZhbGlkYXRpb24ta2l0OnJlYWQifQ.c2lnbmF0dXJl',
    token_type: 'Bearer',
    expires_in: 3600,
    refresh_token: 'g3bTeJVfAHqlS0D2eK3vEAUq8ztV1ReM2yidRZn0lmw',
    scope: agentScope,
  },
)

/** RFC 7517. */
const KeySet = complete(
  'JsonWebKeySet',
  {
    keys: Type.Array(
      Type.Object(
        {
          kty: Type.String(),
          x: Type.String(),
          y: Type.String(),
          crv: Type.String(),
          kid: Type.String(),
          alg: Type.String(),
          use: Type.String(),
        },
        { additionalProperties: false },
      ),
    ),
  },
  {
    keys: [
      {
        kty: 'EC',
        x: '1kPyHyWW8ZZ909jhou1rcvYGuZxvrQ0_rFxmVLgl_VI',
        y: '_8KgCNb-4zgBMoznQA8TEha1W5G1t7FtGwQIHDxRq-4',
        crv: 'P-256',
        kid: '01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e10',
        alg: 'ES256',
        use: 'sig',
      },
    ],
  },
)

export const agentOAuthSchemas = [
  OAuthError,
  ServerMetadata,
  ResourceMetadata,
  RegisteredClient,
  Tokens,
  KeySet,
]

/** A response with its description, which @fastify/swagger reads beside the `$ref`. */
function answer(description: string, schema: TObject) {
  return { ...ref(schema), description }
}

const clientFields = {
  client_id: Type.Optional(Type.String()),
  client_secret: Type.Optional(Type.String()),
  client_assertion_type: Type.Optional(Type.String()),
  client_assertion: Type.Optional(
    Type.String({ description: 'Of a client with `private_key_jwt` (RFC 7523 §2.2).' }),
  ),
}
const exampleClientId = exampleOf(RegisteredClient).client_id
const invalidClient = answer(
  '`invalid_client`: the client is unknown, or its secret or its JWT is wrong. `error_description` says whether to register again.',
  OAuthError,
)
const unsupportedForm = answer(
  '`invalid_request`: the charset of the form is not UTF-8, or it is compressed.',
  OAuthError,
)
const tooManyRefused = answer(
  '`temporarily_unavailable`: too many refused requests from this address. Retry later.',
  OAuthError,
)
const unavailable = answer(
  '`temporarily_unavailable`: the database cannot be reached. Retry later.',
  OAuthError,
)
const unavailableOrUnreachable = answer(
  '`temporarily_unavailable`: the database cannot be reached, or the metadata document or the keys of the client or of the identity provider cannot. Retry later.',
  OAuthError,
)
const serverError = answer('`server_error`: the service failed.', OAuthError)

const tags = ['agentOAuth']

export const registerClient = {
  operationId: 'agentOAuth.register',
  tags,
  summary: 'Register an agent as an OAuth client',
  description:
    'Dynamic client registration (RFC 7591). Unknown metadata is ignored; the rest is limited to 4 KiB. Clients without ' +
    '`token_endpoint_auth_method` are public clients and get no secret; those with `private_key_jwt` bring keys. Clients without a grant are deleted after ' +
    'seven days, or sooner if there are too many; others a year after their last use.',
  body: ClientMetadata,
  response: {
    201: answer('The registered client.', RegisteredClient),
    400: answer('`invalid_client_metadata` or `invalid_redirect_uri`.', OAuthError),
    413: answer('`invalid_client_metadata`: the request is too large.', OAuthError),
    415: answer(
      '`invalid_client_metadata`: the request body is not `application/json`, its charset is not UTF-8, or it is compressed.',
      OAuthError,
    ),
    429: answer('`temporarily_unavailable`: too many registrations. Retry later.', OAuthError),
    500: serverError,
    503: unavailable,
  },
}

export const issueToken = {
  operationId: 'agentOAuth.token',
  tags,
  summary: 'Get tokens for a code, a refresh token or an assertion, or as a service account',
  description:
    'The token endpoint of OAuth (RFC 6749 §3.2), with PKCE (RFC 7636) and resource indicators (RFC 8707). A client of a ' +
    'service account uses `client_credentials` (§4.4), and gets no refresh token. Nor does one with an assertion of an identity ' +
    'provider (ID-JAG, a profile of RFC 7523 §2.1), whose `resource` may end in `?workspace=SLUG`.',
  consumes: ['application/x-www-form-urlencoded'],
  body: Type.Object(
    {
      grant_type: Type.String({ enum: [...grantTypes, serviceGrantType, assertionGrantType] }),
      code: Type.Optional(Type.String()),
      code_verifier: Type.Optional(Type.String()),
      redirect_uri: Type.Optional(Type.String()),
      refresh_token: Type.Optional(Type.String()),
      assertion: Type.Optional(Type.String()),
      ...clientFields,
      resource: Type.Optional(Type.String()),
      scope: Type.Optional(Type.String()),
    },
    {
      examples: [
        {
          grant_type: 'authorization_code',
          code: 'YgxFQ4mR0nT7aJ2cX9sV5bL1',
          code_verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
          redirect_uri: exampleClient.redirect_uris[0],
          client_id: exampleClientId,
          resource: `${issuer}${paths.mcp}`,
        },
      ],
    },
  ),
  response: {
    200: answer('The tokens.', Tokens),
    400: answer(
      'An error such as `invalid_grant` or `invalid_request` (RFC 6749 §5.2). `unauthorized_client`: the access of a client of a ' +
        'service account has ended, or the client is public and sends an assertion, or the workspace gives it no access by one. ' +
        '`invalid_scope`: it asks for more than it has. `invalid_target`: the resource is another one, or the person is not in the ' +
        'workspace, or in several.',
      OAuthError,
    ),
    401: invalidClient,
    415: unsupportedForm,
    429: answer(
      '`temporarily_unavailable`: too many refreshes of the grant, or too many refused requests from the address. Retry later.',
      OAuthError,
    ),
    500: serverError,
    503: unavailableOrUnreachable,
  },
}

export const revokeToken = {
  operationId: 'agentOAuth.revoke',
  tags,
  summary: 'Revoke a refresh token',
  description:
    'Token revocation (RFC 7009). Revoking a refresh token revokes the grant and all its access tokens. An access ' +
    'token alone cannot be revoked.',
  consumes: ['application/x-www-form-urlencoded'],
  body: Type.Object(
    {
      token: Type.String(),
      token_type_hint: Type.Optional(Type.String()),
      ...clientFields,
    },
    { examples: [{ token: exampleOf(Tokens).refresh_token, client_id: exampleClientId }] },
  ),
  response: {
    200: Type.Null({ description: 'The token is revoked, or was never valid. The response has no content.' }),
    400: answer(
      'An error such as `invalid_request` or `unsupported_token_type` (RFC 7009 §2.2.1).',
      OAuthError,
    ),
    401: invalidClient,
    415: unsupportedForm,
    429: tooManyRefused,
    500: serverError,
    503: unavailableOrUnreachable,
  },
}

export const getJwks = {
  operationId: 'agentOAuth.jwks',
  tags,
  summary: 'Get the keys that verify access tokens',
  description: 'A JSON Web Key Set (RFC 7517), without private parts.',
  response: { 200: answer('The public keys.', KeySet) },
  errors: [errors.databaseUnavailable],
}

export const getServerMetadata = {
  operationId: 'agentOAuth.serverMetadata',
  tags,
  summary: 'Get the metadata of the authorization server',
  description: 'Authorization server metadata (RFC 8414).',
  response: { 200: answer('The metadata of the authorization server.', ServerMetadata) },
}

export const getResourceMetadata = {
  operationId: 'agentOAuth.resourceMetadata',
  tags,
  summary: 'Get the metadata of the protected resource',
  description: 'Protected resource metadata (RFC 9728) of the MCP endpoint and of the validation kit.',
  response: { 200: answer('The metadata of the protected resource.', ResourceMetadata) },
}
