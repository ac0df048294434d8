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
   * Events of the demo in the batch, one message or record each; without it, the first one that came. Messages that
   * the bus didn't send are named by their kind.
   */
  carries?: string[]
  /**
   * Expected answer of a platform without data: a status and, for errors, the code. Without it, the event is handled
   * without an error.
   */
  answers?: { status: number; code?: string }
}

type Sent = Omit<NonNullable<RecordedCase['request']>, 'method' | 'path'>
type Row = [name: string, fn: string, line: string, sent?: Sent]

const requests = (answers: { status: number; code?: string }, rows: readonly Row[], suffix = ''): RecordedCase[] =>
  rows.map(([name, fn, line, sent]) => {
    const [method = '', path = ''] = line.split(' ')
    const request = { method, path, ...sent }
    return { trigger: 'api-gateway', name: `${name}${suffix}`, function: fn, request, answers }
  })

const preflights = (method: string, rows: readonly [name: string, fn: string, path: string][]): RecordedCase[] => {
  const headers = {
    origin: 'https://app.example.com',
    'access-control-request-method': method,
    'access-control-request-headers': 'authorization,content-type',
  }
  const asked = rows.map(([name, fn, path]): Row => [name, fn, `OPTIONS ${path}`, { headers }])
  return requests({ status: 204 }, asked, '-preflight')
}

const ID = '01kf0rdqg00000000000000001'

const MANIFEST = {
  id: 'example.greeter',
  version: '1.0.0',
  name: 'Greeter',
  summary: 'Greets people.',
  runtime: { type: 'webhook', endpoint: 'https://agent.example.com/runs' },
}

const REGISTRATION: Sent = {
  headers: { 'idempotency-key': '00000000-0000-4000-8000-000000000001' },
  body: { email: 'ada@example.com', name: 'Ada' },
}

/**
 * Every recorded event. Each request function has one that is refused and, unless all its callers sign in elsewhere,
 * one that succeeds on a platform without data. Each worker has one batch, whose records such a platform doesn't have,
 * so that the worker drops it.
 */
