/** The ids in examples, the same everywhere, so that examples are consistent. */
export const exampleIds = {
  apiKey: '01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e01',
  rotatedApiKey: '01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e0e',
  evidence: '01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e02',
  event: '01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e03',
  grant: '01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e04',
  invite: '01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e05',
  seed: '01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e06',
  /** Another one than `seed`, such as one that it was merged into. */
  otherSeed: '01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e11',
  team: '01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e07',
  /** Somebody else than `user`, such as who invited them. */
  actor: '01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e10',
  user: '01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e08',
  comment: '01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e0b',
  criterion: '01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e11',
  attachment: '01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e12',
  seedImport: '01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e13',
  label: '01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e14',
  savedFilter: '01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e15',
  agentRequest: '01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e0f',
  webhook: '01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e0a',
  serviceAccount: '01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e0c',
  serviceUser: '01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e0d',
  workspace: '01936f2e-7c1a-7d3e-8b52-0f4c6a9d1e09',
}
