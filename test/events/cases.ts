/** The way a function is woken; also the folder of its events. */
export type Trigger = 'api-gateway' | 'sqs' | 'dynamodb-stream' | 'schedule'

/** One recorded event: which function it is for, how it comes about, and what the function answers to it. */
export interface RecordedCase {
  trigger: Trigger
  /** The file's name without `.json`. */
  name: string
  /** The function's folder under `functions/`. */
  function: string
  /** The request that is sent to record it; what the other triggers bring happens in the demo. */
  request?: { method: string; path: string; headers?: Record<string, string>; body?: unknown; form?: string }
  /** Which of the demo's events the batch holds, one message or record for each; the first that came without it. */
  carries?: string[]
  /** What a platform without any data answers: a status and, for errors, the code; without it, that all is handled. */
  answers?: { status: number; code?: string }
}

const request = (
  name: string,
  fn: string,
  line: string,
  answers: { status: number; code?: string },
  sent: Omit<NonNullable<RecordedCase['request']>, 'method' | 'path'> = {},
): RecordedCase => {
  const [method = '', path = ''] = line.split(' ')
  return { trigger: 'api-gateway', name, function: fn, request: { method, path, ...sent }, answers }
}

const refused = (code: string, status = 401) => ({ status, code })

const MANIFEST = {
  id: 'example.greeter',
  version: '1.0.0',
  name: 'Greeter',
  summary: 'Greets people.',
  runtime: { type: 'webhook', endpoint: 'https://agent.example.com/runs' },
}

const PREFLIGHT = {
  origin: 'https://app.example.com',
  'access-control-request-method': 'POST',
  'access-control-request-headers': 'authorization,content-type',
}

/**
 * Every recorded event. Each request function has one that is refused and, unless all its callers sign in elsewhere, one
 * that succeeds on a platform without data; each worker one batch, whose records such a platform does not have, so that
 * the worker drops it.
 */