export const CASES: RecordedCase[] = [
  ...requests({ status: 200 }, [
    ['oauth-scopes', 'oauth', 'GET /oauth/scopes'],
    ['oauth-metadata', 'oauth', 'GET /oauth/metadata'],
    ['developer-validate', 'developer', 'POST /api/v1/dev/manifest/validate', { body: MANIFEST }],
    [
      'admin-login',
      'admin',
      'POST /admin/auth/login',
      { body: { email: 'admin@example.com', password: 'local-admin-password' } },
    ],
    ['pages-console', 'pages', 'GET /app'],
    ['pages-staff', 'pages', 'GET /staff'],
    ['pages-developers', 'pages', 'GET /developers'],
    ['pages-openapi', 'pages', 'GET /openapi.json'],
    ['packages', 'packages', 'GET /packages/'],
    ['messengers-bot-info', 'messengers', 'GET /console/bot/info'],
  ]),
  ...requests({ status: 201 }, [
    ['console-session', 'console', 'POST /console/session', { body: { user: 'grace', workspace: 'acme' } }],
    ['developer-register', 'developer', 'POST /api/v1/dev/register', REGISTRATION],
  ]),
  ...preflights('POST', [
    ['api', 'api', '/api/v1/runs'],
    ['developer', 'developer', '/api/v1/dev/sandbox/seed'],
    ['api-calls', 'api-calls', `/api/v1/webhooks/whk_${ID}/test`],
    ['api-calls-tool', 'api-calls', '/api/v1/tools/http_fetch/invoke'],
    ['files', 'files', '/api/v1/files'],
    ['developer-trigger', 'developer', '/api/v1/dev/sandbox/trigger'],
  ]),
  ...preflights('GET', [
    ['streams-run', 'streams', `/api/v1/runs/run_${ID}/stream`],
    ['streams-listen', 'streams', '/api/v1/dev/listen'],
  ]),
  ...requests({ status: 404, code: 'not_found' }, [
    ['pages-console-no-file', 'pages', 'GET /app/assets/none.js'],
    ['pages-staff-no-file', 'pages', 'GET /staff/assets/none.js'],
    ['pages-developers-no-file', 'pages', 'GET /developers/assets/none.js'],
    ['pages-unknown-path', 'pages', 'GET /surely/not/here?x=1'],
    ['packages-no-file', 'packages', 'GET /packages/python/none.whl'],
    ['api-calls-a2a-no-card', 'api-calls', `GET /a2a/agents/ins_${ID}/.well-known/agent-card.json`],
  ]),
  ...requests(
    { status: 401, code: 'invalid_client' },
    [
      [
        'oauth-token',
        'oauth',
        'POST /oauth/token',
        { form: 'grant_type=authorization_code&client_id=nobody&client_secret=nothing&code=none&code_verifier=none' },
      ],
    ],
    '-refused',
  ),
  ...requests(
    { status: 401, code: 'unauthorized' },
    [
      ['api-me', 'api', 'GET /api/v1/me'],
      ['console-runs', 'console', 'GET /console/runs'],
      ['console-conversations', 'console', 'GET /console/conversations'],
      ['files', 'files', 'GET /console/files'],
      [
        'decisions',
        'decisions',
        `POST /console/runs/run_${ID}/steps/stp_${ID}/decision`,
        { body: { decision: 'approve' } },
      ],
      ['console-updates', 'console', 'GET /console/updates'],
      ['console-me', 'console', 'GET /console/me'],
      ['console-agent-requests', 'console', 'GET /console/agent-requests'],
      ['developer-me', 'developer', 'GET /api/v1/dev/me'],
      ['developer-stats', 'developer', `GET /api/v1/dev/apps/app_${ID}/stats`],
      ['api-calls-publish', 'api-calls', `POST /api/v1/dev/apps/app_${ID}/versions`, { body: MANIFEST }],
      ['admin-me', 'admin', 'GET /admin/me'],
      ['admin-audit', 'admin', 'GET /admin/audit'],
      ['admin-overview', 'admin', 'GET /admin/overview'],
      ['admin-calls-export', 'admin-calls', 'GET /admin/export/apps'],
      ['admin-requests', 'admin', 'GET /admin/requests'],
      ['admin-review', 'admin', 'GET /admin/review'],
      ['admin-calls-checks', 'admin-calls', `GET /admin/apps/app_${ID}/checks`],
      ['admin-calls-test-install', 'admin-calls', `POST /admin/apps/app_${ID}/test-install`, { body: { input: {} } }],
      ['api-calls-test-run', 'api-calls', `POST /api/v1/dev/apps/app_${ID}/test-run`, { body: { input: {} } }],
      [
        'api-calls-tool',
        'api-calls',
        'POST /api/v1/tools/http_fetch/invoke',
        { body: { arguments: { url: 'https://example.com/' } } },
      ],
      ['api-calls-mcp', 'api-calls', 'POST /mcp', { body: { jsonrpc: '2.0', id: 1, method: 'ping' } }],
      [
        'api-calls-a2a',
        'api-calls',
        `POST /a2a/agents/ins_${ID}/rpc`,
        {
          headers: { 'a2a-version': '1.0' },
          body: { jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: `run_${ID}` } },
        },
      ],
      [
        'api-calls-a2a-notification',
        'api-calls',
        `POST /a2a/push/run_${ID}`,
        { body: { statusUpdate: { taskId: 'task-1', status: { state: 'TASK_STATE_COMPLETED' } } } },
      ],
      [
        'console-settings',
        'console',
        `PUT /console/installations/ins_${ID}/settings`,
        { body: { values: { region: 'eu' } } },
      ],
      ['console-marketplace', 'console', 'GET /console/marketplace?q=stock'],
      ['files-api', 'files', 'GET /api/v1/files'],
      ['messengers-accounts', 'messengers', 'GET /console/messenger/accounts'],
      ['messengers-update', 'messengers', `POST /console/messenger/updates/acc_${ID}`, { body: { update_id: 1 } }],
      ['messengers-bot-webhook', 'messengers', 'POST /console/bot/webhook', { body: { update_id: 1 } }],
      [
        'streams-run',
        'streams',
        `GET /console/runs/run_${ID}/stream`,
        { headers: { accept: 'text/event-stream', 'last-event-id': '4' } },
      ],
      [
        'streams-listen',
        'streams',
        `GET /api/v1/dev/listen?app_id=app_${ID}`,
        { headers: { accept: 'text/event-stream' } },
      ],
      ['developer-listen-answer', 'developer', `POST /api/v1/dev/listen/lrq_${ID}/answer`, { body: { status: 200 } }],
    ],
    '-refused',
  ),
  { trigger: 'sqs', name: 'fan-out', function: 'fan-out', carries: ['run.awaiting_approval', 'run.resumed'] },
  { trigger: 'sqs', name: 'fan-out-carried', function: 'fan-out', carries: ['carry'] },
  { trigger: 'sqs', name: 'dispatch', function: 'dispatch', carries: ['start'] },
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
  { trigger: 'dynamodb-stream', name: 'relay', function: 'relay', carries: ['run.awaiting_approval', 'run.resumed'] },
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
