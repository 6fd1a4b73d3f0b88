/** A part of the conformance suite that fails because the service does not have what it tests. */
interface Exception {
  reason: string
  /** Scenarios none of whose checks apply. */
  scenarios?: readonly string[]
  /** Single checks of scenarios that apply otherwise. */
  checks?: readonly string[]
}

/** What does not apply to the service. Each of these must fail: one that passes is to be removed from here. */
export const exceptions: readonly Exception[] = [
  {
    reason: 'They call tools that only servers made for the suite have.',
    scenarios: [
      'tools-call-simple-text',
      'tools-call-image',
      'tools-call-audio',
      'tools-call-embedded-resource',
      'tools-call-mixed-content',
      'tools-call-error',
      'tools-call-with-progress',
      'json-schema-2020-12',
      'http-custom-header-server-validation',
    ],
    checks: [
      'sep-2575-server-rejects-undeclared-capability',
      'sep-2575-missing-capability-http-400',
      'sep-2575-http-server-no-independent-requests-on-stream',
      'sep-2575-server-no-log-without-loglevel',
    ],
  },
  {
    reason: 'No tool asks the client or its user for something.',
    scenarios: [
      'tools-call-sampling',
      'tools-call-elicitation',
      'elicitation-sep1034-defaults',
      'elicitation-sep1330-enums',
      'input-required-result-basic-elicitation',
      'input-required-result-basic-sampling',
      'input-required-result-basic-list-roots',
      'input-required-result-request-state',
      'input-required-result-multiple-input-requests',
      'input-required-result-multi-round',
      'input-required-result-missing-input-response',
      'input-required-result-non-tool-request',
      'input-required-result-result-type',
      'input-required-result-tampered-state',
      'input-required-result-capability-check',
      'input-required-result-ignore-extra-params',
    ],
  },
  {
    reason: 'The suite reads prompts and completes arguments that only servers made for it have.',
    scenarios: [
      'prompts-get-simple',
      'prompts-get-with-args',
      'prompts-get-embedded-resource',
      'prompts-get-with-image',
      'completion-complete',
    ],
    checks: ['sep-2575-server-sends-prompts-list-changed-on-subscription'],
  },
  {
    reason:
      'The suite reads resources that only servers made for it have, and there are no subscriptions to resources.',
    scenarios: [
      'resources-read-text',
      'resources-read-binary',
      'resources-templates-read',
      'resources-subscribe',
      'resources-unsubscribe',
    ],
  },
  {
    reason: 'No log messages are sent to clients, and the tools of a grant do not change during a request.',
    scenarios: ['logging-set-level', 'tools-call-with-logging'],
    checks: ['sep-2575-server-sends-tools-list-changed-on-subscription'],
  },
  {
    reason: 'The endpoint has no sessions.',
    scenarios: ['server-sse-polling'],
    checks: ['server-sse-multiple-streams-session'],
  },
  {
    reason: 'The extension is not offered.',
    scenarios: [
      'tasks-lifecycle',
      'tasks-capability-negotiation',
      'tasks-wire-fields',
      'tasks-request-state-removal',
      'tasks-mrtr-input',
      'tasks-request-headers',
      'tasks-dispatch-and-envelope',
      'tasks-status-notifications',
      'tasks-required-task-error',
      'tasks-mrtr-composition',
    ],
  },
]
