/** Trigger of a function; also the folder of its events. */
export type Trigger = 'api-gateway' | 'sqs' | 'dynamodb-stream' | 'schedule' | 'websocket'

/** One recorded event: its function, how it is recorded, and the function's answer. */
export interface RecordedCase {
  trigger: Trigger
  /** The file's name without `.json`. */
  name: string
  /** The function's name in `functions/units.ts`. */
  function: string
  /** Request that is sent to record the event. Events of other triggers happen in the demo. */
  request?: { method: string; path: string; headers?: Record<string, string>; body?: unknown; form?: string }
  /**
   * Events of the demo in the batch, one message or record each; without it, the first one that came. Messages that carry no
   * event are a `push` notification of A2A or a webhook `delivery`.
   */
  carries?: string[]
  /**
   * Expected answer of a platform without data: a status and, for errors, the code. Without it, the event is handled
   * without an error.
   */
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
 * Every recorded event. Each request function has one that is refused and, unless all its callers sign in elsewhere,
 * one that succeeds on a platform without data. Each worker has one batch, whose records such a platform doesn't have,
 * so that the worker drops it.
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
    'console-session',
    'console',
    'POST /console/session',
    { status: 201 },
    {
      body: { user: 'grace', workspace: 'acme' },
    },
  ),
  request('console-conversations-refused', 'console', 'GET /console/conversations', refused('unauthorized')),
  request('files-refused', 'files', 'GET /console/files', refused('unauthorized')),
  request(
    'decisions-refused',
    'decisions',
    'POST /console/runs/run_01kf0rdqg00000000000000001/steps/stp_01kf0rdqg00000000000000001/decision',
    refused('unauthorized'),
    { body: { decision: 'approve' } },
  ),
  request('console-updates-refused', 'console', 'GET /console/updates', refused('unauthorized')),
  request('console-me-refused', 'console', 'GET /console/me', refused('unauthorized')),
  request('console-agent-requests-refused', 'console', 'GET /console/agent-requests', refused('unauthorized')),
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
    'developer-preflight',
    'developer',
    'OPTIONS /api/v1/dev/sandbox/seed',
    { status: 204 },
    { headers: PREFLIGHT },
  ),
  request(
    'developer-stats-refused',
    'developer',
    'GET /api/v1/dev/apps/app_01kf0rdqg00000000000000001/stats',
    refused('unauthorized'),
  ),
  request('developer-validate', 'developer', 'POST /api/v1/dev/manifest/validate', { status: 200 }, { body: MANIFEST }),
  request(
    'api-calls-publish-refused',
    'api-calls',
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
  request('admin-audit-refused', 'admin', 'GET /admin/audit', refused('unauthorized')),
  request('admin-overview-refused', 'admin', 'GET /admin/overview', refused('unauthorized')),
  request('admin-calls-export-refused', 'admin-calls', 'GET /admin/export/apps', refused('unauthorized')),
  request('admin-requests-refused', 'admin', 'GET /admin/requests', refused('unauthorized')),
  request('admin-review-refused', 'admin', 'GET /admin/review', refused('unauthorized')),
  request(
    'admin-calls-checks-refused',
    'admin-calls',
    'GET /admin/apps/app_01kf0rdqg00000000000000001/checks',
    refused('unauthorized'),
  ),
  request(
    'admin-calls-test-install-refused',
    'admin-calls',
    'POST /admin/apps/app_01kf0rdqg00000000000000001/test-install',
    refused('unauthorized'),
    { body: { input: {} } },
  ),
  request('pages-console', 'pages', 'GET /app', { status: 200 }),
  request('pages-console-no-file', 'pages', 'GET /app/assets/none.js', refused('not_found', 404)),
  request('pages-staff', 'pages', 'GET /staff', { status: 200 }),
  request('pages-staff-no-file', 'pages', 'GET /staff/assets/none.js', refused('not_found', 404)),
  request('pages-developers', 'pages', 'GET /developers', { status: 200 }),
  request('pages-developers-no-file', 'pages', 'GET /developers/assets/none.js', refused('not_found', 404)),
  request('pages-openapi', 'pages', 'GET /openapi.json', { status: 200 }),
  request('pages-unknown-path', 'pages', 'GET /surely/not/here?x=1', refused('not_found', 404)),
  request(
    'api-calls-preflight',
    'api-calls',
    'OPTIONS /api/v1/webhooks/whk_01kf0rdqg00000000000000001/test',
    { status: 204 },
    { headers: PREFLIGHT },
  ),
  request(
    'api-calls-test-run-refused',
    'api-calls',
    'POST /api/v1/dev/apps/app_01kf0rdqg00000000000000001/test-run',
    refused('unauthorized'),
    { body: { input: {} } },
  ),
  request(
    'api-calls-tool-preflight',
    'api-calls',
    'OPTIONS /api/v1/tools/http_fetch/invoke',
    { status: 204 },
    { headers: PREFLIGHT },
  ),
  request('api-calls-tool-refused', 'api-calls', 'POST /api/v1/tools/http_fetch/invoke', refused('unauthorized'), {
    body: { arguments: { url: 'https://example.com/' } },
  }),
  request('api-calls-mcp-refused', 'api-calls', 'POST /mcp', refused('unauthorized'), {
    body: { jsonrpc: '2.0', id: 1, method: 'ping' },
  }),
  request(
    'api-calls-a2a-no-card',
    'api-calls',
    'GET /a2a/agents/ins_01kf0rdqg00000000000000001/.well-known/agent-card.json',
    refused('not_found', 404),
  ),
  request(
    'api-calls-a2a-refused',
    'api-calls',
    'POST /a2a/agents/ins_01kf0rdqg00000000000000001/rpc',
    refused('unauthorized'),
    {
      headers: { 'a2a-version': '1.0' },
      body: { jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: 'run_01kf0rdqg00000000000000001' } },
    },
  ),
  request(
    'api-calls-a2a-notification-refused',
    'api-calls',
    'POST /a2a/push/run_01kf0rdqg00000000000000001',
    refused('unauthorized'),
    { body: { statusUpdate: { taskId: 'task-1', status: { state: 'TASK_STATE_COMPLETED' } } } },
  ),
  request(
    'console-settings-refused',
    'console',
    'PUT /console/installations/ins_01kf0rdqg00000000000000001/settings',
    refused('unauthorized'),
    { body: { values: { region: 'eu' } } },
  ),
  request('console-marketplace-refused', 'console', 'GET /console/marketplace?q=stock', refused('unauthorized')),
  request('files-preflight', 'files', 'OPTIONS /api/v1/files', { status: 204 }, { headers: PREFLIGHT }),
  request('files-api-refused', 'files', 'GET /api/v1/files', refused('unauthorized')),
  request('messengers-accounts-refused', 'messengers', 'GET /console/messenger/accounts', refused('unauthorized')),
  request(
    'messengers-update-refused',
    'messengers',
    'POST /console/messenger/updates/acc_01kf0rdqg00000000000000001',
    refused('unauthorized'),
    { body: { update_id: 1 } },
  ),
  request('messengers-bot-info', 'messengers', 'GET /console/bot/info', { status: 200 }),
  request('messengers-bot-webhook-refused', 'messengers', 'POST /console/bot/webhook', refused('unauthorized'), {
    body: { update_id: 1 },
  }),
  request(
    'streams-run-preflight',
    'streams',
    'OPTIONS /api/v1/runs/run_01kf0rdqg00000000000000001/stream',
    { status: 204 },
    { headers: { ...PREFLIGHT, 'access-control-request-method': 'GET' } },
  ),
  request(
    'streams-run-refused',
    'streams',
    'GET /console/runs/run_01kf0rdqg00000000000000001/stream',
    refused('unauthorized'),
    { headers: { accept: 'text/event-stream', 'last-event-id': '4' } },
  ),
  request(
    'streams-listen-preflight',
    'streams',
    'OPTIONS /api/v1/dev/listen',
    { status: 204 },
    { headers: { ...PREFLIGHT, 'access-control-request-method': 'GET' } },
  ),
  request(
    'streams-listen-refused',
    'streams',
    'GET /api/v1/dev/listen?app_id=app_01kf0rdqg00000000000000001',
    refused('unauthorized'),
    { headers: { accept: 'text/event-stream' } },
  ),
  request(
    'developer-trigger-preflight',
    'developer',
    'OPTIONS /api/v1/dev/sandbox/trigger',
    { status: 204 },
    { headers: PREFLIGHT },
  ),
  request(
    'developer-listen-answer-refused',
    'developer',
    'POST /api/v1/dev/listen/lrq_01kf0rdqg00000000000000001/answer',
    refused('unauthorized'),
    { body: { status: 200 } },
  ),
  { trigger: 'sqs', name: 'fan-out', function: 'fan-out', carries: ['run.created', 'run.succeeded'] },
  { trigger: 'sqs', name: 'dispatch', function: 'dispatch', carries: ['run.created'] },
  { trigger: 'sqs', name: 'dispatch-resumed', function: 'dispatch', carries: ['run.resumed'] },
  { trigger: 'sqs', name: 'dispatch-notified', function: 'dispatch', carries: ['a2a.task_notified'] },
  { trigger: 'sqs', name: 'inline-agents', function: 'inline-agents' },
  { trigger: 'sqs', name: 'approved-tools', function: 'approved-tools', carries: ['approval.decided'] },
  { trigger: 'sqs', name: 'statistics', function: 'statistics', carries: ['run.succeeded'] },
  { trigger: 'sqs', name: 'logos', function: 'logos', carries: ['logo.wanted'] },
  { trigger: 'sqs', name: 'removals', function: 'removals', carries: ['installation.removed'] },
  { trigger: 'sqs', name: 'delivery', function: 'delivery', carries: ['delivery'] },
  { trigger: 'sqs', name: 'delivery-push', function: 'delivery', carries: ['push'] },
  { trigger: 'sqs', name: 'notifications', function: 'notifications', carries: ['run.awaiting_approval'] },
  { trigger: 'sqs', name: 'messenger', function: 'notifications', carries: ['messenger.send'] },
  {
    trigger: 'dynamodb-stream',
    name: 'relay',
    function: 'relay',
    carries: ['run.created', 'run.succeeded'],
  },
  { trigger: 'dynamodb-stream', name: 'audit', function: 'audit' },
  { trigger: 'sqs', name: 'live-pushes', function: 'live' },
  { trigger: 'sqs', name: 'overdue-shards', function: 'sweeper' },
  { trigger: 'websocket', name: 'live-pages', function: 'live' },
  { trigger: 'schedule', name: 'audit-anchors', function: 'audit' },
  { trigger: 'schedule', name: 'sweeper', function: 'sweeper' },
  { trigger: 'schedule', name: 'workspace-removal', function: 'removals' },
]

/** Returns the file of a case, from the repository's root. */
export const fileOf = ({ trigger, name }: RecordedCase): string => `events/${trigger}/${name}.json`
