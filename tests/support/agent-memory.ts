/** The memory of an agent, as OAuth clients ask for it: what it registered, its tokens, and where it sends the person. */
export function createAgentMemory(clientName: string, redirectUrl: string) {
  const memory: { client?: unknown; tokens?: unknown; verifier?: string; authorization?: URL } = {}
  return {
    memory,
    redirectUrl,
    clientMetadata: { client_name: clientName, redirect_uris: [redirectUrl] },
    clientInformation: () => memory.client as never,
    saveClientInformation: (client: unknown) => void (memory.client = client),
    tokens: () => memory.tokens as never,
    saveTokens: (tokens: unknown) => void (memory.tokens = tokens),
    redirectToAuthorization: (url: URL) => void (memory.authorization = url),
    saveCodeVerifier: (verifier: string) => void (memory.verifier = verifier),
    codeVerifier: () => memory.verifier ?? '',
  }
}
