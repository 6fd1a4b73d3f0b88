// Who may import whom: see CONTRIBUTING.md, "Who may import whom".
// The folders of src/, each of which may import those before it. The last ones are files.
const layers = [
  ...[
    'kernel',
    'domain',
    'concurrency',
    'config',
    'db',
    'platform',
    'mail',
    'users',
    'access',
    'forms',
    'http',
  ],
  ...['assets', 'pictures', 'areas', 'agents', 'accounts', 'production-warnings.ts', 'services', 'website'],
  ...['app.ts', 'example-seeds.ts', 'first-run.ts', 'process.ts', 'server.ts', 'cli'],
]
const inSrc = (names) => `^src/(${names.join('|').replaceAll('.', '\\.')})(/|$)`
const area = '^src/(areas/[^/]+|agents)/'
/** What the service does, whoever asks for it. */
const rules = '^src/(access|accounts|agents|areas|forms|mail|pictures|users)/'
/** The files among them that translate between it and HTTP, MCP or OAuth. */
const translations = '\\.(routes|schemas|mcp|tools)\\.ts$|^src/agents/(mcp|tools)/'

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    { name: 'no-circles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'no-circles-of-folders',
      severity: 'error',
      scope: 'folder',
      from: {},
      to: { circular: true },
    },
    ...layers.slice(0, -1).map((layer, i) => ({
      name: `${layer}-imports-only-what-is-below`,
      severity: 'error',
      from: { path: inSrc([layer]) },
      to: { path: inSrc(layers.slice(i + 1)) },
    })),
    {
      name: 'every-folder-has-its-layer',
      severity: 'error',
      from: {},
      to: { path: '^src/', pathNot: inSrc([...layers, 'types']) },
    },
    {
      name: 'the-service-stands-alone',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^(bench|scripts|tests)/', pathNot: '^scripts/require-node\\.cjs$' },
    },
    {
      name: 'bench-scenarios-are-on-top',
      severity: 'error',
      from: { path: '^bench/', pathNot: '^bench/(run\\.ts$|scenarios/)' },
      to: { path: '^bench/scenarios/' },
    },
    {
      name: 'kernel-and-domain-do-no-io',
      severity: 'error',
      from: { path: '^src/(kernel|domain|concurrency)/' },
      to: {
        path: '^(fs|net|http|https|child_process)(/|$)|node_modules/(fastify|@fastify|pg|drizzle-orm|ioredis)/',
      },
    },
    {
      name: 'http-knows-no-adapters',
      severity: 'error',
      from: { path: '^src/http/' },
      to: { path: '^src/(?!http/|kernel/|domain/|concurrency/)' },
    },
    {
      name: 'access-is-below-the-areas',
      severity: 'error',
      from: { path: '^src/(access|users)/' },
      to: { path: '^src/(?!access/|users/|db/|kernel/|domain/|concurrency/)' },
    },
    {
      name: 'routes-see-service-and-schemas-only',
      severity: 'error',
      from: { path: `${area}.+\\.routes\\.ts$` },
      to: { path: '^src/(db|platform|access|accounts)/|\\.repository\\.ts$' },
    },
    {
      name: 'routes-stay-in-their-area',
      severity: 'error',
      from: { path: `${area}.+\\.routes\\.ts$` },
      to: { path: '^src/(areas|agents)/', pathNot: '^src/$1/' },
    },
    {
      name: 'rules-know-no-http',
      severity: 'error',
      from: { path: rules, pathNot: translations },
      to: {
        path: '^src/(http|website)/|node_modules/(fastify|@fastify)/|\\.routes\\.ts$',
      },
    },
    {
      name: 'rules-see-types-of-schemas',
      severity: 'error',
      from: { path: rules, pathNot: translations },
      to: { path: '\\.schemas\\.ts$', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'services-do-not-call-services',
      severity: 'error',
      from: { path: rules, pathNot: translations },
      to: { path: '\\.service\\.ts$', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'only-repositories-touch-tables',
      severity: 'error',
      from: { path: '^src', pathNot: '(\\.repository\\.ts$|^src/db/)' },
      to: { path: '^src/db/schema/|node_modules/(drizzle-orm|pg)/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'rules-see-ports-not-adapters',
      severity: 'error',
      from: { path: rules },
      to: { path: '^src/platform/', pathNot: '\\.port\\.ts$' },
    },
    {
      name: 'pages-use-services-only',
      severity: 'error',
      from: { path: '^src/website/' },
      to: { path: '^src/(db|platform)/|\\.(repository|routes|schemas)\\.ts$' },
    },
    {
      // A process without metrics loads none of it: process.ts imports the folder when there is a port for them.
      name: 'only-metrics-know-prometheus',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/platform/metrics/' },
      to: {
        path: 'node_modules/prom-client/|^src/platform/metrics/',
        dependencyTypesNot: ['dynamic-import', 'type-only'],
      },
    },
    {
      name: 'config-is-read-at-the-edge',
      severity: 'error',
      from: { path: '^src', pathNot: '^src/(process|app)\\.ts$|^src/(cli|config|services)/' },
      to: { path: '^src/config/', dependencyTypesNot: ['type-only'] },
    },
  ],
  options: {
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
  },
}
