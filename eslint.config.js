import js from '@eslint/js'
import prettier from 'eslint-config-prettier'
import regexp from 'eslint-plugin-regexp'
import tseslint from 'typescript-eslint'

export default tseslint.config(
  // tests/clients is compiled with what generators make, and bench/peers runs with packages, which are not here.
  {
    ignores: [
      '**/dist',
      'node_modules',
      '.data',
      '**/*.cjs',
      'tests/clients',
      'bench/peers',
      'packages/client/src/api.ts',
      'packages/client/tests',
    ],
  },
  js.configs.recommended,
  ...tseslint.configs.strictTypeChecked,
  ...tseslint.configs.stylisticTypeChecked,
  {
    languageOptions: {
      parserOptions: {
        projectService: { allowDefaultProject: ['eslint.config.js'] },
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      // Fastify's hooks and handlers are async whether or not they await: a throw must become a rejection.
      '@typescript-eslint/require-await': 'off',
      // Numbers are read well in messages.
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      // fetch answers and JSON are typed by assertion where a schema has checked them.
      '@typescript-eslint/no-unsafe-type-assertion': 'off',
      // An empty string is as good as none in messages.
      '@typescript-eslint/prefer-nullish-coalescing': ['error', { ignorePrimitives: { string: true } }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/consistent-type-definitions': ['error', 'interface'],
      'no-restricted-properties': [
        'error',
        { object: 'process', property: 'env', message: 'Only src/config/ reads the environment.' },
      ],
    },
  },
  {
    // Where callers of the API make changes. The counts of calls and the outcomes of deliveries and mails are written behind requests.
    files: ['src/{areas,pictures}/**'],
    ignores: ['src/agents/calls/agent-calls.repository.ts', 'src/areas/webhooks/deliverer.repository.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          selector: "CallExpression[callee.object.name='db'][callee.property.name='transaction']",
          message: 'Changes are made through access/change.ts.',
        },
      ],
    },
  },
  {
    // A pattern that backtracks lets one request hold up all others.
    files: ['src/**', 'public/**'],
    plugins: { regexp },
    rules: {
      'regexp/no-super-linear-backtracking': ['error', { report: 'potential' }],
      'regexp/no-super-linear-move': ['error', { report: 'potential' }],
    },
  },
  {
    files: ['src/config/**', 'src/db/embedded-binaries.ts', 'bench/**', '*.config.ts'],
    rules: { 'no-restricted-properties': 'off' },
  },
  {
    // The times that tests wait are chosen in one place, so that none is too short for a machine that stalls.
    files: ['tests/**'],
    ignores: ['tests/support/eventually.ts'],
    rules: {
      'no-restricted-properties': [
        'error',
        ...['waitFor', 'waitUntil'].map((property) => ({
          object: 'vi',
          property,
          message: 'Wait by tests/support/eventually.ts.',
        })),
      ],
      'no-restricted-syntax': [
        'error',
        {
          selector:
            "CallExpression[callee.object.name='expect'][callee.property.name='poll'][arguments.length>1]",
          message: 'vitest.config.ts says how long.',
        },
        {
          selector: 'CallExpression[callee.name=/^(it|test)$/] > Literal.arguments:last-child',
          message: 'vitest.config.ts has the one limit, for what has got stuck.',
        },
      ],
    },
  },
  { files: ['**/*.js'], ...tseslint.configs.disableTypeChecked },
  {
    // What runs in browsers.
    files: ['public/**/*.js', 'tests/mcp-clients/page.js', 'tests/agents/card-host.js'],
    languageOptions: {
      globals: Object.fromEntries(
        [
          'AbortController',
          'AbortSignal',
          'addEventListener',
          'atob',
          'btoa',
          'clearTimeout',
          'crypto',
          'CustomEvent',
          'document',
          'DOMParser',
          'Event',
          'EventSource',
          'history',
          'scrollBy',
          'fetch',
          'FileReader',
          'FormData',
          'getSelection',
          'Image',
          'innerWidth',
          'isSecureContext',
          'localStorage',
          'location',
          'matchMedia',
          'navigator',
          'parent',
          'performance',
          'ResizeObserver',
          'sessionStorage',
          'setInterval',
          'setTimeout',
          'TextDecoder',
          'TextEncoder',
          'URL',
          'URLSearchParams',
          'XMLHttpRequest',
        ].map((name) => [name, 'readonly']),
      ),
    },
  },
  prettier,
)
