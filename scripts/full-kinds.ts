import { vitest } from './run-steps.ts'

/** What `.ci/run` does not ask: how the service works with programs of others, on other versions, under load and in faults. */
export interface Kind {
  name: string
  does: string
  /** The programs of Debian that it needs. */
  needs: readonly DebianProgram[]
  /** What bash runs, one after the other. */
  commands: readonly string[]
  /** Its files of tests may run again, alone, when they fail: they need nothing that the commands set up. */
  mayRepeat?: boolean
  /** Paths of git: a result counts until one of these files changes. */
  files: readonly string[]
}

const postgres15 = '/usr/lib/postgresql/15/bin/initdb'

/** A package of Debian, and the service that its installation may start. */
export interface DebianPackage {
  in: string
  service?: string
}

/** Programs, or files of programs that are not on the PATH, with the package of Debian that has each. */
export const debianPrograms = {
  'redis-server': { in: 'redis-server', service: 'redis-server' },
  chromium: { in: 'chromium' },
  'firefox-esr': { in: 'firefox-esr' },
  haproxy: { in: 'haproxy', service: 'haproxy' },
  pgbouncer: { in: 'pgbouncer', service: 'pgbouncer' },
  faketime: { in: 'faketime' },
  [postgres15]: { in: 'postgresql-15', service: 'postgresql' },
  wrk: { in: 'wrk' },
  promtool: { in: 'prometheus', service: 'prometheus' },
  kubectl: { in: 'kubernetes-client' },
  nginx: { in: 'nginx-light', service: 'nginx' },
  caddy: { in: 'caddy', service: 'caddy' },
  'systemd-analyze': { in: 'systemd' },
} as const satisfies Record<string, DebianPackage>

export type DebianProgram = keyof typeof debianPrograms

const service = ['src', 'drizzle', 'public', 'scripts', 'package-lock.json', 'tests/support']
const onNode24 = (files: string) => `npx -y -p node@24 -c '${vitest} ${files}'`
const ofOthersAtTheSameMoment = [
  ...['isolation', 'events-of-every-operation', 'event-positions', 'idempotency'],
  ...['races', 'seeds.races', 'turns'],
]

export const kinds: readonly Kind[] = [
  {
    name: 'rest',
    does: 'processes, adapters and 20,000 hostile requests',
    needs: ['redis-server', 'pgbouncer', postgres15],
    commands: ['FUZZ_REQUESTS=20000 npm run --silent test:rest'],
    mayRepeat: true,
    files: [...service, 'tests/acceptance', 'tests/platform', 'tests/fuzz'],
  },
  {
    name: 'browser',
    does: 'the website in Chromium, and a journey in Firefox',
    needs: ['chromium', 'firefox-esr'],
    commands: ['npm run --silent test:browser'],
    mayRepeat: true,
    files: [...service, 'tests/website', ':(glob)tests/**/*.browser.test.ts'],
  },
  {
    name: 'load',
    does: 'tests of load, and of large workspaces',
    needs: [],
    commands: ['npm run --silent test:load'],
    mayRepeat: true,
    files: [...service, ':(glob)tests/**/*.load.test.ts'],
  },
  {
    name: 'faults',
    does: 'what fails, under load: docs/reliability.md',
    needs: ['haproxy', 'redis-server', 'pgbouncer', 'faketime', postgres15],
    commands: ['npm run --silent faults'],
    files: [...service, 'tests/faults'],
  },
  {
    name: 'bench',
    does: 'no slower than the commit that docs/performance-run.md measured: docs/performance.md',
    needs: ['wrk'],
    commands: ['npm run --silent bench -- compare'],
    files: [...service, 'bench'],
  },
  {
    name: 'nodes',
    does: 'installing and starting on other Nodes, without a compiler',
    needs: [],
    commands: ['.ci/install 20.19.0 22 24'],
    files: ['package.json', 'package-lock.json', 'scripts', 'src', 'drizzle', '.ci/install'],
  },
  {
    name: 'openapi',
    does: 'linters of OpenAPI, and clients generated from it',
    needs: [],
    commands: ['.ci/openapi'],
    files: ['docs/openapi.json', 'packages/client/src', 'tests/clients', '.ci/openapi', '.ci/tools/openapi'],
  },
  {
    name: 'client',
    does: 'the client, packed and installed',
    needs: [],
    commands: ['.ci/client'],
    files: ['packages/client', 'docs/following-events.md', 'tests/client', '.ci/client', '.ci/tools/client'],
  },
  {
    name: 'conformance',
    does: 'the conformance suite of MCP',
    needs: [],
    commands: ['.ci/conformance'],
    files: ['src', 'tests/conformance', '.ci/conformance', '.ci/tools/conformance'],
  },
  {
    name: 'mcp',
    does: 'MCP clients that people use',
    needs: ['chromium'],
    commands: ['.ci/mcp-clients'],
    files: ['src', 'tests/mcp-clients', 'tests/agents', '.ci/mcp-clients', '.ci/tools/mcp-clients'],
  },
  {
    name: 'postgresql-15',
    does: "processes and adapters, on Node 24 and Debian's PostgreSQL 15",
    needs: [postgres15, 'redis-server', 'pgbouncer'],
    commands: [`.ci/postgresql-15 ${onNode24('tests/platform tests/acceptance')}`],
    files: [...service, 'tests/platform', 'tests/acceptance', '.ci/postgresql-15'],
  },
  {
    name: 'poolers',
    does: 'the API through PgBouncer, in session mode, and what may meet something else in transaction mode',
    needs: [postgres15, 'pgbouncer', 'redis-server'],
    commands: [
      // Not the tests of load, which have the machine to themselves in their own kind.
      `TEST_POOLER=session .ci/postgresql-15 ${onNode24('tests/api --exclude "tests/**/*.load.test.ts"')}`,
      // Some others cannot pass here: they count round trips, or set parameters of a session.
      `TEST_POOLER=transaction .ci/postgresql-15 ` +
        onNode24(ofOthersAtTheSameMoment.map((name) => `tests/api/${name}.test.ts`).join(' ')),
    ],
    files: [...service, 'tests/api', '.ci/postgresql-15'],
  },
  {
    name: 'deploy',
    does: 'the files for Kubernetes, nginx, Caddy, systemd and Prometheus',
    needs: ['promtool', 'kubectl', 'nginx', 'caddy', 'systemd-analyze'],
    commands: ['.ci/deploy'],
    files: ['deploy', '.ci/deploy'],
  },
]