export const CASES: RecordedCase[] = [
  request('oauth-scopes', 'oauth', 'GET /oauth/scopes', { status: 200 }),
  request('oauth-metadata', 'oauth', 'GET /oauth/metadata', { status: 200 }),
  request('oauth-token-refused', 'oauth', 'POST /oauth/token', refused('invalid_client'), {
    form: 'grant_type=authorization_code&client_id=nobody&client_secret=nothing&code=none&code_verifier=none',
  }),
  request('api-preflight', 'api', 'OPTIONS /api/v1/runs', { status: 204 }, { headers: PREFLIGHT }),
  request('api-me-refused', 'api', 'GET /api/v1/me', refused('unauthorized')),
  request('console-runs-refused', 'console', 'GET /console/runs', refused('unauthorized')),
  request(
    'people-session',
    'people',
    'POST /console/session',
    { status: 201 },
    {
      body: { user: 'grace', workspace: 'acme' },
    },
  ),
  request('chat-conversations-refused', 'chat', 'GET /console/conversations', refused('unauthorized')),
  request('console-files-refused', 'console-files', 'GET /console/files', refused('unauthorized')),
  request('overview-updates-refused', 'overview', 'GET /console/updates', refused('unauthorized')),
  request('people-me-refused', 'people', 'GET /console/me', refused('unauthorized')),
  request('feedback-requests-refused', 'feedback', 'GET /console/agent-requests', refused('unauthorized')),
  request(
    'developer-register',
    'developer',
    'POST /api/v1/dev/register',
    { status: 201 },
    {
      headers: { 'idempotency-key': '00000000-0000-4000-8000-000000000001' },
      body: { email: 'ada@example.com', name: 'Ada' },
    },
  ),
  request('developer-me-refused', 'developer', 'GET /api/v1/dev/me', refused('unauthorized')),
  request(
    'developer-account-preflight',
    'developer-account',
    'OPTIONS /api/v1/dev/sandbox/seed',
    { status: 204 },
    { headers: PREFLIGHT },
  ),
  request(
    'developer-account-stats-refused',
    'developer-account',
    'GET /api/v1/dev/apps/app_01kf0rdqg00000000000000001/stats',
    refused('unauthorized'),
  ),
  request('manifests-validate', 'manifests', 'POST /api/v1/dev/manifest/validate', { status: 200 }, { body: MANIFEST }),
  request(
    'manifests-publish-refused',
    'manifests',
    'POST /api/v1/dev/apps/app_01kf0rdqg00000000000000001/versions',
    refused('unauthorized'),
    { body: MANIFEST },
  ),
  request(
    'admin-login',
    'admin',
    'POST /admin/auth/login',
    { status: 200 },
    {
      body: { email: 'admin@example.com', password: 'local-admin-password' },
    },
  ),
  request('admin-me-refused', 'admin', 'GET /admin/me', refused('unauthorized')),
  request('oversight-audit-refused', 'oversight', 'GET /admin/audit', refused('unauthorized')),
  request('observation-overview-refused', 'observation', 'GET /admin/overview', refused('unauthorized')),
  request('exports-apps-refused', 'exports', 'GET /admin/export/apps', refused('unauthorized')),
  request('moderation-requests-refused', 'moderation', 'GET /admin/requests', refused('unauthorized')),
  request('app-moderation-review-refused', 'app-moderation', 'GET /admin/review', refused('unauthorized')),
  request(
    'moderation-calls-checks-refused',
    'moderation-calls',
    'GET /admin/apps/app_01kf0rdqg00000000000000001/checks',
    refused('unauthorized'),
  ),
  request(
    'moderation-test-runs-refused',
    'moderation-test-runs',
    'POST /admin/apps/app_01kf0rdqg00000000000000001/test-install',
    refused('unauthorized'),
    { body: { input: {} } },
  ),
  request('console-page', 'console-page', 'GET /app', { status: 200 }),
  request('console-page-no-file', 'console-page', 'GET /app/assets/none.js', refused('not_found', 404)),
  request('staff-page', 'staff-page', 'GET /staff', { status: 200 }),
  request('staff-page-no-file', 'staff-page', 'GET /staff/assets/none.js', refused('not_found', 404)),
  request('docs-openapi', 'docs', 'GET /openapi.json', { status: 200 }),
  request('docs-unknown-path', 'docs', 'GET /surely/not/here?x=1', refused('not_found', 404)),
  request(
    'agent-calls-preflight',
    'agent-calls',
    'OPTIONS /api/v1/webhooks/whk_01kf0rdqg00000000000000001/test',
    { status: 204 },
    { headers: PREFLIGHT },
  ),
  request(
    'agent-calls-test-run-refused',
    'agent-calls',
    'POST /api/v1/dev/apps/app_01kf0rdqg00000000000000001/test-run',
    refused('unauthorized'),
    { body: { input: {} } },
  ),
  request(
    'tools-preflight',
    'tools',
    'OPTIONS /api/v1/tools/http_fetch/invoke',
    { status: 204 },
    { headers: PREFLIGHT },
  ),
  request('tools-invoke-refused', 'tools', 'POST /api/v1/tools/http_fetch/invoke', refused('unauthorized'), {
    body: { arguments: { url: 'https://example.com/' } },
  }),
  request(
    'installation-settings-refused',
    'installation-settings',
    'PUT /console/installations/ins_01kf0rdqg00000000000000001/settings',
    refused('unauthorized'),
    { body: { values: { region: 'eu' } } },
  ),
  request('marketplace-refused', 'marketplace', 'GET /console/marketplace?q=stock', refused('unauthorized')),
  request('workspace-preflight', 'workspace', 'OPTIONS /api/v1/files', { status: 204 }, { headers: PREFLIGHT }),
  request('workspace-files-refused', 'workspace', 'GET /api/v1/files', refused('unauthorized')),
  request('messenger-accounts-refused', 'messenger', 'GET /console/messenger/accounts', refused('unauthorized')),
  request(
    'messenger-update-refused',
    'messenger-updates',
    'POST /console/messenger/updates/acc_01kf0rdqg00000000000000001',
    refused('unauthorized'),
    { body: { update_id: 1 } },
  ),
  request('bot-info', 'bot', 'GET /console/bot/info', { status: 200 }),
  request('bot-webhook-refused', 'bot', 'POST /console/bot/webhook', refused('unauthorized'), {
    body: { update_id: 1 },
  }),
  request(
    'run-streams-preflight',
    'run-streams',
    'OPTIONS /api/v1/runs/run_01kf0rdqg00000000000000001/stream',
    { status: 204 },
    { headers: { ...PREFLIGHT, 'access-control-request-method': 'GET' } },
  ),
  request(
    'run-streams-refused',
    'run-streams',
    'GET /console/runs/run_01kf0rdqg00000000000000001/stream',
    refused('unauthorized'),
    { headers: { accept: 'text/event-stream', 'last-event-id': '4' } },
  ),
  request(
    'listen-streams-preflight',
    'listen-streams',
    'OPTIONS /api/v1/dev/listen',
    { status: 204 },
    { headers: { ...PREFLIGHT, 'access-control-request-method': 'GET' } },
  ),
  request(
    'listen-streams-refused',
    'listen-streams',
    'GET /api/v1/dev/listen?app_id=app_01kf0rdqg00000000000000001',
    refused('unauthorized'),
    { headers: { accept: 'text/event-stream' } },
  ),
  request(
    'listening-preflight',
    'listening',
    'OPTIONS /api/v1/dev/sandbox/trigger',
    { status: 204 },
    { headers: PREFLIGHT },
  ),
  request(
    'listening-answer-refused',
    'listening',
    'POST /api/v1/dev/listen/lrq_01kf0rdqg00000000000000001/answer',
    refused('unauthorized'),
    { body: { status: 200 } },
  ),
  { trigger: 'sqs', name: 'event-fanout', function: 'event-fanout', carries: ['run.created', 'run.succeeded'] },
  { trigger: 'sqs', name: 'run-dispatch', function: 'run-dispatch', carries: ['run.created'] },
  { trigger: 'sqs', name: 'run-dispatch-resumed', function: 'run-dispatch', carries: ['run.resumed'] },
  { trigger: 'sqs', name: 'inline-agents', function: 'inline-agents' },
  { trigger: 'sqs', name: 'approved-tools', function: 'approved-tools', carries: ['approval.decided'] },
  { trigger: 'sqs', name: 'statistics', function: 'statistics', carries: ['run.succeeded'] },
  { trigger: 'sqs', name: 'removals', function: 'removals', carries: ['installation.removed'] },
  { trigger: 'sqs', name: 'webhook-delivery', function: 'webhook-delivery' },
  { trigger: 'sqs', name: 'notification-delivery', function: 'notification-delivery' },
  { trigger: 'sqs', name: 'messenger-worker', function: 'messenger-worker', carries: ['messenger.send'] },
  {
    trigger: 'dynamodb-stream',
    name: 'stream-relay',
    function: 'stream-relay',
    carries: ['run.created', 'run.succeeded'],
  },
  { trigger: 'schedule', name: 'overdue-sweep', function: 'overdue-sweep' },
  { trigger: 'schedule', name: 'workspace-removal', function: 'workspace-removal' },
]

/** The file of a case, from the repository's root. */
export const fileOf = ({ trigger, name }: RecordedCase): string => `events/${trigger}/${name}.json`
