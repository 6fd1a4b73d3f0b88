// Who may import whom: see CONTRIBUTING.md, "The map of the house".
const area = '^src/areas/([^/]+)/'
/** What the service does, whoever asks for it. */
const rules = '^src/(access|accounts|agent-oauth|areas|mail|pictures|website/state)/'
/** The files among them that translate between it and HTTP, MCP or OAuth. */
const translations = '\\.(routes|schemas|mcp|tools)\\.ts$|^src/areas/agent/(mcp|tools)/'

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
      name: 'kernel-imports-nothing-of-ours',
      severity: 'error',
      from: { path: '^src/kernel/' },
      to: { path: '^src/(?!kernel/)' },
    },
    {
      name: 'kernel-does-no-io',
      severity: 'error',
      from: { path: '^src/kernel/' },
      to: {
        path: '^(fs|net|http|https|child_process)(/|$)|node_modules/(fastify|@fastify|pg|drizzle-orm|ioredis)/',
      },
    },
    {
      name: 'http-knows-only-the-kernel',
      severity: 'error',
      from: { path: '^src/http/' },
      to: { path: '^src/(?!http/|kernel/)' },
    },
    {
      name: 'access-is-below-the-areas',
      severity: 'error',
      from: { path: '^src/(access|accounts/users)/' },
      to: { path: '^src/(?!access/|accounts/users/|db/|kernel/)' },
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
      to: { path: '^src/areas/', pathNot: '^src/areas/$1/' },
    },
    {
      name: 'rules-know-no-http',
      severity: 'error',
      from: { path: rules, pathNot: translations },
      to: {
        path: '^src/(http|website)/|node_modules/(fastify|@fastify)/|\\.routes\\.ts$',
        pathNot: '^src/website/state/',
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
      from: { path: '^src/website/', pathNot: '^src/website/state/' },
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
